/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_part.h - the common parts of a build's units, stored once.
 *
 * The functions of a header are seen by every unit that includes it.  They and their calls are a part, the file
 *
 *	BUILD_DIR/parts/3f2a90c1d4e5b607	16 digits: a hash of its text, which is JSON (scan_json.h), packed
 *
 * and the record of a unit names its parts.  A header that looks different to some unit (an #ifdef) has one part more.
 *
 * A part never changes, so a process that finds one does not write it, and one that writes it puts it in place whole.  There is
 * no reference count: parts_sweep() removes parts that no record names.  Readers and writers of records hold parts_lock(), and
 * the sweep does not wait: it gets the lock exclusively or does nothing.
 */
#ifndef INSTRUMENTER_SCAN_SCAN_PART_H
#define INSTRUMENTER_SCAN_SCAN_PART_H

#include "instrumenter/scan/scan_head.h"
#include "instrumenter/scan/scan_json.h"

struct scan_part {
	unsigned users;			/* units and readers that hold it */
	bool given;			/* its calls are in a unit of this reading already */
	struct arena *arena;
	struct scan_contents contents;
};
void scan_part_drop(struct scan_part *p);

/* Shared by all but the sweep.  writes: makes the folder as well.  -1: failed, and then no sweep gets it either. */
int parts_lock(const char *build_dir, bool writes);
void parts_unlock(int lock);

/* Writes group unless it exists.  ret_hash: its name. */
int part_write(const char *build_dir, const json_t *group, uint64_t *ret_hash);

bool parts_are_there(const char *build_dir, const scan_part_names *names);

/* Parts that were read, each once. */
struct part_reading;
struct part_reading *part_reading_new(const char *build_dir);
void part_reading_free(struct part_reading *r);
DEFINE_CLEANUP(struct part_reading *, part_reading_free);

/* The part of that name, with one more user; NULL: it is missing or damaged. */
struct scan_part *part_read(struct part_reading *r, uint64_t hash);

/* Removes it if it is damaged, so that it can be written again. */
void part_mend(const char *build_dir, uint64_t hash);

/* used: parts named by records when they were last read.  Removes parts that no record names by now. */
void parts_sweep(const char *build_dir, const units *used);

#endif
