/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * instrument.h - a parsed unit and a plan -> the insertions, and the scan record.
 *
 * What is inserted into a body, in this order; cleanups run in reverse when it is left:
 *
 *	before	an interval begins here
 *	laters	what happens to it when the function's span has ended; the last directive is the first
 *		in the text, so that a start at a return comes before an end there
 *	span	the probe
 *	after	a lock's ACQUIRE and RELEASE: inside the function's own time
 */
#ifndef INSTRUMENTER_INSERT_INSTRUMENT_H
#define INSTRUMENTER_INSERT_INSTRUMENT_H

#include "instrumenter/insert/probe_form.h"
#include "instrumenter/parse/parse.h"
#include "instrumenter/plan/compile_options.h"
#include "instrumenter/scan/scan.h"
#include "instrumenter/text/edit.h"

struct function_edit {
	struct str before, laters, span, after;
	struct str at_return;		/* statements; the result is called vprof_ret_ */
};

struct call_place {			/* a call that has a site of its own: call_sites.c */
	const struct plan_sites *of;
	size_t call;			/* of the parsed unit */
};

/* One unit on its way. */
struct instrumenting {
	const struct launcher_options *o;
	const char *text;
	size_t len;
	enum language language;
	const char *standard;
	struct probe_form form;
	const struct lines *lines;
	struct parsed *parsed;
	struct unit *unit;		/* functions are 1:1 those of parsed */
	struct edits edits;
	VEC(struct function_edit) bodies;	/* 1:1 as well */
	VEC(struct scan_tail) tails;
	VEC(const char *) labels;	/* names of intervals, as in vprof_labels[] */
	struct str pragmas, wrappers;	/* at the top and at the bottom of the unit */
	size_t site_cnt, later_cnt, event_cnt;
	size_t constant_cnt;		/* sites in functions that the compiler may compute */
	VEC(struct call_place) places;	/* calls whose places are told apart: after the functions' sites */
	size_t told_cnt;		/* functions that take such a place */
	size_t aside_cnt;		/* sites whose probes stand aside */
	bool in_text;			/* redirect primitives in the text even if the object could be edited */
};

/* scan_unit.c: functions, calls and addresses of the unit. */
void scan_unit(struct instrumenting *in);

/* Whether the function is constexpr, or a lambda that is so implicitly. */
bool may_be_constant(const struct instrumenting *in, size_t function);

/* NULL, or why no event can stand in the function. */
const char *why_no_event(const struct instrumenting *in, size_t function);

/* A hash of what would be inserted into a unit, from its scan record alone: as long as it is the same, the object
 * need not be recompiled. */
uint64_t probe_set_of(const struct unit *u, const struct launcher_options *o);

/* A hash of everything besides the plan that decides about insertions, and of the scanning program. */
uint64_t settings_of(const struct launcher_options *o);

/* Makes the edited text of a unit whose record is complete (unit_cache.h); does not use in->parsed. */
bool instrument_known(struct instrumenting *in, struct str *ret);

/* Makes the edited text.  False: nothing is to be inserted, compile the unit as it is, and then redirect its
 * primitives in the object. */
bool instrument_unit(struct instrumenting *in, struct str *ret);
void instrumenting_release(struct instrumenting *in);	/* also a _cleanup_ function */

/* The parts of instrument_unit(). */
void insert_intervals(struct instrumenting *in);	/* intervals.c */
void insert_primitives(struct instrumenting *in);	/* sync.c */
void insert_own_calls(struct instrumenting *in);	/* own_calls.c */
void insert_call_sites(struct instrumenting *in);	/* call_sites.c: after all else */
/* The site's name: the callee's, its key, and the place that calls it (runtime/shared/probe_sites.h, trace/read/invocations.c). */
char *call_place_name(const struct instrumenting *in, const struct call_place *p);

/* resolvers.c: marks the functions of in->parsed that may run before the program is relocated. */
void find_early(struct instrumenting *in);

/* tail_calls.c: fills in->tails, and marks the unit's calls; whether these options make jumps of tail calls; whether the function is
 * among them. */
void find_tail_calls(struct instrumenting *in);
bool options_make_jumps(const char *const *argv, bool is_clang);
bool ends_in_circle(const struct instrumenting *in, size_t function);

/* later.c: shared by intervals.c and sync.c. */
size_t label_number(struct instrumenting *in, const char *name);
void place_add(struct instrumenting *in, const char *interval, const char *role,
	       const char *location, const char *problem);
const char *parameter_name_of(size_t n, void *parsed_function);

/*
 * An event that is logged when a function is left.  a, b and the condition are expressions; each return statement
 * computes them if at_return is set or one of them mentions ret, else the function's entry does.
 */
struct later {
	const char *kind, *label;	/* "VPROF_KIND_..."; "0" or "&vprof_labels[N]" */
	const char *a, *b;		/* b NULL: 0 */
	const char *condition;		/* NULL: always; if it does not hold, a and b are not computed */
	bool at_return;
};

/* Puts a vprof_later of function f before what is in where.  NULL, or the problem. */
const char *later_add(struct instrumenting *in, size_t f, struct str *where, const struct later *later);

#endif
