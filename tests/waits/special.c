/* SPDX-License-Identifier: GPL-3.0-or-later */
/* special.c - files whose data come by another way than write(): signals, timers, changes, copies. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "tests/waits/waits.h"

static int ends[2], other[2], disk = -1, watching = -1;
static char byte, filling[4096];

static void make_pipe(void) { MUST(!pipe(ends)); }
static void read_byte(void) { MUST(read(ends[0], &byte, 1) == 1); }
static void write_byte(void) { MUST(write(ends[1], &byte, 1) == 1); }
static void receive_byte(void) { MUST(recv(ends[0], &byte, 1, 0) == 1); }

static void read_number(void)
{
	unsigned long long n;

	MUST(read(ends[0], &n, 8) == 8);
}

static void make_signalfd(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	MUST(!pthread_sigmask(SIG_BLOCK, &set, NULL));
	ends[0] = signalfd(-1, &set, 0);
	MUST(ends[0] >= 0);
}

static void read_signal(void)
{
	struct signalfd_siginfo info;

	MUST(read(ends[0], &info, sizeof(info)) == sizeof(info));
}

static void queue_signal(void)
{
	union sigval value = { .sival_int = 1 };

	MUST(!sigqueue(getpid(), SIGRTMIN, value));
}

static void send_to_process(void) { MUST(!kill(getpid(), SIGRTMIN)); }

static void make_disk_file(void)
{
	disk = open("copied.file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	MUST(disk >= 0 && pwrite(disk, "12345678", 8, 0) == 8);
}

static void make_pair_and_file(void)
{
	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	make_disk_file();
}

static void send_file(void)
{
	off_t at = 0;

	MUST(sendfile(ends[1], disk, &at, 1) == 1);
}

static void make_two_pipes(void)
{
	make_pipe();
	MUST(!pipe(other) && write(other[1], filling, sizeof(filling)) == sizeof(filling));
}

static void splice_byte(void) { MUST(splice(other[0], NULL, ends[1], NULL, 1, 0) == 1); }
static void tee_byte(void) { MUST(tee(other[0], ends[1], 1, 0) == 1); }

static void give_pages(void)
{
	struct iovec part = { filling, 1 };

	MUST(vmsplice(ends[1], &part, 1, 0) == 1);
}

/* The waiter splices; the waker writes into what it splices from. */
static void make_empty_pipes(void)
{
	make_pipe();
	MUST(!pipe(other));
}

static void splice_from_empty(void) { MUST(splice(ends[0], NULL, other[1], NULL, 1, 0) == 1); }
static void read_other(void) { MUST(read(other[0], &byte, 1) == 1); }

static void write_at_once(void)
{
	struct iovec part = { &byte, 1 };

	MUST(pwritev2(ends[1], &part, 1, -1, 0) == 1);
}

static void make_watch(void)
{
	make_disk_file();
	watching = inotify_init1(IN_CLOEXEC);
	MUST(watching >= 0 && inotify_add_watch(watching, "copied.file", IN_MODIFY) >= 0);
}

static void read_watch(void)
{
	char events[4096];

	MUST(read(watching, events, sizeof(events)) > 0);
}

static void poll_watch(void)
{
	struct pollfd f = { watching, POLLIN, 0 };

	MUST(poll(&f, 1, 5000) == 1);
}

static void change_file(void) { MUST(pwrite(disk, "1", 1, 0) == 1); }

static void set_timer(void)
{
	struct itimerspec t = { .it_value = { 0, HOLD_USEC * 1000 } };

	if (ends[0] < 0)
		ends[0] = timerfd_create(CLOCK_MONOTONIC, 0);
	MUST(ends[0] >= 0 && !timerfd_settime(ends[0], 0, &t, NULL));
}

static void make_no_timer(void) { ends[0] = -1; }

static void poll_readable(void)
{
	struct pollfd f = { ends[0], POLLIN, 0 };

	MUST(poll(&f, 1, 5000) == 1);
}

const struct wait_case special_cases[] = {
	{ "signalfd", "io", make_signalfd, 0, 0, read_signal, queue_signal, 0, 0 },
	{ "signalfd-poll", "io", make_signalfd, 0, 0, poll_readable, send_to_process, read_signal, 0 },
	{ "sendfile", "io", make_pair_and_file, 0, 0, receive_byte, send_file, 0, 0 },
	{ "splice", "io", make_two_pipes, 0, 0, read_byte, splice_byte, 0, 0 },
	{ "splice-from", "io", make_empty_pipes, 0, 0, splice_from_empty, write_byte, read_other, 0 },
	{ "tee", "io", make_two_pipes, 0, 0, read_byte, tee_byte, 0, 0 },
	{ "vmsplice", "io", make_pipe, 0, 0, read_byte, give_pages, 0, 0 },
	{ "pwritev2", "io", make_pipe, 0, 0, read_byte, write_at_once, 0, 0 },
	{ "inotify", "io", make_watch, 0, 0, read_watch, change_file, 0, 0 },
	{ "inotify-poll", "io", make_watch, 0, 0, poll_watch, change_file, read_watch, 0 },
	{ "timerfd", "io", make_no_timer, 0, set_timer, read_number, 0, 0, CASE_TIME_OUT },
	{ "timerfd-poll", "io", make_no_timer, 0, set_timer, poll_readable, 0, read_number, CASE_TIME_OUT },
	{ .name = 0 }
};
