/* SPDX-License-Identifier: GPL-3.0-or-later */
/* predict.c - gains from two replays: the run unchanged, and the run with a faster target. */
#include "analysis/causal/predict.h"

#include <math.h>
#include <string.h>

#include "analysis/causal/replay_build.h"
#include "base/banned.h"
#include "base/order.h"

struct outcome {
	double values[GAIN_CNT];
	size_t cnt;			/* intervals that end */
	size_t stuck_cnt;
};

struct predictor {
	const struct trace *t;
	struct timeline *tl;
	uint32_t interval;
	struct outcome as_recorded, as_replayed;
};

/* The metrics of latencies, which may be in any order.  span_ns: from the first begin to the last end. */
static void find_values(int64_t *latency_ns, size_t cnt, double span_ns, double values[GAIN_CNT])
{
	double sum = 0, squares = 0, mean;

	memset(values, 0, GAIN_CNT * sizeof(*values));
	if (!cnt)
		return;
	qsort(latency_ns, cnt, sizeof(*latency_ns), compare_int64);
	for (size_t i = 0; i < cnt; i++)
		sum += (double)latency_ns[i];
	mean = sum / (double)cnt;
	for (size_t i = 0; i < cnt; i++)
		squares += ((double)latency_ns[i] - mean) * ((double)latency_ns[i] - mean);
	values[GAIN_MEAN] = mean;
	values[GAIN_VARIANCE] = squares / (double)cnt;
	values[GAIN_THROUGHPUT] = span_ns > 0 ? (double)cnt / span_ns * 1e9 : 0;
	for (unsigned m = 0; m < GAIN_CNT; m++) {
		double q = gain_metric_quantile(m);

		if (q > 0)
			values[m] = (double)latency_ns[nearest_rank(cnt, q)];
	}
}

static void find_outcome(const int64_t *begin_ns, const int64_t *end_ns, size_t cnt, struct outcome *ret)
{
	_cleanup_(freep) int64_t *latency = xcalloc(cnt + 1, sizeof(*latency));
	int64_t first = INT64_MAX, last = INT64_MIN;

	ret->cnt = 0;
	for (size_t i = 0; i < cnt; i++) {
		if (begin_ns[i] == REPLAY_NEVER || end_ns[i] == REPLAY_NEVER)
			continue;
		latency[ret->cnt++] = end_ns[i] > begin_ns[i] ? end_ns[i] - begin_ns[i] : 0;
		first = begin_ns[i] < first ? begin_ns[i] : first;
		last = end_ns[i] > last ? end_ns[i] : last;
	}
	find_values(latency, ret->cnt, ret->cnt ? (double)last - (double)first : 0, ret->values);
}

/* Returns the number of steps that the question changes. */
static uint64_t ask(const struct predictor *p, const struct replay_question *q, struct outcome *ret)
{
	struct replay_program program;
	struct replay_times times;
	uint64_t touched = replay_build(p->tl, p->interval, q, &program);

	replay_run(&program, &times);
	find_outcome(times.begin_ns, times.end_ns, program.interval_cnt, ret);
	ret->stuck_cnt = times.stuck_cnt;
	replay_times_release(&times);
	replay_program_release(&program);
	return touched;
}

static void find_recorded(struct predictor *p)
{
	VEC(int64_t) begin = { NULL, 0, 0 }, end = { NULL, 0, 0 };

	for (size_t i = 0; i < p->t->intervals.cnt; i++)
		if (replay_counts(&p->t->intervals.items[i], p->interval)) {
			VEC_ADD(&begin, p->t->intervals.items[i].start_ns);
			VEC_ADD(&end, p->t->intervals.items[i].end_ns);
		}
	find_outcome(begin.items, end.items, begin.cnt, &p->as_recorded);
	VEC_RELEASE(&begin);
	VEC_RELEASE(&end);
}

/* The interval of that name, or the one with the most completed intervals; NAME_NONE: there is none. */
static uint32_t find_interval(const struct trace *t, const char *name)
{
	_cleanup_(freep) size_t *cnt = xcalloc(t->interval_names.cnt + 1, sizeof(*cnt));
	uint32_t best = NAME_NONE;

	for (size_t i = 0; i < t->intervals.cnt; i++)
		if (replay_counts(&t->intervals.items[i], t->intervals.items[i].name))
			cnt[t->intervals.items[i].name]++;
	for (uint32_t i = 0; i < t->interval_names.cnt; i++)
		if (cnt[i] && (name ? strcmp(name, t->interval_names.items[i]) == 0 : best == NAME_NONE || cnt[i] > cnt[best]))
			best = i;
	return best;
}

struct predictor *predictor_new(const struct trace *t, const char *interval)
{
	uint32_t number = find_interval(t, interval);
	struct predictor *p;

	if (number == NAME_NONE)
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->t = t;
	p->tl = timeline_new(t);
	p->interval = number;
	find_recorded(p);
	ask(p, &(struct replay_question){ .kind = ASKED_FUNCTION }, &p->as_replayed);
	return p;
}

void predictor_free(struct predictor *p)
{
	if (!p)
		return;
	timeline_free(p->tl);
	free(p);
}

const char *predictor_interval(const struct predictor *p)
{
	return p->t->interval_names.items[p->interval];
}

void predictor_baseline(const struct predictor *p, struct experiments *e)
{
	double recorded = p->as_recorded.values[GAIN_MEAN], replayed = p->as_replayed.values[GAIN_MEAN];

	e->interval = arena_strdup(e->arena, predictor_interval(p));
	e->replayed = true;
	e->ended = ENDED_NARROW;
	e->baseline_cnt = p->as_recorded.cnt;
	memcpy(e->baseline, p->as_recorded.values, sizeof(e->baseline));
	e->floor = recorded > 0 ? fabs(replayed / recorded - 1) : 0;
}

/* ---- one target ---- */

static void refuse_untouched(const struct predictor *p, const char *target, enum asked_kind kind, const char *name,
			     struct experiments *e)
{
	bool has_function = false;

	for (size_t i = 0; name && i < p->t->invocations.cnt && !has_function; i++)
		has_function = strcmp(p->t->functions.items[p->t->invocations.items[i].function].name, name) == 0;
	switch (kind) {
	case ASKED_LOCK:
		experiments_refuse(e, target, p->t->sync_ops.cnt ? "no thread takes a lock of that name, or one in a function of that name" :
				   "the trace does not say which thread holds which lock when",
				   p->t->sync_ops.cnt ? "lock:FUNCTION, a function that takes the lock" :
				   "an experiment: vprof causal --target lock:NAME -- COMMAND; or vprof record --order, then ask again");
		break;
	case ASKED_QUEUE:
		experiments_refuse(e, target, "no task waited for a worker", NULL);
		break;
	case ASKED_RUNQUEUE:
	case ASKED_CPUS:
		experiments_refuse(e, target, "the trace does not say when threads waited for a CPU",
				   "vprof record --kernel, then ask again");
		break;
	case ASKED_DEVICE:
		experiments_refuse(e, target, "no wait for a disk of that name is in the trace",
				   "vprof record --kernel, then ask again; or io");
		break;
	case ASKED_IO:
		experiments_refuse(e, target, "the trace has no wait for anything outside the program there", NULL);
		break;
	case ASKED_WAIT:
		experiments_refuse(e, target, has_function ? "the trace has no wait in it for another thread" :
				   "no function of that name is in the trace", has_function ? "the function itself" : NULL);
		break;
	default:
		experiments_refuse(e, target,
				   has_function ? "it takes no time of its own in the trace: it only waits for other threads" :
				   "no function of that name is in the trace",
				   has_function ? "wait:FUNCTION" : "vprof build --functions NAME gives it a probe");
	}
}

static void add_gains(const struct predictor *p, const struct outcome *o, struct experiment *x)
{
	for (unsigned m = 0; m < GAIN_CNT; m++) {
		double base = p->as_replayed.values[m];

		x->metrics[m].has_predicted = true;
		if (!(base > 0))
			continue;
		x->metrics[m].predicted = m == GAIN_THROUGHPUT ? o->values[m] / base - 1 : 1 - o->values[m] / base;
	}
}

static const struct function *find_function(const struct predictor *p, const char *name)
{
	for (size_t i = 0; i < p->t->functions.cnt; i++)
		if (strcmp(p->t->functions.items[i].name, name) == 0)
			return &p->t->functions.items[i];
	return NULL;
}

/* The name of a lock is none of a function. */
static void add_experiment(const struct predictor *p, const char *target, enum asked_kind kind, const char *name, double speedup,
			   const struct outcome *o, struct experiments *e)
{
	struct experiment x = {
		.target = arena_strdup(e->arena, target), .kind = kind, .speedup = speedup, .interval_cnt = o->cnt,
	};
	const struct function *f = name && kind != ASKED_DEVICE && kind != ASKED_CPUS ? find_function(p, name) : NULL;

	x.function = f ? arena_strdup(e->arena, name) : NULL;
	x.file = f && f->file ? arena_strdup(e->arena, f->file) : NULL;
	add_gains(p, o, &x);
	VEC_ADD(&e->list, x);
}

bool predictor_ask(struct predictor *p, const char *target, const double *speedups, size_t speedup_cnt, struct experiments *e)
{
	static const double whole[] = { 1 };
	struct replay_question q = { .speedup = 1 };
	size_t before = e->list.cnt;

	if (!experiment_target_parse(target, &q.kind, &q.name)) {
		experiments_refuse(e, target, "it is not a target", NULL);
		return false;
	}
	if (q.kind == ASKED_CPUS && p->t->cpu_use.ns && !p->t->cpu_use.kernel_knows) {
		experiments_refuse(e, target, "without the kernel's side the trace does not say when threads were on a CPU",
				   "vprof record --kernel, then ask again");
		return false;
	}
	if (kind_is_replayed_only(q.kind)) {
		speedups = whole;
		speedup_cnt = 1;
	}
	for (size_t i = 0; i < speedup_cnt; i++) {
		struct outcome o;
		uint64_t touched;

		q.speedup = speedups[i];
		touched = ask(p, &q, &o);
		if (!touched) {
			refuse_untouched(p, target, q.kind, q.name, e);
			e->list.cnt = before;
			return false;
		}
		if (o.stuck_cnt > p->as_replayed.stuck_cnt || o.cnt < p->as_replayed.cnt) {
			experiments_refuse(e, target,
					   "with this change, threads of the replay would wait for ever: what they do depends on how long it takes",
					   "measure it: vprof causal -- COMMAND");
			e->list.cnt = before;	/* drop all speedups of the target */
			return false;
		}
		add_experiment(p, target, q.kind, q.name, q.speedup, &o, e);
	}
	return true;
}

/* ---- names of one thing ---- */

#define ALIKE 0.8			/* of the time that either changes, both change that much */

static void find_changed(const struct predictor *p, const char *target, replay_stretches *ret)
{
	struct replay_program program;
	struct replay_question q = { .speedup = 1, .changed = ret };

	if (!experiment_target_parse(target, &q.kind, &q.name))
		return;
	replay_build(p->tl, p->interval, &q, &program);
	replay_program_release(&program);
}

static double length_of(const replay_stretches *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->cnt; i++)
		sum += (double)(s->items[i].to_ns - s->items[i].from_ns);
	return sum;
}

static bool ends_first(const struct replay_stretch *a, const struct replay_stretch *b)
{
	return a->thread != b->thread ? a->thread < b->thread : a->to_ns < b->to_ns;
}

static double common(const replay_stretches *a, const replay_stretches *b)
{
	double sum = 0;

	for (size_t i = 0, k = 0; i < a->cnt && k < b->cnt; ) {
		const struct replay_stretch *x = &a->items[i], *y = &b->items[k];
		int64_t from = x->from_ns > y->from_ns ? x->from_ns : y->from_ns, to = x->to_ns < y->to_ns ? x->to_ns : y->to_ns;

		if (x->thread == y->thread && to > from)
			sum += (double)(to - from);
		if (ends_first(x, y))
			i++;
		else
			k++;
	}
	return sum;
}

static bool are_alike(const replay_stretches *a, const replay_stretches *b)
{
	double both = common(a, b), either = length_of(a) + length_of(b) - both;

	return either > 0 && both >= ALIKE * either;
}

void predictor_keep_distinct(const struct predictor *p, strings *targets)
{
	replay_stretches *changed = xcalloc(targets->cnt + 1, sizeof(*changed));
	size_t kept = 0;

	for (size_t i = 0; i < targets->cnt; i++) {
		const char *target = targets->items[i];
		bool is_new = true;

		find_changed(p, target, &changed[kept]);
		for (size_t k = 0; k < kept && is_new; k++)
			is_new = !are_alike(&changed[k], &changed[kept]);
		if (is_new)
			targets->items[kept++] = target;
		else
			changed[kept].cnt = 0;
	}
	for (size_t i = 0; i < targets->cnt; i++)
		VEC_RELEASE(&changed[i]);
	targets->cnt = kept;
	free(changed);
}

/* ---- ranking ---- */

static double most_of(const struct experiments *e, const char *target)
{
	double most = -INFINITY;

	for (size_t i = 0; i < e->list.cnt; i++)
		if (strcmp(e->list.items[i].target, target) == 0)
			most = fmax(most, e->list.items[i].metrics[e->metric].predicted);
	return most;
}

void predictions_rank(struct experiments *e, size_t k)
{
	VEC(struct experiment) sorted = { NULL, 0, 0 };
	_cleanup_(freep) bool *taken = xcalloc(e->list.cnt + 1, sizeof(*taken));

	for (size_t targets = 0; !k || targets < k; targets++) {
		size_t best = SIZE_MAX;

		for (size_t i = 0; i < e->list.cnt; i++)
			if (!taken[i] && (best == SIZE_MAX || most_of(e, e->list.items[i].target) >
									     most_of(e, e->list.items[best].target)))
				best = i;
		if (best == SIZE_MAX)
			break;
		for (size_t i = best; i < e->list.cnt; i++)
			if (!taken[i] && strcmp(e->list.items[i].target, e->list.items[best].target) == 0) {
				taken[i] = true;
				VEC_ADD(&sorted, e->list.items[i]);
			}
	}
	if (sorted.cnt)
		memcpy(e->list.items, sorted.items, sorted.cnt * sizeof(*sorted.items));
	e->list.cnt = sorted.cnt;
	VEC_RELEASE(&sorted);
	experiments_choose_best(e);
}
