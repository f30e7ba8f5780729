/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * warnings.c - reasons for caution with the findings, and remedies.
 *
 * A warning is given where the numbers would mislead, not where something is merely odd.  Example: of 4,000 intervals
 * 10 have 62 % of the variance: which, and what is first without them.
 */
#include "analysis/warnings/warnings.h"

#include <inttypes.h>
#include <math.h>
#include "analysis/warnings/mixture_function.h"
#include "analysis/stats/latency_checks.h"
#include "base/str.h"
#include "base/banned.h"
#include "base/search.h"

#define FEW_INTERVALS 100
#define NO_WAKER_SHARE 0.10
#define IO_SHARE_MIN 0.05		/* relative to the latency; below it the answer does not depend on it */
#define CARRIED_MAX 0.3			/* fraction of the variance, by struct carriers */
#define EFFECTIVE_MIN 100		/* effective number of intervals behind the variance */

static void warn_losses(const struct analysis *a)
{
	const struct losses *l = &a->t->losses;
	uint64_t lost = a->f->interval.dropped_lost;

	if (l->stacks > 0)
		findings_warn(a->f, "stacks",
			      "%" PRIu64 " times it was unknown on which stack of its thread a call was (fibers, "
			      "coroutines): the %" PRIu64 " intervals under way then are left out, because they may contain "
			      "functions of others. It is known if stacks are switched by swapcontext(), or if each has "
			      "64 kB or a guard page of its own", l->stacks, lost);
	if (l->records == 0 && (l->stacks > 0 || lost == 0 || losses_have_holes(l)))
		return;
	findings_warn(a->f, "losses",
		      "%" PRIu64 " records were lost for lack of buffer or disk; the %" PRIu64 " intervals that "
		      "this touches are left out: record with a larger --buffer, or probe fewer functions",
		      l->records, lost);
}

/* "4711 server from 3.21 s, 4712 from 3.2 s and 3 more" */
static void name_cut_threads(const struct trace *t, const struct lives *lives, struct str *to, int64_t *ret_last)
{
	enum { MOST = 4 };
	int64_t first = lives->first_ns;
	size_t cnt = 0;

	*ret_last = first;
	for (size_t i = 0; i < t->threads.cnt; i++) {
		const struct thread_name *n = &t->threads.items[i];
		int64_t until = lives_until(lives, n->tid);

		if (until > *ret_last)
			*ret_last = until;
		if (n->kind != KIND_THREAD || !n->open_end || until == INT64_MIN || cnt++ >= MOST)
			continue;
		str_addf(to, "%s%" PRIu64 "%s%s from %.3g s", cnt > 1 ? ", " : "", n->tid & UINT32_MAX,
			 n->name ? " " : "", n->name ? n->name : "", (double)(until - first) / 1e9);
	}
	if (cnt > MOST)
		str_addf(to, " and %zu more", cnt - MOST);
}

/* Shares refer to what was recorded. */
static void warn_full_tables(const struct analysis *a)
{
	for (size_t i = 0; i < FULL_TABLES_MAX; i++) {
		const struct full_table *t = &a->t->losses.full.items[i];

		if (t->dropped && !t->table)
			findings_warn(a->f, "names-missing",
				      "%" PRIu64 " %s; %s", t->dropped, t->dropped_what, t->effect);
		else if (t->dropped)
			findings_warn(a->f, "table-full",
				      "the answer is not whole: there is room for %" PRIu64 " %s, and %" PRIu64 " %s; %s",
				      t->size, t->table, t->dropped, t->dropped_what, t->effect);
	}
}

/* The records in its threads' chunks are missing, and everything after them. */
static void warn_cut_off(const struct analysis *a, const struct lives *lives)
{
	_cleanup_(str_release) struct str threads = STR_INIT;
	int64_t first = lives->first_ns, last;

	if (!a->t->losses.cut_off || first == INT64_MAX)
		return;
	name_cut_threads(a->t, lives, &threads, &last);
	findings_warn(a->f, "cut-off",
		      "the recording was cut off %.3g s after its first record, because its recorder was killed or could "
		      "not write: some records of the 0.1 s before, or of a thread's last 32 kB, are missing, and all later ones (%s); %" PRIu64
		      " bytes of a half-written block are left out; the other records are complete",
		      (double)(last - first) / 1e9,
		      threads.len ? str_cstr(&threads) : "no thread was left", a->t->losses.cut_bytes);
}

static void warn_window(const struct analysis *a)
{
	uint64_t cnt = a->t->losses.before_window;

	if (cnt)
		findings_warn(a->f, "window",
			      "%" PRIu64 " interval%s that had begun before what was kept of the run %s left out",
			      cnt, cnt == 1 ? "" : "s", cnt == 1 ? "is" : "are");
}

static void warn_paused(const struct analysis *a)
{
	uint64_t cnt = a->t->losses.at_pause;

	if (cnt)
		findings_warn(a->f, "paused",
			      "%" PRIu64 " interval%s that %s under way when the recording was paused %s left out "
			      "(aborted)", cnt, cnt == 1 ? "" : "s", cnt == 1 ? "was" : "were",
			      cnt == 1 ? "is" : "are");
}

static void warn_reduced(const struct analysis *a)
{
	if (a->t->kernel_reduced)
		findings_warn(a->f, "kernel-reduced",
			      "recorded without the right to know why threads were off the CPU: waits that no "
			      "listed primitive causes are 'other', without a waker; vprof doctor says what "
			      "record --kernel needs");
}

static void warn_no_waker(const struct analysis *a, const struct counted_intervals *u)
{
	double latency_ns = a->f->interval.mean_ns * (double)a->f->interval.cnt;

	if (u->waited_ns > 0 && (double)u->no_waker_ns > NO_WAKER_SHARE * (double)u->waited_ns)
		findings_warn(a->f, "no-waker",
			      "for %.0f %% of the time spent waiting for locks, conditions and threads "
			      "the waker is unknown: list the primitive that releases "
			      "under [sync] release; or a lock changed hands more than 64 times in one wait, of which only the first are recorded",
			      100 * (double)u->no_waker_ns / (double)u->waited_ns);
	if (u->io_waited_ns > 0 && (double)u->io_no_waker_ns > NO_WAKER_SHARE * (double)u->io_waited_ns &&
	    (double)u->io_no_waker_ns > IO_SHARE_MIN * latency_ns)
		findings_warn(a->f, "no-waker",
			      "for %.0f %% of the time spent waiting for files and connections the waker is unknown: a disk, "
			      "a thread that is not recorded, or a call that vprof does not know; record --kernel names it",
			      100 * (double)u->io_no_waker_ns / (double)u->io_waited_ns);
}

static void warn_few(const struct analysis *a)
{
	uint64_t cnt = a->f->interval.cnt, root_only = a->f->probing.root_only_cnt;

	if (cnt >= FEW_INTERVALS)
		return;
	if (root_only)
		findings_warn(a->f, "few-intervals",
			      "only %" PRIu64 " of %" PRIu64 " completed intervals %s recorded in full: "
			      "shares of fewer than %d say little, record more of them in full "
			      "(--sample) or run longer", cnt, cnt + root_only,
			      cnt == 1 ? "is" : "are", FEW_INTERVALS);
	else
		findings_warn(a->f, "few-intervals",
			      "only %" PRIu64 " interval%s complete: shares of fewer than %d say "
			      "little, run longer", cnt, cnt == 1 ? " is" : "s are",
			      FEW_INTERVALS);
}

/* Estimates the cost if it was not measured: the recorded calls times the cost of each. */
static void warn_reckoned_cost(const struct analysis *a, double overhead)
{
	double calls = 0, cost, mean_ns = a->f->interval.mean_ns;
	bool recorded = false;

	for (size_t i = 0; i < a->t->functions.cnt; i++)
		recorded |= a->t->functions.items[i].registered;
	for (size_t i = 0; i < a->f->nodes.cnt; i++) {
		const struct node *n = &a->f->nodes.items[i];

		calls += n->calls_per_interval;
		if (n->kind == NODE_WAIT && n->parent == 0 && n->wait == STATE_QUEUE)
			mean_ns -= n->mean_ns;
	}
	cost = mean_ns > 0 ? calls * PROBE_NS / mean_ns : 0;
	if (!recorded || cost <= overhead)
		return;
	findings_warn(a->f, "probe-cost",
		      "%.0f calls an interval were recorded: probes are estimated to take %.0f %% of its time outside "
		      "the queue or more, the budget is %.3g %%; vprof iterate keeps to it, vprof record --sample "
		      "1/16 measures what they cost", calls, cost * 100, overhead * 100);
}

/* The measured cost is significant and above the budget.  Fewer intervals in full would burden the program less, but
 * each of those would be as distorted. */
static void warn_probing(const struct analysis *a, double overhead)
{
	const struct probing *p = &a->f->probing;

	if (!p->measured)
		warn_reckoned_cost(a, overhead);
	if (!p->measured || p->mean_low <= 0 || p->mean <= overhead)
		return;
	findings_warn(a->f, "probe-cost",
		      "intervals recorded in full take %.1f %% longer than root-only ones (95 %% CI "
		      "%+.1f %% to %+.1f %%), more than the budget of %.3g %%: functions called often "
		      "look more important than they are; probe fewer of them (vprof build "
		      "--functions, or vprof iterate, which keeps to a budget)",
		      p->mean * 100, p->mean_low * 100, p->mean_high * 100, overhead * 100);
}

/* The rows of a recorded interval follow each other. */
static size_t first_row(const struct analysis *a, size_t recorded)
{
	size_t row = 0;

	for (size_t i = 0; i < recorded; i++)
		row += a->full->copies[i];
	return row;
}

/* Computes every share without these intervals, and the largest factor then; NULL: none is above the threshold. */
static const struct factor *first_without(const struct analysis *a, const struct times *times, const struct carriers *c,
					  double *ret_share)
{
	size_t cnt = times->column_cnt, n = a->m->n, left = n;
	_cleanup_(freep) double *weights = xcalloc(n, sizeof(*weights));
	_cleanup_(freep) double *products = xcalloc(cnt + 1, sizeof(*products));
	const struct factor *best = NULL;
	int64_t typical_ns = (int64_t)a->f->interval.mean_ns;
	double mean = (a->f->interval.mean_ns - (double)typical_ns) * (double)n, squares = 0, most = 0;

	for (size_t i = 0; i < n; i++)
		weights[i] = 1;
	for (size_t i = 0; i < c->cnt; i++) {
		size_t first = first_row(a, c->rows[i]);

		left -= a->full->copies[c->rows[i]];
		for (size_t row = first; row < first + a->full->copies[c->rows[i]]; row++) {
			weights[row] = 0;
			mean -= (double)(a->full->of_row[row] - typical_ns);
		}
	}
	mean /= (double)left;
	for (size_t i = 0; i < n; i++) {
		weights[i] *= (double)(a->full->of_row[i] - typical_ns) - mean;
		squares += weights[i] * weights[i];
	}
	times_weighted(times, weights, products);	/* sum X (T - mean T) */
	for (size_t i = 0; i < cnt && squares > 0; i++) {
		struct factor *x = &a->f->factors.items[i];
		double share = products[i] / squares;

		x->has_trimmed = true;
		x->trimmed_share = share;
		if (share <= FACTORS_THRESHOLD_DEFAULT || x->specificity * share <= most)
			continue;
		best = x;
		most = x->specificity * share;
		*ret_share = share;
	}
	return best;
}

static void add_factor_name(struct str *s, const struct factor *x)
{
	str_addf(s, "%s%s%s%s", x->function ? x->function : "",
		 x->kind == FACTOR_BODY ? " itself" : "",
		 x->is_wait ? x->function ? "'s wait for " : "waiting for " : "",
		 x->is_wait ? trace_state_name(x->wait) : "");
}

/* Rows are of the intervals in full. */
static uint64_t sid_of_row(const struct analysis *a, size_t row)
{
	for (size_t i = 0; i < a->f->intervals.cnt; i++)
		if (!a->f->intervals.items[i].root_only && row-- == 0)
			return a->f->intervals.items[i].sid;
	return SID_NONE;
}

static void warn_heavy_tail(const struct analysis *a, const struct carriers *c)
{
	if (c->effective_cnt >= fmin(EFFECTIVE_MIN, (double)a->full->recorded_cnt / 10))
		return;
	findings_warn(a->f, "few-intervals",
		      "the latency's tail is so heavy that only about %.0f of %zu intervals carry the variance: confidence intervals are too narrow, run longer", c->effective_cnt, a->full->recorded_cnt);
}

/* The first of the ranking by shares of all intervals. */
static const struct factor *first_with_all(const struct analysis *a)
{
	const struct factor *best = NULL;

	for (size_t i = 0; i < a->f->factors.cnt; i++) {
		const struct factor *x = &a->f->factors.items[i];

		if (x->kind == FACTOR_PAIR || x->share <= FACTORS_THRESHOLD_DEFAULT)
			continue;
		if (!best || x->specificity * x->share > best->specificity * best->share)
			best = x;
	}
	return best;
}

/* Whether most of them began within a tenth of the run. */
static bool are_close(const struct carriers *c, size_t recorded_cnt)
{
	size_t most = 0;

	for (size_t i = 0; i < c->cnt; i++) {
		size_t within = 0;

		for (size_t k = 0; k < c->cnt; k++)
			within += c->rows[k] >= c->rows[i] && c->rows[k] - c->rows[i] <= recorded_cnt / 10;
		most = within > most ? within : most;
	}
	return 2 * most > c->cnt;
}

/* A recurring cause has its variance in the intervals that it hits: no reason for a warning. */
static bool are_a_cause(const struct analysis *a, const struct carriers *c, const struct factor *first_without)
{
	return first_without && first_without == first_with_all(a) && !are_close(c, a->full->recorded_cnt);
}

static void warn_carriers(const struct analysis *a, const struct times *times)
{
	struct carriers c;
	_cleanup_(str_release) struct str sids = STR_INIT, rest = STR_INIT;
	const struct factor *first;
	double share = 0;

	if (a->full->recorded_cnt < FEW_INTERVALS || !(a->variance_ns2 > 0))
		return;
	c = carriers_of(a->full->of_recorded, a->full->copies, a->full->recorded_cnt);
	if (c.share <= CARRIED_MAX) {
		warn_heavy_tail(a, &c);
		return;
	}
	first = first_without(a, times, &c, &share);
	if (are_a_cause(a, &c, first)) {
		for (size_t i = 0; i < a->f->factors.cnt; i++)
			a->f->factors.items[i].has_trimmed = false;
		return;
	}
	for (size_t i = 0; i < c.cnt; i++)
		str_addf(&sids, "%s%" PRIu64, i ? ", " : "", sid_of_row(a, c.rows[i]));
	if (first) {
		add_factor_name(&rest, first);
		str_addf(&rest, " is first with %.0f %%", share * 100);
	} else {
		str_add(&rest, "nothing is above 5 %");
	}
	findings_warn(a->f, "outliers",
		      "%zu of %zu intervals carry %.0f %% of the variance (%s)%s; without them %s. Look at one: vprof show "
		      "critical-path --interval %" PRIu64, c.cnt, a->full->recorded_cnt, c.share * 100, str_cstr(&sids),
		      are_close(&c, a->full->recorded_cnt) ? ", an incident rather than a cause" : "", str_cstr(&rest),
		      sid_of_row(a, c.rows[0]));
}

/* The factor that differs most between 64ths of the run, together with the latency. */
static const struct factor *drifting_factor(const struct analysis *a, const struct times *times)
{
	size_t cnt = times->column_cnt, n = a->m->n, blocks = 64;
	_cleanup_(freep) double *weights = xcalloc(n, sizeof(*weights));
	_cleanup_(freep) double *products = xcalloc(cnt + 1, sizeof(*products));
	const struct factor *best = NULL;
	double most = 0;

	for (size_t b = 0; b < blocks; b++) {
		size_t first = n * b / blocks, end = n * (b + 1) / blocks;
		double mean = 0;

		for (size_t i = first; i < end; i++)
			mean += (double)a->full->of_row[i] / (double)(end - first);
		for (size_t i = first; i < end; i++)
			weights[i] = mean - a->f->interval.mean_ns;
	}
	times_weighted(times, weights, products);
	for (size_t i = 0; i < cnt; i++) {
		const struct factor *x = &a->f->factors.items[i];

		if (x->specificity * products[i] <= most)
			continue;
		best = x;
		most = x->specificity * products[i];
	}
	return best;
}

/* What differs, and what would help. */
static void add_drift(struct str *to, const struct drift *d)
{
	char first[TEXT_MAX], last[TEXT_MAX], within[TEXT_MAX], outside[TEXT_MAX];
	double from = 100 * d->from, until = 100 * d->until;

	text_ns(first, d->first_ns, false);
	text_ns(last, d->last_ns, false);
	text_ns(within, d->within_ns, false);
	text_ns(outside, d->outside_ns, false);
	switch (d->shape) {
	case DRIFT_TREND:
		if (d->last_ns > d->first_ns)
			str_addf(to, "latency grows: %s on average in the first tenth of the run, %s in the last. Look for what "
				 "grows", first, last);
		else
			str_addf(to, "latency falls: %s on average in the first tenth of the run, %s in the last. Record longer, "
				 "or begin to record after the warm-up", first, last);
		break;
	case DRIFT_START:
		str_addf(to, "the beginning differs: %s on average in the first %.0f %% of the run, %s in the rest. %s", within,
			 until, outside, d->within_ns > d->outside_ns ? "Begin to record after the warm-up" :
									  "Look for what came then");
		break;
	case DRIFT_LATER:
		str_addf(to, "latency changes: %s on average until %.0f %% of the run, %s from there on. Look for what came then",
			 outside, from, within);
		break;
	case DRIFT_MIDDLE:
		str_addf(to, "a part of the run differs: %s on average from %.0f %% to %.0f %% of the run, %s in the rest. Look "
			 "for what happened then", within, from, until, outside);
		break;
	}
}

static void warn_drift(const struct analysis *a, const struct times *times, const struct drift *d)
{
	_cleanup_(str_release) struct str what = STR_INIT, name = STR_INIT;
	const struct factor *x;

	if (!d->drifts)
		return;
	add_drift(&what, d);
	x = drifting_factor(a, times);
	if (x) {
		str_add(&name, ", mostly of ");
		add_factor_name(&name, x);
	}
	findings_warn(a->f, "drift", "%s; %.0f %% of the variance is between parts of the run%s", str_cstr(&what),
		      d->between * 100, str_cstr(&name));
}

/* -20 %, or, for more than 100 %, its meaning: Var(T) = Var(X) + Var(Y) + 2 Cov is 1 of 1 - share without it. */
static void add_hedge(const struct analysis *a, const struct reported_pair *p)
{
	_cleanup_(str_release) struct str size = STR_INIT;

	if (p->share >= -1)
		str_addf(&size, "%.0f %% of the variance", 100 * p->share);
	else
		str_addf(&size, "the variance would be %.1f times as large if they did not", 1 - p->share);
	findings_warn(a->f, "hedge",
		      "%s and %s offset each other (%s): where one takes longer the other takes less, so change both, or "
		      "look at what divides the time between them", p->labels[0], p->labels[1], str_cstr(&size));
}

static void add_either(const struct analysis *a, const struct reported_pair *p)
{
	findings_warn(a->f, "either",
		      "intervals take their time in %s or in %s, seldom in both: the shares of these two say which of them an interval "
		      "had. If these are two kinds of requests, give each its own name (VPROF_BEGIN, or an "
		      "[interval] section each)", p->labels[0], p->labels[1]);
}

/* The largest pair whose parts surely offset each other, and the largest that stands for each other. */
static void warn_hedge(const struct analysis *a)
{
	_cleanup_(freep) struct reported_pair *pairs = NULL;
	size_t cnt = findings_pairs(a->f, true, FACTORS_THRESHOLD_DEFAULT, &pairs);
	bool told[2] = { false, false };

	for (size_t i = 0; i < cnt; i++) {
		const struct reported_pair *p = &pairs[i];

		if (told[p->either] || !p->has_ci95 || p->ci95[1] >= 0)
			continue;
		told[p->either] = true;
		if (p->either)
			add_either(a, p);
		else
			add_hedge(a, p);
	}
}

static void warn_mixture(const struct analysis *a, const struct factor_columns *factors, const struct drift *d)
{
	static const char *const numbers[] = { "no", "one", "two", "three", "four" };
	struct mixture m = mixture_of(a->full->of_recorded, a->full->copies, a->full->recorded_cnt, d->moves);
	_cleanup_(str_release) struct str list = STR_INIT, kinds = STR_INIT;
	char centre[TEXT_MAX];
	const struct factor *x;
	double between;

	if (m.cnt < 2)
		return;
	for (size_t i = 0; i < m.cnt; i++)
		str_addf(&list, "%s%.0f %% around %s", i ? ", " : "", 100 * m.weight[i], text_ns(centre, m.centre_ns[i], false));
	x = find_factor_of_kinds(a, factors, &between);
	if (x)
		str_addf(&kinds, " (%.0f %% of the variance is between those with %s, %.0f %%, and those without)",
			 100 * between, x->function, 100 * x->presence);
	findings_warn(a->f, "mixture",
		      "latencies are of %s populations: %s%s. Where these are %s kinds of requests, give each its own name "
		      "(VPROF_BEGIN, or an [interval] section each); what the slowest do: vprof show slow-vs-fast --quantile %.2g",
		      numbers[m.cnt], str_cstr(&list), str_cstr(&kinds), numbers[m.cnt], 1 - m.weight[m.cnt - 1]);
}

void warn(const struct analysis *a, const struct counted_intervals *counted, const struct lives *lives,
	  const struct factor_columns *factors, double overhead)
{
	const struct interval_summary *s = &a->f->interval;
	/* Hosts have clocks of their own, so their intervals have no common order. */
	struct drift drift = drift_of(a->full->of_recorded, analysis_host_cnt(a) > 1 ? 0 : a->full->recorded_cnt);

	warn_full_tables(a);
	warn_unpaired(a, counted);
	warn_nested(a);
	warn_unpaired_others(a);
	warn_reduced(a);
	warn_off_cpu(a);
	warn_overloaded(a);
	warn_look(a);
	warn_few(a);
	warn_few_hosts(a);
	warn_carriers(a, factors->times);
	warn_drift(a, factors->times, &drift);
	warn_mixture(a, factors, &drift);
	warn_hedge(a);
	warn_probing(a, overhead);
	if (factors->autocorrelated)
		findings_warn(a->f, "autocorrelated",
			      "intervals are alike even over a sixteenth of the run: the confidence "
			      "intervals are too narrow, run several times as long");
	if (s->dropped_bad_path > 0)
		findings_warn(a->f, "bad-path",
			      "%" PRIu64 " interval%s left out because the critical path does not add up to the latency: "
			      "the trace contradicts itself there, or it is too long for exact sums; check "
			      "imported data, and report a recorded run with vprof export --format tuples",
			      s->dropped_bad_path, s->dropped_bad_path == 1 ? " was" : "s were");
	warn_losses(a);
	warn_holes(a, lives);
	warn_cut_off(a, lives);
	warn_window(a);
	warn_paused(a);
	warn_no_waker(a, counted);
	if (a->f->clamped > 0)
		findings_warn(a->f, "overlaps",
			      "%" PRIu64 " segments or invocations overlapped another of their thread "
			      "and were cut short: times there are approximate; check imported data. In a "
			      "recorded run, functions that switch stacks (coroutines) do that: choose "
			      "others to record (vprof build --functions)", a->f->clamped);
}
