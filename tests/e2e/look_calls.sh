#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof record and look with --start and --end: intervals that are no requests on sockets, by uprobes, of a program that was built
# without vprof.  It says itself how often it did what.
#	handle_job	one in ten sleeps 3 ms in store_it
#	recurse		calls itself three times: the outer call counts
#	put, done	one thread begins, another ends, by their argument; done comes once more for every fourth
#	shop:sold	a tracepoint (USDT)
. "${srcdir:-.}/tests/e2e/lib.sh"

needs_kernel_recorder
command -v python3 >/dev/null || exit 77
cat >work.c <<'END_OF_WORK'
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TRACEPOINT(name) \
	__asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n" \
		"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b\n.8byte 0\n.8byte 0\n" \
		".asciz \"shop\"\n.asciz \"" name "\"\n.asciz \"8@%%rdi\"\n994: .balign 4\n.popsection\n" :: "D"(j))

struct job { int id; };
static volatile unsigned long sink;
static struct job jobs[16];
static sem_t full, empty;

__attribute__((noinline)) void store_it(void) { usleep(3000); sink++; }
__attribute__((noinline)) void handle_job(struct job *j) { if (j->id % 10 == 0) store_it(); sink++; }
__attribute__((noinline)) int recurse(int n) { int r = n ? recurse(n - 1) + 1 : 0; sink++; return r; }
__attribute__((noinline)) void put(struct job *j) { TRACEPOINT("sold"); sink += (unsigned)j->id; }
__attribute__((noinline)) void done(struct job *j) { sink += (unsigned)j->id; }
static __attribute__((noinline)) void twin(void) { sink++; }
void other_twin(void);

static int cnt;

static void *work(void *arg)
{
	for (int i = 0; i < cnt; i++) {
		struct job *j = &jobs[i % 16];

		sem_wait(&full);
		handle_job(j);
		done(j);
		if (i % 4 == 0)
			done(j);
		sem_post(&empty);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t;

	cnt = argc > 1 ? atoi(argv[1]) : 1000000;
	sem_init(&full, 0, 0);
	sem_init(&empty, 0, 1);
	pthread_create(&t, NULL, work, NULL);
	for (int i = 0; i < cnt; i++) {
		sem_wait(&empty);
		jobs[i % 16].id = i;
		put(&jobs[i % 16]);
		recurse(3);
		twin();
		other_twin();
		sem_post(&full);
	}
	pthread_join(t, NULL);
	return 0;
}
END_OF_WORK
echo 'static volatile int n; static __attribute__((noinline)) void twin(void) { n++; } void other_twin(void) { twin(); n++; }' >twin.c
gcc -Wall -Wextra -Werror -O1 -rdynamic -pthread work.c twin.c -o work || exit 99

json_of() # FILE EXPRESSION
{
	python3 -c "import json, sys; d = json.load(open(sys.argv[1])); i = d.get('intervals', []); print($2)" "$1"
}

record() # NAME OPTION...
{
	name=$1
	shift
	"$VPROF" record -o "$name" "$@" -- ./work 600 >"$name.out" 2>"$name.err" || { cat "$name.err"; fail "$name: $?"; }
	"$VPROF" show intervals "$name" --format json >"$name.json" || fail "$name: show intervals: $?"
}

is() # WHAT FOUND WANTED
{
	[ "$2" = "$3" ] && pass || fail "$1: $2, not $3"
}

record jobs --start handle_job --end handle_job
is "intervals of handle_job" "$(json_of jobs.json 'len(i), {x["name"] for x in i}')" "600 {'handle_job'}"
is "of one thread" "$(json_of jobs.json 'len({x["start_thread"] for x in i}), all(x["start_thread"] == x["end_thread"] for x in i)')" "1 True"
# Whatever else the machine does: 3 ms in every tenth.
sleeps() # NAME
{
	"$VPROF" show variance-tree "$1" --format json >tree.json || fail "show variance-tree $1: $?"
	[ "$(json_of tree.json 'sum(n["mean_ns"] for n in d["nodes"] if n["function"] == "store_it" and n["kind"] != "wait") > 290000')" = True ] && pass ||
		fail "$1: store_it does not have what it slept"
}
sleeps jobs
# That is a wait, or the run queue on a busy machine: nothing is left to build for.
"$VPROF" iterate --from jobs -- true >from.out 2>from.err
[ $? = 0 ] && grep -q "0 builds" from.out && pass || { cat from.out from.err; fail "iterate --from a look between functions"; }
"$VPROF" sql "SELECT from_stacks FROM finding" >stacks.out && grep -q 1 stacks.out && pass || fail "it is not kept that functions are those of stacks"
record recursion --start recurse --end recurse
is "outer calls" "$(json_of recursion.json 'len(i)')" 600
record keyed --start put --end done@entry --key arg0
is "from thread to thread" "$(json_of keyed.json 'len(i), {x["name"] for x in i}, all(x["start_thread"] != x["end_thread"] for x in i)')" \
	"600 {'put to done'} True"
record tracepoint --start usdt:shop:sold --end done --key arg0
is "from a tracepoint to a return" "$(json_of tracepoint.json 'len(i), {x["name"] for x in i}')" "600 {'sold to done'}"

sleeps tracepoint

# Looks at a running process; every fourth request reaches done once more.
./work &
work=$!
"$VPROF" look -p $work --start put --end done --key arg0 --duration 1s --format json >look.json 2>look.err || { cat look.err; fail "look: $?"; }
[ "$(json_of look.json '.15 < d["look"]["ends_without_start"] / d["look"]["exchanges"] < .35')" = True ] && pass ||
	fail "ends without a start: $(json_of look.json 'd["look"]')"
"$VPROF" look -p $work --start put --end handle_job --duration 2s >none.out 2>none.err
[ $? = 3 ] && grep -q "never after 'put' by the same thread" none.err && pass || { cat none.err; fail "another thread's end"; }

refused() # STATUS TEXT OPTION...
{
	status=$1 text=$2
	shift 2
	"$VPROF" look -p $work --duration 500ms "$@" >refused.out 2>refused.err
	is "look $*" $? "$status"
	grep -q "$text" refused.err && pass || { cat refused.err; fail "look $*: does not say '$text'"; }
	[ -s refused.out ] && fail "look $*: prints something"
}

refused 2 "has no function 'no_such'" --start no_such --end done
refused 2 "several functions 'twin'" --start twin --end twin
refused 2 "has a tracepoint 'shop:bought'" --start usdt:shop:bought --end done
refused 2 "belong together" --start put
refused 2 "not 'arg77'" --start put --end done --key arg77
refused 2 "is no place" --start put@here --end done
refused 2 "cannot be read where" --start put@return --end done --key arg0
refused 2 "intervals are requests" --start put --end done --port 80
export VPROF_KERNEL_HOOKS=no-uprobes
refused 4 "has no uprobes" --start put --end done
unset VPROF_KERNEL_HOOKS
# A look that needs no sockets works without their tracepoints.
VPROF_KERNEL_HOOKS=no-sockets "$VPROF" look -p $work --start handle_job --end handle_job --duration 500ms >old.out 2>old.err ||
	{ cat old.err; fail "without tracepoints of sockets: $?"; }
kill $work
finish
