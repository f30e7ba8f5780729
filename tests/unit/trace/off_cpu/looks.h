/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * looks.h - a trace with the kernel's accounts of its threads, written by hand.  Times are in microseconds here.  Included once by the
 * tests that need it.
 */
#ifndef TESTS_UNIT_TRACE_OFF_CPU_LOOKS_H
#define TESTS_UNIT_TRACE_OFF_CPU_LOOKS_H

#include "tests/unit/raw_trace.h"

#include "trace/read/off_cpu.h"

static unsigned char account_data[1 << 16];
static struct encoder accounts;

static inline void begin(void)
{
	begin_trace();
	accounts = (struct encoder){ account_data, 0, sizeof(account_data), false };
}

static inline void call_of(int thread, uint64_t fid, uint64_t start_us, uint64_t end_us)
{
	put_rec(&(struct rec){ thread, EVENT_NONE, { fid, start_us * 1000, end_us * 1000 } });
}

static inline void call(uint64_t fid, uint64_t start_us, uint64_t end_us)
{
	call_of(1, fid, start_us, end_us);
}

static inline void put_look(int thread, uint64_t us, uint64_t run_us, uint64_t delay_us, uint64_t slices, bool is_off)
{
	put(&accounts, (uint64_t)thread);
	put(&accounts, us * 1000);
	put(&accounts, run_us * 1000);
	put(&accounts, delay_us * 1000);
	put(&accounts, slices << 1 | is_off);
	put(&accounts, 1);
}

/* From outside. */
static inline void look(uint64_t us, uint64_t run_us, uint64_t delay_us, uint64_t slices, bool is_off)
{
	put_look(1, us, run_us, delay_us, slices, is_off);
}

static inline void own_look_of(int thread, uint64_t us, uint64_t run_us)
{
	put_rec(&(struct rec){ thread, EVENT_ACCOUNT, { us * 1000, run_us * 1000 } });
}

static inline void own_look(uint64_t us, uint64_t run_us)
{
	own_look_of(1, us, run_us);
}

/* As the runtime logs it: with how often the thread left its CPU to wait. */
static inline void whole_look(uint64_t us, uint64_t run_us, uint64_t left_cnt)
{
	own_look(us, run_us);
	put_rec(&(struct rec){ 1, EVENT_SWITCHES, { us * 1000, left_cnt } });
}

static inline struct trace *end(const struct reader_options *o)
{
	struct trace *t;

	trace_file_block(&file, BLOCK_ACCOUNTS, accounts.data, accounts.len);
	t = read_trace(o);
	unlink(path);
	return t;
}

/* The part of the time of the function's calls (NULL: of all) that is in segments of that state; us. */
static inline uint64_t told(const struct trace *t, const char *function, enum trace_state state)
{
	int64_t sum = 0;

	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *s = &t->segments.items[i];

		if (s->state != state)
			continue;
		sum += function ? 0 : s->end_ns - s->start_ns;
		for (size_t k = 0; function && k < t->invocations.cnt; k++) {
			const struct invocation *v = &t->invocations.items[k];
			int64_t from = s->start_ns > v->start_ns ? s->start_ns : v->start_ns;
			int64_t to = s->end_ns < v->end_ns ? s->end_ns : v->end_ns;

			if (v->tid == s->tid && strcmp(t->functions.items[v->function].name, function) == 0 && from < to)
				sum += to - from;
		}
	}
	return (uint64_t)(sum / 1000);
}

#endif
