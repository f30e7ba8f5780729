#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# record --order: a thread that found locks free would wait for them if it came earlier, and causal --predict knows it.
#
# A request parses for 24 ms, then takes a lock that another thread held for the first 20 of them.  Without parse() it waits for
# these 20: the gain is about a sixth, which recorded waits alone do not show.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >server.c <<'EOF'
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <vprof.h>
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t start;
static sem_t turn, under_way;
static void ms(long n) { nanosleep(&(struct timespec){ 0, n * 1000000 }, NULL); }
void flush(void) { ms(20); }
void parse(void) { ms(24); }
void append(void) { pthread_mutex_lock(&log_lock); pthread_mutex_unlock(&log_lock); }
static void *holder(void *arg)
{
	pthread_barrier_wait(&start);
	for (int i = 0; i < 20; i++) {
		sem_wait(&turn);
		pthread_mutex_lock(&log_lock);
		sem_post(&under_way);
		flush();
		pthread_mutex_unlock(&log_lock);
	}
	return arg;
}
static void request(int i)
{
	sem_post(&turn);
	sem_wait(&under_way);
	VPROF_BEGIN("request", i);
	pthread_rwlock_rdlock(&table);
	parse();
	pthread_rwlock_unlock(&table);
	append();
	VPROF_END("request", i);
}
int main(void)
{
	pthread_t t;
	pthread_barrier_init(&start, NULL, 2);
	sem_init(&turn, 0, 0);
	sem_init(&under_way, 0, 0);
	pthread_create(&t, NULL, holder, NULL);
	pthread_barrier_wait(&start);
	for (int i = 0; i < 20; i++)
		request(i);
	pthread_join(t, NULL);
	return 0;
}
EOF
expect 0 "$VPROF" build --functions all -- ${CC:-gcc} -O1 -g server.c -o server -lpthread
expect 0 "$VPROF" record -o plain -- ./server
expect 0 "$VPROF" record --order -o noted -- ./server

gain()				# RUN TARGET SPEEDUP: of the mean, in per mille
{
	"$VPROF" causal --predict="$1" --target "$2" --speedups "$3" --format json 2>.err |
		python3 -c 'import json, sys; print(round(1000 * json.load(sys.stdin)["experiments"][0]["predicted"]["mean"]))' 2>>.err ||
		cat .err >&2
}

expect 0 "$VPROF" export --format tuples -o noted.tuples noted
grep -v "^order" noted.tuples >waits.tuples
expect 0 "$VPROF" import --from tuples waits.tuples -o waits
without=$(gain waits io@parse 100) with=$(gain noted io@parse 100)
[ $((without - with)) -gt 50 ] && pass || fail "no parse() gains $with per mille, by the waits alone $without: the lock was free"
[ "$(gain noted lock:append 100)" -lt "$with" ] && pass || fail "to hold the lock for no time gains $(gain noted lock:append 100) per mille"
# By its name: it is what holds a request up once nothing parses, and then to do without it gains all of that.
[ "$(gain noted lock:log_lock 100)" = "$(gain noted lock:append 100)" ] && pass || fail "lock:log_lock is not the lock of append()"
[ "$(gain noted wait:log_lock 100)" -ge 0 ] && pass || fail "wait:log_lock is refused"
grep -q "^order .* log_lock take" noted.tuples && grep -q "^order .* table share" noted.tuples && pass || fail "the locks have no names"
expect 4 "$VPROF" causal --predict=plain --target lock:append
says "the trace does not say which thread holds which lock when; instead: an experiment" "vprof record --order"
expect 4 "$VPROF" causal --predict=noted --target lock:parse
says "no thread takes a lock of that name, or one in a function of that name"

# Each thread noted each of its orders.  The prediction from tuples is the same.
count() { grep -c "^order .* $1\( \|\$\)" noted.tuples; }
for is in "take 80" "give 60" "share 20" "post 40" "meet 2"; do
	[ "$(count "${is% *}")" = "${is#* }" ] && pass || fail "the trace has $(count "${is% *}") orders '${is% *}', not ${is#* }"
done
expect 0 "$VPROF" import --from tuples noted.tuples -o again
[ "$(gain again io@parse 100)" = "$with" ] && pass || fail "from tuples: $(gain again io@parse 100), not $with"
"$VPROF" export --format tuples plain 2>.err | grep -q "^order" && fail "a recording without --order notes locks" || pass

# Chosen by vprof.
expect 0 "$VPROF" causal --predict=noted --speedups 50
says "request"
finish
