/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_digest.c - `vprof import --from digest`: makes a run from the sums of one or more digests.
 */
#include <inttypes.h>

#include "base/banned.h"
#include "cmd/formats/import_format.h"
#include "cmd/messages.h"
#include "digest/digest.h"
#include "digest/unite.h"
#include "project/digests/run_digest.h"

static void tell(const struct summed *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->windows.cnt; i++)
		n += s->windows.items[i].recorded;
	note_line("found %" PRIu64 " intervals of %zu kind%s in %zu window%s of %zu recording%s", n, s->interval_names.cnt,
		  s->interval_names.cnt == 1 ? "" : "s", s->windows.cnt, s->windows.cnt == 1 ? "" : "s", s->sources.cnt,
		  s->sources.cnt == 1 ? "" : "s");
	note_line("the run has sums only: vprof show summary, variance-tree, factors, causes, tail and slow-vs-fast work, views of single "
		  "intervals do not");
}

static int keep(const char *const *paths, size_t cnt, struct store *s, const struct args *words, const char *name, struct run *run,
		struct findings **ret, struct diag *reterr)
{
	_cleanup_(uniter_freep) struct uniter *u = uniter_new();
	_cleanup_(summed_freep) struct summed *all = NULL;
	int r = store_check_ours(s, reterr);

	for (size_t i = 0; r == 0 && i < cnt; i++) {
		_cleanup_(summed_freep) struct summed *one = NULL;

		r = digest_read(paths[i], &one, reterr);
		if (r == 0)
			uniter_add(u, one);
	}
	if (r == 0)
		r = uniter_end(u, &all, reterr);
	if (r < 0)
		return r;
	tell(all);
	return run_digest_keep(s, all, "import", words, name, run, ret, reterr);
}

const struct import_format import_digest = { .name = "digest", .help = "FILE.vpd of vprof export", .keep = keep };
