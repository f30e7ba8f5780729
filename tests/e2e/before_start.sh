#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A server of one loop saves for 8 ms now and then: requests that come meanwhile are picked up late.  The interval begins when they are;
# what went before it, and by whom, is told beside it, and a warning says that it varies more.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >loop.c <<'C'
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
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

static void *client(void *end)
{
	char b[8] = "x";

	while (write(*(int *)end, b, 8) == 8 && read(*(int *)end, b, 8) == 8)
		usleep(700);
	return NULL;
}

__attribute__((noinline)) void loop(void)
{
	struct pollfd p[CLIENTS];
	int64_t next = now_ns();
	int saves = 0;

	for (int i = 0; i < CLIENTS; i++)
		p[i] = (struct pollfd){ .fd = ends[i][0], .events = POLLIN };
	while (saves < SAVES && poll(p, CLIENTS, 1000) > 0) {
		for (int i = 0; i < CLIENTS; i++)
			if (p[i].revents && !handle(p[i].fd))
				return;
		if (now_ns() >= next) {
			save();
			saves++;
			next = now_ns() + 40000000;
		}
	}
}

int main(void)
{
	pthread_t t;

	for (int i = 0; i < CLIENTS; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]))
			return 1;
		pthread_create(&t, NULL, client, &ends[i][1]);
	}
	loop();
	return 0;
}
C
expect 0 "$VPROF" annotate --start handle --end handle --name command
expect 0 "$VPROF" build --functions all -- cc -O1 -pthread -o loop loop.c
expect 0 "$VPROF" record -- ./loop
expect 0 "$VPROF" show summary
says "(before start), at most: mean " "save"
expect 0 "$VPROF" show summary --format json
python3 - "$work/.out" >verdict <<'P'
import json, sys
b = json.load(open(sys.argv[1]))["before_start"]
by = {x["function"]: x["share"] for x in b["by"]}
print("sum", abs(sum(by.values()) - 1) < 1e-9)
print("save first", b["by"][0]["function"] == "save" and by["save"] > .5, b)
print("as long as a save", 7e6 < b["p99_ns"] < 1e9)
print("bound only", b["exact"] is False)
P
expect 0 "$VPROF" show warnings
says "before an interval begins its thread was busy" "begin the interval where the request arrives"
[ "$(grep -c True verdict)" = 4 ] && pass || fail "before the start: $(cat verdict)"
finish
