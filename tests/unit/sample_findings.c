/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sample_findings.c - findings made by hand; the numbers of the tree add up (see the header).
 */
#include <float.h>

#include "base/banned.h"
#include "tests/unit/sample_findings.h"

#define VARIANCE_NS2 4e12		/* sd 2 ms */

static void add_node(struct findings *f, uint32_t parent, enum node_kind kind, const char *function,
		     double share, double mean_ns)
{
	struct node *n = VEC_EXTEND(&f->nodes);

	n->id = (uint32_t)f->nodes.cnt - 1;
	n->parent = parent;
	n->kind = kind;
	n->function = function;
	n->file = function ? "server.c" : NULL;
	n->line = function ? 28 : 0;
	n->share = share;
	n->variance_share = share > 0 ? share * share : 0.0001;
	n->variance_ns2 = n->variance_share * VARIANCE_NS2;
	n->mean_ns = mean_ns;
	n->presence = 1;
	n->calls_per_interval = kind == NODE_FUNCTION ? 1 : 0;
}

static void last_waits(struct findings *f, enum trace_state wait)
{
	f->nodes.items[f->nodes.cnt - 1].is_wait = true;
	f->nodes.items[f->nodes.cnt - 1].wait = wait;
}

static void add_nodes(struct findings *f)
{
	add_node(f, NODE_NONE, NODE_INTERVAL, NULL, 1, 1060000);
	add_node(f, 0, NODE_FUNCTION, "handle_request", .65, 706000);
	add_node(f, 1, NODE_FUNCTION, "log_append", .62, 308000);
	f->nodes.items[2].call_site = "server.c:61";
	add_node(f, 2, NODE_WAIT, "log_append", .61, 303000);
	last_waits(f, STATE_LOCK);
	add_node(f, 3, NODE_BLAME, "flush_log", .60, 300000);
	last_waits(f, STATE_SLEEP);
	add_node(f, 3, NODE_BLAME, NULL, .01, 3000);
	add_node(f, 2, NODE_BODY, "log_append", .01, 5000);
	add_node(f, 1, NODE_FUNCTION, "hash_payload", .03, 398000);
	f->nodes.items[7].open = true;
	add_node(f, 0, NODE_WAIT, NULL, .36, 354000);
	last_waits(f, STATE_QUEUE);
	f->nodes.items[f->nodes.cnt - 1].put_aside = "enqueue_request";
	f->nodes.items[f->nodes.cnt - 1].taken_up = "handle_request";
	add_node(f, 0, NODE_BODY, NULL, -.01, 0);
	for (size_t i = 0; i < f->nodes.cnt; i++) {
		f->nodes.items[i].has_ci95 = true;
		f->nodes.items[i].ci95[0] = f->nodes.items[i].share - (i ? .05 : 0);
		f->nodes.items[i].ci95[1] = f->nodes.items[i].share + (i ? .05 : 0);
	}
	VEC_ADD(&f->covariances, (struct covariance){ 1, 2, 7, 4e9, .002 });
	VEC_ADD(&f->covariances, (struct covariance){ 0, 1, 8, -4e10, -.02 });
}

static struct summed_cause *add_cause(struct findings *f, const char *function, double share, uint32_t node)
{
	struct summed_cause *c = VEC_EXTEND(&f->causes);

	c->known = function != NULL;
	c->function = function;
	c->file = function ? "server.c" : NULL;
	c->line = function ? 28 : 0;
	c->share = c->how_share = share;
	c->mean_ns = 500000 * share;
	c->has_ci95 = true;
	c->ci95[0] = share - .05;
	c->ci95[1] = share + .05;
	c->places.items = ARENA_NEW(f->arena, uint32_t, 1);
	c->places.items[0] = node;
	c->places.cnt = c->places.cap = 1;
	return c;
}

static void add_causes(struct findings *f)
{
	struct summed_cause *c = add_cause(f, "flush_log", .60, 4);

	f->before = (struct before_start){ .cnt = 4, .mean_ns = 100000, .sd_ns = 200000.5, .p99_ns = 300000 };
	f->before.by.items = ARENA_NEW(f->arena, struct before_by, 2);
	f->before.by.items[0] = (struct before_by){ "save", .75 };
	f->before.by.items[1] = (struct before_by){ NULL, .25 };
	f->before.by.cnt = f->before.by.cap = 2;
	c->line = 41;
	c->is_wait = c->has_waiter = true;
	c->wait = STATE_SLEEP;
	c->how = HOW_LOCK;
	c->waited = STATE_LOCK;
	c->waiter = "log_append";
	c->waiter_file = "server.c";
	c->waiter_line = 28;
	c->waiter_share = .60;
	c->ci95[0] = .51;
	c->ci95[1] = .72;
	c = add_cause(f, NULL, .36, 8);
	c->how = HOW_QUEUE;
	c->has_waiter = true;
	c->waited = STATE_QUEUE;
	c->waiter_share = .36;
	add_cause(f, "hash_payload", .03, 7);
	add_cause(f, "log_append", .01, 6);
}

static struct factor *add_factor(struct findings *f, enum factor_kind kind, const char *function,
				 double share, uint32_t height)
{
	struct factor *x = VEC_EXTEND(&f->factors);

	x->kind = kind;
	x->function = function;
	x->file = function ? "server.c" : NULL;
	x->line = function ? 28 : 0;
	x->share = share;
	x->variance_share = x->paper_contribution = share + .01;
	x->height = height;
	x->specificity = (3.0 - height) * (3.0 - height);
	x->score = x->specificity * (share > 0 ? share : 0);
	x->paper_score = x->specificity * x->paper_contribution;
	x->mean_ns = 1000 * share;
	x->has_presence = x->has_work_share = kind != FACTOR_PAIR;
	x->work_share = x->has_work_share ? share / 2 : 0;
	x->presence = x->has_presence ? .5 : 0;
	return x;
}

static void add_factors(struct findings *f)
{
	struct factor *x = add_factor(f, FACTOR_WAIT, "log_append", .61, 0);

	x->is_wait = true;
	x->wait = STATE_LOCK;
	x->has_ci95 = x->has_resolved = x->resolved = true;
	x->ci95[0] = .52;
	x->ci95[1] = .73;
	x->has_tail = true;
	x->tail_share = .73;
	x->mean_ns = 303000;
	x->has_work_ci95 = x->has_trimmed = true;
	x->work_ci95[0] = .205;
	x->work_ci95[1] = .405;
	x->trimmed_share = .41;
	x->rank_low = x->rank_high = 1;
	x->has_paper_ci95 = x->has_paper_resolved = x->paper_resolved = true;
	x->paper_ci95[0] = .5;
	x->paper_ci95[1] = .74;
	x->call_sites.items = ARENA_NEW(f->arena, const char *, 2);
	x->call_sites.items[0] = "server.c:28";
	x->call_sites.items[1] = "server.c:61";
	x->call_sites.cnt = x->call_sites.cap = 2;
	x->because_of.items = ARENA_NEW(f->arena, struct because, 2);
	x->because_of.items[0] = (struct because){ "flush_log", "server.c", true, STATE_SLEEP, .60, NULL };
	x->because_of.items[1] = (struct because){ NULL, NULL, false, STATE_RUNNING, .01, NULL };
	x->because_of.cnt = x->because_of.cap = 2;
	x = add_factor(f, FACTOR_WAIT, NULL, .36, 0);
	x->is_wait = true;
	x->wait = STATE_QUEUE;
	x->has_ci95 = x->has_resolved = true;
	x->ci95[0] = -.012;
	x->ci95[1] = .732;
	x->work_share = .8;
	x->has_work_ci95 = true;
	x->work_ci95[0] = .61;
	x->work_ci95[1] = .99;
	x->rank_low = 2;
	x->rank_high = 3;
	x->rank_needed = 900;
	add_factor(f, FACTOR_FUNCTION, "handle_request", .65, 2);
	add_factor(f, FACTOR_FUNCTION, "log_append", .62, 1)->open = true;
	add_factor(f, FACTOR_BODY, "log_append", .01, 0);
	x = add_factor(f, FACTOR_PAIR, "log_append", .002, 1);
	x->functions[0] = "log_append";
	x->functions[1] = "hash_payload";
}

static void add_parts(struct findings *f)
{
	VEC_ADD(&f->parts, (struct part){
		.function = "log_append", .file = "server.c", .is_wait = true, .wait = STATE_LOCK,
		.mean_ns = 303000, .share = .61, .tail_share = .73, .tail_ci95 = { .66, .80 },
		.has_tail = true, .has_tail_ci95 = true, .slow_mean_ns = 2100000,
		.fast_mean_ns = 50000, .slow_presence = 1, .fast_presence = .25,
		.variance_share = .55, .other_pairs = 0 });
	VEC_ADD(&f->parts, (struct part){
		.function = "handle_request", .file = "server.c", .mean_ns = 757000, .share = .39,
		.tail_share = .27, .has_tail = true, .slow_mean_ns = 740000, .fast_mean_ns = 350000,
		.slow_presence = 1, .fast_presence = 1, .variance_share = .31, .other_pairs = .04 });
	VEC_ADD(&f->part_pairs, (struct part_pair){
		.a = 1, .b = 0, .labels = { "body of handle_request", "wait:lock in log_append" },
		.covariance_ns2 = .06 * VARIANCE_NS2, .share = .12, .ci95 = { .07, .17 }, .has_ci95 = true,
		.across = true, .within = (uint32_t)f->factors.cnt - 1 });
	VEC_ADD(&f->common_causes, (struct common_cause){
		.explained = .4, .own = .1, .ci95 = { .33, .47 } });
	f->common_causes.items[0].members.items = ARENA_NEW(f->arena, struct common_member, 2);
	f->common_causes.items[0].members.items[0] = (struct common_member){ 1, .7 };
	f->common_causes.items[0].members.items[1] = (struct common_member){ 0, .3 };
	f->common_causes.items[0].members.cnt = f->common_causes.items[0].members.cap = 2;
	f->work = (struct inherent_work){ "bytes, rows", 3990, .35 };
	f->tail = (struct tail){ TAIL_QUANTILE_DEFAULT, 2840000, 120, 2840000, 400000, 2010, 400000 };
}

struct findings *sample_server(void)
{
	static const int64_t latencies_ns[] = { 300000, 400000, 700000, 2840000 };
	struct findings *f = findings_new();

	f->interval = (struct interval_summary){
		.name = "request", .cnt = 4, .dropped_open = 2, .dropped_aborted = 1,
		.nested = 7, .unmatched_ends = 3, .has_pairing = true,
		.mean_ns = 1060000, .variance_ns2 = VARIANCE_NS2, .stddev_ns = 2000000,
		.p50_ns = 400000, .p90_ns = 2840000, .p99_ns = 2840000,
		.min_ns = 300000, .max_ns = 2840000,
	};
	f->root_height = 3;
	add_nodes(f);
	add_causes(f);
	add_factors(f);
	add_parts(f);
	for (size_t i = 0; i < ARRAY_SIZE(latencies_ns); i++)
		VEC_ADD(&f->intervals, (struct interval_row){
			.sid = i == 3 ? UINT64_MAX - 1 : i + 1, .start_ns = (int64_t)i * 1000000,
			.end_ns = (int64_t)i * 1000000 + latencies_ns[i], .start_tid = 10,
			.end_tid = 11,
		});
	findings_warn(f, "few-intervals", "only %d intervals", 4);
	VEC_ADD(&f->interval_names, "request");
	VEC_ADD(&f->interval_names, "flush");
	return f;
}

/* Returns its id. */
static uint32_t add_deep(struct findings *f, uint32_t parent, enum node_kind kind,
			 const char *function, double share)
{
	add_node(f, parent, kind, function, share, share * 1e6);
	return (uint32_t)f->nodes.cnt - 1;
}

static uint32_t add_open(struct findings *f, uint32_t parent, const char *function, double share)
{
	uint32_t id = add_deep(f, parent, NODE_FUNCTION, function, share);

	f->nodes.items[id].open = true;
	return id;
}

static void add_commit(struct findings *f, uint32_t parent)
{
	uint32_t at = add_open(f, parent, "finish_xact_command", .316), flush;

	at = add_open(f, at, "CommitTransactionCommand", .316);
	add_deep(f, at, NODE_BODY, "CommitTransactionCommand", .001);
	at = add_open(f, at, "CommitTransaction", .315);
	add_deep(f, at, NODE_BODY, "CommitTransaction", .002);
	at = add_deep(f, at, NODE_FUNCTION, "RecordTransactionCommit", .313);
	add_deep(f, at, NODE_BODY, "RecordTransactionCommit", .002);
	flush = add_open(f, at, "XLogFlush", .311);
	at = add_deep(f, flush, NODE_FUNCTION, "LWLockAcquireOrWait", .159);
	add_deep(f, at, NODE_BODY, "LWLockAcquireOrWait", .009);
	at = add_deep(f, at, NODE_WAIT, "LWLockAcquireOrWait", .150);
	last_waits(f, STATE_LOCK);
	add_deep(f, at, NODE_BLAME, "pg_fdatasync", .130);
	last_waits(f, STATE_IO);
	add_deep(f, at, NODE_BLAME, NULL, .020);
	at = add_deep(f, flush, NODE_FUNCTION, "XLogWrite", .152);
	add_deep(f, at, NODE_BODY, "XLogWrite", .002);
	at = add_deep(f, at, NODE_FUNCTION, "issue_xlog_fsync", .150);
	at = add_deep(f, at, NODE_FUNCTION, "pg_fdatasync", .150);
	add_deep(f, at, NODE_BODY, "pg_fdatasync", .147);
	add_deep(f, at, NODE_WAIT, "pg_fdatasync", .003);
	last_waits(f, STATE_IO);
}

static void add_portal(struct findings *f, uint32_t parent)
{
	uint32_t portal = add_deep(f, parent, NODE_FUNCTION, "PortalRun", .235), at;

	add_deep(f, portal, NODE_FUNCTION, "PortalRunUtility", .135);
	at = add_deep(f, portal, NODE_FUNCTION, "ProcessQuery", .100);
	add_deep(f, at, NODE_BODY, "ProcessQuery", .008);
	add_deep(f, at, NODE_FUNCTION, "ExecutorStart", .007);
	at = add_deep(f, at, NODE_FUNCTION, "heap_update", .085);
	add_deep(f, at, NODE_BODY, "heap_update", .006);
	add_deep(f, at, NODE_FUNCTION, "toast_insert", .004);
	add_deep(f, at, NODE_FUNCTION, "LockAcquireExtended", .075);
}

struct findings *sample_deep(void)
{
	struct findings *f = findings_new();
	uint32_t at;

	f->interval = (struct interval_summary){
		.name = "transaction", .cnt = 16000, .mean_ns = 1e6, .variance_ns2 = VARIANCE_NS2,
		.stddev_ns = 2e6, .p50_ns = 900000, .p90_ns = 4000000, .p99_ns = 8000000,
		.min_ns = 100000, .max_ns = 9000000,
	};
	add_deep(f, NODE_NONE, NODE_INTERVAL, NULL, 1);
	at = add_open(f, 0, "exec_simple_query", .555);
	add_deep(f, at, NODE_BODY, "exec_simple_query", .004);
	add_commit(f, at);
	add_portal(f, at);
	at = add_deep(f, 0, NODE_WAIT, NULL, .445);
	last_waits(f, STATE_QUEUE);
	add_deep(f, at, NODE_BLAME, NULL, .445);
	return f;
}

struct findings *sample_odd(void)
{
	static const double odd[] = { 0, -0.0, 0.1, -1.5e-310, DBL_MAX, -DBL_MAX, DBL_MIN, 1e-17 };
	struct findings *f = findings_new();

	f->interval.name = "na\xc3\xafve \"q\", 'x'";
	f->interval.cnt = UINT64_MAX;
	f->interval.mean_ns = DBL_MAX;
	f->interval.max_ns = INT64_MAX;
	f->interval.min_ns = INT64_MIN;
	f->probing = (struct probing){
		.root_only_cnt = 3, .root_only_mean_ns = 0.1, .root_only_variance_ns2 = DBL_MAX,
		.root_only_p50_ns = 1, .root_only_p99_ns = 2, .root_only_max_ns = INT64_MAX,
		.measured = true, .mean = -1e-17, .mean_low = -DBL_MAX, .mean_high = DBL_MIN,
	};
	f->clamped = 7;
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		add_node(f, i ? (uint32_t)i - 1 : NODE_NONE, i ? NODE_BODY : NODE_INTERVAL, NULL,
			 odd[i], -odd[i]);
		f->nodes.items[i].call_site = i % 2 ? "a,\"b\"\nc" : NULL;
		add_factor(f, FACTOR_FUNCTION, i ? "operator\"\" \xe4\xb8\xad" : NULL, odd[i],
			   UINT32_MAX)->tail_share = 0;
		VEC_ADD(&f->covariances, (struct covariance){ 0, 0, (uint32_t)i, odd[i], -odd[i] });
	}
	VEC_ADD(&f->waiters, (struct waiter){ .inside = "f", .inside_file = "a,\"b\".c", .inside_line = UINT32_MAX, .wait = STATE_COND,
		.function = "g", .line = 7, .key = UINT64_MAX, .module = "libx.so", .is_built = true, .is_outer = true, .share = -1e-17, .mean_ns = DBL_MAX });
	VEC_ADD(&f->waiters, (struct waiter){ .module = "\xe4\xb8\xad", .share = DBL_MIN });
	VEC_ADD(&f->intervals, (struct interval_row){ UINT64_MAX, true, 0, INT64_MAX, 0, UINT64_MAX, 1, UINT32_MAX, 65535, UINT32_MAX, UINT32_MAX - 1 });
	VEC_ADD(&f->origins, (struct trace_origin){ 1, "0a", "db-1", "web", "ff" });
	VEC_ADD(&f->origins, (struct trace_origin){ UINT32_MAX, NULL, NULL, NULL, NULL });
	f->nodes.items[f->nodes.cnt - 1].samples = UINT32_MAX;
	f->factors.items[0].samples = 4711;
	VEC_ADD(&f->parts, (struct part){ .mean_ns = 1, .is_estimated = true });
	VEC_ADD(&f->causes, (struct summed_cause){ .known = true, .is_estimated = true });
	return f;
}
