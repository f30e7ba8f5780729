/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_knots.h - where a wait-for graph cannot be escaped (wPerf, section 3).
 *
 * A knot is a set of vertices that all wait for each other, directly or not, and for nothing else;
 * the program gets no faster unless something in each knot does.  A sink is waited
 * for and waits for nothing: its own work is the limit.
 *
 * A vertex outside, such as a server's client, is not recorded, nor are its own waits, which may be for the
 * server.  It is a sink that explains nothing about those inside, so the search for knots is repeated without it:
 *
 *	server -> disk 20, disk -> server 60, server -> client 30	knot server disk; sink client
 */
#ifndef ANALYSIS_WHOLE_RUN_WAIT_KNOTS_H
#define ANALYSIS_WHOLE_RUN_WAIT_KNOTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/alloc.h"
#include "base/cleanup.h"

struct knot_edge {
	uint32_t from, to;		/* `from` waits for `to` */
	int64_t weight_ns;
};

struct knot_vertex {
	bool ignored;			/* left out of the search */
	bool outside;			/* it has no records: no edge leaves it */
	bool foreground;		/* a device, or known to work for users: never background */
	double cpu;			/* processors it keeps busy */
};

struct knot_graph {
	const struct knot_vertex *vertices;
	const struct knot_edge *edges;	/* at most one from each vertex to each */
	uint32_t vertex_cnt, edge_cnt;
	int64_t prefilter_ns;		/* lighter edges are left out */
	int64_t threshold_ns;		/* edges up to this are trimmed */
};

typedef VEC(uint32_t) numbers;

struct knot {
	numbers vertices, edges;	/* edges inside; of a sink: those into it */
	bool sink, background;
};

struct knots {
	VEC(struct knot) items;		/* knots, heaviest first; sinks; background knots */
	numbers trimmed;		/* edges, in order of removal */
};

void knots_find(const struct knot_graph *g, struct knots *ret);
void knots_release(struct knots *k);

#endif
