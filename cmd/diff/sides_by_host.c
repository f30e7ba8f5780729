/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sides_by_host.c - a side whose units are hosts: the sums of all its runs, host by host.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/banned.h"
#include "cmd/diff/sides.h"
#include "cmd/messages.h"
#include "digest/by_host.h"
#include "digest/unite.h"
#include "project/digests/run_digest.h"

static int read_sums(struct sides *s, enum side side, const char *text, struct summed **ret, struct diag *reterr)
{
	_cleanup_(uniter_freep) struct uniter *u = uniter_new();
	int r = runs_find(s->store, text, &s->runs[side], reterr);

	for (size_t i = 0; r == 0 && i < s->runs[side].cnt; i++) {
		_cleanup_(summed_freep) struct summed *sums = NULL;

		progress_line("run %" PRIu32 ": what its intervals sum up to", s->runs[side].items[i].number);
		r = run_digest_read(s->store, &s->runs[side].items[i], 0, &sums, reterr);
		if (r == 0)
			uniter_add(u, sums);
	}
	progress_done();
	return r < 0 ? r : uniter_end(u, ret, reterr);
}

static int nothing_there(const char *text, const char *interval, struct diag *reterr)
{
	diag_set(reterr, EXIT_NO_EVIDENCE, -ENOENT, "no host of '%s' has results about intervals%s%s%s", text, interval ? " '" : "",
		 interval ? interval : "", interval ? "'" : "");
	return diag_remedy(reterr, -ENOENT, "vprof show summary %s", text);
}

static int too_many(struct diag *reterr)
{
	return diag_set(reterr, EXIT_DATA, -EOVERFLOW, "these are too many intervals, or too long ones, to be summed up exactly");
}

/* The kind of interval of which the side has most; the findings are the owner's of that name. */
static int choose_interval(struct sides *s, const struct summed *sums, const char *text, const char **interval, struct diag *reterr)
{
	struct analyze_options o = { .interval = NULL };
	struct findings *all = NULL;
	int r = summed_findings(sums, &o, &all);

	if (r == 0 && all->interval.cnt) {
		s->interval = xstrdup(all->interval.name);
		*interval = s->interval;
	} else if (r == 0) {
		r = nothing_there(text, NULL, reterr);
	} else {
		r = r == -EOVERFLOW ? too_many(reterr) : nothing_there(text, NULL, reterr);
	}
	findings_free(all);
	return r;
}

static int read_host(struct sides *s, enum side side, const struct host_part *host, const char *interval, struct diag *reterr)
{
	_cleanup_(findings_freep) struct findings *f = NULL;
	struct analyze_options o = { .interval = interval };
	int r = summed_findings(&host->part, &o, &f);

	if (r == -EOVERFLOW)
		return too_many(reterr);
	if (r < 0 || !f->interval.cnt) {
		warn_line("host '%s' is left out: it has no results about intervals '%s'", host->name, interval);
		return 0;
	}
	VEC_ADD(&s->hosts, xstrdup(host->name));
	VEC_ADD(&s->compared[side], (struct compared_run){ host->started_ns, f, s->hosts.items[s->hosts.cnt - 1] });
	VEC_ADD(&s->findings[side], TAKE_PTR(f));
	return 0;
}

int side_read_hosts(struct sides *s, enum side side, const char *text, const char **interval, struct diag *reterr)
{
	_cleanup_(summed_freep) struct summed *sums = NULL;
	host_parts hosts = { NULL, 0, 0 };
	int r = read_sums(s, side, text, &sums, reterr);

	s->label[side] = xstrdup(text);
	if (r == 0 && !*interval)
		r = choose_interval(s, sums, text, interval, reterr);
	if (r == 0)
		r = hosts_of(sums, &hosts);
	if (r == -ENODATA) {
		diag_set(reterr, EXIT_NO_EVIDENCE, r, "a run of '%s' does not say which host recorded it", text);
		diag_remedy(reterr, r, "vprof export --format digest where it was recorded, then vprof merge; runs that were imported from other "
			    "formats have no host");
	}
	for (size_t i = 0; r == 0 && i < hosts.cnt; i++)
		r = read_host(s, side, &hosts.items[i], *interval, reterr);
	if (r == 0 && !s->compared[side].cnt)
		r = nothing_there(text, *interval, reterr);
	hosts_release(&hosts);
	return r;
}
