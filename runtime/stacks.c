/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.c - which machine stack is the thread on?
 *
 * All that the runtime knows of a thread is in vprof_self and thread_self.  A switch saves both and loads
 * those of the other stack; for a new stack they are those of a new thread.
 *
 * A stack with unknown ends is assumed to reach SLACK_BYTES beyond all addresses seen on it, but not into
 * another stack.  A call farther away is on another stack:
 *
 *	a fiber of unknown size was seen at 0x7000 (reaches from 0x5000 to 0x9000), a call comes
 *	at 0x4f00:	the page between can be read, so the stack may be one: doubt
 *	at 0x90000:	far away: another stack
 *
 * Doubt is noted in the trace, and intervals that were under way count as lost.  The same happens if a call
 * ends that we had assumed to be skipped by longjmp (thread.c), or if a thread is found on a stack that
 * another thread seems to be on.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>
#include "runtime/rules/permit.h"
#include "runtime/rules/readable.h"
#include "runtime/stacks.h"
#include "runtime/thread.h"
#include "runtime/units.h"
#include "runtime/wrappers/real.h"

enum {
	SLACK_BYTES = 8192,
	FAR_BYTES = 32768,		/* a single function's frame may lie in between */
	BLOCK_STACKS = 64, BLOCKS = ARENA_SLOTS / BLOCK_STACKS,
	HINTS = 2048,
};

struct stack {
	unsigned long low, high;	/* low <= address < high; equal: not used any more */
	bool exact;
	bool is_new;			/* no thread was on it yet */
	bool is_stale;			/* its memory is now used by another stack */
	bool is_lost;			/* another thread was found on it, which has a struct of its own */
	struct stacks *on;		/* the thread that is on it; NULL: none */
	uint64_t taken_at, left_at;	/* ticks; 0: never */
	unsigned int gate;
	struct vprof_self self;		/* while no thread is on it */
	struct thread thread;
};

struct stacks {				/* of a thread */
	struct stack own, *current;	/* NULL: not seen yet */
	struct stack nowhere;		/* the thread is about to switch */
	struct thread_label left;	/* what the thread worked on when it last left a stack; label 0: nothing */
	bool many;
	size_t own_bytes;		/* 0: unknown */
	uint32_t kernel_tid;		/* 0: not asked for yet */
};

static __thread struct stacks stacks_self __attribute__((tls_model("initial-exec")));

/* For all threads, since fibers move from one to another. */
static struct stack *blocks[BLOCKS];
static uint32_t stack_cnt, free_cnt, adding;	/* free_cnt: number that are no longer used */
static bool are_moving;		/* stacks moved between threads without our seeing it */
static uint16_t hints[HINTS];		/* of a page: its number in blocks + 1 */

static bool holds(const struct stack *s, unsigned long address)
{
	return address >= s->low && address < s->high;
}

static struct stack *stack_at(uint32_t i)
{
	return &blocks[i / BLOCK_STACKS][i % BLOCK_STACKS];
}

static uint16_t *hint_of(unsigned long address)
{
	return &hints[arena_hash(address >> 12) % HINTS];
}

/* NULL: none that is known. */
static struct stack *find_known(unsigned long address)
{
	uint32_t cnt = __atomic_load_n(&stack_cnt, __ATOMIC_ACQUIRE), hint = *hint_of(address);

	if (hint && hint <= cnt && holds(stack_at(hint - 1), address))
		return stack_at(hint - 1);
	for (uint32_t i = 0; i < cnt; i++)
		if (holds(stack_at(i), address)) {
			*hint_of(address) = (uint16_t)(i + 1);
			return stack_at(i);
		}
	return NULL;
}

static void as_new(struct stack *s)
{
	s->self = (struct vprof_self){ .cursor = PARKED, .gate = 1 };
	s->gate = 1;
	s->is_new = true;
	s->is_lost = s->is_stale = false;
	s->taken_at = s->left_at = 0;
	memset(&s->thread, 0, sizeof(s->thread));
}

/* NULL: there is no room for more. */
static struct stack *free_stack(void)
{
	uint32_t cnt = __atomic_load_n(&stack_cnt, __ATOMIC_RELAXED);
	struct stack **block = &blocks[cnt / BLOCK_STACKS];
	void *room;

	for (uint32_t i = 0; free_cnt && i < cnt; i++)
		if (stack_at(i)->low == stack_at(i)->high && !stack_at(i)->is_lost) {
			free_cnt--;
			return stack_at(i);
		}
	if (cnt / BLOCK_STACKS >= BLOCKS)
		return NULL;
	if (!*block) {
		room = !permitted(PERMIT_MMAP) ? MAP_FAILED :
		       mmap(NULL, BLOCK_STACKS * sizeof(**block), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (room == MAP_FAILED)
			return NULL;
		*block = room;
	}
	return stack_at(cnt);
}

static struct stack *add_stack(unsigned long low, unsigned long high, bool exact)
{
	struct stack *s = free_stack();

	if (!s)
		return NULL;
	as_new(s);
	s->on = NULL;
	s->low = low;
	s->high = high;
	s->exact = exact;
	if (stack_cnt < BLOCKS * BLOCK_STACKS && s == stack_at(stack_cnt))
		__atomic_store_n(&stack_cnt, stack_cnt + 1, __ATOMIC_RELEASE);
	return s;
}

static bool try_lock(void)
{
	return !__atomic_exchange_n(&adding, 1, __ATOMIC_ACQUIRE);
}

static void unlock(void)
{
	__atomic_store_n(&adding, 0, __ATOMIC_RELEASE);
}

/* ---- a thread's own stack ---- */

extern void *__libc_stack_end __attribute__((weak));

/* The main thread's stack grows; the area that it may grow into is not mapped. */
static void measure_main(struct stack *s)
{
	struct rlimit limit;
	unsigned long end = &__libc_stack_end ? (unsigned long)__libc_stack_end : s->low, bytes = 8UL << 20;

	if (permitted(PERMIT_RLIMIT) && !getrlimit(RLIMIT_STACK, &limit))
		bytes = limit.rlim_cur > 1UL << 30 ? 1UL << 30 : limit.rlim_cur;
	s->high = ~0UL;
	s->low = end > bytes ? end - bytes : 0;
}

static void measure_own(struct stacks *t, unsigned long address)
{
	pthread_attr_t attr;
	unsigned long thread = (unsigned long)__builtin_thread_pointer();

	t->own.exact = true;
	t->own.low = address;
	if (thread_tid() == process_own_pid()) {
		measure_main(&t->own);
		return;
	}
	if (!t->own_bytes && !pthread_attr_init(&attr)) {
		pthread_attr_getstacksize(&attr, &t->own_bytes);
		pthread_attr_destroy(&attr);
	}
	t->own.high = thread;
	t->own.low = thread - t->own_bytes;
}

void stacks_begin_thread(size_t bytes)
{
	stacks_self.own_bytes = bytes;
}

/* ---- switching ---- */

bool stacks_are_many(void)
{
	return stacks_self.many;
}

unsigned long stacks_low(void)
{
	return stacks_self.current ? stacks_self.current->low : 0;
}

unsigned long stacks_high(void)
{
	return stacks_self.current ? stacks_self.current->high : ~0UL;
}

bool stacks_is_exact(void)
{
	return stacks_self.current && stacks_self.current->exact;
}

/* If the thread may be on another stack that is inside an interval, every probe has to check. */
void stacks_set_gate(unsigned int gate)
{
	struct stack *s = stacks_self.current;

	if (!s) {
		vprof_self.gate = gate;
		return;
	}
	s->gate = gate;
	vprof_self.gate = stacks_self.many && gate ? GATE_INSIDE : gate;
	vprof_self.low = stacks_self.many && (gate != GATE_INSIDE || are_moving) ? ~0UL : s->low;
}

unsigned int stacks_gate(void)
{
	return stacks_self.many && vprof_self.gate ? stacks_self.current->gate : vprof_self.gate;
}

/* Another thread was found on this stack: records made here since we came may be wrong. */
static void let_go(struct stack *s)
{
	thread_doubt(s->taken_at);
	thread_detach_stack();
}

static void put_aside(struct stacks *t, struct stack *s, uint64_t ticks)
{
	bool is_lost = __atomic_load_n(&s->is_lost, __ATOMIC_ACQUIRE);

	if (is_lost)
		let_go(s);
	if (s != &t->nowhere)
		t->left = thread_self.label_cnt ? thread_self.labels[thread_self.label_cnt - 1]
						: (struct thread_label){ .label = 0 };
	s->gate = stacks_gate();
	vprof_self.gate = 0;
	vprof_self.low = ~0UL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread_self.busy = 1;
	s->self = vprof_self;
	s->thread = thread_self;
	s->left_at = ticks;
	if (is_lost) {
		__atomic_store_n(&s->is_lost, false, __ATOMIC_RELEASE);
		__atomic_fetch_add(&free_cnt, 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&s->on, NULL, __ATOMIC_RELEASE);
}

static void take_up(struct stacks *t, struct stack *s)
{
	s->self.tid = vprof_self.tid;
	s->self.gate = 0;
	s->self.low = ~0UL;
	s->self.high = s->high;
	s->thread.busy = 1;
	s->thread.slept_cnt = 0;	/* of the kernel thread that it was on */
	vprof_self = s->self;
	thread_self = s->thread;
	t->current = s;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread_self.busy = 0;
	stacks_set_gate(s->gate);
}

/* An interval continues on a stack that its thread first switches to while working on it. */
static void inherit(const struct thread_label *label)
{
	if (label->label && thread_ready())
		thread_inherit(label);
}

static bool claim(struct stack *s, struct stacks *t)
{
	struct stacks *nobody = NULL;

	return __atomic_compare_exchange_n(&s->on, &nobody, t, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Another thread has the stack and was not seen to leave it: that thread keeps its data, and we start afresh. */
static struct stack *take_over(struct stack *old)
{
	struct stack *mine;

	if (!try_lock())
		return NULL;
	mine = add_stack(old->low, old->high, old->exact);
	if (mine) {
		mine->is_new = false;
		old->low = old->high = 0;
		__atomic_store_n(&old->is_lost, true, __ATOMIC_RELEASE);
		are_moving = true;
	}
	unlock();
	return mine;
}

static uint32_t kernel_tid_of(struct stacks *t)
{
	if (!t->kernel_tid)
		t->kernel_tid = thread_tid();
	return t->kernel_tid;
}

static void switch_to(struct stacks *t, struct stack *s, uint64_t ticks)
{
	uint64_t left_at = s->left_at;

	if (!t->many) {
		t->many = true;
		units_have_threads();
	}
	put_aside(t, t->current, ticks);
	take_up(t, s);
	if (s == &t->nowhere)
		return;
	s->taken_at = ticks;
	thread_take_up(left_at, ticks, kernel_tid_of(t), s->is_stale);
	if (s->is_new)
		inherit(&t->left);
	s->is_new = s->is_stale = false;
}

/* A stack that is not its thread's first, and was not seen before. */
static struct stack *new_stack(unsigned long address, bool *ret_doubt)
{
	unsigned long low = address - SLACK_BYTES, high = address + SLACK_BYTES;
	struct stack *s = NULL;

	*ret_doubt = false;
	if (!try_lock())
		return NULL;
	for (uint32_t i = 0; i < stack_cnt; i++) {
		struct stack *other = stack_at(i);
		unsigned long from, to;

		if (other->low == other->high)
			continue;
		from = other->high <= address ? other->high : address;
		to = other->high <= address ? address : other->low;
		if (to - from < FAR_BYTES && !other->exact && readable((void *)from, to - from + 1))
			*ret_doubt = true;
		if (other->high <= address && other->high > low)
			low = other->high;
		if (other->low > address && other->low < high)
			high = other->low;
	}
	s = add_stack(low, high, false);
	unlock();
	return s;
}

/* As calls go down it, a stack with unknown ends is assumed to reach further, up to the next stack. */
static void extend(struct stack *s, unsigned long address)
{
	unsigned long low = address - SLACK_BYTES, high = address + SLACK_BYTES;

	if (s->exact || (low >= s->low && high <= s->high) || !try_lock())
		return;
	for (uint32_t i = 0; i < stack_cnt; i++) {
		const struct stack *other = stack_at(i);

		if (other == s || other->low == other->high)
			continue;
		if (other->high <= s->low && other->high > low)
			low = other->high;
		if (other->low >= s->high && other->low < high)
			high = other->low;
	}
	if (low < s->low)
		s->low = low;
	if (high > s->high)
		s->high = high;
	unlock();
	vprof_self.high = s->high;
	stacks_set_gate(stacks_gate());
}

/* On a signal's own stack, addresses do not show the order of calls. */
static bool on_signal_stack(unsigned long address)
{
	stack_t s;

	return permitted(PERMIT_SIGALTSTACK) && !sigaltstack(NULL, &s) && s.ss_flags & SS_ONSTACK &&
	       address - (unsigned long)s.ss_sp < s.ss_size;
}

/* Calls went down the current stack without a check: is it still the same one? */
static bool is_further_down(const struct stacks *t, unsigned long address)
{
	unsigned long innermost = t->current->exact ? 0 : thread_innermost();

	return address < innermost && innermost - address < SLACK_BYTES;
}

static bool find_other(struct stacks *t, unsigned long address, uint64_t ticks)
{
	struct stack *s = holds(&t->own, address) ? &t->own : find_known(address);
	bool doubt = false;

	if (!s && is_further_down(t, address)) {
		extend(t->current, address);
		return true;
	}
	if (s == t->current || on_signal_stack(address))
		return true;
	if (!s)
		s = new_stack(address, &doubt);
	else if (__atomic_load_n(&s->on, __ATOMIC_RELAXED)) {
		s = take_over(s);
		doubt = true;
	}
	if (!s || !claim(s, t)) {
		thread_lose();
		return false;
	}
	switch_to(t, s, ticks);
	if (doubt)
		thread_doubt(0);
	return true;
}

bool stacks_find(unsigned long address)
{
	return stacks_find_at(address, 0);
}

bool stacks_find_at(unsigned long address, uint64_t ticks)
{
	struct stacks *t = &stacks_self;
	int saved_errno = errno;
	bool found = true;

	if (thread_self.busy)
		return false;
	if (!t->current) {
		if (process_is_alone()) {	/* nothing of the process is recorded, so no check is needed */
			vprof_self.gate = 0;
			return false;
		}
		/* The C library's functions that it calls may be the program's own, with a probe that would lead here again. */
		thread_self.busy = 1;
		measure_own(t, address);
		thread_self.busy = 0;
		t->current = &t->own;
		t->own.on = t;
		t->own.gate = vprof_self.gate;
		vprof_self.high = t->own.high;
		vprof_self.low = t->own.low;
	}
	if (!holds(t->current, address))
		found = find_other(t, address, ticks ? ticks : clock_ticks());
	if (found && holds(t->current, address))
		extend(t->current, address);
	errno = saved_errno;
	return found;
}

/* ---- contexts ---- */

#ifdef __x86_64__
#define STACK_POINTER(c) ((unsigned long)(c)->uc_mcontext.gregs[REG_RSP])
#elif defined(__aarch64__)
#define STACK_POINTER(c) ((unsigned long)(c)->uc_mcontext.sp)
#else
#define STACK_POINTER(c) 0UL
#endif

/* makecontext() states the ends of this stack; what we assumed about its memory no longer holds. */
static void note_ends(unsigned long low, unsigned long high)
{
	struct stack *known = find_known(high - 1), *mine = NULL;

	if (high <= low || (known && known->low == low && known->high == high) || !try_lock())
		return;
	for (uint32_t i = 0; i < stack_cnt; i++) {
		struct stack *s = stack_at(i);

		if (s->low >= high || s->high <= low)
			continue;
		s->low = s->high = 0;
		if (!mine && !s->on)
			mine = s;
	}
	if (!mine)
		mine = add_stack(low, high, true);
	else
		mine->is_stale = true;
	if (mine) {
		mine->low = low;
		mine->high = high;
		mine->exact = true;
	}
	unlock();
}

/* Called before the thread continues with another context. */
static void leave_for(const ucontext_t *to)
{
	struct stacks *t = &stacks_self;
	unsigned long low = (unsigned long)to->uc_stack.ss_sp, pointer = STACK_POINTER(to);

	if (!thread_ready())
		return;
	if (pointer >= low && pointer - low <= to->uc_stack.ss_size)
		note_ends(low, low + to->uc_stack.ss_size);
	t->nowhere.self = (struct vprof_self){ .cursor = PARKED };
	t->nowhere.gate = 1;		/* the next probe, event or wait finds out which stack we are on */
	switch_to(t, &t->nowhere, clock_ticks());
}

int vprof_w_swapcontext(ucontext_t *from, const ucontext_t *to)
{
	leave_for(to);
	return real.swapcontext(from, to);
}

int vprof_w_setcontext(const ucontext_t *to)
{
	leave_for(to);
	return real.setcontext(to);
}

void stacks_forget(void)
{
	struct stacks *t = &stacks_self;

	unlock();			/* the thread that held the lock does not exist here */
	are_moving = false;
	t->kernel_tid = 0;
	for (uint32_t i = 0; i < stack_cnt; i++) {
		as_new(stack_at(i));
		stack_at(i)->on = stack_at(i) == t->current ? t : NULL;
	}
	as_new(&t->own);
	t->own.on = t->current == &t->own ? t : NULL;
}
