/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unit_note.h - an instrumented unit's note about its build, kept in the program itself.
 *
 * Each such unit has a text in the section .vprof.  The section is loaded with the program, so strip keeps it.  The unit's
 * constructor hands it to the runtime: a program is recorded by its own plan wherever it was copied to (doc/design/names.md).
 * Names, files and lines of the functions are in their sites (runtime/shared/probe.h), as is the letter; of functions that the
 * compiler left out of the object there is none.
 *
 *	vprof-unit 1
 *	by 0.9
 *	levels iAad		one letter for each probed function, as below
 *	interval request<TAB>start<TAB>serve_one key=arg0
 *	mark enqueue<TAB>request
 *
 *	i  recorded inside intervals
 *	a  recorded always, because the plan says so
 *	A  recorded always, also where most intervals are not recorded in full: it wakes others, or an interval begins in it
 *	d  dormant
 *
 * interval: a place in this unit that vprof.conf names.  mark: VPROF_BEGIN("enqueue", ...) belongs to the interval request.
 */
#ifndef INSTRUMENTER_INSERT_UNIT_NOTE_H
#define INSTRUMENTER_INSERT_UNIT_NOTE_H

#include "base/elf.h"
#include "base/proc.h"
#include "instrumenter/insert/instrument.h"

#define NOTE_SECTION ".vprof"
#define REGISTER_OURS "vprof_register_5"	/* runtime/shared/probe.h */
#define NOTE_MAGIC "vprof-unit 1\n"

struct directives;

/* The letter of one function. */
char unit_note_level(const struct unit *u, size_t function, const struct launcher_options *o, const struct directives *all);

/* Writes the note of a unit whose functions have their probes. */
void unit_note_write(const struct instrumenting *in, struct str *ret);

/* Hash of the parts of the note that the plan and vprof.conf decide: part of probe_set_of(). */
uint64_t unit_note_hash(uint64_t h, const struct unit *u, const struct launcher_options *o);

struct note_place {
	char *interval, *role, *location;	/* role "mark": location is its name */
};

/* The notes of a program: the sum of its units. */
struct program_notes {
	size_t unit_cnt;
	size_t inside_cnt, always_cnt, dormant_cnt;	/* probes */
	struct args versions;		/* of vprof, each once */
	VEC(struct note_place) places;	/* each once, in order of appearance */
};

enum names_state {
	NAMES_CARRIED,			/* or the program has no probes */
	NAMES_MISSING,			/* it has probes, and no note */
	NAMES_OF_ANOTHER,		/* its probes need another vprof's runtime, and stay dormant whatever the
					 * notes say */
};

enum names_state program_names(const struct elf *e, const struct program_notes *notes);

void program_notes_read(const struct elf *e, struct program_notes *ret);
void program_notes_release(struct program_notes *n);	/* also a _cleanup_ function; {0} to begin with */

#endif
