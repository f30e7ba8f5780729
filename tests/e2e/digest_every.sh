#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# digest_every: record --digest-every --to: each window goes to the command once, also if it fails for a while, or the recorder is killed.
. "${srcdir:-.}/tests/e2e/lib.sh"
cat >p.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <vprof.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long until_ms;

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

__attribute__((noinline)) void locked(int us)
{
	pthread_mutex_lock(&lock);
	usleep(us);
	pthread_mutex_unlock(&lock);
}

static void *requests(void *arg)
{
	for (long i = 0; now_ms() < until_ms; i++) {
		VPROF_BEGIN("request", (long)arg + i);
		locked(i % 10 == 0 ? 3000 : 200);
		VPROF_END("request", (long)arg + i);
		usleep(3000);
	}
	return NULL;
}

/* Longer than a window. */
static void *batches(void *arg)
{
	(void)arg;
	for (long i = 0; now_ms() < until_ms; i++) {
		VPROF_BEGIN("batch", i);
		for (int k = 0; k < 3; k++) {
			locked(100);
			usleep(200000);
		}
		VPROF_END("batch", i);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	(void)argc;
	until_ms = now_ms() + atol(argv[1]);
	pthread_create(&threads[0], NULL, requests, NULL);
	pthread_create(&threads[1], NULL, batches, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
expect 0 "$VPROF" build --functions all -- cc -g -O1 -pthread -o p p.c
mkdir got

# Keeps what it is given; on the second call it fails, and on the third one it says that it has it, after it was killed in between.
cat >take <<'END'
#!/bin/sh
echo "$$" >>calls
[ "$(wc -l <calls)" = 2 ] && exit 7
cat >"got/$$.part" && mv "got/$$.part" "got/$$.vpd"
END
chmod +x take

# rows FILE.vpd: what does not depend on how much of the trace is known: whole intervals, by bucket of latency, and their sums
rows()
{
	"$VPROF" export --format digest-tsv "$1" >all.rows
	awk -F'\t' '$1 == "vprof_name" && $5 == "interval" { print $2 }' all.rows >roots
	{
		grep ^vprof_bucket all.rows
		grep ^vprof_node all.rows | grep -w -F -f roots
		grep ^vprof_window all.rows | cut -f1-24,28
	} | sort
}

# together RUN...: runs.vpd of the runs, windows.vpd of the windows that came; none came twice, which merge refuses
together()
{
	for run; do
		"$VPROF" export --format digest --window 300ms $run -o run$run.vpd 2>>.err || { fail "export of run $run: $(cat .err)"; return; }
		set -- "$@" run$run.vpd
		shift
	done
	"$VPROF" merge --window all "$@" -o runs.vpd 2>.err && "$VPROF" merge --window all got/*.vpd -o windows.vpd 2>.err && pass ||
		fail "merge: $(cat .err)"
}

same()
{
	together "$@"
	rows runs.vpd >runs.rows
	rows windows.vpd >windows.rows
	[ "$(wc -l <runs.rows)" -gt 8 ] && cmp -s runs.rows windows.rows && pass ||
		{ fail "the sum of the windows is not the digest of runs $*"; diff runs.rows windows.rows | head -20; }
}

# count FILE.vpd COLUMN
count()
{
	"$VPROF" export --format digest-tsv --table vprof_window "$1" | awk -F'\t' -v column="$2" '{ n += $column } END { print n + 0 }'
}

windows() { "$VPROF" export --format digest-tsv --table vprof_window "$1" | wc -l; }

# Records that a killed recorder had taken but not written are lost; so are the recovered trace's intervals of that time.  Windows that were
# digested before have them.
same_but_lost()
{
	together "$@"
	n=$(count windows.vpd 17)
	least=$(count runs.vpd 17)
	most=$((least + $(count runs.vpd 25)))
	[ "$least" -gt 5 ] && [ "$n" -ge "$least" ] && [ "$n" -le "$most" ] && pass ||
		fail "$n intervals in the windows of runs $*, which have $least, and $most with what was lost"
}

expect 0 "$VPROF" record --digest-every 300ms --to ./take -- ./p 2500
says "'./take' ended with status 7: the digest stays in '$PWD/vprof.data/spool', and is tried again" "works again"
"$VPROF" merge got/*.vpd -o all.vpd 2>.err && pass || fail "merge: $(cat .err)"	# a late recorder sends several windows at once
[ "$(windows all.vpd)" -ge 4 ] && pass || fail "only $(windows all.vpd) windows were sent"
[ "$(ls vprof.data/spool)" = lock ] && pass || fail "digests are left: $(ls vprof.data/spool)"
[ ! -e vprof.data/runs/001/windows ] && ! ls vprof.data/runs/001 | grep -q stretch && pass || fail "something is left: $(ls vprof.data/runs/001)"
same 1

# The recorder is killed: the next one sends what is missing.  A command that never works: it waits, and says so.
rm -rf got vprof.data/runs/001
mkdir got
"$VPROF" record --digest-every 300ms --to 'false' -- ./p 2500 >.out 2>.err &
recorder=$!
i=0
until [ -e vprof.data/runs/002/windows.vpd ] || ls vprof.data/spool | grep -q vpd || [ $i -gt 300 ]; do
	i=$((i + 1))
	sleep 0.1
done
kill -9 $recorder
wait $recorder 2>/dev/null
[ -e vprof.data/runs/002/windows ] && pass || fail "a killed recorder leaves no state"
sleep 1
expect 0 "$VPROF" record --digest-every 300ms --to ./take -- ./p 500
says "run 2: what it had not sent when its recorder was killed is sent now"
same_but_lost 2 3
expect 0 "$VPROF" record --digest-every 300ms --to 'exit 3' -- ./p 500
says "the next vprof record --digest-every sends" "ended with status 3"
ls vprof.data/spool | grep -q '^000004-.*vpd$' && pass || fail "nothing is spooled: $(ls vprof.data/spool)"

# With --keep the trace goes, the windows stay.
rm -rf got
mkdir got
"$VPROF" record --digest-every 300ms --keep 1s --limit 100M --to ./take -- ./p 3000 >.out 2>.err
"$VPROF" merge --window all got/*.vpd -o windows.vpd 2>.err && pass || fail "merge: $(cat .err)"
"$VPROF" export --format digest 5 -o kept.vpd 2>/dev/null	# on a busy machine nothing may have ended in the last second
kept=$(count kept.vpd 17 2>/dev/null)
sent=$(count windows.vpd 17)
[ "$sent" -gt "${kept:-0}" ] && [ "$sent" -gt 5 ] && pass || fail "$sent intervals were sent, $kept are kept"

# The command fails for long: windows wait up to --limit; what has no room is counted, and the rest is sent, once.
rm -rf got vprof.data/spool vprof.data/runs/005
mkdir -p got vprof.data/spool
head -c 1045000 /dev/zero >vprof.data/spool/000000-0.vpd	# 1M has room for 3,576 bytes
expect 0 "$VPROF" record --digest-every 300ms --limit 1M --to false -- ./p 2500
says "are not kept from now on: what waits to be sent has the size of --limit (1048576 bytes)"
refused=$(sed -n 's/.* \([0-9]*\) windows* of run 6 \(was\|were\) not kept, because.*/\1/p' .err)
[ "$(grep -c 'not kept from now on' .err)" -le "$(($(grep -c 'room for windows again' .err) + 1))" ] && pass || fail "it is said for each window: $(cat .err)"
[ "$(cat vprof.data/spool/*.vpd | wc -c)" -le 1048576 ] && pass || fail "the spool is larger than --limit: $(ls -l vprof.data/spool)"
rm vprof.data/spool/000000-0.vpd
mv vprof.data/spool/*.vpd got
"$VPROF" export --format digest --window 300ms 6 -o run6.vpd 2>/dev/null
"$VPROF" merge got/*.vpd -o windows.vpd 2>.err && pass || fail "merge: $(cat .err)"
[ "$(windows windows.vpd)" -ge 1 ] && [ "${refused:-0}" -ge 1 ] && [ $(($(windows windows.vpd) + refused)) = "$(windows run6.vpd)" ] && pass ||
	fail "of $(windows run6.vpd) windows $(windows windows.vpd) are kept and ${refused:-none} refused: $(cat .err)"
rm -rf got vprof.data/spool
mkdir got
echo >calls; echo >>calls				# take works
expect 0 "$VPROF" record --digest-every 300ms --limit 1M --to ./take -- ./p 1000
grep -q 'not kept' .err && fail "windows are refused: $(cat .err)" || pass
same 7

for options in "--digest-every 1s" "--to cat" "--digest-every never --to cat" "--digest-every 1ms --to cat" \
	"--digest-every 1s --keep 1s --to cat" "--digest-every 1s --kernel=require --to cat"; do
	expect 2 "$VPROF" record $options -- ./p 100
done
says "do not go together"

finish
