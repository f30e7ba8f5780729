/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model.c - the trace in memory: made empty, put into order, freed.
 *
 * Order is what makes results independent of how a trace was written: two files with the same lines,
 * shuffled, sort to the same arrays.  Example: segments "2 0 5" and "1 3 9" (tid, start, end) sort to "1 3
 * 9", "2 0 5".  Only one thing depends on the order of the input: of invocations with equal spans, the first
 * to appear is the outer one.
 */
#include "trace/model.h"

#include <string.h>
#include "base/map.h"
#include "base/banned.h"
#include "base/search.h"

static const char *const state_names[STATE_CNT] = {
#define X(id, name) [STATE_##id] = name,
	TRACE_STATES(X)
#undef X
};

const char *trace_state_name(enum trace_state state)
{
	return (unsigned int)state < STATE_CNT ? state_names[state] : "other";
}

bool trace_state_parse(const char *name, enum trace_state *ret)
{
	for (int i = 0; i < STATE_CNT; i++) {
		if (strcmp(name, state_names[i]) == 0) {
			*ret = (enum trace_state)i;
			return true;
		}
	}
	return false;
}

static const char *const kind_names[KIND_CNT] = {
#define X(id, name) [KIND_##id] = name,
	TRACE_THREAD_KINDS(X)
#undef X
};

const char *thread_kind_name(enum thread_kind kind)
{
	return (unsigned int)kind < KIND_CNT ? kind_names[kind] : "thread";
}

bool thread_kind_parse(const char *name, enum thread_kind *ret)
{
	for (int i = 0; i < KIND_CNT; i++) {
		if (strcmp(name, kind_names[i]) == 0) {
			*ret = (enum thread_kind)i;
			return true;
		}
	}
	return false;
}

static const char *const sync_kinds[] = {
	[SYNC_TAKE] = "take", [SYNC_SHARE] = "share", [SYNC_GIVE] = "give", [SYNC_POST] = "post", [SYNC_MEET] = "meet",
};

const char *sync_kind_name(enum sync_kind kind)
{
	return sync_kinds[kind];
}

bool sync_kind_parse(const char *name, enum sync_kind *ret)
{
	for (unsigned int i = 0; i < sizeof(sync_kinds) / sizeof(sync_kinds[0]); i++)
		if (strcmp(name, sync_kinds[i]) == 0) {
			*ret = (enum sync_kind)i;
			return true;
		}
	return false;
}

struct trace *trace_new(void)
{
	struct trace *t = xcalloc(1, sizeof(*t));

	t->arena = arena_new();
	return t;
}

void trace_free(struct trace *t)
{
	if (!t)
		return;
	VEC_RELEASE(&t->interval_names);
	VEC_RELEASE(&t->call_sites);
	VEC_RELEASE(&t->task_names);
	VEC_RELEASE(&t->work_names);
	VEC_RELEASE(&t->call_stacks);
	VEC_RELEASE(&t->sync_objects);
	VEC_RELEASE(&t->sync_ops);
	VEC_RELEASE(&t->functions);
	VEC_RELEASE(&t->intervals);
	VEC_RELEASE(&t->segments);
	VEC_RELEASE(&t->invocations);
	VEC_RELEASE(&t->wakeups);
	VEC_RELEASE(&t->creations);
	VEC_RELEASE(&t->calls);
	VEC_RELEASE(&t->works);
	VEC_RELEASE(&t->ids);
	VEC_RELEASE(&t->remote_calls);
	VEC_RELEASE(&t->threads);
	VEC_RELEASE(&t->false_wakeups);
	VEC_RELEASE(&t->stack_spans);
	VEC_RELEASE(&t->aways);
	VEC_RELEASE(&t->callers);
	VEC_RELEASE(&t->chains);
	VEC_RELEASE(&t->samples);
	VEC_RELEASE(&t->requests);
	VEC_RELEASE(&t->shifts);
	VEC_RELEASE(&t->blocks);
	VEC_RELEASE(&t->origins);
	VEC_RELEASE(&t->pairings);
	VEC_RELEASE(&t->cpu_use.users);
	arena_free(t->arena);
	free(t);
}

void trace_borrow_names(struct trace *window, const struct trace *from)
{
	window->interval_names = from->interval_names;
	window->call_sites = from->call_sites;
	window->task_names = from->task_names;
	window->work_names = from->work_names;
	window->functions.items = from->functions.items;
	window->functions.cnt = from->functions.cnt;
	window->look = from->look;
	window->from_arrival = from->from_arrival;
}

void trace_return_names(struct trace *window)
{
	const struct trace none = { .arena = NULL };

	trace_borrow_names(window, &none);
}

void trace_copy_devices(struct trace *window, const struct trace *from)
{
	window->threads.cnt = 0;
	for (size_t i = 0; i < from->threads.cnt; i++)
		if (from->threads.items[i].kind != KIND_THREAD)
			VEC_ADD(&window->threads, from->threads.items[i]);
}

/* One key of an order: says which is first and returns, or goes on to the next key. */
#define BY(x, y)			\
	do {				\
		if ((x) != (y))		\
			return (x) < (y) ? -1 : 1; \
	} while (0)

static int compare_intervals(const void *pa, const void *pb)
{
	const struct interval *a = pa, *b = pb;

	BY(a->start_ns, b->start_ns);
	BY(a->sid, b->sid);
	return 0;
}

static int compare_segments(const void *pa, const void *pb)
{
	const struct segment *a = pa, *b = pb;

	BY(a->tid, b->tid);
	BY(a->start_ns, b->start_ns);
	BY(a->end_ns, b->end_ns);
	BY(a->sid, b->sid);
	BY(a->state, b->state);
	return 0;
}

int compare_invocations(const void *pa, const void *pb)
{
	const struct invocation *a = pa, *b = pb;

	BY(a->tid, b->tid);
	BY(a->start_ns, b->start_ns);
	BY(b->end_ns, a->end_ns);
	BY(a->order, b->order);
	return 0;
}

static int compare_wakeups(const void *pa, const void *pb)
{
	const struct wakeup *a = pa, *b = pb;

	BY(a->tid, b->tid);
	BY(a->time_ns, b->time_ns);
	BY(a->waker_tid, b->waker_tid);
	return 0;
}

static int compare_creations(const void *pa, const void *pb)
{
	const struct creation *a = pa, *b = pb;

	BY(a->tid2, b->tid2);
	BY(a->time2_ns, b->time2_ns);
	BY(a->time_ns, b->time_ns);
	BY(a->tid, b->tid);
	BY(a->task, b->task);
	BY(a->sid, b->sid);
	BY(a->peer, b->peer);
	return 0;
}

static int compare_samples(const void *pa, const void *pb)
{
	const struct stack_sample *a = pa, *b = pb;

	BY(a->tid, b->tid);
	BY(a->ns, b->ns);
	BY(a->chain, b->chain);
	return 0;
}

static int compare_requests(const void *pa, const void *pb)
{
	const struct request *a = pa, *b = pb;

	BY(a->sid, b->sid);
	return 0;
}

static int compare_calls(const void *pa, const void *pb)
{
	const struct call *a = pa, *b = pb;

	BY(a->caller, b->caller);
	BY(a->callee, b->callee);
	BY(a->call_site, b->call_site);
	return 0;
}

static int compare_works(const void *pa, const void *pb)
{
	const struct work *a = pa, *b = pb;

	BY(a->sid, b->sid);
	BY(a->name, b->name);
	BY(a->value, b->value);
	return 0;
}

static int compare_ids(const void *pa, const void *pb)
{
	const struct interval_ids *a = pa, *b = pb;

	BY(a->sid, b->sid);
	BY(a->trace[0], b->trace[0]);
	BY(a->trace[1], b->trace[1]);
	BY(a->span, b->span);
	BY(a->parent, b->parent);
	return 0;
}

static int compare_remote_calls(const void *pa, const void *pb)
{
	const struct remote_call *a = pa, *b = pb;

	BY(a->tid, b->tid);
	BY(a->time_ns, b->time_ns);
	BY(a->span, b->span);
	return 0;
}

static int compare_threads(const void *pa, const void *pb)
{
	const struct thread_name *a = pa, *b = pb;

	BY(a->tid, b->tid);
	BY(a->pid, b->pid);
	BY(a->kind, b->kind);
	BY(a->open_end, b->open_end);
	return strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

static int compare_stack_spans(const void *pa, const void *pb)
{
	const struct stack_span *a = pa, *b = pb;

	BY(a->tid, b->tid);
	BY(a->start_ns, b->start_ns);
	BY(a->end_ns, b->end_ns);
	return 0;
}

static int compare_aways(const void *pa, const void *pb)
{
	const struct away *a = pa, *b = pb;

	BY(a->tid, b->tid);
	BY(a->start_ns, b->start_ns);
	BY(a->end_ns, b->end_ns);
	return 0;
}

static int compare_false_wakeups(const void *pa, const void *pb)
{
	const struct false_wakeup *a = pa, *b = pb;

	BY(a->tid, b->tid);
	BY(a->time_ns, b->time_ns);
	return 0;
}

static int compare_sync_ops(const void *pa, const void *pb)
{
	const struct sync_op *a = pa, *b = pb;

	BY(a->tid, b->tid);
	BY(a->ns, b->ns);
	BY(a->order, b->order);
	return 0;
}

typedef int (*comparison)(const void *, const void *);

/* An array that is already sorted, as most arrays of a recorded trace are, costs one comparison for each item. */
static void sort_array(void *items, size_t cnt, size_t size, comparison compare)
{
	const char *p = items;

	for (size_t i = 1; i < cnt; i++, p += size) {
		if (compare(p, p + size) > 0) {
			qsort(items, cnt, size, compare);
			return;
		}
	}
}

static uint64_t tid_at(const char *items, size_t i, size_t size, size_t tid_offset)
{
	uint64_t tid;

	memcpy(&tid, items + i * size + tid_offset, sizeof(tid));
	return tid;
}

struct thread_share {			/* of an array: how many items, and where they go */
	uint64_t tid;
	size_t cnt, next;
};

static int compare_shares(const void *pa, const void *pb)
{
	const struct thread_share *a = pa, *b = pb;

	BY(a->tid, b->tid);
	return 0;
}

/* Brings each thread's items together, in ascending order of threads, else as they were. */
static void gather_threads(char *items, size_t cnt, size_t size, size_t tid_offset)
{
	_cleanup_(map_freep) struct map *number_of_tid = map_new();
	_cleanup_(freep) char *gathered = xmalloc(cnt * size);
	VEC(struct thread_share) shares = { NULL, 0, 0 };
	size_t at = 0;

	for (size_t i = 0; i < cnt; i++) {
		uint64_t tid = tid_at(items, i, size, tid_offset);
		uint64_t *number = map_slot(number_of_tid, tid);

		if (*number == 0) {
			VEC_ADD(&shares, (struct thread_share) { .tid = tid });
			*number = shares.cnt;
		}
		shares.items[*number - 1].cnt++;
	}
	qsort(shares.items, shares.cnt, sizeof(*shares.items), compare_shares);
	for (size_t n = 0; n < shares.cnt; n++) {
		map_set(number_of_tid, shares.items[n].tid, n);
		shares.items[n].next = at;
		at += shares.items[n].cnt;
	}
	for (size_t i = 0; i < cnt; i++) {
		uint64_t n = *map_slot(number_of_tid, tid_at(items, i, size, tid_offset));

		memcpy(gathered + shares.items[n].next++ * size, items + i * size, size);
	}
	memcpy(items, gathered, cnt * size);
	VEC_RELEASE(&shares);
}

/*
 * The first key is the thread.  Most traces are in order of time for each thread; then it is enough to gather
 * each thread's items, which looks at each item a few times only.
 */
static void sort_by_thread(void *items, size_t cnt, size_t size, size_t tid_offset,
			   comparison compare)
{
	char *p = items;
	size_t first = 0;

	for (size_t i = 1; i < cnt; i++)
		if (compare(p + (i - 1) * size, p + i * size) > 0) {
			gather_threads(p, cnt, size, tid_offset);
			break;
		}
	for (size_t i = 1; i <= cnt; i++) {
		if (i < cnt && tid_at(p, i, size, tid_offset) == tid_at(p, first, size, tid_offset))
			continue;
		sort_array(p + first * size, i - first, size, compare);
		first = i;
	}
}

#define SORT(v, compare) sort_array((v)->items, (v)->cnt, sizeof(*(v)->items), compare)
#define SORT_BY_THREAD(v, tid_field, compare)						\
	sort_by_thread((v)->items, (v)->cnt, sizeof(*(v)->items),			\
		       offsetof(__typeof__(*(v)->items), tid_field), compare)

void trace_sort(struct trace *t)
{
	trace_sort_events(t);
	SORT_BY_THREAD(&t->invocations, tid, compare_invocations);
}

void trace_sort_events(struct trace *t)
{
	SORT(&t->intervals, compare_intervals);
	SORT_BY_THREAD(&t->segments, tid, compare_segments);
	SORT_BY_THREAD(&t->wakeups, tid, compare_wakeups);
	SORT_BY_THREAD(&t->creations, tid2, compare_creations);
	SORT(&t->calls, compare_calls);
	SORT(&t->works, compare_works);
	SORT(&t->ids, compare_ids);
	SORT(&t->remote_calls, compare_remote_calls);
	SORT(&t->threads, compare_threads);
	SORT(&t->false_wakeups, compare_false_wakeups);
	SORT(&t->aways, compare_aways);
	SORT_BY_THREAD(&t->stack_spans, tid, compare_stack_spans);
	SORT_BY_THREAD(&t->samples, tid, compare_samples);
	SORT_BY_THREAD(&t->sync_ops, tid, compare_sync_ops);
	SORT(&t->requests, compare_requests);
}

uint32_t trace_add_string(struct trace *t, strings *list, const char *text)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (strcmp(list->items[i], text) == 0)
			return (uint32_t)i;
	VEC_ADD(list, arena_strdup(t->arena, text));
	return (uint32_t)(list->cnt - 1);
}

static bool is_idle(const struct segment *s)
{
	return s->state == STATE_IO && s->sid == SID_NONE;
}

static bool has_idle(const struct trace *t)
{
	for (size_t i = 0; i < t->segments.cnt; i++)
		if (is_idle(&t->segments.items[i]))
			return true;
	return false;
}

/* For each place in the list of segments: one more than the last idle segment of the same thread before it; 0: there is none. */
static size_t *last_idle(const struct trace *t)
{
	const struct segment *s = t->segments.items;
	size_t *ret = xcalloc(t->segments.cnt + 1, sizeof(*ret));

	for (size_t i = 1; i <= t->segments.cnt; i++)
		ret[i] = is_idle(&s[i - 1]) ? i :
			 i > 1 && s[i - 2].tid == s[i - 1].tid ? ret[i - 1] : 0;
	return ret;
}

void trace_find_idle(struct trace *t)
{
	const struct segment *s = t->segments.items;
	_cleanup_(freep) size_t *idle = NULL;

	if (t->pairings.cnt || !t->intervals.cnt || !has_idle(t))
		return;
	idle = last_idle(t);
	for (size_t i = 0; i < t->intervals.cnt; i++) {
		struct interval *v = &t->intervals.items[i];
		size_t at = partition_point(k, t->segments.cnt, s[k].tid < v->start_tid ||
					    (s[k].tid == v->start_tid && s[k].start_ns < v->start_ns));
		size_t found = at > 0 && s[at - 1].tid == v->start_tid ? idle[at] : 0;

		if (found && s[found - 1].end_ns <= v->start_ns)
			v->idle_ns = s[found - 1].end_ns;
	}
}
