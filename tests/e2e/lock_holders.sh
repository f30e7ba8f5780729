#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# lock_holders.sh - a wait for a lock is charged to its holder only while that one holds it.  The waiter shares its
# processor with `hog`, so that it has none at once when it is woken: `owner` does 1 ms of unrelated work between two times of
# holding the lock, and is back before the waiter.  One run for all kinds of locks:
#
#	listed	a spin lock of the program's own, in vprof.conf
#	macros	the same lock with VPROF_ACQUIRE, VPROF_ACQUIRED and VPROF_RELEASE
#	tried	the same, but taking it at once is told by VPROF_ACQUIRED alone
#	secret	the same, but taking it at once is not told
. "$(dirname "$0")/lib.sh"

cat >barge.c <<'EOF'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/sem.h>
#include <time.h>
#include <unistd.h>
#include <vprof.h>
#define NI __attribute__((noinline))

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static volatile int listed_word, macros_word, tried_word, secret_word, rounds, set;
static __thread int fd;

static int had(volatile int *l) { return !__atomic_exchange_n(l, 1, __ATOMIC_ACQUIRE); }
static void get(volatile int *l) { while (!had(l)) sched_yield(); }
static void put(volatile int *l) { __atomic_store_n(l, 0, __ATOMIC_RELEASE); }
NI void own_lock(volatile int *l) { get(l); }
NI void own_unlock(volatile int *l) { put(l); }
static void told_get(volatile int *l) { VPROF_ACQUIRE(l); get(l); VPROF_ACQUIRED(l); }
static void told_put(volatile int *l) { VPROF_RELEASE(l); put(l); }
static void tried_get(volatile int *l) { if (had(l)) VPROF_ACQUIRED(l); else told_get(l); }
static void secret_get(volatile int *l) { if (!had(l)) told_get(l); }
static void change(short by) { struct sembuf op = { 0, by, 0 }; semop(set, &op, 1); }

#define KINDS(X)								\
	X(mutex, pthread_mutex_lock(&m), pthread_mutex_unlock(&m))		\
	X(rwlock, pthread_rwlock_wrlock(&rw), pthread_rwlock_unlock(&rw))	\
	X(listed, own_lock(&listed_word), own_unlock(&listed_word))		\
	X(macros, told_get(&macros_word), told_put(&macros_word))		\
	X(tried, tried_get(&tried_word), told_put(&tried_word))			\
	X(secret, secret_get(&secret_word), told_put(&secret_word))		\
	X(file, flock(fd, LOCK_EX), flock(fd, LOCK_UN))				\
	X(semop, change(-1), change(1))

static inline __attribute__((always_inline)) void spin(long us)
{
	struct timespec t;
	long long end;
	clock_gettime(CLOCK_MONOTONIC, &t);
	end = t.tv_sec * 1000000000LL + t.tv_nsec + us * 1000;
	do
		clock_gettime(CLOCK_MONOTONIC, &t);
	while (t.tv_sec * 1000000000LL + t.tv_nsec < end);
}
#define X(kind, lock, unlock)						\
	NI void held_##kind(void) { lock; spin(1000); unlock; }		\
	NI void other_##kind(void) { spin(1000); }			\
	static void want_##kind(void) { lock; unlock; }
KINDS(X)
#undef X
static const struct { void (*held)(void), (*other)(void), (*want)(void); } kinds[] = {
#define X(kind, lock, unlock) { held_##kind, other_##kind, want_##kind },
KINDS(X)
};
enum { KIND_CNT = sizeof(kinds) / sizeof(kinds[0]), ROUNDS = 40 };

static void pin(int last)
{
	cpu_set_t allowed, one;
	int cpu = -1;
	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int i = 0; i < CPU_SETSIZE && (last || cpu < 0); i++)
		if (CPU_ISSET(i, &allowed))
			cpu = i;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}
static void *owner(void *p)
{
	pin(0);
	fd = open("file", O_RDWR | O_CREAT, 0600);
	for (; rounds < KIND_CNT * ROUNDS; rounds++) {
		kinds[rounds / ROUNDS].held();
		kinds[rounds / ROUNDS].other();
	}
	return p;
}
static void *hog(void *p) { pin(1); while (rounds < KIND_CNT * ROUNDS) spin(100); return p; }
NI void request(int kind) { kinds[kind].want(); }
int main(void)
{
	pthread_t a, b;
	int now;
	set = semget(IPC_PRIVATE, 1, 0600);
	change(1);
	fd = open("file", O_RDWR | O_CREAT, 0600);
	pthread_create(&a, NULL, owner, NULL);
	pthread_create(&b, NULL, hog, NULL);
	pin(1);
	nice(5);
	while ((now = rounds) < KIND_CNT * ROUNDS) { request(now / ROUNDS); usleep(100); }
	semctl(set, 0, IPC_RMID);
	return pthread_join(a, NULL) || pthread_join(b, NULL);
}
EOF
cat >vprof.conf <<'EOF'
[interval "request"]
	start = request
	end = request
[sync]
	acquire = own_lock(arg0)
	release = own_unlock(arg0)
EOF

kinds="mutex rwlock listed macros tried secret file semop"
functions=request
for kind in $kinds; do
	functions=$functions,held_$kind,other_$kind
done
expect 0 "$VPROF" build --functions "$functions" -- gcc -O1 -I"$top/annotations" -pthread -o barge barge.c
expect 0 "$VPROF" record -- ./barge
"$VPROF" show variance-tree --format csv 2>/dev/null | awk -F, -v kinds="$kinds" '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["kind"] == "blame" { ns[$at["function"]] += $at["mean_ns"] }
	END {
		n = split(kinds, k, " ")
		for (i = 1; i <= n; i++)
			printf "%s %d %d\n", k[i], ns["held_" k[i]], ns["other_" k[i]]
	}' >means
while read -r kind inside outside; do
	echo "$kind: held $inside ns, unrelated $outside ns"
	if [ "$inside" -gt 0 ] && [ $((outside * 20)) -lt "$inside" ]; then
		pass
	else
		fail "$kind: unrelated work is charged with $outside ns of a wait for the lock, the holder with $inside ns"
	fi
done <means

# Of a taking that is not told only the last nanosecond is known.
"$VPROF" export 2>/dev/null | awk '
	$1 == "invocation" && $4 ~ /^held_/ {
		if (!($4 in first) || $5 < first[$4])
			first[$4] = $5
		if ($6 > last[$4])
			last[$4] = $6
	}
	$1 == "segment" && $6 == "lock" && $5 - $4 == 1 { moments[n++] = $4 }
	END {
		for (kind in first) {
			cnt = 0
			for (i = 0; i < n; i++)
				cnt += moments[i] > first[kind] && moments[i] <= last[kind]
			print kind, cnt
		}
	}' >untold
cat untold
if grep -qx "held_tried 0" untold; then
	pass
else
	fail "VPROF_ACQUIRED alone does not tell who has the lock"
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
