/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_csv.c - `vprof export --format csv`: "interval,part,nanoseconds", a row for each part of each interval.
 *
 * Parts are the functions' own running times ("log_append") and their waits by class ("wait:sleep in flush_log") on the critical
 * path, where what another thread did stands in place of the wait for it; they add up to the interval's latency.
 */
#include <errno.h>
#include <inttypes.h>

#include "analysis/path/explain.h"
#include "base/arena.h"
#include "base/banned.h"
#include "base/map.h"
#include "cmd/formats/export_format.h"
#include "cmd/formats/export_given.h"
#include "cmd/messages.h"
#include "report/output.h"

/* Named like the members of pairs: "f", "wait:lock in f", "wait:queue", "body". */
static const char *part_of(struct arena *a, const struct path_piece *p)
{
	const char *function = p->frame_cnt ? p->frames[p->frame_cnt - 1] : NULL;

	if (p->state == STATE_RUNNING)
		return function ? function : "body";
	return function ? arena_printf(a, "wait:%s in %s", trace_state_name(p->state), function) :
			  arena_printf(a, "wait:%s", trace_state_name(p->state));
}

static void put_interval(FILE *out, struct arena *a, uint64_t sid, const path_pieces *pieces)
{
	_cleanup_(names_freep) struct names *parts = names_new();
	_cleanup_(freep) int64_t *times_ns = xcalloc(pieces->cnt + 1, sizeof(*times_ns));

	for (size_t i = 0; i < pieces->cnt; i++)
		times_ns[names_add(parts, part_of(a, &pieces->items[i]))] += pieces->items[i].end_ns - pieces->items[i].start_ns;
	for (uint32_t i = 0; i < names_cnt(parts); i++)
		csv_line(out, "uti", sid, names_get(parts, i), times_ns[i]);
}

static int write_csv(FILE *out, const struct export_input *in)
{
	_cleanup_(arena_freep) struct arena *kept = arena_new();
	_cleanup_(explainer_freep) struct explainer *x = in->paths ? NULL : explainer_new(in->trace, kept);
	uint64_t missing = 0, first = 0;
	int r = 0;

	fputs("interval,part,nanoseconds\n", out);
	for (size_t i = 0; r == 0 && i < in->chosen_cnt; i++) {
		uint64_t sid = in->findings->intervals.items[in->chosen[i]].sid;
		path_pieces pieces = { NULL, 0, 0 };

		r = in->paths ? (in->paths[i].cnt ? 0 : -ENOENT) : explainer_interval(x, sid, &pieces);
		if (r == 0)
			put_interval(out, kept, sid, in->paths ? &in->paths[i] : &pieces);
		if (r == -ENOENT) {
			first = missing++ ? first : sid;
			r = 0;
		}
		VEC_RELEASE(&pieces);
	}
	if (missing)
		warn_line("%" PRIu64 " interval%s not in the run's trace and left out, the first with SID %" PRIu64, missing,
			  missing == 1 ? " is" : "s are", first);
	return r;
}

static const struct export_writer writer = { .takes_intervals = true, .takes_paths = true, .write = write_csv };

const struct export_format export_csv = {
	.name = "csv", .writer = &writer, .takes_interval = true,
	.options = export_intervals_options, .has_options = export_intervals_given,
};
