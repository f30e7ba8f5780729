/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spool.h - digests on their way: files that a sender gives to a command, the oldest first, each until the command accepted it.
 *
 *	vprof.data/spool/000007-00000000060000000000.vpd	of run 7, until 60 s of its clock
 *	vprof.data/spool/lock					of the sender, one for a data directory
 *
 * A file goes when the command has ended with status 0.  The sender is a process of its own: if the recorder is killed it sends what
 * is there, and ends.  The sender of the next recording sends the rest.
 */
#ifndef PROJECT_DIGESTS_SPOOL_H
#define PROJECT_DIGESTS_SPOOL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/diag.h"

#define SPOOL_LIMIT ((uint64_t)1 << 30)	/* bytes, unless --limit says otherwise */

char *spool_dir(void);			/* the caller frees it */

/* -ENOSPC without a message: it would hold more than limit bytes. */
int spool_add(uint32_t run, int64_t until_ns, const char *bytes, size_t len, uint64_t limit, struct diag *reterr);

size_t spool_cnt(void);			/* files that wait */

struct spool_sender {
	pid_t pid;
	int fd;				/* it ends after this is closed, also by the end of this process */
};

int spool_sender_start(struct spool_sender *s, const char *command, struct diag *reterr);
/* Waits until it has sent what is there, or the command fails. */
void spool_sender_end(struct spool_sender *s);

#endif
