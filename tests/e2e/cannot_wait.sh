#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Calls that do not wait, by their flags, their time-out or their file's, or because what they ask for is there: a thread that loses its CPU
# in one waits for a CPU, and for nobody else.  The program and one that computes share a CPU.  Without the kernel's side, which would
# correct it.
. "${srcdir:-.}/tests/e2e/lib.sh"

cpu=$(taskset -pc $$ 2>/dev/null | sed 's/.*[ ,-]//')
[ -n "$cpu" ] || { echo "there is no taskset here"; exit 77; }
cat >cannot.c <<'END'
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MANY = 800, FILE_BYTES = 1 << 20 };
static char data[1 << 16];
static int ends[2], plain[2], set, known;
static struct pollfd files[MANY];

static void move_nonblocking(void)
{
	if (write(ends[0], data, sizeof(data)) < 0 || read(ends[1], data, sizeof(data)) < 0)
		exit(1);
}
static void move_at_once(void)
{
	if (send(plain[0], data, sizeof(data), MSG_DONTWAIT) < 0 || recv(plain[1], data, sizeof(data), MSG_DONTWAIT) < 0)
		exit(2);
}
static void move_by_calls(void)
{
	if (syscall(SYS_sendto, plain[0], data, sizeof(data), MSG_DONTWAIT, 0, 0) < 0 ||
	    syscall(SYS_recvfrom, plain[1], data, sizeof(data), MSG_DONTWAIT, 0, 0) < 0)
		exit(3);
}
static void move_blocking(void)
{
	if (write(plain[0], data, sizeof(data)) < 0 || read(plain[1], data, sizeof(data)) < 0)
		exit(4);
}
static void read_known(void)
{
	for (off_t at = 0; at < FILE_BYTES; at += sizeof(data))
		if (pread(known, data, sizeof(data), at) < 0)
			exit(5);
}
static void look_at_ready(void)
{
	files[MANY - 1].events = POLLOUT;
	poll(files, MANY, -1);
}
/* What nobody counted, the sleep, does not make the moves waits. */
static void sleep_and_move(void)
{
	usleep(50);
	for (int i = 0; i < 500; i++)
		move_blocking();
}
static void look_at_files(void) { poll(files, MANY, 0); }
static void look_for_now(void)
{
	struct timespec t = { 0, 0 };
	ppoll(files, MANY, &t, NULL);
}
static void look_at_bits(void)
{
	struct timeval t = { 0, 0 };
	fd_set in;
	memset(&in, 0xff, sizeof(in));
	select(MANY, &in, NULL, NULL, &t);
}
static void look_by_calls(void) { syscall(SYS_poll, files, MANY, 0); }

static void ask_child(void)
{
	for (int i = 0; i < 300; i++)
		waitpid(-1, NULL, WNOHANG);
}

static void ask_semaphore(void)
{
	struct sembuf op = { 0, -1, IPC_NOWAIT };
	for (int i = 0; i < 300; i++)
		semop(set, &op, 1);
}
static void wait_really(void) { poll(files, 1, 2); }

static struct { const char *name; void (*run)(void); } const ways[] = {
	{ "nonblocking", move_nonblocking }, { "dontwait", move_at_once }, { "own", move_by_calls }, { "poll", look_at_files },
	{ "ppoll", look_for_now }, { "select", look_at_bits }, { "ownpoll", look_by_calls }, { "waitpid", ask_child },
	{ "semop", ask_semaphore }, { "blocking", move_blocking }, { "known", read_known }, { "ready", look_at_ready },
	{ "slept", sleep_and_move }, { "really", wait_really },
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void ask(void (*run)(void))
{
	double until = now() + .03;

	while (now() < until)
		run();
}

int main(int argc, char **argv)
{
	pid_t child = fork();

	if (!child)
		for (;;)
			pause();
	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	socketpair(AF_UNIX, SOCK_STREAM, 0, plain);
	for (int i = 0, n = sizeof(data) * 2; i < 2; i++) {
		fcntl(ends[i], F_SETFL, O_NONBLOCK);
		setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &n, sizeof(n));
		setsockopt(plain[i], SOL_SOCKET, SO_SNDBUF, &n, sizeof(n));
	}
	for (int i = 0; i < MANY; i++)
		files[i] = (struct pollfd){ dup(plain[0]), POLLIN, 0 };
	known = open("known", O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < FILE_BYTES / (int)sizeof(data); i++)
		if (write(known, data, sizeof(data)) < 0)
			return 1;
	set = semget(IPC_PRIVATE, 1, 0600);
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++)
		for (int k = 0; !strcmp(ways[i].name, argv[1]) && k < 20; k++)
			ask(ways[i].run);
	semctl(set, 0, IPC_RMID);
	kill(child, SIGKILL);
	return 0;
}
END

# waited WAY [CLASS...]: the part of the time in which it waited for something else than a CPU
waited()
{
	show_way=$1
	shift
	"$VPROF" show variance-tree "$show_way" --format json | python3 -c '
import json, sys
nodes = json.load(sys.stdin)["nodes"]
classes = sys.argv[1:] or ["io", "join", "lock", "cond", "sleep"]
waits = [n["mean_ns"] for n in nodes if n["kind"] == "wait" and n["wait"] in classes]
print(sum(waits) / nodes[0]["mean_ns"])' "$@"
}

expect 0 "$VPROF" annotate --start ask --end ask
expect 0 "$VPROF" build --functions all -- cc -O1 -o cannot cannot.c
taskset -c "$cpu" sh -c 'while :; do :; done' &
spinner=$!
trap 'kill $spinner 2>/dev/null; rm -rf "$work"' EXIT
for way in nonblocking dontwait own poll ppoll select ownpoll waitpid semop blocking known ready slept; do
	expect 0 "$VPROF" record -o $way -- taskset -c "$cpu" ./cannot $way
	[ $way = slept ] && classes=io || classes=
	part=$(waited $way $classes)
	python3 -c "import sys; sys.exit($part > .05)" && pass || fail "$way: $part of the time are waits that cannot be"
done
expect 0 "$VPROF" record -o really -- taskset -c "$cpu" ./cannot really
part=$(waited really)
python3 -c "import sys; sys.exit($part < .3)" && pass || fail "a call that waits for 2 ms: only $part of the time"
finish
