#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# record --from-arrival.  A server of one loop saves for 8 ms now and then, so that requests are picked up late; its interval begins where
# it handles one, before it reads it.  From the arrival, save is the cause; no interval is longer than what its client saw; without,
# the interval knows nothing of it.  Then a server whose reader passes requests on to a worker, one with pipes, and refusals.
. "${srcdir:-.}/tests/e2e/lib.sh"

needs_kernel_recorder
command -v python3 >/dev/null || exit 77
cat >loop.c <<'C'
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 3, SAVES = 25 };
static int ends[CLIENTS], others[CLIENTS], passed_on[2];

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

__attribute__((noinline)) int handle(int in, int out)
{
	char b[8];

	return read(in, b, 8) == 8 && write(out, b, 8) == 8;
}

__attribute__((noinline)) int work(int fd)
{
	return write(fd, "answered", 8) == 8;
}

static void *worker(void *unused)
{
	int fd;

	while (read(passed_on[0], &fd, sizeof(fd)) == sizeof(fd) && work(fd))
		;
	return unused;
}

__attribute__((noinline)) int pass_on(int fd)
{
	char b[8];

	return read(fd, b, 8) == 8 && write(passed_on[1], &fd, sizeof(fd)) == sizeof(fd);
}

__attribute__((noinline)) void loop(int passes)
{
	struct pollfd p[CLIENTS];
	int64_t next = now_ns();
	int saves = 0;

	for (int i = 0; i < CLIENTS; i++)
		p[i] = (struct pollfd){ .fd = ends[i], .events = POLLIN };
	while (saves < SAVES && poll(p, CLIENTS, 1000) > 0) {
		for (int i = 0; i < CLIENTS; i++)
			if (p[i].revents && !(passes ? pass_on(p[i].fd) : handle(p[i].fd, others[i])))
				return;
		if (now_ns() >= next) {
			save();
			saves++;
			next = now_ns() + 40000000;
		}
	}
}

/* Says the port, and waits for its clients. */
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
		ends[i] = others[i] = accept(s, NULL, NULL);
}

static void *pipe_client(void *at)
{
	int *fds = at;
	char b[8] = "x";

	while (write(fds[1], b, 8) == 8 && read(fds[0], b, 8) == 8)
		usleep(700);
	return NULL;
}

static void start_pipes(int clients[CLIENTS][2])
{
	pthread_t t;

	for (int i = 0; i < CLIENTS; i++) {
		int there[2], back[2];

		if (pipe(there) || pipe(back))
			exit(1);
		ends[i] = there[0];
		others[i] = back[1];
		clients[i][0] = back[0];
		clients[i][1] = there[1];
		pthread_create(&t, NULL, pipe_client, clients[i]);
	}
}

int main(int argc, char **argv)
{
	static int clients[CLIENTS][2];
	pthread_t t;

	if (argc == 2 && !strcmp(argv[1], "pipes"))
		start_pipes(clients);
	else
		accept_clients();
	if (pipe(passed_on) || pthread_create(&t, NULL, worker, NULL))
		return 1;
	loop(argc == 2 && !strcmp(argv[1], "passes"));
	return 0;
}
C
expect 0 "$VPROF" annotate --start handle --end handle --name command
expect 0 "$VPROF" annotate --start work --end work --name passed
expect 0 "$VPROF" build --functions all -- cc -O1 -pthread -o loop loop.c
cat >clients.py <<'P'
import json, socket, sys, threading, time

seen = []
def client():
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    try:
        while True:
            ns = time.monotonic_ns()
            s.sendall(b"x" * 8)
            if len(s.recv(8)) < 8:
                break
            seen.append(time.monotonic_ns() - ns)
            time.sleep(.0007)
    except OSError:
        pass

threads = [threading.Thread(target=client) for i in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
json.dump(seen, open("seen", "w"))
P
cat >outside.sh <<'S'
rm -f port
./loop $1 >port &
while [ ! -s port ]; do sleep 0.05; done
env -u VPROF_ARENA -u LD_PRELOAD python3 clients.py "$(cat port)"
wait
S
cat >check.py <<'P'
import json, sys
name, how, load = sys.argv[1:]
summary, tree, causes = (json.load(open(f)) for f in ("summary", "tree", "causes"))
b, seen = summary["before_start"], json.load(open("seen"))
i = summary["interval"]
others = any(c["known"] and c["how"] == "runqueue" and c["share"] > .2 for c in causes["causes"])	# they had the CPUs
first = [c for c in causes["causes"] if c["known"] and c["how"] != "runqueue"][0]
def ok(what, value, *more):
    print("ok" if value else "wrong", what, *more)
ok("all found", abs(i["count"] - len(seen)) < 6, i["count"], len(seen))
if how == "arrival":
    ok("exact", b["exact"] is True and b["intervals_unknown"] * 20 <= b["intervals"], b)
    ok("save before", b["by"][0]["function"] == "save" and b["by"][0]["share"] > .5 or others, b["by"])
    ok("as long as a save", b["p99_ns"] > 4e6 and i["p99_ns"] > 4e6, b, i)
    # A single one may be, on a busy machine one in 200: it ends as handle() returns, which is after its client has the answer.
    p99 = sorted(seen)[len(seen) * (199 if load == "busy" else 198) // 200]
    ok("no longer than what clients saw", i["mean_ns"] <= sum(seen) / len(seen) and i["p99_ns"] <= p99 or others, i, max(seen), p99)
    ok("save is the cause", first["function"] == "save" and first["how"] == "queue" and (first["share"] > .5 or others), first)
    ok("in the socket", any(n["wait"] == "arrived" and (n["share"] > .4 or others) for n in tree["nodes"]))
else:
    ok("a bound only", b is None or b["exact"] is False)
    ok("nothing of a save", first["function"] != "save", first)
P
# recorded NAME HOW: what the views say of it
recorded()
{
	for view in summary:summary variance-tree:tree causes:causes; do
		expect 0 "$VPROF" show "${view%:*}" --interval "$1" --format json
		cp "$work/.out" "${view#*:}"
	done
	machine_is_busy && load=busy || load=quiet
	python3 check.py "$1" "$2" $load >verdict
	grep -q wrong verdict && fail "$1, $2: $(cat verdict)" || pass
}
expect 0 "$VPROF" record --from-arrival -o loop -- sh outside.sh
recorded command arrival
expect 0 "$VPROF" show summary
says "(before start): mean " "save" "from the arrival in the socket, and part of the interval"
expect 0 "$VPROF" show critical-path --slowest 1
says "arrived"
expect 0 "$VPROF" record --kernel=require -- sh outside.sh
recorded command bound
expect 0 "$VPROF" record --from-arrival -o passes -- sh outside.sh passes
recorded passed arrival
expect 0 "$VPROF" merge loop passes -o both		# whose intervals have other numbers
recorded passed arrival

expect 3 "$VPROF" record --from-arrival -- ./loop pipes
says "--from-arrival: when their requests arrived is known of none of the" "record without --from-arrival"
expect 2 "$VPROF" record --from-arrival --kernel=off -- ./loop pipes
says "needs --kernel=require"
expect 2 "$VPROF" record --from-arrival --requests -- ./loop pipes
says "begin at the arrival anyway"
export VPROF_KERNEL_HOOKS=no-sockets
expect 4 "$VPROF" record --from-arrival -- ./loop pipes
says "does not say when bytes arrive on a socket" "record without --from-arrival"
expect 4 "$VPROF" iterate --from-arrival -- ./loop pipes
says "does not say when bytes arrive on a socket"
unset VPROF_KERNEL_HOOKS
finish
