/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_digests.h - `vprof record --digest-every 60s --to COMMAND`: while the program runs, its windows go to the command.
 *
 * Some seconds at a time a process of its own digests what ended since, from a part of the trace (drainer_cut()); the recorder goes on.
 * Its processor time counts into the budget of --sample auto.
 */
#ifndef PROJECT_RECORD_RECORD_DIGESTS_H
#define PROJECT_RECORD_RECORD_DIGESTS_H

#include "drainer/drainer.h"
#include "project/digests/spool.h"
#include "project/record/record_steps.h"

struct record_digests_part {		/* of the trace */
	int64_t until_ns;		/* nothing in it is later */
	uint32_t number;		/* of the next one */
};

struct record_digests {
	struct store *store;
	const struct run *run;
	int64_t every_ns, stretch_ns;	/* every_ns 0: nothing is digested */
	uint64_t limit;
	struct spool_sender sender;
	pid_t child;			/* it digests up to asked_ns, in child_dir; 0: none */
	char *child_dir;
	unsigned int cut_cnt;
	int64_t done_ns, asked_ns;
	VEC(struct record_digests_part) parts;
	uint64_t lost_records, asked_lost;	/* up to done_ns, asked_ns */
	bool has_failed;
};

/* Before the program starts.  command: of the run, whose origin is noted now. */
int record_digests_open(struct record_digests *g, struct store *s, const struct run *r, const struct args *command,
			const struct record_options *o, struct diag *reterr);
void record_digests_turn(void *arg, struct drainer *d);		/* drainer_options.turn */
void record_digests_last(struct record_digests *g, struct drainer *d);	/* after the program, before drainer_close() */
void record_digests_close(struct record_digests *g);

#endif
