/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_digest.c - `vprof export --format digest`: the sums of the run's intervals, for vprof merge.
 */
#include <errno.h>

#include "base/banned.h"
#include "cmd/formats/export_format.h"
#include "cmd/formats/export_sums.h"
#include "digest/digest.h"

static int check(struct diag *reterr)
{
	return export_refuse_tsv_options(reterr);
}

static int write_sums(FILE *out, const struct summed *digest, struct diag *reterr)
{
	_cleanup_(str_release) struct str bytes = STR_INIT;
	int e = digest_write(digest, &bytes, reterr);

	if (e < 0)
		return e;
	return fwrite(bytes.data, 1, bytes.len, out) == bytes.len ? 0 : -errno;
}

static const struct export_sums_writer writer = { .check = check, .write = write_sums };

const struct export_format export_digest = {
	.name = "digest", .sums = &writer, .options = export_sums_options, .has_options = export_sums_given, .is_binary = true,
};
