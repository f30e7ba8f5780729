/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan.h - what the parse of one translation unit yields, and its file form.
 *
 * Written by `vprof cc` as vprof.data/build/<object path with '/' as '%'>.scan, atomically; read by `vprof build`
 * when the build has ended.  A few lines (scan_head.h), then JSON (scan_file.c).  The functions of headers, which
 * other units have as well, are in files of their own (scan_part.h).
 */
#ifndef INSTRUMENTER_SCAN_SCAN_H
#define INSTRUMENTER_SCAN_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/cleanup.h"

struct scan_function {
	const char *name;		/* C name, or qualified C++ name; if one line has two of that name, plus what
					 * distinguishes them: the signature, or "#2" */
	const char *signature;		/* of C++: "(int, char) const"; NULL of C and of lambdas */
	const char *file;		/* real path of the user's file (by line markers) */
	uint32_t line, end_line;	/* of the body */
	uint64_t key;
	bool is_static, is_inline, address_taken;
	bool releases;			/* directly calls a primitive that may wake a thread */
	bool probed;			/* carries a probe in the object as compiled */
	bool no_return;			/* declared noreturn */
	const char *type;		/* canonical function type, for may-edges; of a virtual method
					 * "virtual Base::method(int)", Base the topmost class that has it,
					 * and address_taken is set: calls through it look the same */
	const char *skipped;		/* NULL, or why it cannot take a probe: "naked", "constexpr", ... */
	size_t body;			/* offset of its '{' in the preprocessed text; 0: not known */
	bool may_be_constant;		/* the compiler may compute it */
	bool returns_nothing;
};

/* The function that VPROF_ macros call: such calls are recorded, although no unit defines it. */
#define SCAN_MARK "vprof_mark"

/* Values of skipped: an ifunc resolver; a function that one may call in this unit; one in other units, by the plan. */
#define EARLY_RESOLVER "ifunc resolver"
#define EARLY_CALLED "an ifunc resolver calls it"
#define EARLY_ELSEWHERE "an ifunc resolver of another file calls it"
/* It has a tail call that gcc turns into a jump, but would not with a probe: tail_calls.c. */
#define TAIL_BEHIND_THROW "a tail call behind calls that may throw"

struct scan_call {			/* direct call inside the project, or of SCAN_MARK */
	uint32_t caller;		/* index into functions */
	const char *callee;		/* name */
	const char *callee_file;	/* real path and line of the callee's body if this unit defines it */
	uint32_t callee_line;
	bool callee_static;
	const char *file;		/* of the call */
	uint32_t line;
	const char *type;		/* call through a pointer: callee NULL, canonical function type; in C++ also
					 * that of a callee that another unit defines */
	bool is_tail;			/* the caller's span ends before it (struct scan_tail), so in a trace it is a call of the
					 * caller's caller */
	size_t offset;			/* in the preprocessed text, while the unit is parsed */
};

struct scan_place {			/* a directive of vprof.conf that concerns this unit */
	const char *interval;		/* its name; NULL: of [sync] */
	const char *role;		/* start end resume; acquire release enqueue dequeue */
	const char *location;		/* text of the LOC; of [sync]: the function */
	const char *problem;		/* NULL: inserted; else why nothing could be inserted */
};

struct scan_input {			/* a file that the text was made of, or the compiler */
	const char *path;
	uint64_t ns, bytes;		/* its modification time and size */
};

/* A call after which a function in a circle of such calls has nothing left to do. */
struct scan_tail {
	uint32_t function;		/* index into functions */
	bool is_scalar;			/* the call's value, and what the function returns */
	size_t start, end;		/* of the call, offsets in the preprocessed text */
};

/* For the next compile of the unit: unit_cache.h. */
struct scan_known {
	uint64_t text;			/* hash of the preprocessed text; 0: nothing is known */
	uint64_t settings;		/* of vprof.conf and the tables of primitives, then */
	bool has_events;
	VEC(struct scan_tail) tails;
	const char *pragmas, *wrappers;	/* the text that redirects primitives, "" */
	uint64_t plain;			/* the unit was compiled by the user's own command alone: hash of command and
					 * settings; 0: it was not */
	const char *redirected;		/* and primitives were redirected then: " NAME NAME", "" */
	VEC(struct scan_input) inputs;	/* empty: not known */
};

struct unit {
	struct arena *arena;
	const char *object, *source, *directory;	/* absolute */
	const char **argv;		/* the user's compiler and arguments, NULL-terminated */
	const char **environment;	/* "NAME=value" that mattered, NULL-terminated; may be empty */
	uint64_t probe_set;		/* hash of the probes and annotations in the object */
	const char *product;		/* absolute: what the command made, object or program; NULL: not known */
	uint64_t product_ns, product_bytes;	/* its modification time and size */
	const char *untouched;		/* NULL, or why the unit was compiled as it is: the message */
	const char *misread;		/* NULL, or what libclang did not understand (FILE:LINE: message): calls,
					 * and functions near it, may be missing here */
	VEC(struct scan_function) functions;
	/* As read by units_read(): those of a header's functions only once, in the first unit that has that part. */
	VEC(struct scan_call) calls;
	VEC(const char *) address_taken;	/* names of functions whose address is taken here */
	struct scan_known known;
	VEC(struct scan_place) places;	/* a LOC that is in no unit's list matches nothing in the build */
	VEC(struct scan_part *) parts;	/* that texts of functions and calls are in; as read */
	VEC(uint64_t) part_names;
	bool is_lost;			/* a part is missing or damaged: its functions and calls are not known */
};

struct unit *unit_new(void);
void unit_free(struct unit *u);
DEFINE_CLEANUP(struct unit *, unit_free);

/* build_dir/<object with '/' as '%'><suffix>, shortened by a hash where it is too long for a file
 * name; the caller frees it. */
char *unit_path(const char *build_dir, const char *object, const char *suffix);

int unit_write(const char *build_dir, const struct unit *u, struct diag *reterr);

/* The record of one object; NULL if there is none that is whole. */
struct unit *unit_find(const char *build_dir, const char *object);

typedef VEC(struct unit *) units;
/* Every *.scan in build_dir, in order of object path.  One that is lost is an error. */
int units_read(const char *build_dir, units *ret, struct diag *reterr);
void units_release(units *list);

/* The same, for a caller that rebuilds lost units: removes damaged parts, so that they are written anew, and records
 * of files that no longer exist.  Returns the number of lost units. */
int units_read_some(const char *build_dir, units *ret, struct diag *reterr);
size_t units_mend_lost(units *list, const char *build_dir);

/* list: the last read.  Removes parts of earlier builds that no record names. */
void units_sweep(const units *list, const char *build_dir);

/* Its functions carry no probe, or are not known. */
static inline bool unit_is_uncounted(const struct unit *u)
{
	return u->untouched || (u->misread && !u->functions.cnt);
}

/* Functions of all units, each once, and those of them that carry a probe. */
void units_count(const units *list, size_t *ret_functions, size_t *ret_probed);

#endif
