/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * find_runs.c - which run, or runs, a text of the user's means.
 *
 *	4			the run of that number
 *	before			the run of that name
 *	before			without such a run: the group before.1, before.2, ... (vprof record --repeat)
 *	4,5,before		all of these
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/str.h"
#include "store/db.h"
#include "store/store.h"

/* text is a number or a name; list is in order of number. */
static struct run *find_in(runs *list, const char *text)
{
	char *end;
	unsigned long long number;

	if (!text) {
		for (size_t i = list->cnt; i-- > 0; )
			if (list->items[i].status != RUN_FAILED)
				return &list->items[i];
		return &list->items[list->cnt - 1];
	}
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *end || text[strspn(text, "0123456789")])
		number = 0;
	for (size_t i = 0; i < list->cnt; i++) {
		struct run *run = &list->items[i];

		if ((number && run->number == number) || (run->name && strcmp(run->name, text) == 0))
			return run;
	}
	return NULL;
}

/* "1, 2 (base), 3": at most the last few. */
static void name_runs(const runs *list, struct str *ret)
{
	enum { MOST = 8 };
	size_t first = list->cnt > MOST ? list->cnt - MOST : 0;

	if (first)
		str_add(ret, "..., ");
	for (size_t i = first; i < list->cnt; i++) {
		str_addf(ret, "%s%" PRIu32, i > first ? ", " : "", list->items[i].number);
		if (list->items[i].name)
			str_addf(ret, " (%s)", list->items[i].name);
	}
}

/* The number that name has in the group, from 1; 0: it is no run of it. */
static uint64_t place_in_group(const char *name, const char *group, size_t len)
{
	const char *digits = name && strncmp(name, group, len) == 0 && name[len] == '.' ? name + len + 1 : "";
	uint64_t place;

	if (*digits < '1' || *digits > '9' || digits[strspn(digits, "0123456789")])
		return 0;
	errno = 0;
	place = strtoull(digits, NULL, 10);
	return errno ? 0 : place;
}

struct member {
	uint64_t place;
	size_t at;			/* in the list of runs */
};
typedef VEC(struct member) members;

static int by_place(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return x->place < y->place ? -1 : x->place > y->place;
}

/* The runs of the group in order of their places; the caller frees the list. */
static void find_members(const runs *list, const char *group, members *ret)
{
	for (size_t i = 0; i < list->cnt; i++) {
		uint64_t place = place_in_group(list->items[i].name, group, strlen(group));

		if (place)
			VEC_ADD(ret, (struct member){ place, i });
	}
	if (ret->cnt)
		qsort(ret->items, ret->cnt, sizeof(*ret->items), by_place);
}

static int no_such_run(const runs *list, const char *text, struct diag *reterr)
{
	_cleanup_(str_release) struct str names = STR_INIT;

	name_runs(list, &names);
	diag_set(reterr, EXIT_USAGE, -ENOENT, "there is no run '%s'", text);
	if (ends_with(text, ".vpd"))
		return diag_remedy(reterr, -ENOENT, "vprof import --from digest %s   makes a run of a digest", text);
	return diag_remedy(reterr, -ENOENT, "one of: %s", str_cstr(&names));
}

/* All runs; that there are none is an error. */
static int read_any(struct store *s, runs *ret, struct diag *reterr)
{
	int r = runs_read(s, ret, reterr);

	if (r < 0 || ret->cnt)
		return r;
	diag_set(reterr, EXIT_NO_EVIDENCE, -ENOENT, "no runs yet in '%s'", s->dir);
	return diag_remedy(reterr, -ENOENT, "vprof record -- COMMAND");
}

static struct run take(struct run *from)
{
	struct run taken = *from;

	memset(from, 0, sizeof(*from));
	return taken;
}

int run_find(struct store *s, const char *text, struct run *ret, struct diag *reterr)
{
	_cleanup_(runs_release) runs list = { NULL, 0, 0 };
	members group = { NULL, 0, 0 };
	struct run *found;
	int r = read_any(s, &list, reterr);

	if (r < 0)
		return r;
	found = find_in(&list, text);
	if (found) {
		*ret = take(found);
		return 0;
	}
	find_members(&list, text, &group);
	if (!group.cnt)
		return no_such_run(&list, text, reterr);
	diag_set(reterr, EXIT_USAGE, -EINVAL, "'%s' is a group of %zu runs; this takes one run", text, group.cnt);
	diag_remedy(reterr, -EINVAL, "%s, or make one run of all: vprof merge %s -o %s-all", list.items[group.items[0].at].name,
		    text, text);
	VEC_RELEASE(&group);
	return -EINVAL;
}

/* Which runs, of the list of all, are meant: their places there. */
typedef VEC(size_t) places;

static int add_place(const runs *list, size_t at, places *ret, struct diag *reterr)
{
	for (size_t i = 0; i < ret->cnt; i++)
		if (ret->items[i] == at) {
			diag_set(reterr, EXIT_USAGE, -EEXIST, "run %" PRIu32 " is named twice", list->items[at].number);
			return diag_remedy(reterr, -EEXIST, "name each run once: it would count double");
		}
	VEC_ADD(ret, at);
	return 0;
}

/* A run, or the runs of a group. -ENOENT: neither. */
static int add_word(runs *list, const char *word, places *ret, struct diag *reterr)
{
	const struct run *found = find_in(list, word);
	members group = { NULL, 0, 0 };
	int r = 0;

	if (found)
		return add_place(list, (size_t)(found - list->items), ret, reterr);
	find_members(list, word, &group);
	if (!group.cnt)
		r = -ENOENT;
	for (size_t i = 0; r == 0 && i < group.cnt; i++)
		r = add_place(list, group.items[i].at, ret, reterr);
	VEC_RELEASE(&group);
	return r;
}

static int add_words(runs *list, const char *text, places *ret, struct diag *reterr)
{
	int r = add_word(list, text, ret, reterr);

	if (r != -ENOENT)
		return r;
	if (!strchr(text, ','))
		return no_such_run(list, text, reterr);
	r = 0;
	for (const char *at = text; r == 0; at++) {
		size_t len = strcspn(at, ",");
		_cleanup_(freep) char *word = xstrndup(at, len);

		r = *word ? add_word(list, word, ret, reterr) : -ENOENT;
		if (r == -ENOENT)
			return no_such_run(list, *word ? word : text, reterr);
		at += len;
		if (!*at)
			break;
	}
	return r;
}

int runs_find(struct store *s, const char *text, runs *ret, struct diag *reterr)
{
	_cleanup_(runs_release) runs list = { NULL, 0, 0 };
	places at = { NULL, 0, 0 };
	int r = read_any(s, &list, reterr);

	if (r == 0 && text)
		r = add_words(&list, text, &at, reterr);
	else if (r == 0)
		r = add_place(&list, (size_t)(find_in(&list, NULL) - list.items), &at, reterr);
	for (size_t i = 0; r == 0 && i < at.cnt; i++)
		VEC_ADD(ret, take(&list.items[at.items[i]]));
	VEC_RELEASE(&at);
	return r;
}

int group_is_free(struct store *s, const char *group, struct diag *reterr)
{
	_cleanup_(runs_release) runs list = { NULL, 0, 0 };
	members found = { NULL, 0, 0 };
	const struct run *taken;
	int r = runs_read(s, &list, reterr);

	if (r < 0)
		return r;
	taken = list.cnt ? find_in(&list, group) : NULL;
	find_members(&list, group, &found);
	if (!taken && found.cnt)
		taken = &list.items[found.items[0].at];
	VEC_RELEASE(&found);
	if (!taken)
		return 0;
	diag_set(reterr, EXIT_USAGE, -EEXIST, "run %" PRIu32 " is already called '%s'", taken->number, taken->name ? taken->name : group);
	return diag_remedy(reterr, -EEXIST, "choose another name for the group with -o");
}
