/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tuples_ids.c - ids of intervals, calls of other services, and who recorded the trace.
 */
#include "trace/tuples/tuples_ids.h"

#include <inttypes.h>
#include "base/banned.h"

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Hexadecimal digits as they are in a traceparent; "-" is 0, unknown. */
static int field_hex(struct parser *p, const struct field *f, size_t most, const char *what, uint64_t *ret_high, uint64_t *ret_low)
{
	*ret_high = *ret_low = 0;
	if (field_is(f, "-"))
		return 0;
	if (f->len > most)
		return field_expected(p, what, f);
	for (size_t i = 0; i < f->len; i++) {
		int digit = digit_of(f->text[i]);

		if (digit < 0)
			return field_expected(p, what, f);
		*ret_high = *ret_high << 4 | *ret_low >> 60;
		*ret_low = *ret_low << 4 | (unsigned int)digit;
	}
	return 0;
}

int tuples_parse_ids(struct parser *p, const struct field *f, size_t cnt)
{
	struct interval_ids ids = { 0 };
	uint64_t high;
	int r = field_id(p, &f[0], "a number as SID", &ids.sid);

	(void)cnt;
	if (r == 0)
		r = field_hex(p, &f[1], 32, "up to 32 hexadecimal digits, or \"-\", as TRACE", &ids.trace[0], &ids.trace[1]);
	if (r == 0)
		r = field_hex(p, &f[2], 16, "up to 16 hexadecimal digits, or \"-\", as SPAN", &high, &ids.span);
	if (r == 0)
		r = field_hex(p, &f[3], 16, "up to 16 hexadecimal digits, or \"-\", as PARENT", &high, &ids.parent);
	if (r == 0)
		VEC_ADD(&p->t->ids, ids);
	return r;
}

int tuples_parse_remote_call(struct parser *p, const struct field *f, size_t cnt)
{
	struct remote_call c = { 0 };
	uint64_t high;
	int r = field_id(p, &f[0], "a number as TID", &c.tid);

	(void)cnt;
	if (r == 0)
		r = field_hex(p, &f[1], 16, "up to 16 hexadecimal digits, or \"-\", as SPAN", &high, &c.span);
	if (r == 0)
		r = field_time(p, &f[2], "whole nanoseconds as TIME_NS", &c.time_ns);
	if (r == 0)
		VEC_ADD(&p->t->remote_calls, c);
	return r;
}

int tuples_parse_host(struct parser *p, const struct field *f, size_t cnt)
{
	uint32_t name;
	int r = field_name(p, &f[0], "a name as NAME", p->thread_names, &name);

	(void)cnt;
	if (r == 0)
		p->t->host = arena_strdup(p->t->arena, names_get(p->thread_names, name));
	return r;
}

void tuples_write_ids(FILE *out, const struct trace *t)
{
	for (size_t i = 0; i < t->ids.cnt; i++)
		fprintf(out, "ids %" PRIu64 " %016" PRIx64 "%016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n", t->ids.items[i].sid,
			t->ids.items[i].trace[0], t->ids.items[i].trace[1], t->ids.items[i].span, t->ids.items[i].parent);
	for (size_t i = 0; i < t->remote_calls.cnt; i++)
		fprintf(out, "remote-call %" PRIu64 " %016" PRIx64 " %" PRId64 "\n", t->remote_calls.items[i].tid,
			t->remote_calls.items[i].span, t->remote_calls.items[i].time_ns);
}
