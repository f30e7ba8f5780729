/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * truth.c - waits whose reason is known, for the kernel recorder's exam: nothing here is instrumented, so
 * what is known of them comes from the kernel alone.
 *
 *	truth ROUNDS FILE >truth.txt
 *
 * A line a wait: CASE CLASS TID START_NS END_NS WAKER, where WAKER is a thread, "disk", "timer" or "-".
 * The main thread waits, a helper or a device lets it go on about 300 us later.  FILE is made on the disk.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "must.h"

enum { PAUSE_US = 300, BLOCK = 65536, SPIN_MS = 8, FLAG = 1 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int flag, pipe_fd[2], tcp_fd[2], event_fd, file_fd, child;
static atomic_int asked, ready;			/* number of the case; 0: none */
static atomic_int helper_tid;
static char *buffer;
static unsigned int round_no;

static void spin(int64_t ms)
{
	int64_t end_ns = now_ns() + ms * 1000000;

	while (now_ns() < end_ns)
		;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(sched_setaffinity(0, sizeof(set), &set) == 0, "sched_setaffinity");
}

static void unpin(void)
{
	cpu_set_t set;

	memset(&set, 0xff, sizeof(set));
	must(sched_setaffinity(0, sizeof(set), &set) == 0, "sched_setaffinity");
}

/* The call in which the main thread waits, and the helper's part in it. */
static void wait_mutex(void) { pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex); }
static void hold_mutex(void) { pthread_mutex_lock(&mutex); }
static void help_mutex(void) { pthread_mutex_unlock(&mutex); }
static void wait_cond(void)
{
	pthread_mutex_lock(&mutex);
	while (!flag)
		pthread_cond_wait(&cond, &mutex);
	flag = 0;
	pthread_mutex_unlock(&mutex);
}
static void help_cond(void)
{
	pthread_mutex_lock(&mutex);
	flag = FLAG;
	pthread_mutex_unlock(&mutex);
	pthread_cond_signal(&cond);
}
static void both_barrier(void) { pthread_barrier_wait(&barrier); }
static void wait_semaphore(void) { sem_wait(&semaphore); }
static void help_semaphore(void) { sem_post(&semaphore); }
static void wait_pipe(void) { must(read(pipe_fd[0], buffer, 1) == 1, "read"); }
static void help_pipe(void) { must(write(pipe_fd[1], "x", 1) == 1, "write"); }
static void wait_tcp(void) { must(recv(tcp_fd[0], buffer, 1, 0) == 1, "recv"); }
static void help_tcp(void) { must(send(tcp_fd[1], "x", 1, 0) == 1, "send"); }
static void wait_poll(void)
{
	struct pollfd p = { event_fd, POLLIN, 0 };
	uint64_t value;

	must(poll(&p, 1, -1) == 1, "poll");
	must(read(event_fd, &value, sizeof(value)) == sizeof(value), "read");
}
static void help_poll(void)
{
	uint64_t one = 1;

	must(write(event_fd, &one, sizeof(one)) == sizeof(one), "write");
}
static void wait_sleep(void) { usleep(PAUSE_US); }
static void wait_read(void)
{
	must(pread(file_fd, buffer, BLOCK, (off_t)(round_no % 16) * BLOCK) == BLOCK, "pread");
}
static void wait_write(void)
{
	must(pwrite(file_fd, buffer, BLOCK, (off_t)(round_no % 16) * BLOCK) == BLOCK, "pwrite");
}
static void wait_fsync(void)
{
	must(fdatasync(file_fd) == 0, "fdatasync");
}
static void fork_child(void)
{
	child = fork();
	must(child >= 0, "fork");
	if (child == 0) {
		usleep(PAUSE_US);
		_exit(0);
	}
}
static void wait_child(void) { must(waitpid(child, NULL, 0) == child, "waitpid"); }
static void compete(void) { spin(SPIN_MS); }
static void nothing(void) { }

struct wait_case {
	const char *name, *class, *waker;		/* waker: NULL is the helper */
	void (*prepare)(void);				/* by the main thread, before */
	void (*wait)(void);
	void (*hold)(void);				/* by the helper, before the wait begins */
	void (*help)(void);				/* by the helper, NULL: a device does */
};

static const struct wait_case cases[] = {
	{ "mutex", "lock", NULL, nothing, wait_mutex, hold_mutex, help_mutex },
	{ "condvar", "cond", NULL, nothing, wait_cond, nothing, help_cond },
	{ "barrier", "cond", NULL, nothing, both_barrier, nothing, both_barrier },
	{ "semaphore", "cond", NULL, nothing, wait_semaphore, nothing, help_semaphore },
	{ "pipe", "io", NULL, nothing, wait_pipe, nothing, help_pipe },
	{ "tcp", "io", NULL, nothing, wait_tcp, nothing, help_tcp },
	{ "poll", "io", NULL, nothing, wait_poll, nothing, help_poll },
	{ "sleep", "sleep", "timer", nothing, wait_sleep, nothing, NULL },
	{ "direct-read", "io", "disk", nothing, wait_read, nothing, NULL },
	{ "direct-write", "io", "disk", nothing, wait_write, nothing, NULL },
	{ "fsync", "io", "disk", wait_write, wait_fsync, nothing, NULL },
	{ "waitpid", "join", "child", fork_child, wait_child, nothing, NULL },
	{ "preemption", "runnable", "-", nothing, compete, nothing, compete },
};

static void *help(void *arg)
{
	const struct wait_case *c;
	int number;

	(void)arg;
	helper_tid = (int)syscall(SYS_gettid);
	for (;;) {
		while ((number = atomic_load(&asked)) == 0)
			usleep(20);
		if (number < 0)
			return NULL;
		atomic_store(&asked, 0);
		c = &cases[number - 1];
		if (c->wait == compete)
			pin(0);
		c->hold();
		atomic_store(&ready, 1);
		if (c->wait != compete)
			usleep(PAUSE_US);
		c->help();
		if (c->wait == compete)
			unpin();
	}
}

static void run_case(int number)
{
	const struct wait_case *c = &cases[number - 1];
	int tid = (int)syscall(SYS_gettid);
	int64_t start_ns, end_ns;

	c->prepare();
	if (c->help) {
		atomic_store(&ready, 0);
		atomic_store(&asked, number);
		while (!atomic_load(&ready))
			usleep(20);
	}
	if (c->wait == compete)
		pin(0);
	start_ns = now_ns();
	c->wait();
	end_ns = now_ns();
	if (c->wait == compete)
		unpin();
	printf("%s %s %d %lld %lld ", c->name, c->class, tid, (long long)start_ns, (long long)end_ns);
	if (!c->waker)
		printf("%d\n", helper_tid);
	else if (!strcmp(c->waker, "child"))
		printf("%d\n", child);
	else
		printf("%s\n", c->waker);
	if (c->help)
		usleep(2 * PAUSE_US);		/* the helper is back at its question */
}

static void open_tcp(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int server = socket(AF_INET, SOCK_STREAM, 0);

	tcp_fd[1] = socket(AF_INET, SOCK_STREAM, 0);
	must(bind(server, (struct sockaddr *)&address, len) == 0 && listen(server, 1) == 0 &&
	     getsockname(server, (struct sockaddr *)&address, &len) == 0 &&
	     connect(tcp_fd[1], (struct sockaddr *)&address, len) == 0, "loopback");
	tcp_fd[0] = accept(server, NULL, NULL);
	must(tcp_fd[0] >= 0, "accept");
	close(server);
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 2 ? (unsigned int)strtoul(argv[1], NULL, 10) : 0;
	pthread_t helper;

	must(rounds > 0, "usage: truth ROUNDS FILE");
	must(posix_memalign((void **)&buffer, 4096, BLOCK) == 0, "posix_memalign");
	memset(buffer, 'x', BLOCK);
	file_fd = open(argv[2], O_RDWR | O_CREAT | O_DIRECT, 0600);
	must(file_fd >= 0, argv[2]);
	for (round_no = 0; round_no < 16; round_no++)
		wait_write();
	must(pipe(pipe_fd) == 0, "pipe");
	open_tcp();
	event_fd = eventfd(0, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&semaphore, 0, 0);
	must(pthread_create(&helper, NULL, help, NULL) == 0, "pthread_create");
	for (round_no = 0; round_no < rounds; round_no++)
		for (int number = 1; number <= (int)(sizeof(cases) / sizeof(cases[0])); number++)
			if (cases[number - 1].wait != compete || round_no < 10)
				run_case(number);
	atomic_store(&asked, -1);
	pthread_join(helper, NULL);
	return 0;
}
