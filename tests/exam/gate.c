/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gate.c - vprof diff, simulated: how often it cries wolf, what it finds, whether its intervals hold the truth.
 *
 *	tests/exam/gate [ROUNDS]	prints a table, writes results/gate.json, ends with 1 where a target is missed
 *
 * A run is 4,000 intervals of two functions whose times are lognormal (s), each interval resembling its predecessor (rho), all
 * of a run longer or shorter by a factor of its own (tau: its spread), and of a slow drift that goes on from run to run.
 */
#include <string.h>
#include <unistd.h>

#include "tests/unit/analysis/sides.h"
#include "base/banned.h"

enum { INTERVALS = 4000 };
/* Canaries among hosts: the worlds of the study of fleets. */
enum { CANARIES = 5, OTHERS = 20, HOST_INTERVALS = 800, HOST_ROUNDS = 400 };

struct world {
	double s, rho, tau, drift;	/* drift: sd of its step from one run to the next */
	size_t runs;
	bool turns;			/* ABBA; else AAA BBB */
	double scale;			/* of f0 in the head */
};

static FILE *json;
static bool first_row = true, missed;

/* sign 1: at least target; -1: at most; 0: printed only. */
static void report(const char *name, double value, int sign, double target)
{
	bool ok = sign == 0 || (sign > 0 ? value >= target : value <= target);
	char text[32] = "null";

	if (sign)
		snprintf(text, sizeof(text), "%g", target);
	printf("%-92s %6.3f %s%-5s %s\n", name, value, sign > 0 ? ">= " : sign < 0 ? "<= " : "   ", sign ? text : "",
	       ok ? sign ? "ok" : "" : "MISSED");
	fflush(stdout);
	fprintf(json, "%s\n  {\"name\":\"%s\",\"value\":%.6g,\"unit\":\"of 1\",\"target\":%s,\"ok\":%s}", first_row ? "" : ",", name,
		value, text, ok ? "true" : "false");
	first_row = false;
	missed |= !ok;
}

static struct findings *draw_run(const struct world *w, struct numbers *n, double factor, double scale)
{
	double *times_ns = xcalloc(2 * INTERVALS, sizeof(*times_ns)), z[2] = { numbers_normal(n), numbers_normal(n) };
	struct findings *f;

	for (size_t i = 0; i < INTERVALS; i++)
		for (size_t k = 0; k < 2; k++) {
			z[k] = w->rho * z[k] + sqrt(1 - w->rho * w->rho) * numbers_normal(n);
			times_ns[2 * i + k] = 1e6 * factor * (k == 0 ? scale : .5) * exp(w->s * z[k]);
		}
	f = run_of(times_ns, INTERVALS, 2);
	free(times_ns);
	return f;
}

/* Which side the run of that number is of. */
static enum side side_of(const struct world *w, size_t number)
{
	if (!w->turns)
		return number < w->runs ? SIDE_BASE : SIDE_HEAD;
	return (number + 1) / 2 % 2 ? SIDE_HEAD : SIDE_BASE;
}

static struct comparison *draw(const struct world *w, struct numbers *n, struct own_side sides[SIDE_CNT])
{
	double drift = 0;
	struct compared_side b, h;

	sides[0].cnt = sides[1].cnt = 0;
	for (size_t i = 0; i < 2 * w->runs; i++) {
		enum side s = side_of(w, i);

		drift += w->drift * numbers_normal(n);
		side_add(&sides[s], (int64_t)i, draw_run(w, n, exp(drift + w->tau * numbers_normal(n)),
							  s == SIDE_HEAD ? w->scale : 1));
	}
	b = side_as(&sides[SIDE_BASE]);
	h = side_as(&sides[SIDE_HEAD]);
	return compare(&b, &h);
}

static enum gate_result judge(const struct comparison *c, const char *terms)
{
	enum gate_result result;
	struct gate g;

	if (gate_parse(terms, &g, NULL) < 0)
		abort();
	gate_judge(&g, c);
	result = g.result;
	gate_release(&g);
	return result;
}

/* How often the gate fails, passes; the planted function is the first change. */
struct rates {
	double fail, pass, first;
};

static struct rates gate_rates(const struct world *w, const char *terms, unsigned rounds)
{
	struct numbers n = { 201 };
	struct rates r = { 0, 0, 0 };

	for (unsigned i = 0; i < rounds; i++) {
		struct own_side sides[SIDE_CNT];
		struct comparison *c = draw(w, &n, sides);
		enum gate_result result = judge(c, terms);

		r.fail += (result == GATE_FAIL) / (double)rounds;
		r.pass += (result == GATE_PASS) / (double)rounds;
		r.first += (strcmp(c->changes.items[0].function, "f0") == 0 && c->changes.items[0].delta_ns2 > 0) / (double)rounds;
		comparison_free(c);
		side_release(&sides[0]);
		side_release(&sides[1]);
	}
	return r;
}

#define ALL_TERMS "mean>+0%,p50>+0%,p99>+0%,var>+0%,share:f0>+0pt"

static void exam_false_alarms(unsigned rounds)
{
	static const struct {
		const char *name;
		struct world w;
	} worlds[] = {
		{ "s .3, independent, runs alike, 5 a side", { .3, 0, 0, 0, 5, false, 1 } },
		{ "s .3, rho .9, runs spread by a tenth, 3 a side", { .3, .9, .1, 0, 3, false, 1 } },
		{ "s .3, rho .9, runs spread by a tenth, 10 a side", { .3, .9, .1, 0, 10, false, 1 } },
		{ "s 1, rho .9, runs spread by a tenth, 5 a side", { 1, .9, .1, 0, 5, false, 1 } },
		{ "s .3, rho .9, drift from run to run, 5 in turns", { .3, .9, .02, .1, 5, true, 1 } },
		{ "s 1, rho .9, drift from run to run, 10 in turns", { 1, .9, .1, .1, 10, true, 1 } },
	};
	char name[192];

	for (size_t i = 0; i < sizeof(worlds) / sizeof(*worlds); i++) {
		snprintf(name, sizeof(name), "A/A, five terms at +0 %%: %s: false alarms", worlds[i].name);
		report(name, gate_rates(&worlds[i].w, ALL_TERMS, rounds).fail, -1, .05 + 1.64 * sqrt(.05 * .95 / rounds));
	}
	report("A/A, p99>+10%: s .3, rho .9, runs spread by a tenth, 10 a side: false alarms",
	       gate_rates(&worlds[2].w, "p99>+10%", rounds).fail, -1, .05);
	report("A/A, one term at +0 %: drift from run to run, 5 a side, one after the other: warned of, not mended",
	       gate_rates(&(struct world){ .3, .9, .02, .1, 5, false, 1 }, "mean>+0%", rounds).fail, 0, 0);
}

/* f0 has 4/5 of the variance: 2.25 times its variance doubles that of T. */
static void exam_power(unsigned rounds)
{
	const struct world ten = { .5, .9, .1, 0, 10, false, 1.5 }, turns = { .5, .9, .1, .1, 10, true, 1.5 },
			   five = { .5, .9, .1, 0, 5, false, 1.5 }, heavy = { 1, .9, .1, 0, 10, false, 1.5 };
	struct rates r = gate_rates(&ten, "var>+10%", rounds);

	report("variance doubled, var>+10%: s .5, rho .9, runs spread by a tenth, 10 a side: found", r.fail, 1, .8);
	report("... and the right cause is first", r.first, 1, .95);
	report("... the same in turns, with drift from run to run", gate_rates(&turns, "var>+10%", rounds).fail, 1, .8);
	report("... 5 a side", gate_rates(&five, "var>+10%", rounds).fail, 0, 0);
	report("... s 1, 10 a side", gate_rates(&heavy, "var>+10%", rounds).fail, 0, 0);
}

/* ---- hosts ---- */

/* Two lognormal parts; a host is quicker or slower in one of them, for good. */
static struct findings *draw_host(struct numbers *n, double effect, double scale)
{
	double *times_ns = xcalloc(2 * HOST_INTERVALS, sizeof(*times_ns)), own = exp(effect * numbers_normal(n));
	struct findings *f;

	for (size_t i = 0; i < HOST_INTERVALS; i++) {
		times_ns[2 * i] = 1e6 * own * scale * exp(.5 * numbers_normal(n));
		times_ns[2 * i + 1] = .5e6 * exp(.5 * numbers_normal(n));
	}
	f = run_of(times_ns, HOST_INTERVALS, 2);
	free(times_ns);
	return f;
}

static void add_hosts(struct own_side *s, char (*names)[16], size_t cnt, struct numbers *n, double effect, double scale)
{
	s->cnt = 0;
	for (size_t i = 0; i < cnt; i++) {
		side_add(s, 0, draw_host(n, effect, scale));
		s->runs[i].host = names[i];
	}
}

/* Counts in HOST_ROUNDS how often the 95 % interval of the variance's ratio excludes 1, and how often a gate of five terms fails. */
static void draw_canaries(double effect, double scale, size_t canaries, double *ret_differs, double *ret_fails, double *ret_judged)
{
	struct numbers n = { 204 };
	char names[SIDE_CNT][OTHERS][16];

	*ret_differs = *ret_fails = *ret_judged = 0;
	for (size_t i = 0; i < OTHERS; i++) {
		snprintf(names[SIDE_BASE][i], sizeof(names[0][0]), "base-%02zu", i);
		snprintf(names[SIDE_HEAD][i], sizeof(names[0][0]), "canary-%02zu", i);
	}
	for (unsigned i = 0; i < HOST_ROUNDS; i++) {
		struct own_side sides[SIDE_CNT];
		struct compared_side b, h;
		struct comparison *c;
		const struct compared_metric *var;

		add_hosts(&sides[SIDE_BASE], names[SIDE_BASE], OTHERS, &n, effect, 1);
		add_hosts(&sides[SIDE_HEAD], names[SIDE_HEAD], canaries, &n, effect, scale);
		b = side_as(&sides[SIDE_BASE]);
		h = side_as(&sides[SIDE_HEAD]);
		c = compare_hosts(&b, &h);
		var = &c->metrics[METRIC_VAR];
		*ret_judged += c->enough / (double)HOST_ROUNDS;
		*ret_differs += (c->enough && var->has_ci95 && (var->ci95[0] > 1 || var->ci95[1] < 1)) / (double)HOST_ROUNDS;
		*ret_fails += (judge(c, ALL_TERMS) == GATE_FAIL) / (double)HOST_ROUNDS;
		comparison_free(c);
		side_release(&sides[0]);
		side_release(&sides[1]);
	}
}

static void exam_hosts(void)
{
	static const double effects[] = { 0, .05, .15 };
	double differs, fails, judged;
	char name[192];

	for (size_t i = 0; i < sizeof(effects) / sizeof(*effects); i++) {
		draw_canaries(effects[i], 1, CANARIES, &differs, &fails, &judged);
		snprintf(name, sizeof(name), "5 canaries of 25 equal hosts, effect of a host %g: var is called different", effects[i]);
		report(name, differs, -1, .07);
		snprintf(name, sizeof(name), "... a gate of five terms at +0 %% fails");
		report(name, fails, -1, .07);
	}
	draw_canaries(.15, 1.5, CANARIES, &differs, &fails, &judged);
	report("... canaries with one part half as long again, effect of a host 0.15: var is called different", differs, 1, .8);
	draw_canaries(.15, 1.5, CANARIES - 1, &differs, &fails, &judged);
	report("... of 4 canaries nothing is judged", judged + fails, -1, 0);
}

/* ---- intervals ---- */

/* Nothing changed: every ratio is 1, every change 0. */
static void exam_coverage(const struct world *w, const char *of, unsigned rounds)
{
	struct numbers n = { 202 };
	size_t covered[METRIC_CNT] = { 0 }, changes = 0;
	char name[192];

	for (unsigned i = 0; i < rounds; i++) {
		struct own_side sides[SIDE_CNT];
		struct comparison *c = draw(w, &n, sides);

		for (unsigned m = 0; m < METRIC_CNT; m++)
			covered[m] += c->metrics[m].ci95[0] <= 1 && 1 <= c->metrics[m].ci95[1];
		for (size_t k = 0; k < c->changes.cnt; k++)
			changes += c->changes.items[k].ci95[0] <= 0 && 0 <= c->changes.items[k].ci95[1];
		comparison_free(c);
		side_release(&sides[0]);
		side_release(&sides[1]);
	}
	for (unsigned m = 0; m < METRIC_CNT; m++) {
		snprintf(name, sizeof(name), "ci95 of %s covers: %s", metric_name((enum metric)m), of);
		report(name, (double)covered[m] / rounds, 1, .92 - 1.64 * sqrt(.92 * .08 / rounds));
	}
	snprintf(name, sizeof(name), "ci95 of a change covers: %s", of);
	report(name, (double)changes / (2. * rounds), 1, .92 - 1.64 * sqrt(.92 * .08 / rounds));
}

/* f0 is half as long again: what its part should be is the mean over many draws. */
static void exam_change_coverage(const struct world *w, const char *of, unsigned rounds)
{
	struct numbers n = { 203 };
	double (*ci)[2] = xcalloc(rounds, sizeof(*ci)), mean = 0;
	size_t covered = 0;
	char name[192];

	for (unsigned i = 0; i < rounds; i++) {
		struct own_side sides[SIDE_CNT];
		struct comparison *c = draw(w, &n, sides);
		const struct change *x = &c->changes.items[strcmp(c->changes.items[0].function, "f0") != 0];

		memcpy(ci[i], x->ci95, sizeof(ci[i]));
		mean += x->delta_ns2 / rounds;
		comparison_free(c);
		side_release(&sides[0]);
		side_release(&sides[1]);
	}
	for (unsigned i = 0; i < rounds; i++)
		covered += ci[i][0] <= mean && mean <= ci[i][1];
	snprintf(name, sizeof(name), "ci95 of the change of a planted cause covers: %s", of);
	report(name, (double)covered / rounds, 1, .92 - 1.64 * sqrt(.92 * .08 / rounds));
	free(ci);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 400;

	json = fopen("results/gate.json", "w");
	if (!json || !rounds) {
		perror("results/gate.json");
		return 99;
	}
	fprintf(json, "{\"schema\":\"vprof.bench/1\",\"host\":{\"cores\":%ld},\"rows\":[", sysconf(_SC_NPROCESSORS_ONLN));
	exam_false_alarms(rounds);
	exam_power(rounds);
	exam_hosts();
	exam_coverage(&(struct world){ .3, .9, .1, 0, 3, false, 1 }, "3 a side, s .3, rho .9, spread", rounds);
	exam_coverage(&(struct world){ .5, .9, .1, .1, 5, true, 1 }, "5 in turns, s .5, rho .9, drift", rounds);
	exam_coverage(&(struct world){ 1, .9, .1, 0, 10, false, 1 }, "10 a side, s 1, rho .9, spread", rounds);
	exam_change_coverage(&(struct world){ .5, .9, .1, 0, 5, false, 1.5 }, "5 a side, s .5, rho .9, spread", rounds);
	exam_change_coverage(&(struct world){ 1, .9, .1, 0, 10, false, 1.5 }, "10 a side, s 1, rho .9, spread", rounds);
	fprintf(json, "]}\n");
	fclose(json);
	return missed;
}
