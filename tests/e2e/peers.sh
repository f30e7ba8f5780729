#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A proxy of one loop asks two upstreams outside the run, one after the other, for each request: one at 127.0.0.1 that now and then
# takes 150 ms (far more than a busy machine adds to the other), and one at a unix socket that always takes 2.  The first is the cause, by
# its address, however the loop waits: in epoll, in poll, in select, or in a read of its own; also by datagrams on a socket that is not
# connected, and from a low port.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >proxy.c <<'C'
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vprof.h>

enum { CLIENT, INTERNET, UNIX, FILES, REQUESTS = 72 };
static int fds[FILES], is_udp;
static struct sockaddr_in upstream;
static long number, answered;

static void pass_on(int from, int to)
{
	struct sockaddr_in source;
	socklen_t len = sizeof(source);
	char c;

	if ((is_udp && from == INTERNET ? recvfrom(fds[from], &c, 1, 0, (struct sockaddr *)&source, &len) : read(fds[from], &c, 1)) != 1 ||
	    (is_udp && to == INTERNET ? sendto(fds[to], &c, 1, 0, (struct sockaddr *)&upstream, sizeof(upstream)) :
					write(fds[to], &c, 1)) != 1)
		exit(3);
}

__attribute__((noinline)) void ask_internet(void)
{
	VPROF_BEGIN("request", ++number);
	pass_on(CLIENT, INTERNET);
	VPROF_PAUSE();
}

__attribute__((noinline)) void ask_unix(void)
{
	VPROF_RESUME("request", number);
	pass_on(INTERNET, UNIX);
	VPROF_PAUSE();
}

__attribute__((noinline)) void answer(void)
{
	VPROF_RESUME("request", number);
	pass_on(UNIX, CLIENT);
	answered++;
	VPROF_END("request", number);
}

__attribute__((noinline)) void fetch(int from)
{
	char c;

	if (write(fds[from], "x", 1) != 1 || read(fds[from], &c, 1) != 1)
		exit(3);
}

__attribute__((noinline)) void serve(void)
{
	char c;

	if (read(fds[CLIENT], &c, 1) != 1)
		exit(3);
	VPROF_BEGIN("request", ++number);
	fetch(INTERNET);
	fetch(UNIX);
	answered++;
	VPROF_END("request", number);
	if (write(fds[CLIENT], &c, 1) != 1)
		exit(3);
}

static void (*const takers[FILES])(void) = { ask_internet, ask_unix, answer };

static void loop_epoll(void)
{
	struct epoll_event e[FILES];
	int loop = epoll_create1(0);

	for (int i = 0; i < FILES; i++) {
		e[0] = (struct epoll_event){ .events = EPOLLIN, .data.u64 = (uint64_t)i << 32 | 77 };
		epoll_ctl(loop, EPOLL_CTL_ADD, fds[i], &e[0]);
	}
	while (answered < REQUESTS)
		for (int i = 0, cnt = epoll_wait(loop, e, FILES, 5000); i < cnt; i++)
			takers[e[i].data.u64 >> 32]();
}

static void loop_poll(void)
{
	struct pollfd p[FILES];

	for (int i = 0; i < FILES; i++)
		p[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	while (answered < REQUESTS && poll(p, FILES, 5000) > 0)
		for (int i = 0; i < FILES; i++)
			if (p[i].revents)
				takers[i]();
}

static void loop_select(void)
{
	while (answered < REQUESTS) {
		fd_set in;

		FD_ZERO(&in);
		for (int i = 0; i < FILES; i++)
			FD_SET(fds[i], &in);
		if (select(64, &in, NULL, NULL, NULL) <= 0)
			return;
		for (int i = 0; i < FILES; i++)
			if (FD_ISSET(fds[i], &in))
				takers[i]();
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un u = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(a);
	int listening = socket(AF_INET, SOCK_STREAM, 0);
	FILE *port = fopen("port.new", "w");

	if (argc != 4 || bind(listening, (struct sockaddr *)&a, len) || listen(listening, 9) ||
	    getsockname(listening, (struct sockaddr *)&a, &len))
		return 2;
	fprintf(port, "%d", ntohs(a.sin_port));
	fclose(port);
	rename("port.new", "port");
	fds[CLIENT] = accept(listening, NULL, NULL);
	is_udp = !strcmp(argv[1], "udp");
	upstream = a;
	upstream.sin_port = htons(atoi(argv[2]));
	fds[INTERNET] = socket(AF_INET, is_udp ? SOCK_DGRAM : SOCK_STREAM, 0);
	if (!strcmp(argv[1], "read"))
		for (int port = 15000; port < 25000 && (a.sin_port = htons(port), bind(fds[INTERNET], (struct sockaddr *)&a, len)); port++)
			;
	strcpy(u.sun_path, argv[3]);
	fds[UNIX] = socket(AF_UNIX, SOCK_STREAM, 0);
	if ((!is_udp && connect(fds[INTERNET], (struct sockaddr *)&upstream, len)) || connect(fds[UNIX], (struct sockaddr *)&u, sizeof(u)))
		return 2;
	if (!strcmp(argv[1], "epoll"))
		loop_epoll();
	else if (is_udp || !strcmp(argv[1], "poll"))
		loop_poll();
	else if (!strcmp(argv[1], "select"))
		loop_select();
	while (answered < REQUESTS)
		serve();
	return 0;
}
C
cat >world.py <<'P'
import os, socket, subprocess, sys, threading, time

def upstream(listening, seconds):
    connection, n = listening.accept()[0], 0
    while connection.recv(1):
        n += 1
        time.sleep(seconds(n))
        connection.send(b"y")

def datagrams(s):
    n = 0
    while True:
        c, source = s.recvfrom(1)
        n += 1
        time.sleep(.15 if n % 6 == 0 else .001)
        s.sendto(c, source)

def client():
    while not os.path.exists("port"):
        time.sleep(.01)
    s = socket.create_connection(("127.0.0.1", int(open("port").read())))
    try:
        while s.send(b"x") and s.recv(1):
            pass
    except OSError:
        pass

internet = socket.create_server(("127.0.0.1", 0))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(internet.getsockname())
unix = socket.socket(socket.AF_UNIX)
unix.bind("up.sock")
unix.listen()
for f, a in ((upstream, (internet, lambda n: .15 if n % 6 == 0 else .001)), (upstream, (unix, lambda n: .002)), (datagrams, (udp,)), (client, ())):
    threading.Thread(target=f, args=a, daemon=True).start()
port = internet.getsockname()[1]
open("upstream", "w").write(str(port))
sys.exit(subprocess.run(sys.argv[1:] + [str(port), "up.sock"]).returncode)
P
cat >judge.py <<'P'
import json, subprocess, sys
from causes import causes_of, tells

def show(view):
    return json.loads(subprocess.run([sys.argv[1], "show", view, "--format", "json"], capture_output=True, check=True).stdout)

mode, peer = sys.argv[2], "127.0.0.1:" + open("upstream").read()
shown, tree = show("causes"), show("variance-tree")
causes = causes_of(shown)
first, sentence = causes[0], shown["sentence"]
def is_true(what, ok):
    print(mode, what, "True" if ok else (ok, causes[:3], sentence))
is_true("is first", first["peer"] == peer and first["known"] and first["how"] == "io" and first["share"] > .7)
is_true("is told", tells(shown, peer + " ") and (sentence["peer"] or peer) == peer)
is_true("the other is told too", any(c["peer"] == "up.sock" and c["mean_ns"] > 2e6 for c in causes))
is_true("clients are not", sum(c["share"] for c in causes if "client" in (c["peer"] or "")) < .05)
if mode == "read":
    is_true("who waits", first["function"] == "fetch" and first["wait"] == "io" and first["line"])
else:
    queue = [n for n in tree["nodes"] if n["kind"] == "wait" and n["wait"] == "queue"]
    is_true("queue wait", queue and queue[0]["peer"] == peer and queue[0]["between"] == ["ask_internet", "ask_unix"])
P
expect 0 "$VPROF" build --functions all -- cc -O1 -g -o proxy proxy.c
for mode in epoll poll select read udp; do
	rm -f port up.sock
	expect 0 python3 world.py "$VPROF" record -- ./proxy "$mode"
	python3 judge.py "$VPROF" "$mode" >verdict 2>&1
	[ "$(grep -c 'True$' verdict)" = 5 ] && pass || fail "$mode: $(cat verdict)"
done
expect 0 "$VPROF" show wait-graph --format json
says '"peer"'
finish
