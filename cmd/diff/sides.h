/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sides.h - the runs of two sides, BASE and HEAD: `vprof diff` and `vprof report` compare them.
 */
#ifndef CMD_DIFF_SIDES_H
#define CMD_DIFF_SIDES_H

#include "analysis/compare/compare.h"
#include "store/store.h"

struct sides {
	struct store *store;		/* open before sides_read(), else it opens it, if it needs it */
	runs runs[SIDE_CNT];		/* those with intervals of the wanted name; findings[] is parallel */
	VEC(struct findings *) findings[SIDE_CNT];
	VEC(struct compared_run) compared[SIDE_CNT];
	char *label[SIDE_CNT];
	VEC(char *) hosts;		/* their names, if they are the units */
	char *interval;			/* the chosen interval */
	struct comparison *comparison;	/* the caller makes it from the sides that sides_read() returns */
};

/*
 * base, head: a run, a group, or 4,5,6.  interval NULL: that of base with the most.  by_host: what is compared are hosts, each with
 * all that the runs have of it; runs may be digests then, and so may be files (a.vpd,b.vpd).  ret: of s, both sides.
 */
int sides_read(struct sides *s, const char *base, const char *head, const char *interval, bool by_host,
	       struct compared_side ret[SIDE_CNT], struct diag *reterr);
/* sides_by_host.c: one side.  *interval NULL: chosen. */
int side_read_hosts(struct sides *s, enum side side, const char *text, const char **interval, struct diag *reterr);
void sides_release(struct sides *s);

#endif
