/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parse.c - the only place that talks to libclang.
 *
 * Walks the declarations of a preprocessed text.  Foreign headers are looked at only by name (for
 * the prototypes of synchronisation primitives).  In the project's own code each function body is
 * walked once for calls and for functions whose address is taken:
 *
 *	void f(void) { g(); (*p)(); h = g; }
 *
 * yields the function f, the call f -> g, a call through a pointer of type "void (void)", and the
 * address of g.  g is the callee of the first call because it is the first thing inside it that
 * refers to what the call refers to; the second g belongs to no call.
 *
 * Errors inside foreign headers are gcc's own spellings (attributes, intrinsics); clang recovers
 * and what follows is complete.  After an error in the project's own code it recovers, too: mostly
 * the error was one of meaning (a builtin of gcc's), and every brace is where it should be.  That is
 * checked, for each function, by counting braces.
 */
#include <clang-c/Index.h>
#include <string.h>
#include "base/banned.h"
#include "base/map.h"
#include "base/str.h"
#include "instrumenter/parse/parse.h"
#include "instrumenter/parse/parse_clang.h"
#include "instrumenter/text/braces.h"

#define NO_FUNCTION SIZE_MAX

/* Position of the walk: the function it is inside, and the call whose callee was not reached yet. */
struct walk {
	struct parsed *p;
	const struct parse_input *in;
	struct map *seen;		/* what was walked; see is_seen() */
	size_t function;		/* NO_FUNCTION: at file or class scope */
	CXCursor awaited;		/* callee of the innermost call; null cursor: none */
};

static enum CXChildVisitResult visit_node(CXCursor c, CXCursor parent, CXClientData data);

static void walk_children(CXCursor c, struct walk w)
{
	clang_visitChildren(c, visit_node, &w);
}

static bool is_function_kind(enum CXCursorKind k)
{
	return k == CXCursor_FunctionDecl || k == CXCursor_CXXMethod || k == CXCursor_Constructor ||
	       k == CXCursor_Destructor || k == CXCursor_ConversionFunction ||
	       k == CXCursor_FunctionTemplate;
}

static bool is_null(CXCursor c)
{
	return clang_Cursor_isNull(c);
}

static bool is_class_kind(enum CXCursorKind k)
{
	return k == CXCursor_StructDecl || k == CXCursor_ClassDecl || k == CXCursor_UnionDecl || k == CXCursor_EnumDecl ||
	       k == CXCursor_ClassTemplate || k == CXCursor_ClassTemplatePartialSpecialization;
}

/*
 * libclang visits what is inside the type of a declaration once for the declaration and once for each name that it
 * declares:
 *
 *	struct s { void f() { g(); } } a, *b;	s thrice, its f and the call of g as well
 *	decltype([] { return 1; }) c, d;	the lambda twice
 *
 * In the text each of them occurs once.  So two nodes of one kind at the same place are the same.
 */
static bool is_seen(const struct walk *w, CXCursor c, const char *what)
{
	uint64_t place = hash_u64(hash_u64(0, clang_getCursorKind(c)), clang_start(c));

	/* A template without "template <...>", because of its "auto", has no place of its own. */
	place = hash_u64(hash_u64(place, clang_end(c)), clang_offset(clang_getCursorLocation(c)));

	return (*map_slot(w->seen, hash_str(place, what)))++ != 0;
}

/* --- functions ------------------------------------------------------------------- */

static char kind_of(CXType t)
{
	switch (clang_getCanonicalType(t).kind) {
	case CXType_Pointer: case CXType_ConstantArray: case CXType_IncompleteArray: case CXType_VariableArray:
		return 'p';
	case CXType_LValueReference: case CXType_RValueReference:
		return 'r';
	case CXType_Record:
		return 's';
	case CXType_Unexposed: case CXType_Dependent: case CXType_DependentSizedArray:
		return '?';
	case CXType_Bool: case CXType_Char_U: case CXType_UChar: case CXType_Char16: case CXType_Char32: case CXType_UShort:
	case CXType_UInt: case CXType_ULong: case CXType_ULongLong: case CXType_UInt128: case CXType_Char_S: case CXType_SChar:
	case CXType_WChar: case CXType_Short: case CXType_Int: case CXType_Long: case CXType_LongLong: case CXType_Int128:
	case CXType_Enum:
		return 'i';
	default:
		return '.';
	}
}

struct parameters {
	struct arena *arena;
	VEC(struct parsed_parameter) list;
};

static enum CXChildVisitResult read_parameter(CXCursor a, CXCursor parent, CXClientData data)
{
	struct parameters *r = data;
	CXType t = clang_getCursorType(a);
	struct parsed_parameter *param;

	(void)parent;
	if (clang_getCursorKind(a) != CXCursor_ParmDecl)
		return CXChildVisit_Continue;
	param = VEC_EXTEND(&r->list);
	param->name = clang_text(r->arena, clang_getCursorSpelling(a));
	param->type = clang_text(r->arena, clang_getTypeSpelling(t));
	param->kind = kind_of(t);
	param->is_record = param->kind == 's';
	return CXChildVisit_Continue;
}

static void read_parameters(struct parsed *p, CXCursor c, struct parsed_parameter **items, size_t *cnt)
{
	struct parameters r = { .arena = p->arena };
	int n = clang_Cursor_getNumArguments(c);

	for (int i = 0; i < n; i++)
		read_parameter(clang_Cursor_getArgument(c, (unsigned)i), c, &r);
	if (n < 0)			/* a template: libclang does not count them */
		clang_visitChildren(c, read_parameter, &r);
	*items = r.list.items;
	*cnt = r.list.cnt;
}

/* The offset of its '{', or of the last letter of "<%"; 0: none. */
static size_t brace_of(const struct walk *w, CXCursor body)
{
	size_t start = clang_start(body);

	if (clang_end(body) > w->in->len)
		return 0;
	if (w->in->text[start] == '{')
		return start;
	return w->in->text[start] == '<' && w->in->text[start + 1] == '%' ? start + 1 : 0;
}

static size_t add_function(struct walk *w, CXCursor c, CXCursor body, const char *name)
{
	struct parsed *p = w->p;
	struct parsed_function *f = VEC_EXTEND(&p->functions);
	bool is_lambda = clang_getCursorKind(c) == CXCursor_LambdaExpr;
	CXType result = clang_getCanonicalType(clang_getCursorResultType(c));

	VEC_ADD(&p->private->cursors, c);
	VEC_ADD(&p->private->bodies, body);
	f->name = name;
	f->offset = clang_offset(clang_getCursorLocation(c));
	f->is_lambda = is_lambda;
	if (!is_null(body)) {
		f->body = brace_of(w, body);
		f->body_end = f->body ? clang_end(body) : 0;
	}
	f->is_misread = p->error && f->body && braces_end(w->in->text, w->in->len, f->body) != f->body_end;
	f->end = clang_end(c);
	f->is_static = clang_getCursorLinkage(c) == CXLinkage_Internal;
	f->is_extern = clang_Cursor_getStorageClass(c) == CX_SC_Extern;
	f->is_inline = clang_Cursor_isFunctionInlined(c);
	f->is_defaulted = clang_CXXMethod_isDefaulted(c);
	f->is_virtual = clang_CXXMethod_isVirtual(c);
	f->type = is_lambda ? clang_lambda_type(p->arena, c) : clang_function_type(p->arena, c);
	f->signature = is_lambda || w->in->language == LANG_C ? NULL : clang_signature(p->arena, c);
	f->printed = is_lambda ? "" : clang_printed(p->arena, p->private->policy, c);
	f->result = clang_type_in_body(p->arena, clang_getCursorResultType(c));
	f->result_is_void = result.kind == CXType_Void;
	f->result_is_scalar = clang_is_scalar(result);
	read_parameters(p, c, &f->parameters.items, &f->parameters.cnt);
	f->parameters.cap = f->parameters.cnt;
	return p->functions.cnt - 1;
}

static enum CXChildVisitResult visit_for_body(CXCursor c, CXCursor parent, CXClientData data)
{
	(void)parent;
	if (clang_getCursorKind(c) == CXCursor_CompoundStmt)
		*(CXCursor *)data = c;
	return CXChildVisit_Continue;
}

/* The last {...} directly below c: its body. */
static CXCursor body_of(CXCursor c)
{
	CXCursor body = clang_getNullCursor();

	clang_visitChildren(c, visit_for_body, &body);
	return body;
}

/* Notes what a declaration without a body says about functions defined elsewhere in the unit. */
static void note_declaration(struct parsed *p, CXCursor c)
{
	const char *printed, *name;

	if (clang_Cursor_getStorageClass(c) == CX_SC_Extern || !clang_Cursor_isFunctionInlined(c))
		VEC_ADD(&p->externals, clang_text(p->arena, clang_getCursorSpelling(c)));

	if (!is_function_kind(clang_getCursorKind(c)) || !clang_Cursor_hasAttrs(c))
		return;
	printed = clang_printed(p->arena, p->private->policy, c);
	name = strstr(printed, "ifunc(\"");
	if (name)
		VEC_ADD(&p->resolvers, arena_strndup(p->arena, name + 7, strcspn(name + 7, "\"")));
}

static void add_prototype(struct walk *w, CXCursor c, const char *name, bool foreign)
{
	struct parsed_prototype *t = VEC_EXTEND(&w->p->prototypes);
	CXType result = clang_getCursorResultType(c);

	t->name = name;
	t->offset = clang_offset(clang_getCursorLocation(c));
	t->foreign = foreign;
	t->defined = clang_isCursorDefinition(c);
	t->c_linkage = w->in->language == LANG_C || clang_is_c_linkage(c);
	t->variadic = clang_Cursor_isVariadic(c);
	t->renamed = clang_Cursor_hasAttrs(c) &&
		     strstr(clang_printed(w->p->arena, w->p->private->policy, c), "asm(");
	t->result = clang_text(w->p->arena, clang_getTypeSpelling(result));
	t->result_is_void = clang_getCanonicalType(result).kind == CXType_Void;
	t->result_is_record = clang_getCanonicalType(result).kind == CXType_Record;
	read_parameters(w->p, c, &t->parameters.items, &t->parameters.cnt);
	t->parameters.cap = t->parameters.cnt;
}

static void see_prototype(struct walk *w, CXCursor c, bool foreign)
{
	_cleanup_(freep) char *name = clang_heap_text(clang_getCursorSpelling(c));

	if (w->in->wants_prototype && w->in->wants_prototype(name, w->in->arg))
		add_prototype(w, c, arena_strdup(w->p->arena, name), foreign);
}

static void see_function(const struct walk *outer, CXCursor c)
{
	struct walk w = *outer;

	if (outer->function == NO_FUNCTION)
		see_prototype(&w, c, false);
	if (!clang_isCursorDefinition(c))
		note_declaration(w.p, c);
	if (!clang_isCursorDefinition(c) || clang_is_implicit(c) || is_seen(&w, c, ""))
		return;
	w.function = add_function(&w, c, body_of(c), clang_qualified_name(w.p->arena, c));
	w.awaited = clang_getNullCursor();
	walk_children(c, w);
}

static void see_lambda(const struct walk *outer, CXCursor c)
{
	struct walk w = *outer;
	const char *in = w.function == NO_FUNCTION ? "" : w.p->functions.items[w.function].name;
	const char *name = arena_printf(w.p->arena, "%s%s{lambda}", in, *in ? "::" : "");
	size_t lambda;

	if (is_seen(&w, c, ""))
		return;
	lambda = add_function(&w, c, body_of(c), name);
	VEC_ADD(&w.p->address_taken, name);
	if (w.function != NO_FUNCTION) {
		struct parsed_call call = {
			.caller = w.function, .offset = clang_start(c), .callee = name,
			.callee_body = w.p->functions.items[lambda].body, .callee_static = true,
		};

		VEC_ADD(&w.p->calls, call);
	}
	w.function = lambda;
	w.awaited = clang_getNullCursor();
	walk_children(c, w);
}

/* --- calls ------------------------------------------------------------------------ */

static void fill_direct(struct walk *w, CXCursor target, struct parsed_call *call)
{
	CXCursor definition = clang_getCursorDefinition(target);
	CXCursor pattern = clang_getSpecializedCursorTemplate(target);

	if (!is_null(pattern)) {
		CXCursor pattern_definition = clang_getCursorDefinition(pattern);

		definition = is_null(pattern_definition) ? pattern : pattern_definition;
	}
	call->callee = clang_qualified_name(w->p->arena, target);
	if (w->in->language == LANG_CXX)
		call->type = clang_function_type(w->p->arena, is_null(definition) ? target : definition);
	call->callee_static = clang_getCursorLinkage(target) == CXLinkage_Internal;
	call->callee_foreign = lines_at(w->in->lines,
					clang_offset(clang_getCursorLocation(target))).foreign;
	if (is_null(definition) || call->callee_foreign)
		return;
	CXCursor body = body_of(definition);

	if (!is_null(body))
		call->callee_body = brace_of(w, body);
}

static bool never_throws(CXCursor target)
{
	switch (clang_getCursorExceptionSpecificationType(target)) {
	case CXCursor_ExceptionSpecificationKind_DynamicNone:
	case CXCursor_ExceptionSpecificationKind_BasicNoexcept:
	case CXCursor_ExceptionSpecificationKind_ComputedNoexcept:
	case CXCursor_ExceptionSpecificationKind_NoThrow:
		return true;
	default:
		return false;
	}
}

/* False if the call is of no interest: a builtin, an implicit constructor ... */
static bool read_call(struct walk *w, CXCursor c, CXCursor target, struct parsed_call *call)
{
	if (!is_null(target) && is_function_kind(clang_getCursorKind(target))) {
		if (clang_is_implicit(target))
			return false;
		call->never_throws = never_throws(target);
		call->type = clang_wrapped_call_type(w->p->arena, target);
		if (call->type)
			return true;
		if (clang_CXXMethod_isVirtual(target) && !clang_is_qualified_call(c)) {
			call->type = clang_virtual_type(w->p->arena, target);
			call->callee_foreign = lines_at(w->in->lines, clang_offset(
						clang_getCursorLocation(target))).foreign;
			return true;
		}
		fill_direct(w, target, call);
		return true;
	}
	call->type = clang_pointer_call_type(w->p->arena, c);
	return call->type != NULL;
}

static void see_call(const struct walk *outer, CXCursor c)
{
	struct walk w = *outer;
	CXCursor target = clang_getCursorReferenced(c);
	CXType value = clang_getCanonicalType(clang_getCursorType(c));
	struct parsed_call call = { .caller = w.function, .offset = clang_start(c), .end = clang_end(c),
				    .is_scalar = clang_is_scalar(value), .is_void = value.kind == CXType_Void };

	if (w.function != NO_FUNCTION && read_call(&w, c, target, &call) &&
	    !is_seen(&w, c, call.callee ? call.callee : call.type))
		VEC_ADD(&w.p->calls, call);
	w.awaited = target;
	walk_children(c, w);
}

/* A mention of a function: the callee that the current call waits for, or a use of its address. */
static void see_reference(struct walk *w, CXCursor c)
{
	CXCursor target = clang_getCursorReferenced(c);

	if (is_null(target) || !is_function_kind(clang_getCursorKind(target)))
		return;
	if (clang_equalCursors(target, w->awaited)) {
		w->awaited = clang_getNullCursor();
		return;
	}
	VEC_ADD(&w->p->address_taken, clang_qualified_name(w->p->arena, target));
}

/* Constructs besides calls that may throw; a range-for calls begin() and end(). */
static bool throws(enum CXCursorKind kind)
{
	return kind == CXCursor_CXXThrowExpr || kind == CXCursor_CXXNewExpr || kind == CXCursor_CXXDynamicCastExpr ||
	       kind == CXCursor_CXXTypeidExpr || kind == CXCursor_CXXForRangeStmt;
}

/* --- the walk ----------------------------------------------------------------------- */

static enum CXChildVisitResult visit_node(CXCursor c, CXCursor parent, CXClientData data)
{
	struct walk *w = data;
	enum CXCursorKind kind = clang_getCursorKind(c);

	(void)parent;
	if (clang_isReference(kind))			/* names of types */
		return CXChildVisit_Continue;
	if (is_function_kind(kind)) {
		see_function(w, c);
		return CXChildVisit_Continue;
	}
	if (is_class_kind(kind) && clang_isCursorDefinition(c) && is_seen(w, c, ""))
		return CXChildVisit_Continue;
	if (w->function != NO_FUNCTION && throws(kind))
		w->p->functions.items[w->function].throws = true;
	switch (kind) {
	case CXCursor_LambdaExpr:
		see_lambda(w, c);
		return CXChildVisit_Continue;
	case CXCursor_CallExpr:
		see_call(w, c);
		return CXChildVisit_Continue;
	case CXCursor_DeclRefExpr:
	case CXCursor_MemberRefExpr:
		see_reference(w, c);
		break;
	default:
		break;
	}
	/* Plain recursion keeps the awaited callee, which may be found at any depth. */
	clang_visitChildren(c, visit_node, w);
	return CXChildVisit_Continue;
}

/* Foreign headers: only wanted prototypes, at file scope or in extern "C". */
static enum CXChildVisitResult visit_foreign(CXCursor c, CXCursor parent, CXClientData data)
{
	struct walk *w = data;
	enum CXCursorKind kind = clang_getCursorKind(c);

	(void)parent;
	if (kind == CXCursor_FunctionDecl)
		see_prototype(w, c, true);
	return kind == CXCursor_LinkageSpec || kind == CXCursor_UnexposedDecl ? CXChildVisit_Recurse :
									      CXChildVisit_Continue;
}

static enum CXChildVisitResult visit_top(CXCursor c, CXCursor parent, CXClientData data)
{
	struct walk *w = data;
	CXSourceLocation at = clang_getCursorLocation(c);

	(void)parent;
	if (!lines_at(w->in->lines, clang_offset(at)).foreign)
		return visit_node(c, parent, data);
	if (clang_getCursorKind(c) == CXCursor_FunctionDecl)
		see_prototype(w, c, true);
	else if (clang_getCursorKind(c) == CXCursor_LinkageSpec ||
		 clang_getCursorKind(c) == CXCursor_UnexposedDecl)
		clang_visitChildren(c, visit_foreign, w);
	return CXChildVisit_Continue;
}

char *parsed_symbol(const struct parsed *p, size_t f)
{
	CXCursor c = p->private->cursors.items[f];
	enum CXCursorKind kind = clang_getCursorKind(c);
	char *name = kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod ?
		     clang_heap_text(clang_Cursor_getMangling(c)) : xstrdup("");

	if (name[0] == 1)		/* said with asm("name") */
		memmove(name, name + 1, strlen(name));
	return name;
}

static void find_error(struct parsed *p, const struct parse_input *in)
{
	unsigned cnt = clang_getNumDiagnostics(p->private->unit);

	for (unsigned i = 0; i < cnt && !p->error; i++) {
		CXDiagnostic d = clang_getDiagnostic(p->private->unit, i);
		size_t offset = clang_offset(clang_getDiagnosticLocation(d));

		if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error &&
		    !lines_at(in->lines, offset).foreign) {
			p->error = clang_text(p->arena, clang_getDiagnosticSpelling(d));
			p->error_offset = offset;
		}
		clang_disposeDiagnostic(d);
	}
}

struct parsed *parse_text(const struct parse_input *in)
{
	_cleanup_(parsed_freep) struct parsed *p = NULL;
	_cleanup_(map_freep) struct map *seen = map_new();
	struct walk w = { .in = in, .seen = seen, .function = NO_FUNCTION };

	if (!clang_calls_load(NULL))
		return NULL;
	w.p = p = xcalloc(1, sizeof(*p));
	w.awaited = clang_getNullCursor();
	p->arena = arena_new();
	p->private = clang_parse(in, false);
	if (p->private)
		find_error(p, in);
	if (!p->private || p->error) {		/* the error may be due to missing system headers' bodies */
		clang_parse_free(p->private);
		p->error = NULL;
		p->private = clang_parse(in, true);
		if (!p->private)
			return NULL;
		find_error(p, in);
	}
	clang_visitChildren(clang_getTranslationUnitCursor(p->private->unit), visit_top, &w);
	return TAKE_PTR(p);
}

void parsed_free(struct parsed *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->functions.cnt; i++)
		VEC_RELEASE(&p->functions.items[i].parameters);
	for (size_t i = 0; i < p->prototypes.cnt; i++)
		VEC_RELEASE(&p->prototypes.items[i].parameters);
	VEC_RELEASE(&p->functions);
	VEC_RELEASE(&p->calls);
	VEC_RELEASE(&p->address_taken);
	VEC_RELEASE(&p->prototypes);
	VEC_RELEASE(&p->resolvers);
	VEC_RELEASE(&p->externals);
	clang_parse_free(p->private);
	arena_free(p->arena);
	free(p);
}
