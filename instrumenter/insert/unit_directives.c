/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unit_directives.c - the intervals of vprof.conf as a flat list of places.
 *
 * [interval "request"] with a start, two resumes and an end is four directives.  They are listed
 * starts first: where two meet in one function, the interval is begun before it is resumed or
 * ended.
 */
#include <string.h>
#include "base/banned.h"
#include "base/str.h"
#include "instrumenter/insert/unit_directives.h"

static void add(struct directives *ret, enum directive_kind kind,
		const struct interval_directive *interval, const struct location *location)
{
	enum place place = location->place;

	if (place == PLACE_MARK)
		return;
	if (place == PLACE_DEFAULT)
		place = kind == DIRECTIVE_END ? PLACE_RETURN : PLACE_ENTRY;
	VEC_ADD(&ret->list, (struct directive){ kind, place, interval, location });
}

void directives_collect(const struct launcher_options *o, struct directives *ret)
{
	*ret = (struct directives){ .list = { NULL, 0, 0 } };
	for (size_t i = 0; i < o->interval_cnt; i++)
		add(ret, DIRECTIVE_START, &o->intervals[i], &o->intervals[i].start);
	for (size_t i = 0; i < o->interval_cnt; i++)
		for (size_t j = 0; j < o->intervals[i].resumes.cnt; j++)
			add(ret, DIRECTIVE_RESUME, &o->intervals[i],
			    &o->intervals[i].resumes.items[j]);
	for (size_t i = 0; i < o->interval_cnt; i++)
		add(ret, DIRECTIVE_END, &o->intervals[i], &o->intervals[i].end);
}

void directives_release(struct directives *d)
{
	VEC_RELEASE(&d->list);
}

const char *directive_role(enum directive_kind kind)
{
	static const char *const names[] = {
		[DIRECTIVE_START] = "start", [DIRECTIVE_RESUME] = "resume", [DIRECTIVE_END] = "end",
	};

	return names[kind];
}

bool directive_concerns(const struct directive *d, const struct scan_function *f)
{
	const struct location *l = d->location;

	if (l->file && !location_file_matches(l->file, f->file))
		return false;
	if (d->place == PLACE_LINE)
		return f->line <= l->line && l->line <= f->end_line;
	if (f->signature && strchr(l->function, '(') && !ends_with(f->name, f->signature)) {
		_cleanup_(freep) char *full = xasprintf("%s%s", f->name, f->signature);

		return location_function_matches(l->function, full);
	}
	return location_function_matches(l->function, f->name);
}
