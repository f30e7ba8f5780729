/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * truth.h - what the programs with a planted cause share: durations, dice, and a book of what really happened.
 *
 * A planted function runs for a given time by the clock, measures itself, and writes into the book how long that was.
 * So the truth of *this* run is known exactly, on a busy machine as well; the analytic truth stands in each program's
 * header (truth.sh has the words).  Example, interval 7 whose column 0 is "function scan":
 *
 *	static void scan(size_t id)
 *	{
 *		TRUTH(id, 0, truth_work(truth_uniform("scan", 1, id, 100, 900)));
 *	}
 *
 * These functions are compiled without vprof: to it they are a foreign library.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The book: cnt intervals, columns "function scan;wait lock append".  In memory that forked processes share. */
void truth_open(size_t cnt, const char *columns);
void truth_begin(size_t id);		/* just before the interval begins */
void truth_end(size_t id);		/* just after its end */
void truth_took(size_t id, int column, int64_t ns);	/* adds up; from any thread */
void truth_close(void);			/* writes it to $TRUTH_BOOK, default truth.book */

int64_t truth_now(void);		/* CLOCK_MONOTONIC */
void truth_work(int64_t us);		/* computes for this time, by the clock */
void truth_nap(int64_t us);		/* sleeps */

/* The same for the same stream and id in each run, whatever else is drawn. */
double truth_draw(unsigned stream, uint64_t id);	/* [0, 1) */
/* low to high; their mean if what it is for is fixed ($TRUTH_OFF is the name). */
int64_t truth_uniform(const char *name, unsigned stream, uint64_t id, int64_t low, int64_t high);
/* most with that probability, else 0; their mean if fixed. */
int64_t truth_rare(const char *name, unsigned stream, uint64_t id, double probability, int64_t most);

#define TRUTH(id, column, ...) do { \
	int64_t truth_since = truth_now(); \
	__VA_ARGS__; \
	truth_took(id, column, truth_now() - truth_since); \
} while (0)

/*
 * One request after the other, with a nap between: TRUTH_SERVE(id, REQUESTS, 800, handle(id)).  A macro, for the marks
 * and the call have to stand in the program's own text, where the instrumenter sees them.
 */
#define TRUTH_SERVE(id, cnt, nap_us, ...) do { \
	for (size_t id = 0; id < (cnt); id++) { \
		truth_begin(id); \
		VPROF_BEGIN("request", id); \
		__VA_ARGS__; \
		VPROF_END("request", id); \
		truth_end(id); \
		truth_nap(nap_us); \
	} \
} while (0)

#ifdef __cplusplus
}
#endif

#endif
