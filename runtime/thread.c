/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.c - slots, chunks and shadow stacks: the rare paths of a call, and logging.
 *
 * A record is reserved by one instruction that adds to the cursor, then checked: offsets below
 * VPROF_CHUNK_LIMIT are ours, others mean "full".  Nothing is compared with the current chunk, so
 * a signal handler may take a new chunk between the two steps.  While a thread looks for room its
 * cursor is parked at an offset that is full in no chunk's memory at all.  The cursor is VPROF_CHUNK_REST ahead, which
 * makes these offsets the ones below that.
 *
 * A longjmp that jump.c did not see leaves frames on the shadow stack.  The machine's stack grows down, so a frame whose
 * address is below the caller's is gone:
 *
 *	main 0xf00 > parse 0xe00 > item 0xd00, longjmp to main, main calls eval at 0xe80:
 *	item and parse are below 0xe80, are closed now, and eval is called from main
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "runtime/causal/causal.h"
#include "runtime/process.h"
#include "runtime/rules/permit.h"
#include "runtime/thread.h"
#include "runtime/units.h"
#include "runtime/waits/releasers.h"
#include "runtime/wrappers/mutex.h"

__thread struct vprof_self vprof_self = { NULL, PARKED, 1, 0, 0, 0 };
__thread struct thread thread_self;

static uint64_t *take_room(unsigned int bytes);
static bool next_chunk(void);

/*
 * Room for a record.  On x86_64 in one instruction, so that a signal handler between us and our record
 * takes the next one; no lock prefix, since a cursor belongs to one thread.
 */
static char *take(unsigned long bytes)
{
#if defined(__x86_64__) && !defined(VPROF_PORTABLE)
	__asm__ __volatile__("xaddq %0, %1" : "+r"(bytes), "+m"(vprof_self.cursor) : : "cc");
#else
	bytes = __atomic_fetch_add((unsigned long *)(void *)&vprof_self.cursor, bytes, __ATOMIC_RELAXED);
#endif
	return (char *)bytes - VPROF_CHUNK_REST;
}

static void count_lost(void)
{
	struct arena_slot *slot = thread_self.slot;

	if (!slot)
		return;
	if (!slot->lost_cnt)
		slot->lost_since = clock_ticks();
	slot->lost_cnt++;
}

/* Records of threads that have no slot, or no longer one, to count them in. */
static void count_lost_orphans(const struct arena_map *a, uint64_t cnt, uint64_t since)
{
	struct arena_control *c = a->control;
	uint64_t none = 0;

	__atomic_fetch_add(&c->lost_cnt, cnt, __ATOMIC_RELAXED);
	__atomic_compare_exchange_n(&c->lost_since, &none, since, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

static void read_name(uint64_t words[2])
{
	memcpy(words, process.name, sizeof(process.name));
	if (permitted(PERMIT_NAME))
		prctl(PR_GET_NAME, words);
}

static void find_no_slot(const struct arena_map *a)
{
	count_lost_orphans(a, 1, clock_ticks());
	arena_count_dropped(a, TABLE_THREADS);
	if (!stacks_are_many())			/* another stack of the thread may have a slot */
		vprof_self.gate = 0;
}

/* Exact, unlike a running thread's account read from outside (drainer/accounts.h); takes two system calls. */
void thread_log_account(void)
{
	struct timespec t;
	struct rusage use;

	if (!permitted(PERMIT_CPUTIME) || syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t))
		return;
	THREAD_LOG(EVENT_ACCOUNT, clock_ticks(), (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec);
	if (permitted(PERMIT_RUSAGE) && syscall(SYS_getrusage, RUSAGE_THREAD, &use) == 0)
		THREAD_LOG(EVENT_SWITCHES, clock_ticks(), (uint64_t)use.ru_nvcsw);
}

static void start(struct thread *t)
{
	uint64_t name[2];

	t->started = true;
	__atomic_fetch_add(&t->arena->control->thread_cnt, 1, __ATOMIC_RELAXED);
	read_name(name);
	THREAD_LOG(EVENT_START, clock_ticks(), (uint64_t)t->slot->pid << 32 | t->slot->tid, name[0], name[1]);
	thread_log_account();
	process_introduce();
	found_take();
}

/* As the C library has it; in the child of a bare clone() that is still the parent's. */
uint32_t thread_tid(void)
{
	return permitted(PERMIT_GETTID) ? (uint32_t)syscall(SYS_gettid) : mutex_owner();
}

bool thread_attach(void)
{
	int saved_errno = errno;
	struct thread *t = &thread_self;
	const struct arena_map *a;
	struct arena_slot *slot;

	if (t->busy)
		return false;
	if (!process_attach() || process.apart) {
		if (process_is_alone() || process.apart)
			vprof_self.gate = 0;
		return false;
	}
	a = process.arena;
	if (__atomic_load_n(&a->control->recording, __ATOMIC_RELAXED) != RECORDING_ON) {
		stacks_set_gate(0);
		return false;
	}
	if (!*process.same)
		process_forked(0);
	t->busy = 1;
	t->slot_number = arena_take_slot(a);
	if (!t->slot_number) {
		find_no_slot(a);
		t->busy = 0;
		return false;
	}
	slot = &a->slots[t->slot_number];
	__atomic_load_n(&slot->used, __ATOMIC_ACQUIRE);	/* pairs with the release of its last owner */
	slot->pid = process.pid;
	slot->tid = thread_tid();
	slot->serial = t->serial = t->serial ? t->serial : process_new_serial();
	slot->image = process.image;
	slot->pid_namespace = process.pid_namespace;
	slot->lost_cnt = slot->lost_since = 0;
	__atomic_store_n(&slot->used, 1, __ATOMIC_RELEASE);
	t->slot = slot;
	t->arena = a;
	t->since = clock_ticks();
	if (causal_on)
		causal_attach();
	*arena_stack(a, t->slot_number) = (struct vprof_frame){ .start = 1, .address = stacks_high() };	/* never
													 * left
													 * behind */
	vprof_self.top = arena_stack(a, t->slot_number) + 1;
	pthread_setspecific(process.key, slot);
	if (slot->tid != slot->pid)
		units_have_threads();
	t->busy = 0;
	if (!t->started)
		start(t);
	errno = saved_errno;
	return true;
}

/* Records still in an arena that is gone are dropped. */
static void abandon(struct thread *t)
{
	t->busy = 1;
	vprof_self.cursor = PARKED;
	vprof_self.top = NULL;
	t->slot = NULL;
	t->found = NULL;
	t->slot_number = t->chunk = t->previous = 0;
	t->serial = 0;
	t->started = false;
	t->busy = 0;
}

void thread_close_gate(void)
{
	thread_self.closed_at = clock_ticks();
	stacks_set_gate(0);
}

/* Closes the innermost open frame, because its own probe will not do it, or not in time. */
static void close_frame(void)
{
	struct vprof_frame *frame = vprof_self.top - 1;

	if (causal_on)
		causal_leave(frame);
	if (frame->start)
		THREAD_LOG(EVENT_FRAME, frame->start, vprof_ticks(), frame_fid(frame));
	frame->start = 0;
	vprof_self.top = frame;
}

void thread_close_frame(void)
{
	close_frame();
}

static void close_all(const struct thread *t)
{
	struct vprof_frame *bottom = arena_stack(t->arena, t->slot_number) + 1;

	while (vprof_self.top > bottom)
		close_frame();
}

/* After a pause: calls meanwhile are unknown, so no later call may seem to come from a function that was open
 * before. */
static void go_on(struct thread *t)
{
	close_all(t);
	t->since = clock_ticks();
	THREAD_LOG(EVENT_REOPEN, t->since, t->closed_at);
	found_take();
}

bool thread_reopen(void)
{
	struct thread *t = &thread_self;

	if (t->busy || process.apart || !process_reopen())
		return false;
	if (t->slot && t->arena != process.arena)
		abandon(t);
	t->label_cnt = t->hold_cnt = 0;
	stacks_set_gate(1);
	if (t->slot)
		go_on(t);
	return true;
}

static void detach(bool is_end)
{
	struct thread *t = &thread_self;
	uint64_t name[2];

	if (!t->slot || t->busy || !*process.same)
		return;
	close_all(t);
	read_name(name);
	thread_log_account();
	THREAD_LOG(EVENT_STOP, clock_ticks(), name[0], name[1]);
	if (is_end)
		releasers_stamp(releasers_private(pthread_self()));
	if (causal_on)
		causal_detach();
	t->busy = 1;
	vprof_self.cursor = PARKED;
	vprof_self.top = NULL;
	if (t->previous)
		arena_fill_chunk(t->arena, t->previous);
	if (t->chunk)
		arena_fill_chunk(t->arena, t->chunk);
	if (t->slot->lost_cnt)
		count_lost_orphans(t->arena, t->slot->lost_cnt, t->slot->lost_since);
	arena_give_slot(t->arena, t->slot_number);
	t->slot = NULL;
	t->found = NULL;
	t->slot_number = t->chunk = t->previous = 0;
	t->label_cnt = t->hold_cnt = 0;
	stacks_set_gate(1);
	t->busy = 0;
}

/* For good: closes all open calls, and a probe that returns later finds nothing. */
void thread_leave_recording(void)
{
	if (thread_self.slot && !thread_self.busy && thread_is_here())
		detach(false);
	stacks_set_gate(0);
	vprof_self.gate = 0;
}

void thread_detach(void)
{
	if (thread_is_here())
		detach(true);
}

void thread_detach_stack(void)
{
	detach(false);
}

/* Something happened here that cannot be logged: counts it as lost. */
void thread_lose(void)
{
	count_lost_orphans(process.arena, 1, clock_ticks());
}

void thread_take_up(uint64_t left_at, uint64_t now, uint32_t kernel_tid, bool is_stale)
{
	struct thread *t = &thread_self;

	if (t->slot && t->arena != process.arena) {
		abandon(t);
		t->label_cnt = t->hold_cnt = 0;
		stacks_set_gate(1);
	}
	if (t->slot && left_at && vprof_self.gate)
		THREAD_LOG(EVENT_WAIT, left_at, now, WAIT_QUEUE, kernel_tid, 0, 0);
	if (t->slot && is_stale) {
		t->label_cnt = t->hold_cnt = 0;
		stacks_set_gate(stacks_gate() ? 1 : 0);
		close_all(t);
		t->since = clock_ticks();
		THREAD_LOG(EVENT_PAUSE, t->since, 0);
	}
}

unsigned long thread_innermost(void)
{
	const struct vprof_frame *frame = vprof_self.top ? vprof_self.top - 1 : NULL;

	return frame && frame->function ? frame->address : 0;
}

void thread_doubt(uint64_t since)
{
	uint64_t now = clock_ticks();

	if (thread_self.slot && vprof_self.gate)
		THREAD_LOG(EVENT_LOSS, now, since ? since : now, 0);
}

void thread_forget(uint64_t serial)
{
	memset(&thread_self, 0, sizeof(thread_self));
	thread_self.serial = serial;
	mutex_forget();
	vprof_self.top = NULL;
	vprof_self.cursor = PARKED;
	stacks_forget();
	stacks_set_gate(1);
}

void thread_log(enum trace_event kind, uint64_t ticks, const uint64_t *words)
{
	unsigned int cnt = event_words(kind);
	uint64_t *record = take_room(16 + (cnt + 1) / 2 * 16);

	if (!record)
		return;
	__atomic_store_n(&record[1], (uint64_t)kind << 8, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < cnt; i++)
		record[2 + i] = words[i];
	__atomic_store_n(&record[0], ticks, __ATOMIC_RELEASE);
}

static bool is_full(const void *at)
{
	return ((uintptr_t)at & (VPROF_CHUNK_BYTES - 1)) >= VPROF_CHUNK_LIMIT;
}

/* NULL: the record is lost, and counted. */
static uint64_t *take_room(unsigned int bytes)
{
	char *at = take(bytes);

	while (is_full(at)) {
		if (!next_chunk()) {
			if (vprof_self.gate)		/* else the recording is over */
				count_lost();
			return NULL;
		}
		at = take(bytes);
	}
	return (uint64_t *)(void *)at;
}

static void report_loss(struct arena_slot *slot)
{
	uint64_t cnt = slot->lost_cnt, since = slot->lost_since;

	slot->lost_cnt = slot->lost_since = 0;
	THREAD_LOG(EVENT_LOSS, clock_ticks(), since, cnt);
}

/*
 * A signal handler may interrupt this anywhere and enter it again: the cursor moves first, then each chunk
 * moves on by one exchange, from chunk to previous to the drainer.  The worst case is a chunk handed over
 * half full.
 */
/* Whether recording is over for this thread.  An interval under way is recorded to its end, unless the arena
 * has no reader any more. */
static bool is_over(const struct arena_map *a)
{
	uint32_t recording = __atomic_load_n(&a->control->recording, __ATOMIC_RELAXED);

	return recording == RECORDING_GONE || (recording != RECORDING_ON && stacks_gate() < 2);
}

static bool next_chunk(void)
{
	struct thread *t = &thread_self;
	struct arena_chunk *chunk;
	uint32_t number, old;

	vprof_self.cursor = PARKED;
	if (!t->slot)
		return false;
	if (!*process.same) {
		process_forked(0);
		return false;
	}
	if (vprof_self.gate && is_over(t->arena))
		thread_close_gate();
	number = vprof_self.gate ? arena_take_chunk(t->arena) : 0;
	if (number) {
		chunk = arena_chunk(t->arena, number);
#ifdef __SANITIZE_THREAD__
		__atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE);	/* the drainer does not see the chunk,
									 * which was between two owners */
#endif
		chunk->slot = t->slot_number;
		chunk->pid = t->slot->pid;
		chunk->tid = t->slot->tid;
		chunk->serial = t->serial;
		chunk->number = ++t->taken_cnt;
		__atomic_store_n(&chunk->state, CHUNK_OWNED, __ATOMIC_RELEASE);
		vprof_self.cursor = (char *)(chunk + 1) + VPROF_CHUNK_REST;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	}
	old = __atomic_exchange_n(&t->chunk, number, __ATOMIC_RELAXED);
	old = __atomic_exchange_n(&t->previous, old, __ATOMIC_RELAXED);
	if (old)
		arena_fill_chunk(t->arena, old);
	if (!number && vprof_self.gate)
		process_starved(t->arena);
	if (number && t->slot->lost_cnt)
		report_loss(t->slot);
	return number;
}

/*
 * Whether longjmp() left the innermost open frame, to where a function of that address is called now.  Frames above it that
 * are not open were left with it, or are just being entered, if we are in a signal handler; their addresses may be of other
 * calls.
 */
static bool is_left_behind(unsigned int fid, unsigned long address, unsigned long caller)
{
	const struct vprof_frame *frame = vprof_self.top - 1;

	while (!frame->start)
		frame--;
	if (is_found(frame))
		return found_is_over(frame, fid, address, caller);
	return frame->function && frame->address < address + (frame->caller != caller);
}

static unsigned long long push_frame(unsigned int site, unsigned long address,
				     unsigned long caller)
{
	struct vprof_frame *frame = vprof_self.top;

	vprof_self.top = frame + 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	frame->address = address;
	frame->caller = caller;
	frame->function = site;
	__atomic_store_n(&frame->start, vprof_ticks(), __ATOMIC_RELEASE);
	return frame_call(frame);
}

unsigned long long thread_enter(unsigned int site, unsigned long address, unsigned long caller)
{
	int saved_errno = errno;
	bool ready = !thread_self.busy && thread_ready(), is_target = site & CAUSAL_GATE;
	unsigned long long call;

	/* On a signal's own stack, addresses do not show the order of calls. */
	if (ready && address < vprof_self.high && address >= stacks_low())
		while (is_left_behind(site >> 8, address, caller))
			close_frame();
	errno = saved_errno;
	if (!ready || (!is_target && (site & 0xff) > stacks_gate()))
		return 0;
	if (((uintptr_t)vprof_self.top & (VPROF_STACK_BYTES - 1)) == 0) {
		if (vprof_self.top)
			arena_count_dropped(thread_self.arena, TABLE_CALLS);
		return 0;
	}
	if (!is_target)
		return push_frame(site, address, caller);
	site &= ~CAUSAL_GATE;
	call = push_frame(site & 0xff ? site : site | GATE_INSIDE, address, caller);
	call |= causal_enter(vprof_self.top - 1);
	errno = saved_errno;
	return call;
}

/* Its frame was closed because longjmp() seemed to have skipped it.  It had not: the call was on a stack of its own. */
static void stray(unsigned long long call)
{
#ifdef __x86_64__
	if (call > thread_self.since && vprof_self.gate)
		thread_doubt(call);
#else
	(void)call;
#endif
}

static bool is_here_at(unsigned long long ticks)
{
	unsigned long here = (unsigned long)__builtin_frame_address(0);

	return (here >= vprof_self.low && here < vprof_self.high) || stacks_find_at(here, ticks);
}

void thread_leave(unsigned long long call, unsigned long long end)
{
	struct vprof_frame *frame, *stack;
	unsigned long long length;
	uint64_t *record;

	call &= ~CAUSAL_CALL;

	/* 0: a process that left the recording may not be able to read the clock */
	if (!end && process.apart)
		return;
	if (!end)
		end = vprof_ticks();
	if (thread_self.busy || !is_here_at(end) || !thread_self.slot)
		return;
	/* Not ours: the thread forked, or the frame was closed for it. */
	stack = arena_stack(thread_self.arena, thread_self.slot_number);
	for (frame = vprof_self.top - 1; frame > stack && frame_call(frame) != call; frame--)
		;
	if (frame <= stack) {
		stray(call);
		return;
	}
	length = end - frame->start;
	while (vprof_self.top > frame + 1)
		close_frame();
	if (causal_on)
		causal_leave(frame);
	if (length >> 32) {
		THREAD_LOG(EVENT_FRAME, frame->start, end, frame_fid(frame));
	} else if ((record = take_room(16))) {
		record[1] = length << 32 | frame->function;
		__atomic_store_n(&record[0], frame->start, __ATOMIC_RELEASE);
	}
	frame->start = 0;
	vprof_self.top = frame;
}
