#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A loop of one thread asks an upstream outside the run for two clients; a third one is answered without an interval.  No annotation says when the
# loop leaves a request (no resume, no pause), and its polls are ended by whoever comes: the slow upstream is the cause nevertheless, and
# no client is.  Then the loop itself saves something now and then, in a function around the place where requests begin, which the plan
# holds without being asked: that is the cause, and not the upstream whose answers wait meanwhile.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >loop.c <<'C'
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 2, UPSTREAMS = 2, PING = CLIENTS + UPSTREAMS, FILES, REQUESTS = 200 };
static int fds[FILES], answered, saves;

static int pass_on(int from, int to)
{
	char c;

	return read(from, &c, 1) == 1 && write(to, &c, 1) == 1;
}

__attribute__((noinline)) void take(int who)
{
	if (!pass_on(fds[who], fds[CLIENTS + who]))
		exit(0);
}

__attribute__((noinline)) void answer(int who)
{
	if (!pass_on(fds[CLIENTS + who], fds[who]))
		exit(0);
	answered++;
}

__attribute__((noinline)) void save(void)
{
	char b[64];
	int n = snprintf(b, sizeof(b), "%d\n", answered);
	FILE *f = fopen("saved", "w");

	if (f && fwrite(b, 1, (size_t)n, f) == (size_t)n)
		usleep(100000);
	if (f)
		fclose(f);
}

__attribute__((noinline)) void turn(struct pollfd *p)
{
	static int turns;

	if (saves && ++turns % 30 == 0)
		save();
	for (int i = 0; i < CLIENTS; i++)
		if (p[CLIENTS + i].revents)
			answer(i);
	for (int i = 0; i < CLIENTS; i++)
		if (p[i].revents)
			take(i);
	if (p[PING].revents && !pass_on(fds[PING], fds[PING]))
		exit(0);
}

static int listening_at(struct sockaddr_in *a)
{
	socklen_t len = sizeof(*a);
	int s = socket(AF_INET, SOCK_STREAM, 0);
	FILE *port = fopen("port.new", "w");

	if (bind(s, (struct sockaddr *)a, len) || listen(s, 9) || getsockname(s, (struct sockaddr *)a, &len))
		exit(2);
	fprintf(port, "%d", ntohs(a->sin_port));
	fclose(port);
	rename("port.new", "port");
	return s;
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct pollfd p[FILES];
	int listening = listening_at(&a);

	if (argc != 3)
		return 2;
	saves = !strcmp(argv[1], "busy");
	a.sin_port = htons(atoi(argv[2]));
	for (int i = 0; i < CLIENTS; i++) {
		fds[i] = accept(listening, NULL, NULL);
		fds[CLIENTS + i] = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(fds[CLIENTS + i], (struct sockaddr *)&a, sizeof(a)))
			return 2;
	}
	fds[PING] = accept(listening, NULL, NULL);
	for (int i = 0; i < FILES; i++)
		p[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	while (answered < REQUESTS && poll(p, FILES, 5000) > 0)
		turn(p);
	return 0;
}
C
cat >world.py <<'P'
import os, socket, subprocess, sys, threading, time

slow = sys.argv[1] == "upstream"

def answers(connection, number):
    n = 0
    while connection.recv(1):
        n += 1
        time.sleep(.12 if slow and n % 8 == number else .001)
        connection.send(b"y")

def upstream():
    for number in range(2):
        threading.Thread(target=answers, args=(listening.accept()[0], number), daemon=True).start()

def client(seconds):
    while not os.path.exists("port"):
        time.sleep(.01)
    s = socket.create_connection(("127.0.0.1", int(open("port").read())))
    try:
        while s.send(b"x") and s.recv(1):
            time.sleep(seconds)
    except OSError:
        pass

listening = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=upstream, daemon=True).start()
for seconds in (.001, .001, .002):
    threading.Thread(target=client, args=(seconds,), daemon=True).start()
    time.sleep(.05)
port = listening.getsockname()[1]
open("upstream", "w").write(str(port))
sys.exit(subprocess.run(sys.argv[2:] + [sys.argv[1], str(port)]).returncode)
P
cat >judge.py <<'P'
import json, subprocess, sys
from causes import causes_of

found = json.loads(subprocess.run([sys.argv[1], "show", "causes", "--format", "json"], capture_output=True, check=True).stdout)
mode, peer = sys.argv[2], "127.0.0.1:" + open("upstream").read()
causes = causes_of(found)
def is_true(what, ok):
    print(mode, what, "True" if ok else (ok, causes[:3], found["sentence"]))
if mode == "upstream":
    is_true("is first", causes[0]["peer"] == peer and causes[0]["share"] > .5)
else:
    is_true("is first", [c for c in causes if c["known"] and c["how"] != "runqueue"][0]["function"] == "save")
is_true("clients are not", sum(c["share"] for c in causes if "client" in (c["peer"] or "")) < .1)
P
expect 2 "$VPROF" build -- sh -c 'cc -O1 -g -c loop.c && cc -o loop loop.o'
expect 0 "$VPROF" annotate --start 'take key=arg0' --end 'answer@entry key=arg0'
expect 0 "$VPROF" build -- sh -c 'cc -O1 -g -c loop.c && cc -o loop loop.o'
for mode in upstream busy; do
	rm -f port
	expect 0 python3 world.py "$mode" "$VPROF" record -- ./loop
	python3 judge.py "$VPROF" "$mode" >verdict 2>&1
	[ "$(grep -c 'True$' verdict)" = 2 ] && pass || fail "$mode: $(cat verdict)"
done
finish
