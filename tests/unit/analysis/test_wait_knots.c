/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_wait_knots.c - knots, sinks and refinement: the published graphs of seven applications, whose
 * bottlenecks the paper names, and small graphs with answers by hand.
 *
 * An expected answer: "knot A B; sink C; background D; trimmed A>B B>A".
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/whole_run/wait_knots.h"
#include "base/map.h"
#include "base/str.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/analysis/published_weights.h"
#include "base/banned.h"

#define SECOND 1000000000.0
#define PREFILTER (0.01 * 90)
#define THRESHOLD (0.2 * 90)

struct cpu {				/* of a vertex; others keep four processors busy */
	const char *name;
	double cpu;			/* below 0: takes no part */
	bool outside;
};

static void add_numbers(struct str *s, const struct names *n, const numbers *v)
{
	for (size_t i = 0; i < v->cnt; i++)
		str_addf(s, " %s", names_get(n, v->items[i]));
}

/* The knots and sinks found, as text; the caller frees it. */
static char *answer(const struct published *rows, size_t cnt, double prefilter, double threshold,
		    const struct cpu *cpus)
{
	_cleanup_(names_freep) struct names *n = names_new();
	struct knot_edge *edges = xcalloc(cnt + 1, sizeof(*edges));
	struct knot_vertex *vertices = xcalloc(2 * cnt + 1, sizeof(*vertices));
	struct knots found = { { NULL, 0, 0 }, { NULL, 0, 0 } };
	struct str s = STR_INIT;

	for (size_t i = 0; i < cnt; i++)
		edges[i] = (struct knot_edge){ names_add(n, rows[i].from), names_add(n, rows[i].to),
					       (int64_t)(rows[i].seconds * SECOND + 0.5) };
	for (size_t i = 0; i < names_cnt(n); i++) {
		vertices[i].cpu = 4;
		for (const struct cpu *c = cpus; c && c->name; c++)
			if (strcmp(c->name, names_get(n, (uint32_t)i)) == 0) {
				vertices[i].cpu = c->cpu;
				vertices[i].ignored = c->cpu < 0;
				vertices[i].outside = c->outside;
			}
	}
	knots_find(&(struct knot_graph){ .vertices = vertices, .edges = edges,
		   .vertex_cnt = (uint32_t)names_cnt(n), .edge_cnt = (uint32_t)cnt,
		   .prefilter_ns = (int64_t)(prefilter * SECOND),
		   .threshold_ns = (int64_t)(threshold * SECOND) }, &found);
	str_add(&s, "");
	for (size_t i = 0; i < found.items.cnt; i++) {
		const struct knot *k = &found.items.items[i];

		str_addf(&s, "%s%s", i ? "; " : "", k->background ? "background" : k->sink ? "sink" : "knot");
		add_numbers(&s, n, &k->vertices);
	}
	if (found.trimmed.cnt)
		str_add(&s, "; trimmed");
	for (size_t i = 0; i < found.trimmed.cnt; i++) {
		const struct knot_edge *e = &edges[found.trimmed.items[i]];

		str_addf(&s, " %s>%s", names_get(n, e->from), names_get(n, e->to));
	}
	knots_release(&found);
	free(edges);
	free(vertices);
	return str_take(&s);
}

static void assert_answer(const struct published *rows, size_t cnt, double prefilter,
			  double threshold, const struct cpu *cpus, const char *expected)
{
	_cleanup_(freep) char *found = answer(rows, cnt, prefilter, threshold, cpus);

	assert_string_equal(found, expected);
}

#define ASSERT_PUBLISHED(rows, expected) \
	assert_answer(rows, ARRAY_SIZE(rows), PREFILTER, THRESHOLD, NULL, expected)

/* The bottlenecks are those the paper names in section 5.1. */
static void test_published(void **state)
{
	(void)state;
	ASSERT_PUBLISHED(hbase_60,
		"sink Handler; trimmed VMThread>Streamer(Log) NIC>Handler Handler>VMThread "
		"RespProc(Log)>RespProc(MemStore) VMThread>ConcurrentGC Streamer(Log)>LogRoller "
		"Handler>IPC Client(HDFS) VMThread>RespProc(Log) Handler>Streamer(Log) "
		"VMThread>IPC Client(HDFS) CacheFlusher>Streamer(MemStore) VMThread>NIC "
		"NIC>Streamer(MemStore) CacheFlusher>LogRoller CacheFlusher>NIC "
		"RespProc(MemStore)>NIC Handler>RespProc(Log)");
	ASSERT_PUBLISHED(zookeeper_read,
		"sink NIC; trimmed SyncThread>NIOServerCxn SyncThread>VMThread "
		"NIOServerCxn>VMThread NIC>NIOServerCxn NIC>SyncThread");
	ASSERT_PUBLISHED(zookeeper_write,
		"knot JBDThread Disk SyncThread; trimmed NIOServerCxn>VMThread SyncThread>VMThread");
	ASSERT_PUBLISHED(hdfs,
		"knot Handler Disk; sink VMThread1");
	ASSERT_PUBLISHED(nfs,
		"knot KworkerHP(Recv) NIC Kworker(Recv) Grep Kworker(Send); trimmed NIC>Kworker(Recv)");
	ASSERT_PUBLISHED(blockgrace,
		"knot Worker Main");
	ASSERT_PUBLISHED(memcached,
		"knot Worker");
	ASSERT_PUBLISHED(mysql_disk,
		"knot KworkerHP Disk; trimmed Worker>MasterThread CleanerCoord>Worker "
		"IOThread>MasterThread Worker>NIC IOThread>Worker JBDThread>CleanerCoord "
		"MasterThread>Worker IOThread>IOThread JBDThread>MasterThread CleanerCoord>Disk "
		"JBDThread>Worker Disk>JBDThread");
	ASSERT_PUBLISHED(mysql_memory,
		"knot Worker; trimmed Worker>SrvWorker IOThread>PurgerCoord Cleaner>IOThread "
		"Worker>NIC Worker>IOThread");
}

#define ASSERT_GRAPH(expected, prefilter, threshold, cpus, ...)				\
	do {										\
		const struct published rows_[] = { __VA_ARGS__ };			\
											\
		assert_answer(rows_, ARRAY_SIZE(rows_), prefilter, threshold, cpus, expected); \
	} while (0)

/* wPerf's figure 2: B and the disk, not A. */
static void test_figure_2(void **state)
{
	(void)state;
	ASSERT_GRAPH("knot B Disk", 1, 18, NULL,
		     { "A", "B", 72 }, { "B", "Disk", 45 }, { "Disk", "B", 45 });
}

/* The blocked-samples paper's figure 3: in case 1 the barrier is part of the knot, in case 2 not. */
static void test_barrier_and_disk(void **state)
{
	(void)state;
	ASSERT_GRAPH("knot T1 sda T2", 0.9, 1, NULL, { "T1", "sda", 54.37 }, { "sda", "T1", 5.1 },
		     { "T1", "T2", 4.2 }, { "T2", "T1", 3.9 });
	ASSERT_GRAPH("knot T1 sda", 0.9, 18, NULL, { "T1", "sda", 54.37 }, { "sda", "T1", 22.5 },
		     { "T2", "T1", 31.9 });
}

static void test_when_trimming_ends(void **state)
{
	(void)state;
	/* A simple cycle stays whole however light it is. */
	ASSERT_GRAPH("knot A B C", 0, 90, NULL, { "A", "B", 1 }, { "B", "C", 2 }, { "C", "A", 3 });
	/* One edge more than a cycle: only the lightest goes. */
	ASSERT_GRAPH("knot A B C; trimmed A>C", 0, 90, NULL,
		     { "A", "B", 5 }, { "B", "C", 5 }, { "C", "A", 5 }, { "A", "C", 4 });
	/* Above the threshold nothing goes; at it, it does. */
	ASSERT_GRAPH("knot A B C", 0, 3, NULL,
		     { "A", "B", 5 }, { "B", "C", 5 }, { "C", "A", 5 }, { "A", "C", 4 });
	ASSERT_GRAPH("knot A B C; trimmed A>C", 0, 4, NULL,
		     { "A", "B", 5 }, { "B", "C", 5 }, { "C", "A", 5 }, { "A", "C", 4 });
	/* One vertex is the end, its own edge may be light. */
	ASSERT_GRAPH("knot A", 0, 90, NULL, { "A", "A", 1 }, { "B", "A", 9 });
	/* It falls apart at B>A: A waits for the rest, which is a cycle. */
	ASSERT_GRAPH("knot B Disk; trimmed B>A", 0, 18, NULL,
		     { "A", "B", 87 }, { "B", "Disk", 40 }, { "Disk", "B", 35 }, { "B", "A", 2 });
	/* If two edges are equal, the edge of the first vertex is trimmed first. */
	ASSERT_GRAPH("sink A; trimmed A>B", 0, 18, NULL,
		     { "A", "B", 2 }, { "B", "A", 2 }, { "B", "B", 2 });
}

static void test_falls_apart(void **state)
{
	(void)state;
	/* Without B>M, M and the cycle C, D wait for A and B, which wait for no others. */
	ASSERT_GRAPH("knot A B; trimmed B>M", 0, 5, NULL,
		     { "A", "B", 10 }, { "B", "A", 11 }, { "C", "D", 20 }, { "D", "C", 21 },
		     { "M", "A", 8 }, { "M", "C", 8 }, { "B", "M", 1 }, { "D", "M", 2 });
	/* The rest of it is a sink. */
	ASSERT_GRAPH("sink S; trimmed S>M", 0, 5, NULL,
		     { "A", "B", 10 }, { "B", "A", 11 }, { "M", "A", 8 }, { "M", "S", 9 },
		     { "S", "M", 1 }, { "B", "M", 2 });
	/* Two knots from the beginning: the heavier first. */
	ASSERT_GRAPH("knot C D; knot A B", 0, 5, NULL, { "A", "B", 10 }, { "B", "A", 11 },
		     { "C", "D", 20 }, { "D", "C", 21 }, { "M", "A", 8 }, { "M", "C", 8 });
	/* Twice: first D, then C is in no knot any more. */
	ASSERT_GRAPH("knot A B; trimmed A>D B>C", 0, 5, NULL,
		     { "A", "B", 10 }, { "B", "A", 11 }, { "C", "A", 8 }, { "D", "C", 9 },
		     { "A", "D", 1 }, { "B", "C", 2 });
}

static void test_sinks(void **state)
{
	(void)state;
	ASSERT_GRAPH("sink C", 0, 18, NULL, { "A", "B", 5 }, { "B", "C", 5 });
	ASSERT_GRAPH("sink D; sink C", 0, 18, NULL, { "A", "C", 5 }, { "B", "D", 6 });
	ASSERT_GRAPH("", 0, 18, NULL, { "A", "B", 0 });
	/* Edges below the prefilter are ignored in both directions. */
	ASSERT_GRAPH("sink B", 1, 18, NULL, { "A", "B", 5 }, { "B", "A", 0.9 }, { "C", "D", 0.9 });
	ASSERT_GRAPH("knot A B", 0.9, 0.5, NULL, { "A", "B", 5 }, { "B", "A", 0.9 });
}

static void test_background(void **state)
{
	static const struct cpu idle[] = { { "A", 0.3, false }, { "B", 0.6, false }, { NULL, 0, false } };
	static const struct cpu busy[] = { { "A", 0.4, false }, { "B", 0.6, false }, { NULL, 0, false } };
	static const struct cpu unknown[] = { { "U", -1, false }, { NULL, 0, false } };

	(void)state;
	/* Reported, taken out; what waited for it is looked at again. */
	ASSERT_GRAPH("knot C D; background A B", 0, 18, idle, { "A", "B", 50 }, { "B", "A", 50 },
		     { "C", "D", 30 }, { "D", "C", 30 }, { "C", "A", 30 });
	/* Together they keep one processor busy. */
	ASSERT_GRAPH("knot A B", 0, 18, busy, { "A", "B", 50 }, { "B", "A", 50 },
		     { "C", "D", 30 }, { "D", "C", 30 }, { "C", "A", 30 });
	/* U is unknown: no way out and no way in. */
	ASSERT_GRAPH("knot A B", 0, 18, unknown, { "A", "B", 50 }, { "B", "A", 50 },
		     { "A", "U", 70 }, { "U", "C", 30 });
}

/* U is outside the run: nothing is recorded of it. */
static void test_outside(void **state)
{
	static const struct cpu u[] = { { "U", 0, true }, { NULL, 0, false } };
	static const struct cpu idle[] = { { "U", 0, true }, { "A", 0.3, false }, { "B", 0.6, false }, { NULL, 0, false } };

	(void)state;
	/* A server's client may be waited for longest, and hides no knot; a thread that is known to only work does. */
	ASSERT_GRAPH("knot S Disk; sink U", 0, 18, u, { "S", "Disk", 20 }, { "Disk", "S", 60 }, { "S", "U", 90 });
	ASSERT_GRAPH("sink U", 0, 18, NULL, { "S", "Disk", 20 }, { "Disk", "S", 60 }, { "S", "U", 90 });
	/* A and B lead to U; leaving U out makes neither a sink. */
	ASSERT_GRAPH("sink U", 0, 18, u, { "A", "U", 5 }, { "B", "A", 6 });
	/* C, which S waits for besides U, is a sink. */
	ASSERT_GRAPH("sink C; sink U", 0, 18, u, { "S", "U", 5 }, { "S", "C", 6 });
	/* The rest of a knot that fell apart is no sink, either. */
	ASSERT_GRAPH("sink U; trimmed A>B", 0, 18, u, { "A", "B", 2 }, { "B", "A", 2 }, { "B", "B", 2 }, { "A", "U", 1 });
	/* Below the prefilter no thread waits for U. */
	ASSERT_GRAPH("sink A", 1, 18, u, { "A", "U", 0.5 }, { "B", "A", 6 });
	/* Actors that sleep most of the time stay in the background. */
	ASSERT_GRAPH("sink U; background A B", 0, 18, idle, { "A", "B", 50 }, { "B", "A", 50 }, { "A", "U", 30 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_figure_2),
		cmocka_unit_test(test_barrier_and_disk),
		cmocka_unit_test(test_when_trimming_ends),
		cmocka_unit_test(test_falls_apart),
		cmocka_unit_test(test_sinks),
		cmocka_unit_test(test_background),
		cmocka_unit_test(test_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
