#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Cooks on stacks of their own, all on one thread.  A dish is begun, waits in rest() while the others cook, and is served.  tidy() comes
# before, when the runtime does not know the dish's stack yet.  Each of 3 x 60 dishes has one chop and one serve, directly below dish;
# nothing is ever below rest, which only switches.  If stacks cannot be distinguished (copied to one place), the run says so and has no
# result.
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || { echo "the test program switches stacks on x86_64 only"; exit 77; }

cat >kitchen.c <<'C'
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#define OWN_FRAME __attribute__((noinline))
enum { COOKS = 3, DISHES = 60, ROOM = 65536, SMALL = 24576 };
static struct cook { void *pointer; ucontext_t context; sigjmp_buf place; char *copy; size_t len; int number, is_done; } cooks[COOKS], *now;
static char rooms[COOKS][ROOM] __attribute__((aligned(4096)));
static void *waiter; static ucontext_t waiter_context; static sigjmp_buf waiter_place;
static const char *how;
void swap_stack(void **save, void *to);
__asm__(".text\n.globl swap_stack\nswap_stack: push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
	"mov %rsp, (%rdi)\nmov %rsi, %rsp\npop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");
static void leave(void)
{
	struct cook *me = now;

	if (*how == 'c')
		swapcontext(&me->context, &waiter_context);
	else if (*how != 's')
		swap_stack(&me->pointer, waiter);
	else if (!sigsetjmp(me->place, 0))
		siglongjmp(waiter_place, 1);
}
static inline __attribute__((always_inline)) void busy(long us)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	do
		clock_gettime(CLOCK_MONOTONIC, &b);
	while ((b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000 < us);
}
struct plate { int number; };
OWN_FRAME void chop(void) { busy(10); }
OWN_FRAME void serve(struct plate *p) { busy(p->number % 10 ? 10 : 300); }
OWN_FRAME void tidy(void) { busy(5); }
OWN_FRAME void rest(void) { leave(); }
OWN_FRAME void dish(struct plate *p) { chop(); rest(); serve(p); }
static void work(void)
{
	for (int i = 0; i < DISHES; i++) {
		struct plate p = { now->number * 1000 + i };

		tidy();
		dish(&p);
		leave();
	}
	now->is_done = 1;
	leave();
	abort();
}
static void on_signal(int n) { struct cook *me = now; (void)n; if (sigsetjmp(me->place, 0)) work(); }
static void lay_out(struct cook *c, char *room, size_t size)
{
	void **p = (void **)(room + size) - 2;

	*p = (void *)work;
	memset(p -= 6, 0, 6 * sizeof(*p));
	c->pointer = p;
}
static void prepare(struct cook *c)
{
	char *room = rooms[*how == 'd' ? COOKS - 1 - c->number : c->number];

	now = c;
	if (*how == 'c') {
		getcontext(&c->context);
		c->context.uc_stack.ss_sp = rooms[0] + c->number * SMALL;
		c->context.uc_stack.ss_size = SMALL;
		makecontext(&c->context, work, 0);
	} else if (*how == 's') {
		stack_t s = { .ss_sp = room, .ss_size = ROOM }, off = { .ss_flags = SS_DISABLE };

		sigaltstack(&s, NULL);
		sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_signal, .sa_flags = SA_ONSTACK }, NULL);
		raise(SIGUSR1);
		sigaltstack(&off, NULL);
	} else if (*how == 'o') {
		lay_out(c, rooms[0], ROOM);
		c->len = (size_t)(rooms[0] + ROOM - (char *)c->pointer);
		c->copy = memcpy(malloc(ROOM), c->pointer, c->len);
	} else {
		lay_out(c, room, ROOM);
	}
}
OWN_FRAME void resume(struct cook *c)
{
	now = c;
	if (*how == 'c')
		swapcontext(&waiter_context, &c->context);
	else if (*how == 's' && !sigsetjmp(waiter_place, 0))
		siglongjmp(c->place, 1);
	else if (*how != 's' && *how != 'o')
		swap_stack(&waiter, c->pointer);
	else if (*how == 'o') {
		memcpy(c->pointer, c->copy, c->len);
		swap_stack(&waiter, c->pointer);
		c->len = (size_t)(rooms[0] + ROOM - (char *)c->pointer);
		memcpy(c->copy, c->pointer, c->len);
	}
}
int main(int argc, char **argv)
{
	how = argc > 1 ? argv[1] : "up";
	for (int i = 0; i < COOKS; i++)
		prepare((cooks[i].number = i, &cooks[i]));
	for (int left = 1; left;) {
		left = 0;
		for (int i = 0; i < COOKS; i++)
			if (!cooks[i].is_done) {
				resume(&cooks[i]);
				left++;
			}
	}
	return 0;
}
C

nest() { sort -s -k1,1n -k2,2n -k3,3nr | awk '
	{ while (d && (tid[d] != $1 || to[d] <= $2)) d--
	  above = d ? name[d] : "-"; seen[above " " $4]++
	  if (d && $3 > to[d]) crossing++
	  d++; tid[d] = $1; to[d] = $3; name[d] = $4 }
	END { for (s in seen) print s, seen[s]; print "crossing", crossing + 0 }' | sort; }

# cook HOW: what stands under what in a run
cook()
{
	"$VPROF" record --ignore-status -- ./kitchen "$1" >.out 2>.err
	status=$?
	"$VPROF" export --format tuples >run.tuples 2>/dev/null
	awk '$1 == "invocation" { print $2, $5, $6, $4, $3 }' run.tuples | nest >nested
	awk '$1 == "interval" && $NF != "aborted" && $5 != "-" { n++ } END { print n + 0 }' run.tuples >whole
}

expect 0 "$VPROF" annotate --start dish --end dish --key 'arg0->number'
expect 0 "$VPROF" build --functions dish,chop,rest,serve,tidy,resume -- gcc -O1 -o kitchen kitchen.c
cat >right <<'R'
- dish 180
- tidy 180
crossing 0
dish chop 180
dish rest 180
dish serve 180
R
for how in up down context signal; do
	cook $how
	grep -v "^- resume" nested >.nested
	cmp -s right .nested && [ "$status" = 0 ] && [ "$(cat whole)" = 180 ] && pass || {
		fail "$how: status $status, $(cat whole) whole dishes, and what stands under what:"
		cat nested .err
	}
	grep -q "on which stack" .err && fail "$how: a doubt where there is none"
done
# A dish's rest is a wait of its stack: of its latency none is running but chop and serve, 20 or 310 us.
"$VPROF" export --format tuples >run.tuples 2>/dev/null
awk '$1 == "invocation" && $4 == "rest" { rest += $6 - $5 }
     $1 == "segment" && $6 == "queue" && $3 != "-" { queue += $5 - $4 }
     END { exit !(queue > 0.8 * rest && queue <= rest) }' run.tuples && pass || fail "what rests is not in the queue"
expect 0 "$VPROF" import --from tuples run.tuples

# The plan need not know the function that switches.
expect 0 "$VPROF" build --functions dish,chop,serve -- gcc -O1 -o kitchen kitchen.c
for how in up context; do
	cook $how
	grep -v "rest\|tidy" right | cmp -s - nested && [ "$status" = 0 ] && pass || {
		fail "$how without rest: status $status"
		cat nested .err
	}
done

# One place for all of them.
cook one
[ "$status" = 3 ] && [ "$(cat whole)" = 0 ] && pass || { fail "copied stacks: status $status"; cat whole .err; }
says "on which stack" "all 180 'request' intervals"
finish
