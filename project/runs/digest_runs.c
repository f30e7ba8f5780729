/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * digest_runs.c - runs that consist of sums.
 */
#include "project/runs/digest_runs.h"

#include <errno.h>
#include <inttypes.h>

#include "base/banned.h"
#include "base/file.h"
#include "project/runs/project.h"

char *run_digest_path(const struct store *s, uint32_t run)
{
	_cleanup_(freep) char *dir = run_dir(s, run);

	return path_join(dir, DIGEST_FILE);
}

bool run_is_digest(const struct store *s, const struct run *r)
{
	_cleanup_(freep) char *path = run_digest_path(s, r->number);

	return file_exists(path);
}

int run_digest_refuse(const struct run *r, const char *what, struct diag *reterr)
{
	diag_set(reterr, EXIT_NO_EVIDENCE, -ENODATA, "%s needs single intervals, and run %" PRIu32 " is made of digests, which hold sums",
		 what, r->number);
	return diag_remedy(reterr, -ENODATA, "vprof show summary, variance-tree, factors, causes, tail and slow-vs-fast work; for the others look "
			   "at a run of the host that recorded it");
}
