/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_summed.c - causes summed over the tree against their definition, nanosecond by nanosecond, on random traces.
 *
 * Each nanosecond of an interval goes to one doer, by the words of analysis/causes/causes.c; a cause's time is what came
 * together, its share Cov(X,T)/Var(T), exactly.  It does not use the tree.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/analyze.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "tests/oracle/oracle.h"

#define TRACES 1500
#define DOERS_MAX 64

struct doer {
	bool known;
	uint32_t function;		/* FUNCTION_NONE: none */
	const char *device, *peer;
	bool runqueue;
	bool is_found;			/* among the findings */
	int64_t ns[ORACLE_ROWS_MAX];
	int64_t by_how[ORACLE_ROWS_MAX][HOW_OTHER + 1];
};

struct doers {
	struct doer items[DOERS_MAX];
	size_t cnt;
};

static bool is_runqueue(enum trace_state s)
{
	return s == STATE_RUNNABLE || s == STATE_WAKEUP;
}

static uint32_t innermost(const struct trace *t, uint64_t tid, int64_t ns)
{
	uint32_t stack[ORACLE_STACK_MAX];
	size_t cnt = oracle_stack(t, tid, ns, stack);

	return cnt ? t->invocations.items[stack[cnt - 1]].function : FUNCTION_NONE;
}

static const char *device_of(const struct trace *t, uint64_t tid)
{
	for (size_t i = 0; i < t->threads.cnt; i++)
		if (t->threads.items[i].tid == tid && t->threads.items[i].kind != KIND_THREAD)
			return thread_kind_name(t->threads.items[i].kind);
	return NULL;
}

static const char *peer_of(const struct trace *t, uint64_t tid)
{
	for (size_t i = 0; i < t->threads.cnt; i++)
		if (t->threads.items[i].tid == tid && t->threads.items[i].kind == KIND_PEER)
			return t->threads.items[i].name;
	return NULL;
}

/* The doer of this nanosecond, by the definition. */
static struct doer doer_of(const struct trace *t, const struct tick *k, int64_t ns)
{
	struct doer d = { .function = FUNCTION_NONE };
	uint32_t own = k->wait == STATE_QUEUE ? FUNCTION_NONE : innermost(t, k->owner_tid, ns);
	bool others = k->wait == STATE_QUEUE && k->meanwhile != STATE_QUEUE, elsewhere = k->depth || others;
	enum trace_state meanwhile = others ? k->meanwhile : k->state;
	bool taken_up = others && k->taken_up_tid && meanwhile == STATE_IO;
	uint64_t tid = taken_up ? k->taken_up_tid : k->tid;
	uint32_t blamed = elsewhere && !taken_up ? innermost(t, tid, ns) : FUNCTION_NONE;
	const char *device = elsewhere && blamed == FUNCTION_NONE ? device_of(t, tid) : NULL;
	bool waits = !taken_up && (k->depth || (others && (blamed != FUNCTION_NONE || device))) && meanwhile != STATE_RUNNING;

	if (k->wait == STATE_RUNNING) {
		d.function = own;
		d.known = own != FUNCTION_NONE;
	} else if (is_runqueue(k->wait) || (waits && is_runqueue(meanwhile))) {
		d.known = d.runqueue = true;
	} else if (blamed != FUNCTION_NONE) {
		d.known = true;
		d.function = blamed;
	} else if (device && peer_of(t, tid)) {
		d.known = true;
		d.peer = peer_of(t, tid);
	} else if (device) {
		d.known = true;
		d.function = own;
		d.device = own == FUNCTION_NONE ? device : NULL;
	} else if ((k->wait == STATE_IO || k->wait == STATE_SLEEP) && !waits && own != FUNCTION_NONE) {
		d.known = true;
		d.function = own;
	}
	return d;
}

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Two functions of one name and no file are one doer. */
static bool same_doer(const struct trace *t, const struct doer *a, const struct doer *b)
{
	const struct function *fs = t->functions.items;

	if (a->known != b->known || !a->known)
		return a->known == b->known;
	if (a->peer || b->peer)
		return same_text(a->peer, b->peer);
	if (a->function != FUNCTION_NONE && b->function != FUNCTION_NONE)
		return same_text(fs[a->function].name, fs[b->function].name) && same_text(fs[a->function].file, fs[b->function].file);
	return a->function == b->function && a->runqueue == b->runqueue && same_text(a->device, b->device);
}

static enum cause_how how_of(enum trace_state wait)
{
	if (is_runqueue(wait))
		return HOW_RUNQUEUE;
	if (wait == STATE_LOCK || wait == STATE_COND || wait == STATE_JOIN)
		return HOW_LOCK;
	return wait == STATE_RUNNING ? HOW_CPU : wait == STATE_QUEUE ? HOW_QUEUE : wait == STATE_IO ? HOW_IO : HOW_OTHER;
}

static void fill(const struct oracle *o, struct doers *ret)
{
	for (size_t row = 0; row < o->row_cnt; row++)
		for (int64_t ns = o->rows[row]->start_ns; ns < o->rows[row]->end_ns; ns++) {
			const struct tick *k = &o->ticks[row][ns];
			struct doer d = doer_of(o->t, k, ns);
			size_t i = 0;

			while (i < ret->cnt && !same_doer(o->t, &ret->items[i], &d))
				i++;
			if (i == ret->cnt) {
				if (i == DOERS_MAX)
					abort();
				ret->items[ret->cnt++] = d;
			}
			ret->items[i].ns[row]++;
			ret->items[i].by_how[row][d.runqueue ? HOW_RUNQUEUE : d.peer ? HOW_IO : how_of(k->wait)]++;
		}
}

static double share_of(const struct oracle *o, const int64_t *x)
{
	int64_t t[ORACLE_ROWS_MAX];
	__int128 variance;

	for (size_t row = 0; row < o->row_cnt; row++)
		t[row] = o->rows[row]->end_ns - o->rows[row]->start_ns;
	variance = oracle_covariance(t, t, o->row_cnt);
	return variance ? (double)((long double)oracle_covariance(x, t, o->row_cnt) / variance) : 0;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

/* How it acts most, and how much of its share that is. */
static bool same_how(const struct oracle *o, const struct doer *d, const struct summed_cause *c)
{
	double best = -INFINITY, of_cause = NAN;

	for (int how = 0; how <= HOW_OTHER; how++) {
		int64_t x[ORACLE_ROWS_MAX], any = 0;
		double share;

		for (size_t row = 0; row < o->row_cnt; row++)
			any += x[row] = d->by_how[row][how];
		if (!any)
			continue;
		share = share_of(o, x);
		best = fmax(best, fabs(share));
		if (how == (int)c->how)
			of_cause = share;
	}
	return near(c->how_share, of_cause) && near(fabs(of_cause), best);
}

static bool same_cause(const struct oracle *o, const struct doer *d, const struct summed_cause *c)
{
	const char *name = d->function == FUNCTION_NONE ? NULL : o->t->functions.items[d->function].name;

	if (c->known != d->known)
		return false;
	if (!d->known)
		return true;
	if (d->runqueue || (c->how == HOW_RUNQUEUE && !c->function))
		return d->runqueue && c->how == HOW_RUNQUEUE && !c->function;
	if (d->peer || c->peer)
		return same_text(c->peer, d->peer);
	return same_text(c->function, name) && (name || same_text(c->device, d->device));
}

static bool compare(struct trace *t, uint32_t name, size_t *looked_at)
{
	struct analyze_options options = { .interval = t->interval_names.items[name] };
	_cleanup_(findings_freep) struct findings *f = NULL;
	struct doers *doers = xcalloc(1, sizeof(*doers));
	struct oracle *o = oracle_new(t, name);
	double sum = 0;
	bool same = analyze(t, &options, &f) == 0;

	fill(o, doers);
	for (size_t i = 0; same && i < f->causes.cnt; i++) {
		const struct summed_cause *c = &f->causes.items[i];
		size_t k = 0;
		__int128 mean = 0;

		while (k < doers->cnt && (doers->items[k].is_found || !same_cause(o, &doers->items[k], c)))
			k++;
		sum += c->share;
		if (k == doers->cnt) {		/* a call that took no time is a leaf, too */
			same = near(c->share, 0) && near(c->mean_ns, 0);
			continue;
		}
		for (size_t row = 0; row < o->row_cnt; row++)
			mean += doers->items[k].ns[row];
		same = near(c->share, share_of(o, doers->items[k].ns)) && near(c->mean_ns, (double)mean / (double)o->row_cnt) &&
		       same_how(o, &doers->items[k], c) && (i == 0 || f->causes.items[i - 1].share >= c->share);
		doers->items[k].is_found = true;
		++*looked_at;
	}
	for (size_t k = 0; same && k < doers->cnt; k++)
		same = doers->items[k].is_found;
	if (same && f->interval.variance_ns2 > 0)
		same = near(sum, 1);
	oracle_free(o);
	free(doers);
	return same;
}

int main(void)
{
	unsigned int wrong = 0;
	size_t looked_at = 0;

	for (unsigned int seed = 1; seed <= TRACES; seed++) {
		struct trace *t = random_trace(seed, seed % 2 ? RANDOM_PROGRAM : RANDOM_ANY);

		trace_sort(t);
		for (uint32_t name = 0; name < t->interval_names.cnt; name++)
			if (!compare(t, name, &looked_at)) {
				fprintf(stderr, "seed %u, interval %u: causes differ\n", seed, name);
				wrong++;
			}
		trace_free(t);
	}
	printf("%d traces, %zu causes, %u differences\n", TRACES, looked_at, wrong);
	return wrong || looked_at < 3 * TRACES;	/* so that it has looked at something */
}
