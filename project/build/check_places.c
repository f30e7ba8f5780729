/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check_places.c - is every place that vprof.conf names somewhere in what was built?
 *
 * Each unit's scan record lists the places it has.  Example: end = send_replay, and no unit has it:
 *	vprof.conf: end = send_replay of 'request' is nowhere in the build; the nearest is 'send_reply'
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/str.h"
#include "project/build/check_places.h"
#include "project/build/unit_report.h"

#define SETTING_NO_INTERVAL "build.no_interval"

/* Whether the build has the place.  If nothing could be inserted there, *ret_problem says why, or *ret_untouched is
 * the only unit. */
static bool find_place(const units *scanned, const char *interval, const char *role, const char *location,
		       const char **ret_problem, const struct unit **ret_untouched)
{
	bool found = false;

	*ret_problem = NULL;
	*ret_untouched = NULL;
	for (size_t u = 0; u < scanned->cnt; u++)
		for (size_t i = 0; i < scanned->items[u]->places.cnt; i++) {
			const struct scan_place *p = &scanned->items[u]->places.items[i];

			if (!p->interval != !interval || (interval && strcmp(p->interval, interval)) ||
			    strcmp(p->role, role) || strcmp(p->location, location))
				continue;
			found = true;
			if (!p->problem && !scanned->items[u]->untouched) {
				*ret_problem = NULL;
				*ret_untouched = NULL;
				return true;
			}
			/* A key that does not compile leaves the whole unit without edits, too. */
			*ret_problem = p->problem ? p->problem : scanned->items[u]->untouched;
			*ret_untouched = p->problem ? NULL : scanned->items[u];
		}
	return found;
}

/* Does any unit contain a VPROF_ macro? */
static bool has_marks(const units *scanned)
{
	for (size_t u = 0; u < scanned->cnt; u++)
		for (size_t i = 0; i < scanned->items[u]->calls.cnt; i++) {
			const char *callee = scanned->items[u]->calls.items[i].callee;

			if (callee && strcmp(callee, SCAN_MARK) == 0)
				return true;
		}
	return false;
}

const char *nearest_function(const units *scanned, const char *name)
{
	VEC(const char *) names = { 0 };
	const char *nearest;

	for (size_t u = 0; u < scanned->cnt; u++)
		for (size_t i = 0; i < scanned->items[u]->functions.cnt; i++)
			VEC_ADD(&names, scanned->items[u]->functions.items[i].name);
	nearest = nearest_word(name, names.items, names.cnt);
	VEC_RELEASE(&names);
	return nearest;
}

static int in_no_unit_with_probes(const char *where, const struct unit *u, const char *has, struct diag *reterr)
{
	diag_set(reterr, EXIT_USAGE, -ENOENT, "%s is in no unit with probes; '%s' %s was %s: %s", where, u->source, has,
		 how_uncounted(u), why_uncounted(u));
	return diag_remedy(reterr, -ENOENT, "compile '%s' in a way that vprof can instrument, then vprof build", path_base(u->source));
}

/* An untouched unit that seems to contain the place, by its text. */
static const struct unit *untouched_unit_of(const units *scanned, const struct location *l)
{
	for (size_t u = 0; l->file && u < scanned->cnt; u++)
		if (unit_is_uncounted(scanned->items[u]) && location_file_matches(l->file, scanned->items[u]->source))
			return scanned->items[u];
	return untouched_unit_with(scanned, l->place == PLACE_MARK ? "VPROF_BEGIN" : l->function);
}

static int nowhere(const char *where, const struct location *l, const units *scanned, struct diag *reterr)
{
	const struct unit *untouched = untouched_unit_of(scanned, l), *first;
	const char *nearest;
	size_t cnt;

	if (untouched)
		return in_no_unit_with_probes(where, untouched, l->function ? "has that word and" : "has it and", reterr);
	if (l->place == PLACE_MARK)
		return diag_set(reterr, EXIT_USAGE, -ENOENT, "%s is nowhere in the build: no source has a VPROF_ macro", where);
	nearest = l->function ? nearest_function(scanned, l->function) : NULL;
	if (nearest && strcmp(nearest, l->function) != 0)
		diag_set(reterr, EXIT_USAGE, -ENOENT, "%s is nowhere in the build; the nearest function is '%s'", where, nearest);
	else
		diag_set(reterr, EXIT_USAGE, -ENOENT, "%s is nowhere in the build", where);
	cnt = uncounted_cnt(scanned, &first);
	if (cnt)		/* it may come from a file that one of them includes */
		return diag_remedy(reterr, -ENOENT, "correct it in vprof.conf, then vprof build; or is it in one of the %zu units "
				   "without probes, as '%s' (vprof show coverage)?", cnt, path_base(first->source));
	return diag_remedy(reterr, -ENOENT, "correct it in vprof.conf, then vprof build; vprof show coverage lists what was built");
}

static int check_location(const struct config *c, const struct interval_directive *d, const char *role,
			  const struct location *l, const units *scanned, struct diag *reterr)
{
	_cleanup_(freep) char *text = location_text(l);
	_cleanup_(freep) char *where = xasprintf("%s: %s = %s of '%s'", c->path, role, text, d->name);
	const char *problem, *key = l->key ? l->key : d->key;
	const struct unit *untouched;

	if (l->place == PLACE_MARK && has_marks(scanned))
		return 0;
	if (l->place == PLACE_MARK || !find_place(scanned, d->name, role, text, &problem, &untouched))
		return nowhere(where, l, scanned, reterr);
	if (!problem)
		return 0;
	if (untouched && !key && !l->condition)
		return in_no_unit_with_probes(where, untouched, "has it and", reterr);
	diag_set(reterr, EXIT_USAGE, -EINVAL, "%s cannot be put there: %s", where, problem);
	if (!key && !l->condition)
		return -EINVAL;
	return diag_remedy(reterr, -EINVAL, "is '%s%s%s' a C expression there?", key ? "key = " : "",
			   key ? key : "if ", key ? "" : l->condition);
}

static void check_primitives(const struct config *c, const units *scanned, struct primitives_unused *ret)
{
	static const char *const roles[] = {
		[ROLE_ACQUIRE] = "acquire", [ROLE_RELEASE] = "release",
		[ROLE_ENQUEUE] = "enqueue", [ROLE_DEQUEUE] = "dequeue",
	};

	for (size_t i = 0; i < c->sync.cnt; i++) {
		const struct primitive *p = &c->sync.items[i];
		const struct unit *untouched;
		const char *problem = "an earlier line of [sync] says what this function does";

		if (p->role >= ARRAY_SIZE(roles))
			continue;
		if (!primitive_is_hidden(&c->sync, i) && !find_place(scanned, NULL, roles[p->role], p->name, &problem, &untouched))
			str_addf(&ret->nowhere, "%s%s = %s", ret->nowhere.len ? ", " : "", roles[p->role], p->name);
		else if (problem)
			str_addf(&ret->refused, "%s%s = %s: %s", ret->refused.len ? "; " : "", roles[p->role], p->name, problem);
	}
}

static int check_interval(const struct config *c, const struct interval_directive *d, const units *scanned, struct diag *reterr)
{
	int r = check_location(c, d, "start", &d->start, scanned, reterr);

	if (r == 0)
		r = check_location(c, d, "end", &d->end, scanned, reterr);
	for (size_t k = 0; r == 0 && k < d->resumes.cnt; k++)
		r = check_location(c, d, "resume", &d->resumes.items[k], scanned, reterr);
	return r;
}

/* Macros work in untouched units, too. */
static bool some_may_complete(const struct config *c, const units *scanned)
{
	if (has_marks(scanned) || untouched_unit_with(scanned, "VPROF_BEGIN"))
		return true;
	for (size_t i = 0; i < c->intervals.cnt; i++)
		if (check_interval(c, &c->intervals.items[i], scanned, NULL) == 0)
			return true;
	return false;
}

int check_places(struct store *s, const struct config *c, const units *scanned, struct primitives_unused *ret, struct diag *reterr)
{
	struct diag diag = DIAG_INIT;
	const char *none = "";
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->intervals.cnt; i++)
		r = check_interval(c, &c->intervals.items[i], scanned, &diag);
	if (r < 0 && !some_may_complete(c, scanned))
		none = diag.text;
	if (r < 0 && reterr)
		*reterr = diag;
	check_primitives(c, scanned, ret);
	setting_set(s, SETTING_NO_INTERVAL, none, NULL);
	return r;
}

void primitives_unused_release(struct primitives_unused *u)
{
	str_release(&u->nowhere);
	str_release(&u->refused);
}

int check_places_of_last_build(struct store *s, struct diag *reterr)
{
	_cleanup_(freep) char *problem = setting_get(s, SETTING_NO_INTERVAL);

	if (!problem || !*problem)
		return 0;
	diag_set(reterr, EXIT_USAGE, -ENOENT, "no interval could begin and end in what was built last: %s", problem);
	return diag_remedy(reterr, -ENOENT, "correct that, then vprof build; for results that need no interval: "
			   "vprof record --kernel -- COMMAND");
}
