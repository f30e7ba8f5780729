/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_digest.c - `vprof import --from digest`: makes a run from the sums of one or more digests.
 */
#include "base/banned.h"
#include "cmd/formats/import_format.h"
#include "project/digests/import_digests.h"
#include "digest/digest.h"

static int keep(const char *const *paths, size_t cnt, struct store *s, const struct args *words, const char *name, struct run *run,
		struct findings **ret, struct diag *reterr)
{
	return import_digests(digest_read, &(struct import_digests_input){ paths, cnt, s, words, name }, run, ret, reterr);
}

const struct import_format import_digest = { .name = "digest", .help = "FILE.vpd of vprof export", .keep = keep };
