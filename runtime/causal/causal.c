/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal.c - the hooks: which time counts as the target's, and when a thread settles.
 *
 * A stretch in the target ends at each wait and begins again after it.  So each stretch is either CPU time of the thread or one
 * wait.  CPU time comes from the thread's CPU clock, because the kernel may have preempted the thread.  Reading that clock takes
 * two system calls, so the time stamp counter replaces it for calls that lately took only a few microseconds.
 *
 *	f enters 10, mutex wait 14..20, leaves 25, s = 50 %: L grows by 2, then by 2.5; at 14 and 20 the thread settles
 */
#include <errno.h>
#include "runtime/causal/causal.h"
#include "runtime/causal/devices.h"
#include "runtime/causal/locks.h"
#include "runtime/causal/pause.h"
#include "runtime/causal/target.h"
#include "runtime/causal/ticks.h"
#include "runtime/causal/virtual_clock.h"
#include "runtime/thread.h"
#include "runtime/waits/releasers.h"

enum {
	DEBT_MIN_NS = 5000,		/* a smaller debt may wait */
	BELIEVED_NS = 3 * TICK_NS,	/* after this time without a tick, the thread may have lost its CPU */
	SHORT_NS = 20000, SHORT_MOST_NS = 100000,
	TICKS_MOST_NS = 20 * TICK_NS,
	TOLD_MIN_NS = 2000,
	HELD = 8,			/* locks at a time; more do not count */
};

struct causal_self {
	volatile uintptr_t busy;	/* 0, or the stack address of the hook that is running */
	const struct vprof_frame *frame;	/* of the outermost call in the target; NULL: none */
	unsigned long long call;	/* the call that the frame holds */
	uint64_t held[HELD];		/* locks of the target */
	uint32_t held_cnt;
	bool runs;			/* a stretch of CPU time has begun */
	uint64_t began, cpu;		/* its begin on both clocks; cpu 0: not read */
	uint64_t waited;		/* ... and what the kernel had seen until then (devices_total()) */
	bool is_short;			/* the last stretch was short */
	bool waits;			/* open_cnt includes this thread's wait, which it may have left by siglongjmp() */
	uint64_t tick_cpu;		/* its CPU clock at the last tick, in that block */
	uint32_t tick_block;
	uint32_t told_block;		/* the last EVENT_SHIFT */
	uint64_t told_ns;
};

uint32_t causal_on;
static __thread struct causal_self self __attribute__((tls_model("initial-exec")));

#define GET(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define COUNT(p, n) __atomic_fetch_add(p, n, __ATOMIC_RELAXED)

static struct arena_experiment *experiment(void)
{
	return &process.arena->control->experiment;
}

static uint64_t max_at(uint64_t now)
{
	struct shift_table t = arena_shifts(process.arena);

	if (!GET(&experiment()->open_cnt) && !t.waits)
		t.cnt = 0;
	return shift_max(&t, now);
}

/* ---- entering and leaving a hook ---- */

static void raise_top(uint32_t slot)
{
	uint32_t *top = &experiment()->top, old = GET(top);

	while (old < slot && !__atomic_compare_exchange_n(top, &old, slot, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
}

static void begin_wait(void)
{
	if (!__atomic_exchange_n(&self.waits, true, __ATOMIC_RELAXED))
		COUNT(&experiment()->open_cnt, 1);
}

static void end_wait(void)
{
	if (__atomic_exchange_n(&self.waits, false, __ATOMIC_RELAXED))
		COUNT(&experiment()->open_cnt, -1U);
}

/* Drops a stretch of a block that is over. */
static void forget_stretch(void)
{
	end_wait();
	if (self.runs)
		COUNT(&experiment()->open_cnt, -1U);
	self.runs = false;
	self.frame = NULL;
	self.held_cnt = 0;		/* those that it still holds count again when they are taken again */
}

static bool is_in_target(void)
{
	return self.frame || self.held_cnt;
}

static struct shift *own_shift(void)
{
	struct thread *t = &thread_self;

	return t->slot && t->arena == process.arena && !t->busy ? &t->slot->shift : NULL;
}

/* Records that L grew from then on: a reader knows where each thread's clock was slower.  An interval's begin and end have it exactly. */
static void tell_growth(const struct shift *s, uint64_t from, uint64_t before)
{
	uint64_t ticks = clock_ticks(), rate = GET(&experiment()->ns_per_tick), now = pause_now_ns();

	if (s->ns < before + TOLD_MIN_NS || !rate || now < from)
		return;
	THREAD_LOG(EVENT_SHIFT, ticks - (uint64_t)(((unsigned __int128)(now - from) << 32) / rate), before, s->block);
	THREAD_LOG(EVENT_SHIFT, ticks, s->ns, s->block);
	self.told_ns = s->ns;
	self.told_block = s->block;
}

/* Counts the waits that the kernel saw since the last hook. */
static void count_waits(struct shift *s)
{
	uint64_t before = s->ns;

	if (!s->wait || !shift_waited(&experiment()->all, s, process.arena->waits))
		return;
	COUNT(&experiment()->hit_cnt, 1);
	tell_growth(s, devices_from(s), before);
}

/* Returns NULL if no block is in force or a hook is running.  A hook that was left by siglongjmp() does not count as running. */
static struct shift *hook_in(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	struct arena_experiment *e = experiment();
	struct shift *s;
	uint32_t block;

	if ((self.busy && self.busy >= here) || !process.arena->base || !GET(&e->ns_per_tick))
		return NULL;
	self.busy = here;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	s = own_shift();
	block = GET(&e->all.block);
	if (s && s->block != block) {
		forget_stretch();
		shift_join(&e->all, s);
		devices_join(s);
		raise_top(thread_self.slot_number);
	}
	target_turn(block);
	if (s && block && pause_now_ns() < GET(&e->deadline)) {
		ticks_start();
		count_waits(s);
		return s;
	}
	self.busy = 0;
	return NULL;
}

static void hook_out(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.busy = 0;
}

/* ---- stretches ---- */

static void begin_stretch(struct shift *s)
{
	self.cpu = self.is_short ? 0 : pause_cpu_ns();
	self.waited = devices_total();
	self.began = pause_now_ns();
	self.runs = true;
	COUNT(&experiment()->open_cnt, 1);
	shift_begin(s, self.began, self.began + BELIEVED_NS);
}

static void end_stretch(struct shift *s)
{
	uint64_t took = pause_now_ns() - self.began, before = s->ns;

	if (self.cpu)
		took = pause_cpu_ns() - self.cpu + devices_total() - self.waited;
	else if (took > SHORT_MOST_NS)
		took = SHORT_MOST_NS;	/* a short call that was preempted; or the next one will not be taken for short */
	shift_end(&experiment()->all, s, took);
	COUNT(&experiment()->open_cnt, -1U);
	self.runs = false;
	self.is_short = took < SHORT_NS;
	tell_growth(s, self.began, before);
}

/* ---- settling ---- */

static void pay(struct shift *s)
{
	struct arena_experiment *e = experiment();
	uint64_t now = pause_now_ns(), max = max_at(now), from = now, before;
	bool runs = self.runs;

	if (max <= shift_ns(&e->all, s, now) + DEBT_MIN_NS)
		return;
	if (runs)
		end_stretch(s);
	before = s->ns;
	while (GET(&e->all.block) == s->block && now < GET(&e->deadline) && max > s->ns + DEBT_MIN_NS) {
		shift_paid(s, pause_for(max - s->ns));
		now = pause_now_ns();
		max = max_at(now);
	}
	tell_growth(s, from, before);
	if (runs)
		begin_stretch(s);
}

void causal_settle(void)
{
	int saved_errno = errno;
	struct shift *s = causal_on ? hook_in() : NULL;

	if (s) {
		pay(s);
		hook_out();
	}
	errno = saved_errno;
}

/* The CPU time since the last tick: more than a tick if system calls took some of it. */
static uint64_t since_tick(void)
{
	uint64_t now = pause_cpu_ns(), took = now - self.tick_cpu;
	bool is_next = self.tick_cpu && self.tick_block == GET(&experiment()->all.block);

	self.tick_cpu = now;
	self.tick_block = GET(&experiment()->all.block);
	return is_next && took < TICKS_MOST_NS ? took : TICK_NS;
}

/* The targets that only ticks see. */
static bool is_hit(const struct arena_experiment *e, uint64_t pc)
{
	return e->kind == EXPERIMENT_BODY ? target_is_innermost() : locks_have_code(pc);
}

void causal_tick(uint64_t pc)
{
	struct arena_experiment *e = experiment();
	struct shift *s = hook_in();

	if (!s && !self.busy && (!GET(&e->all.block) || pause_now_ns() >= GET(&e->deadline)))
		ticks_stop();		/* the experiments are over, or the recorder has ended */
	if (!s)
		return;
	COUNT(&e->tick_cnt, 1);
	if (self.runs) {
		shift_believe(s, pause_now_ns() + BELIEVED_NS);
	} else if (e->kind == EXPERIMENT_BODY || e->kind == EXPERIMENT_PC) {
		uint64_t took = since_tick();

		if (is_hit(e, pc)) {
			shift_end(&e->all, s, took);
			COUNT(&e->hit_cnt, 1);
		}
	}
	pay(s);
	hook_out();
}

/* ---- calls ---- */

unsigned long long causal_enter(const struct vprof_frame *frame)
{
	struct arena_experiment *e = experiment();
	struct shift *s = hook_in();
	uint32_t kind = GET(&e->kind);
	bool is_first = s && !self.frame && (kind == EXPERIMENT_FUNCTION || (kind == EXPERIMENT_IO && GET(&e->waits_count))) &&
			target_has(frame_fid(frame));

	if (is_first) {
		self.frame = frame;
		self.call = frame_call(frame);
	}
	if (is_first && kind == EXPERIMENT_IO) {
		devices_begin(s);
	} else if (is_first) {
		COUNT(&e->hit_cnt, 1);
		begin_stretch(s);
	}
	if (s)
		hook_out();
	return is_first ? CAUSAL_CALL : 0;
}

void causal_leave(const struct vprof_frame *frame)
{
	struct shift *s;

	if (self.frame != frame || self.call != frame_call(frame))
		return;
	s = hook_in();
	if (s && self.runs)
		end_stretch(s);
	else if (s && GET(&experiment()->kind) == EXPERIMENT_IO)
		devices_end(s);
	self.frame = NULL;
	if (s)
		hook_out();
}

/* ---- locks ---- */

void causal_took(uint64_t object)
{
	struct arena_experiment *e = experiment();
	int saved_errno = errno;
	struct shift *s = hook_in();

	if (s)
		locks_note_taking(object);
	if (s && GET(&e->kind) == EXPERIMENT_LOCK && locks_has(object) && self.held_cnt < HELD) {
		self.held[self.held_cnt++] = object;
		COUNT(&e->hit_cnt, 1);
		if (!self.runs)
			begin_stretch(s);
	}
	if (s)
		hook_out();
	errno = saved_errno;
}

/* False: the thread does not hold it, as far as is known. */
static bool take_from_held(uint64_t object)
{
	uint32_t at = self.held_cnt;

	while (at > 0 && self.held[at - 1] != object)
		at--;
	if (!at)
		return false;
	for (; at < self.held_cnt; at++)
		self.held[at - 1] = self.held[at];
	self.held_cnt--;
	return true;
}

void causal_let_go(uint64_t object)
{
	int saved_errno = errno;
	struct shift *s = self.held_cnt ? hook_in() : NULL;

	if (s) {
		if (take_from_held(object) && !self.held_cnt && self.runs)
			end_stretch(s);
		hook_out();
	}
	errno = saved_errno;
}

void causal_order(uint64_t object)
{
	if (GET(&experiment()->all.block))
		locks_note_release(object);
}

void causal_until(void)
{
	if (GET(&experiment()->all.block))
		COUNT(&experiment()->until_cnt, 1);
}

/* ---- waits ---- */

static bool counts(const struct arena_experiment *e)
{
	switch (e->kind) {
	case EXPERIMENT_FUNCTION:
	case EXPERIMENT_LOCK:
		return is_in_target();
	case EXPERIMENT_IO:
		return !e->has_keys || target_is_open();
	}
	return false;
}

struct causal_wait causal_wait_begin(enum wait_class class, bool may_be_peer)
{
	struct causal_wait w = { .from = 0 };
	struct arena_experiment *e = experiment();
	struct shift *s = hook_in();

	if (!s)
		return w;
	pay(s);
	w.was_in_target = self.runs;
	w.is_disk = (class == WAIT_IO || class == WAIT_SLEEP) && !may_be_peer;
	w.counts = w.is_disk && counts(e);
	if (self.runs)
		end_stretch(s);
	w.block = s->block;
	w.from = pause_now_ns();
	if (w.counts) {
		begin_wait();
		shift_begin(s, w.from, GET(&e->deadline));
	}
	hook_out();
	return w;
}

/* G at the time of the stamp; without a stamp, G now. */
static uint64_t stamp_max(const uint64_t names[2], uint64_t woken)
{
	const struct arena_map *a = process.arena;

	for (unsigned int i = 0; woken && i < 2 * ARENA_STAMPS; i++) {
		uint64_t name = names[i / ARENA_STAMPS], at = arena_hash(name) % ARENA_BUCKETS;
		const struct arena_stamp *stamp = &a->releasers[at].stamps[i % ARENA_STAMPS];

		if (name && GET(&stamp->object) == name && GET(&stamp->ticks) == woken)
			return GET(&a->stamp_maxima[at][i % ARENA_STAMPS]);
	}
	return max_at(pause_now_ns());
}

void causal_wait_end(const struct causal_wait *w, enum causal_end end, uint64_t woken, const uint64_t names[2])
{
	struct arena_experiment *e = experiment();
	struct shift *s;
	uint64_t now, before;

	if (!w->from)
		return;
	if (w->counts)
		end_wait();
	s = hook_in();
	if (!s)
		return;
	now = pause_now_ns();
	before = s->ns;
	if (s->block == w->block) {
		if (w->counts) {
			shift_end(&e->all, s, now - w->from);
			if (end != CAUSAL_STAYED && e->kind == EXPERIMENT_IO)
				COUNT(&e->hit_cnt, 1);
		}
		if (end == CAUSAL_BY_PEER)
			shift_woken(s, w->from, woken ? arena_experiment_ns(process.arena, woken) : now, stamp_max(names, woken));
		tell_growth(s, w->from, before);
		if (end != CAUSAL_STAYED && end != CAUSAL_BY_PEER)
			pay(s);
		if (w->was_in_target && is_in_target())
			begin_stretch(s);
	}
	if (end == CAUSAL_BY_OTHERS && !w->is_disk)
		COUNT(&e->outside_cnt, 1);
	hook_out();
}

uint64_t causal_max(void)
{
	return GET(&experiment()->ns_per_tick) ? max_at(pause_now_ns()) : 0;
}

bool causal_clock(uint64_t *ret, uint64_t *ret_now)
{
	struct shift *s = hook_in();

	if (s)
		hook_out();
	*ret_now = pause_now_ns();
	s = own_shift();
	if (s)
		*ret = shift_ns(&experiment()->all, s, *ret_now);
	else if (!*ret)
		*ret = max_at(*ret_now);
	return s;
}

/* ---- threads and processes ---- */

void causal_attach(void)
{
	struct arena_experiment *e = experiment();
	struct shift *s = &thread_self.slot->shift;

	*s = (struct shift){ .block = GET(&e->all.block) };
	self = (struct causal_self){ .busy = 0 };
	vprof_self.tid = 0;		/* so that its mutex calls reach us (runtime/wrappers/mutex.h) */
	if (s->block && GET(&e->ns_per_tick)) {
		s->ns = max_at(pause_now_ns());
		devices_join(s);
	}
	raise_top(thread_self.slot_number);
}

void causal_inherit(uint64_t shift)
{
	struct shift *s = own_shift();

	if (s && shift && shift < s->ns)
		shift_join(&experiment()->all, s), s->ns = shift;
}

uint64_t causal_shift(void)
{
	const struct shift *s = own_shift();

	return s ? shift_ns(&experiment()->all, s, pause_now_ns()) : 0;
}

void causal_detach(void)
{
	forget_stretch();
	if (thread_self.slot) {
		devices_end(&thread_self.slot->shift);
		__atomic_store_n(&thread_self.slot->shift.since, 0, __ATOMIC_RELEASE);
	}
	ticks_stop();
}

void causal_forked(void)
{
	self = (struct causal_self){ .busy = 0 };
	target_forked();
	ticks_forked();
}

void causal_over(void)
{
	__atomic_store_n(&causal_on, 0, __ATOMIC_RELEASE);
	releasers_watch_all(false);
}

/* Releases check whether any thread waits at the object's place; in an experiment they have to call us in any case. */
void causal_prepare(void)
{
	causal_on = experiment()->wanted;
	if (!causal_on)
		return;
	if (experiment()->virtual_clock)
		__atomic_store_n(&clock_is_virtual, 1, __ATOMIC_RELEASE);
	releasers_watch_all(true);
	causal_sites_changed();
}

void causal_tell(void)
{
	struct arena_experiment *e = experiment();
	struct shift *s = hook_in();
	uint64_t ticks, ns;

	if (!s)
		return;
	ticks = clock_ticks();
	ns = shift_ns(&e->all, s, arena_experiment_ns(process.arena, ticks));
	if (ns != self.told_ns || s->block != self.told_block)
		THREAD_LOG(EVENT_SHIFT, ticks, ns, s->block);
	self.told_ns = ns;
	self.told_block = s->block;
	hook_out();
}
