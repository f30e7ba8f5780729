/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * oracle_whole.c - waits, criticality and samples; see oracle_whole.h.
 */
#include "tests/oracle/oracle_whole.h"

#include <string.h>
#include "base/banned.h"

struct blocked {
	uint64_t waker;
	uint64_t sid;
	int64_t start_ns, end_ns;
	bool idle;			/* of a device without a waker: not an edge yet */
};

struct all_waits {
	VEC(struct blocked) of[ORACLE_TIDS];
	enum thread_kind kind[ORACLE_TIDS];
};

static enum thread_kind kind_of(const struct trace *t, uint64_t tid)
{
	for (size_t i = 0; i < t->threads.cnt; i++)
		if (t->threads.items[i].tid == tid)
			return t->threads.items[i].kind;
	return KIND_THREAD;
}

/* The latest wake-up of tid in (start, end], or NULL. */
static const struct wakeup *latest(const struct trace *t, uint64_t tid, int64_t start_ns, int64_t end_ns)
{
	const struct wakeup *best = NULL;

	for (size_t i = 0; i < t->wakeups.cnt; i++) {
		const struct wakeup *w = &t->wakeups.items[i];

		if (w->tid == tid && w->waker_tid != tid && w->time_ns > start_ns && w->time_ns <= end_ns &&
		    (!best || w->time_ns >= best->time_ns))
			best = w;
	}
	return best;
}

static bool is_device(enum thread_kind kind)
{
	return kind == KIND_DISK || kind == KIND_NIC;
}

static void take_segment(const struct trace *t, const struct segment *s, struct all_waits *a,
			 struct oracle_waits *ret)
{
	const struct wakeup *w = latest(t, s->tid, s->start_ns, s->end_ns);
	struct blocked b = { w ? w->waker_tid : ORACLE_UNKNOWN, s->sid, s->start_ns,
			     w ? w->time_ns : s->end_ns, false };

	if (s->start_ns == s->end_ns)
		return;
	if (s->state == STATE_RUNNING) {
		ret->running_ns[s->tid] += s->end_ns - s->start_ns;
	} else if (s->state == STATE_RUNNABLE) {
		ret->runnable_ns[s->tid] += s->end_ns - s->start_ns;
	} else {
		b.idle = !w && s->state == STATE_QUEUE && is_device(a->kind[s->tid]);
		ret->runnable_ns[s->tid] += s->end_ns - b.end_ns;
		VEC_ADD(&a->of[s->tid], b);
	}
}

/* The thread's state in [ns, ns + 1): 'r' running, 'q' runnable, 'w' blocked, 0 none. */
static char state_at(const struct trace *t, uint64_t tid, int64_t ns)
{
	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *s = &t->segments.items[i];
		const struct wakeup *w;

		if (s->tid != tid || ns < s->start_ns || ns >= s->end_ns)
			continue;
		if (s->state == STATE_RUNNING || s->state == STATE_RUNNABLE)
			return s->state == STATE_RUNNING ? 'r' : 'q';
		w = latest(t, tid, s->start_ns, s->end_ns);
		return w && ns >= w->time_ns ? 'q' : 'w';
	}
	return 0;
}

/* The wait before and the wait after a false wake-up are one. */
static void join(const struct trace *t, const struct false_wakeup *f, struct all_waits *a,
		 struct oracle_waits *ret)
{
	if (is_device(a->kind[f->tid]))
		return;
	for (size_t i = 1; i < a->of[f->tid].cnt; i++) {
		struct blocked *before = &a->of[f->tid].items[i - 1], *after = before + 1;

		if (f->time_ns < before->end_ns || f->time_ns > after->start_ns)
			continue;
		for (int64_t ns = before->end_ns; ns < after->start_ns; ns++) {
			ret->running_ns[f->tid] -= state_at(t, f->tid, ns) == 'r';
			ret->runnable_ns[f->tid] -= state_at(t, f->tid, ns) == 'q';
		}
		before->end_ns = after->end_ns;
		before->waker = after->waker;
		memmove(after, after + 1, (a->of[f->tid].cnt - i - 1) * sizeof(*after));
		a->of[f->tid].cnt--;
		return;
	}
}

static void find_waits(const struct trace *t, struct all_waits *a, struct oracle_waits *ret)
{
	memset(ret, 0, sizeof(*ret));
	memset(a, 0, sizeof(*a));
	for (uint64_t tid = 0; tid < ORACLE_TIDS; tid++)
		a->kind[tid] = kind_of(t, tid);
	for (size_t i = 0; i < t->segments.cnt; i++)
		take_segment(t, &t->segments.items[i], a, ret);
	for (size_t i = 0; i < t->false_wakeups.cnt; i++)
		join(t, &t->false_wakeups.items[i], a, ret);
	for (uint64_t tid = 0; tid < ORACLE_TIDS; tid++)
		for (size_t i = 0; i < a->of[tid].cnt; i++)
			ret->waiting_ns[tid] += a->of[tid].items[i].end_ns - a->of[tid].items[i].start_ns;
}

/* wPerf, figure 4; each thread once on a way. */
static void cascade(const struct all_waits *a, int64_t start_ns, int64_t end_ns, uint64_t tid,
		    uint64_t waker, unsigned int seen, struct oracle_waits *ret)
{
	ret->weight_ns[tid][waker] += end_ns - start_ns;
	if (waker == ORACLE_UNKNOWN || !kind_is_thread(a->kind[waker]) || seen & 1u << waker)
		return;
	for (size_t i = 0; i < a->of[waker].cnt; i++) {
		const struct blocked *b = &a->of[waker].items[i];
		int64_t from_ns = b->start_ns > start_ns ? b->start_ns : start_ns;
		int64_t to_ns = b->end_ns < end_ns ? b->end_ns : end_ns;

		if (from_ns < to_ns)
			cascade(a, from_ns, to_ns, waker, b->waker, seen | 1u << waker, ret);
	}
}

void oracle_waits(const struct trace *t, struct oracle_waits *ret)
{
	struct all_waits a;

	find_waits(t, &a, ret);
	for (uint64_t tid = 0; tid < ORACLE_TIDS; tid++)
		for (size_t i = 0; i < a.of[tid].cnt; i++) {
			const struct blocked *b = &a.of[tid].items[i];

			if (b->idle)
				continue;
			ret->direct_ns[tid][b->waker] += b->end_ns - b->start_ns;
			cascade(&a, b->start_ns, b->end_ns, tid, b->waker, 1u << tid, ret);
		}
	for (uint64_t tid = 0; tid < ORACLE_TIDS; tid++)
		VEC_RELEASE(&a.of[tid]);
}

static const struct blocked *wait_at(const struct all_waits *a, uint64_t tid, int64_t ns)
{
	for (size_t i = 0; i < a->of[tid].cnt; i++)
		if (!a->of[tid].items[i].idle && ns >= a->of[tid].items[i].start_ns &&
		    ns < a->of[tid].items[i].end_ns)
			return &a->of[tid].items[i];
	return NULL;
}

void oracle_waits_counted(const struct trace *t, oracle_counts counts, const void *arg,
			  struct oracle_waits *ret)
{
	struct all_waits a;

	find_waits(t, &a, ret);
	for (int64_t ns = 0; ns < RANDOM_TIME_MAX; ns++)
		for (uint64_t tid = 0; tid < ORACLE_TIDS; tid++) {
			const struct blocked *b = wait_at(&a, tid, ns);
			unsigned int seen = 0;
			uint64_t at = tid;

			if (!b || !counts(arg, b->sid, ns))
				continue;
			ret->direct_ns[tid][b->waker]++;
			while (b && !(seen & 1u << at)) {
				ret->weight_ns[at][b->waker]++;
				seen |= 1u << at;
				at = b->waker;
				if (at == ORACLE_UNKNOWN || !kind_is_thread(a.kind[at]))
					break;
				b = wait_at(&a, at, ns);
			}
		}
	for (uint64_t tid = 0; tid < ORACLE_TIDS; tid++)
		VEC_RELEASE(&a.of[tid]);
}

/* ---- criticality ---- */

/* GAPP's states: a queue has no waker here, so nothing comes after it. */
static bool active_at(const struct trace *t, uint64_t tid, int64_t ns)
{
	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *s = &t->segments.items[i];

		if (s->tid == tid && ns >= s->start_ns && ns < s->end_ns && s->state == STATE_QUEUE)
			return false;
	}
	return kind_is_thread(kind_of(t, tid)) && (state_at(t, tid, ns) == 'r' || state_at(t, tid, ns) == 'q');
}

static int active_cnt(const struct trace *t, int64_t ns)
{
	int cnt = 0;

	for (uint64_t tid = 1; tid < ORACLE_TIDS; tid++)
		cnt += active_at(t, tid, ns);
	return cnt;
}

void oracle_criticality(const struct trace *t, double nmin, struct oracle_criticality *ret)
{
	int cnt[RANDOM_TIME_MAX + 20];

	memset(ret, 0, sizeof(*ret));
	for (int64_t ns = 0; ns < RANDOM_TIME_MAX + 20; ns++) {
		cnt[ns] = active_cnt(t, ns);
		ret->busy_ns += cnt[ns] > 0;
	}
	for (uint64_t tid = 1; tid < ORACLE_TIDS; tid++) {
		double earned = 0, threads = 0;
		int64_t length_ns = 0;

		for (int64_t ns = 0; ns < RANDOM_TIME_MAX + 20; ns++) {
			bool active = active_at(t, tid, ns);

			if (active) {
				earned += 1.0 / cnt[ns];
				threads += cnt[ns];
				length_ns++;
				ret->cmetric_ns[tid] += 1.0 / cnt[ns];
			}
			if (length_ns && (!active || ns == RANDOM_TIME_MAX + 19)) {
				bool critical = threads <= nmin * (double)length_ns ||
						threads <= (double)length_ns;

				ret->slices++;
				ret->critical_slices += critical;
				ret->path_ns += critical ? earned : 0;
				earned = threads = 0;
				length_ns = 0;
			}
		}
	}
}

/* ---- samples ---- */

static enum sample_type type_at(const struct trace *t, const struct segment *s, int64_t point_ns)
{
	const struct wakeup *w = latest(t, s->tid, s->start_ns, s->end_ns);

	if (s->state != STATE_RUNNING && s->state != STATE_RUNNABLE && s->state != STATE_QUEUE &&
	    w && point_ns > w->time_ns)
		return SAMPLE_SCHED;
	switch (s->state) {
	case STATE_RUNNING:
		return SAMPLE_CPU;
	case STATE_RUNNABLE:
		return SAMPLE_SCHED;
	case STATE_IO:
		return SAMPLE_IO;
	case STATE_LOCK: case STATE_COND: case STATE_JOIN: case STATE_QUEUE:
		return SAMPLE_LOCK;
	default:
		return SAMPLE_OTHER;
	}
}

static int64_t first_time(const struct trace *t)
{
	int64_t first_ns = INT64_MAX;

#define FIRST(array, field)								\
	for (size_t i = 0; i < t->array.cnt; i++)					\
		if (t->array.items[i].field < first_ns)					\
			first_ns = t->array.items[i].field
	FIRST(intervals, start_ns);
	FIRST(segments, start_ns);
	FIRST(invocations, start_ns);
	FIRST(wakeups, time_ns);
	FIRST(creations, time_ns);
	FIRST(creations, time2_ns);
	FIRST(false_wakeups, time_ns);
#undef FIRST
	return first_ns;
}

void oracle_samples(const struct trace *t, int64_t period_ns, uint64_t ret[][SAMPLE_TYPE_CNT])
{
	int64_t start_ns = first_time(t);

	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *s = &t->segments.items[i];

		if (!kind_is_thread(kind_of(t, s->tid)))
			continue;
		for (int64_t ns = start_ns; ns <= s->end_ns; ns += period_ns) {
			uint32_t stack[ORACLE_STACK_MAX];
			size_t depth, function = t->functions.cnt;

			if (ns <= s->start_ns)
				continue;
			depth = oracle_stack(t, s->tid, ns - 1, stack);
			if (depth)
				function = t->invocations.items[stack[depth - 1]].function;
			ret[function][type_at(t, s, ns)]++;
		}
	}
}
