/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_digest_tsv.c - `vprof import --from digest-tsv`: makes a run from rows of doc/fleet.sql, as SQL gives them.
 */
#include "base/banned.h"
#include "cmd/formats/import_format.h"
#include "project/digests/import_digests.h"
#include "digest/tsv.h"

static int keep(const char *const *paths, size_t cnt, struct store *s, const struct args *words, const char *name, struct run *run,
		struct findings **ret, struct diag *reterr)
{
	return import_digests(tsv_read, &(struct import_digests_input){ paths, cnt, s, words, name }, run, ret, reterr);
}

const struct import_format import_digest_tsv = { .name = "digest-tsv", .help = "rows of the tables of doc/fleet.sql", .keep = keep };
