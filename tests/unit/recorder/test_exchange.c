/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_exchange.c - requests and answers on one socket (recorder/bpf/exchange.h): by hand, and of random sequences against the
 * definition, which looks at all of what happened each time.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/cmocka_all.h"
#include "trace/kernel_format.h"
#include "recorder/bpf/exchange.h"

enum happening { ARRIVES, READS, SENDS, CLOSES };

struct event {
	enum happening what;
	unsigned long long ns;
	unsigned int tid, bytes;
	bool turned;
};

enum { EVENTS_MAX = 64 };

struct list {
	struct exchange items[EVENTS_MAX];
	size_t cnt;
	unsigned int unsolicited;
};

static void run(const struct event *e, size_t cnt, struct list *ret)
{
	struct exchange_state s;

	memset(&s, 0, sizeof(s));
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i <= cnt; i++) {
		bool ends = i == cnt || e[i].what == READS || e[i].what == CLOSES;

		if (ends && exchange_is_answered(&s))
			ret->unsolicited = exchange_whole(&s, &ret->items[ret->cnt++]);
		if (i == cnt)
			break;
		if (e[i].what == ARRIVES)
			exchange_arrived(&s, e[i].ns);
		else if (e[i].what == READS)
			exchange_read(&s, e[i].ns, e[i].tid, e[i].bytes);
		else if (e[i].what == SENDS)
			exchange_sent(&s, e[i].ns, e[i].tid, e[i].bytes, e[i].turned);
		else
			exchange_closed(&s);
	}
	exchange_closed(&s);
	ret->unsolicited = s.unsolicited;
}

/* ---- the definition ---- */

/* The last of what happened before i that is no arrival; CLOSES: there is nothing. */
static enum happening before(const struct event *e, size_t i)
{
	while (i-- > 0)
		if (e[i].what != ARRIVES)
			return e[i].what;
	return CLOSES;
}

static bool begins(const struct event *e, size_t i)
{
	return e[i].what == READS && before(e, i) != READS;
}

/* Bytes that arrived since the last read or end lie there from their first on. */
static bool arrival_of(const struct event *e, size_t read, unsigned long long *ret)
{
	size_t first = read;

	while (first > 0 && e[first - 1].what != READS && e[first - 1].what != CLOSES)
		first--;
	for (size_t i = first; i < read; i++)
		if (e[i].what == ARRIVES) {
			*ret = e[i].ns;
			return true;
		}
	return false;
}

/* Among the sends of an answer, events first .. end - 1, the number that do not belong to it; these are then the last ones. */
static size_t late_of(const struct event *e, size_t first, size_t end)
{
	size_t late = 0, early = SIZE_MAX, last = first;
	unsigned long long late_bytes = 0, start_ns = e[first].ns;

	arrival_of(e, first, &start_ns);
	for (size_t i = first; i < end; i++) {
		if (e[i].what != SENDS)
			continue;
		if (last != first && (e[i].turned || e[i].tid != e[last].tid)) {
			early = early == SIZE_MAX ? last : early;
			late++;
		}
		last = i;
	}
	if (late < 4)
		return 0;
	for (size_t i = early + 1; i < end; i++)
		late_bytes += e[i].what == SENDS ? e[i].bytes : 0;
	if (late_bytes > late * 4096)
		return 0;
	return late >= 16 || e[last].ns - e[early].ns > 100 * (e[early].ns - start_ns) ? late : 0;
}

/* The first send among these that is late, and with all after it no part of the answer. */
static size_t answer_end(const struct event *e, size_t first, size_t end)
{
	size_t last = first;

	for (size_t i = first; i < end; i++) {
		if (e[i].what != SENDS)
			continue;
		if (last != first && (e[i].turned || e[i].tid != e[last].tid))
			return i;
		last = i;
	}
	return end;
}

static void define(const struct event *e, size_t cnt, struct list *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < cnt; i++) {
		struct exchange x;
		size_t sends = 0, reads = 0, end = i + 1, late;

		/* Nothing was read on this connection since it began. */
		if (e[i].what == SENDS) {
			size_t j = i;

			while (j > 0 && e[j - 1].what != READS && e[j - 1].what != CLOSES)
				j--;
			ret->unsolicited += j == 0 || e[j - 1].what == CLOSES;
		}
		if (!begins(e, i))
			continue;
		while (end < cnt && !begins(e, end) && e[end].what != CLOSES)
			end++;
		late = late_of(e, i, end);
		ret->unsolicited += late;
		if (late)
			end = answer_end(e, i, end);
		memset(&x, 0, sizeof(x));
		x.start_ns = e[i].ns;
		x.flags = arrival_of(e, i, &x.start_ns) ? EXCHANGE_ARRIVAL : 0;
		x.first_read_ns = e[i].ns;
		for (size_t j = i; j < end; j++) {
			if (e[j].what == READS) {
				x.flags |= reads++ ? EXCHANGE_READS : 0;
				x.last_read_ns = e[j].ns;
				x.receiver = e[j].tid;
				x.bytes_in += e[j].bytes;
			} else if (e[j].what == SENDS) {
				x.flags |= sends && x.sender != e[j].tid ? EXCHANGE_SENDERS : 0;
				x.first_send_ns = sends++ ? x.first_send_ns : e[j].ns;
				x.last_send_ns = e[j].ns;
				x.sender = e[j].tid;
				x.bytes_out += e[j].bytes;
			}
		}
		if (sends)
			ret->items[ret->cnt++] = x;
	}
}

static void assert_same(const struct list *a, const struct list *b)
{
	assert_int_equal(a->cnt, b->cnt);
	assert_int_equal(a->unsolicited, b->unsolicited);
	for (size_t i = 0; i < a->cnt; i++)
		assert_memory_equal(&a->items[i], &b->items[i], sizeof(a->items[i]));
}

static void test_random(void **state)
{
	struct event e[EVENTS_MAX];
	size_t found = 0, streams = 0;

	(void)state;
	srand(11);
	for (int round = 0; round < 30000; round++) {
		size_t cnt = (size_t)rand() % EVENTS_MAX;
		int sends = round % 2 ? 5 : 200, most_bytes = round % 3 ? 100 : 8000;	/* a peer that sends and sends */
		unsigned long long ns = 1;
		struct list was, should;

		for (size_t i = 0; i < cnt; i++) {
			int r = rand() % (11 + sends);

			ns += (unsigned)rand() % (rand() % 8 ? 5 : 300) + 1;
			e[i] = (struct event){ r < 6 ? ARRIVES : r < 10 ? READS : r < 11 ? CLOSES : SENDS, ns,
					       (unsigned)(rand() % 8 ? 1 : rand() % 3 + 1), (unsigned)(rand() % most_bytes) + 1, rand() % 2 };
		}
		run(e, cnt, &was);
		define(e, cnt, &should);
		assert_same(&was, &should);
		found += was.cnt;
		for (size_t i = 0; i < cnt; i++) {
			size_t end = i + 1;

			while (begins(e, i) && end < cnt && !begins(e, end) && e[end].what != CLOSES)
				end++;
			streams += begins(e, i) && late_of(e, i, end) > 0;
		}
	}
	assert_true(found > 50000);
	assert_true(streams > 800);
}

/* The example of exchange.h. */
static void test_example(void **state)
{
	const struct event e[] = {
		{ SENDS, 2, 1, 9, false }, { ARRIVES, 10, 0, 0, false }, { ARRIVES, 12, 0, 0, false }, { READS, 14, 1, 30, false },
		{ SENDS, 20, 1, 5, false }, { SENDS, 22, 1, 6, false }, { ARRIVES, 35, 0, 0, false }, { READS, 40, 1, 7, false },
		{ SENDS, 41, 2, 1, false }, { CLOSES, 50, 1, 0, false },
	};
	struct list l;

	(void)state;
	run(e, sizeof(e) / sizeof(e[0]), &l);
	assert_int_equal(l.cnt, 2);
	assert_int_equal(l.unsolicited, 1);
	assert_int_equal(l.items[0].start_ns, 10);
	assert_int_equal(l.items[0].first_read_ns, 14);
	assert_int_equal(l.items[0].first_send_ns, 20);
	assert_int_equal(l.items[0].last_send_ns, 22);
	assert_int_equal(l.items[0].bytes_out, 11);
	assert_int_equal(l.items[1].start_ns, 35);
	assert_int_equal(l.items[1].sender, 2);
}

/* One that subscribes is answered at 20, and 30 times sent something else; an answer in three late pieces is one. */
static void test_stream(void **state)
{
	struct event e[40] = { { ARRIVES, 10, 0, 0, false }, { READS, 14, 1, 30, false }, { SENDS, 20, 1, 10, false } };
	struct list l;

	(void)state;
	for (size_t i = 3; i < 33; i++)
		e[i] = (struct event){ SENDS, 20 + i, 1, 50, true };
	e[33] = (struct event){ READS, 90, 1, 5, false };
	run(e, 34, &l);
	assert_int_equal(l.cnt, 1);
	assert_int_equal(l.items[0].last_send_ns, 20);
	assert_int_equal(l.items[0].bytes_out, 10);
	assert_int_equal(l.unsolicited, 30);
	run(e, 6, &l);
	assert_int_equal(l.items[0].last_send_ns, 25);
	assert_int_equal(l.items[0].bytes_out, 160);
	assert_int_equal(l.unsolicited, 0);
	for (size_t i = 3; i < 33; i++)		/* a large answer, which the thread sends as there is room */
		e[i].bytes = 16384;
	run(e, 34, &l);
	assert_int_equal(l.items[0].last_send_ns, 52);
	assert_int_equal(l.unsolicited, 0);
	for (size_t i = 3; i < 8; i++)		/* few, but for far longer than the answer took */
		e[i] = (struct event){ SENDS, 1000 * i, 1, 50, true };
	run(e, 8, &l);
	assert_int_equal(l.items[0].last_send_ns, 20);
	assert_int_equal(l.unsolicited, 5);
}

/* Sizes stop at the largest number, and do not begin anew. */
static void test_sizes(void **state)
{
	struct exchange_state s;

	(void)state;
	memset(&s, 0, sizeof(s));
	exchange_read(&s, 1, 1, 0xfffffff0U);
	exchange_read(&s, 2, 1, 0x20);
	assert_int_equal(s.now.bytes_in, 0xffffffffU);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example), cmocka_unit_test(test_random), cmocka_unit_test(test_stream),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
