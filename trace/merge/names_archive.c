/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names_archive.c - what a trace is besides its tuples, as bytes: functions, calls, names, threads and losses, as far as the results of
 * intervals depend on them.
 */
#include "trace/merge/names_archive.h"

#include "base/banned.h"

static void texts(struct archive *a, strings *list)
{
	ARCHIVE_RESIZE(a, list);
	for (size_t i = 0; i < list->cnt; i++) {
		archive_text(a, &list->items[i]);
		if (!list->items[i])
			a->failed = true;
	}
}

static void functions(struct archive *a, struct trace *t)
{
	ARCHIVE_RESIZE(a, &t->functions);
	for (size_t i = 0; i < t->functions.cnt; i++) {
		struct function *f = &t->functions.items[i];

		archive_text(a, &f->name);
		archive_text(a, &f->file);
		archive_u32(a, &f->line);
		archive_u64(a, &f->key);
		archive_bool(a, &f->probed);
		archive_bool(a, &f->left_out);
		archive_bool(a, &f->registered);
		archive_bool(a, &f->beyond_graph);
		if (!f->name)
			a->failed = true;
	}
	ARCHIVE_RESIZE(a, &t->calls);
	for (size_t i = 0; i < t->calls.cnt; i++) {
		struct call *c = &t->calls.items[i];

		archive_below(a, &c->caller, (uint32_t)t->functions.cnt);
		archive_below(a, &c->callee, (uint32_t)t->functions.cnt);
		archive_u32(a, &c->call_site);
		archive_bool(a, &c->observed);
		if (c->call_site != CALL_SITE_NONE && c->call_site >= t->call_sites.cnt)
			a->failed = true;
	}
}

static void threads(struct archive *a, struct trace *t)
{
	ARCHIVE_RESIZE(a, &t->threads);
	for (size_t i = 0; i < t->threads.cnt; i++) {
		struct thread_name *n = &t->threads.items[i];
		uint32_t kind = n->kind;

		archive_u64(a, &n->tid);
		archive_u64(a, &n->pid);
		archive_text(a, &n->name);
		archive_below(a, &kind, KIND_CNT);
		archive_bool(a, &n->open_end);
		archive_u32(a, &n->function);
		n->kind = kind;
		if (n->kind == KIND_PEER && n->function >= t->functions.cnt)
			a->failed = true;
	}
}

static void full_tables(struct archive *a, struct full_tables *f)
{
	for (size_t i = 0; i < FULL_TABLES_MAX; i++) {
		archive_text(a, &f->items[i].table);
		archive_text(a, &f->items[i].dropped_what);
		archive_text(a, &f->items[i].effect);
		archive_u64(a, &f->items[i].size);
		archive_u64(a, &f->items[i].dropped);
	}
}

static void losses(struct archive *a, struct losses *l)
{
	archive_u64(a, &l->records);
	archive_u64(a, &l->stacks);
	archive_u64(a, &l->intervals);
	archive_bool(a, &l->cut_off);
	archive_u64(a, &l->cut_bytes);
	archive_u64(a, &l->before_window);
	archive_u64(a, &l->at_pause);
	archive_u64(a, &l->holes.cnt);
	archive_u64(a, &l->holes.blocks);
	archive_u64(a, &l->holes.records);
	archive_u64(a, &l->holes.tables);
	archive_u64(a, &l->holes.files);
	archive_u64(a, &l->holes.bytes);
	archive_u64(a, &l->holes.twice);
	archive_i64(a, &l->holes.since_ns);
	archive_i64(a, &l->holes.until_ns);
	archive_i64(a, &l->holes.ns);
	archive_bool(a, &l->kernel_damaged);
	archive_u64(a, &l->callers_line);
	archive_u64(a, &l->stray_events);
	full_tables(a, &l->full);
}

static void cpu(struct archive *a, struct trace *t)
{
	struct cpu_use *u = &t->cpu_use;

	archive_u64(a, &t->off_cpu.placed_ns);
	archive_u64(a, &t->off_cpu.runnable_ns);
	archive_u64(a, &t->off_cpu.unplaced_ns);
	archive_u64(a, &t->off_cpu.run_ns);
	archive_u64(a, &t->off_cpu.delay_ns);
	archive_u64(a, &u->ns);
	archive_u32(a, &u->cpu_cnt);
	archive_u32(a, &u->allowed_cnt);
	archive_double(a, &u->runnable_ns);
	archive_bool(a, &u->has_stalled);
	archive_u64(a, &u->stalled_ns);
	archive_u64(a, &u->throttled_ns);
	archive_u64(a, &u->busy_ns);
	archive_u64(a, &u->seen_ns);
	archive_bool(a, &u->kernel_knows);
	archive_u64(a, &u->stolen_ns);
	archive_double(a, &u->runqueue.all);
	archive_double(a, &u->runqueue.from_idle);
	ARCHIVE_RESIZE(a, &u->users);
	for (size_t i = 0; i < u->users.cnt; i++) {
		archive_text(a, &u->users.items[i].comm);
		archive_u64(a, &u->users.items[i].ns);
		if (!u->users.items[i].comm)
			a->failed = true;
	}
}

static void unpaired(struct archive *a, struct unpaired *u)
{
	archive_bool(a, &u->known);
	archive_u64(a, &u->key);
	archive_u64(a, &u->tid);
}

static void pairings(struct archive *a, struct trace *t)
{
	ARCHIVE_RESIZE(a, &t->pairings);
	for (size_t i = 0; i < t->pairings.cnt; i++) {
		struct pairing *p = &t->pairings.items[i];

		archive_u64(a, &p->starts);
		archive_u64(a, &p->nested);
		archive_u64(a, &p->unended);
		archive_u64(a, &p->unmatched_ends);
		archive_u64(a, &p->aborted);
		unpaired(a, &p->start);
		unpaired(a, &p->end);
		unpaired(a, &p->inner);
		unpaired(a, &p->given_up);
	}
}

void names_archive(struct archive *a, struct trace *t)
{
	texts(a, &t->interval_names);
	texts(a, &t->call_sites);
	texts(a, &t->task_names);
	texts(a, &t->work_names);
	functions(a, t);
	threads(a, t);
	losses(a, &t->losses);
	cpu(a, t);
	pairings(a, t);
	archive_bool(a, &t->windowed);
	archive_bool(a, &t->kernel_reduced);
	archive_bool(a, &t->from_arrival);
}
