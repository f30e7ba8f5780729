/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * whole_run.h - the common parts of the views of a whole run.  Private to report/.
 */
#ifndef REPORT_WHOLE_RUN_WHOLE_RUN_H
#define REPORT_WHOLE_RUN_WHOLE_RUN_H

#include "report/output.h"
#include "report/style.h"

#define WHOLE_ROWS_SHOWN 20		/* of a table, without --all */

/* { schema, run, warnings } */
json_t *json_whole(const char *name, const struct view_input *in);

json_t *json_frames(const char *const *frames, size_t cnt);
json_t *json_line(uint32_t line);	/* null if unknown */

/* The place of a thread that neither a probe nor a stack names. */
#define NO_FUNCTION "unknown"		/* the one word for what has no name; why, and what would name it: */
#define NO_FUNCTION_WHY "no probed function, and no stack is known; vprof build --functions all would name it"

/* "a › f", or NO_FUNCTION; the innermost `most` of them. */
void add_frame_names(struct str *to, const struct style *s, const char *const *frames, size_t cnt,
		     size_t most);

/* "worker (12)", "thread 12" */
void add_thread_label(struct str *to, const char *name, uint64_t tid);

/* "server.c:28", "" if unknown; file may be NULL. */
void add_source_place(struct str *to, const char *file, uint32_t line);

/* a;b;c for CSV and flame graphs; ';' in a name becomes ':'. */
void add_folded(struct str *to, const char *const *frames, size_t cnt);

/* The number of rows shown out of cnt, and a line for the others. */
size_t whole_rows_shown(const struct view_input *in, size_t cnt);
void print_whole_rest(const struct style *s, size_t cnt, size_t shown, const char *what);

/* part / all as "62.0 %"; "" if all is 0. */
const char *text_part(char buf[TEXT_MAX], double part, double all);

/* "run 3 (before)" */
void add_run_label(struct str *to, const struct run *run);

#endif
