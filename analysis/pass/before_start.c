/* SPDX-License-Identifier: GPL-3.0-or-later */
/* before_start.c - see before_start.h. */
#include "analysis/pass/before_start.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/search.h"
#include "base/map.h"
#include "base/order.h"

#define UNKNOWN_MANY .1			/* of the intervals: these make the latencies a mixture */

struct function_sums {
	uint32_t function;		/* FUNCTION_NONE: none */
	double x, xb;			/* sums of its time, and of that times the whole time before */
	int64_t row_ns;
	bool in_row;
};

struct before_sums {
	VEC(int64_t) times_ns;		/* of each interval: time before */
	struct map *index_of;		/* function + 1 -> index in functions + 1 */
	VEC(struct function_sums) functions;
	VEC(uint32_t) touched;
	uint64_t unknown_cnt;		/* intervals whose arrival is not known, where others' are */
	double n, b, bb;		/* of the intervals that functions are known of */
};

struct before_sums *before_sums_new(void)
{
	struct before_sums *s = xcalloc(1, sizeof(*s));

	s->index_of = map_new();
	return s;
}

void before_sums_free(struct before_sums *s)
{
	if (!s)
		return;
	map_free(s->index_of);
	VEC_RELEASE(&s->times_ns);
	VEC_RELEASE(&s->functions);
	VEC_RELEASE(&s->touched);
	free(s);
}

static struct function_sums *sums_of(struct before_sums *s, uint32_t function)
{
	uint64_t *slot = map_slot(s->index_of, (uint64_t)function + 1);

	if (!*slot) {
		VEC_ADD(&s->functions, (struct function_sums){ .function = function });
		*slot = s->functions.cnt;
	}
	return &s->functions.items[*slot - 1];
}

void before_sums_archive(struct before_sums *s, struct archive *a, uint32_t function_cnt)
{
	archive_double(a, &s->n);
	archive_double(a, &s->b);
	archive_double(a, &s->bb);
	archive_u64(a, &s->unknown_cnt);
	ARCHIVE_RESIZE(a, &s->times_ns);
	for (size_t i = 0; i < s->times_ns.cnt; i++)
		archive_i64(a, &s->times_ns.items[i]);
	ARCHIVE_RESIZE(a, &s->functions);
	for (size_t i = 0; i < s->functions.cnt; i++) {
		struct function_sums *f = &s->functions.items[i];

		archive_u32(a, &f->function);
		archive_double(a, &f->x);
		archive_double(a, &f->xb);
		if (f->function != FUNCTION_NONE && f->function >= function_cnt)
			a->failed = true;
	}
}

void before_sums_join(struct before_sums *to, const struct before_sums *from, const uint32_t *functions)
{
	to->n += from->n;
	to->b += from->b;
	to->bb += from->bb;
	to->unknown_cnt += from->unknown_cnt;
	for (size_t i = 0; i < from->times_ns.cnt; i++)
		VEC_ADD(&to->times_ns, from->times_ns.items[i]);
	for (size_t i = 0; i < from->functions.cnt; i++) {
		const struct function_sums *f = &from->functions.items[i];
		struct function_sums *sums = sums_of(to, f->function == FUNCTION_NONE ? FUNCTION_NONE : functions[f->function]);

		sums->x += f->x;
		sums->xb += f->xb;
	}
}

static void charge(struct before_sums *s, uint32_t function, int64_t ns)
{
	struct function_sums *f = sums_of(s, function);
	uint64_t *slot = map_slot(s->index_of, (uint64_t)function + 1);

	if (!f->in_row)
		VEC_ADD(&s->touched, (uint32_t)(*slot - 1));
	f->in_row = true;
	f->row_ns += ns;
}

/* The outermost calls in [idle, start) that have ended: what is open at the start is the loop around. */
static void charge_calls(struct before_sums *s, const struct timeline *tl, const struct interval *iv)
{
	struct index_range calls = timeline_started(tl, iv->start_tid, iv->idle_ns, iv->start_ns);
	int64_t from_ns = iv->idle_ns, known_ns = 0;

	for (size_t i = calls.first; i < calls.first + calls.cnt; i++) {
		const struct invocation *v = &tl->trace->invocations.items[i];

		if (v->start_ns < from_ns || tl->ends_ns[i] > iv->start_ns)
			continue;
		charge(s, v->function, tl->ends_ns[i] - v->start_ns);
		known_ns += tl->ends_ns[i] - v->start_ns;
		from_ns = tl->ends_ns[i];
	}
	charge(s, FUNCTION_NONE, iv->start_ns - iv->idle_ns - known_ns);
}

static uint32_t charged_call(const struct timeline *tl, uint32_t innermost, int64_t begun_ns)
{
	uint32_t outermost = INVOCATION_NONE;

	for (uint32_t i = innermost; i != INVOCATION_NONE && tl->ends_ns[i] <= begun_ns; i = tl->parents[i])
		outermost = i;
	return outermost;
}

/* The same from the arrival on: a call in whose midst the request came counts from then on. */
static void charge_since_arrival(struct before_sums *s, const struct timeline *tl, const struct interval *iv)
{
	const struct trace *t = tl->trace;
	struct stack_walk w;

	for (stack_walk_init(&w, tl, iv->start_tid, iv->start_ns, iv->begun_ns); stack_walk_next(&w); ) {
		uint32_t call = charged_call(tl, w.innermost, iv->begun_ns);

		charge(s, call == INVOCATION_NONE ? FUNCTION_NONE : t->invocations.items[call].function, w.to_ns - w.from_ns);
	}
}

/* It begins as it arrives. */
static bool is_request(const struct trace *t, uint64_t sid)
{
	const struct request *r = t->requests.items;
	size_t i = partition_point(j, t->requests.cnt, r[j].sid < sid);

	return i < t->requests.cnt && r[i].sid == sid;
}

static void sum_functions(struct before_sums *s, int64_t before_ns)
{
	double b = (double)before_ns;

	s->n++;
	s->b += b;
	s->bb += b * b;
	for (size_t i = 0; i < s->touched.cnt; i++) {
		struct function_sums *f = &s->functions.items[s->touched.items[i]];

		f->x += (double)f->row_ns;
		f->xb += (double)f->row_ns * b;
		f->row_ns = 0;
		f->in_row = false;
	}
	s->touched.cnt = 0;
}

static void add_arrival(struct before_sums *s, const struct timeline *tl, const struct interval *iv)
{
	int64_t before_ns = iv->begun_ns - iv->start_ns;

	s->unknown_cnt += !iv->begun_ns;
	if (!iv->begun_ns)
		return;
	VEC_ADD(&s->times_ns, before_ns);
	if (before_ns)
		charge_since_arrival(s, tl, iv);
	sum_functions(s, before_ns);
}

void before_sums_add(struct before_sums *s, const struct timeline *tl, const struct interval *iv, int64_t before_ns)
{
	if (tl->trace->from_arrival) {
		add_arrival(s, tl, iv);
		return;
	}
	if (!iv->idle_ns || iv->idle_ns > iv->start_ns || is_request(tl->trace, iv->sid))
		return;
	VEC_ADD(&s->times_ns, iv->start_ns - iv->idle_ns);
	if (iv->idle_ns < before_ns)
		return;
	charge_calls(s, tl, iv);
	sum_functions(s, iv->start_ns - iv->idle_ns);
}

static int by_share(const void *pa, const void *pb)
{
	const struct before_by *a = pa, *b = pb;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return strcmp(a->function ? a->function : "", b->function ? b->function : "");
}

static void list_functions(const struct analysis *a, const struct before_sums *s)
{
	double variance = s->n > 0 ? s->bb / s->n - s->b / s->n * (s->b / s->n) : 0;
	struct before_by *list = ARENA_NEW(a->f->arena, struct before_by, s->functions.cnt + 1);
	size_t cnt = 0;

	for (size_t i = 0; i < s->functions.cnt && variance > 0; i++) {
		const struct function_sums *x = &s->functions.items[i];

		list[cnt].function = x->function == FUNCTION_NONE ? NULL : analysis_function_name(a, x->function);
		list[cnt++].share = (x->xb / s->n - x->x / s->n * (s->b / s->n)) / variance;
	}
	if (cnt > 1)
		qsort(list, cnt, sizeof(*list), by_share);
	a->f->before.by.items = list;
	a->f->before.by.cnt = a->f->before.by.cap = cnt;
}

static void warn_of_unknown(struct findings *f)
{
	const struct before_start *b = &f->before;
	uint64_t all = b->cnt + b->unknown_cnt;

	if ((double)b->unknown_cnt > UNKNOWN_MANY * (double)all)
		findings_warn(f, "before-start", "when the request arrived is not known of %" PRIu64 " of %" PRIu64 " intervals, which begin where "
			      "the program begins them: their threads read none on a stream that the program accepted, or several "
			      "at once", b->unknown_cnt, all);
}

void find_before_start(const struct analysis *a, struct before_sums *s)
{
	struct before_start *b = &a->f->before;
	size_t cnt = s->times_ns.cnt;
	double squares = 0, sum = 0;

	b->cnt = cnt;
	b->exact = a->t->from_arrival;
	b->unknown_cnt = s->unknown_cnt;
	warn_of_unknown(a->f);
	if (!cnt)
		return;
	qsort(s->times_ns.items, cnt, sizeof(*s->times_ns.items), compare_int64);
	for (size_t i = 0; i < cnt; i++)
		sum += (double)s->times_ns.items[i];
	b->mean_ns = sum / (double)cnt;
	for (size_t i = 0; i < cnt; i++)
		squares += ((double)s->times_ns.items[i] - b->mean_ns) * ((double)s->times_ns.items[i] - b->mean_ns);
	b->sd_ns = sqrt(squares / (double)cnt);
	b->p99_ns = s->times_ns.items[(cnt * 99 + 99) / 100 - 1];
	list_functions(a, s);
	if (findings_hidden_before_start(a->f))
		findings_warn(a->f, "before-start", "before an interval begins its thread was busy, for up to %.3g ms on average (sd %.3g ms, the "
			      "interval's own %.3g ms)%s%s: requests that came meanwhile waited, and no interval has that; begin the interval "
			      "where the request arrives (vprof record --from-arrival), or look at what the thread does then", b->mean_ns / 1e6, b->sd_ns / 1e6,
			      a->f->interval.stddev_ns / 1e6, b->by.cnt && b->by.items[0].function ? ", mostly by " : "",
			      b->by.cnt && b->by.items[0].function ? b->by.items[0].function : "");
}
