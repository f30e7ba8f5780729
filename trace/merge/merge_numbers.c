/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * merge_numbers.c - part by part, in order: a number that no earlier part has is kept, others get the next
 * free one.
 */
#include "trace/merge/merge_numbers.h"

#include <stdbool.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/map.h"
#include "base/order.h"

struct part_numbers {
	struct map *seen;
	uint64_t last;			/* seen last: most are seen many times in a row */
	struct map *changed;		/* old number -> new one */
};

struct merge_numbers {
	struct part_numbers *parts;
	size_t part_cnt;
};

struct number_list {
	VEC(uint64_t) numbers;
};

struct merge_numbers *merge_numbers_new(size_t part_cnt)
{
	struct merge_numbers *n = xcalloc(1, sizeof(*n));

	n->parts = xcalloc(part_cnt + 1, sizeof(*n->parts));
	n->part_cnt = part_cnt;
	for (size_t i = 0; i < part_cnt; i++) {
		n->parts[i].seen = map_new();
		n->parts[i].changed = map_new();
	}
	return n;
}

void merge_numbers_free(struct merge_numbers *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->part_cnt; i++) {
		map_free(n->parts[i].seen);
		map_free(n->parts[i].changed);
	}
	free(n->parts);
	free(n);
}

void merge_numbers_see(struct merge_numbers *n, size_t part, uint64_t number)
{
	struct part_numbers *p = &n->parts[part];

	if (number == p->last && map_cnt(p->seen))
		return;
	*map_slot(p->seen, number) = 1;
	p->last = number;
}

void merge_numbers_forget(struct merge_numbers *n, size_t part)
{
	map_free(n->parts[part].seen);
	n->parts[part].seen = map_new();
}

static bool list_number(uint64_t number, uint64_t value, void *arg)
{
	struct number_list *list = arg;

	(void)value;
	VEC_ADD(&list->numbers, number);
	return true;
}

static bool find_largest(uint64_t number, uint64_t value, void *arg)
{
	uint64_t *largest = arg;

	(void)value;
	if (number > *largest && number < UINT64_MAX)
		*largest = number;
	return true;
}

/* The number after the largest of all parts; UINT64_MAX means none. */
static uint64_t first_free(const struct merge_numbers *n)
{
	uint64_t largest = 0;

	for (size_t i = 0; i < n->part_cnt; i++)
		map_each(n->parts[i].seen, find_largest, &largest);
	return largest + 1 < UINT64_MAX / 2 ? largest + 1 : (uint64_t)1 << 32;
}

void merge_numbers_archive(struct merge_numbers *n, size_t part, struct archive *a)
{
	struct number_list list = { .numbers = { NULL, 0, 0 } };
	uint64_t before = 0;
	size_t cnt;

	if (a->out)
		map_each(n->parts[part].seen, list_number, &list);
	if (list.numbers.cnt)
		qsort(list.numbers.items, list.numbers.cnt, sizeof(*list.numbers.items), compare_uint64);
	cnt = archive_cnt(a, list.numbers.cnt);
	for (size_t i = 0; i < cnt && !a->failed; i++) {
		uint64_t step = a->out ? list.numbers.items[i] - before : 0;

		archive_u64(a, &step);
		before += step;
		if (!a->out)
			merge_numbers_see(n, part, before);
	}
	VEC_RELEASE(&list.numbers);
}

void merge_numbers_settle(struct merge_numbers *n)
{
	_cleanup_(map_freep) struct map *taken = map_new();
	struct number_list list = { .numbers = { NULL, 0, 0 } };
	uint64_t next = first_free(n), unused;

	for (size_t i = 0; i < n->part_cnt; i++) {
		struct part_numbers *p = &n->parts[i];

		list.numbers.cnt = 0;
		map_each(p->seen, list_number, &list);
		map_free(p->seen);
		p->seen = NULL;
		if (list.numbers.cnt)
			qsort(list.numbers.items, list.numbers.cnt, sizeof(*list.numbers.items), compare_uint64);
		for (size_t k = 0; k < list.numbers.cnt; k++) {
			uint64_t number = list.numbers.items[k];

			while (map_get(taken, number, &unused))
				number = next++;
			map_set(taken, number, 1);
			if (number != list.numbers.items[k])
				map_set(p->changed, list.numbers.items[k], number);
		}
	}
	VEC_RELEASE(&list.numbers);
}

uint64_t merge_numbers_of(const struct merge_numbers *n, size_t part, uint64_t number)
{
	uint64_t ours = number;

	map_get(n->parts[part].changed, number, &ours);
	return ours;
}
