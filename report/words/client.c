/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * client.c - figures in what load generators print.
 *
 * Each tool has a line by which it is known, and each figure the words before it.  The figure is the first number after
 * these words, in the same line; a unit after the number counts, otherwise the tool's own.
 *
 *	wrk	    Latency   635.91us    0.89ms  12.92ms   93.69%	words "Latency", the 1st and 2nd number
 *	ab	Total:          1    4   2.1      4      31		words "Total:", the 2nd and 3rd
 */
#include "report/words/client.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/text/label.h"
#include "report/style.h"

#define HELD_LEAST 0.5			/* of the client's: with less, the interval is not what the client feels */

struct figure {
	const char *words;		/* NULL: the tool does not print it */
	int number;			/* which one behind the words, from 1; or the last but so many of the line: -1 is the last */
	bool next_line;			/* in the line below them */
};

struct tool {
	const char *name, *known_by;
	double unit_ns;
	struct figure mean, sd, p99;
};

static const struct tool tools[] = {
	{ "ab", "This is ApacheBench", 1e6, { "Total:", 2, false }, { "Total:", 3, false }, { "\n  99%", 1, false } },
	{ "wrk", "Thread Stats", 1e6, { "Latency", 1, false }, { "Latency", 2, false }, { "\n     99%", 1, false } },
	{ "pgbench", "latency average", 1e6, { "latency average =", 1, false }, { "latency stddev =", 1, false }, { NULL, 0, false } },
	{ "dnsperf", "DNS Performance Testing Tool", 1e9, { "Average Latency (s):", 1, false }, { "Latency StdDev (s):", 1, false },
	  { NULL, 0, false } },
	{ "redis-benchmark", "latency summary (msec)", 1e6, { "avg ", 1, true }, { NULL, 0, false }, { "avg ", 5, true } },
	{ "redis-benchmark", "\"avg_latency_ms\",\"min_latency_ms\"", 1e6, { "\"p99_latency_ms\"", -6, true }, { NULL, 0, false },
	  { "\"p99_latency_ms\"", -2, true } },	/* --csv */
	{ "memaslap", "Total Statistics", 1e3, { "Avg:", 1, false }, { "Std:", 1, false }, { NULL, 0, false } },
};

/* The number at text, with its unit; false: there is none. */
static bool parse_number(const char *text, double unit_ns, double *ret_ns, const char **ret_end)
{
	static const struct { const char *name; double ns; } units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "\xc2\xb5s", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 },
	};
	char *end;
	double value = strtod(text, &end);

	if (end == text || !isfinite(value))
		return false;
	*ret_end = end;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		size_t len = strlen(units[i].name);

		if (strncmp(end, units[i].name, len) == 0 && !isalnum((unsigned char)end[len])) {
			unit_ns = units[i].ns;
			*ret_end = end + len;
			break;
		}
	}
	*ret_ns = value * unit_ns;
	return true;
}

bool client_parse_time(const char *text, double *ret_ns)
{
	const char *end;

	return isdigit((unsigned char)*text) && parse_number(text, 1e6, ret_ns, &end) && !*end && *ret_ns > 0;
}

/* The n-th number from text to the end of its line; *ret_cnt: how many there were until then. */
static bool count_numbers(const char *text, int n, double unit_ns, double *ret_ns, int *ret_cnt)
{
	*ret_cnt = 0;
	while (*text && *text != '\n') {
		const char *end;

		if (!isdigit((unsigned char)*text) || !parse_number(text, unit_ns, ret_ns, &end)) {
			text++;
			continue;
		}
		if (++*ret_cnt == n)
			return *ret_ns > 0;
		text = end;
	}
	return false;
}

/* The n-th number of the line, or if it is negative the last but -n - 1. */
static bool nth_number(const char *text, int n, double unit_ns, double *ret_ns)
{
	int cnt;

	if (n > 0)
		return count_numbers(text, n, unit_ns, ret_ns, &cnt);
	count_numbers(text, 0, unit_ns, ret_ns, &cnt);
	return cnt + n >= 0 && count_numbers(text, cnt + n + 1, unit_ns, ret_ns, &cnt);
}

static bool find(const char *text, const struct figure *f, double unit_ns, double *ret_ns)
{
	const char *at = f->words ? strstr(text, f->words) : NULL;

	if (!at)
		return false;
	at += strlen(f->words);
	if (f->next_line) {
		at = strchr(at, '\n');
		if (!at)
			return false;
		at++;
	}
	return nth_number(at, f->number, unit_ns, ret_ns);
}

bool client_parse(const char *text, struct client *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		const struct tool *t = &tools[i];
		const char *from = strstr(text, t->known_by);

		if (!from)
			continue;
		*ret = (struct client){ .tool = t->name };
		ret->has_mean = find(from, &t->mean, t->unit_ns, &ret->mean_ns);
		ret->has_sd = find(from, &t->sd, t->unit_ns, &ret->sd_ns);
		ret->has_p99 = find(from, &t->p99, t->unit_ns, &ret->p99_ns);
		return ret->has_sd || ret->has_p99;
	}
	return false;
}

double client_variance_held(const struct findings *f, const struct client *c)
{
	return c->has_sd ? f->interval.variance_ns2 / (c->sd_ns * c->sd_ns) : NAN;
}

/* "0.05 %": as many digits as a small share needs. */
static void add_share(struct str *to, double share)
{
	double percent = share * 100;

	if (percent < 0.001)
		str_add(to, "less than 0.001 %");
	else
		str_addf(to, percent < 0.1 ? "%.2g %%" : percent < 10 ? "%.1f %%" : "%.0f %%", percent);
}

char *client_text(const struct findings *f, const struct client *c, bool utf8)
{
	double held = client_variance_held(f, c), p99_held = c->has_p99 ? (double)f->interval.p99_ns / c->p99_ns : 1;
	struct str s = STR_INIT;
	char ours[TEXT_MAX], theirs[TEXT_MAX];

	if (!isnan(held) && held > 1) {
		str_addf(&s, "your interval varies as much as your client sees, and more (sd %s, the client's %s)",
			 text_ns(ours, f->interval.stddev_ns, utf8), text_ns(theirs, c->sd_ns, utf8));
	} else if (!isnan(held)) {
		str_add(&s, "your interval holds ");
		add_share(&s, held);
		str_addf(&s, " of the variance that your client sees (sd %s, the client's %s)", text_ns(ours, f->interval.stddev_ns, utf8),
			 text_ns(theirs, c->sd_ns, utf8));
	}
	if (c->has_p99)
		str_addf(&s, "%sthe interval's p99 is %s, your client's %s", s.len ? "; " : "", text_ns(ours, (double)f->interval.p99_ns, utf8),
			 text_ns(theirs, c->p99_ns, utf8));
	if ((isnan(held) ? p99_held : held) < HELD_LEAST)
		str_add(&s, ". What varies is before the interval begins, after it ends, or in the client: begin it where the request arrives "
			    "(vprof record --from-arrival; vprof check)");
	return str_take(&s);
}
