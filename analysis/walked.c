/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * walked.c - see walked.h.
 *
 * Places are written as they were discovered, parents first, and found again below the places of all by what they are.  Sums over rows
 * (moments.h) are not written: they are made again as the rows are read.
 */
#include "analysis/walked.h"

#include <errno.h>
#include "analysis/collected.h"
#include "analysis/pass/before_start.h"
#include "analysis/path/put_aside.h"
#include "base/banned.h"

bool analyzer_can_archive(const struct trace *names)
{
	return !names->look.is_one && !names->look.sample_ns && !names->requests.cnt;
}

/* ---- both ways ---- */

static void archive_counted(struct archive *a, struct counted_intervals *c)
{
	archive_u64(a, &c->in_full);
	archive_u64(a, &c->completed);
	archive_u64(a, &c->open);
	archive_u64(a, &c->aborted);
	archive_u64(a, &c->bad_path);
	archive_u64(a, &c->lost);
	archive_i128(a, &c->waited_ns);
	archive_i128(a, &c->no_waker_ns);
	archive_i128(a, &c->io_waited_ns);
	archive_i128(a, &c->io_no_waker_ns);
}

static void archive_place(struct archive *a, struct place *p)
{
	uint32_t kind = p->kind, wait = p->wait, device = p->device;
	bool is_wait = p->is_wait;

	archive_below(a, &kind, NODE_BLAME + 1);
	archive_below(a, &wait, STATE_CNT);
	archive_below(a, &device, KIND_CNT);
	archive_bool(a, &is_wait);
	archive_u32(a, &p->parent);
	archive_u32(a, &p->function);
	archive_u32(a, &p->call_site);
	archive_u64(a, &p->calls);
	archive_u64(a, &p->presence);
	p->kind = kind;
	p->wait = wait;
	p->device = device;
	p->is_wait = is_wait;
}

static void archive_head(struct archive *a, struct row_head *h)
{
	archive_i64(a, &h->start_ns);
	archive_i64(a, &h->end_ns);
	archive_u64(a, &h->sid);
	archive_u64(a, &h->start_tid);
	archive_u64(a, &h->end_tid);
	archive_u32(a, &h->weight);
}

static void archive_cells(struct archive *a, cells *list, noted_works *works)
{
	list->cnt = a->out ? list->cnt : 0;
	works->cnt = a->out ? works->cnt : 0;
	ARCHIVE_RESIZE(a, list);
	for (size_t i = 0; i < list->cnt; i++) {
		archive_u32(a, &list->items[i].place);
		archive_i64(a, &list->items[i].ns);
	}
	ARCHIVE_RESIZE(a, works);
	for (size_t i = 0; i < works->cnt; i++) {
		archive_u32(a, &works->items[i].name);
		archive_i64(a, &works->items[i].value);
	}
}

/* ---- writing ---- */

static void write_rows(struct archive *a, struct rows *rows)
{
	struct rows_walk w;
	size_t last = SIZE_MAX;

	archive_cnt(a, rows_recorded(rows));
	for (rows_begin(&w, rows); rows_next(&w); last = w.recorded) {
		if (w.recorded == last)		/* repeated for its weight */
			continue;
		archive_head(a, &w.head);
		archive_cells(a, &w.cells, &w.works);
	}
	rows_end(&w);
}

static void write_collected(struct archive *a, struct collected *c, uint32_t function_cnt)
{
	archive_counted(a, &c->counted);
	archive_cnt(a, c->v->places.cnt);
	for (size_t i = 0; i < c->v->places.cnt; i++)
		archive_place(a, &c->v->places.items[i]);
	put_aside_archive(c->put_aside, a, function_cnt);
	before_sums_archive(c->before, a, function_cnt);
	write_rows(a, c->rows);
	write_rows(a, c->root_only);
	a->failed |= rows_error(c->rows) || rows_error(c->root_only);
}

void analyzer_archive(struct analyzer *a, const struct trace *names, struct archive *to)
{
	uint32_t function_cnt = (uint32_t)names->functions.cnt;

	nestings_finish(a->nestings);
	a->nestings_final = true;
	archive_u64(to, &a->clamped);
	nestings_archive(a->nestings, to, function_cnt);
	lives_archive(a->lives, to);
	archive_cnt(to, a->by_name.cnt);
	for (size_t i = 0; i < a->by_name.cnt; i++)
		write_collected(to, a->by_name.items[i], function_cnt);
}

/* ---- reading ---- */

struct reading {
	struct archive *from;
	const struct taken_part *part;
	struct collected *to;
	VEC(uint32_t) new_places;	/* [its own] */
	cells row;
	noted_works works;
};

static void take_counted(struct counted_intervals *to, struct archive *a)
{
	struct counted_intervals c = { 0 };

	archive_counted(a, &c);
	to->in_full += c.in_full;
	to->completed += c.completed;
	to->open += c.open;
	to->aborted += c.aborted;
	to->bad_path += c.bad_path;
	to->lost += c.lost;
	to->waited_ns += c.waited_ns;
	to->no_waker_ns += c.no_waker_ns;
	to->io_waited_ns += c.io_waited_ns;
	to->io_no_waker_ns += c.io_no_waker_ns;
}

/* The place in numbers of all; false: it names what is not there. */
static bool renumber(const struct reading *r, struct place *p)
{
	const struct trace *names = r->part->names;

	if (p->function < names->functions.cnt)
		p->function = r->part->functions[p->function];
	else if (FUNCTION_NONE - p->function >= KIND_CNT)	/* none, or a device */
		return false;
	if (p->call_site == CALL_SITE_NONE)
		return true;
	if (p->call_site >= names->call_sites.cnt)
		return false;
	p->call_site = r->part->call_sites[p->call_site];
	return true;
}

static uint32_t place_like(struct vtree *v, uint32_t parent, const struct place *p)
{
	const struct place like = {
		.kind = p->kind, .wait = p->wait, .device = p->device, .is_wait = p->is_wait, .function = p->function, .call_site = p->call_site,
	};

	return p->kind == NODE_BODY ? vtree_body(v, parent) : vtree_child(v, parent, &like);
}

static bool take_places(struct reading *r)
{
	struct vtree *v = r->to->v;
	size_t cnt = archive_cnt(r->from, 0);

	r->new_places.cnt = 0;
	for (size_t i = 0; i < cnt; i++) {
		struct place p = { 0 };
		uint32_t id = 0;

		archive_place(r->from, &p);
		if (r->from->failed || !renumber(r, &p) || (i == 0) != (p.parent == NODE_NONE) || (i && (p.parent >= i || p.kind == NODE_INTERVAL)))
			return false;
		if (i)
			id = place_like(v, r->new_places.items[p.parent], &p);
		VEC_ADD(&r->new_places, id);
		v->places.items[id].calls += p.calls;
		v->places.items[id].presence += p.presence;
	}
	return cnt > 0;
}

static bool take_row(struct reading *r, struct rows *rows, bool root_only)
{
	const struct taken_part *part = r->part;
	struct row_head h = { 0 };
	int64_t latency_ns;

	archive_head(r->from, &h);
	archive_cells(r->from, &r->row, &r->works);
	if (r->from->failed || __builtin_sub_overflow(h.end_ns, h.start_ns, &latency_ns) || latency_ns < 0)
		return false;
	h.sid = part->sid(part->arg, h.sid);
	h.start_tid = part->tid(part->arg, h.start_tid);
	h.end_tid = part->tid(part->arg, h.end_tid);
	h.origin = part->origin;
	for (size_t i = 0; i < r->row.cnt; i++) {
		if (r->row.items[i].place >= r->new_places.cnt)
			return false;
		r->row.items[i].place = r->new_places.items[r->row.items[i].place];
	}
	for (size_t i = 0; i < r->works.cnt; i++) {
		if (r->works.items[i].name >= part->names->work_names.cnt)
			return false;
		r->works.items[i].name = part->work_names[r->works.items[i].name];
	}
	rows_add(rows, &h, r->row.items, r->row.cnt, r->works.items, r->works.cnt);
	if (!root_only)
		moments_add_row(r->to->m, r->to->v, &r->row, h.weight);
	return true;
}

static bool take_rows(struct reading *r, struct rows *rows, bool root_only)
{
	size_t cnt = archive_cnt(r->from, 0);

	for (size_t i = 0; i < cnt; i++)
		if (!take_row(r, rows, root_only))
			return false;
	return !r->from->failed;
}

static bool take_sums(struct reading *r)
{
	struct put_aside *aside = put_aside_new();
	struct before_sums *before = before_sums_new();
	uint32_t function_cnt = (uint32_t)r->part->names->functions.cnt;

	put_aside_archive(aside, r->from, function_cnt);
	before_sums_archive(before, r->from, function_cnt);
	if (!r->from->failed) {
		put_aside_join(r->to->put_aside, aside, r->part->functions);
		before_sums_join(r->to->before, before, r->part->functions);
	}
	put_aside_free(aside);
	before_sums_free(before);
	return !r->from->failed;
}

static bool take_collected(struct reading *r)
{
	take_counted(&r->to->counted, r->from);
	return take_places(r) && take_sums(r) && take_rows(r, r->to->rows, false) && take_rows(r, r->to->root_only, true);
}

static bool take_threads(struct analyzer *a, struct archive *from, const struct taken_part *part)
{
	_cleanup_(nestings_freep) struct nestings *nestings = nestings_new();
	struct lives *lives = lives_new();
	uint64_t clamped = 0;

	archive_u64(from, &clamped);
	nestings_archive(nestings, from, (uint32_t)part->names->functions.cnt);
	lives_archive(lives, from);
	if (!from->failed) {
		a->clamped += clamped;
		nestings_join(a->nestings, nestings, part->functions);
		lives_join(a->lives, lives, part->tid, part->arg);
	}
	lives_free(lives);
	return !from->failed;
}

int analyzer_take(struct analyzer *a, struct archive *from, const struct taken_part *part)
{
	struct reading r = { .from = from, .part = part };
	bool ok = take_threads(a, from, part);
	size_t cnt = archive_cnt(from, 0);

	ok = ok && cnt <= part->names->interval_names.cnt;
	for (size_t i = 0; ok && i < cnt; i++) {
		r.to = analyzer_collected(a, part->interval_names[i]);
		ok = take_collected(&r);
	}
	VEC_RELEASE(&r.new_places);
	VEC_RELEASE(&r.row);
	VEC_RELEASE(&r.works);
	return ok ? 0 : -EBADMSG;
}
