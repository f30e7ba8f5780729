#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A server of one loop saves for 8 ms now and then: requests that come meanwhile are picked up late.  The interval begins when they are;
# the report shows what went before it, and whose it was, and a warning says that it varies more.  The clients are threads of the
# run, then a program that is not of it, as most are; and a loop that nearly always has intervals put aside, which are no work of its
# own: what it did since it last polled is what counts, not since it last had none.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >loop.c <<'C'
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 3, SAVES = 25 };
static int ends[CLIENTS][2];

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

__attribute__((noinline)) void save(void)
{
	usleep(8000);
}

__attribute__((noinline)) int handle(int fd)
{
	char b[8];

	return read(fd, b, 8) == 8 && write(fd, b, 8) == 8;
}

static int behind[2];			/* a thread that takes 4 ms for everything */

__attribute__((noinline)) int take(int fd)
{
	char b[8];

	return read(fd, b, 8) == 8 && write(behind[0], &fd, sizeof(fd)) == sizeof(fd);
}

__attribute__((noinline)) int answer(int fd)
{
	return write(fd, "answered", 8) == 8;
}

static void *somebody(void *unused)
{
	int fd;

	while (read(behind[1], &fd, sizeof(fd)) == sizeof(fd)) {
		usleep(4000);
		if (write(behind[1], &fd, sizeof(fd)) != sizeof(fd))
			break;
	}
	return unused;
}

static void *client(void *end)
{
	char b[8] = "x";

	while (write(*(int *)end, b, 8) == 8 && read(*(int *)end, b, 8) == 8)
		usleep(700);
	return NULL;
}

static int take_up(void)
{
	int fd;

	return read(behind[0], &fd, sizeof(fd)) == sizeof(fd) && answer(fd);
}

__attribute__((noinline)) void loop(int (*handle_one)(int))
{
	struct pollfd p[CLIENTS + 1] = { [CLIENTS] = { .fd = behind[0], .events = POLLIN } };
	int64_t next = now_ns();
	int saves = 0;

	for (int i = 0; i < CLIENTS; i++)
		p[i] = (struct pollfd){ .fd = ends[i][0], .events = POLLIN };
	while (saves < SAVES && poll(p, CLIENTS + 1, 1000) > 0) {
		for (int i = 0; i < CLIENTS; i++)
			if (p[i].revents && !handle_one(p[i].fd))
				return;
		if (p[CLIENTS].revents && !take_up())
			return;
		if (now_ns() >= next) {
			save();
			saves++;
			next = now_ns() + 40000000;
		}
	}
}

/* Clients of other programs: says the port, and waits for them. */
static void accept_clients(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int s = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(s, (struct sockaddr *)&a, len) || listen(s, CLIENTS) || getsockname(s, (struct sockaddr *)&a, &len))
		exit(1);
	printf("%d\n", ntohs(a.sin_port));
	fclose(stdout);
	for (int i = 0; i < CLIENTS; i++)
		ends[i][0] = accept(s, NULL, NULL);
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, behind) || pthread_create(&t, NULL, somebody, NULL))
		return 1;
	if (argc == 2)
		accept_clients();
	for (int i = 0; argc != 2 && i < CLIENTS; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]))
			return 1;
		pthread_create(&t, NULL, client, &ends[i][1]);
	}
	(void)argv;
	loop(argc == 3 ? take : handle);
	return 0;
}
C
expect 0 "$VPROF" annotate --start handle --end handle --name command
expect 0 "$VPROF" annotate --start 'take@return key=arg0' --end 'answer key=arg0' --name aside
expect 0 "$VPROF" build --functions all -- cc -O1 -pthread -o loop loop.c
cat >clients.py <<'P'
import socket, sys, threading, time

def client():
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    try:
        while s.sendall(b"x" * 8) is None and s.recv(8):
            time.sleep(.0007)
    except OSError:
        pass

for i in range(3):
    threading.Thread(target=client).start()
P
cat >outside.sh <<'S'
./loop outside >port &
while [ ! -s port ]; do sleep 0.05; done
env -u VPROF_ARENA -u LD_PRELOAD python3 clients.py "$(cat port)"
wait
S
cat >check.py <<'P'
import json, sys
b = json.load(open(sys.argv[1]))["before_start"]
by = {x["function"]: x["share"] for x in b["by"]}
print("sum", abs(sum(by.values()) - 1) < 1e-9)
print("save first", b["by"][0]["function"] == "save" and by["save"] > .5, b)
print("as long as a save", 7e6 < b["p99_ns"] < 1e9)
print("bound only", b["exact"] is False)
P
for command in ./loop "sh outside.sh"; do
	# shellcheck disable=SC2086 # words
	expect 0 "$VPROF" record -- $command
	expect 0 "$VPROF" show summary
	says "(before start), at most: mean " "save"
	expect 0 "$VPROF" show summary --format json
	python3 check.py "$work/.out" >verdict
	expect 0 "$VPROF" show warnings
	says "before an interval begins its thread was busy" "begin the interval where the request arrives"
	[ "$(grep -c True verdict)" = 4 ] && pass || fail "before the start, $command: $(cat verdict)"
done

expect 0 "$VPROF" record -- ./loop put aside
expect 0 "$VPROF" show summary --interval aside --format json
python3 - "$work/.out" >verdict <<'P'
import json, sys
b = json.load(open(sys.argv[1]))["before_start"]
print("a tenth of the run at most", b["mean_ns"] < 100e6, b)
P
grep -q True verdict && pass || fail "put aside: $(cat verdict)"
finish
