/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sides_by_host.c - a side whose units are hosts: the sums of all its runs, host by host.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/banned.h"
#include "cmd/diff/sides.h"
#include "cmd/merge_digests.h"
#include "cmd/messages.h"
#include "digest/by_host.h"
#include "digest/digest.h"
#include "digest/unite.h"
#include "project/config/locate.h"
#include "project/digests/run_digest.h"

/* Takes the names of digests out of "a.vpd,3,b.vpd": the rest, "3", is runs. */
static void split(const char *text, struct args *ret_files, struct str *ret_runs)
{
	for (const char *word = text; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
		_cleanup_(freep) char *one = xstrndup(word, strcspn(word, ","));

		if (is_digest_name(one))
			args_add(ret_files, one);
		else
			str_addf(ret_runs, "%s%s", ret_runs->len ? "," : "", one);
	}
}

static int open_and_find(struct sides *s, enum side side, const char *text, struct diag *reterr)
{
	int r = s->store ? 0 : store_open(data_dir(), false, &s->store, reterr);

	return r < 0 ? r : runs_find(s->store, text, &s->runs[side], reterr);
}

static int add_file(struct uniter *u, const char *path, struct diag *reterr)
{
	_cleanup_(summed_freep) struct summed *sums = NULL;
	int r = digest_read(path, &sums, reterr);

	if (r == 0)
		uniter_add(u, sums);
	return r;
}

static int read_sums(struct sides *s, enum side side, const char *text, struct summed **ret, struct diag *reterr)
{
	_cleanup_(uniter_freep) struct uniter *u = uniter_new();
	_cleanup_(args_release) struct args files = ARGS_INIT;
	_cleanup_(str_release) struct str names = STR_INIT;
	int r = 0;

	split(text, &files, &names);
	if (names.len || !files.cnt)
		r = open_and_find(s, side, str_cstr(&names), reterr);
	for (size_t i = 0; r == 0 && i < files.cnt; i++)
		r = add_file(u, files.items[i], reterr);
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
	return diag_remedy(reterr, -ENOENT, is_digest_name(text) ? "vprof import --from digest %s   makes a run of it" :
								   "vprof show summary %s", text);
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
