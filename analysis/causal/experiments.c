/* SPDX-License-Identifier: GPL-3.0-or-later */
/* experiments.c - names of metrics and targets; the choice of the best experiment. */
#include "analysis/causal/experiments.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/str.h"


static const char *const metric_names[] = {
#define X(id, name, key) [GAIN_##id] = name,
	GAIN_METRICS(X)
#undef X
};

static const char *const metric_keys[] = {
#define X(id, name, key) [GAIN_##id] = key,
	GAIN_METRICS(X)
#undef X
};

static const char *const kind_names[] = {
#define X(id, name) [ASKED_##id] = name,
	ASKED_KINDS(X)
#undef X
};

const char *gain_metric_name(enum gain_metric m)
{
	return metric_names[m];
}

const char *gain_metric_key(enum gain_metric m)
{
	return metric_keys[m];
}

bool gain_metric_parse(const char *name, enum gain_metric *ret)
{
	for (unsigned m = 0; m < GAIN_CNT; m++)
		if (strcmp(name, metric_names[m]) == 0) {
			*ret = m;
			return true;
		}
	return false;
}

double gain_metric_quantile(enum gain_metric m)
{
	switch (m) {
	case GAIN_P50:
		return 0.5;
	case GAIN_P90:
		return 0.9;
	case GAIN_P99:
		return 0.99;
	case GAIN_P999:
		return 0.999;
	default:
		return 0;
	}
}

const char *asked_kind_name(enum asked_kind kind)
{
	return kind_names[kind];
}

static bool is_cpu_cnt(const char *text)
{
	unsigned long cnt = strtoul(text, NULL, 10);

	return text[strspn(text, "0123456789")] == '\0' && cnt >= 1 && cnt <= CPUS_MOST;
}

/* Some words stand alone, others stand before a name. */
bool experiment_target_parse(const char *text, enum asked_kind *ret_kind, const char **ret_name)
{
	static const struct {
		const char *text;
		enum asked_kind kind;
		bool alone;
	} words[] = {
		{ "io", ASKED_IO, true }, { "queue", ASKED_QUEUE, true }, { "runqueue", ASKED_RUNQUEUE, true },
		{ "io@", ASKED_IO, false }, { "body:", ASKED_BODY, false }, { "pc:", ASKED_PC, false },
		{ "lock:", ASKED_LOCK, false }, { "disk:", ASKED_DEVICE, false }, { "wait:", ASKED_WAIT, false },
		{ "cpus:", ASKED_CPUS, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (words[i].alone ? strcmp(text, words[i].text) != 0 : !starts_with(text, words[i].text))
			continue;
		*ret_kind = words[i].kind;
		*ret_name = words[i].alone ? NULL : text + strlen(words[i].text);
		return words[i].kind == ASKED_CPUS ? is_cpu_cnt(*ret_name) : words[i].alone || **ret_name;
	}
	*ret_kind = ASKED_FUNCTION;
	*ret_name = text;
	return *text != '\0';
}

struct experiments *experiments_new(void)
{
	struct experiments *e = xcalloc(1, sizeof(*e));

	e->arena = arena_new();
	e->best = SIZE_MAX;
	return e;
}

void experiments_free(struct experiments *e)
{
	if (!e)
		return;
	VEC_RELEASE(&e->list);
	VEC_RELEASE(&e->refused);
	VEC_RELEASE(&e->warnings);
	arena_free(e->arena);
	free(e);
}

/* Whether the same target has an experiment at a speedup nearer to 0.5. */
static bool has_nearer(const struct experiments *e, size_t i)
{
	double off = fabs(e->list.items[i].speedup - 0.5);

	for (size_t k = 0; k < e->list.cnt; k++)
		if (strcmp(e->list.items[k].target, e->list.items[i].target) == 0 && fabs(e->list.items[k].speedup - 0.5) < off)
			return true;
	return false;
}

static void choose_among(struct experiments *e, bool all_speedups, bool all_kinds)
{
	double most = 0;

	for (size_t i = 0; i < e->list.cnt; i++) {
		const struct gain *g = &e->list.items[i].metrics[e->metric];
		bool counts = e->replayed ? g->has_predicted : g->known && g->has_ci95 && g->ci95[0] > 0;
		double gain = e->replayed ? g->predicted : g->gain;

		if (!counts || !(gain > most) || (!all_speedups && has_nearer(e, i)) ||
		    (!all_kinds && kind_is_replayed_only(e->list.items[i].kind)))
			continue;
		most = gain;
		e->best = i;
	}
}

void experiments_choose_best(struct experiments *e)
{
	e->best = SIZE_MAX;
	choose_among(e, false, false);
	if (e->best == SIZE_MAX)
		choose_among(e, true, false);
	if (e->best == SIZE_MAX)
		choose_among(e, true, true);
}

static double gain_of(const struct experiments *e, const struct experiment *x)
{
	return e->replayed ? x->metrics[e->metric].predicted : x->metrics[e->metric].gain;
}

struct experiment *experiments_flat_from(const struct experiments *e, const char *target)
{
	struct experiment *last = NULL, *from = NULL;

	for (size_t i = e->list.cnt; i-- > 0; ) {
		struct experiment *x = &e->list.items[i];

		if (strcmp(x->target, target) != 0)
			continue;
		if (last && fabs(gain_of(e, x) - gain_of(e, last)) > GAIN_FLAT)
			break;
		from = last ? x : NULL;
		last = last ? last : x;
	}
	return from;
}

size_t experiments_target_number(const struct experiments *e, const char *target, size_t len, size_t *ret_cnt)
{
	size_t found = SIZE_MAX;

	*ret_cnt = 0;
	for (size_t i = 0; i < e->list.cnt; i++) {
		const char *name = e->list.items[i].target;

		if (i && strcmp(name, e->list.items[i - 1].target) == 0)
			continue;
		if (strlen(name) == len && memcmp(name, target, len) == 0)
			found = *ret_cnt;
		++*ret_cnt;
	}
	return found;
}

void experiments_refuse(struct experiments *e, const char *target, const char *why, const char *instead)
{
	VEC_ADD(&e->refused, (struct refusal){
		arena_strdup(e->arena, target), arena_strdup(e->arena, why), instead ? arena_strdup(e->arena, instead) : NULL,
	});
}
