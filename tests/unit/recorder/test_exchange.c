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
			ret->items[ret->cnt++] = s.now;
		if (i == cnt)
			break;
		if (e[i].what == ARRIVES)
			exchange_arrived(&s, e[i].ns);
		else if (e[i].what == READS)
			exchange_read(&s, e[i].ns, e[i].tid, e[i].bytes);
		else if (e[i].what == SENDS)
			exchange_sent(&s, e[i].ns, e[i].tid, e[i].bytes);
		else
			exchange_closed(&s);
	}
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

static void define(const struct event *e, size_t cnt, struct list *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < cnt; i++) {
		struct exchange x;
		size_t sends = 0, reads = 0, end = i + 1;

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
	size_t found = 0;

	(void)state;
	srand(11);
	for (int round = 0; round < 20000; round++) {
		size_t cnt = (size_t)rand() % EVENTS_MAX;
		unsigned long long ns = 1;
		struct list was, should;

		for (size_t i = 0; i < cnt; i++) {
			int r = rand() % 16;

			ns += (unsigned)rand() % 5 + 1;
			e[i] = (struct event){ r < 6 ? ARRIVES : r < 10 ? READS : r < 15 ? SENDS : CLOSES, ns,
					       (unsigned)rand() % 3 + 1, (unsigned)rand() % 100 + 1 };
		}
		run(e, cnt, &was);
		define(e, cnt, &should);
		assert_same(&was, &should);
		found += was.cnt;
	}
	assert_true(found > 50000);
}

/* The example of exchange.h. */
static void test_example(void **state)
{
	const struct event e[] = {
		{ SENDS, 2, 1, 9 }, { ARRIVES, 10, 0, 0 }, { ARRIVES, 12, 0, 0 }, { READS, 14, 1, 30 }, { SENDS, 20, 1, 5 },
		{ SENDS, 22, 1, 6 }, { ARRIVES, 35, 0, 0 }, { READS, 40, 1, 7 }, { SENDS, 41, 2, 1 }, { CLOSES, 50, 1, 0 },
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
		cmocka_unit_test(test_example), cmocka_unit_test(test_random), cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
