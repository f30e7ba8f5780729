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
#include "cmd/check_places.h"

/* Is the place in the build?  If nothing could be put there, *ret_problem says why. */
static bool find_place(const units *scanned, const char *interval, const char *role,
		       const char *location, const char **ret_problem)
{
	bool found = false;

	for (size_t u = 0; u < scanned->cnt; u++)
		for (size_t i = 0; i < scanned->items[u]->places.cnt; i++) {
			const struct scan_place *p = &scanned->items[u]->places.items[i];

			if (!p->interval != !interval || (interval && strcmp(p->interval, interval)) ||
			    strcmp(p->role, role) || strcmp(p->location, location))
				continue;
			found = true;
			/* Also a key that does not compile leaves the whole unit as it was. */
			*ret_problem = p->problem ? p->problem : scanned->items[u]->untouched;
			if (!*ret_problem)
				return true;
		}
	return found;
}

static bool is_name_char(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
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

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; len && (at = strstr(at, word)); at += len)
		if ((at == text || !is_name_char(at[-1])) && !is_name_char(at[len]))
			return true;
	return false;
}

const struct unit *untouched_unit_with(const units *scanned, const char *name)
{
	const char *behind = name ? strrchr(name, ':') : NULL;

	for (size_t u = 0; u < scanned->cnt; u++) {
		const struct unit *unit = scanned->items[u];
		_cleanup_(freep) char *text = NULL;

		if (unit_is_uncounted(unit) && name && file_read(unit->source, &text, NULL) == 0 &&
		    has_word(text, behind ? behind + 1 : name))
			return unit;
	}
	return NULL;
}

static int nowhere_but_untouched(const char *where, const struct unit *u, struct diag *reterr)
{
	diag_set(reterr, EXIT_USAGE, -ENOENT, "%s is in no unit with probes; '%s' has that word and was %s: %s", where, u->source,
		 u->untouched ? "compiled untouched" : "not understood", u->untouched ? u->untouched : u->misread);
	return diag_remedy(reterr, -ENOENT, "compile '%s' without what keeps vprof from it, then vprof build", path_base(u->source));
}

static int check_location(const struct config *c, const struct interval_directive *d, const char *role,
			  const struct location *l, const units *scanned, struct diag *reterr)
{
	_cleanup_(freep) char *text = location_text(l);
	const char *problem = NULL, *nearest, *key = l->key ? l->key : d->key;

	if (l->place == PLACE_MARK) {
		if (has_marks(scanned))
			return 0;
		return diag_set(reterr, EXIT_USAGE, -ENOENT, "%s: %s = %s of '%s' is nowhere in the build: "
				"no source has a VPROF_ macro", c->path, role, text, d->name);
	}
	if (find_place(scanned, d->name, role, text, &problem)) {
		if (!problem)
			return 0;
		diag_set(reterr, EXIT_USAGE, -EINVAL, "%s: %s = %s of '%s' cannot be put there: %s",
				c->path, role, text, d->name, problem);
		if (!key && !l->condition)
			return -EINVAL;
		return diag_remedy(reterr, -EINVAL, "is '%s%s%s' a C expression there?", key ? "key = " : "",
				   key ? key : "if ", key ? "" : l->condition);
	}
	const struct unit *untouched = untouched_unit_with(scanned, l->function);

	if (untouched) {
		_cleanup_(freep) char *where = xasprintf("%s: %s = %s of '%s'", c->path, role, text, d->name);

		return nowhere_but_untouched(where, untouched, reterr);
	}
	nearest = l->function ? nearest_function(scanned, l->function) : NULL;
	if (nearest && strcmp(nearest, l->function) != 0)
		diag_set(reterr, EXIT_USAGE, -ENOENT, "%s: %s = %s of '%s' is nowhere in the build; "
			 "the nearest function is '%s'", c->path, role, text, d->name, nearest);
	else
		diag_set(reterr, EXIT_USAGE, -ENOENT, "%s: %s = %s of '%s' is nowhere in the build",
			 c->path, role, text, d->name);
	return diag_remedy(reterr, -ENOENT, "correct it in vprof.conf, then vprof build; vprof show "
			   "coverage lists what was built");
}

static void check_primitives(const struct config *c, const units *scanned, struct str *ret_unused)
{
	static const char *const roles[] = {
		[ROLE_ACQUIRE] = "acquire", [ROLE_RELEASE] = "release",
		[ROLE_ENQUEUE] = "enqueue", [ROLE_DEQUEUE] = "dequeue",
	};

	for (size_t i = 0; i < c->sync.cnt; i++) {
		const struct primitive *p = &c->sync.items[i];
		const char *problem = NULL;

		if (p->role < ARRAY_SIZE(roles) &&
		    !find_place(scanned, NULL, roles[p->role], p->name, &problem))
			str_addf(ret_unused, "%s%s = %s", ret_unused->len ? ", " : "", roles[p->role],
				 p->name);
	}
}

int check_places(const struct config *c, const units *scanned, struct str *ret_unused,
		 struct diag *reterr)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->intervals.cnt; i++) {
		const struct interval_directive *d = &c->intervals.items[i];

		r = check_location(c, d, "start", &d->start, scanned, reterr);
		if (r == 0)
			r = check_location(c, d, "end", &d->end, scanned, reterr);
		for (size_t k = 0; r == 0 && k < d->resumes.cnt; k++)
			r = check_location(c, d, "resume", &d->resumes.items[k], scanned, reterr);
	}
	check_primitives(c, scanned, ret_unused);
	return r;
}
