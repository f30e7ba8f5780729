/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.c - the events of probe.h: intervals, task queues, home-made locks; and named blocks.
 *
 * A thread works on a small stack of intervals.  BEGIN pushes an interval, END and DROP remove it wherever it
 * is, RESUME puts it on top (in place of one of the same name: a worker goes from request to request), FINISH
 * puts it on top of all others, PAUSE empties the stack, LEAVE removes the interval if it is on top.  BEGIN
 * of an interval that is on the stack only increments its depth, and the END after that decrements it. The
 * gate of the thread's probes is "inside" while the top interval is recorded.
 *
 *	BEGIN request/7	stack request/7			gate 2
 *	BEGIN query/1	stack request/7 query/1		gate 2
 *	END query/1	stack request/7			gate 2
 *	PAUSE		stack -				gate 1
 *
 * The reader applies the same rules (trace/read/replay.c).
 *
 * When chunks are short, an interval that begins is logged with a mark and its functions are not: whole new
 * intervals are given up, so that those under way stay whole.  The same happens, with another mark, to
 * intervals that are root-only by lot (runtime/sampling.h).
 */
#include <errno.h>
#include <string.h>
#include "runtime/causal/causal.h"
#include "runtime/ids.h"
#include "runtime/note.h"
#include "runtime/sampling.h"
#include "runtime/thread.h"
#include "runtime/units.h"
#include "runtime/waits/hold.h"

#define KEY_IS_THREAD (~0ULL)

enum { CHUNKS_SHORT_SHARE = 16 };	/* fewer than 1/16 free: short */

/* of_interval: the program may have set this label to belong to intervals of another name. */
static uint64_t label_number(struct vprof_label *label, bool of_interval)
{
	uint64_t id, epoch = (uint64_t)process.epoch << 32;

	if (!label)
		return 0;
	id = __atomic_load_n(&label->id, __ATOMIC_RELAXED);
	if (!id || (id ^ epoch) >> 32) {		/* the label has no number yet, or one of another arena */
		id = arena_label(process.arena, label->name);
		if (of_interval)
			id = note_label(process.arena, (uint32_t)id);
		id |= epoch;
		__atomic_store_n(&label->id, id, __ATOMIC_RELAXED);
	}
	return id & UINT32_MAX;
}

static void set_gate(void)
{
	struct thread *t = &thread_self;
	unsigned int gate;

	if (!vprof_self.gate)
		return;
	gate = t->label_cnt && !t->labels[t->label_cnt - 1].skipped ? GATE_INSIDE : 1;
	stacks_set_gate(gate);
	if (gate == GATE_INSIDE)
		units_loud();
	else if (sampling_is_rare())
		units_quiet();
}

static void remove_label(unsigned int at)
{
	struct thread *t = &thread_self;

	t->label_cnt--;
	memmove(&t->labels[at], &t->labels[at + 1], (t->label_cnt - at) * sizeof(t->labels[0]));
}

static unsigned int find_label(uint64_t label, uint64_t key)
{
	struct thread *t = &thread_self;
	unsigned int at = t->label_cnt;

	while (at > 0 && (t->labels[at - 1].label != label || t->labels[at - 1].key != key))
		at--;
	return at;
}

static void push_label(struct thread_label label)
{
	struct thread *t = &thread_self;

	if (t->label_cnt == THREAD_LABELS)
		remove_label(0);		/* the reader counts intervals whose label was lost */
	t->labels[t->label_cnt++] = label;
}

/* Puts an interval on top.  is_own: no other thread can begin it, so if it has not begun, its lot is drawn now. */
static void resume_label(uint64_t label, uint64_t key, bool is_own)
{
	struct thread *t = &thread_self;
	enum sampling_found found = sampling_find(label, key);

	push_label((struct thread_label){ .label = label, .key = key, .skipped = found == SAMPLING_SKIPPED,
		.lot = found == SAMPLING_SKIPPED ? BEGIN_ROOT_ONLY : 0 });
	if (found == SAMPLING_NOT_BEGUN && is_own) {
		struct thread_label *l = &t->labels[t->label_cnt - 1];

		l->is_early = true;
		l->lot = sampling_lot(NULL);
		l->skipped = l->lot & BEGIN_ROOT_ONLY;
	}
}

static bool chunks_are_short(void)
{
	const struct arena_control *c = process.arena->control;

	return __atomic_load_n(&c->free_cnt, __ATOMIC_RELAXED) < process.arena->chunk_cnt / CHUNKS_SHORT_SHARE;
}

/* The frame of the first BEGIN is gone: another frame uses its place, or the stack is shorter than at the BEGIN. */
static bool is_left(const struct thread_label *l, uint64_t frame, uint64_t stack)
{
	return l->frame && frame && (l->frame == frame || stack > l->stack);
}

/*
 * Does the interval begin inside itself?  Only the outermost BEGIN makes an interval: others add to its
 * depth.  A label remains when another thread ends its interval; if lots are drawn, their table shows that.
 * Without lots the depth is then too large: some calls outside of intervals are recorded, which the reader
 * sorts out.
 */
static bool begins_again(const struct thread_label *l, uint64_t frame, uint64_t stack, uint64_t now)
{
	if (l->is_early)
		return false;
	if (is_left(l, frame, stack)) {
		THREAD_LOG(EVENT_UNWOUND, now, l->label, l->key, 1);
		return false;
	}
	return !sampling_is_on() || sampling_is_open(l->label, l->key);
}

/* Follows the BEGIN.  Of an interval inside itself, too: the reader decides which of them counts. */
static void log_ids(const struct thread_ids *ids, uint64_t now)
{
	if (ids->trace[0] | ids->trace[1] | ids->span | ids->parent)
		THREAD_LOG(EVENT_IDS, now, ids->trace[0], ids->trace[1], ids->span, ids->parent);
	ids_taken();
}

/* at: where the interval is, plus 1, or 0. */
static void begin(unsigned int at, struct thread_label fresh, uint64_t now)
{
	const struct thread_ids *ids = thread_self.ids.known ? ids_of(fresh.label) : NULL;
	struct thread_label *l = at ? &thread_self.labels[at - 1] : NULL;
	bool again = l && begins_again(l, fresh.frame, fresh.stack, now);

	if (again && sampling_is_on()) {
		l->depth++;
		THREAD_LOG(EVENT_BEGIN, now, l->label, l->key, l->lot | BEGIN_AGAIN);
		if (ids)
			log_ids(ids, now);
		return;
	}
	fresh.lot = l && l->is_early ? l->lot : sampling_lot(ids);
	fresh.lot |= (chunks_are_short() ? BEGIN_SHORT : 0) | (fresh.frame ? BEGIN_IN_FRAME : 0);
	fresh.skipped = fresh.lot & (BEGIN_SHORT | BEGIN_ROOT_ONLY);
	if (again) {
		fresh.depth = l->depth + 1;
		fresh.frame = l->frame;
		fresh.stack = l->stack;
	}
	if (at)
		remove_label(at - 1);
	sampling_begin(fresh.label, fresh.key, fresh.skipped, now);
	push_label(fresh);
	THREAD_LOG(EVENT_BEGIN, now, fresh.label, fresh.key, fresh.lot | (again ? BEGIN_AGAIN : 0));
	if (ids)
		log_ids(ids, now);
}

static void end(unsigned int kind, unsigned int at, uint64_t label, uint64_t key, uint64_t frame, uint64_t now)
{
	struct thread_label *l = at ? &thread_self.labels[at - 1] : NULL;
	bool is_outermost = !l || !l->depth || (frame && frame == l->frame);

	if (l && l->depth && is_outermost)
		THREAD_LOG(EVENT_UNWOUND, now, label, key, 0);
	THREAD_LOG(kind == VPROF_KIND_END ? EVENT_END : EVENT_DROP, now, label, key);
	if (!is_outermost) {
		l->depth--;
		return;
	}
	sampling_end(label, key, now);
	if (at)
		remove_label(at - 1);
}

static void resume(unsigned int at, uint64_t label, uint64_t key, bool is_own, uint64_t now)
{
	struct thread *t = &thread_self;
	struct thread_label old = at ? t->labels[at - 1] : (struct thread_label){ .depth = 0 };

	if (at)
		remove_label(at - 1);
	else if (t->label_cnt && t->labels[t->label_cnt - 1].label == label)
		t->label_cnt--;
	resume_label(label, key, is_own);
	t->labels[t->label_cnt - 1].depth = old.depth;
	t->labels[t->label_cnt - 1].frame = old.frame;
	t->labels[t->label_cnt - 1].stack = old.stack;
	THREAD_LOG(EVENT_RESUME, now, label, key);
}

/* Does nothing if the thread already works on the interval; unlike a RESUME, removes no other interval for it. */
static void finish(unsigned int at, uint64_t label, uint64_t key, uint64_t now)
{
	if (at)
		return;
	resume_label(label, key, false);
	THREAD_LOG(EVENT_FINISH, now, label, key);
}

static void interval_event(unsigned int kind, uint64_t label, uint64_t key, uint64_t frame)
{
	struct thread *t = &thread_self;
	uint64_t now;
	unsigned int at;
	bool is_own = key == KEY_IS_THREAD;

	if (causal_on)
		causal_tell();
	now = clock_ticks();
	if (is_own)
		key = 1ULL << 63 | t->serial;
	at = find_label(label, key);
	switch (kind) {
	case VPROF_KIND_BEGIN:
		begin(at, (struct thread_label){ .label = label, .key = key, .frame = frame,
			.stack = (uintptr_t)__builtin_frame_address(0) }, now);
		break;
	case VPROF_KIND_END:
	case VPROF_KIND_DROP:
		end(kind, at, label, key, frame, now);
		break;
	case VPROF_KIND_RESUME:
		resume(at, label, key, is_own, now);
		break;
	case VPROF_KIND_FINISH:
		finish(at, label, key, now);
		break;
	case VPROF_KIND_HANDED:
		if (at)
			THREAD_LOG(EVENT_HANDED, now, label, key);
		return;
	case VPROF_KIND_LEAVE:
		if (!at || at != t->label_cnt)
			return;
		THREAD_LOG(EVENT_LEAVE, now, label, key);
		remove_label(at - 1);
		break;
	}
	set_gate();
}

void thread_inherit(const struct thread_label *label)
{
	resume_label(label->label, label->key, false);
	THREAD_LOG(EVENT_RESUME, clock_ticks(), label->label, label->key);
	set_gate();
}

/* Once the recording is over, no thread begins an interval; intervals under way are recorded to their end. */
static bool is_recorded(void)
{
	return __atomic_load_n(&thread_self.arena->control->recording, __ATOMIC_RELAXED) == RECORDING_ON;
}

/* Events about other hosts. */
static void remote_event(unsigned int kind, struct vprof_label *label, uint64_t a, uint64_t b)
{
	if (kind == VPROF_KIND_CALL)
		THREAD_LOG(EVENT_CALL, clock_ticks(), ids_span(a, b));
	else
		ids_note(kind, label_number(label, true), a, b);
}

void vprof_event(unsigned int kind, struct vprof_label *label, unsigned long long a,
		 unsigned long long b)
{
	int saved_errno = errno;

	if ((kind == VPROF_KIND_BEGIN || kind == VPROF_KIND_RESUME) && thread_self.slot && !is_recorded())
		thread_close_gate();
	if (!thread_ready()) {
		errno = saved_errno;
		return;
	}
	if (thread_self.found && (kind == VPROF_KIND_BEGIN || kind == VPROF_KIND_RESUME))
		found_forget_name();
	switch (kind) {
	case VPROF_KIND_BEGIN:
	case VPROF_KIND_END:
	case VPROF_KIND_RESUME:
	case VPROF_KIND_DROP:
	case VPROF_KIND_LEAVE:
	case VPROF_KIND_FINISH:
	case VPROF_KIND_HANDED:
		interval_event(kind, label_number(label, true), a, b);
		break;
	case VPROF_KIND_PAUSE:
		THREAD_LOG(EVENT_PAUSE, clock_ticks(), 0);
		thread_self.label_cnt = 0;
		set_gate();
		break;
	case VPROF_KIND_ENQUEUE:
		THREAD_LOG(EVENT_ENQUEUE, clock_ticks(), a, b);
		break;
	case VPROF_KIND_DEQUEUE:
		THREAD_LOG(EVENT_DEQUEUE, clock_ticks(), a, b);
		break;
	case VPROF_KIND_ACQUIRE:
	case VPROF_KIND_SPIN_BEGIN:
		hold_begin(releasers_shared(a), kind == VPROF_KIND_ACQUIRE && b & VPROF_NEVER_SPINS);
		break;
	case VPROF_KIND_ACQUIRED:
	case VPROF_KIND_SPIN_END:
		hold_end(releasers_shared(a), b && b < WAIT_CLASS_CNT ? (enum wait_class)b : WAIT_LOCK);
		break;
	case VPROF_KIND_RELEASE:
		releasers_stamp_event(releasers_shared(a), EVENT_RELEASE);
		break;
	case VPROF_KIND_FALSE_WAKEUP:
		THREAD_LOG(EVENT_FALSE_WAKEUP, clock_ticks(), 0);
		break;
	case VPROF_KIND_WORK:
		THREAD_LOG(EVENT_WORK, clock_ticks(), label_number(label, false), a);
		break;
	case VPROF_KIND_TRACE:
	case VPROF_KIND_SPAN:
	case VPROF_KIND_PARENT:
	case VPROF_KIND_CALL:
		remote_event(kind, label, a, b);
		break;
	}
	errno = saved_errno;
}
