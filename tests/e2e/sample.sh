#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof record --sample: a random part of the intervals in full; the measured cost of the probes.
. "${srcdir:-.}/tests/e2e/lib.sh"

# 2,000 requests that begin on one thread and end on another, under three marks and four keys; finish()
# calls a hundred small functions, and sleeps in every second request: what varies more leaves no cost to be measured.
cat >server.c <<'END'
#include <pthread.h>
#include <unistd.h>
#include <vprof.h>

enum { REQUESTS = 2000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;
static volatile unsigned sink;

__attribute__((noinline)) void small(unsigned i) { sink += i; }
__attribute__((noinline)) void pause_sometimes(int i) { if (i % 2 == 0) usleep(300); }

static void pass_turn(int wanted)
{
	pthread_mutex_lock(&lock);
	while (turn != wanted)
		pthread_cond_wait(&turned, &lock);
	pthread_mutex_unlock(&lock);
}

static void take_turn(int next)
{
	pthread_mutex_lock(&lock);
	turn = next;
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&lock);
}

void finish(int i)
{
	VPROF_RESUME("resumed", i % 4);
	for (unsigned k = 0; k < 100; k++)
		small(k);
	pause_sometimes(i);
	VPROF_END("ended", i % 4);
}

static void *work(void *arg)
{
	for (int i = 0; i < REQUESTS; i++) {
		pass_turn(2 * i + 1);
		finish(i);
		take_turn(2 * i + 2);
	}
	return arg;
}

void begin(int i)
{
	VPROF_BEGIN("begun", i % 4);
	small(1);
	VPROF_PAUSE();
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, work, NULL);
	for (int i = 0; i < REQUESTS; i++) {
		pass_turn(2 * i);
		begin(i);
		take_turn(2 * i + 1);
	}
	pthread_join(t, NULL);
	return 0;
}
END
cat >vprof.conf <<'END'
[interval "request"]
	start = mark:begun
	end = mark:ended
	resume = mark:resumed
END

expect 0 "$VPROF" build --functions finish,small,pause_sometimes -- \
	cc -O1 -o server server.c -lpthread
expect 2 "$VPROF" record --sample 0 -- ./server
says "--sample is a part of the intervals like 1/10, auto, or auto=0.1, not '0'"
# On a busy machine a few requests may take so long that no ratio means anything: once more then, and if it stays so that
# is the answer.
measured=
for turn in 1 2 3 4 5 6; do
	expect 0 "$VPROF" record --sample 1/4 -- ./server
	says "recorded in full" "root-only" "instrumentation: "
	grep -q "variance (95 % CI" "$work/.err" && measured=yes && break
done
# On a busy machine the turns take longer than it does: it is among the factors, not always the first.
expect 0 "$VPROF" show factors --all
says "pause_sometimes"
expect 0 "$VPROF" show summary
says "intervals whose functions were not recorded" "instrumentation: " ${measured:+" mean (95 % CI " " variance (95 % CI "}
expect 0 "$VPROF" show summary --format json
says '"instrumentation"' '"root_only"' '"mean_ci95"' ${measured:+'"measured": true'}

# About a quarter in full: 500, give or take four standard errors of 19.4; and none is missing.
expect 0 "$VPROF" sql "SELECT f.count BETWEEN 422 AND 578, f.count + p.root_only_count,
	coalesce(p.mean_low < p.mean AND p.mean < p.mean_high, 1) FROM finding f JOIN probing p ON p.finding = f.id
	ORDER BY f.run DESC LIMIT 1"
grep -q '^1.*2000.*1$' "$work/.out" && pass || fail "numbers of intervals: $(cat "$work/.out")"

# Every interval in full has its 101 calls, on both threads; the others have none.
calls_are_right()
{
	awk '$1 == "interval" { full[$2] = 1; cnt++ }
		$1 == "invocation" && $4 ~ /^small/ && $3 != "-" { calls[$3]++ }
		END {
			for (sid in full) wrong += calls[sid] != 101
			for (sid in calls) wrong += !(sid in full)
			if (!cnt || wrong) { print wrong " of " cnt; exit 1 }
		}' "$1" && pass || fail "calls of intervals in full and of others"
}
expect 0 "$VPROF" export --format tuples
says "completed intervals of which no functions were recorded (record --sample) are left out" \
	"have no place in tuples and are left out"
cp "$work/.out" full.tuples
calls_are_right full.tuples

# The example of check is one whose functions were recorded.
expect 0 "$VPROF" check --format json
cp "$work/.out" check.json
expect 0 "$VPROF" show intervals --format json
python3 - check.json "$work/.out" <<'P' && pass || fail "check: the example has no functions"
import json, sys
example, rows = json.load(open(sys.argv[1]))["example"], json.load(open(sys.argv[2]))["intervals"]
sys.exit([r["root_only"] for r in rows if r["sid"] == example] != [False])
P

# An export says the same of them.
"$VPROF" show execution-table --format csv >recorded.csv
expect 0 "$VPROF" import --from tuples full.tuples
"$VPROF" show execution-table --format csv >imported.csv
[ "$(wc -l <recorded.csv)" -gt 1000 ] && cmp -s recorded.csv imported.csv && pass ||
	fail "the import differs"

# The configuration's default; a part so small leaves nothing to explain.  (Of a million one would be among the 2,000
# in one run of 500, and this test fail; with this many, in one of half a million.)
printf '[record]\n\tsample = 1/1000000000\n' >>vprof.conf
expect 3 "$VPROF" record -- ./server
says "none of the 2000 'request' intervals completed in run " " was recorded in full" "--sample 1/K"
expect 3 "$VPROF" show summary --format json
says "None of 2,000 intervals of 'request' was recorded in full"
expect 0 "$VPROF" record --sample 1/1 -- ./server
grep -q "root-only" "$work/.err" && fail "1/1 has root-only intervals" || pass

# Functions that the build has recorded always are not, in such a run, unless they wake a thread.
expect 0 "$VPROF" build --functions all -- cc -O1 -o server server.c -lpthread
expect 0 "$VPROF" record --sample 1/4 -- ./server
expect 0 "$VPROF" export --format tuples
cp "$work/.out" full.tuples
calls_are_right full.tuples
[ "$(grep -c '^invocation.* take_turn' full.tuples)" = 4000 ] && pass || fail "who wakes is recorded always"

# ---- auto: the load turns every second (ten looks at the rate, which goes down a level each) from what is cheap to record to what is dear ----
cat >turns.c <<'END'
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <vprof.h>

static volatile unsigned sink;

__attribute__((noinline)) void tiny(unsigned i) { sink += i; }

/* Hundreds of calls. */
__attribute__((noinline)) void chatter(int i)
{
	for (int k = 0; k < 200 + i * 7919 % 400; k++)
		tiny((unsigned)k);
}

/* As long, and none. */
__attribute__((noinline)) void brood(int i)
{
	for (int k = 0; k < 2000 + i * 7919 % 4000; k++)
		sink += (unsigned)k;
}

__attribute__((noinline)) void request(int i, int dear)
{
	VPROF_BEGIN("request", i % 7);
	if (dear)
		chatter(i);
	else
		brood(i);
	VPROF_END("request", i % 7);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(void)
{
	double start = now();
	long cnt[2] = { 0, 0 };

	for (int i = 0; now() - start < 6; i++) {
		int dear = (int)(now() - start) % 2;

		request(i, dear);
		cnt[dear]++;
		usleep(50);
	}
	printf("%ld %ld\n", cnt[0], cnt[1]);
	return 0;
}
END
rm -f vprof.conf
expect 0 "$VPROF" build --functions all -- cc -O1 -o turns turns.c
"$VPROF" record -o auto --sample auto -- ./turns >counts 2>err && pass || fail "auto: $(cat err)"
expect 0 "$VPROF" export auto
cp "$work/.out" auto.tuples
[ "$(head -1 auto.tuples)" = "vprof-tuples 1" ] && pass || fail "the first line: $(head -1 auto.tuples)"
# The part of dear intervals: by the program's own count, by weights, and unweighted.
awk 'FNR == NR { truth = $2 / ($1 + $2); next }
	$1 == "interval" { w[$2] = $9 ? $9 : 1 }
	$1 == "invocation" && $4 ~ /^chatter/ { dear[$3] = 1 }
	END {
		for (sid in w) { all += w[sid]; cnt++; most = w[sid] > most ? w[sid] : most }
		for (sid in dear) { some += w[sid]; dear_cnt++ }
		printf "truth %.3f, weighted %.3f, there %.3f, largest weight %d\n", truth, some / all, dear_cnt / cnt, most
		d = some / all - truth
		exit !(most > 1 && (d < 0 ? -d : d) < 0.15 && truth - dear_cnt / cnt > 0.1)
	}' counts auto.tuples >verdict && pass || fail "auto: $(cat verdict)"
# An import weighs the same.
"$VPROF" show variance-tree auto --format csv | cut -d, -f1-4,9-12 >recorded.csv
expect 0 "$VPROF" import --from tuples auto.tuples
"$VPROF" show variance-tree --format csv | cut -d, -f1-4,9-12 >imported.csv
[ "$(wc -l <recorded.csv)" -gt 3 ] && cmp -s recorded.csv imported.csv && pass ||
	fail "the import differs: $(diff recorded.csv imported.csv | head -6)"
finish
