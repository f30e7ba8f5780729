/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contents.c - collected block by block, some 40 bytes each.
 */
#include <stdlib.h>
#include <string.h>
#include "drainer/drain.h"

void contents_thread(struct contents *c, uint64_t serial)
{
	if (c->collected && c->serials.items[c->serials.cnt - 1] == serial)
		return;
	VEC_ADD(&c->serials, serial);
	c->collected++;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

void contents_block(struct contents *c, uint64_t number, uint64_t since, uint64_t until, uint64_t records)
{
	uint64_t *serials = c->serials.items + c->serials.cnt - c->collected;
	size_t cnt = 0;

	if (c->collected)
		qsort(serials, c->collected, sizeof(*serials), compare);
	for (size_t i = 0; i < c->collected; i++)
		if (!cnt || serials[cnt - 1] != serials[i])
			serials[cnt++] = serials[i];
	c->serials.cnt -= c->collected - cnt;
	c->collected = 0;
	VEC_ADD(&c->blocks, (struct contents_block){ number, since, until, records, cnt });
}

void contents_dropped(struct contents *c)
{
	c->serials.cnt -= c->collected;
	c->collected = 0;
}

void contents_forget(struct contents *c, uint64_t before)
{
	size_t blocks = 0, serials = 0;

	while (blocks < c->blocks.cnt && c->blocks.items[blocks].number < before)
		serials += c->blocks.items[blocks++].serial_cnt;
	if (!blocks)
		return;
	c->blocks.cnt -= blocks;
	memmove(c->blocks.items, c->blocks.items + blocks, c->blocks.cnt * sizeof(*c->blocks.items));
	c->serials.cnt -= serials;
	memmove(c->serials.items, c->serials.items + serials, c->serials.cnt * sizeof(*c->serials.items));
}

static void put_block(struct drainer *d, const struct contents_block *b, const uint64_t *serials)
{
	encode_varint(&d->table, b->number);
	encode_varint(&d->table, b->since);
	encode_varint(&d->table, b->until - b->since);
	encode_varint(&d->table, b->records);
	encode_varint(&d->table, b->serial_cnt);
	for (size_t i = 0; i < b->serial_cnt; i++)
		encode_varint(&d->table, serials[i]);
}

void contents_write(struct drainer *d)
{
	const struct contents *c = &d->contents;
	size_t serial = 0;

	d->table.len = 0;
	for (size_t i = 0; i < c->blocks.cnt; serial += c->blocks.items[i++].serial_cnt) {
		size_t len = d->table.len;

		if (i - c->hidden < c->hidden_cnt || c->blocks.items[i].number < c->from_number)
			continue;
		put_block(d, &c->blocks.items[i], c->serials.items + serial);
		if (!d->table.full)
			continue;
		trace_file_block(&d->file, BLOCK_CONTENTS, d->table.data, len);
		d->table.full = false;
		d->table.len = 0;
		put_block(d, &c->blocks.items[i], c->serials.items + serial);
	}
	trace_file_block(&d->file, BLOCK_CONTENTS, d->table.data, d->table.len);
	d->table.len = 0;
}

void contents_release(struct contents *c)
{
	VEC_RELEASE(&c->blocks);
	VEC_RELEASE(&c->serials);
}
