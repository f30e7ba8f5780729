/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * edit.c - insertions into a text, by offset.
 *
 *	"int f(void){return 1;}"  +  (12, " A;") (12, " B;")  =  "int f(void){ A; B;return 1;}"
 *
 * Nothing is ever removed or replaced: the user's text keeps its lines and the order of its columns.
 */
#include <string.h>
#include "base/banned.h"
#include "instrumenter/text/edit.h"

static void add(struct edits *e, size_t offset, size_t order, const char *fmt, va_list ap)
{
	_cleanup_(str_release) struct str s = STR_INIT;

	str_vaddf(&s, fmt, ap);
	VEC_ADD(&e->insertions, (struct insertion){ offset, order, str_take(&s) });
}

void edits_insert(struct edits *e, size_t offset, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(e, offset, e->insertions.cnt + 1, fmt, ap);
	va_end(ap);
}

void edits_insert_first(struct edits *e, size_t offset, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(e, offset, 0, fmt, ap);
	va_end(ap);
}

static int by_offset(const void *a, const void *b)
{
	const struct insertion *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void edits_apply(struct edits *e, const char *text, size_t len, struct str *ret)
{
	size_t done = 0;

	if (e->insertions.cnt)
		qsort(e->insertions.items, e->insertions.cnt, sizeof(*e->insertions.items), by_offset);
	for (size_t i = 0; i < e->insertions.cnt; i++) {
		const struct insertion *ins = &e->insertions.items[i];
		size_t offset = ins->offset < len ? ins->offset : len;

		str_addn(ret, text + done, offset - done);
		str_add(ret, ins->text ? ins->text : "");
		done = offset;
	}
	str_addn(ret, text + done, len - done);
}

void edits_release(struct edits *e)
{
	for (size_t i = 0; i < e->insertions.cnt; i++)
		free(e->insertions.items[i].text);
	VEC_RELEASE(&e->insertions);
}
