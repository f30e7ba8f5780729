/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ctf_text.h - the events of a CTF trace, as babeltrace2 prints them, an event a line:
 *
 *	[1.000001000] box app:request_begin: { cpu_id = 0 }, { vpid = 70, vtid = 1 }, { n = 7, what = "a, b" }
 *
 * NAME_begin and NAME_end, or _start, _entry, _exit and the like, are a span of their thread, app:request; func_entry and func_exit of
 * LTTng's -finstrument-functions a function, by its name if the trace has that, else by its address.  sched_switch says when a thread
 * waited, the system call it was in for what, and sched_waking who woke it.
 */
#ifndef CMD_FORMATS_SPANS_CTF_TEXT_H
#define CMD_FORMATS_SPANS_CTF_TEXT_H

#include "cmd/formats/spans/spans.h"

struct ctf;

struct ctf *ctf_new(struct spans *s);
void ctf_read_text(struct ctf *c, char *text);	/* whole lines; cut in place */
void ctf_finish(struct ctf *c);			/* adds the wake-ups, and frees c */

#endif
