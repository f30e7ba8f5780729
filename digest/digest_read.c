/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * digest_read.c - parses the bytes of a digest, which may be hostile, into sums in which every number is in range.
 *
 * zstd's checksum detects accidental damage; checking each number detects deliberate damage.  A count is accepted only if enough
 * bytes are left for that many items.
 */
#include "digest/digest.h"

#include <errno.h>
#include <string.h>
#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "base/pack.h"
#include "digest/unite.h"
#include "digest/varint.h"

#define SUM_MAX ((unsigned __int128)1 << 124)
#define COUNT_MAX ((uint64_t)1 << 62)

struct reader {
	struct varint_reader r;
	struct summed *s;
	const char **texts;
	size_t text_cnt;
	uint32_t *root_of;		/* per place */
	bool *has_children;
};

/* Reads the number of items, each of which takes at least bytes_each bytes. */
static size_t next_cnt(struct reader *d, size_t bytes_each)
{
	size_t cnt = (size_t)varint_next_upto(&d->r, SIZE_MAX);

	if (cnt <= (size_t)(d->r.end - d->r.at) / bytes_each)	/* of the bytes behind the number */
		return cnt;
	d->r.failed = true;
	d->r.at = d->r.end;
	return 0;
}

static uint64_t upto(struct reader *d, uint64_t most)
{
	return varint_next_upto(&d->r, most);
}

/* Reads an index below cnt. */
static uint32_t index_below(struct reader *d, size_t cnt)
{
	if (cnt == 0)
		d->r.failed = true;
	return (uint32_t)varint_next_upto(&d->r, cnt ? cnt - 1 : 0);
}

static __int128 sum(struct reader *d)
{
	unsigned __int128 value = varint_next(&d->r);

	if (value <= SUM_MAX)
		return (__int128)value;
	d->r.failed = true;
	return 0;
}

/* ---- names ---- */

/* Any bytes but zero, like the names of functions and intervals in a trace; views make names inert. */
static const char *next_text(struct reader *d)
{
	size_t len = next_cnt(d, 1);
	const char *bytes = (const char *)d->r.at;

	if (memchr(bytes, '\0', len))
		d->r.failed = true;
	d->r.at += len;
	return arena_strndup(d->s->arena, bytes, len);
}

static void read_texts(struct reader *d)
{
	d->text_cnt = next_cnt(d, 1);
	d->texts = xcalloc(d->text_cnt + 1, sizeof(*d->texts));
	for (size_t i = 0; i < d->text_cnt && !d->r.failed; i++)
		d->texts[i] = next_text(d);
}

static const char *text_or_null(struct reader *d)
{
	uint64_t number = upto(d, d->text_cnt);

	return number ? d->texts[number - 1] : NULL;
}

static const char *text(struct reader *d)
{
	const char *t = text_or_null(d);

	if (!t)
		d->r.failed = true;
	return t ? t : "";
}

static void read_strings(struct reader *d, strings *list)
{
	size_t cnt = next_cnt(d, 1);

	for (size_t i = 0; i < cnt && !d->r.failed; i++)
		VEC_ADD(list, text(d));
}

static uint32_t next_call_site(struct reader *d)
{
	uint32_t number = (uint32_t)upto(d, d->s->call_sites.cnt);

	return number ? number - 1 : CALL_SITE_NONE;
}

static void read_functions(struct reader *d)
{
	size_t cnt = next_cnt(d, 6);

	for (size_t i = 0; i < cnt && !d->r.failed; i++) {
		struct summed_function *f = VEC_EXTEND(&d->s->functions);
		unsigned flags;

		f->name = text(d);
		f->file = text_or_null(d);
		f->line = (uint32_t)upto(d, INT32_MAX);
		f->key = upto(d, UINT64_MAX);
		f->height = (uint32_t)upto(d, 1U << 20);
		flags = (unsigned)upto(d, 7);
		f->open = flags & 1;
		f->registered = flags & 2;
		f->left_out = flags & 4;
	}
	cnt = next_cnt(d, 3);
	for (size_t i = 0; i < cnt && !d->r.failed; i++) {
		struct summed_call *c = VEC_EXTEND(&d->s->calls);
		uint32_t number;

		c->caller = index_below(d, d->s->functions.cnt);
		c->callee = index_below(d, d->s->functions.cnt);
		number = (uint32_t)upto(d, d->s->call_sites.cnt + 1);
		c->call_site = number > d->s->call_sites.cnt ? SUMMED_THROUGH_OTHERS : number ? number - 1 : CALL_SITE_NONE;
	}
}

static void read_sources(struct reader *d)
{
	size_t cnt = next_cnt(d, 9);

	for (size_t i = 0; i < cnt && !d->r.failed; i++) {
		struct summed_source *o = VEC_EXTEND(&d->s->sources);

		o->machine = text(d);
		o->boot = text(d);
		o->host = text(d);
		o->container = text(d);
		o->build = text(d);
		o->run = text(d);
		o->started_ns = varint_next_signed(&d->r);
		o->clock_ns = varint_next_signed(&d->r);
		o->recording = upto(d, UINT64_MAX);
	}
}

static uint32_t next_function(struct reader *d)
{
	uint32_t code = (uint32_t)upto(d, SUMMED_DEVICES + d->s->functions.cnt - 1);

	return code < SUMMED_DEVICES ? SUMMED_DEVICE(code) : code - SUMMED_DEVICES;
}

/* ---- places ---- */

/* Only waits have blames below them; bodies and blames have nothing below them. */
static bool may_be_below(const struct summed_place *p, const struct summed_place *parent)
{
	switch (p->kind) {
	case NODE_FUNCTION:
		return (parent->kind == NODE_INTERVAL || parent->kind == NODE_FUNCTION) && p->function < SUMMED_DEVICE(SUMMED_DEVICES);
	case NODE_BODY:
		return (parent->kind == NODE_INTERVAL || parent->kind == NODE_FUNCTION) && p->function == parent->function;
	case NODE_WAIT:
		return (parent->kind == NODE_INTERVAL || parent->kind == NODE_FUNCTION) && p->function == parent->function &&
		       p->is_wait;
	case NODE_BLAME:
		return parent->kind == NODE_WAIT;
	default:
		return false;
	}
}

static void read_place(struct reader *d, uint32_t i)
{
	struct summed_place *p = VEC_EXTEND(&d->s->places);
	uint32_t up = (uint32_t)upto(d, i);
	unsigned kind;

	p->parent = up ? i - up : NODE_NONE;
	p->name = up ? 0 : index_below(d, d->s->interval_names.cnt);
	kind = (unsigned)upto(d, 15);
	p->kind = kind & 7;
	p->is_wait = kind & 8;
	p->wait = (uint8_t)upto(d, STATE_CNT - 1);
	p->device = (uint8_t)upto(d, KIND_CNT - 1);
	p->function = next_function(d);
	p->call_site = next_call_site(d);
	d->root_of[i] = up ? d->root_of[p->parent] : i;
	if (up)
		d->has_children[p->parent] = true;
	if (!up && p->function != SUMMED_NO_FUNCTION)
		d->r.failed = true;
	if (up ? !may_be_below(p, &d->s->places.items[p->parent]) : p->kind != NODE_INTERVAL)
		d->r.failed = true;
}

static void read_places(struct reader *d)
{
	size_t cnt = next_cnt(d, 6);

	d->root_of = xcalloc(cnt + 1, sizeof(*d->root_of));
	d->has_children = xcalloc(cnt + 1, sizeof(*d->has_children));
	for (size_t i = 0; i < cnt && !d->r.failed; i++)
		read_place(d, (uint32_t)i);
}

/* ---- windows ---- */

/* Reads the next place: after `last`; the first one may equal it. */
static uint32_t next_place(struct reader *d, const struct summed_window *w, uint32_t last, bool is_first)
{
	uint64_t place = last + upto(d, UINT32_MAX);

	if (place >= d->s->places.cnt || (!is_first && place <= last) || d->root_of[place] != w->root) {
		d->r.failed = true;
		return w->root;
	}
	return (uint32_t)place;
}

static void read_sums(struct reader *d, struct summed_window *w)
{
	size_t cnt = next_cnt(d, 6);
	uint32_t last = 0;

	for (size_t i = 0; i < cnt && !d->r.failed; i++) {
		struct summed_sums *s = VEC_EXTEND(&w->sums);

		last = s->place = next_place(d, w, last, i == 0);
		s->x = sum(d);
		s->xx = sum(d);
		s->xt = sum(d);
		s->calls = upto(d, COUNT_MAX);
		s->presence = upto(d, COUNT_MAX);
	}
}

/* Whether both are siblings, or bodies of one function. */
static bool may_be_pair(const struct reader *d, const struct summed_window *w, uint64_t a, uint64_t b)
{
	const struct summed_place *p, *q;

	if (b >= d->s->places.cnt || a == b || a == w->root || d->root_of[a] != w->root || d->root_of[b] != w->root)
		return false;
	p = &d->s->places.items[a];
	q = &d->s->places.items[b];
	return p->parent == q->parent || (p->kind == NODE_BODY && q->kind == NODE_BODY && p->function == q->function);
}

static void read_pairs(struct reader *d, struct summed_window *w)
{
	size_t cnt = next_cnt(d, 3);

	for (size_t i = 0; i < cnt && !d->r.failed; i++) {
		uint64_t a = (i ? w->pairs.items[i - 1].a : 0) + upto(d, UINT32_MAX), b = a + upto(d, UINT32_MAX);
		struct summed_pair *p;

		if (!may_be_pair(d, w, a, b)) {
			d->r.failed = true;
			return;
		}
		p = VEC_EXTEND(&w->pairs);
		*p = (struct summed_pair){ (uint32_t)a, (uint32_t)b, sum(d) };
		if (i && (p[-1].a > p->a || (p[-1].a == p->a && p[-1].b >= p->b)))
			d->r.failed = true;
	}
}

/* In any order, each once. */
static void read_owns(struct reader *d, struct summed_window *w)
{
	_cleanup_(map_freep) struct map *seen = map_new();
	size_t cnt = next_cnt(d, 6);

	for (size_t i = 0; i < cnt && !d->r.failed; i++) {
		struct summed_own *o = VEC_EXTEND(&w->owns);

		o->kind = (uint8_t)upto(d, OWN_KIND_CNT - 1);
		o->wait = (uint8_t)upto(d, STATE_CNT - 1);
		o->function = next_function(d);
		if ((*map_slot(seen, (uint64_t)o->kind << 40 | (uint64_t)o->wait << 32 | o->function))++)
			d->r.failed = true;
		o->xx = sum(d);
		o->cnt = upto(d, COUNT_MAX);
		o->t = sum(d);
	}
}

static uint32_t next_bucket(struct reader *d, uint32_t last, unsigned bits)
{
	uint64_t bucket = last + upto(d, UINT32_MAX);

	if (bucket < BUCKETS_MAX(bits))
		return (uint32_t)bucket;
	d->r.failed = true;
	return last;
}

static void read_buckets(struct reader *d, struct summed_window *w)
{
	size_t cnt = next_cnt(d, 4);
	uint32_t last = 0;

	for (size_t i = 0; i < cnt && !d->r.failed; i++) {
		struct summed_bucket *b = VEC_EXTEND(&w->buckets);

		b->bucket = next_bucket(d, last, BUCKET_BITS_FINE);
		if (i && b->bucket <= last)
			d->r.failed = true;
		last = b->bucket;
		b->n = upto(d, COUNT_MAX);
		b->recorded = upto(d, COUNT_MAX);
		b->t = sum(d);
	}
}

static void read_cells(struct reader *d, struct summed_window *w)
{
	size_t cnt = next_cnt(d, 3);
	uint32_t last = 0, bucket = 0;

	for (size_t i = 0; i < cnt && !d->r.failed; i++) {
		struct summed_cell *c = VEC_EXTEND(&w->cells);
		bool is_first;

		c->bucket = next_bucket(d, bucket, BUCKET_BITS);
		is_first = i == 0 || c->bucket != bucket;
		c->place = next_place(d, w, is_first ? 0 : last, is_first);
		if (d->has_children[c->place] && c->place != w->root)
			d->r.failed = true;
		bucket = c->bucket;
		last = c->place;
		c->x = sum(d);
	}
}

static void read_shares(struct reader *d, struct summed_window *w)
{
	size_t cnt = next_cnt(d, 3);
	uint32_t bucket = 0;
	uint64_t last = 0;

	for (size_t i = 0; i < cnt && !d->r.failed; i++) {
		struct summed_share *s = VEC_EXTEND(&w->shares);
		uint64_t own;

		s->bucket = next_bucket(d, bucket, BUCKET_BITS);
		own = (i && s->bucket == bucket ? last : 0) + upto(d, UINT32_MAX);
		if (own >= w->owns.cnt || (i && s->bucket == bucket && own <= last))
			d->r.failed = true;
		bucket = s->bucket;
		last = own;
		s->own = (uint32_t)own;
		s->n = upto(d, COUNT_MAX);
	}
}

static void read_counts(struct reader *d, struct summed_window *w)
{
	struct summed_counts *c = &w->counts;
	unsigned flags;

	w->n = upto(d, COUNT_MAX);
	w->recorded = upto(d, COUNT_MAX);
	w->unit = (uint32_t)upto(d, UINT32_MAX);
	w->min_ns = (int64_t)upto(d, INT64_MAX);
	w->max_ns = (int64_t)upto(d, INT64_MAX);
	c->open = upto(d, COUNT_MAX);
	c->aborted = upto(d, COUNT_MAX);
	c->bad_path = upto(d, COUNT_MAX);
	c->lost = upto(d, COUNT_MAX);
	c->nested = upto(d, COUNT_MAX);
	c->unmatched_ends = upto(d, COUNT_MAX);
	c->lost_records = upto(d, COUNT_MAX);
	flags = (unsigned)upto(d, 3);
	c->has_pairing = flags & 1;
	c->knows_runqueue = flags & 2;
	w->root_only.n = upto(d, COUNT_MAX);
	w->root_only.max_ns = (int64_t)upto(d, INT64_MAX);
	c->waited_ns = sum(d);
	c->no_waker_ns = sum(d);
	c->io_waited_ns = sum(d);
	c->io_no_waker_ns = sum(d);
	w->root_only.t = sum(d);
	w->root_only.tt = sum(d);
}

static void read_window(struct reader *d, const char **ret_wrong)
{
	struct summed_window *w = VEC_EXTEND(&d->s->windows);

	w->source = index_below(d, d->s->sources.cnt);
	w->root = index_below(d, d->s->places.cnt);
	w->from_ns = varint_next_signed(&d->r);
	w->until_ns = varint_next_signed(&d->r);
	if (d->r.failed || d->root_of[w->root] != w->root || w->from_ns >= w->until_ns) {
		d->r.failed = true;
		return;
	}
	read_counts(d, w);
	read_sums(d, w);
	read_pairs(d, w);
	read_owns(d, w);
	read_buckets(d, w);
	read_cells(d, w);
	read_shares(d, w);
	if (!d->r.failed)
		*ret_wrong = window_wrong(d->s, w);
}

static void read_all(struct reader *d, const char **ret_wrong)
{
	size_t cnt;

	read_texts(d);
	read_strings(d, &d->s->interval_names);
	read_strings(d, &d->s->call_sites);
	read_functions(d);
	read_sources(d);
	read_places(d);
	cnt = next_cnt(d, 32);
	for (size_t i = 0; i < cnt && !d->r.failed && !*ret_wrong; i++)
		read_window(d, ret_wrong);
	if (d->r.at != d->r.end)
		d->r.failed = true;
}

static int damaged(const char *name, const char *why, struct diag *reterr)
{
	diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' is damaged: %s", name, why);
	return diag_remedy(reterr, -EBADMSG, "copy it again from where it was made, or make it again: vprof export --format digest");
}

static int parse_body(const char *body, size_t len, const char *name, struct summed **ret, struct diag *reterr)
{
	_cleanup_(summed_freep) struct summed *s = summed_new();
	struct reader d = { .s = s, .r = { (const unsigned char *)body, (const unsigned char *)body + len, false } };
	const char *wrong = NULL;

	read_all(&d, &wrong);
	free(d.texts);
	free(d.root_of);
	free(d.has_children);
	if (d.r.failed)
		return damaged(name, "it contains an impossible number", reterr);
	if (!wrong && summed_has_twins(s))
		wrong = "it lists the same function or place twice";
	if (wrong)
		return damaged(name, wrong, reterr);
	*ret = TAKE_PTR(s);
	return 0;
}

int digest_parse(const char *bytes, size_t len, const char *name, struct summed **ret, struct diag *reterr)
{
	size_t head = strlen(DIGEST_MAGIC), body_len;
	_cleanup_(freep) char *body = NULL;

	if (len < head || memcmp(bytes, DIGEST_MAGIC, head - 1) != 0) {
		diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' is not a digest", name);
		return diag_remedy(reterr, -EBADMSG, "vprof export --format digest RUN -o FILE.vpd makes one");
	}
	if (bytes[head - 1] != DIGEST_MAGIC[head - 1])
		return diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' is a digest of another version of vprof, "
				"which this version cannot read", name);
	if (unpack(bytes + head, len - head, DIGEST_BYTES_MAX, &body, &body_len) < 0)
		return damaged(name, "it is truncated, or some bytes were changed", reterr);
	return parse_body(body, body_len, name, ret, reterr);
}

int digest_read(const char *path, struct summed **ret, struct diag *reterr)
{
	_cleanup_(freep) char *bytes = NULL;
	bool is_stdin = strcmp(path, "-") == 0;
	size_t len;
	int r = file_read_given(is_stdin ? "/dev/stdin" : path, &bytes, &len);

	if (r < 0)
		return diag_set(reterr, EXIT_DATA, r, "cannot read '%s': %s", path, file_why(r));
	return digest_parse(bytes, len, is_stdin ? "standard input" : path, ret, reterr);
}
