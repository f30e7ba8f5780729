/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * files.c - pipes, sockets, eventfds, message queues and what waits for many of them; and what waits for an
 * end that is closed.  Each case makes its own pair of ends: ends[0] is the waiter's, ends[1] the waker's.
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/waits/waits.h"

static int ends[2], listener, poller;
static char byte, filling[1 << 16];
static struct sockaddr_un path_address;
static struct sockaddr_in port_address;

static void make_pipe(void) { MUST(!pipe(ends)); }
static void make_pair(void) { MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends)); }

static void make_eventfd(void)
{
	ends[0] = eventfd(0, 0);
	ends[1] = ends[0];
	MUST(ends[0] >= 0);
}

static int tcp_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	MUST(fd >= 0);
	return fd;
}

static void make_listener(void)
{
	socklen_t len = sizeof(port_address);

	port_address = (struct sockaddr_in){ .sin_family = AF_INET };
	port_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = tcp_socket();
	MUST(!bind(listener, (struct sockaddr *)&port_address, len));
	MUST(!listen(listener, 8));
	MUST(!getsockname(listener, (struct sockaddr *)&port_address, &len));
}

static void make_tcp(void)
{
	make_listener();
	ends[1] = tcp_socket();
	MUST(!connect(ends[1], (struct sockaddr *)&port_address, sizeof(port_address)));
	ends[0] = accept(listener, NULL, NULL);
	MUST(ends[0] >= 0);
}

static void make_unix_listener(void)
{
	path_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(path_address.sun_path, sizeof(path_address.sun_path), "waits-%d.socket", (int)getpid());
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	unlink(path_address.sun_path);
	MUST(!bind(listener, (struct sockaddr *)&path_address, sizeof(path_address)));
	MUST(!listen(listener, 8));
}

static void read_byte(void) { MUST(read(ends[0], &byte, 1) == 1); }
static void write_byte(void) { MUST(write(ends[1], &byte, 1) == 1); }
static void receive_byte(void) { MUST(recv(ends[0], &byte, 1, 0) == 1); }
static void receive_from(void) { MUST(recvfrom(ends[0], &byte, 1, 0, NULL, NULL) == 1); }
static void send_byte(void) { MUST(send(ends[1], &byte, 1, MSG_NOSIGNAL) == 1); }

static void read_vector(void)
{
	struct iovec part = { &byte, 1 };

	MUST(readv(ends[0], &part, 1) == 1);
}

static void write_vector(void)
{
	struct iovec part = { &byte, 1 };

	MUST(writev(ends[1], &part, 1) == 1);
}

static void receive_message(void)
{
	struct iovec part = { &byte, 1 };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	MUST(recvmsg(ends[0], &m, 0) == 1);
}

static void send_message(void)
{
	struct iovec part = { &byte, 1 };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	MUST(sendmsg(ends[1], &m, 0) == 1);
}

/* Here the waiter writes: into what is full. */
static void fill(void)
{
	MUST(!fcntl(ends[1], F_SETFL, O_NONBLOCK));
	while (write(ends[1], filling, sizeof(filling)) > 0)
		;
	MUST(errno == EAGAIN && !fcntl(ends[1], F_SETFL, 0));
	shared->memory[0] = 1;
}

/* Not before it is full: on a busy machine the waiter may be late. */
static void empty(void)
{
	while (!*(volatile char *)shared->memory)
		usleep(30);
	usleep(HOLD_USEC / 2);
	MUST(read(ends[0], filling, sizeof(filling)) > 0);
	shared->memory[0] = 0;
}

static void accept_one(void)
{
	ends[0] = accept(listener, NULL, NULL);
	MUST(ends[0] >= 0);
}

static void connect_one(void)
{
	ends[1] = tcp_socket();
	MUST(!connect(ends[1], (struct sockaddr *)&port_address, sizeof(port_address)));
}

static void connect_unix(void)
{
	ends[1] = socket(AF_UNIX, SOCK_STREAM, 0);
	MUST(!connect(ends[1], (struct sockaddr *)&path_address, sizeof(path_address)));
}

static void close_ends(void) { MUST(!close(ends[0])); }

/* By a path, each end by its own call; the waker may be in another process. */
static void make_unix(void)
{
	make_unix_listener();
	connect_unix();
	ends[0] = accept(listener, NULL, NULL);
	MUST(ends[0] >= 0);
}

/* One connection after the other, while the last one is still open. */
static void connect_again(void)
{
	int last = ends[1];

	connect_unix();
	shared->memory[0] = 1;
	if (last)
		close(last);
}

static void accept_again(void)
{
	while (!*(volatile char *)shared->memory)
		usleep(30);
	shared->memory[0] = 0;
	accept_one();
}

static void make_relisten(void)
{
	ends[1] = 0;
	make_unix_listener();
}

/* Nothing is written: the wait is for the end of the file. */
static void read_end(void) { MUST(read(ends[0], &byte, 1) == 0); }
static void receive_end(void) { MUST(recv(ends[0], &byte, 1, 0) == 0); }
static void close_other(void) { MUST(!close(ends[1])); }
static void shut_down(void) { MUST(!shutdown(ends[1], SHUT_WR)); }

static void close_by_dup2(void)
{
	int fd = fcntl(0, F_DUPFD, 0);

	MUST(fd >= 0 && dup2(fd, ends[1]) == ends[1] && !close(fd));
}

static void close_both(void)
{
	MUST(!close(ends[0]));
	MUST(!close(ends[1]));
}

/* Another holder of the descriptor closes it earlier, which is not yet the end. */
static int copy;
static volatile int copy_is_closed;

static void make_pipe_and_copy(void)
{
	make_pipe();
	copy = dup(ends[1]);
	MUST(copy >= 0);
	copy_is_closed = 0;
}

static void *close_early(void *arg)
{
	usleep(HOLD_USEC / 4);
	MUST(!close(copy));
	copy_is_closed = 1;
	return arg;
}

static void close_after_copy(void)
{
	while (!copy_is_closed)
		usleep(30);
	close_other();
}

static void start_closer(void)
{
	pthread_t t;

	MUST(!pthread_create(&t, NULL, close_early, NULL) && !pthread_detach(t));
}

static FILE *stream;

static void make_stream(void)
{
	make_pipe();
	stream = fdopen(ends[1], "w");
	MUST(stream);
}

static void close_stream(void) { MUST(!fclose(stream)); }

/* A process that ends closes its ends. */
static pid_t ending;

static void start_ending(int by_exit)
{
	make_pipe();
	fflush(NULL);			/* exit() does it again */
	ending = fork();
	MUST(ending >= 0);
	if (!ending) {
		close(ends[0]);
		hold();
		if (by_exit)
			exit(0);
		_exit(0);
	}
	shared->waker_tid = ending;
	MUST(!close(ends[1]));
}

static void start_exit(void) { start_ending(1); }
static void start_quick_exit(void) { start_ending(0); }

static void reap(void)
{
	MUST(!close(ends[0]));
	MUST(waitpid(ending, NULL, 0) == ending);
}

static void poll_pipe(void)
{
	struct pollfd p = { ends[0], POLLIN, 0 };

	MUST(poll(&p, 1, 5000) == 1);
}

static void ppoll_pipe(void)
{
	struct pollfd p = { ends[0], POLLIN, 0 };
	struct timespec t = { 5, 0 };

	MUST(ppoll(&p, 1, &t, NULL) == 1);
}

static void poll_in_vain(void)
{
	struct pollfd p = { ends[0], POLLIN, 0 };

	MUST(!poll(&p, 1, HOLD_USEC / 1000));
}

static void poll_nothing(void) { MUST(!poll(NULL, 0, HOLD_USEC / 1000)); }

static void select_pipe(void)
{
	struct timeval t = { 5, 0 };
	fd_set in;

	FD_ZERO(&in);
	FD_SET(ends[0], &in);
	MUST(select(ends[0] + 1, &in, NULL, NULL, &t) == 1);
}

static void pselect_pipe(void)
{
	fd_set in;

	FD_ZERO(&in);
	FD_SET(ends[0], &in);
	MUST(pselect(ends[0] + 1, &in, NULL, NULL, NULL, NULL) == 1);
}

static void select_nothing(void)
{
	struct timeval t = { 0, HOLD_USEC };

	MUST(!select(0, NULL, NULL, NULL, &t));
}

static void poll_end(void)
{
	struct pollfd p = { ends[0], POLLIN, 0 };

	MUST(poll(&p, 1, 5000) == 1 && p.revents & (POLLIN | POLLHUP));
}

static void add_to_poller(int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data = { .ptr = &ends } };

	poller = epoll_create1(0);
	MUST(poller >= 0 && !epoll_ctl(poller, EPOLL_CTL_ADD, fd, &e));
}

static void make_poller(void)
{
	make_pipe();
	add_to_poller(ends[0]);
}

static void make_event_poller(void)
{
	make_eventfd();
	add_to_poller(ends[0]);
}

static void make_tcp_poller(void)
{
	make_tcp();
	add_to_poller(ends[0]);
}

static void make_pair_poller(void)
{
	make_pair();
	add_to_poller(ends[0]);
}

static void close_poller(void)
{
	close_ends();
	MUST(!close(poller));
}

static void epoll(void)
{
	struct epoll_event e;

	MUST(epoll_wait(poller, &e, 1, 5000) == 1);
}

static void epoll_masked(void)
{
	struct epoll_event e;

	MUST(epoll_pwait(poller, &e, 1, 5000, NULL) == 1);
}

static void epoll_precise(void)
{
	struct timespec t = { 5, 0 };
	struct epoll_event e;

	MUST(epoll_pwait2(poller, &e, 1, &t, NULL) == 1);
}

static void read_event(void)
{
	eventfd_t value;

	MUST(!eventfd_read(ends[0], &value));
}

static void write_event(void) { MUST(!eventfd_write(ends[1], 1)); }

static void read_number(void)
{
	unsigned long long n;

	MUST(read(ends[0], &n, 8) == 8);
}

static void write_number(void)
{
	unsigned long long n = 1;

	MUST(write(ends[1], &n, 8) == 8);
}

static mqd_t queue;

static void open_queue(void)
{
	struct mq_attr a = { .mq_maxmsg = 4, .mq_msgsize = 8 };
	char name[64];

	snprintf(name, sizeof(name), "/vprof-waits-%d", (int)getpid());
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &a);
	MUST(queue >= 0 && !mq_unlink(name));
}

static void receive_queued(void)
{
	char message[8];

	MUST(mq_receive(queue, message, sizeof(message), NULL) == 1);
}

static void timedreceive_queued(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 5000);
	char message[8];

	MUST(mq_timedreceive(queue, message, sizeof(message), NULL, &t) == 1);
}

static void send_queued(void) { MUST(!mq_send(queue, "m", 1, 0)); }

/* In vain: nobody writes. */
static void receive_in_vain(void)
{
	struct timeval t = { 0, HOLD_USEC };

	MUST(!setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)));
	MUST(recv(ends[0], &byte, 1, 0) < 0 && errno == EAGAIN);
}

static void select_in_vain(void)
{
	struct timeval t = { 0, HOLD_USEC };
	fd_set in;

	FD_ZERO(&in);
	FD_SET(ends[0], &in);
	MUST(select(ends[0] + 1, &in, NULL, NULL, &t) == 0);
}

static void epoll_in_vain(void)
{
	struct epoll_event e;

	MUST(epoll_wait(poller, &e, 1, HOLD_USEC / 1000) == 0);
}

static void timedreceive_in_vain(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, HOLD_USEC / 1000);
	char message[8];

	MUST(mq_timedreceive(queue, message, sizeof(message), NULL, &t) < 0 && errno == ETIMEDOUT);
}

const struct wait_case file_cases[] = {
	{ "read-pipe", "io", make_pipe, 0, 0, read_byte, write_byte, 0, 0 },
	{ "read-pipe-process", "io", make_pipe, 0, 0, read_byte, write_byte, 0, CASE_PROCESS },
	{ "readv-pipe", "io", make_pipe, 0, 0, read_vector, write_vector, 0, 0 },
	{ "write-full-pipe", "io", make_pipe, 0, fill, write_byte, empty, 0, 0 },
	{ "recv-socketpair", "io", make_pair, 0, 0, receive_byte, send_byte, 0, 0 },
	{ "recvmsg-socketpair", "io", make_pair, 0, 0, receive_message, send_message, 0, 0 },
	{ "read-socketpair-process", "io", make_pair, 0, 0, read_byte, write_byte, 0, CASE_PROCESS },
	{ "recv-tcp", "io", make_tcp, 0, 0, receive_byte, send_byte, 0, 0 },
	{ "recvfrom-tcp", "io", make_tcp, 0, 0, receive_from, write_byte, 0, 0 },
	{ "read-tcp-process", "io", make_tcp, 0, 0, read_byte, send_byte, 0, CASE_PROCESS },
	{ "accept-tcp", "io", make_listener, 0, 0, accept_one, connect_one, close_ends, 0 },
	{ "accept-unix", "io", make_unix_listener, 0, 0, accept_one, connect_unix, close_ends, 0 },
	{ "read-unix", "io", make_unix, 0, 0, read_byte, write_byte, 0, 0 },
	{ "recv-unix-process", "io", make_unix, 0, 0, receive_byte, send_byte, 0, CASE_PROCESS },
	{ "read-unix-again", "io", make_relisten, connect_again, accept_again, read_byte, write_byte,
	  close_ends, CASE_PROCESS },
	{ "read-pipe-closed", "io", 0, make_pipe, 0, read_end, close_other, close_ends, 0 },
	{ "read-pipe-copy-closed", "io", 0, make_pipe_and_copy, start_closer, read_end, close_after_copy,
	  close_ends, 0 },
	{ "read-pipe-fclosed", "io", 0, make_stream, 0, read_end, close_stream, close_ends, 0 },
	{ "read-pipe-replaced", "io", 0, make_pipe, 0, read_end, close_by_dup2, close_both, 0 },
	{ "read-pipe-exit", "io", 0, 0, start_exit, read_end, 0, reap, 0 },
	{ "read-pipe-quick-exit", "io", 0, 0, start_quick_exit, read_end, 0, reap, 0 },
	{ "recv-pair-closed", "io", 0, make_pair, 0, receive_end, close_other, close_ends, 0 },
	{ "recv-pair-shut-down", "io", 0, make_pair, 0, receive_end, shut_down, close_both, 0 },
	{ "recv-tcp-closed", "io", 0, make_tcp, 0, receive_end, close_other, close_ends, 0 },
	{ "poll-pipe-closed", "io", 0, make_pipe, 0, poll_end, close_other, close_ends, 0 },
	{ "epoll-pair-closed", "io", 0, make_pair_poller, 0, epoll, close_other, close_poller, 0 },
	{ "eventfd", "io", make_eventfd, 0, 0, read_number, write_number, 0, 0 },
	{ "eventfd-process", "io", make_eventfd, 0, 0, read_number, write_number, 0, CASE_PROCESS },
	{ "eventfd_read", "io", make_eventfd, 0, 0, read_event, write_event, 0, 0 },
	{ "poll", "io", make_pipe, 0, 0, poll_pipe, write_byte, read_byte, 0 },
	{ "ppoll", "io", make_pipe, 0, 0, ppoll_pipe, write_byte, read_byte, 0 },
	{ "poll-timeout", "io", make_pipe, 0, 0, poll_in_vain, 0, 0, CASE_TIME_OUT },
	{ "poll-nothing", "sleep", 0, 0, 0, poll_nothing, 0, 0, CASE_ALONE },
	{ "select", "io", make_pipe, 0, 0, select_pipe, write_byte, read_byte, 0 },
	{ "pselect", "io", make_pipe, 0, 0, pselect_pipe, write_byte, read_byte, 0 },
	{ "select-nothing", "sleep", 0, 0, 0, select_nothing, 0, 0, CASE_ALONE },
	{ "epoll_wait", "io", make_poller, 0, 0, epoll, write_byte, read_byte, 0 },
	{ "epoll_wait-eventfd", "io", make_event_poller, 0, 0, epoll, write_event, read_event, 0 },
	{ "epoll_pwait-tcp", "io", make_tcp_poller, 0, 0, epoll_masked, send_byte, read_byte, 0 },
	{ "epoll_pwait2", "io", make_poller, 0, 0, epoll_precise, write_byte, read_byte, 0 },
	{ "recv-timeout", "io", make_pair, 0, 0, receive_in_vain, 0, 0, CASE_TIME_OUT },
	{ "select-timeout", "io", make_pipe, 0, 0, select_in_vain, 0, 0, CASE_TIME_OUT },
	{ "epoll-timeout", "io", make_poller, 0, 0, epoll_in_vain, 0, 0, CASE_TIME_OUT },
	{ "mq-timeout", "io", open_queue, 0, 0, timedreceive_in_vain, 0, 0, CASE_TIME_OUT },
	{ "mq_receive", "io", open_queue, 0, 0, receive_queued, send_queued, 0, 0 },
	{ "mq_timedreceive", "io", open_queue, 0, 0, timedreceive_queued, send_queued, 0, CASE_PROCESS },
	{ .name = 0 }
};
