/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_passes.h - the steps to a wait-for graph, in the order in which they are made.
 *
 * Private to analysis/.
 *	wait_lanes.c	short-lived threads that stand for one
 *	wait_match.c	each wait with its waker; time by state
 *	wait_groups.c	threads that wait alike
 *	wait_slow.c	slow intervals: which waits count, and when
 *	wait_cascade.c	weights
 *	wait_vertices.c, wait_edges.c	actors and waits to vertices and edges, with stacks
 *	wait_graph.c	all of it, and the knots (wait_knots.h)
 */
#ifndef ANALYSIS_WHOLE_RUN_WAIT_PASSES_H
#define ANALYSIS_WHOLE_RUN_WAIT_PASSES_H

#include "analysis/whole_run/wait_graph.h"
#include "analysis/whole_run/whole_run.h"

struct map;

#define ACTOR_NONE UINT32_MAX

/*
 * An actor waits or is waited for, before similar ones are merged: a thread, several short-lived ones in sequence, a
 * device, a thread of which only the number is known, and actor 0: unknown.
 */
struct actor {
	uint64_t tid;			/* of several the smallest; VERTEX_ID_NONE for actor 0 */
	enum vertex_kind kind;		/* never VERTEX_GROUP */
	VEC(uint64_t) members;
	bool foreground;
	bool present;			/* has segments */
	int64_t running_ns, runnable_ns, waiting_ns;
	uint32_t group;			/* the smallest actor that is like it */
};

enum { ACTOR_UNKNOWN = 0 };

struct graph_wait {
	uint32_t actor, waker;
	int64_t start_ns, end_ns;	/* end: the wake-up */
	int64_t weight_ns;
	uint64_t sid;
	uint32_t path, waker_path;	/* call paths at both ends */
	enum trace_state state;
	bool counts;			/* else it only passes other threads' waits on */
	bool idle;			/* of a device whose waker is unknown */
};

typedef VEC(struct graph_wait) waits;

struct wait_world {
	const struct timeline *tl;
	const struct call_paths *paths;
	int64_t start_ns, end_ns;	/* of the run */
	VEC(struct actor) actors;
	struct map *actor_of_tid;	/* plus one */
	waits waits;			/* of each actor together, by time, disjoint */
};

/* Skips digits.  Names of threads with the same purpose may differ in numbers: "worker-1" and "worker-12". */
static inline const char *past_digits(const char *name)
{
	while (*name >= '0' && *name <= '9')
		name++;
	return name;
}

/* A life of a short-lived thread; lives of one lane are one actor. */
struct life {
	uint32_t thread;		/* of the timeline */
	uint32_t lane;
	uint64_t tid, parent_tid;
	int64_t start_ns, end_ns;
};
typedef VEC(struct life) lives;

/* In order of lane, start; only lanes with at least two lives. */
void wait_lanes(const struct wait_world *w, lives *ret);

/* Fills w, whose tl and paths are set. */
void wait_match(struct wait_world *w);

/* Sets the group of each actor. */
void wait_groups(struct wait_world *w);

/* A class of intervals that is examined separately. */
struct wait_window {
	int64_t start_ns, end_ns;
};

struct wait_choice {
	VEC(struct wait_window) windows;	/* times when at least one was open; disjoint, in order */
	struct map *sids;
	struct wait_class summary;
};

/* Sets *ret_name as well.  -ENOENT, -ENODATA as wait_graph_new(). */
int wait_choose(const struct trace *t, const char *interval, double quantile,
		const char **ret_name, struct wait_choice *slow, struct wait_choice *typical);
void wait_choice_release(struct wait_choice *c);

/* w's waits, cut so that each counts whole or not at all; c NULL: all of them count. */
void wait_select(const struct wait_world *w, const struct wait_choice *c, waits *ret);

/* Fills in weight_ns. */
void wait_cascade(const struct wait_world *w, waits *list);

/* Adds vertices; the caller frees which one each actor is (ACTOR_NONE: none). */
uint32_t *wait_vertices(const struct wait_world *w, const waits *list, struct wait_graph *g);

/* Adds vertices and edges, with stacks; weights are those of `list`, typical_ns of `typical`, which
 * may be NULL. */
void wait_edges(const struct wait_world *w, const waits *list, const waits *typical,
		struct wait_graph *g);

void wait_world_release(struct wait_world *w);

#endif
