/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.h - which functions carry a probe, and when it records.
 *
 * Kept as text in vprof.data/build/plan, one function a line, written atomically; read by every
 * `vprof cc` of a build and by `vprof record`:
 *
 *	vprof-plan 1
 *	all always				(every function that can take a probe)
 *	interval	/src/server.c	28	log_append
 *	always		/src/server.c	31	flush_log
 *	dormant		/src/server.c	40	hash_payload
 *
 * A line "sampled" after the first says that most calls will not be recorded (vprof build --sampled).
 *
 * "early" keeps a function without a probe, whatever else the plan says: an ifunc resolver may call it before the program is
 * relocated (resolvers.c), and the resolver is in another file.
 *
 *	sites		/src/server.c	28	handle	/src/log.c	9	log_append
 *
 * "sites": calls of the second function are recorded by their place in the first (runtime/shared/probe_sites.h); "sites-reached": the
 * second may also run below the first when another function calls it, so that no such call may come between a place and its call.
 *
 * "interval": recorded while the thread works on an interval; "always": also outside, so that
 * the holder of a lock has a name.  "dormant": it carries a probe that a run does not switch on.
 */
#ifndef INSTRUMENTER_PLAN_PLAN_H
#define INSTRUMENTER_PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/diag.h"

/* Except for PLAN_DORMANT, which a run switches off, values are those of enum probe_level in drainer/drainer.h. */
enum plan_level { PLAN_OFF = 0, PLAN_IN_INTERVALS = 1, PLAN_ALWAYS = 2, PLAN_DORMANT = 3 };

struct plan_entry {
	enum plan_level level;
	char *file, *name;		/* real path; without the part that distinguishes overloads */
	uint32_t line;			/* of the body */
	uint64_t key;			/* function_key() of the three */
};

struct plan_sites {			/* levels mean nothing */
	struct plan_entry caller, callee;
	bool is_reached;
};

struct plan {
	enum plan_level all;		/* PLAN_OFF: only the entries */
	bool sampled;			/* most intervals will not be recorded in full */
	VEC(struct plan_entry) entries;
	struct map *by_key;		/* key -> level; kept by plan_add() */
	VEC(struct plan_entry) early;	/* levels mean nothing; see plan_add_early() */
	struct map *early_keys;
	VEC(struct plan_sites) sites;
};

/* The identity of a function, as in struct vprof_site. */
uint64_t function_key(const char *real_path, uint32_t line, const char *name);

struct plan *plan_new(void);
void plan_free(struct plan *p);
DEFINE_CLEANUP(struct plan *, plan_free);

void plan_add(struct plan *p, enum plan_level level, const char *file, uint32_t line, const char *name);
/* The same for a function by its printed name; key: its identity. */
void plan_add_shown(struct plan *p, enum plan_level level, uint64_t key, const char *file, uint32_t line, const char *shown);
enum plan_level plan_level_of(const struct plan *p, uint64_t key);

/* From here on its level is PLAN_OFF. */
void plan_add_early(struct plan *p, uint64_t key, const char *file, uint32_t line, const char *shown);
bool plan_is_early(const struct plan *p, uint64_t key);

/* From here on the calls of callee in caller are recorded by place. */
void plan_add_sites(struct plan *p, const struct plan_entry *caller, const struct plan_entry *callee, bool is_reached);
/* Whether the function is such a callee, such a caller. */
bool plan_tells_callers(const struct plan *p, uint64_t key);
bool plan_tells_calls(const struct plan *p, uint64_t key);

/* Whether the function's probe stands aside, where it costs least if it is not recorded, rather than in the function,
 * where it costs least if it is. */
bool plan_is_aside(const struct plan *p, uint64_t key);

int plan_read(const char *path, struct plan **ret, struct diag *reterr);	/* no file: empty plan */
int plan_write(const char *path, const struct plan *p, struct diag *reterr);

#endif
