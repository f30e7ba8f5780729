/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_labels.c - the labels of a wait-for graph's vertices.
 */
#include <inttypes.h>

#include "base/banned.h"
#include "base/text/utf8.h"
#include "report/whole_run/wait_labels.h"

/* "thread 12", "thread 12 and 7 more", "disk 9", "unknown" */
static void add_number(struct str *to, const struct wait_vertex *v)
{
	if (v->id == VERTEX_ID_NONE) {
		str_add(to, "unknown");
		return;
	}
	str_addf(to, "%s %" PRIu64, v->kind == VERTEX_GROUP || v->kind == VERTEX_UNKNOWN ? "thread"
								: vertex_kind_name(v->kind), v->id);
	if (v->kind == VERTEX_GROUP)
		str_addf(to, " and %" PRIu32 " more", v->alike - 1);
}

void add_vertex_name(struct str *to, const struct wait_vertex *v)
{
	if (v->name)
		utf8_add_line(to, v->name);
	else
		add_number(to, v);
}

void add_vertex_label(struct str *to, const struct wait_vertex *v)
{
	add_vertex_name(to, v);
	if (v->name && v->kind == VERTEX_GROUP)
		str_addf(to, " (%" PRIu64 " +%" PRIu32 ")", v->id, v->alike - 1);
	else if (v->name && v->members.cnt > 1)
		str_addf(to, " (%zu short-lived)", v->members.cnt);
	else if (v->name && v->kind == VERTEX_THREAD)
		str_addf(to, " (%" PRIu64 ")", v->id);
	else if (v->kind == VERTEX_UNKNOWN && v->id != VERTEX_ID_NONE)
		str_add(to, " (not recorded)");
}
