/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * instrument.c - puts probes and events into the text of a unit.
 *
 *	int f(struct conn *c) { if (!c) return 0; return work(c); }
 *
 * with a probe, and as the end of the interval "request" with the key ret, becomes one line:
 *
 *	int f(struct conn *c) { struct vprof_later vprof_later_0 ... = { 0, &vprof_labels[0], 0, 0 };
 *	struct vprof_span vprof_span_ ... = vprof_in(&vprof_function_0); if (!c)
 *	return ({ __typeof__(int) vprof_ret_ = (0); vprof_later_0.a = (unsigned long long)(vprof_ret_);
 *	vprof_later_0.kind = VPROF_KIND_END; vprof_ret_; }); ...
 *
 * runtime/shared/probe.h, put before the unit's own text, declares all of these and says what they mean.
 */
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "instrumenter/insert/instrument.h"
#include "instrumenter/insert/unit_cache.h"
#include "instrumenter/insert/unit_directives.h"
#include "instrumenter/insert/unit_note.h"

#define OWN_MARKER "# 1 \"<vprof>\" 3\n"	/* 3: a system header, for which no warnings are printed */

static void insert_probes(struct instrumenting *in);
static void insert_tails(struct instrumenting *in);
static void rewrite_returns(struct instrumenting *in, size_t f);
static void insert_bodies(struct instrumenting *in);
static void add_top(const struct instrumenting *in, struct str *top);

/* Whether redirected primitives need text. */
static bool needs_text(const struct instrumenting *in)
{
	_cleanup_(args_release) struct args names = ARGS_INIT;

	return in->pragmas.len &&
	       (in->in_text || !known_redirected(in->unit, str_cstr(&in->pragmas), in->o, &names));
}

static bool make_text(struct instrumenting *in, struct str *ret)
{
	_cleanup_(str_release) struct str top = STR_INIT;

	if (!in->site_cnt && !in->event_cnt && !needs_text(in))
		return false;
	insert_bodies(in);
	add_top(in, &top);
	edits_insert(&in->edits, lines_top(in->lines), "%s", str_cstr(&top));
	edits_apply(&in->edits, in->text, in->len, ret);
	if (in->wrappers.len)
		str_addf(ret, "\n" OWN_MARKER "%s%s%s", in->language == LANG_CXX ? "extern \"C\" {\n" : "",
			 str_cstr(&in->wrappers), in->language == LANG_CXX ? "}\n" : "");
	return true;
}

bool instrument_unit(struct instrumenting *in, struct str *ret)
{
	for (size_t i = 0; i < in->unit->functions.cnt; i++)
		VEC_EXTEND(&in->bodies);
	find_tail_calls(in);
	insert_probes(in);
	insert_intervals(in);
	insert_tails(in);
	insert_primitives(in);
	insert_own_calls(in);
	insert_call_sites(in);
	return make_text(in, ret);
}

bool instrument_known(struct instrumenting *in, struct str *ret)
{
	for (size_t i = 0; i < in->unit->functions.cnt; i++) {
		VEC_EXTEND(&in->bodies);
		in->unit->functions.items[i].probed = false;
	}
	for (size_t i = 0; i < in->unit->known.tails.cnt; i++)
		VEC_ADD(&in->tails, in->unit->known.tails.items[i]);
	insert_probes(in);
	insert_tails(in);
	str_add(&in->pragmas, in->unit->known.pragmas);
	str_add(&in->wrappers, in->unit->known.wrappers);
	return make_text(in, ret);
}

void instrumenting_release(struct instrumenting *in)
{
	for (size_t i = 0; i < in->bodies.cnt; i++) {
		str_release(&in->bodies.items[i].before);
		str_release(&in->bodies.items[i].laters);
		str_release(&in->bodies.items[i].span);
		str_release(&in->bodies.items[i].after);
		str_release(&in->bodies.items[i].at_return);
	}
	VEC_RELEASE(&in->bodies);
	VEC_RELEASE(&in->labels);
	VEC_RELEASE(&in->tails);
	VEC_RELEASE(&in->places);
	str_release(&in->pragmas);
	str_release(&in->wrappers);
	edits_release(&in->edits);
}

static void add_c_string(struct str *s, const char *text)
{
	str_addc(s, '"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			str_addf(s, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			str_addf(s, "\\%03o", c);
		else
			str_addc(s, (char)c);
	}
	str_addc(s, '"');
}

/*
 * If something else happens when the function is left, no call becomes a jump. In "short f(int n) { return n ? g() :
 * 1; }" a comma before g() would be a warning of gcc's -Wconversion: it looks into the branches of ?:, but not behind
 * commas.  It does look at what a statement expression is worth; that is no lvalue, and its temporaries end with it,
 * so it is for scalars only.
 */
static void insert_tails(struct instrumenting *in)
{
	for (size_t i = 0; i < in->tails.cnt; i++) {
		const struct scan_tail *t = &in->tails.items[i];
		const struct scan_function *f = &in->unit->functions.items[t->function];
		const char *form = f->may_be_constant ? "_constant" : "";

		if (!f->probed || in->bodies.items[t->function].laters.len || in->bodies.items[t->function].at_return.len)
			continue;
		edits_insert(&in->edits, t->start,
			     t->is_scalar ? "(__extension__ ({ vprof_tail%s(&vprof_span_); " : "(vprof_tail%s(&vprof_span_), ", form);
		edits_insert(&in->edits, t->end, "%s", t->is_scalar ? "; }))" : ")");
	}
}

static enum probe_kind probe_kind_of(const struct instrumenting *in, size_t function)
{
	const struct scan_function *f = &in->unit->functions.items[function];

	if (f->may_be_constant)
		return PROBE_CONSTANT;
	if (ends_in_circle(in, function))
		return PROBE_TAIL;
	if (probe_form_has_aside(&in->form) && plan_is_aside(in->o->plan, f->key))
		return PROBE_ASIDE;
	return f->returns_nothing ? PROBE_VOID : PROBE_PLAIN;
}

static void insert_probes(struct instrumenting *in)
{
	for (size_t i = 0; i < in->unit->functions.cnt; i++) {
		struct scan_function *f = &in->unit->functions.items[i];

		if (f->skipped || !in->o->plan || plan_level_of(in->o->plan, f->key) == PLAN_OFF)
			continue;
		enum probe_kind kind = probe_kind_of(in, i);
		bool is_told = kind != PROBE_CONSTANT && plan_tells_callers(in->o->plan, f->key);

		in->constant_cnt += kind == PROBE_CONSTANT;
		in->aside_cnt += kind == PROBE_ASIDE;
		in->told_cnt += is_told;
		probe_form_span(&in->form, kind, in->site_cnt++, is_told, &in->bodies.items[i].span);
		f->probed = true;
	}
}

/* --- the text -------------------------------------------------------------------------- */

/* Past the ';' that ends a statement whose last token ends at end. */
static size_t past_semicolon(const struct instrumenting *in, size_t end)
{
	const char *semicolon = memchr(in->text + end, ';', in->len - end);

	return semicolon ? (size_t)(semicolon - in->text) + 1 : end;
}

/* return E;  ->  return ({ T vprof_ret_ = (E); STATEMENTS vprof_ret_; }); */
static void rewrite_value_return(struct instrumenting *in, const struct text_range *r, const char *type,
				 const char *statements)
{
	size_t start = r->start + strlen("return");
	size_t first = start + strspn(in->text + start, " \t\n");
	bool braces = in->text[first] == '{';

	edits_insert(&in->edits, start, " ({ __typeof__(%s) vprof_ret_ = %s", type, braces ? "" : "(");
	edits_insert(&in->edits, r->end, "%s;%s vprof_ret_; })", braces ? "" : ")", statements);
}

static void rewrite_returns(struct instrumenting *in, size_t f)
{
	const struct parsed_function *pf = &in->parsed->functions.items[f];
	const char *statements = str_cstr(&in->bodies.items[f].at_return);
	struct ranges returns = { { NULL, 0, 0 } };

	parsed_returns(in->parsed, f, &returns);
	for (size_t i = 0; i < returns.items.cnt; i++) {
		const struct text_range *r = &returns.items.items[i];

		if (pf->result_is_scalar) {
			rewrite_value_return(in, r, pf->result, statements);
			continue;
		}
		edits_insert(&in->edits, r->start, "{%s ", statements);
		edits_insert(&in->edits, past_semicolon(in, r->end), " }");
	}
	if (pf->result_is_void)
		edits_insert(&in->edits, pf->body_end - 1, "%s ", statements);
	VEC_RELEASE(&returns.items);
}

static void insert_bodies(struct instrumenting *in)
{
	for (size_t f = 0; f < in->bodies.cnt; f++) {
		const struct function_edit *e = &in->bodies.items[f];
		size_t at = in->unit->functions.items[f].body + 1;

		if (e->at_return.len)
			rewrite_returns(in, f);
		if (e->before.len || e->laters.len || e->span.len || e->after.len)
			edits_insert_first(&in->edits, at, "%s%s%s%s", str_cstr(&e->before),
					   str_cstr(&e->laters), str_cstr(&e->span), str_cstr(&e->after));
	}
}

#define SITES "vprof_sites, vprof_sites_end"
#define SITE_LINE_MAX 0xffffff

static char level_letter(enum plan_level level)
{
	return level == PLAN_ALWAYS ? 'a' : level == PLAN_DORMANT ? 'd' : 'i';
}

static void add_site(size_t site, unsigned long long section, uint32_t line, char level, uint64_t key, struct str *top)
{
	str_addf(top, "static struct vprof_site vprof_function_%zu __attribute__((section(\"vprof_sites_%llx\"), aligned(8))) = "
		 "{ 0, { 0 }, %u, '%c', 0x%llxULL, ", site, section, line < SITE_LINE_MAX ? line : SITE_LINE_MAX, level, (unsigned long long)key);
}

/* Adds the site for the place of a call. */
static void add_place_site(const struct instrumenting *in, const struct call_place *p, size_t site, unsigned long long section, struct str *top)
{
	const struct plan_entry *callee = &p->of->callee;
	_cleanup_(freep) char *name = call_place_name(in, p);

	add_site(site, section, callee->line, level_letter(plan_level_of(in->o->plan, callee->key)), hash_str(p->of->caller.key, name), top);
	add_c_string(top, name);
	str_add(top, ", ");
	add_c_string(top, callee->file);
	str_add(top, " };\n");
}

/*
 * Each site is a variable of its own, so that the compiler omits those of functions that it omits: most of them in a
 * unit with large headers.  The rest are in a section of the unit's own, whose ends the linker knows; there may be
 * none.
 */
static void add_sites(const struct instrumenting *in, struct str *top)
{
	static const char *const ends[][2] = { { "", "start" }, { "_end", "stop" } };
	_cleanup_(directives_release) struct directives all = { .list = { NULL, 0, 0 } };
	unsigned long long section = hash_str(0, in->unit->object);
	size_t site = 0;

	directives_collect(in->o, &all);
	for (size_t i = 0; i < in->unit->functions.cnt; i++) {
		const struct scan_function *f = &in->unit->functions.items[i];

		if (!f->probed)
			continue;
		add_site(site++, section, f->line, unit_note_level(in->unit, i, in->o, &all), f->key, top);
		add_c_string(top, f->name);
		str_add(top, ", ");
		add_c_string(top, f->file);
		str_add(top, " };\n");
	}
	for (size_t i = 0; i < in->places.cnt; i++)
		add_place_site(in, &in->places.items[i], site++, section, top);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		str_addf(top, "extern struct vprof_site vprof_sites%s[] __asm__(\"__%s_vprof_sites_%llx\") "
			 "__attribute__((weak, visibility(\"hidden\")));\n", ends[i][0], ends[i][1], section);
}

/*
 * A unit with events alone has no sites, but has a note of its places.
 *
 * The constructor has a priority, and so a section of its own: in .init_array it would come between the user's.  clang has one
 * of that name for each inline variable and each static member of a template, and their order is that of their creation.
 */
static void add_registration(const struct instrumenting *in, struct str *top)
{
	_cleanup_(str_release) struct str note = STR_INIT;

	unit_note_write(in, &note);
	str_add(top, "static const char vprof_note[] __attribute__((section(\"" NOTE_SECTION "\"), aligned(1))) = ");
	add_c_string(top, str_cstr(&note));
	str_add(top, ";\n");
	if (in->site_cnt)
		add_sites(in, top);
	str_addf(top, "static void __attribute__((constructor(65534), no_instrument_function)) vprof_unit_in(void)\n"
		 "{ if (vprof_register) vprof_register(%s, vprof_note); }\n", in->site_cnt ? SITES : "0, 0");
	if (in->site_cnt)
		str_add(top, "static void __attribute__((destructor, no_instrument_function)) vprof_unit_out(void)\n"
			"{ if (vprof_unregister) vprof_unregister(" SITES "); }\n");
}

static void add_top(const struct instrumenting *in, struct str *top)
{
	str_add(top, OWN_MARKER);
	probe_form_add_texts(&in->form, in->constant_cnt != 0, in->tails.cnt != 0, in->aside_cnt != 0,
			     in->told_cnt || in->places.cnt, top);
	if (in->labels.cnt) {
		str_addf(top, "static struct vprof_label vprof_labels[%zu] = {\n", in->labels.cnt);
		for (size_t i = 0; i < in->labels.cnt; i++) {
			str_add(top, "{ ");
			add_c_string(top, in->labels.items[i]);
			str_add(top, ", 0 },\n");
		}
		str_add(top, "};\n");
	}
	if (in->site_cnt || in->labels.cnt)
		add_registration(in, top);
	str_add(top, str_cstr(&in->pragmas));
}
