/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_opened.c - maps names on a stack to functions of the project.
 *
 * Calls of functions that have a probe are noted.  A thread that is in none has the name of its outermost function
 * instead, or its own:
 *
 *	stack clock_nanosleep < usleep < compactor < start_thread, compactor has a probe: compactor
 *	stack read < fill < feeder < start_thread, nothing has a probe: feeder
 *	it is running all the time, so its stack is unknown: "io-3", as ps -L says
 */
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/str.h"
#include "project/record/record_opened.h"
#include "recorder/stacks/opened.h"

enum { TREE_MAX = 4096, OPENED_SEED = 0x6f70 };

struct looking {
	struct drainer *d;
	struct project *p;
	struct names *by_name;		/* number in `first` */
	VEC(uint32_t) first;		/* functions of p of that name: the first, ... */
	VEC(uint32_t) same;		/* ... and how many */
};

static void index_names(struct looking *l)
{
	l->by_name = names_new();
	for (size_t i = 0; i < l->p->functions.cnt; i++) {
		uint32_t number = names_add(l->by_name, l->p->functions.items[i].name);

		if (number == l->first.cnt) {
			VEC_ADD(&l->first, (uint32_t)i);
			VEC_ADD(&l->same, 0);
		}
		l->same.items[number]++;
	}
}

/* NULL: there is none of that name, or several that cannot be distinguished. */
static const struct project_function *find_function(const struct looking *l, const char *name)
{
	uint32_t number = names_find(l->by_name, name);

	return number < l->first.cnt && l->same.items[number] == 1 ? &l->p->functions.items[l->first.items[number]] : NULL;
}

static void note_name(const struct looking *l, const struct opened_thread *t)
{
	const struct opened_frame *outermost = t->cnt ? &t->frames[t->cnt - 1] : NULL;
	bool is_named = outermost && strcmp(outermost->name, "?");
	const char *name = is_named ? outermost->name : t->name;
	const struct project_function *f = find_function(l, name);

	drainer_note_opened(l->d, &(struct drainer_opened){
		.pid = (uint32_t)t->pid, .tid = (uint32_t)t->tid,
		.key = f ? f->key : hash_bytes(OPENED_SEED, name, strlen(name)) | 1,
		.name = name, .file = f ? f->file : "", .line = f ? f->line : 0, .anyway = true });
}

static void take_thread(void *arg, const struct opened_thread *t)
{
	const struct looking *l = arg;
	bool is_known = false;

	for (size_t i = t->cnt; i-- > 0;) {
		const struct opened_frame *frame = &t->frames[i];
		const struct project_function *f = find_function(l, frame->name);

		is_known |= f && f->probed && drainer_note_opened(l->d, &(struct drainer_opened){
			.pid = (uint32_t)t->pid, .tid = (uint32_t)t->tid, .address = frame->address,
			.caller = frame->caller, .key = f->key, .name = f->name, .file = f->file, .line = f->line });
	}
	if (!is_known)
		note_name(l, t);
}

static void look_at_tree(struct looking *l, pid_t root)
{
	_cleanup_(freep) pid_t *tree = xmalloc(TREE_MAX * sizeof(*tree));
	size_t cnt = proc_tree(root, tree, TREE_MAX);

	for (size_t i = 0; i < cnt; i++)
		opened_read(tree[i], take_thread, l);
}

void record_opened_look(void *arg, struct drainer *d, pid_t child)
{
	const struct record_opened *o = arg;
	_cleanup_(project_freep) struct project *p = NULL;
	struct looking l = { .d = d };

	drainer_forget_opened(d);
	if (project_read(o->store, &p, NULL) < 0)
		return;
	l.p = p;
	index_names(&l);
	for (size_t i = 0; o->attach && i < o->attach->pids.cnt; i++)
		look_at_tree(&l, o->attach->pids.items[i]);
	if (child > 0)
		look_at_tree(&l, child);
	names_free(l.by_name);
	VEC_RELEASE(&l.first);
	VEC_RELEASE(&l.same);
}
