/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sides.c - reads the runs of two sides.
 */
#include "cmd/diff/sides.h"

#include <errno.h>
#include <string.h>

#include "base/banned.h"
#include "cmd/messages.h"
#include "project/config/locate.h"

void sides_release(struct sides *s)
{
	comparison_free(s->comparison);
	for (unsigned i = 0; i < SIDE_CNT; i++) {
		for (size_t r = 0; r < s->findings[i].cnt; r++)
			findings_free(s->findings[i].items[r]);
		VEC_RELEASE(&s->findings[i]);
		VEC_RELEASE(&s->compared[i]);
		runs_release(&s->runs[i]);
		free(s->label[i]);
	}
	for (size_t i = 0; i < s->hosts.cnt; i++)
		free(s->hosts.items[i]);
	VEC_RELEASE(&s->hosts);
	free(s->interval);
	store_close(s->store);
}

/* Leaves out a run that has no results about the interval, with a warning. */
static int read_run(struct sides *s, enum side side, struct run *run, const char **interval, struct diag *reterr)
{
	_cleanup_(findings_freep) struct findings *f = NULL;
	int r = findings_read(s->store, run->number, *interval, &f, reterr);

	if (r < 0 && r != -ENOENT)
		return r;
	if (r < 0 || !f->interval.cnt) {
		warn_line("run %u is left out: it has no results about intervals%s%s%s", run->number, *interval ? " '" : "",
			  *interval ? *interval : "", *interval ? "'" : "");
		return 0;
	}
	if (!*interval)
		*interval = f->interval.name;
	VEC_ADD(&s->compared[side], (struct compared_run){ run->started_ns, f, NULL });
	VEC_ADD(&s->findings[side], TAKE_PTR(f));
	VEC_ADD(&s->runs[side], *run);
	memset(run, 0, sizeof(*run));
	return 0;
}

static int read_side(struct sides *s, enum side side, const char *text, const char **interval, struct diag *reterr)
{
	_cleanup_(runs_release) runs found = { NULL, 0, 0 };
	int r = runs_find(s->store, text, &found, reterr);

	for (size_t i = 0; r == 0 && i < found.cnt; i++)
		r = read_run(s, side, &found.items[i], interval, reterr);
	if (r == 0 && !s->runs[side].cnt) {
		diag_set(reterr, EXIT_NO_EVIDENCE, -ENOENT, "no run of '%s' has results about intervals", text);
		r = diag_remedy(reterr, -ENOENT, "vprof show runs");
	}
	s->label[side] = xstrdup(text);
	return r;
}

int sides_read(struct sides *s, const char *base, const char *head, const char *interval, bool by_host,
	       struct compared_side ret[SIDE_CNT], struct diag *reterr)
{
	const char *const texts[SIDE_CNT] = { base, head };
	int r = s->store || by_host ? 0 : store_open(data_dir(), false, &s->store, reterr);

	for (unsigned i = 0; r == 0 && i < SIDE_CNT; i++)
		r = by_host ? side_read_hosts(s, (enum side)i, texts[i], &interval, reterr) :
			      read_side(s, (enum side)i, texts[i], &interval, reterr);
	for (unsigned i = 0; r == 0 && i < SIDE_CNT; i++)
		ret[i] = (struct compared_side){ s->compared[i].items, s->compared[i].cnt };
	return r;
}
