#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof look: a server that was built without vprof, with planted waits; its client knows how long each request took.
#	threads	one per connection; a flusher holds their lock for 40 ms, four times a second
#	loop	poll and one thread; one request in forty sleeps 12 ms below slow_command, and the others wait for it
# The requests contain a secret, which must not be anywhere in the trace.
. "${srcdir:-.}/tests/e2e/lib.sh"

needs_kernel_recorder
cat >server.c <<'END_OF_SERVER'
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) void write_out(void)
{
	pthread_mutex_lock(&lock);
	usleep(40000);
	pthread_mutex_unlock(&lock);
}

static void *flush_now_and_then(void *arg)
{
	for (;;) {
		usleep(235000);
		write_out();
	}
	return arg;
}

__attribute__((noinline)) void log_append(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static volatile int done;
__attribute__((noinline)) void find_all(void) { usleep(6000); done++; }
__attribute__((noinline)) void sort_all(void) { usleep(6000); done++; }
__attribute__((noinline)) void slow_command(void) { find_all(); sort_all(); done++; }

/* One request; false: the connection is over. */
__attribute__((noinline)) int serve_request(int fd, int loop)
{
	char request[64];
	ssize_t n = read(fd, request, sizeof(request));

	if (n <= 0)
		return 0;
	if (loop && request[0] == 'S')
		slow_command();
	if (!loop)
		log_append();
	return write(fd, "answer\n", 7) == 7;
}

static void *serve(void *arg)
{
	while (serve_request((int)(long)arg, 0))
		;
	return close((int)(long)arg), NULL;
}

static int listen_on(int *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 50) < 0 || getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		return -1;
	*port = ntohs(a.sin_port);
	return fd;
}

int main(int argc, char **argv)
{
	int loop = argc > 1 && strcmp(argv[1], "loop") == 0, port = 0, fd = listen_on(&port), one = 1;
	struct pollfd fds[64] = { { .fd = fd, .events = POLLIN } };
	nfds_t cnt = 1;
	pthread_t t;

	printf("%d\n", port);
	fflush(stdout);
	if (!loop)
		pthread_create(&t, NULL, flush_now_and_then, NULL);
	for (;;) {
		if (poll(fds, cnt, -1) < 0)
			return 1;
		for (nfds_t i = 1; i < cnt; i++)
			if (fds[i].revents && !serve_request(fds[i].fd, 1)) {
				close(fds[i].fd);
				fds[i].fd = -1;
			}
		if (fds[0].revents) {
			int c = accept(fd, NULL, NULL);

			setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
			if (loop && cnt < 64)
				fds[cnt++] = (struct pollfd){ .fd = c, .events = POLLIN };
			else
				pthread_create(&t, NULL, serve, (void *)(long)c);
		}
	}
}
END_OF_SERVER
cat >client.py <<'END_OF_CLIENT'
import random, socket, sys, threading, time
port, seconds, secret = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3].encode()
took, lock = [], threading.Lock()
def ask(n):
    s, r = socket.create_connection(("127.0.0.1", port)), random.Random(n)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic_ns()
        s.sendall((b"S" if r.random() < .025 else b"Q") + secret)
        s.recv(100)
        with lock:
            took.append(time.monotonic_ns() - begin)
        time.sleep(.002)
    s.close()
threads = [threading.Thread(target=ask, args=(n,)) for n in range(5)]
for t in threads: t.start()
for t in threads: t.join()
print(len(took), sum(took) // len(took))
END_OF_CLIENT
gcc -Wall -Wextra -Werror -O1 -rdynamic -pthread server.c -o server || exit 99
command -v python3 >/dev/null || exit 77
secret=TheSecretOfThePayload42

# The client begins and ends within the look, so both know the same requests.
look_at() # HOW
{
	./server "$1" >port &
	server=$!
	sleep 0.5
	port=$(cat port)
	before_cnt=$(find . -name kernel.vpk | wc -l)
	"$VPROF" look -p $server --duration 6s --format json -o "$1" >"$1.json" 2>"$1.err" &
	look=$!
	before=$before_cnt
	for i in $(seq 300); do		# its programs are attached by then
		[ "$(find . -name kernel.vpk | wc -l)" -gt "$before" ] && break
		sleep 0.1
	done
	python3 client.py "$port" 2.5 $secret >"$1.client" || fail "$1: the client failed"
	wait $look
	status=$?
	kill $server
	wait $server 2>/dev/null
	[ $status = 0 ] || { cat "$1.err"; fail "$1: look ended with $status"; }
	asked=$(cut -d' ' -f1 "$1.client")
	found=$(json_of "$1.json" 'd["look"]["exchanges"]')
	[ "$found" = "$asked" ] || fail "$1: the client sent $asked requests, $found were found"
	[ "$(json_of "$1.json" 'd["interval"]["name"] if isinstance(d["interval"], dict) else d["interval"]')" = "port $port" ] ||
		fail "$1: not named by its port"
	[ "$(json_of "$1.json" 'd["look"]["connections"]')" = 5 ] || fail "$1: not 5 connections"
}

json_of() # FILE EXPRESSION
{
	python3 -c "import json, sys; d = json.load(open(sys.argv[1])); print($2)" "$1"
}

# The largest share of a node that names the function, and has a node of that class above it or is one.
share() # FILE WAIT FUNCTION
{
	python3 - "$@" <<'END'
import json, sys
nodes = json.load(open(sys.argv[1]))["nodes"]
def above(n):
    while n:
        yield n
        n = nodes[n["parent"]] if n["parent"] is not None else None
print(max([n["share"] for n in nodes if any(m["function"] == sys.argv[3] for m in above(n)) and
           any(m["wait"] == sys.argv[2] for m in above(n))] or [0]))
END
}

# That share of what is left without the waits for a CPU, of which a busy machine has many.
of_the_rest() # FILE SHARE
{
	python3 - "$@" <<'END'
import json, sys
nodes = json.load(open(sys.argv[1]))["nodes"]
parents = {n["parent"] for n in nodes}
print(float(sys.argv[2]) / (1 - sum(n["share"] for i, n in enumerate(nodes) if i not in parents and n["wait"] in ("runnable", "wakeup"))))
END
}

more_than() # WHAT SHARE LEAST
{
	python3 -c "import sys; sys.exit(not float('$2') > $3)" && pass || fail "$1: $2, not above $3"
}

look_at threads
more_than "log_append waits for the lock" "$(of_the_rest threads.json "$(share threads.json lock log_append)")" .5
more_than "write_out, asleep, has the lock" "$(of_the_rest threads.json "$(share threads.json sleep write_out)")" .4
"$VPROF" show intervals threads --format json >intervals.json || fail "show intervals: $?"
[ "$(json_of intervals.json 'len({i["connection"] for i in d["intervals"]}), {(i["port"], i["bytes_in"], i["bytes_out"]) for i in d["intervals"]}')" = \
	"5 {($port, $((${#secret} + 1)), 7)}" ] && pass || fail "show intervals: connections, port or bytes are wrong"
"$VPROF" iterate --from threads -- true >from.out 2>from.err
[ $? = 0 ] && grep -q "0 builds" from.out && pass || { cat from.out from.err; fail "iterate --from: the answer is a wait, and it did not end with it"; }
[ "$(json_of threads.json 'd["look"]["annotate"]')" = "{'start': 'serve_request', 'end': 'serve_request'}" ] && pass ||
	fail "what to annotate is not proposed: $(json_of threads.json 'd["look"]')"
[ "$(json_of threads.json 'd["look"]["cost_ns"] is None or 0 < d["look"]["cost_ns"] < 1000000')" = True ] && pass ||
	fail "what recording a request takes: $(json_of threads.json 'd["look"]')"
look_at loop
more_than "requests wait while others are served" "$(of_the_rest loop.json "$(share loop.json busy slow_command)")" .3
more_than "slow requests are slow themselves" "$(share loop.json sleep slow_command)" .05
# Its two callees have half of its time and variance each: the function is one cause, with all of both.
"$VPROF" show causes loop --all --format json >causes.json || fail "show causes: $?"
more_than "slow_command is the cause" "$(of_the_rest loop.json "$(json_of causes.json 'sum(c["share"] for c in d["causes"] if c["function"] == "slow_command")')")" .35
[ "$(json_of causes.json '[c for c in d["causes"] if c["function"] in ("find_all", "sort_all")]')" = "[]" ] && pass ||
	fail "what slow_command calls is named instead: $(json_of causes.json '[(c["function"], c["share"]) for c in d["causes"]]')"

# Blocks are packed, so the trace is searched as it unpacks; what it must hold shows that the search finds what is there.
cat >unpack.c <<'END_OF_UNPACK'
#include <stdio.h>
#include "trace/blocks.h"
#include "trace/kernel_format.h"

int main(int argc, char **argv)
{
	struct blocks b;
	int err = blocks_open(&b, argv[argc - 1], KERNEL_MAGIC, KERNEL_VERSION, NULL);

	while (!err && blocks_next(&b, &err, NULL))
		fwrite(b.plain, 1, b.len, stdout);
	blocks_close(&b);
	return err != 0;
}
END_OF_UNPACK
build=$(dirname "$VPROF")
gcc -D_GNU_SOURCE -I"$top" unpack.c "$build/libtrace.a" "$build/libbase.a" $(pkg-config --libs libzstd) -o unpack || exit 99
searched=0
for trace in $(find vprof.data -name kernel.vpk); do
	./unpack "$trace" >plain || fail "'$trace' does not unpack"
	grep -aq 'log_append\|slow_command' plain && searched=$((searched + 1))
	grep -aq "$secret" plain && fail "a request's payload is in the trace"
done
[ $searched = 2 ] && pass || fail "of the two traces the search found $searched"
grep -rlq "$secret" vprof.data && fail "a request's payload is in the data directory"

# The report names no carrier where there is none.
python3 -c "import time; time.sleep(60)" &
idle=$!
"$VPROF" look -p $idle --duration 1s >idle.out 2>idle.err
[ $? = 3 ] || fail "a process without requests: not 3"
grep -q "no request to process $idle was answered" idle.err || fail "a process without requests: $(cat idle.err)"
kill $idle
"$VPROF" look -p 999999999 >none.out 2>&1
[ $? = 4 ] || fail "no such process: not 4"
"$VPROF" look >usage.out 2>&1
[ $? = 2 ] || fail "no process given: not 2"
"$VPROF" look -p $$ --port 99999 >usage.out 2>&1
[ $? = 2 ] || fail "--port 99999: not 2"

finish
