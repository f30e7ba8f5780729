#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# record --kernel of stacks that take turns on a thread, and of stacks that change threads: each long nap is a sleep of the stack that
# took it, in doze(), and of no other.  Each tenth errand of 6 x 30 naps 2 ms, by a system call that no wrapper sees.
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || { echo "the test program switches stacks on x86_64 only"; exit 77; }
needs_kernel_recorder

cat >errands.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
#define OWN_FRAME __attribute__((noinline))
enum { RUNNERS = 6, ERRANDS = 30, ROOM = 65536, CARS_MOST = 2 };
struct errand { int number; };
static struct runner { ucontext_t context; void *pointer; char *room; int number, is_home; } runners[RUNNERS], *queue[RUNNERS];
static __thread struct car { ucontext_t context; void *pointer; struct runner *now; } car;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int waiting, left = RUNNERS, by_hand;
void swap_stack(void **save, void *to);
__asm__(".text\n.globl swap_stack\nswap_stack: push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
	"mov %rsp, (%rdi)\nmov %rsi, %rsp\npop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");
static void nap(long ns)
{
	struct timespec t = { 0, ns };
	long r;

	__asm__ volatile("mov $35, %%eax\n\tsyscall" : "=a"(r) : "D"(&t), "S"(0L) : "rcx", "r11", "memory");
}
OWN_FRAME static struct car *here(void) { __asm__ volatile("" ::: "memory"); return &car; }
static void leave(void)
{
	struct car *c = here();

	if (by_hand)
		swap_stack(&c->now->pointer, c->pointer);
	else
		swapcontext(&c->now->context, &c->context);
}
OWN_FRAME void stand(void) { leave(); }
OWN_FRAME void doze(struct errand *e) { if (e->number % 10 == 0) nap(2000000); }
OWN_FRAME void errand(struct errand *e) { stand(); doze(e); }
static void run(void)
{
	for (int i = 0; i < ERRANDS; i++) {
		errand(&(struct errand){ here()->now->number * 1000 + i });
		leave();
	}
	here()->now->is_home = 1;
	leave();
	abort();
}
OWN_FRAME struct runner *next(void)
{
	struct runner *r = NULL;

	pthread_mutex_lock(&lock);
	if (waiting) {
		r = queue[0];
		for (int i = 1; i < waiting; i++)
			queue[i - 1] = queue[i];
		waiting--;
	}
	pthread_mutex_unlock(&lock);
	return r;
}
OWN_FRAME void put_back(struct runner *r)
{
	pthread_mutex_lock(&lock);
	if (r->is_home)
		left--;
	else
		queue[waiting++] = r;
	pthread_mutex_unlock(&lock);
}
static void *drive(void *p)
{
	while (__atomic_load_n(&left, __ATOMIC_ACQUIRE)) {
		struct runner *r = next();

		if (!r) {
			nap(50000);
			continue;
		}
		car.now = r;
		if (by_hand)
			swap_stack(&car.pointer, r->pointer);
		else
			swapcontext(&car.context, &r->context);
		put_back(r);
	}
	return p;
}
int main(int argc, char **argv)
{
	int cars = argc > 1 && argv[1][0] == '2' ? 2 : 1;
	pthread_t t[CARS_MOST];

	by_hand = argc > 2;
	for (int i = 0; i < RUNNERS; i++) {
		struct runner *r = queue[waiting++] = &runners[i];
		void **p;

		r->number = i;
		r->room = malloc(ROOM);
		p = (void **)((unsigned long)(r->room + ROOM) & ~63UL) - 2;
		*p = (void *)run;
		r->pointer = p - 6;
		if (by_hand)
			continue;
		getcontext(&r->context);
		r->context.uc_stack.ss_sp = r->room;
		r->context.uc_stack.ss_size = ROOM;
		makecontext(&r->context, run, 0);
	}
	for (int i = 0; i < cars; i++)
		pthread_create(&t[i], NULL, drive, NULL);
	for (int i = 0; i < cars; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
expect 0 "$VPROF" annotate --start errand --end errand --key 'arg0->number'
expect 0 "$VPROF" build --functions errand,stand,doze,next,put_back -- gcc -O1 -pthread -o errands errands.c

# Now and then (one recording in forty) records of two threads' first stacks are lost; vprof says so, and leaves their intervals out.  Why is
# not known yet.  Such a recording says nothing about naps: it is made again.
record_whole()
{
	for _ in 1 2 3; do
		"$VPROF" record --kernel=require -- "$@" >"$work/.out" 2>"$work/.err" </dev/null
		status=$?
		grep -q "records were lost" "$work/.err" || break
		echo "made again: $(grep "records were lost" "$work/.err")"
	done
	[ $status = 0 ] && pass || fail "record of '$*' ended with $status: $(cat "$work/.err")"
}

# Each of the 18 long naps is a sleep of the stack whose doze() it is in; no stack slept in stand().
while read -r what cars how; do
	record_whole ./errands $cars $how
	"$VPROF" export --format tuples 2>/dev/null | awk '
		$1 == "invocation" && $4 == "doze" && $6 - $5 > 1500000 { dozed++; from[$2, ++cnt[$2]] = $5; to[$2, cnt[$2]] = $6 }
		$1 == "invocation" && $4 == "stand" { of[$2, ++stood[$2]] = $5; until[$2, stood[$2]] = $6 }
		$1 == "segment" && $6 == "sleep" && $5 - $4 > 1500000 { start[++slept] = $4; end[slept] = $5; who[slept] = $2 }
		END {
			for (i = 1; i <= slept; i++) {
				for (n = 1; n <= cnt[who[i]]; n++)
					right += start[i] >= from[who[i], n] && end[i] <= to[who[i], n]
				for (n = 1; n <= stood[who[i]]; n++)
					wrong += start[i] >= of[who[i], n] && end[i] <= until[who[i], n]
			}
			printf "%d dozed, %d slept, %d of them in doze, %d in stand\n", dozed, slept, right, wrong
			exit !(dozed == 18 && right == 18 && !wrong)
		}' >verdict && pass || fail "$what: $(cat verdict)"
done <<'E'
one_thread,_contexts 1
two_threads,_contexts 2
one_thread,_by_hand 1 by_hand
E
finish
