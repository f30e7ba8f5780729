/* SPDX-License-Identifier: GPL-3.0-or-later */
/* record_progress.c - see record_progress.h. */
#include "project/record/record_progress.h"

#include <inttypes.h>
#include <stdio.h>
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

/* 16 ticks are bucket 64, 17 are 65, ... 31 are 79; 32 and 33 are 80. */
static size_t bucket_of(uint64_t ticks)
{
	unsigned int power = ticks ? 63 - (unsigned int)__builtin_clzll(ticks) : 0;

	return power < 4 ? ticks : power * PROGRESS_STEPS + ((ticks >> (power - 4)) & (PROGRESS_STEPS - 1));
}

static uint64_t edge_of(size_t bucket)
{
	size_t power = bucket / PROGRESS_STEPS;

	return power < 4 ? bucket : (uint64_t)(PROGRESS_STEPS + bucket % PROGRESS_STEPS) << (power - 4);
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
	p->buckets[bucket_of(ticks - o->began)]++;
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

	for (size_t i = 0; i < PROGRESS_BUCKETS; i++) {
		cnt += p->buckets[i];
		if (cnt >= wanted)
			return edge_of(i);
	}
	return 0;
}

static void add_time(struct str *to, double ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	size_t unit = 0;

	for (; ns >= 999.5 && unit + 1 < ARRAY_SIZE(units); unit++)
		ns /= 1000;
	str_addf(to, ns < 9.95 ? "%.1f %s" : "%.0f %s", ns, units[unit]);
}

static void add_count(struct str *to, uint64_t cnt)
{
	char digits[32];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, cnt);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			str_addc(to, ',');
		str_addc(to, digits[i]);
	}
}

char *record_progress_text(const struct record_progress *p, int64_t now_ns, double ns_per_tick)
{
	struct str s = STR_INIT;

	str_addf(&s, "recording %.0f s", (double)(now_ns - p->started_ns) / 1e9);
	if (p->ended_cnt) {
		str_add(&s, ", ");
		add_count(&s, p->ended_cnt);
		str_add(&s, p->ended_cnt == 1 ? " interval" : " intervals");
	}
	if (p->timed_cnt && ns_per_tick > 0) {
		str_add(&s, ", p99 ");
		add_time(&s, (double)record_progress_p99(p) * ns_per_tick);
	}
	return str_take(&s);
}

static void turn(void *arg, struct drainer *d, uint64_t now_ns)
{
	struct record_progress *p = arg;
	_cleanup_(freep) char *text = NULL;

	if ((int64_t)now_ns - p->told_ns < EVERY_NS)
		return;
	p->told_ns = (int64_t)now_ns;
	drainer_look(d);
	text = record_progress_text(p, (int64_t)now_ns, drainer_ns_per_tick(d));
	progress_line("%s", text);
}

void record_progress_init(struct record_progress *p, int64_t now_ns)
{
	memset(p, 0, sizeof(*p));
	p->started_ns = p->told_ns = now_ns;
	p->watch = (struct drainer_experiments){ .only_watches = true, .turn = turn, .take = take, .arg = p };
}
