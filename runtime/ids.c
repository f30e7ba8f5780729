/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ids.c - reads ids of traces and spans; keeps them until the interval begins.
 */
#include "runtime/ids.h"

#include <stddef.h>
#include "runtime/thread.h"

/* Values of __builtin_classify_type(); an array is one in C++. */
enum { TYPE_POINTER = 5, TYPE_ARRAY = 14 };

enum { TRACE_DIGITS = 32, SPAN_DIGITS = 16, VERSION_DIGITS = 2 };

struct id {
	uint64_t high, low;
	unsigned int digits;		/* one more than TRACE_DIGITS: there are too many */
};

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static const char *read_id(const char *text, struct id *ret)
{
	int digit;

	*ret = (struct id){ 0, 0, 0 };
	for (; ret->digits <= TRACE_DIGITS && (digit = digit_of(*text)) >= 0; text++) {
		ret->high = ret->high << 4 | ret->low >> 60;
		ret->low = ret->low << 4 | (unsigned int)digit;
		ret->digits++;
	}
	return text;
}

/* A traceparent, or one id in *ret_trace alone.  Returns false for other text. */
static bool read_text(const char *text, struct id *ret_trace, struct id *ret_span)
{
	const char *end = read_id(text, ret_trace);

	*ret_span = (struct id){ 0, 0, 0 };
	if (ret_trace->digits != VERSION_DIGITS || *end != '-')
		return ret_trace->digits > 0 && ret_trace->digits <= TRACE_DIGITS;
	end = read_id(end + 1, ret_trace);
	if (ret_trace->digits != TRACE_DIGITS || *end != '-')
		return false;
	end = read_id(end + 1, ret_span);
	return ret_span->digits == SPAN_DIGITS && *end == '-';
}

static bool is_text(uint64_t type)
{
	return type == TYPE_POINTER || type == TYPE_ARRAY;
}

uint64_t ids_span(uint64_t value, uint64_t type)
{
	struct id trace, span;

	if (!is_text(type))
		return value;
	if (!value || !read_text((const char *)(uintptr_t)value, &trace, &span))
		return 0;
	if (span.digits)
		return span.low;
	return trace.digits <= SPAN_DIGITS ? trace.low : 0;
}

static void note_trace(struct thread_ids *ids, uint64_t value, uint64_t type)
{
	struct id trace = { .low = value }, span = { 0, 0, 0 };

	if (is_text(type) && !(value && read_text((const char *)(uintptr_t)value, &trace, &span)))
		trace = span = (struct id){ 0, 0, 0 };
	ids->trace[0] = trace.high;
	ids->trace[1] = trace.low;
	if (span.digits)
		ids->parent = span.low;
}

void ids_note(unsigned int kind, uint64_t label, uint64_t value, uint64_t type)
{
	struct thread_ids *ids = &thread_self.ids;

	if (!ids->known || ids->label != label)
		*ids = (struct thread_ids){ .label = label, .known = true };
	if (kind == VPROF_KIND_TRACE)
		note_trace(ids, value, type);
	else
		*(kind == VPROF_KIND_SPAN ? &ids->span : &ids->parent) = ids_span(value, type);
}

const struct thread_ids *ids_of(uint64_t label)
{
	const struct thread_ids *ids = &thread_self.ids;

	return ids->known && (!ids->label || ids->label == label) ? ids : NULL;
}

void ids_taken(void)
{
	thread_self.ids.known = false;
}
