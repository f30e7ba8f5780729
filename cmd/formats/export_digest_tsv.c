/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_digest_tsv.c - `vprof export --format digest-tsv`: the sums of the run's intervals as rows of doc/fleet.sql.
 */
#include <errno.h>

#include "base/banned.h"
#include "cmd/formats/export_format.h"
#include "cmd/formats/export_sums.h"
#include "digest/tsv.h"

static int check(struct diag *reterr)
{
	struct tsv_options o;

	return export_tsv_options(&o, reterr);
}

static int write_sums(FILE *out, const struct summed *digest, struct diag *reterr)
{
	_cleanup_(str_release) struct str rows = STR_INIT;
	struct tsv_options o;
	int e = export_tsv_options(&o, reterr);

	if (e == 0)
		e = tsv_write(digest, &o, &rows, reterr);
	if (e < 0)
		return e;
	return fwrite(str_cstr(&rows), 1, rows.len, out) == rows.len ? 0 : -errno;
}

static const struct export_sums_writer writer = { .check = check, .write = write_sums };

const struct export_format export_digest_tsv = {
	.name = "digest-tsv", .sums = &writer, .options = export_sums_options, .has_options = export_sums_given,
};
