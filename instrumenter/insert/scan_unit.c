/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_unit.c - turns what libclang saw into the scan record of the unit.
 *
 * Offsets become files and lines of the user's sources, functions get their identity, and each is asked whether it
 * can take a probe.  Why it cannot, by construct:
 *
 *	naked, interrupt		there is no frame to keep a variable in
 *	consteval			is never run
 *	constexpr, in C++11		is one return statement; from C++14 on it takes a probe that
 *					the compiler can pass over (runtime/shared/probe_constant.h)
 *	__label__, #pragma STDC		have to come first in the block
 *	musttail			nothing may be left to do after the call
 *	ifunc resolver, its callees	run before the program is relocated (resolvers.c)
 *	coroutine			its variables outlive the call, maybe on another thread
 *	inline, in C			without an external definition in this unit: the program may
 *					have none, and a probe may keep the compiler from inlining
 *	= default, function-try block	there is no '{' that begins a plain body
 *	not understood by libclang	its end is unknown
 */
#include <ctype.h>
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "instrumenter/insert/instrument.h"
#include "instrumenter/insert/unit_directives.h"
#include "instrumenter/insert/unit_note.h"

#define SCAN_VERSION 2		/* raise this when a scan of the same text yields something else */

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Is word there as a whole word? */
static bool has_word(const char *text, size_t len, const char *word)
{
	size_t word_len = strlen(word);
	const char *p = text, *end = text + len;

	while ((p = memmem(p, (size_t)(end - p), word, word_len))) {
		if ((p == text || !is_name_char(p[-1])) &&
		    (p + word_len == end || !is_name_char(p[word_len])))
			return true;
		p += word_len;
	}
	return false;
}

/* The first token of the body, or its first line if that is a #pragma. */
static const char *first_in_body(const char *p, const char *end)
{
	while (p < end) {
		if (isspace((unsigned char)*p)) {
			p++;
		} else if (*p == '#' && !has_word(p, strcspn(p, "\n"), "pragma")) {
			p += strcspn(p, "\n");
		} else if (p[0] == '/' && p[1] == '*') {
			const char *close = strstr(p + 2, "*/");

			p = close ? close + 2 : end;
		} else if (p[0] == '/' && p[1] == '/') {
			p += strcspn(p, "\n");
		} else {
			break;
		}
	}
	return p;
}

static const char *skipped_by_body(const struct instrumenting *in, const struct parsed_function *f)
{
	const char *body = in->text + f->body, *end = in->text + f->body_end;
	size_t len = (size_t)(end - body);
	const char *first = first_in_body(body + 1, end);

	if (starts_with(first, "__label__"))
		return "__label__ has to come first in the body";
	if (*first == '#' && has_word(first, strcspn(first, "\n"), "STDC"))
		return "#pragma STDC has to come first in the body";
	if (has_word(body, len, "musttail"))
		return "musttail";
	return NULL;
}

/* Blanks the functions inside f: lambdas, members of local classes. */
static void blank_inner(const struct instrumenting *in, const struct parsed_function *f, char *text, size_t len)
{
	for (size_t i = 0; i < in->parsed->functions.cnt; i++) {
		const struct parsed_function *inner = &in->parsed->functions.items[i];

		if (inner->offset > f->offset && inner->offset < inner->end && inner->end <= f->offset + len)
			memset(text + (inner->offset - f->offset), ' ', inner->end - inner->offset);
	}
}

/* A lambda inside may be a coroutine without its function being one. */
static bool is_coroutine(const struct instrumenting *in, const struct parsed_function *f)
{
	static const char *const words[] = { "co_await", "co_yield", "co_return" };
	size_t end = f->end < in->len ? f->end : in->len, len = f->offset < end ? end - f->offset : 0;
	_cleanup_(freep) char *text = NULL;

	for (size_t i = 0; in->language == LANG_CXX && i < ARRAY_SIZE(words); i++) {
		if (!has_word(in->text + f->offset, len, words[i]))
			continue;
		if (!text) {
			text = xstrndup(in->text + f->offset, len);
			blank_inner(in, f, text, len);
		}
		if (has_word(text, len, words[i]))
			return true;
	}
	return false;
}

static bool has_attribute(const struct parsed_function *f, const char *name)
{
	const char *at = strstr(f->printed, "__attribute__((");

	return at && has_word(at, strlen(at), name);
}

/* The type says what an earlier declaration said. */
static bool never_returns(const struct parsed_function *f)
{
	return has_attribute(f, "noreturn") || has_word(f->type, strlen(f->type), "noreturn") ||
	       has_word(f->printed, strlen(f->printed), "_Noreturn") ||
	       strstr(f->printed, "[[noreturn]]");
}

static bool is_in_list(const char *const *items, size_t cnt, const char *name)
{
	for (size_t i = 0; i < cnt; i++)
		if (strcmp(items[i], name) == 0)
			return true;
	return false;
}

/* C's inline with external linkage: does this unit only contain a copy for inlining? */
static bool is_inline_copy(const struct instrumenting *in, const struct parsed_function *f)
{
	static const char *const old[] = { "c89", "c90", "gnu89", "gnu90", "iso9899:1990" };
	bool is_gnu = has_attribute(f, "gnu_inline") ||
		      (in->standard && is_in_list(old, ARRAY_SIZE(old), in->standard));

	if (in->language != LANG_C || !f->is_inline || f->is_static || has_attribute(f, "always_inline"))
		return false;
	if (is_gnu)
		return f->is_extern;
	return !f->is_extern && !is_in_list(in->parsed->externals.items, in->parsed->externals.cnt,
					    f->name);
}

/* Is the unit in one of the first cnt of these?  Without -std= compilers have at least C++14. */
static bool is_older_cxx(const char *standard, size_t cnt)
{
	static const char *const older[] = { "98", "03", "11", "0x", "14", "1y" };

	for (size_t i = 0; standard && i < cnt; i++)
		if (ends_with(standard, older[i]))
			return true;
	return false;
}

#define CXX_BEFORE_14 4
#define CXX_BEFORE_17 6

static bool is_constexpr(const struct parsed_function *f)
{
	return has_word(f->printed, strlen(f->printed), "constexpr");
}

/* From C++17 on, lambdas are constexpr if they can be. */
bool may_be_constant(const struct instrumenting *in, size_t i)
{
	const struct parsed_function *f = &in->parsed->functions.items[i];

	return in->language == LANG_CXX &&
	       (is_constexpr(f) || (f->is_lambda && !is_older_cxx(in->standard, CXX_BEFORE_17)));
}

const char *why_no_event(const struct instrumenting *in, size_t i)
{
	const char *skipped = in->unit->functions.items[i].skipped;

	return skipped && strcmp(skipped, TAIL_BEHIND_THROW) != 0 ? skipped :
	       is_constexpr(&in->parsed->functions.items[i]) ? "constexpr" : NULL;
}

static const char *skipped_by_declaration(const struct instrumenting *in,
					  const struct parsed_function *f)
{
	static const char *const attributes[] = { "naked", "interrupt", "no_instrument_function" };

	if (has_word(f->printed, strlen(f->printed), "consteval"))
		return "consteval";
	if (is_constexpr(f) && is_older_cxx(in->standard, CXX_BEFORE_14))
		return "constexpr, in C++11";
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
		if (has_attribute(f, attributes[i]))
			return attributes[i];
	if (f->early)
		return f->early;
	return is_inline_copy(in, f) ? "inline, without an external definition here" : NULL;
}

static const char *why_skipped(const struct instrumenting *in, const struct parsed_function *f)
{
	const char *why;

	if (f->is_defaulted)
		return "= default";
	if (is_coroutine(in, f))
		return "coroutine";
	if (!f->body)
		return "its body does not begin with '{'";
	if (f->is_misread)
		return "libclang does not understand it";
	why = skipped_by_declaration(in, f);
	return why ? why : skipped_by_body(in, f);
}

static void scan_function(struct instrumenting *in, const struct parsed_function *f)
{
	struct unit *u = in->unit;
	struct position at = lines_at(in->lines, f->body ? f->body : f->offset);
	struct position end = f->body ? lines_at(in->lines, f->body_end - 1) : at;
	struct scan_function *s = VEC_EXTEND(&u->functions);

	s->name = arena_strdup(u->arena, f->name);
	s->signature = f->signature ? arena_strdup(u->arena, f->signature) : NULL;
	s->file = arena_strdup(u->arena, at.file);
	s->line = at.line;
	s->end_line = end.line >= at.line ? end.line : at.line;
	s->key = function_key(s->file, s->line, s->name);
	s->is_static = f->is_static;
	s->is_inline = f->is_inline;
	s->address_taken = f->is_virtual;
	s->no_return = never_returns(f);
	s->body = f->body;
	s->returns_nothing = f->result_is_void;
	s->type = arena_strdup(u->arena, f->type);
	s->skipped = why_skipped(in, f);
}

/* A VPROF_ macro of <vprof.h>: the function it stands in is a root of an interval. */
static bool is_mark(const char *callee)
{
	return callee && strcmp(callee, SCAN_MARK) == 0;
}

static void rename_function(struct scan_function *f, const char *name)
{
	f->name = name;
	f->key = function_key(f->file, f->line, f->name);
}

/*
 * Functions that share file, line and name are still different:
 *
 *	struct s { int f(int); int f(char) { return 1; } int f(long) { return 2; } };	s::f(char), s::f(long)
 *	sort(a, [](int x) { ... }, [](int x) { ... });					{lambda}, {lambda}#2
 */
static void tell_apart(struct unit *u)
{
	_cleanup_(map_freep) struct map *alike = map_new(), *before = map_new();

	for (size_t i = 0; i < u->functions.cnt; i++)
		(*map_slot(alike, u->functions.items[i].key))++;
	for (size_t i = 0; i < u->functions.cnt; i++) {
		struct scan_function *f = &u->functions.items[i];
		uint64_t cnt;

		if (f->signature && map_get(alike, f->key, &cnt) && cnt > 1)
			rename_function(f, arena_printf(u->arena, "%s%s", f->name, f->signature));
	}
	for (size_t i = 0; i < u->functions.cnt; i++) {
		struct scan_function *f = &u->functions.items[i];
		uint64_t number = ++*map_slot(before, f->key);

		if (number > 1)
			rename_function(f, arena_printf(u->arena, "%s#%u", f->name, (unsigned)number));
	}
}

/* bodies: place of a body -> index of its function, plus one. */
static void scan_call(struct instrumenting *in, const struct parsed_call *c, struct map *bodies)
{
	uint64_t callee = 0;
	struct unit *u = in->unit;
	struct position at = lines_at(in->lines, c->offset);
	const struct primitive *p = c->callee ? primitives_find(in->o->sync, c->callee) : NULL;
	struct scan_call *s;

	if (p && p->role == ROLE_RELEASE)
		u->functions.items[c->caller].releases = true;
	if (c->callee_foreign && !is_mark(c->callee))
		return;
	s = VEC_EXTEND(&u->calls);
	s->caller = (uint32_t)c->caller;
	s->file = arena_strdup(u->arena, at.file);
	s->line = at.line;
	s->offset = c->offset;
	s->callee = c->callee ? arena_strdup(u->arena, c->callee) : NULL;
	s->callee_static = c->callee_static;
	if (c->callee_body && map_get(bodies, c->callee_body, &callee)) {
		const struct scan_function *f = &u->functions.items[callee - 1];

		s->callee = f->name;
		s->callee_file = f->file;
		s->callee_line = f->line;
		return;
	}
	s->type = c->type ? arena_strdup(u->arena, c->type) : NULL;
}

static void skip_early(struct instrumenting *in)
{
	for (size_t i = 0; in->o->plan && i < in->unit->functions.cnt; i++) {
		struct scan_function *f = &in->unit->functions.items[i];

		if (!f->skipped && plan_is_early(in->o->plan, f->key))
			f->skipped = EARLY_ELSEWHERE;
	}
}

void scan_unit(struct instrumenting *in)
{
	struct parsed *p = in->parsed;
	struct unit *u = in->unit;
	_cleanup_(names_freep) struct names *taken = names_new();
	_cleanup_(map_freep) struct map *bodies = map_new();

	find_early(in);
	for (size_t i = 0; i < p->functions.cnt; i++) {
		scan_function(in, &p->functions.items[i]);
		u->functions.items[i].may_be_constant = may_be_constant(in, i);
		map_set(bodies, p->functions.items[i].body, i + 1);
	}
	tell_apart(u);
	skip_early(in);
	for (size_t i = 0; i < p->calls.cnt; i++)
		scan_call(in, &p->calls.items[i], bodies);
	for (size_t i = 0; i < p->address_taken.cnt; i++)
		names_add(taken, p->address_taken.items[i]);
	for (size_t i = 0; i < names_cnt(taken); i++)
		VEC_ADD(&u->address_taken, arena_strdup(u->arena, names_get(taken, (uint32_t)i)));
	for (size_t i = 0; i < u->functions.cnt; i++)
		if (names_find(taken, u->functions.items[i].name) != NAMES_NONE)
			u->functions.items[i].address_taken = true;
}

static uint64_t hash_location(uint64_t h, const struct location *l)
{
	_cleanup_(freep) char *text = location_text(l);

	return hash_str(h, text);
}

static uint64_t hash_interval(uint64_t h, const struct interval_directive *i)
{
	const char *const texts[] = { i->name, i->key, i->trace, i->span, i->parent };

	for (size_t k = 0; k < ARRAY_SIZE(texts); k++)
		h = hash_str(h, texts[k] ? texts[k] : "");
	return h;
}

static uint64_t hash_directives(uint64_t h, const struct unit *u, const struct launcher_options *o)
{
	_cleanup_(directives_release) struct directives all = { .list = { NULL, 0, 0 } };

	directives_collect(o, &all);
	for (size_t i = 0; i < all.list.cnt; i++) {
		const struct directive *d = &all.list.items[i];

		for (size_t f = 0; f < u->functions.cnt; f++) {
			if (!directive_concerns(d, &u->functions.items[f]))
				continue;
			h = hash_u64(h, d->kind);
			h = hash_location(h, d->location);
			h = hash_interval(h, d->interval);
		}
	}
	return h;
}

static uint64_t hash_sync(uint64_t h, const struct launcher_options *o)
{
	for (size_t i = 0; i < o->sync->cnt; i++) {
		const struct primitive *p = &o->sync->items[i];

		h = hash_u64(h, p->role);
		h = hash_str(h, p->name);
		h = hash_str(h, p->object ? p->object : "");
		h = hash_str(h, p->task ? p->task : "");
		h = hash_str(h, p->takes ? p->takes : "");
		h = hash_u64(h, (uint64_t)p->class << 3 | (uint64_t)p->never_spins << 2 | (uint64_t)p->of_table << 1 | p->is_cxx);
	}
	return h;
}

uint64_t settings_of(const struct launcher_options *o)
{
	_cleanup_(directives_release) struct directives all = { .list = { NULL, 0, 0 } };
	uint64_t h = hash_u64(probe_form_version(), SCAN_VERSION);

	directives_collect(o, &all);
	for (size_t i = 0; i < all.list.cnt; i++) {
		const struct directive *d = &all.list.items[i];

		h = hash_location(hash_u64(h, d->kind), d->location);
		h = hash_interval(h, d->interval);
	}
	return hash_sync(h, o);
}

/* Hashes the calls that are recorded by place, in the unit's functions, and of them. */
static uint64_t hash_sites(uint64_t h, const struct unit *u, const struct plan *plan)
{
	for (size_t i = 0; plan && plan->sites.cnt && i < u->functions.cnt; i++) {
		uint64_t key = u->functions.items[i].key;

		for (size_t k = 0; k < plan->sites.cnt; k++) {
			const struct plan_sites *s = &plan->sites.items[k];

			if (s->caller.key == key)
				h = hash_u64(hash_u64(h, s->callee.key), (uint64_t)plan_level_of(plan, s->callee.key) << 1 | s->is_reached);
		}
		if (plan_tells_callers(plan, key))
			h = hash_u64(h, key);
	}
	return h;
}

uint64_t probe_set_of(const struct unit *u, const struct launcher_options *o)
{
	uint64_t h = probe_form_version();

	for (size_t i = 0; i < u->functions.cnt; i++) {
		const struct scan_function *f = &u->functions.items[i];

		/* The resolver because of which it has no probe may be gone: then the unit is scanned again. */
		bool no_longer_early = f->skipped && strcmp(f->skipped, EARLY_ELSEWHERE) == 0 && o->plan && !plan_is_early(o->plan, f->key);

		if (no_longer_early || (!f->skipped && o->plan && plan_level_of(o->plan, f->key) != PLAN_OFF))
			h = hash_u64(hash_u64(h, f->key), plan_is_aside(o->plan, f->key));
	}
	h = hash_sites(h, u, o->plan);
	h = hash_directives(unit_note_hash(h, u, o), u, o);
	/* The record does not say which primitives a unit uses: a change of the list affects all units. */
	return hash_sync(h, o);
}
