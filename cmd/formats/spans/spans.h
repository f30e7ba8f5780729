/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spans.h - makes a trace of named spans on threads, as other tracers record them.
 *
 * On each thread spans nest: a span that crosses the end of the span around it is cut there and counted.  Intervals are chosen by
 * --interval NAME (each span of that name that is not inside another one of that name), by --start and --end (from the start of one
 * function to the end of another, on one thread); by default they are the outermost spans, each under its own name.
 *
 * Formats that know when a thread waited add that: waits of a thread that overlap are cut at the end of the earlier one.
 */
#ifndef CMD_FORMATS_SPANS_SPANS_H
#define CMD_FORMATS_SPANS_SPANS_H

#include "base/diag.h"
#include "base/map.h"
#include "base/option.h"
#include "trace/model.h"

struct span {
	const char *name;		/* owned by the set */
	uint64_t tid;
	int64_t start_ns, end_ns;
	size_t order;			/* of appearance; decides which of two equal spans is the outer one */
};

struct span_wait {
	uint64_t tid;
	int64_t start_ns, end_ns;
	enum trace_state state;
};

struct span_begun {
	const char *name;
	uint64_t tid;
	int64_t ns;
	bool ended;
	size_t below, below_named;	/* the one that began before it on the thread, and there under its name: index + 1 */
};

struct span_mark {			/* a beginning or an end */
	const char *name;		/* "": an end without one */
	uint64_t tid;
	int64_t ns;
	size_t order;
	bool ends;
};

struct spans {
	struct arena *arena;
	VEC(struct span_mark) marks;
	VEC(struct span_begun) begun;
	struct map *last, *last_named;	/* thread, thread and name -> the last that began, as index + 1 */
	VEC(struct span) list;
	VEC(struct span_wait) waits;
	VEC(struct wakeup) wakeups;
	uint64_t unmatched_ends, open, crossing;	/* counted, for the report */
};

extern const char *import_interval, *import_start, *import_end;	/* --interval, --start, --end */
extern const struct option_desc import_span_options[];
bool import_span_options_given(void);

void spans_init(struct spans *s);
void spans_release(struct spans *s);
void spans_add(struct spans *s, const char *name, uint64_t tid, int64_t start_ns, int64_t end_ns);

/* For formats with beginnings and ends, in the order of time.  An end without a name ends the innermost span of the thread; one without a
 * beginning is counted. */
void spans_begin(struct spans *s, const char *name, uint64_t tid, int64_t ns);
void spans_end(struct spans *s, const char *name, uint64_t tid, int64_t ns);

/* For formats with beginnings and ends in any order: spans_mark() each (name may be NULL), and when all are there spans_match(). */
void spans_mark(struct spans *s, const char *name, uint64_t tid, int64_t ns, bool ends);
void spans_match(struct spans *s);

void spans_add_wait(struct spans *s, uint64_t tid, int64_t start_ns, int64_t end_ns, enum trace_state state);
void spans_add_wakeup(struct spans *s, uint64_t tid, uint64_t waker_tid, int64_t ns);

/* EXIT_NO_EVIDENCE: no interval; EXIT_USAGE: --start without --end.  Prints what was found, and which views work. */
int spans_to_trace(struct spans *s, struct trace **ret, struct diag *reterr);

/* Prints these two lines; the second one is the same for all formats of spans. */
void spans_tell(const struct spans *s, const struct trace *t);

/* Segments of all threads with spans: waits, and between them running, each for the interval that its thread then works for by the
 * segments that t has so far.  Between waits it runs if it works for an interval, or if all its waits are there (knows_rest); else it is
 * not known what it did. */
void spans_cut_waits(struct spans *s, struct trace *t, bool knows_rest);

/* Adds one interval and what ran in it; for formats that know the interval of each span. */
uint64_t spans_add_interval(struct trace *t, const char *name, uint64_t tid, int64_t start_ns, int64_t end_ns);
uint32_t spans_function(struct trace *t, struct map *numbers, const char *name);

/* Reads the whole file, without its byte order mark; the caller frees *ret. */
int spans_read_file(const char *path, char **ret, size_t *ret_len, struct diag *reterr);

#endif
