/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unit_note.c - writes the note of a unit, and reads those of a program.
 *
 * The reader checks everything: a section of that name may contain anything.
 */
#include "build-config.h"
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/proc.h"
#include "instrumenter/insert/unit_directives.h"
#include "instrumenter/insert/unit_note.h"

/* ---- writing ---- */

static bool has_mark(const struct unit *u, size_t function)
{
	for (size_t i = 0; i < u->calls.cnt; i++)
		if (u->calls.items[i].caller == function && u->calls.items[i].callee &&
		    strcmp(u->calls.items[i].callee, SCAN_MARK) == 0)
			return true;
	return false;
}

/* An interval begins in the middle of the function, so the function is entered outside of it. */
static bool begins_inside(const struct unit *u, size_t function, const struct directives *all)
{
	for (size_t i = 0; i < all->list.cnt; i++)
		if (all->list.items[i].place == PLACE_LINE &&
		    directive_concerns(&all->list.items[i], &u->functions.items[function]))
			return true;
	return has_mark(u, function);
}

char unit_note_level(const struct unit *u, size_t function, const struct launcher_options *o, const struct directives *all)
{
	const struct scan_function *f = &u->functions.items[function];

	switch (plan_level_of(o->plan, f->key)) {
	case PLAN_ALWAYS:
		return f->releases || begins_inside(u, function, all) ? 'A' : 'a';
	case PLAN_DORMANT:
		return 'd';
	default:
		return 'i';
	}
}

/* One line a fact, fields split by tabs. */
static void add_field(struct str *s, const char *text)
{
	for (; *text; text++)
		str_addc(s, (unsigned char)*text < ' ' ? ' ' : *text);
}

static void add_fact(struct str *s, const char *kind, const char *const *fields)
{
	str_add(s, kind);
	for (char before = ' '; *fields; fields++, before = '\t') {
		str_addc(s, before);
		add_field(s, *fields);
	}
	str_addc(s, '\n');
}

static void add_mark(const struct interval_directive *d, const struct location *l, struct str *ret)
{
	const char *const fields[] = { l->mark, d->name, NULL };

	if (l->place == PLACE_MARK && strcmp(l->mark, d->name) != 0)
		add_fact(ret, "mark", fields);
}

static void add_marks(const struct launcher_options *o, struct str *ret)
{
	for (size_t i = 0; i < o->interval_cnt; i++) {
		const struct interval_directive *d = &o->intervals[i];

		add_mark(d, &d->start, ret);
		add_mark(d, &d->end, ret);
		for (size_t k = 0; k < d->resumes.cnt; k++)
			add_mark(d, &d->resumes.items[k], ret);
	}
}

void unit_note_write(const struct instrumenting *in, struct str *ret)
{
	_cleanup_(directives_release) struct directives all = { .list = { NULL, 0, 0 } };

	directives_collect(in->o, &all);
	str_addf(ret, NOTE_MAGIC "by %s\nlevels ", PACKAGE_VERSION);
	for (size_t i = 0; i < in->unit->functions.cnt; i++)
		if (in->unit->functions.items[i].probed)
			str_addc(ret, unit_note_level(in->unit, i, in->o, &all));
	str_addc(ret, '\n');
	for (size_t i = 0; i < in->unit->places.cnt; i++) {
		const struct scan_place *p = &in->unit->places.items[i];
		const char *const fields[] = { p->interval, p->role, p->location, NULL };

		if (p->interval && !p->problem)
			add_fact(ret, "interval", fields);
	}
	add_marks(in->o, ret);
}

uint64_t unit_note_hash(uint64_t h, const struct unit *u, const struct launcher_options *o)
{
	_cleanup_(directives_release) struct directives all = { .list = { NULL, 0, 0 } };
	_cleanup_(str_release) struct str marks = STR_INIT;
	bool has_probes = false;

	directives_collect(o, &all);
	for (size_t i = 0; i < u->functions.cnt && o->plan; i++)
		if (!u->functions.items[i].skipped && plan_level_of(o->plan, u->functions.items[i].key) != PLAN_OFF) {
			h = hash_u64(h, (uint64_t)unit_note_level(u, i, o, &all));
			has_probes = true;
		}
	if (has_probes)
		add_marks(o, &marks);
	return hash_str(h, str_cstr(&marks));
}

/* ---- reading ---- */

static bool is_said(const struct args *list, const char *text)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (strcmp(list->items[i], text) == 0)
			return true;
	return false;
}

static void take_levels(struct program_notes *n, const char *letters)
{
	for (; *letters; letters++) {
		n->inside_cnt += *letters == 'i';
		n->always_cnt += *letters == 'a' || *letters == 'A';
		n->dormant_cnt += *letters == 'd';
	}
}

static void add_place(struct program_notes *n, const char *interval, const char *role, const char *location)
{
	for (size_t i = 0; i < n->places.cnt; i++) {
		const struct note_place *p = &n->places.items[i];

		if (!strcmp(p->interval, interval) && !strcmp(p->role, role) && !strcmp(p->location, location))
			return;
	}
	VEC_ADD(&n->places, (struct note_place){ xstrdup(interval), xstrdup(role), xstrdup(location) });
}

/* Ends the field at its tab; NULL: there is none. */
static char *next_field(char *field)
{
	char *tab = strchr(field, '\t');

	if (!tab)
		return NULL;
	*tab = '\0';
	return tab + 1;
}

static void take_fact(struct program_notes *n, char *line)
{
	char *first = strchr(line, ' '), *second, *third;

	if (!first)
		return;
	*first++ = '\0';
	if (strcmp(line, "by") == 0 && !is_said(&n->versions, first)) {
		args_add(&n->versions, first);
	} else if (strcmp(line, "levels") == 0) {
		take_levels(n, first);
	} else if (strcmp(line, "interval") == 0) {
		second = next_field(first);
		third = second ? next_field(second) : NULL;
		if (third)
			add_place(n, first, second, third);
	} else if (strcmp(line, "mark") == 0) {
		second = next_field(first);
		if (second)
			add_place(n, second, "mark", first);
	}
}

static void take_note(struct program_notes *n, const char *text)
{
	_cleanup_(freep) char *copy = xstrdup(text);

	n->unit_cnt++;
	for (char *line = copy, *next; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		take_fact(n, line);
	}
}

/* In a file without a table of sections (sstrip), the whole file is searched. */
void program_notes_read(const struct elf *e, struct program_notes *ret)
{
	size_t bytes;
	const char *at = elf_section(e, NOTE_SECTION, &bytes), *end = at ? at + bytes : NULL;

	while (at && (at = memmem(at, (size_t)(end - at), NOTE_MAGIC, strlen(NOTE_MAGIC)))) {
		if (!memchr(at, '\0', (size_t)(end - at)))
			return;
		take_note(ret, at + strlen(NOTE_MAGIC));
		at += strlen(at);
	}
}

enum names_state program_names(const struct elf *e, const struct program_notes *notes)
{
	bool asks = elf_symbol(e, "vprof_register", false), is_linked = elf_symbol(e, "vprof_register", true);

	/* With a runtime of its own it may be recorded nevertheless. */
	if (asks && !is_linked && !elf_symbol(e, REGISTER_OURS, false))
		return NAMES_OF_ANOTHER;
	/* A program linked through vprof may have the runtime but no probes. */
	if (!notes->unit_cnt && (elf_symbol(e, "vprof_unit_in", true) || (asks && !is_linked)))
		return NAMES_MISSING;
	return NAMES_CARRIED;
}

void program_notes_release(struct program_notes *n)
{
	for (size_t i = 0; i < n->places.cnt; i++) {
		free(n->places.items[i].interval);
		free(n->places.items[i].role);
		free(n->places.items[i].location);
	}
	VEC_RELEASE(&n->places);
	args_release(&n->versions);
}
