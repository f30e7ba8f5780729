/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * off_cpu.c - finds the threads whose accounts disagree with the trace, and condenses the trace of those.
 *
 * Most threads' accounts agree, and nothing more is read.  For the others every record is a moment at which
 * the thread ran.  Moments closer than off_cpu_shortest_ns() are joined as they are read, so what is kept of
 * a thread is as much as its time, not its records, can have.
 */
#include <errno.h>
#include "trace/read/off_cpu.h"

#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/map.h"
#include "base/saturate.h"
#include "trace/blocks.h"
#include "trace/parts.h"
#include "trace/read/replay.h"

enum {
	RECENT_MAX = 4096,
	LEAST_SHARE = 100,
	LATE_PART = 4,
	SETTLE_FROM = 4096,
	CALLS_AT_ONCE = 256,
};

#define ACCOUNT_MAX_NS (INT64_MAX / 4)	/* the largest account of a thread that is accepted; several can be added */
#define EVENT_IDS 0x80000000u		/* above those of calls */

/* A wait whose chunk was written late is left out: the sum only decides whose accounts are examined. */
void waited_add(struct waited *w, uint64_t start, uint64_t end)
{
	while (w->recent.cnt && w->recent.items[w->recent.cnt - 1].start >= start &&
	       w->recent.items[w->recent.cnt - 1].end <= end) {
		w->recent.cnt--;
		w->sum -= w->recent.items[w->recent.cnt].end - w->recent.items[w->recent.cnt].start;
	}
	if (w->recent.cnt && w->recent.items[w->recent.cnt - 1].end > start)
		start = w->recent.items[w->recent.cnt - 1].end;
	if (start >= end)
		return;
	if (w->recent.cnt == RECENT_MAX) {
		w->recent.cnt /= 2;
		memmove(w->recent.items, w->recent.items + w->recent.cnt, w->recent.cnt * sizeof(*w->recent.items));
	}
	VEC_RESERVE(&w->recent);
	w->recent.items[w->recent.cnt].start = start;
	w->recent.items[w->recent.cnt++].end = end;
	w->sum += end - start;
}

void waited_release(struct waited *w)
{
	VEC_RELEASE(&w->recent);
}

/* ---- which threads ---- */

struct finding {
	struct reading *rd;
	struct ruler ruler;
	struct off_cpu_thread *threads;
};

static int by_time(const void *a, const void *b)
{
	const struct raw_account *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->run_ns > y->run_ns) - (x->run_ns < y->run_ns);
}

/*
 * The time in the run queue at the last account, including the part that the kernel has not added yet: a
 * thread that is ready to run, got no CPU between two accounts, and computed less than the time between them,
 * is waiting for a CPU.
 */
static uint64_t delay_so_far(const struct raw_account *a, size_t last)
{
	size_t first = last;
	int64_t ns;

	while (first && !a[first].is_off && !a[first - 1].is_off && !a[first - 1].is_own && a[first - 1].slices == a[last].slices)
		first--;
	ns = a[last].ns - a[first].ns - (int64_t)(a[last].run_ns - a[first].run_ns);
	ns = sum_saturated((int64_t)a[last].delay_ns, ns > off_cpu_tick_ns ? ns : 0);
	return (uint64_t)(ns < ACCOUNT_MAX_NS ? ns : ACCOUNT_MAX_NS);
}

/*
 * If a thread's own accounts say that it never left its CPU to wait, it was in the run queue whenever it was
 * off, whatever the kernel has added so far.  Accounts from outside may lag, so that the thread seems to have
 * been off for longer than it was.
 */
static void queue_what_never_slept(struct raw_account *a, size_t cnt)
{
	uint64_t most_ns = ACCOUNT_MAX_NS;

	if (cnt < 2 || !a[0].is_own || !a[cnt - 1].is_own || !a[0].left_cnt || a[0].left_cnt != a[cnt - 1].left_cnt)
		return;
	for (size_t i = cnt; i-- > 0; most_ns = a[i].delay_ns) {
		uint64_t ns = (uint64_t)(a[i].ns - a[0].ns), ran_ns = a[i].run_ns - a[0].run_ns;

		a[i].delay_ns = ns < ran_ns ? 0 : ns - ran_ns < most_ns ? ns - ran_ns : most_ns;
	}
}

/* An account that decreases is damaged, or belongs to another thread with the same number. */
static void order_accounts(struct off_cpu_thread *t)
{
	struct raw_account *a = t->accounts.items;
	size_t cnt = 0;

	if (t->accounts.cnt)
		qsort(a, t->accounts.cnt, sizeof(*a), by_time);
	for (size_t i = 0; i < t->accounts.cnt; i++) {
		struct raw_account now = a[i];
		const struct raw_account *last = cnt ? &a[cnt - 1] : NULL;

		if (now.run_ns > ACCOUNT_MAX_NS || now.delay_ns > ACCOUNT_MAX_NS || (last && now.ns == last->ns))
			continue;
		if (last && now.is_own) {
			now.delay_ns = delay_so_far(a, cnt - 1);
			now.slices = last->slices;
		}
		if (last && (now.delay_ns < last->delay_ns || now.slices < last->slices))
			continue;
		/* An account of a running thread, read from outside, lags. */
		if (last && now.run_ns < last->run_ns)
			now.run_ns = last->run_ns;
		a[cnt++] = now;
	}
	t->accounts.cnt = cnt;
	/* A thread's own first account has no run-queue time; the next account, from outside, supplies it. */
	if (cnt > 1 && a[0].is_own && !a[1].is_own) {
		a[0].delay_ns = a[1].delay_ns;
		a[0].slices = a[1].slices;
	}
	queue_what_never_slept(a, cnt);
}

/* Whether the thread waited for a CPU so long, and not in running time, that its waits must contain some of it. */
static bool waits_are_late(const struct off_cpu_thread *t, int64_t told_ns)
{
	const struct raw_account *first = &t->accounts.items[0], *last = &t->accounts.items[t->accounts.cnt - 1];
	int64_t run_ns = (int64_t)(last->run_ns - first->run_ns), delay_ns = (int64_t)(last->delay_ns - first->delay_ns);
	int64_t queued_ns = told_ns > run_ns ? delay_ns - (told_ns - run_ns) : delay_ns;

	return queued_ns > off_cpu_tick_ns && queued_ns > (run_ns + delay_ns) / LATE_PART;
}

static bool is_wanted(const struct off_cpu_thread *t, int64_t waited_ns)
{
	const struct raw_account *first, *last;
	int64_t told_ns, least_ns;

	if (t->accounts.cnt < 2)
		return false;
	first = &t->accounts.items[0];
	last = &t->accounts.items[t->accounts.cnt - 1];
	told_ns = last->ns - first->ns - waited_ns;
	if (waits_are_late(t, told_ns > 0 ? told_ns : 0))
		return true;
	if (told_ns <= 0)
		return false;
	least_ns = account_is_exact(first) && account_is_exact(last) ? off_cpu_tick_ns / 8 : off_cpu_tick_ns * 3 / 4;
	return told_ns - (int64_t)(last->run_ns - first->run_ns) > least_ns + told_ns / LEAST_SHARE;
}

/* The last account from outside, else the first of all: the thread's own later ones have no run-queue time. */
static const struct raw_account *last_look(const struct off_cpu_thread *t)
{
	size_t at = t->accounts.cnt - 1;

	while (at && t->accounts.items[at].is_own)
		at--;
	return &t->accounts.items[at];
}

/* Limits a guess to the largest account. */
static uint64_t guessed(double ns)
{
	return ns < (double)ACCOUNT_MAX_NS ? (uint64_t)(ns > 0 ? ns : 0) : ACCOUNT_MAX_NS;
}

/* From the last look at a thread to its end it waited for a CPU as long as the run's threads did elsewhere for the same work. */
static void guess_delays(struct finding *f)
{
	struct off_cpu *sum = &f->rd->t->off_cpu;

	for (size_t i = 0; i < f->rd->raw.threads.cnt; i++) {
		const struct off_cpu_thread *t = &f->threads[i];

		if (t->accounts.cnt < 2)
			continue;
		sum->run_ns = unsigned_sum_saturated(sum->run_ns, last_look(t)->run_ns - t->accounts.items[0].run_ns);
		sum->delay_ns = unsigned_sum_saturated(sum->delay_ns, last_look(t)->delay_ns - t->accounts.items[0].delay_ns);
	}
	for (size_t i = 0; sum->run_ns && i < f->rd->raw.threads.cnt; i++) {
		struct off_cpu_thread *t = &f->threads[i];
		struct raw_account *last = t->accounts.cnt >= 2 ? &t->accounts.items[t->accounts.cnt - 1] : NULL;
		const struct raw_account *from = last ? last_look(t) : NULL;
		double ran_ns, off_ns, delay_ns;

		if (!last || from == last)
			continue;
		ran_ns = (double)(last->run_ns - from->run_ns);
		off_ns = (double)(last->ns - from->ns) - ran_ns - (double)(last->delay_ns - from->delay_ns);
		delay_ns = ran_ns * (double)sum->delay_ns / (double)sum->run_ns;
		delay_ns = delay_ns < off_ns ? delay_ns : off_ns;
		last->delay_ns += guessed(delay_ns);
	}
}

/* Keeps the accounts that reach further, if two stacks have accounts of their thread. */
static void keep_better(struct off_cpu_thread *leader, struct off_cpu_thread *t)
{
	const struct raw_account *a = leader->accounts.items, *b = t->accounts.items;
	int64_t had_ns = leader->accounts.cnt ? a[leader->accounts.cnt - 1].ns - a[0].ns : -1;
	int64_t has_ns = t->accounts.cnt ? b[t->accounts.cnt - 1].ns - b[0].ns : -1;

	if (has_ns > had_ns) {
		VEC_RELEASE(&leader->accounts);
		leader->accounts.items = TAKE_PTR(t->accounts.items);
		leader->accounts.cnt = t->accounts.cnt;
		leader->accounts.cap = t->accounts.cap;
		t->accounts.cap = 0;
	}
	t->accounts.cnt = 0;
}

/* Several stacks of one thread (runtime/stacks.h) have one account.  They are treated as one, and the time
 * off the CPU applies to whichever stack was on. */
static void join_stacks(struct finding *f, const uint64_t *waited_ns)
{
	_cleanup_(map_freep) struct map *leaders = map_new();

	for (uint32_t i = 0; i < f->rd->raw.threads.cnt; i++) {
		const struct raw_thread *r = &f->rd->raw.threads.items[i];
		uint64_t *known = map_slot(leaders, r->kernel_tid);
		struct off_cpu_thread *t = &f->threads[i], *leader = *known ? &f->threads[*known - 1] : NULL;

		t->leader = i;
		t->first_ns = r->first_ns;
		t->last_ns = r->last_ns;
		t->waited_ns = waited_ns[i] < INT64_MAX ? (int64_t)waited_ns[i] : INT64_MAX;
		if (!leader || leader->first_ns >= r->last_ns || r->first_ns >= leader->last_ns) {
			*known = i + 1;
			continue;
		}
		t->leader = (uint32_t)(*known - 1);
		leader->has_others = true;
		leader->first_ns = r->first_ns < leader->first_ns ? r->first_ns : leader->first_ns;
		leader->last_ns = r->last_ns > leader->last_ns ? r->last_ns : leader->last_ns;
		leader->waited_ns = sum_saturated(leader->waited_ns, t->waited_ns);
		keep_better(leader, t);
	}
}

/* Where stacks change threads, it is unknown which of them a thread's account describes. */
static void leave_unplaced(struct finding *f)
{
	__int128 off_ns = 0;

	for (size_t i = 0; f->rd->raw.has_moves && i < f->rd->raw.threads.cnt; i++) {
		struct off_cpu_thread *t = &f->threads[i];
		const struct raw_account *first = t->accounts.items, *last;

		if (!t->has_others || t->accounts.cnt < 2)
			continue;
		last = first + t->accounts.cnt - 1;
		off_ns += (__int128)last->ns - first->ns - (int64_t)(last->run_ns - first->run_ns) -
			  (int64_t)(last->delay_ns - first->delay_ns) - t->waited_ns;
		t->accounts.cnt = 0;
	}
	if (off_ns > off_cpu_tick_ns)
		f->rd->t->off_cpu.unplaced_ns = unsigned_sum_saturated(f->rd->t->off_cpu.unplaced_ns,
								       (uint64_t)narrow_saturated(off_ns));
}

static bool want_threads(struct finding *f, const uint64_t *waited_ns)
{
	struct raw *r = &f->rd->raw;
	bool any = false;

	for (size_t i = 0; i < r->accounts.cnt; i++) {
		struct raw_account a = r->accounts.items[i];
		uint32_t thread = raw_find_thread(r, a.serial);

		if (thread == UINT32_MAX)
			continue;
		a.ns = ruler_ns(&f->ruler, (uint64_t)a.ns);
		if (a.ns < r->from_ns)
			continue;
		VEC_ADD(&f->threads[thread].accounts, a);
	}
	for (size_t i = 0; i < r->threads.cnt; i++)
		order_accounts(&f->threads[i]);
	join_stacks(f, waited_ns);
	leave_unplaced(f);
	guess_delays(f);
	for (size_t i = 0; i < r->threads.cnt; i++) {
		struct off_cpu_thread *t = &f->threads[i];

		t->is_wanted = is_wanted(t, t->waited_ns);
		any |= t->is_wanted;
		if (!t->is_wanted)
			VEC_RELEASE(&t->accounts);
	}
	return any;
}

/* ---- what the trace says of them ---- */

static int by_start(const void *a, const void *b)
{
	const struct busy *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static size_t join(struct busy *list, size_t cnt, int64_t apart_ns)
{
	size_t to = 0;

	if (cnt)
		qsort(list, cnt, sizeof(*list), by_start);
	for (size_t i = 0; i < cnt; i++) {
		struct busy *last = to ? &list[to - 1] : NULL;

		if (!last || list[i].start_ns - last->end_ns >= apart_ns) {
			list[to++] = list[i];
		} else if (list[i].end_ns >= last->end_ns) {
			last->end_ns = list[i].end_ns;
			last->last = list[i].last;
		}
	}
	return to;
}

void off_cpu_settle(struct off_cpu_thread *t)
{
	t->busy.cnt = t->settled_cnt = join(t->busy.items, t->busy.cnt, off_cpu_shortest_ns());
	t->waits.cnt = join(t->waits.items, t->waits.cnt, 1);
}

static void add_busy(struct off_cpu_thread *t, int64_t start_ns, int64_t end_ns, uint32_t first, uint32_t last)
{
	VEC_ADD(&t->busy, (struct busy){ start_ns, end_ns, first, last });
	if (t->busy.cnt > SETTLE_FROM + 2 * t->settled_cnt)
		t->busy.cnt = t->settled_cnt = join(t->busy.items, t->busy.cnt, off_cpu_shortest_ns());
}

static void add_call(struct finding *f, struct off_cpu_thread *t, const struct raw_call *c)
{
	int64_t start_ns = ruler_ns(&f->ruler, c->start), end_ns = ruler_ns(&f->ruler, c->end);

	if (end_ns - start_ns < off_cpu_shortest_ns()) {
		add_busy(t, start_ns, end_ns > start_ns ? end_ns : start_ns, c->fid << 1, c->fid << 1 | 1);
		return;
	}
	add_busy(t, start_ns, start_ns, c->fid << 1, c->fid << 1);
	add_busy(t, end_ns, end_ns, c->fid << 1 | 1, c->fid << 1 | 1);
}

/* A waker outside the run, and a time-out, are logged as the wait ends. */
static struct off_cpu_wait told_wait(struct finding *f, const struct raw_record *r, int64_t start_ns, int64_t end_ns)
{
	bool is_stamped = r->words[3] && r->words[4] > r->ticks && r->words[4] < r->words[0];

	return (struct off_cpu_wait){ start_ns, end_ns, is_stamped ? ruler_ns(&f->ruler, r->words[4]) : 0,
				      hash_u64(hash_u64(r->polls, r->words[1]), r->caller) };
}

static void add_event(struct finding *f, struct off_cpu_thread *t, const struct raw_record *r)
{
	uint32_t id = EVENT_IDS + r->kind;
	int64_t start_ns = ruler_ns(&f->ruler, r->ticks), end_ns = start_ns;

	if (r->kind == EVENT_FRAME) {
		add_call(f, t, &(struct raw_call){ r->ticks, r->words[0], (uint32_t)r->words[1] });
		return;
	}
	if (is_own_wait(r->kind, r->words) && r->words[0] > r->ticks) {
		end_ns = ruler_ns(&f->ruler, r->words[0]);
		VEC_ADD(&t->waits, (struct busy){ start_ns, end_ns, id, id });
		if (end_ns - start_ns >= off_cpu_shortest_ns())
			VEC_ADD(&t->told, told_wait(f, r, start_ns, end_ns));
	}
	if (r->kind != EVENT_LOSS)	/* another thread logged it */
		add_busy(t, start_ns, end_ns, id, id);
}

static void read_chunk(struct finding *f, struct decoder *d, const struct raw_chunk *c)
{
	uint32_t thread = raw_find_thread(&f->rd->raw, c->serial);
	struct off_cpu_thread *leader = thread == UINT32_MAX ? NULL : &f->threads[f->threads[thread].leader];
	struct off_cpu_thread *t = leader && leader->is_wanted ? leader : NULL;
	struct raw_call calls[CALLS_AT_ONCE];
	uint64_t before = 0;

	for (uint64_t left = c->cnt; left && !d->bad; ) {
		size_t cnt = raw_decode_calls(d, &before, calls, left < CALLS_AT_ONCE ? left : CALLS_AT_ONCE);
		struct raw_record r;

		for (size_t i = 0; t && i < cnt; i++)
			add_call(f, t, &calls[i]);
		left -= cnt ? cnt : 1;
		if (cnt)
			continue;
		raw_decode_record(d, &before, &r);
		if (!d->bad && t && r.kind == EVENT_NONE)
			add_call(f, t, &(struct raw_call){ r.ticks, r.words[0], r.fid });
		else if (!d->bad && t)
			add_event(f, t, &r);
	}
}

/* A file without a whole block is a hole; raw_read() has reported it. */
static int read_file(struct finding *f, const char *path, struct map *seen, struct diag *reterr)
{
	struct blocks b;
	int err = blocks_open(&b, path, TRACE_MAGIC, TRACE_VERSION, reterr);

	blocks_share_seen(&b, seen);
	while (!err && blocks_next(&b, &err, reterr)) {
		struct decoder d = { b.plain, b.plain + b.len, false };
		struct raw_chunk c;

		while (b.kind == BLOCK_CHUNKS && !d.bad && decode_left(&d) && raw_decode_chunk(&d, &c))
			read_chunk(f, &d, &c);
	}
	blocks_close(&b);
	return err == -EBADMSG ? 0 : err;
}

static int read_all(struct finding *f, const char *path, struct diag *reterr)
{
	size_t cnt;
	_cleanup_(trace_parts_release) char **parts = trace_parts(path, &cnt);
	_cleanup_(map_freep) struct map *seen = map_new();
	int err = 0;

	for (size_t i = 0; !err && i < cnt; i++)
		err = read_file(f, parts[i], seen, reterr);
	return err ? err : read_file(f, path, seen, reterr);
}

/* ---- the result ---- */

static void add_sums(struct reading *rd, struct off_cpu_thread *t)
{
	struct off_cpu *sum = &rd->t->off_cpu;

	for (size_t i = 0; i < t->spans.cnt; i++) {
		uint64_t *to = t->spans.items[i].state == STATE_OTHER ? &sum->placed_ns : &sum->runnable_ns;

		*to = unsigned_sum_saturated(*to, (uint64_t)(t->spans.items[i].end_ns - t->spans.items[i].start_ns));
	}
	sum->unplaced_ns = unsigned_sum_saturated(sum->unplaced_ns, (uint64_t)t->unplaced_ns);
}

static int64_t waited_ns(const struct off_cpu_thread *t)
{
	int64_t sum = 0;

	for (size_t i = 0; i < t->waits.cnt; i++)
		sum += t->waits.items[i].end_ns - t->waits.items[i].start_ns;
	return sum;
}

static void *copy(const void *items, size_t cnt, size_t size)
{
	return cnt ? memcpy(xmalloc(cnt * size), items, cnt * size) : NULL;
}

/* Copies the spans of the stacks' thread: they count on the stack that it ran on. */
static void take_over_spans(struct finding *f, uint32_t i)
{
	const struct spans *from = &f->rd->offs[f->threads[i].leader];
	struct spans *to = &f->rd->offs[i];

	to->items = copy(from->items, from->cnt, sizeof(*to->items));
	to->cnt = from->cnt;
	to->wakes = copy(from->wakes, from->wake_cnt, sizeof(*to->wakes));
	to->wake_cnt = from->wake_cnt;
}

/* Finds the threads whose accounts disagree: first by what was collected in passing, then by the whole trace. */
static void see_all(struct finding *f, struct off_cpu_seen *seen, struct off_cpu_kinds *kinds)
{
	for (size_t i = 0; i < f->rd->raw.threads.cnt; i++) {
		struct off_cpu_thread *t = &f->threads[i];

		if (!t->is_wanted)
			continue;
		off_cpu_settle(t);
		t->is_wanted = is_wanted(t, waited_ns(t));
		if (!t->is_wanted)
			continue;
		off_cpu_see(t, seen);
		off_cpu_see_waits(t, kinds);
	}
	off_cpu_measure_waits(kinds);
}

static void place_all(struct finding *f)
{
	struct off_cpu_seen seen = { .looks = map_new(), .asleep = map_new() };
	struct off_cpu_kinds kinds = { .places = map_new() };
	size_t cnt = f->rd->raw.threads.cnt;
	bool kernel_knows = f->rd->options && f->rd->options->kernel_knows;	/* all but the wakes */

	f->rd->offs = xcalloc(cnt + 1, sizeof(*f->rd->offs));
	see_all(f, &seen, &kinds);
	for (size_t i = 0; i < cnt; i++) {
		struct off_cpu_thread *t = &f->threads[i];

		if (!t->is_wanted)
			continue;
		off_cpu_place(t, &seen, &kinds);
		if (!kernel_knows) {
			add_sums(f->rd, t);
			f->rd->offs[i].items = TAKE_PTR(t->spans.items);
			f->rd->offs[i].cnt = t->spans.cnt;
		}
		f->rd->offs[i].wakes = TAKE_PTR(t->wakes.items);
		f->rd->offs[i].wake_cnt = t->wakes.cnt;
	}
	for (uint32_t i = 0; i < cnt; i++)
		if (f->threads[i].leader != i)
			take_over_spans(f, i);
	map_free(seen.looks);
	map_free(seen.asleep);
	off_cpu_kinds_release(&kinds);
}

int off_cpu_find(struct reading *rd, const char *path, const uint64_t *waited_ns, struct diag *reterr)
{
	struct finding f = { .rd = rd };
	int err = 0;

	if (!rd->raw.accounts.cnt || rd->raw.anchors.cnt < 2 || !rd->raw.threads.cnt)
		return 0;
	if (ruler_init(&f.ruler, &rd->raw, true, path, reterr) < 0 || !f.ruler.cnt)
		return 0;
	f.threads = xcalloc(rd->raw.threads.cnt, sizeof(*f.threads));
	if (want_threads(&f, waited_ns)) {
		err = read_all(&f, path, reterr);
		if (!err)
			place_all(&f);
	}
	for (size_t i = 0; i < rd->raw.threads.cnt; i++) {
		VEC_RELEASE(&f.threads[i].accounts);
		VEC_RELEASE(&f.threads[i].busy);
		VEC_RELEASE(&f.threads[i].waits);
		VEC_RELEASE(&f.threads[i].spans);
		VEC_RELEASE(&f.threads[i].told);
		VEC_RELEASE(&f.threads[i].wakes);
	}
	free(f.threads);
	VEC_RELEASE(&rd->raw.accounts);
	return err;
}
