/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_digests.c - see import_digests.h. */
#include "project/digests/import_digests.h"

#include <inttypes.h>

#include "base/banned.h"
#include "digest/unite.h"
#include "project/digests/run_digest.h"
#include "project/notices.h"

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

int import_digests(int (*read)(const char *path, struct summed **ret, struct diag *reterr), const struct import_digests_input *in,
		struct run *run, struct findings **ret, struct diag *reterr)
{
	_cleanup_(uniter_freep) struct uniter *u = uniter_new();
	_cleanup_(summed_freep) struct summed *all = NULL;
	int r = store_check_ours(in->store, reterr);

	for (size_t i = 0; r == 0 && i < in->cnt; i++) {
		_cleanup_(summed_freep) struct summed *one = NULL;

		r = read(in->paths[i], &one, reterr);
		if (r == 0)
			uniter_add(u, one);
	}
	if (r == 0)
		r = uniter_end(u, &all, reterr);
	if (r < 0)
		return r;
	tell(all);
	return run_digest_keep(in->store, all, "import", in->words, in->name, run, ret, reterr);
}
