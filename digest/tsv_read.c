/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tsv_read.c - sums from rows that SQL gave, which may be anything.
 *
 * Rows come in any order, so the lines are gone through twice: names and windows first, sums then.  The result is written as a
 * digest and parsed again: the one parser of digests decides what is possible.
 */
#include "digest/tsv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "digest/digest.h"
#include "digest/tsv_fields.h"
#include "digest/tsv_names.h"
#include "digest/unite.h"

#define COUNT_MAX ((uint64_t)1 << 62)

struct tsv_reader {
	struct tsv_names *names;
	struct summed *s;
	struct tsv_row row;
	struct names *windows;		/* of (kind, source, from_ns) */
	struct names *owns;		/* of (window, own) */
	VEC(uint32_t) own_numbers;	/* in the window; per name of owns */
};

static const char *own_kind_name(unsigned number)
{
	return tsv_own_kinds[number];
}

static const char *state_name(unsigned number)
{
	return trace_state_name((enum trace_state)number);
}

static void row_is_wrong(struct tsv_reader *d, const char *wanted)
{
	if (!d->row.wrong)
		d->row.wrong = wanted;
}

/* ---- windows ---- */

struct key {				/* of the columns that all tables of sums begin with */
	const char *build, *kind, *host, *boot;
	uint64_t source;
	int64_t from_ns;
};

/* Day, service and the window's time are for queries. */
static void take_key(struct tsv_reader *d, struct key *k)
{
	row_skip(&d->row, 2);
	k->build = row_text(&d->row);
	k->kind = row_text(&d->row);
	k->host = row_text(&d->row);
	k->boot = row_text(&d->row);
	row_skip(&d->row, 1);
	k->source = row_number(&d->row, UINT64_MAX);
	k->from_ns = row_signed(&d->row);
}

static char *key_text(const struct key *k)
{
	return xasprintf("%" PRIu64 " %" PRId64 " %s", k->source, k->from_ns, k->kind);
}

static void take_counts(struct tsv_reader *d, struct summed_window *w)
{
	struct summed_counts *c = &w->counts;

	w->n = row_number(&d->row, COUNT_MAX);
	w->recorded = row_number(&d->row, COUNT_MAX);
	w->unit = (uint32_t)row_number(&d->row, UINT32_MAX);
	w->min_ns = (int64_t)row_number(&d->row, INT64_MAX);
	w->max_ns = (int64_t)row_number(&d->row, INT64_MAX);
	c->open = row_number(&d->row, COUNT_MAX);
	c->aborted = row_number(&d->row, COUNT_MAX);
	c->bad_path = row_number(&d->row, COUNT_MAX);
	c->lost = row_number(&d->row, COUNT_MAX);
	c->nested = row_number(&d->row, COUNT_MAX);
	c->unmatched_ends = row_number(&d->row, COUNT_MAX);
	c->lost_records = row_number(&d->row, COUNT_MAX);
	c->has_pairing = row_number(&d->row, 1);
	c->knows_runqueue = row_number(&d->row, 1);
	w->root_only.n = row_number(&d->row, COUNT_MAX);
	w->root_only.max_ns = (int64_t)row_number(&d->row, INT64_MAX);
	c->waited_ns = row_sum(&d->row);
	c->no_waker_ns = row_sum(&d->row);
	c->io_waited_ns = row_sum(&d->row);
	c->io_no_waker_ns = row_sum(&d->row);
	w->root_only.t = row_sum(&d->row);
	w->root_only.tt = row_sum(&d->row);
}

static void take_window(struct tsv_reader *d)
{
	struct key k;
	struct summed_source source;
	struct summed_window w = { .source = (uint32_t)d->s->sources.cnt };
	_cleanup_(freep) char *text = NULL;

	take_key(d, &k);
	text = key_text(&k);
	w.from_ns = k.from_ns;
	w.until_ns = row_signed(&d->row);
	source = (struct summed_source){ .boot = k.boot, .host = k.host, .build = k.build };
	source.machine = row_text(&d->row);
	source.container = row_text(&d->row);
	source.run = row_text(&d->row);
	source.started_ns = row_signed(&d->row);
	source.clock_ns = row_signed(&d->row);
	source.recording = row_number(&d->row, UINT64_MAX);
	take_counts(d, &w);
	row_end(&d->row);
	if (w.until_ns <= w.from_ns)
		row_is_wrong(d, "until_ns after from_ns");
	if (names_find(d->windows, text) != NAMES_NONE)
		row_is_wrong(d, "another window: this one was there before, and would count twice");
	if (d->row.wrong)
		return;
	w.root = tsv_names_root(d->names, k.kind);
	if (w.root == NODE_NONE) {
		row_is_wrong(d, "a kind that has a row in vprof_name");
		return;
	}
	VEC_ADD(&d->s->sources, source);
	names_add(d->windows, text);
	VEC_ADD(&d->s->windows, w);
}

/* The window that a row of sums belongs to.  NULL: the row is wrong. */
static struct summed_window *window_of(struct tsv_reader *d)
{
	_cleanup_(freep) char *text = NULL;
	struct key k;
	uint32_t number;

	take_key(d, &k);
	text = key_text(&k);
	number = names_find(d->windows, text);
	if (number == NAMES_NONE)
		row_is_wrong(d, "a kind, source and from_ns that have a row in vprof_window");
	return d->row.wrong ? NULL : &d->s->windows.items[number];
}

/* ---- sums ---- */

static uint32_t take_place(struct tsv_reader *d)
{
	uint32_t place = tsv_names_place(d->names, row_number(&d->row, UINT64_MAX));

	if (place == NODE_NONE)
		row_is_wrong(d, "a node that has a row in vprof_name");
	return place;
}

static void take_node(struct tsv_reader *d, struct summed_window *w)
{
	struct summed_sums s = { .place = take_place(d) };

	s.calls = row_number(&d->row, COUNT_MAX);
	s.presence = row_number(&d->row, COUNT_MAX);
	s.x = row_sum(&d->row);
	s.xx = row_sum(&d->row);
	s.xt = row_sum(&d->row);
	row_end(&d->row);
	if (!d->row.wrong)
		VEC_ADD(&w->sums, s);
}

static void take_pair(struct tsv_reader *d, struct summed_window *w)
{
	struct summed_pair p = { .a = take_place(d) };

	p.b = take_place(d);
	p.xy = row_sum(&d->row);
	row_end(&d->row);
	if (!d->row.wrong)
		VEC_ADD(&w->pairs, p);
}

/* The three columns that say whose it is. */
static void take_own_name(struct tsv_reader *d, struct summed_own *own)
{
	own->kind = (uint8_t)row_name(&d->row, own_kind_name, OWN_KIND_CNT);
	own->wait = (uint8_t)row_name(&d->row, state_name, STATE_CNT);
	own->function = tsv_names_function(d->names, row_number(&d->row, UINT64_MAX));
	if (own->function == TSV_NO_SUCH_FUNCTION)
		row_is_wrong(d, "a function that has a row in vprof_function");
}

static char *own_text(const struct tsv_reader *d, const struct summed_window *w, const struct summed_own *own)
{
	return xasprintf("%zu %u %u %" PRIu32, (size_t)(w - d->s->windows.items), own->kind, own->wait, own->function);
}

static void take_own(struct tsv_reader *d, struct summed_window *w)
{
	_cleanup_(freep) char *text = NULL;
	struct summed_own own = { 0 };

	take_own_name(d, &own);
	own.cnt = row_number(&d->row, COUNT_MAX);
	own.t = row_sum(&d->row);
	own.xx = row_sum(&d->row);
	row_end(&d->row);
	text = own_text(d, w, &own);
	if (!d->row.wrong && names_find(d->owns, text) != NAMES_NONE)
		row_is_wrong(d, "another function or class: this one was there before, and would count twice");
	if (d->row.wrong)
		return;
	names_add(d->owns, text);
	VEC_ADD(&d->own_numbers, (uint32_t)w->owns.cnt);
	VEC_ADD(&w->owns, own);
}

/* After all owns. */
static void take_share(struct tsv_reader *d, struct summed_window *w)
{
	struct summed_share share = { 0 };
	struct summed_own own = { 0 };
	_cleanup_(freep) char *text = NULL;
	uint32_t at;

	take_own_name(d, &own);
	share.bucket = (uint32_t)row_number(&d->row, BUCKETS_MAX(BUCKET_BITS) - 1);
	share.n = row_number(&d->row, COUNT_MAX);
	row_end(&d->row);
	text = own_text(d, w, &own);
	at = d->row.wrong ? NAMES_NONE : names_find(d->owns, text);
	if (at == NAMES_NONE) {
		row_is_wrong(d, "a function and class that have a row in vprof_own for that window");
		return;
	}
	share.own = d->own_numbers.items[at];
	VEC_ADD(&w->shares, share);
}

static void take_bucket(struct tsv_reader *d, struct summed_window *w)
{
	struct summed_bucket b = { .bucket = (uint32_t)row_number(&d->row, BUCKETS_MAX(BUCKET_BITS_FINE) - 1) };

	b.n = row_number(&d->row, COUNT_MAX);
	b.recorded = row_number(&d->row, COUNT_MAX);
	b.t = row_sum(&d->row);
	row_end(&d->row);
	if (!d->row.wrong)
		VEC_ADD(&w->buckets, b);
}

static void take_cell(struct tsv_reader *d, struct summed_window *w)
{
	struct summed_cell c = { .place = take_place(d) };

	c.bucket = (uint32_t)row_number(&d->row, BUCKETS_MAX(BUCKET_BITS) - 1);
	c.x = row_sum(&d->row);
	row_end(&d->row);
	if (!d->row.wrong)
		VEC_ADD(&w->cells, c);
}

/* ---- lines ---- */

/* The kinds of lines in each turn through the text. */
static const uint32_t turns[] = {
	1U << TSV_FUNCTION | 1U << TSV_NAME,
	1U << TSV_WINDOW | 1U << TSV_CALL,
	1U << TSV_NODE | 1U << TSV_PAIR | 1U << TSV_OWN | 1U << TSV_BUCKET | 1U << TSV_CELL,
	1U << TSV_SHARE,
};

/* The table that a line begins with; TSV_TABLE_CNT: none. */
static unsigned table_of(const char *line, size_t len)
{
	const char *tab = memchr(line, '\t', len);
	size_t name_len = tab ? (size_t)(tab - line) : len;

	for (unsigned i = 0; i < TSV_TABLE_CNT; i++)
		if (strlen(tsv_tables[i]) == name_len && memcmp(line, tsv_tables[i], name_len) == 0)
			return i;
	return TSV_TABLE_CNT;
}

static void take_sums(struct tsv_reader *d, enum tsv_table table)
{
	static void (*const takers[])(struct tsv_reader *d, struct summed_window *w) = {
		[TSV_NODE] = take_node, [TSV_PAIR] = take_pair, [TSV_OWN] = take_own, [TSV_BUCKET] = take_bucket,
		[TSV_CELL] = take_cell, [TSV_SHARE] = take_share,
	};
	struct summed_window *w = window_of(d);

	if (w)
		takers[table](d, w);
}

static void take_row(struct tsv_reader *d, enum tsv_table table)
{
	switch (table) {
	case TSV_FUNCTION:
		tsv_names_add_function(d->names, &d->row);
		return;
	case TSV_NAME:
		tsv_names_add_place(d->names, &d->row);
		return;
	case TSV_CALL:
		tsv_names_add_call(d->names, &d->row);
		return;
	case TSV_WINDOW:
		take_window(d);
		return;
	default:
		take_sums(d, table);
	}
}

static int line_is_wrong(const struct tsv_reader *d, const char *name, struct diag *reterr)
{
	diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:%zu: column %zu should be %s", name, d->row.line, d->row.column, d->row.wrong);
	return diag_remedy(reterr, -EBADMSG, "a line is the name of a table and its columns as in doc/fleet.sql, with tabs between them; "
			   "vprof export --format digest-tsv RUN shows some");
}

/* Copied, since fields lose their escapes and get ends. */
static int take_line(struct tsv_reader *d, const char *text, size_t len, size_t number, unsigned turn, const char *name, struct diag *reterr)
{
	unsigned table = table_of(text, len);

	if (table < TSV_TABLE_CNT && !(turns[turn] & 1U << table))
		return 0;
	row_begin(&d->row, arena_strndup(d->s->arena, text, len), number);
	row_text(&d->row);
	if (table < TSV_TABLE_CNT)
		take_row(d, (enum tsv_table)table);
	else
		row_is_wrong(d, "the name of a table of doc/fleet.sql, such as vprof_node");
	return d->row.wrong ? line_is_wrong(d, name, reterr) : 0;
}

static int take_turn(struct tsv_reader *d, const char *text, size_t len, unsigned turn, const char *name, struct diag *reterr)
{
	size_t number = 0;
	int r = 0;

	for (const char *at = text, *end = text + len; r == 0 && at < end; number++) {
		const char *feed = memchr(at, '\n', (size_t)(end - at));
		size_t line_len = feed ? (size_t)(feed - at) : (size_t)(end - at);

		if (line_len)
			r = take_line(d, at, line_len, number + 1, turn, name, reterr);
		if (!feed)
			break;
		at = feed + 1;
	}
	return r;
}

static int take_text(struct tsv_reader *d, const char *text, size_t len, const char *name, struct diag *reterr)
{
	int r = 0;

	if (memchr(text, '\0', len))
		return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s: it contains a byte of zero, so it is not tab-separated text", name);
	for (unsigned turn = 0; r == 0 && turn < sizeof(turns) / sizeof(*turns); turn++) {
		r = take_turn(d, text, len, turn, name, reterr);
		if (r == 0 && turn == 0)
			r = tsv_names_settle(d->names, name, reterr);
	}
	if (r == 0 && !d->s->windows.cnt) {
		diag_set(reterr, EXIT_NO_EVIDENCE, -ENODATA, "%s: it has no row of vprof_window: there is nothing to show", name);
		diag_remedy(reterr, -ENODATA, "choose the rows of all tables of doc/fleet.sql; doc/fleet.md has the query");
		r = -ENODATA;
	}
	return r;
}

/* ---- the whole ---- */

static size_t row_cnt(const struct summed *s)
{
	size_t cnt = 0;

	for (size_t i = 0; i < s->windows.cnt; i++) {
		const struct summed_window *w = &s->windows.items[i];

		cnt += w->sums.cnt + w->pairs.cnt + w->owns.cnt + w->buckets.cnt + w->cells.cnt + w->shares.cnt;
	}
	return cnt;
}

/* Uniting sorts everything, and adds up what is there twice: that must not be. */
static int check_all(const struct summed *s, const char *name, struct summed **ret, struct diag *reterr)
{
	_cleanup_(uniter_freep) struct uniter *u = uniter_new();
	_cleanup_(summed_freep) struct summed *sorted = NULL;
	_cleanup_(str_release) struct str bytes = STR_INIT;
	int r;

	uniter_add(u, s);
	r = uniter_end(u, &sorted, reterr);
	if (r == 0 && row_cnt(sorted) != row_cnt(s)) {
		diag_set(reterr, EXIT_DATA, -EBADMSG, "%s: some rows of sums occur twice in one window", name);
		r = diag_remedy(reterr, -EBADMSG, "group by all columns that are not sums; rows that a table holds twice need FINAL, or DISTINCT");
	}
	if (r == 0)
		r = digest_write(sorted, &bytes, reterr);
	if (r == 0)
		r = digest_parse(bytes.data, bytes.len, name, ret, reterr);
	if (r == -EBADMSG || r == -EOVERFLOW)
		diag_remedy(reterr, r, "choose the rows of all tables by the same WHERE, and add them up in whole numbers: Decimal(38,0), numeric");
	return r;
}

int tsv_parse(const char *text, size_t len, const char *name, struct summed **ret, struct diag *reterr)
{
	_cleanup_(summed_freep) struct summed *s = summed_new();
	struct tsv_reader d = { .s = s, .names = tsv_names_new(s), .windows = names_new(), .owns = names_new() };
	int r = take_text(&d, text, len, name, reterr);

	tsv_names_free(d.names);
	names_free(d.windows);
	names_free(d.owns);
	VEC_RELEASE(&d.own_numbers);
	return r < 0 ? r : check_all(s, name, ret, reterr);
}

int tsv_read(const char *path, struct summed **ret, struct diag *reterr)
{
	_cleanup_(freep) char *text = NULL;
	bool is_stdin = strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0;
	size_t len;
	int r = file_read_given(is_stdin ? "/dev/stdin" : path, &text, &len);

	if (r < 0)
		return diag_set(reterr, EXIT_DATA, r, "cannot read '%s': %s", path, file_why(r));
	return tsv_parse(text, len, is_stdin ? "standard input" : path, ret, reterr);
}
