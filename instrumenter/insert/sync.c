/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sync.c - synchronisation primitives, each at exactly one level.
 *
 *	the unit defines NAME			events inside the definition
 *	NAME is one the runtime wraps		#pragma redefine_extname NAME vprof_w_NAME, and a weak
 *						hidden forwarder of that name in this unit
 *	NAME comes from a library's header	the same pragma, and a weak hidden wrapper with events
 *	NAME comes from the project's header	nothing: its definition is in another unit
 *
 * The pragma renames every use, also those in macros, in inline functions of headers and as
 * function pointers.  Wrappers and forwarders are made from the prototype that the parse saw.  An
 * example of a wrapper, for `acquire = db_lock(arg0)`:
 *
 *	extern int vprof_real_db_lock(struct db *) __asm__("db_lock");
 *	__attribute__((weak, visibility("hidden"))) int vprof_w_db_lock(struct db * vprof_arg0)
 *	{ ...ACQUIRE...; int vprof_ret_ = vprof_real_db_lock(vprof_arg0); ...ACQUIRED...; return vprof_ret_; }
 *
 * A forwarder, as of sem_post, lets the object be linked without the runtime, and finds one that
 * the executable or a preloaded library brings.  In an executable that was linked with the runtime
 * the runtime's own vprof_w_sem_post, which is not weak, takes its place.
 *
 *	extern int vprof_x_sem_post(sem_t *) __asm__("vprof_x_sem_post") __attribute__((weak, ...));
 *	... int vprof_w_sem_post(sem_t * vprof_arg0)
 *	{ return vprof_x_sem_post ? vprof_x_sem_post(vprof_arg0) : vprof_real_sem_post(vprof_arg0); }
 */
#include <stdio.h>
#include <string.h>
#include "base/banned.h"
#include "instrumenter/insert/instrument.h"
#include "instrumenter/plan/expression.h"
#include "instrumenter/text/word_count.h"

enum {
	WRAPPED_PARAMETERS_MAX = 10,
	VARIADIC_WORDS = 6
};

static const struct {
	const char *role, *entry, *later;	/* kinds of events; NULL: none */
} role_events[] = {
	[ROLE_ACQUIRE] = { "acquire", "VPROF_KIND_ACQUIRE", "VPROF_KIND_ACQUIRED" },
	[ROLE_RELEASE] = { "release", "VPROF_KIND_RELEASE", NULL },
	[ROLE_ENQUEUE] = { "enqueue", "VPROF_KIND_ENQUEUE", NULL },
	[ROLE_DEQUEUE] = { "dequeue", NULL, "VPROF_KIND_DEQUEUE" },
	[ROLE_OTHER] = { "other", NULL, NULL },
};

/* --- definitions ------------------------------------------------------------------------ */

enum { CLASS_DIGITS = 4 };

/* The second word of the event: the task, or the number of the class. */
static const char *second_word(const struct primitive *p, char number[CLASS_DIGITS])
{
	if (p->task)
		return p->task;
	snprintf(number, CLASS_DIGITS, "%hhu", (unsigned char)p->class);
	return number;
}

static const char *add_entry_event(struct str *s, const struct primitive *p, parameter_name name_of,
				   void *arg)
{
	_cleanup_(str_release) struct str a = STR_INIT, b = STR_INIT;
	char number[CLASS_DIGITS];
	const char *problem = expression_expand(p->object, name_of, arg, NULL, &a);

	if (!problem)
		problem = expression_expand(second_word(p, number), name_of, arg, NULL, &b);
	if (!problem)
		str_addf(s, " if (vprof_event) vprof_event(%s, 0, %s, %s%s);", role_events[p->role].entry,
			 a.data, b.data, p->never_spins ? " | VPROF_NEVER_SPINS" : "");
	return problem;
}

static const char *insert_in_definition(struct instrumenting *in, size_t f, const struct primitive *p)
{
	struct str *after = &in->bodies.items[f].after;
	const char *later = role_events[p->role].later, *problem = NULL;
	char number[CLASS_DIGITS];

	if (why_no_event(in, f))
		return why_no_event(in, f);
	if (role_events[p->role].entry)
		problem = add_entry_event(after, p, parameter_name_of, &in->parsed->functions.items[f]);
	if (!problem)
		in->event_cnt++;
	if (!problem && later)		/* the task from a queue is known only at the end */
		problem = later_add(in, f, after, &(struct later){
			.kind = later, .label = "0", .a = p->object, .b = second_word(p, number),
			.at_return = p->role == ROLE_DEQUEUE });
	return problem;
}

static bool takes_as_said(const struct primitive *p, const struct parsed_parameter *parameters, size_t cnt)
{
	_cleanup_(str_release) struct str kinds = STR_INIT;

	for (size_t i = 0; i < cnt; i++)
		str_addc(&kinds, parameters[i].kind);
	return primitive_takes(p, str_cstr(&kinds), cnt);
}

/* A method, or a function of another language, that has the name of a table's function is a different one. */
static bool is_definition_of(const struct instrumenting *in, size_t f, const struct primitive *p)
{
	const struct parsed_function *parsed = &in->parsed->functions.items[f];

	if (!(p->of_table ? strcmp(p->name, parsed->name) == 0 :
	      location_function_matches(p->name, in->unit->functions.items[f].name)))
		return false;
	if (p->of_table && p->is_cxx && in->language == LANG_C)
		return false;
	if (p->of_table && !p->is_cxx && in->language != LANG_C) {
		_cleanup_(freep) char *symbol = parsed_symbol(in->parsed, f);

		if (strcmp(symbol, p->name) != 0)
			return false;
	}
	return takes_as_said(p, parsed->parameters.items, parsed->parameters.cnt);
}

static bool insert_in_definitions(struct instrumenting *in, const struct primitive *p)
{
	bool defined = false;

	for (size_t f = 0; f < in->unit->functions.cnt; f++) {
		if (!is_definition_of(in, f, p))
			continue;
		defined = true;
		if (!p->builtin)
			place_add(in, NULL, role_events[p->role].role, p->name,
				  insert_in_definition(in, f, p));
	}
	return defined;
}

/* --- uses --------------------------------------------------------------------------------- */

/* How often the names of the known prototypes occur in the unit's text. */
struct mentions {
	struct names *names;
	size_t *cnt;
};

static void mentions_count(const struct instrumenting *in, struct mentions *ret)
{
	ret->names = names_new();
	for (size_t i = 0; i < in->parsed->prototypes.cnt; i++)
		names_add(ret->names, in->parsed->prototypes.items[i].name);
	ret->cnt = xcalloc(names_cnt(ret->names) + 1, sizeof(*ret->cnt));
	words_count(ret->names, in->text, in->len, ret->cnt);
}

static void mentions_release(struct mentions *m)
{
	names_free(m->names);
	free(m->cnt);
}

/* The prototype to go by, or NULL if the unit does not use NAME, or defines it, or a header has given
 * it another name already (fcntl is fcntl64 under _FILE_OFFSET_BITS). */
static const struct parsed_prototype *used_prototype(const struct instrumenting *in, const char *name,
						     const struct mentions *mentions)
{
	const struct parsed_prototype *found = NULL;
	size_t cnt = 0;

	for (size_t i = 0; i < in->parsed->prototypes.cnt; i++) {
		const struct parsed_prototype *t = &in->parsed->prototypes.items[i];

		if (strcmp(t->name, name) != 0)
			continue;
		if (!t->c_linkage)
			continue;
		if (t->defined || t->renamed)
			return NULL;
		/* A header's prototype says more than int usleep(); in the project. */
		if (!found || (t->parameters.cnt && t->foreign >= found->foreign))
			found = t;
		cnt++;
	}
	return found && mentions->cnt[names_find(mentions->names, name)] > cnt ? found : NULL;
}

static const char *wrapper_argument_name(size_t n, void *arg)
{
	static const char *const names[] = {
		"vprof_arg0", "vprof_arg1", "vprof_arg2", "vprof_arg3", "vprof_arg4", "vprof_arg5",
		"vprof_arg6", "vprof_arg7", "vprof_arg8", "vprof_arg9",
	};
	const struct parsed_prototype *t = arg;

	return n < t->parameters.cnt && n < ARRAY_SIZE(names) ? names[n] : NULL;
}

static const char *why_no_wrapper(const struct primitive *p, const struct parsed_prototype *t)
{
	if (t->variadic && !p->builtin)
		return "a function with '...' cannot be wrapped";
	if (t->parameters.cnt > WRAPPED_PARAMETERS_MAX)
		return "a function with more than 10 parameters cannot be wrapped";
	if (t->result_is_record)
		return "a function that returns a structure cannot be wrapped";
	for (size_t i = 0; i < t->parameters.cnt && !p->builtin; i++)
		if (t->parameters.items[i].is_record)
			return "a function that takes a structure by value cannot be wrapped";
	return NULL;
}

/* "..." of a builtin (syscall, fcntl) stands for at most the words of a system call. */
static size_t argument_cnt(const struct parsed_prototype *t)
{
	return t->variadic ? t->parameters.cnt + VARIADIC_WORDS : t->parameters.cnt;
}

/*
 * "(__typeof__(int) vprof_arg0, ...)", or only the types, or only the names.  The one structure that a
 * builtin takes is the union of pointers that socket addresses are in GNU C.
 */
static void add_list(struct str *s, const struct parsed_prototype *t, bool types, bool names)
{
	size_t cnt = argument_cnt(t);

	str_addc(s, '(');
	for (size_t i = 0; i < cnt; i++) {
		str_add(s, i ? ", " : "");
		if (types && i >= t->parameters.cnt)
			str_add(s, "long ");
		else if (types && t->parameters.items[i].is_record)
			str_add(s, "void *");
		else if (types)
			str_addf(s, "__typeof__(%s) ", t->parameters.items[i].type);
		if (names)
			str_addf(s, "vprof_arg%zu", i);
	}
	str_add(s, types && !cnt ? "void)" : ")");
}

static void add_call(struct str *s, const char *prefix, const struct parsed_prototype *t)
{
	str_addf(s, "%s%s", prefix, t->name);
	add_list(s, t, false, true);
}

/* Declares, under another name, the function whose linker name is SYMBOL_PREFIX NAME. */
static void add_declaration(struct str *s, const char *prefix, const char *symbol_prefix,
			    const struct parsed_prototype *t)
{
	str_addf(s, "extern __typeof__(%s) %s%s", t->result, prefix, t->name);
	add_list(s, t, true, false);
	str_addf(s, " __asm__(\"%s%s\")", symbol_prefix, t->name);
}

static void add_forwarding(struct str *s, const struct parsed_prototype *t)
{
	str_addf(s, " return vprof_x_%s ? ", t->name);
	add_call(s, "vprof_x_", t);
	str_add(s, " : ");
	add_call(s, "vprof_real_", t);
	str_add(s, ";");
}

static const char *add_events(struct str *s, const struct primitive *p, const struct parsed_prototype *t)
{
	_cleanup_(str_release) struct str a = STR_INIT, b = STR_INIT;
	const char *later = role_events[p->role].later, *problem = NULL;
	const char *ret = t->result_is_void ? NULL : "vprof_ret_";
	void *arg = (void *)(uintptr_t)t;
	char number[CLASS_DIGITS];

	if (role_events[p->role].entry)
		problem = add_entry_event(s, p, wrapper_argument_name, arg);
	if (!problem && later)
		problem = expression_expand(p->object, wrapper_argument_name, arg, ret, &a);
	if (!problem && later)
		problem = expression_expand(second_word(p, number), wrapper_argument_name, arg, ret, &b);
	if (problem)
		return problem;
	str_add(s, " ");
	if (ret)
		str_addf(s, "__typeof__(%s) vprof_ret_ = ", t->result);
	add_call(s, "vprof_real_", t);
	str_add(s, ";");
	if (later)
		str_addf(s, " if (vprof_event) vprof_event(%s, 0, %s, %s);", later, a.data, b.data);
	if (ret)
		str_add(s, " return vprof_ret_;");
	return NULL;
}

static const char *add_wrapper(struct instrumenting *in, const struct primitive *p,
			       const struct parsed_prototype *t)
{
	_cleanup_(str_release) struct str body = STR_INIT;
	struct str *s = &in->wrappers;
	const char *problem = why_no_wrapper(p, t);

	if (!problem && p->builtin)
		add_forwarding(&body, t);
	else if (!problem)
		problem = add_events(&body, p, t);
	if (problem)
		return problem;
	add_declaration(s, "vprof_real_", "", t);
	str_add(s, ";\n");
	if (p->builtin) {
		add_declaration(s, "vprof_x_", "vprof_x_", t);
		str_add(s, " __attribute__((weak, visibility(\"default\")));\n");
	}
	str_addf(s, "__attribute__((weak, visibility(\"hidden\"), no_instrument_function)) "
		 "__typeof__(%s) vprof_w_%s", t->result, t->name);
	add_list(s, t, true, true);
	str_addf(s, "\n{%s }\n", body.data);
	return NULL;
}

static void redirect(struct instrumenting *in, const struct primitive *p, const struct mentions *mentions)
{
	const struct parsed_prototype *t = used_prototype(in, p->name, mentions);
	const char *problem;

	/* The project may have a connect() of its own, which is a different function. */
	if (!t || !t->foreign || !takes_as_said(p, t->parameters.items, t->parameters.cnt))
		return;
	problem = add_wrapper(in, p, t);
	if (!p->builtin)
		place_add(in, NULL, role_events[p->role].role, p->name, problem);
	if (!problem)
		str_addf(&in->pragmas, "#pragma redefine_extname %s vprof_w_%s\n", p->name, p->name);
}

void insert_primitives(struct instrumenting *in)
{
	_cleanup_(mentions_release) struct mentions mentions = { NULL, NULL };

	mentions_count(in, &mentions);
	for (size_t i = 0; i < in->o->sync->cnt; i++) {
		const struct primitive *p = &in->o->sync->items[i];

		if (!primitive_is_hidden(in->o->sync, i) && !insert_in_definitions(in, p))
			redirect(in, p, &mentions);
	}
}
