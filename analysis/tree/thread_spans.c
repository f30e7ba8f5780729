/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * thread_spans.c - keeps a first moment of all threads, and a last one for each.
 */
#include "analysis/tree/thread_spans.h"
#include "base/banned.h"

struct lives *lives_new(void)
{
	struct lives *l = xcalloc(1, sizeof(*l));

	l->first_ns = INT64_MAX;
	l->last = map_new();
	return l;
}

void lives_free(struct lives *l)
{
	if (!l)
		return;
	map_free(l->last);
	VEC_RELEASE(&l->lasts_ns);
	free(l);
}

static void extend(struct lives *l, uint64_t tid, int64_t until_ns)
{
	uint64_t *place = map_slot(l->last, tid);

	if (!*place) {
		VEC_ADD(&l->lasts_ns, until_ns);
		*place = l->lasts_ns.cnt;
	} else if (l->lasts_ns.items[*place - 1] < until_ns) {
		l->lasts_ns.items[*place - 1] = until_ns;
	}
}

void lives_add(struct lives *l, const struct trace *t)
{
	const struct segment *s = t->segments.items;

	for (size_t i = 0; i < t->segments.cnt; i++) {
		if (s[i].start_ns < l->first_ns)
			l->first_ns = s[i].start_ns;
		if (i + 1 == t->segments.cnt || s[i + 1].tid != s[i].tid)
			extend(l, s[i].tid, s[i].end_ns);
	}
}

struct each_life {
	struct lives *to;
	const struct lives *from;
	struct archive *archive;	/* writes; NULL: joins */
	lives_renumber tid_of;
	const void *arg;
};

static bool visit_life(uint64_t tid, uint64_t place, void *arg)
{
	struct each_life *e = arg;
	int64_t last_ns = e->from->lasts_ns.items[place - 1];

	if (!e->archive) {
		extend(e->to, e->tid_of(e->arg, tid), last_ns);
		return true;
	}
	archive_u64(e->archive, &tid);
	archive_i64(e->archive, &last_ns);
	return true;
}

void lives_archive(struct lives *l, struct archive *a)
{
	struct each_life e = { .from = l, .archive = a };
	size_t cnt = archive_cnt(a, l->lasts_ns.cnt);

	archive_i64(a, &l->first_ns);
	if (a->out)
		map_each(l->last, visit_life, &e);
	for (size_t i = 0; !a->out && i < cnt && !a->failed; i++) {
		uint64_t tid = 0;
		int64_t last_ns = 0;

		archive_u64(a, &tid);
		archive_i64(a, &last_ns);
		extend(l, tid, last_ns);
	}
}

void lives_join(struct lives *to, const struct lives *from, lives_renumber tid_of, const void *arg)
{
	struct each_life e = { .to = to, .from = from, .tid_of = tid_of, .arg = arg };

	if (from->first_ns < to->first_ns)
		to->first_ns = from->first_ns;
	map_each(from->last, visit_life, &e);
}

int64_t lives_until(const struct lives *l, uint64_t tid)
{
	uint64_t place;

	return map_get(l->last, tid, &place) ? l->lasts_ns.items[place - 1] : INT64_MIN;
}
