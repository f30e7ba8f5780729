/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * digest_write.c - writes a digest: tables of names, then windows.  All numbers are varints (varint.h); the whole is compressed and
 * has a checksum.
 *
 * Sorted numbers are stored as differences: places 3, 4, 9 become 3, 1, 5.
 */
#include "digest/digest.h"

#include <errno.h>
#include <string.h>
#include "base/banned.h"
#include "base/map.h"
#include "base/pack.h"
#include "digest/varint.h"

struct writer {
	struct str s;
	struct names *texts;
};

static uint32_t text_number(const struct writer *w, const char *text)
{
	return text ? names_find(w->texts, text) + 1 : 0;
}

/* ---- names ---- */

static void know_texts(struct writer *w, const struct summed *s)
{
	for (size_t i = 0; i < s->interval_names.cnt; i++)
		names_add(w->texts, s->interval_names.items[i]);
	for (size_t i = 0; i < s->call_sites.cnt; i++)
		names_add(w->texts, s->call_sites.items[i]);
	for (size_t i = 0; i < s->functions.cnt; i++) {
		names_add(w->texts, s->functions.items[i].name);
		if (s->functions.items[i].file)
			names_add(w->texts, s->functions.items[i].file);
	}
	for (size_t i = 0; i < s->sources.cnt; i++) {
		const struct summed_source *o = &s->sources.items[i];
		const char *const texts[] = { o->machine, o->boot, o->host, o->container, o->build, o->run };

		for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++)
			names_add(w->texts, texts[k]);
	}
}

static void add_texts(struct writer *w)
{
	varint_add(&w->s, names_cnt(w->texts));
	for (uint32_t i = 0; i < names_cnt(w->texts); i++) {
		const char *text = names_get(w->texts, i);

		varint_add(&w->s, strlen(text));
		str_add(&w->s, text);
	}
}

static void add_strings(struct writer *w, const strings *list)
{
	varint_add(&w->s, list->cnt);
	for (size_t i = 0; i < list->cnt; i++)
		varint_add(&w->s, text_number(w, list->items[i]));
}

/* 0: none; then the call sites; then the circle through others. */
static uint64_t call_site_code(const struct summed *s, uint32_t call_site)
{
	if (call_site == SUMMED_THROUGH_OTHERS)
		return s->call_sites.cnt + 1;
	return call_site == CALL_SITE_NONE ? 0 : (uint64_t)call_site + 1;
}

static void add_functions(struct writer *w, const struct summed *s)
{
	varint_add(&w->s, s->functions.cnt);
	for (size_t i = 0; i < s->functions.cnt; i++) {
		const struct summed_function *f = &s->functions.items[i];

		varint_add(&w->s, text_number(w, f->name));
		varint_add(&w->s, text_number(w, f->file));
		varint_add(&w->s, f->line);
		varint_add(&w->s, f->key);
		varint_add(&w->s, f->height);
		varint_add(&w->s, (unsigned)f->open | (unsigned)f->registered << 1 | (unsigned)f->left_out << 2);
	}
	varint_add(&w->s, s->calls.cnt);
	for (size_t i = 0; i < s->calls.cnt; i++) {
		varint_add(&w->s, s->calls.items[i].caller);
		varint_add(&w->s, s->calls.items[i].callee);
		varint_add(&w->s, call_site_code(s, s->calls.items[i].call_site));
	}
}

static void add_sources(struct writer *w, const struct summed *s)
{
	varint_add(&w->s, s->sources.cnt);
	for (size_t i = 0; i < s->sources.cnt; i++) {
		const struct summed_source *o = &s->sources.items[i];

		varint_add(&w->s, text_number(w, o->machine));
		varint_add(&w->s, text_number(w, o->boot));
		varint_add(&w->s, text_number(w, o->host));
		varint_add(&w->s, text_number(w, o->container));
		varint_add(&w->s, text_number(w, o->build));
		varint_add(&w->s, text_number(w, o->run));
		varint_add_signed(&w->s, o->started_ns);
		varint_add_signed(&w->s, o->clock_ns);
		varint_add(&w->s, o->recording);
	}
}

/* 0: none; then the devices; then the functions. */
static uint32_t function_code(uint32_t function)
{
	return function > SUMMED_DEVICE(SUMMED_DEVICES) ? SUMMED_NO_FUNCTION - function : function + SUMMED_DEVICES;
}

static void add_places(struct writer *w, const struct summed *s)
{
	varint_add(&w->s, s->places.cnt);
	for (size_t i = 0; i < s->places.cnt; i++) {
		const struct summed_place *p = &s->places.items[i];

		varint_add(&w->s, p->parent == NODE_NONE ? 0 : i - p->parent);
		if (p->parent == NODE_NONE)
			varint_add(&w->s, p->name);
		varint_add(&w->s, p->kind | (unsigned)p->is_wait << 3);
		varint_add(&w->s, p->wait);
		varint_add(&w->s, p->device);
		varint_add(&w->s, function_code(p->function));
		varint_add(&w->s, p->call_site == CALL_SITE_NONE ? 0 : p->call_site + 1);
	}
}

/* ---- windows ---- */

static void add_sums(struct writer *w, const struct summed_window *v)
{
	uint32_t last = 0;

	varint_add(&w->s, v->sums.cnt);
	for (size_t i = 0; i < v->sums.cnt; i++) {
		const struct summed_sums *s = &v->sums.items[i];

		varint_add(&w->s, s->place - last);
		last = s->place;
		varint_add(&w->s, (unsigned __int128)s->x);
		varint_add(&w->s, (unsigned __int128)s->xx);
		varint_add(&w->s, (unsigned __int128)s->xt);
		varint_add(&w->s, s->calls);
		varint_add(&w->s, s->presence);
	}
	varint_add(&w->s, v->pairs.cnt);
	last = 0;
	for (size_t i = 0; i < v->pairs.cnt; i++) {
		const struct summed_pair *p = &v->pairs.items[i];

		varint_add(&w->s, p->a - last);
		last = p->a;
		varint_add(&w->s, p->b - p->a);
		varint_add(&w->s, (unsigned __int128)p->xy);
	}
}

static void add_owns(struct writer *w, const struct summed_window *v)
{
	varint_add(&w->s, v->owns.cnt);
	for (size_t i = 0; i < v->owns.cnt; i++) {
		const struct summed_own *o = &v->owns.items[i];

		varint_add(&w->s, o->kind);
		varint_add(&w->s, o->wait);
		varint_add(&w->s, function_code(o->function));
		varint_add(&w->s, (unsigned __int128)o->xx);
		varint_add(&w->s, o->cnt);
		varint_add(&w->s, (unsigned __int128)o->t);
	}
}

static void add_buckets(struct writer *w, const struct summed_window *v)
{
	uint32_t last = 0, last_bucket = 0;

	varint_add(&w->s, v->buckets.cnt);
	for (size_t i = 0; i < v->buckets.cnt; i++) {
		const struct summed_bucket *b = &v->buckets.items[i];

		varint_add(&w->s, b->bucket - last);
		last = b->bucket;
		varint_add(&w->s, b->n);
		varint_add(&w->s, b->recorded);
		varint_add(&w->s, (unsigned __int128)b->t);
	}
	varint_add(&w->s, v->cells.cnt);
	last = 0;
	for (size_t i = 0; i < v->cells.cnt; i++) {
		const struct summed_cell *c = &v->cells.items[i];

		varint_add(&w->s, c->bucket - last_bucket);
		varint_add(&w->s, c->bucket == last_bucket ? c->place - last : c->place);
		last_bucket = c->bucket;
		last = c->place;
		varint_add(&w->s, (unsigned __int128)c->x);
	}
	varint_add(&w->s, v->shares.cnt);
	last = last_bucket = 0;
	for (size_t i = 0; i < v->shares.cnt; i++) {
		const struct summed_share *c = &v->shares.items[i];

		varint_add(&w->s, c->bucket - last_bucket);
		varint_add(&w->s, c->bucket == last_bucket ? c->own - last : c->own);
		last_bucket = c->bucket;
		last = c->own;
		varint_add(&w->s, c->n);
	}
}

static void add_counts(struct writer *w, const struct summed_window *v)
{
	const struct summed_counts *c = &v->counts;
	const uint64_t counts[] = { v->n, v->recorded, v->unit, (uint64_t)v->min_ns, (uint64_t)v->max_ns, c->open, c->aborted,
				    c->bad_path, c->lost, c->nested, c->unmatched_ends, c->lost_records,
				    (uint64_t)c->has_pairing | (uint64_t)c->knows_runqueue << 1,
				    v->root_only.n, (uint64_t)v->root_only.max_ns };
	const __int128 sums[] = { c->waited_ns, c->no_waker_ns, c->io_waited_ns, c->io_no_waker_ns, v->root_only.t, v->root_only.tt };

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		varint_add(&w->s, counts[i]);
	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
		varint_add(&w->s, (unsigned __int128)sums[i]);
}

static void add_window(struct writer *w, const struct summed_window *v)
{
	varint_add(&w->s, v->source);
	varint_add(&w->s, v->root);
	varint_add_signed(&w->s, v->from_ns);
	varint_add_signed(&w->s, v->until_ns);
	add_counts(w, v);
	add_sums(w, v);
	add_owns(w, v);
	add_buckets(w, v);
}

int digest_write(const struct summed *s, struct str *to, struct diag *reterr)
{
	struct writer w = { STR_INIT, names_new() };
	const char *wrong = NULL, *name = NULL;
	int r = 0;

	know_texts(&w, s);
	add_texts(&w);
	add_strings(&w, &s->interval_names);
	add_strings(&w, &s->call_sites);
	add_functions(&w, s);
	add_sources(&w, s);
	add_places(&w, s);
	varint_add(&w.s, s->windows.cnt);
	for (size_t i = 0; i < s->windows.cnt && !wrong; i++) {
		wrong = window_wrong(s, &s->windows.items[i]);
		name = s->interval_names.items[s->places.items[s->windows.items[i].root].name];
		add_window(&w, &s->windows.items[i]);
	}
	if (wrong) {
		r = diag_set(reterr, EXIT_DATA, -EOVERFLOW, "the sums of intervals '%s' cannot be exact: %s", name, wrong);
	} else {
		str_addn(to, DIGEST_MAGIC, strlen(DIGEST_MAGIC));
		r = w.s.len > DIGEST_BYTES_MAX ? -EFBIG : pack(str_cstr(&w.s), w.s.len, to);
		if (r < 0)
			diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot pack the digest: %s", strerror(-r));
	}
	names_free(w.texts);
	str_release(&w.s);
	return r;
}
