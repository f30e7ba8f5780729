/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_sort.c - the order of what kernel.vpk says: blocks of several CPUs are one after the other there.
 */
#include "base/banned.h"
#include "base/sort.h"
#include "trace/kernel/kernel.h"

static int compare_offs(const void *a, const void *b)
{
	const struct kernel_off *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->in_ns != y->in_ns)
		return x->in_ns < y->in_ns ? -1 : 1;
	return x->out_ns < y->out_ns ? -1 : x->out_ns > y->out_ns;
}

static int64_t off_key(const void *item, unsigned int rank)
{
	const struct kernel_off *x = item;

	return rank ? x->in_ns : x->tid;
}

static int compare_lives(const void *a, const void *b)
{
	const struct kernel_life *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static int compare_stacks(const void *a, const void *b)
{
	const struct kernel_stack *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (int)x->reason - (int)y->reason;
}

static int64_t stack_key(const void *item, unsigned int rank)
{
	const struct kernel_stack *x = item;

	return rank ? x->ns : x->tid;
}

/* Sorts the stacks and drops those whose text is missing, as in a recording that was cut off. */
static void sort_stacks(struct kernel_trace *k)
{
	size_t kept = 0;

	for (size_t i = 0; i < k->stacks.cnt; i++)
		if (k->stacks.items[i].stack < k->texts.cnt)
			k->stacks.items[kept++] = k->stacks.items[i];
	k->stacks.cnt = kept;
	sort_items(k->stacks.items, kept, sizeof(*k->stacks.items), stack_key, 2, compare_stacks);
}

static int compare_requests(const void *a, const void *b)
{
	const struct kernel_request *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->issue_ns != y->issue_ns)
		return x->issue_ns < y->issue_ns ? -1 : 1;
	if (x->done_ns != y->done_ns)
		return x->done_ns < y->done_ns ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int compare_exchanges(const void *a, const void *b)
{
	const struct kernel_exchange *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->connection < y->connection ? -1 : x->connection > y->connection;
}

static int64_t exchange_key(const void *item, unsigned int rank)
{
	(void)rank;
	return ((const struct kernel_exchange *)item)->start_ns;
}

static int compare_upstreams(const void *a, const void *b)
{
	const struct kernel_upstream *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

void kernel_sort(struct kernel_trace *k)
{
	size_t kept = 0;

	sort_stacks(k);
	if (k->upstreams.cnt > 1)
		qsort(k->upstreams.items, k->upstreams.cnt, sizeof(*k->upstreams.items), compare_upstreams);
	sort_items(k->exchanges.items, k->exchanges.cnt, sizeof(*k->exchanges.items), exchange_key, 1, compare_exchanges);
	if (k->requests.cnt > 1)
		qsort(k->requests.items, k->requests.cnt, sizeof(*k->requests.items), compare_requests);

	sort_items(k->offs.items, k->offs.cnt, sizeof(*k->offs.items), off_key, 2, compare_offs);
	if (k->lives.cnt)
		qsort(k->lives.items, k->lives.cnt, sizeof(*k->lives.items), compare_lives);
	for (size_t i = 0; i < k->offs.cnt; i++) {
		struct kernel_off o = k->offs.items[i];
		const struct kernel_off *before = kept ? &k->offs.items[kept - 1] : NULL;

		if (before && before->tid == o.tid && o.out_ns < before->in_ns)
			o.out_ns = before->in_ns;
		if (o.out_ns < o.in_ns)
			k->offs.items[kept++] = o;
	}
	k->offs.cnt = kept;
}
