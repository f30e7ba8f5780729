/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tsv_write.c - writes the rows.
 *
 * Every row of sums begins with the window that it belongs to, so that SQL can choose and group without a join.
 */
#include "digest/tsv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include "base/banned.h"
#include "base/map.h"
#include "digest/digest.h"

struct tsv_writer {
	const struct summed *s;
	const struct tsv_options *o;
	struct str *to;
	uint64_t *places;
	struct str key;			/* the first columns of the window's rows */
};

static bool is_wanted(const struct tsv_writer *w, enum tsv_table table)
{
	return !w->o->table || strcmp(w->o->table, tsv_tables[table]) == 0;
}

/* ---- fields ---- */

static void add_text(struct str *to, const char *text)
{
	for (const char *c = text ? text : ""; *c; c++)
		switch (*c) {
		case '\t':
			str_add(to, "\\t");
			break;
		case '\n':
			str_add(to, "\\n");
			break;
		case '\r':
			str_add(to, "\\r");
			break;
		case '\\':
			str_add(to, "\\\\");
			break;
		default:
			str_addc(to, *c);
		}
}

static void text_field(struct str *to, const char *text)
{
	str_addc(to, '\t');
	add_text(to, text);
}

static void number_field(struct str *to, uint64_t value)
{
	str_addf(to, "\t%" PRIu64, value);
}

static void signed_field(struct str *to, int64_t value)
{
	str_addf(to, "\t%" PRId64, value);
}

static void sum_field(struct str *to, __int128 sum)
{
	char digits[41];
	size_t at = sizeof(digits) - 1;
	unsigned __int128 rest = (unsigned __int128)sum;

	digits[at] = '\0';
	do {
		digits[--at] = (char)('0' + (int)(rest % 10));
		rest /= 10;
	} while (rest);
	str_addc(to, '\t');
	str_add(to, digits + at);
}

/* A row's first field: the table's name, or nothing. */
static void begin_row(struct tsv_writer *w, enum tsv_table table)
{
	if (!w->o->table)
		str_add(w->to, tsv_tables[table]);
}

/* Fields begin with a tab; where a row has no name before them, the first one goes. */
static void end_row(struct tsv_writer *w, size_t from)
{
	if (w->o->table && w->to->data[from] == '\t') {
		memmove(w->to->data + from, w->to->data + from + 1, w->to->len - from);	/* with the NUL */
		w->to->len--;
	}
	str_addc(w->to, '\n');
}

#define ROW(w, table, fields)					\
	do {							\
		size_t from_ = (w)->to->len;			\
		struct str *to = (w)->to;			\
								\
		begin_row(w, table);				\
		fields						\
		end_row(w, from_);				\
	} while (0)

static const char *call_site_of(const struct summed *s, uint32_t call_site)
{
	return call_site == CALL_SITE_NONE ? "" : s->call_sites.items[call_site];
}

static const char *function_text(const struct summed *s, uint32_t function)
{
	static const char *const devices[] = { "", "(disk)", "(nic)", "(timer)", "(kernel)" };

	for (unsigned kind = 0; kind < sizeof(devices) / sizeof(*devices); kind++)
		if (function == SUMMED_DEVICE(kind))
			return devices[kind];
	return function > SUMMED_DEVICE(SUMMED_DEVICES) ? "" : s->functions.items[function].name;
}

/* ---- names ---- */

static void write_functions(struct tsv_writer *w)
{
	for (uint32_t i = 0; i < w->s->functions.cnt; i++) {
		const struct summed_function *f = &w->s->functions.items[i];

		ROW(w, TSV_FUNCTION,
			number_field(to, tsv_function_id(w->s, i));
			text_field(to, f->name);
			text_field(to, f->file);
			number_field(to, f->line);
			number_field(to, f->key);
			number_field(to, f->height);
			number_field(to, f->open);
			number_field(to, f->registered);
			number_field(to, f->left_out););
	}
}

static void write_calls(struct tsv_writer *w)
{
	for (size_t i = 0; i < w->s->calls.cnt; i++) {
		const struct summed_call *c = &w->s->calls.items[i];

		ROW(w, TSV_CALL,
			number_field(to, tsv_function_id(w->s, c->caller));
			number_field(to, tsv_function_id(w->s, c->callee));
			text_field(to, c->call_site == SUMMED_THROUGH_OTHERS ? "" : call_site_of(w->s, c->call_site));
			number_field(to, c->call_site == SUMMED_THROUGH_OTHERS););
	}
}

static void write_names(struct tsv_writer *w)
{
	const char *kind = "";

	for (size_t i = 0; i < w->s->places.cnt; i++) {
		const struct summed_place *p = &w->s->places.items[i], *root = p;

		while (root->parent != NODE_NONE)
			root = &w->s->places.items[root->parent];
		kind = w->s->interval_names.items[root->name];
		ROW(w, TSV_NAME,
			number_field(to, w->places[i]);
			number_field(to, p->parent == NODE_NONE ? 0 : w->places[p->parent]);
			text_field(to, kind);
			text_field(to, node_kind_name(p->kind));
			text_field(to, trace_state_name(p->wait));
			number_field(to, p->is_wait);
			text_field(to, thread_kind_name(p->device));
			number_field(to, tsv_function_id(w->s, p->function));
			text_field(to, function_text(w->s, p->function));
			text_field(to, call_site_of(w->s, p->call_site)););
	}
}

/* ---- windows ---- */

/* When it began, as far as that is known, in UTC; ClickHouse of 2018 has dates from 1970 to 2105. */
static void add_time(struct str *to, const struct summed_source *o, const struct summed_window *v, const char *format)
{
	int64_t ns = v->from_ns == INT64_MIN || !o->clock_ns ? o->started_ns : 0;
	time_t seconds;
	struct tm tm;
	char text[32];

	if (!ns && v->from_ns != INT64_MIN && __builtin_add_overflow(v->from_ns, o->clock_ns, &ns))
		ns = 0;
	seconds = (time_t)(ns / 1000000000);
	if (ns < 0 || seconds > (time_t)UINT32_MAX)
		seconds = 0;
	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), format, &tm);
	str_add(to, text);
}

static void make_key(struct tsv_writer *w, const struct summed_window *v)
{
	const struct summed_source *o = &w->s->sources.items[v->source];
	struct str *k = &w->key;

	str_reset(k);
	str_addc(k, '\t');
	add_time(k, o, v, "%Y-%m-%d");
	text_field(k, w->o->service);
	text_field(k, o->build);
	text_field(k, w->s->interval_names.items[w->s->places.items[v->root].name]);
	text_field(k, o->host);
	text_field(k, o->boot);
	str_addc(k, '\t');
	add_time(k, o, v, "%Y-%m-%d %H:%M:%S");
	number_field(k, tsv_source_id(o));
	signed_field(k, v->from_ns);
}

static void write_window(struct tsv_writer *w, const struct summed_window *v)
{
	const struct summed_source *o = &w->s->sources.items[v->source];
	const struct summed_counts *c = &v->counts;
	const uint64_t counts[] = { v->n, v->recorded, v->unit, (uint64_t)v->min_ns, (uint64_t)v->max_ns, c->open, c->aborted,
				    c->bad_path, c->lost, c->nested, c->unmatched_ends, c->lost_records, c->has_pairing,
				    c->knows_runqueue, v->root_only.n, (uint64_t)v->root_only.max_ns };

	ROW(w, TSV_WINDOW,
		str_add(to, str_cstr(&w->key));
		signed_field(to, v->until_ns);
		text_field(to, o->machine);
		text_field(to, o->container);
		text_field(to, o->run);
		signed_field(to, o->started_ns);
		signed_field(to, o->clock_ns);
		number_field(to, o->recording);
		for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
			number_field(to, counts[i]);
		sum_field(to, c->waited_ns);
		sum_field(to, c->no_waker_ns);
		sum_field(to, c->io_waited_ns);
		sum_field(to, c->io_no_waker_ns);
		sum_field(to, v->root_only.t);
		sum_field(to, v->root_only.tt););
}

static void write_sums(struct tsv_writer *w, const struct summed_window *v)
{
	for (size_t i = 0; is_wanted(w, TSV_NODE) && i < v->sums.cnt; i++) {
		const struct summed_sums *s = &v->sums.items[i];

		ROW(w, TSV_NODE,
			str_add(to, str_cstr(&w->key));
			number_field(to, w->places[s->place]);
			number_field(to, s->calls);
			number_field(to, s->presence);
			sum_field(to, s->x);
			sum_field(to, s->xx);
			sum_field(to, s->xt););
	}
	for (size_t i = 0; is_wanted(w, TSV_PAIR) && i < v->pairs.cnt; i++) {
		const struct summed_pair *p = &v->pairs.items[i];
		uint64_t a = w->places[p->a], b = w->places[p->b];

		ROW(w, TSV_PAIR,	/* in the order of numbers that are the same in all digests */
			str_add(to, str_cstr(&w->key));
			number_field(to, a < b ? a : b);
			number_field(to, a < b ? b : a);
			sum_field(to, p->xy););
	}
}

static void own_fields(struct tsv_writer *w, const struct summed_own *own)
{
	text_field(w->to, tsv_own_kinds[own->kind]);
	text_field(w->to, trace_state_name(own->wait));
	number_field(w->to, tsv_function_id(w->s, own->function));
}

static void write_owns(struct tsv_writer *w, const struct summed_window *v)
{
	for (size_t i = 0; is_wanted(w, TSV_OWN) && i < v->owns.cnt; i++)
		ROW(w, TSV_OWN,
			str_add(to, str_cstr(&w->key));
			own_fields(w, &v->owns.items[i]);
			number_field(to, v->owns.items[i].cnt);
			sum_field(to, v->owns.items[i].t);
			sum_field(to, v->owns.items[i].xx););
	for (size_t i = 0; is_wanted(w, TSV_SHARE) && i < v->shares.cnt; i++)
		ROW(w, TSV_SHARE,
			str_add(to, str_cstr(&w->key));
			own_fields(w, &v->owns.items[v->shares.items[i].own]);
			number_field(to, v->shares.items[i].bucket);
			number_field(to, v->shares.items[i].n););
}

static void write_buckets(struct tsv_writer *w, const struct summed_window *v)
{
	for (size_t i = 0; is_wanted(w, TSV_BUCKET) && i < v->buckets.cnt; i++)
		ROW(w, TSV_BUCKET,
			str_add(to, str_cstr(&w->key));
			number_field(to, v->buckets.items[i].bucket);
			number_field(to, v->buckets.items[i].n);
			number_field(to, v->buckets.items[i].recorded);
			sum_field(to, v->buckets.items[i].t););
	for (size_t i = 0; is_wanted(w, TSV_CELL) && i < v->cells.cnt; i++)
		ROW(w, TSV_CELL,
			str_add(to, str_cstr(&w->key));
			number_field(to, w->places[v->cells.items[i].place]);
			number_field(to, v->cells.items[i].bucket);
			sum_field(to, v->cells.items[i].x););
}

/* ---- what is refused ---- */

static bool is_countable(const struct summed_window *v)
{
	const struct summed_counts *c = &v->counts;
	uint64_t most = v->n | v->root_only.n | c->open | c->aborted | c->bad_path | c->lost | c->nested | c->unmatched_ends |
			c->lost_records;

	for (size_t i = 0; i < v->sums.cnt; i++)
		most |= v->sums.items[i].calls;
	return most < TSV_COUNT_MAX;
}

static int check_window(const struct summed *s, const struct summed_window *v, struct diag *reterr)
{
	const char *wrong = window_wrong(s, v), *name = s->interval_names.items[s->places.items[v->root].name];

	if (wrong)
		return diag_set(reterr, EXIT_DATA, -EOVERFLOW, "the sums of intervals '%s' cannot be exact: %s", name, wrong);
	if (!is_countable(v))
		return diag_set(reterr, EXIT_DATA, -EOVERFLOW, "intervals '%s', or their calls, are more than 2^44: sums of such numbers "
				"would wrap around in SQL", name);
	return 0;
}

/* Two names with one number would be added up as one. */
static int check_ids(const struct tsv_writer *w, struct diag *reterr)
{
	_cleanup_(map_freep) struct map *places = map_new(), *functions = map_new();

	for (size_t i = 0; i < w->s->places.cnt; i++)
		if ((*map_slot(places, w->places[i]))++)
			return diag_set(reterr, EXIT_DATA, -EEXIST, "two places of the tree have the same number, %" PRIu64, w->places[i]);
	for (uint32_t i = 0; i < w->s->functions.cnt; i++)
		if ((*map_slot(functions, tsv_function_id(w->s, i)))++)
			return diag_set(reterr, EXIT_DATA, -EEXIST, "two functions have the same number: '%s' is one of them",
					w->s->functions.items[i].name);
	return 0;
}

static void write_rows(struct tsv_writer *w)
{
	if (is_wanted(w, TSV_FUNCTION))
		write_functions(w);
	if (is_wanted(w, TSV_CALL))
		write_calls(w);
	if (is_wanted(w, TSV_NAME))
		write_names(w);
	for (size_t i = 0; i < w->s->windows.cnt; i++) {
		const struct summed_window *v = &w->s->windows.items[i];

		make_key(w, v);
		write_sums(w, v);
		write_owns(w, v);
		write_buckets(w, v);
		if (is_wanted(w, TSV_WINDOW))	/* last: whoever finds it in a table has all of it */
			write_window(w, v);
	}
}

int tsv_write(const struct summed *s, const struct tsv_options *o, struct str *to, struct diag *reterr)
{
	struct tsv_writer w = { .s = s, .o = o, .to = to, .places = tsv_place_ids(s), .key = STR_INIT };
	int r = check_ids(&w, reterr);

	for (size_t i = 0; r == 0 && i < s->windows.cnt; i++)
		r = check_window(s, &s->windows.items[i], reterr);
	if (r == 0)
		write_rows(&w);
	free(w.places);
	str_release(&w.key);
	return r;
}
