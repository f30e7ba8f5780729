/* SPDX-License-Identifier: GPL-3.0-or-later */
/* record_progress.c - see record_progress.h. */
#include "project/record/record_progress.h"

#include <string.h>
#include "base/banned.h"
#include "base/map.h"
#include "base/str.h"
#include "project/notices.h"

#define EVERY_NS INT64_C(1000000000)
#define KEY_IS_THREAD UINT64_MAX

static struct progress_open *place_of(struct record_progress *p, uint64_t label, uint64_t key)
{
	return &p->open[hash_u64(hash_u64(0, label), key) % PROGRESS_OPEN];
}

static void begin(struct progress_open *o, uint64_t label, uint64_t key, uint64_t ticks)
{
	if (o->depth && o->label == label && o->key == key) {
		o->depth++;		/* inside itself */
		return;
	}
	*o = (struct progress_open){ label, key, ticks, 1 };
}

static void end(struct record_progress *p, struct progress_open *o, uint64_t label, uint64_t key, uint64_t ticks)
{
	bool is_known = o->depth && o->label == label && o->key == key;

	if (is_known && --o->depth)
		return;
	p->ended_cnt++;
	if (!is_known || ticks < o->began)
		return;
	p->timed_cnt++;
	p->buckets[bucket_of((int64_t)(ticks - o->began), PROGRESS_BITS)]++;
}

static void take(void *arg, uint64_t serial, enum trace_event kind, uint64_t ticks, const uint64_t *words)
{
	struct record_progress *p = arg;
	uint64_t key = kind == EVENT_SHIFT || words[1] == KEY_IS_THREAD ? serial : words[1];
	struct progress_open *o = place_of(p, words[0], key);

	if (kind == EVENT_BEGIN)
		begin(o, words[0], key, ticks);
	else if (kind == EVENT_END)
		end(p, o, words[0], key, ticks);
	else if (kind == EVENT_DROP && o->label == words[0] && o->key == key)
		o->depth = 0;
}

uint64_t record_progress_p99(const struct record_progress *p)
{
	uint64_t wanted = (p->timed_cnt * 99 + 99) / 100, cnt = 0;

	for (size_t i = 0; i < BUCKETS_MAX(PROGRESS_BITS); i++) {
		cnt += p->buckets[i];
		if (cnt >= wanted)
			return (uint64_t)bucket_from((uint32_t)i, PROGRESS_BITS);
	}
	return 0;
}

char *record_progress_text(const struct record_progress *p, int64_t now_ns, double ns_per_tick)
{
	struct str s = STR_INIT;
	char buf[TEXT_MAX];

	str_addf(&s, "recording %.0f s", (double)(now_ns - p->started_ns) / 1e9);
	if (p->ended_cnt)
		str_addf(&s, ", %s interval%s", text_cnt(buf, p->ended_cnt), p->ended_cnt == 1 ? "" : "s");
	if (p->timed_cnt && ns_per_tick > 0)
		str_addf(&s, ", p99 %s", text_ns(buf, (double)record_progress_p99(p) * ns_per_tick, false));
	return str_take(&s);
}

static void turn(void *arg, struct drainer *d, uint64_t now_ns)
{
	struct record_progress *p = arg;
	_cleanup_(freep) char *text = NULL;

	if ((int64_t)now_ns - p->last_ns < EVERY_NS)
		return;
	p->last_ns = (int64_t)now_ns;
	drainer_look(d);
	text = record_progress_text(p, (int64_t)now_ns, drainer_ns_per_tick(d));
	progress_line("%s", text);
}

void record_progress_init(struct record_progress *p, int64_t now_ns)
{
	memset(p, 0, sizeof(*p));
	p->started_ns = p->last_ns = now_ns;
	p->watch = (struct drainer_experiments){ .only_watches = true, .turn = turn, .take = take, .arg = p };
}
