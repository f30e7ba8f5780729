#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# make exam-look: what vprof look says of a server that knows itself how much CPU time each request had in which function.  The server is
# built without vprof; it writes the CPU time of slow_command and quick_command of each request, by connection and order, and the shares
# that follow with the latencies of the look are the truth.  ROUNDS looks of 8 s (default 5).
# Then servers of other kinds, and twins with probes: look_kinds.sh.
# Prints a table and writes results/look.json; exit 1 if a request is missing, or if too few of the 95 % intervals hold the truth; 77
# where the kernel recorder is not permitted, or without python3.  A busy machine gives few samples: rounds in which a function has
# too few are counted, and are no error.
set -u
top=$(cd "${srcdir:-.}" && pwd)
. "$top/tests/exam/table.sh"
vprof=$PWD/vprof
results=${RESULTS:-$PWD/results}
rounds=${ROUNDS:-5}
command -v python3 >/dev/null || exit 77
work=$(mktemp -d "$PWD/exam-look.XXXXXX") || exit 99
server=
end()
{
	kill $server ${upstream:-} 2>/dev/null
	rm -rf "$work"
}
trap end EXIT
trap 'exit 99' INT TERM
unset VPROF_CONF
export VPROF_DIR="$work/vprof.data"
cd "$work" || exit 99

cat >server.c <<'END_OF_SERVER'
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 16, REQUESTS = 100000 };
struct spent { double slow_ns, quick_ns; };
static struct spent *spent[CONNECTIONS];
static int cnt[CONNECTIONS], connections;
static volatile unsigned long sink;

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Without a call in it, so that a sample is in the function itself. */
#define SPIN(rounds) for (unsigned long i = 0; i < (rounds); i++) sink += i
__attribute__((noinline)) void slow_command(unsigned long rounds) { SPIN(rounds); }
__attribute__((noinline)) void quick_command(unsigned long rounds) { SPIN(rounds); }

__attribute__((noinline)) int serve_request(int fd, int n)
{
	char request[64];
	double begin, between;

	if (read(fd, request, sizeof(request)) <= 0)
		return 0;
	begin = cpu_ns();
	quick_command(300000 + (unsigned long)(request[1] & 15) * 60000);
	between = cpu_ns();
	if (request[0] == 'S')
		slow_command(15000000);
	if (cnt[n] < REQUESTS)
		spent[n][cnt[n]++] = (struct spent){ cpu_ns() - between, between - begin };
	return write(fd, "answer\n", 7) == 7;
}

static void *serve(void *arg)
{
	int fd = (int)(long)arg, n = __atomic_fetch_add(&connections, 1, __ATOMIC_RELAXED);

	while (serve_request(fd, n))
		;
	return close(fd), NULL;
}

static void *end(void *arg)
{
	int sig;

	sigwait(arg, &sig);
	for (int n = 0; n < connections; n++)
		for (int i = 0; i < cnt[n]; i++)
			printf("%d %.0f %.0f\n", n, spent[n][i].slow_ns, spent[n][i].quick_ns);
	fflush(stdout);
	_exit(0);
}

int main(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	static sigset_t terms;
	pthread_t t;

	sigemptyset(&terms);
	sigaddset(&terms, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &terms, NULL);
	for (int n = 0; n < CONNECTIONS; n++)
		spent[n] = calloc(REQUESTS, sizeof(*spent[n]));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 50) < 0 || getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		return 1;
	fprintf(stderr, "%d\n", ntohs(a.sin_port));
	pthread_create(&t, NULL, end, &terms);
	for (;;)
		pthread_create(&t, NULL, serve, (void *)(long)accept(fd, NULL, NULL));
}
END_OF_SERVER
cat >client.py <<'END_OF_CLIENT'
import random, socket, sys, threading, time
port, seconds, seed = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
sent = [0, 0]
def ask(n):
    s, r = socket.create_connection(("127.0.0.1", port)), random.Random(100 * seed + n)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        s.sendall((b"S" if r.random() < .1 else b"Q") + bytes([r.randrange(256)])), s.recv(100)
        sent[n] += 1
        time.sleep(.0005)
threads = [threading.Thread(target=ask, args=(n,)) for n in range(2)]
for t in threads:
    t.start(), time.sleep(.2)		# connections are numbered by their first bytes
for t in threads: t.join()
print(sum(sent))
END_OF_CLIENT
# Prints, of slow_command and quick_command: true share, reported share, low, high ("- - -": too few samples); then the requests found.
cat >judge.py <<'END_OF_JUDGE'
import json, sys
look, intervals, spent = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))["intervals"], {}
for line in open(sys.argv[3]):
    n, slow, quick = line.split()
    spent.setdefault(int(n), []).append((float(slow), float(quick)))
order, seen, rows = [], {}, []
for i in sorted(intervals, key=lambda i: i["start_ns"]):
    if i["connection"] not in order:
        order.append(i["connection"])
    n = order.index(i["connection"])
    k = seen[n] = seen.get(n, -1) + 1
    rows.append((i["latency_ns"], *spent[n][k]))
mean = [sum(c) / len(rows) for c in zip(*rows)]
cov = [sum((r[k] - mean[k]) * (r[0] - mean[0]) for r in rows) / len(rows) for k in range(3)]
nodes = look["nodes"]
def names(n):
    while n:
        yield n["function"]
        n = nodes[n["parent"]] if n["parent"] is not None else None
for k, f in ((1, "slow_command"), (2, "quick_command")):
    told = [n for n in nodes if n.get("estimated") and f in names(n) and not any(m["parent"] == n["id"] for m in nodes)]
    print(f, cov[k] / cov[0], *((told[0]["share"], *told[0]["ci95"]) if len(told) == 1 and told[0]["ci95"] else ("-", "-", "-")))
print("found", len(rows))
END_OF_JUDGE
gcc -Wall -Wextra -Werror -O1 -rdynamic -pthread server.c -o server || exit 99

one_round() # N
{
	./server >spent 2>port &
	server=$!
	while [ ! -s port ]; do sleep 0.1; done
	rm -rf vprof.data
	"$vprof" look -p $server --duration 8s --format json -o look >look.json 2>look.err &
	look=$!
	for i in $(seq 300); do
		[ -n "$(find . -name kernel.vpk)" ] && break
		sleep 0.1
	done
	python3 client.py "$(cat port)" 5 "$1" >sent || exit 99
	wait $look
	status=$?
	kill $server
	wait $server
	server=
	[ $status = 4 ] && { cat look.err; exit 77; }
	[ $status = 0 ] || { cat look.err; exit 99; }
	"$vprof" show intervals look --all --format json >intervals.json || exit 99
	python3 judge.py look.json intervals.json spent >judged || exit 99
	sed "s/^/$1 /" judged
	awk -v sent="$(cat sent)" '$1 == "found" { print $1, $2, sent } $1 != "found" { print }' judged >>all
}

for n in $(seq "$rounds"); do
	one_round "$n"
done
told=$(awk '$1 != "found" && $3 != "-" { n++ } END { print n + 0 }' all)
held=$(awk '$1 != "found" && $3 != "-" && $2 >= $4 && $2 <= $5 { n++ } END { print n + 0 }' all)
off=$(awk '$1 != "found" && $3 != "-" { n++; d += $3 - $2 } END { printf "%.2f", n ? 100 * d / n : 0 }' all)
row "requests found" "$(awk '$1 == "found" { n += $2; m += $3 } END { printf "%.4f", m ? n / m : 0 }' all)" "of those sent" 1 \
	"$(awk '$1 == "found" && $2 != $3 { n++ } END { print n + 0 }' all) == 0"
row "shares with samples enough" "$told" "of $((2 * rounds))" 1 "$told >= 1"
row "95 % intervals that hold the true share" "$held" "of $told" "$told" "$held >= 0.92 * $told - 1"
row "mean error of the shares" "$off" points 1 "$told < 20 || ($off < 1 && $off > -1)"
. "$top/tests/exam/look_kinds.sh"
write_results "$results/look.json"
exit $bad
