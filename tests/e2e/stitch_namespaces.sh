#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Two hosts: network namespaces joined by veth, the second with its clock 5,000 s ahead.  A front calls a back, which now and then
# sleeps in rebuild.  One recording is made over both at once, and two that are stitched; each time vprof's share of rebuild is held
# against what the two programs measured themselves in that run: the time in rebuild while the front was in recv(), for if it had no CPU
# after its send() it would not have gone on without rebuild either.  The ids come from vprof.conf (back) and from macros (front).
. "${srcdir:-.}/tests/e2e/lib.sh"

skip()
{
	echo "SKIP: $*"
	exit 77
}
command -v ip >/dev/null 2>&1 || skip "no ip command (package iproute2): network namespaces cannot be made"
a=vpa$$ b=vpb$$
ip netns add "$a" 2>/dev/null || skip "network namespaces are not permitted here"
trap 'ip netns del $a 2>/dev/null; ip netns del $b 2>/dev/null; rm -rf "$work"' EXIT
ip netns add "$b" && ip link add "$a" type veth peer name "$b" 2>/dev/null || skip "no veth between network namespaces here"
ip link set "$a" netns "$a" && ip link set "$b" netns "$b" &&
	ip -n "$a" addr add 10.77.0.1/24 dev "$a" && ip -n "$b" addr add 10.77.0.2/24 dev "$b" &&
	ip -n "$a" link set "$a" up && ip -n "$b" link set "$b" up && ip -n "$a" link set lo up && ip -n "$b" link set lo up ||
	skip "network namespaces cannot be joined here"
ahead="unshare -T --monotonic 5000 --boottime 5000"
$ahead true 2>/dev/null || { ahead=; echo "no time namespaces here: both clocks are the same one"; }

cat >common.h <<'C'
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
enum { REQUESTS = 400 };
struct message { char traceparent[56]; };
static inline struct sockaddr_in place(const char *ip)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(4000) };

	inet_pton(AF_INET, ip, &a.sin_addr);
	return a;
}
static inline void whole(ssize_t done, size_t wanted)
{
	if (done != (ssize_t)wanted)
		exit(3);
}
static inline long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}
C
cat >front.c <<'C'
#include "common.h"
#include <vprof.h>

static FILE *told;
static long long called, back_again;

__attribute__((noinline)) void call_back(int fd, struct message *m)
{
	VPROF_CALL(m->traceparent);
	whole(send(fd, m, sizeof(*m), 0), sizeof(*m));
	called = now();
	whole(recv(fd, m, sizeof(*m), MSG_WAITALL), sizeof(*m));
	back_again = now();
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = place("10.77.0.2");
	int fd = -1, one = 1;

	(void)argc;
	told = fopen(argv[1], "w");
	for (int tries = 0; tries < 1000; tries++, usleep(10000)) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
			break;
		close(fd);
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (int i = 0; i < REQUESTS; i++) {
		struct message m;
		char mine[64];
		long long start;

		snprintf(mine, sizeof(mine), "00-%016x%016llx-%016x-01", 7, (i + 1) * 0x9e3779b97f4a7c15ULL, 0xf);
		snprintf(m.traceparent, sizeof(m.traceparent), "00-%016x%016llx-%016x-01", 7, (i + 1) * 0x9e3779b97f4a7c15ULL, i + 1000);
		VPROF_TRACE(mine, 0);
		start = now();
		VPROF_BEGIN("request", i);
		call_back(fd, &m);
		VPROF_END("request", i);
		fprintf(told, "%lld %lld %lld\n", now() - start, called, back_again);
	}
	fclose(told);
	return 0;
}
C
cat >back.c <<'C'
#include "common.h"

static FILE *told;
static long long from, to;

__attribute__((noinline)) void lookup(void)
{
	for (volatile int i = 0; i < 20000; i++)
		;
}

__attribute__((noinline)) void rebuild(int i)
{
	struct timespec t = { 0, 6000000 + i * 7919 % 2000000 };

	from = now();
	nanosleep(&t, NULL);
	to = now();
}

__attribute__((noinline)) void serve(struct message *m, int i)
{
	from = to = 0;
	lookup();
	if (i % 10 == 3)
		rebuild(i);
	m->traceparent[0] = '1';
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = place("10.77.0.2");
	int one = 1, l = socket(AF_INET, SOCK_STREAM, 0), fd;
	struct message m;

	(void)argc;
	told = fopen(argv[1], "w");
	setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(l, (struct sockaddr *)&at, sizeof(at)) || listen(l, 5))
		exit(4);
	fd = accept(l, NULL, NULL);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (int i = 0; recv(fd, &m, sizeof(m), MSG_WAITALL) == sizeof(m); i++) {
		serve(&m, i);
		whole(send(fd, &m, sizeof(m), 0), sizeof(m));
		fprintf(told, "%lld %lld\n", from, to);
	}
	fclose(told);
	return 0;
}
C
cat >vprof.conf <<'C'
[interval "serve"]
    start = serve@entry
    end = serve@return
    trace = arg0->traceparent
C
"$VPROF" build --functions all -- sh -c 'cc -O2 -g -o front front.c && cc -O2 -g -o back back.c' >build.log 2>&1 ||
	{ cat build.log; fail "build"; finish; }

both()			# RECORDER-OF-FRONT RECORDER-OF-BACK: runs both
{
	ip netns exec "$b" $ahead unshare --uts sh -c "hostname hostb; exec $2 ./back told.back" >back.log 2>&1 &
	ip netns exec "$a" unshare --uts sh -c "hostname hosta; exec $1 ./front told.front" >front.log 2>&1
	status=$?
	wait $!
	[ $status = 0 ] || { cat front.log back.log; fail "the front ended with $status"; }
}

cat >check.py <<'END'
import json, os, sys
from fractions import Fraction
front, back = ([[int(t) for t in l.split()] for l in open("told." + n)] for n in ("front", "back"))
ahead, n = int(sys.argv[3] or 0) * 10**9, len(front)
T = [took for took, _, _ in front]
X = [max(0, min(to - ahead, end) - max(begin - ahead, called)) if to else 0 for (_, called, end), (begin, to) in zip(front, back)]
cov = lambda a, b: Fraction(sum(x * y for x, y in zip(a, b)), n) - Fraction(sum(a), n) * Fraction(sum(b), n)
told = float(cov(X, T) / cov(T, T))
nodes = json.load(sys.stdin)["nodes"]
assert abs(sum(m["share"] for m in nodes if m["parent"] == 0) - 1) < 1e-9
found = sum(m["share"] for m in nodes if m["function"] == "rebuild" and m["kind"] in sys.argv[1].split(","))
print("rebuild: by the programs %.2f %%, by vprof %.2f %%" % (100 * told, 100 * found))
assert abs(told - found) < 0.005, (told, found)
if sys.argv[2] == "stitched":
    hosts = {m["function"]: m.get("host") for m in nodes if m["function"]}
    assert hosts["rebuild"] == "hostb" and hosts["call_back"] == "hosta" and hosts["lookup"] == "hostb", hosts
END

# One recording over both: the blame of front's wait.  (--shift of the clock would show: one clock here.)
keep=$ahead ahead=
"$VPROF" record -o one -- sh -c "ip netns exec $b ./back told.back & ip netns exec $a ./front told.front; wait" >one.log 2>&1 ||
	{ cat one.log; fail "one recording"; }
ahead=$keep
"$VPROF" show variance-tree one --interval request --format json 2>err | python3 check.py blame one 0 2>>err && pass || fail "one recording: $(tail -1 err)"

both "$VPROF record -o front --" "$VPROF record -o back --"
expect 0 "$VPROF" stitch front back -o both
cp .err said
says "hosta calls hostb: 400 calls" "400 remote intervals found a caller"
"$VPROF" show variance-tree both --format json 2>err | python3 check.py function stitched "${ahead:+5000}" 2>>err && pass || fail "stitched: $(tail -n 1 err)"
[ -z "$ahead" ] || awk '/its clock is/ { for (i = 1; $i != "clock"; i++); ok = $(i + 2) > 4999.99 && $(i + 2) < 5000.01 } END { exit !ok }' said &&
	pass || fail "the clocks are 5,000 s apart: $(cat said)"

# --by trace: the hosts choose the same requests, by the ids
both "$VPROF record --sample 1/4 --by trace -o chosen.front --" "$VPROF record --sample 1/4 --by trace -o chosen.back --"
cat >chosen.py <<'END'
import subprocess, sys, os
wanted = {(7 << 64) + (i + 1) * 0x9e3779b97f4a7c15 % 2**64 for i in range(400)}
wanted = {t for t in wanted if t % 2**56 < 2**56 // 4}
for run in "chosen.front", "chosen.back":                  # root-only intervals are not in the tuples
    lines = [l.split() for l in subprocess.run([os.environ["VPROF"], "export", "--format", "tuples", run], capture_output=True, text=True).stdout.splitlines()]
    full = {l[1] for l in lines if l[0] == "interval"}
    got = {int(l[2], 16) for l in lines if l[0] == "ids" and l[1] in full}
    assert got == wanted, (run, len(got), len(wanted), len(got & wanted))
END
python3 chosen.py 2>err && pass || fail "by trace: $(tail -1 err)"
expect 2 "$VPROF" record --by trace -- true
expect 2 "$VPROF" record --sample 1/4 --by host -- true
finish
