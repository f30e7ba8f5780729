#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# lock_holders.sh - a wait for a lock is charged to its holder only while that one holds it.  The waiter shares its
# processor with `hog`, so that it has none at once when it is woken: `owner` does 1 ms of `unrelated` work between two times of
# holding the lock, and is back before the waiter.
. "$(dirname "$0")/lib.sh"

cat >barge.c <<'EOF'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>
#define NI __attribute__((noinline))
#if defined(RWLOCK)
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
#define LOCK() pthread_rwlock_wrlock(&l)
#define UNLOCK() pthread_rwlock_unlock(&l)
#else
static pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&l)
#define UNLOCK() pthread_mutex_unlock(&l)
#endif
static volatile int stop, rounds;
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
NI void held(void) { LOCK(); spin(1000); UNLOCK(); }
NI void unrelated(void) { spin(1000); }
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
static void *owner(void *p) { pin(0); while (!stop) { held(); unrelated(); rounds++; } return p; }
static void *hog(void *p) { pin(1); while (!stop) spin(100); return p; }
NI void request(void) { LOCK(); UNLOCK(); }
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, owner, NULL);
	pthread_create(&b, NULL, hog, NULL);
	pin(1);
	nice(5);
	while (rounds < 250) { request(); usleep(100); }
	stop = 1;
	return pthread_join(a, NULL) || pthread_join(b, NULL);
}
EOF

# mean_of RUN NAME: of the blame of that name, ns
mean_of()
{
	"$VPROF" show variance-tree "$1" --format csv 2>/dev/null | awk -F, -v f="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["kind"] == "blame" && $at["function"] == f { sum += $at["mean_ns"] }
		END { printf "%d\n", sum }'
}

expect 0 "$VPROF" annotate --start request --end request
for kind in MUTEX RWLOCK; do
	expect 0 "$VPROF" build --functions request,held,unrelated -- gcc -O1 -D$kind -pthread -o barge-$kind barge.c
	expect 0 "$VPROF" record -o $kind -- ./barge-$kind
	inside=$(mean_of $kind held)
	outside=$(mean_of $kind unrelated)
	echo "$kind: held $inside ns, unrelated $outside ns"
	if [ "$inside" -gt 0 ] && [ $((outside * 50)) -lt "$inside" ]; then
		pass
	else
		fail "$kind: unrelated work is charged with $outside ns of a wait for the lock, the holder with $inside ns"
	fi
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
