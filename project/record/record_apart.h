/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_apart.h - processes of a run that are not in its recording, and why.
 */
#ifndef PROJECT_RECORD_RECORD_APART_H
#define PROJECT_RECORD_RECORD_APART_H

#include "drainer/drainer.h"
#include "project/record/reach.h"

struct met {				/* the first program with probes that did not take part */
	struct str exe;
	pid_t pid;			/* 0: none was met */
	enum reach reach;
	unsigned look_cnt;
};

/* For struct drainer_options: examines the command's processes while none takes part. */
void met_look(void *met, pid_t child, const char *arena_path);

/* Prints what the processes reported, a line each. */
void apart_tell(const struct drainer_stats *stats);

/* No process took part, and one reported why; false: none reported. */
bool apart_fail(const struct drainer_stats *stats);

#endif
