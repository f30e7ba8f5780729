/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waiters.c - which function waited, from the sums by probed function, class of the wait and caller of the primitive.
 *
 * Whether that caller is the probed function itself is decided by names.  The callers' functions are the one at the
 * return address and those that the compiler put into it:
 *
 *	handle			handle itself waits: nothing to say
 *	wait_a_bit in handle	wait_a_bit, a function of the project that was inlined there
 *	read in handle		a header of the system's: handle itself
 *	serve			a probed function around handle, which was inlined there: handle itself
 *	std::mutex::lock	a helper of the language's library: it stands for its caller, which is unknown
 *	foo_get of libfoo.so	a library that vprof did not build
 */
#include "analysis/pass/waiters.h"

#include <string.h>
#include "analysis/tree/waiter_sums.h"
#include "base/banned.h"
#include "base/str.h"

#define SHARE_LEAST 0.0005		/* smaller ones are not worth a place */
#define WAITERS_MAX 256

/* Functions of a language's library, or of a system header, that work for their caller. */
static bool is_helper(const struct code_function *f)
{
	static const char *const prefixes[] = { "std::", "__gnu_cxx::", "__gthread_", "__cxxabiv1::", "__glibcxx" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (starts_with(f->name, prefixes[i]))
			return true;
	return f->file && (starts_with(f->file, "/usr/include/") || starts_with(f->file, "/usr/lib/"));
}

static bool is_helper_library(const char *module)
{
	static const char *const prefixes[] = { "libstdc++.", "libc++", "libgcc_s.", "libc.", "libc-", "libpthread",
		"libunwind.", "libgomp.", "libomp.", "libvprof.", "ld-linux", "ld-musl", "libm.", "librt." };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (starts_with(module, prefixes[i]))
			return true;
	return false;
}

static bool is_function(const struct code_function *c, const struct function *f)
{
	return f && (c->key && f->key ? c->key == f->key : !c->key && strcmp(c->name, f->name) == 0);
}

/* Several overloads have that name: which one it is, is unknown. */
static bool may_be(const struct code_function *c, const struct function *f)
{
	size_t len = strcspn(c->name, "(");

	return f && c->key && !c->is_one && strncmp(c->name, f->name, len) == 0 && strcspn(f->name, "(") == len;
}

/* How many of the caller's functions lie between the wait and the probed function around it; all, if that one is not
 * among them. */
static uint32_t functions_inside(const struct wait_caller *c, const struct function *inside)
{
	uint32_t cnt = 0;

	while (cnt < c->function_cnt && !is_function(&c->functions[cnt], inside) && !may_be(&c->functions[cnt], inside))
		cnt++;
	return cnt;
}

/* The one of these that waited: the innermost of the project, or else any that is not a helper.  NULL: none can be
 * named. */
static const struct code_function *waiting_function(const struct wait_caller *c, uint32_t cnt)
{
	for (uint32_t i = 0; i < cnt; i++)
		if (c->functions[i].key)
			return &c->functions[i];
	for (uint32_t i = 0; i < cnt; i++)
		if (!is_helper(&c->functions[i]) && (*c->functions[i].name || !c->is_built))
			return &c->functions[i];
	return NULL;
}

static bool is_same(const struct waiter *a, const struct waiter *b)
{
	return a->inside_function == b->inside_function && a->wait == b->wait && a->key == b->key && a->is_outer == b->is_outer &&
	       strcmp(a->function ? a->function : "", b->function ? b->function : "") == 0 &&
	       strcmp(a->module, b->module) == 0;
}

/* Joins several call sites of one function. */
static void add(struct findings *f, const struct waiter *w)
{
	for (size_t i = 0; i < f->waiters.cnt; i++)
		if (is_same(&f->waiters.items[i], w)) {
			f->waiters.items[i].share += w->share;
			f->waiters.items[i].mean_ns += w->mean_ns;
			return;
		}
	VEC_ADD(&f->waiters, *w);
}

static char *text_in(const struct analysis *a, const char *text)
{
	return text ? arena_strdup(a->f->arena, text) : NULL;
}

static void add_waiter(const struct analysis *a, const struct waiter_sum *s, const struct wait_caller *c, const struct code_function *f,
		       bool is_outer)
{
	uint32_t unit = rows_unit(a->rows);

	add(a->f, &(struct waiter){
		.inside_function = s->function, .wait = s->wait,
		.inside = analysis_function_name(a, s->function), .inside_file = analysis_function_file(a, s->function),
		.inside_line = analysis_function_line(a, s->function),
		.function = f && *f->name ? text_in(a, f->name) : NULL, .file = f ? text_in(a, f->file) : NULL,
		.line = f ? f->line : 0, .key = f ? f->key : 0,
		.module = text_in(a, c->module), .is_built = c->is_built, .is_outer = is_outer,
		.mean_ns = moments_mean(a->m->n, s->x / unit),
		.share = analysis_share(a, moments_covariance(a->m->n, s->x / unit, a->m->places.items[0].x, s->xt / unit)),
	});
}

/* A probed function around the innermost one may be inlined into it, which symbols alone do not show. */
static bool is_around(const struct analysis *a, uint32_t innermost, const struct code_function *f)
{
	const struct place *places = a->v->places.items;

	for (size_t i = 0; f->key && i < a->v->places.cnt; i++) {
		if (places[i].kind != NODE_FUNCTION || places[i].function != innermost)
			continue;
		for (uint32_t at = places[i].parent; at != NODE_NONE; at = places[at].parent)
			if (places[at].kind == NODE_FUNCTION && is_function(f, &a->t->functions.items[places[at].function]))
				return true;
	}
	return false;
}

static void judge(const struct analysis *a, const struct waiter_sum *s)
{
	const struct function *inside = s->function == FUNCTION_NONE ? NULL : &a->t->functions.items[s->function];
	const struct wait_caller *c = s->caller < a->t->callers.cnt ? &a->t->callers.items[s->caller] : NULL;
	const struct code_function *f;
	uint32_t cnt;

	if (!c || !c->module)
		return;
	cnt = functions_inside(c, inside);
	for (uint32_t i = 0; i < cnt; i++)
		if (is_around(a, s->function, &c->functions[i]))
			cnt = i;
	f = waiting_function(c, cnt);
	if (f && !f->key && !c->is_built && is_helper_library(c->module))
		return;
	if (f || (!c->is_built && !c->function_cnt && !is_helper_library(c->module)))
		add_waiter(a, s, c, f, false);
	for (uint32_t i = f && f->key ? (uint32_t)(f - c->functions) + 1 : cnt; i < cnt; i++)
		if (c->functions[i].key && c->functions[i].key != f->key)
			add_waiter(a, s, c, &c->functions[i], true);
}

static int by_share(const void *pa, const void *pb)
{
	const struct waiter *a = pa, *b = pb;
	int r;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	if (a->is_outer != b->is_outer)
		return a->is_outer ? 1 : -1;
	r = strcmp(a->function ? a->function : a->module, b->function ? b->function : b->module);
	if (r == 0)
		r = strcmp(a->inside ? a->inside : "", b->inside ? b->inside : "");
	return r ? r : (a->wait > b->wait) - (a->wait < b->wait);
}

void find_waiters(const struct analysis *a)
{
	const struct waiter_sums *s = a->v->waiters;
	struct findings *f = a->f;
	size_t cnt = 0;

	for (size_t i = 0; s && a->m->n && i < s->list.cnt; i++)
		judge(a, &s->list.items[i]);
	for (size_t i = 0; i < f->waiters.cnt; i++)
		if (f->waiters.items[i].share >= SHARE_LEAST || f->waiters.items[i].share <= -SHARE_LEAST)
			f->waiters.items[cnt++] = f->waiters.items[i];
	f->waiters.cnt = cnt;
	if (cnt > 1)
		qsort(f->waiters.items, cnt, sizeof(*f->waiters.items), by_share);
	if (cnt > WAITERS_MAX)
		f->waiters.cnt = WAITERS_MAX;
}
