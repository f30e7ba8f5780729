/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parse_clang.c - small helpers over libclang's C API.
 *
 * The text is handed over in memory, as "preprocessed" input: libclang reads no other file and
 * knows no macro.  Its diagnostics are counted without limit, because those of system headers
 * come first and would hide the project's own.
 */
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "instrumenter/parse/dialect.h"
#include "instrumenter/parse/foreign_bodies.h"
#include "instrumenter/parse/parse_clang.h"

/* gcc's newer names of standards, for libclang 14. */
static const struct {
	const char *theirs, *ours;
} standards[] = {
	{ "c++23", "c++2b" }, { "gnu++23", "gnu++2b" }, { "c++26", "c++2b" }, { "gnu++26", "gnu++2b" },
	{ "c++2c", "c++2b" }, { "gnu++2c", "gnu++2b" }, { "c23", "c2x" }, { "gnu23", "gnu2x" },
};

static const char *standard_option(const struct parse_input *in)
{
	const char *wanted = in->standard;

	if (!wanted)
		return in->language == LANG_CXX ? "gnu++17" : "gnu17";
	for (size_t i = 0; i < ARRAY_SIZE(standards); i++)
		if (strcmp(wanted, standards[i].theirs) == 0)
			return standards[i].ours;
	return wanted;
}

/*
 * The text in the form of dialect.c, and its include.  Parsed as incomplete, so that templates are not instantiated
 * at the end: their patterns contain what is needed.
 */
static int parse_view(const struct parse_input *in, bool whole, CXIndex index, const char *const *args, int arg_cnt,
		      CXTranslationUnit *ret)
{
	_cleanup_(freep) char *view = dialect_view(in->text, in->len, in->language);
	_cleanup_(freep) char *prologue = dialect_prologue(in->language, in->standard);
	_cleanup_(freep) char *dir = path_dir(in->path), *included = path_join(dir, DIALECT_FILE);
	if (!whole)
		foreign_bodies_blank(view, in->len, in->lines);
	struct CXUnsavedFile files[] = {
		{ in->path, view, in->len }, { included, prologue, strlen(prologue) },
	};

	return clang_parseTranslationUnit2(index, in->path, args, arg_cnt, files, ARRAY_SIZE(files),
					   CXTranslationUnit_KeepGoing | CXTranslationUnit_Incomplete, ret);
}

/* Tells libclang to parse in this thread, whose stack may grow, and not in one of 8 MiB. */
#define HERE "LIBCLANG_NOTHREADS"

struct parsed_private *clang_parse(const struct parse_input *in, bool whole)
{
	_cleanup_(freep) char *standard = xasprintf("-std=%s", standard_option(in));
	const char *args[] = {
		"-x", in->language == LANG_CXX ? "c++-cpp-output" : "cpp-output", standard,
		"-w", "-ferror-limit=0", "-fno-spell-checking", "-fms-extensions", "-fopenmp",
		"-Wno-error", "-fgnuc-version=12.2.0",
		"-fbracket-depth=10000",	/* gcc has no limit; behind it clang sees no function any more */
	};
	struct parsed_private *p = xcalloc(1, sizeof(*p));

	p->index = clang_createIndex(0, 0);
	setenv(HERE, "1", 1);
	parse_view(in, whole, p->index, args, ARRAY_SIZE(args), &p->unit);
	unsetenv(HERE);
	if (!p->unit) {
		clang_parse_free(p);
		return NULL;
	}
	p->policy = clang_getCursorPrintingPolicy(clang_getTranslationUnitCursor(p->unit));
	clang_PrintingPolicy_setProperty(p->policy, CXPrintingPolicy_TerseOutput, 1);
	p->text = in->text;
	p->len = in->len;
	return p;
}

char *parser_version(void)
{
	const char *why;

	return clang_calls_load(&why) ? clang_heap_text(clang_getClangVersion()) : xstrdup(why);
}

void clang_parse_free(struct parsed_private *p)
{
	if (!p)
		return;
	if (p->policy)
		clang_PrintingPolicy_dispose(p->policy);
	if (p->unit)
		clang_disposeTranslationUnit(p->unit);
	clang_disposeIndex(p->index);
	VEC_RELEASE(&p->cursors);
	VEC_RELEASE(&p->bodies);
	free(p);
}

const char *clang_text(struct arena *a, CXString s)
{
	const char *c = clang_getCString(s);
	const char *copy = arena_strdup(a, c ? c : "");

	clang_disposeString(s);
	return copy;
}

/* Names in an unnamed namespace are found without it. */
static const char *without_unnamed(struct arena *a, const char *name)
{
	static const char unnamed[] = "(anonymous namespace)::";
	_cleanup_(str_release) struct str rest = STR_INIT;

	for (const char *found; (found = strstr(name, unnamed)); name = found + strlen(unnamed))
		str_addf(&rest, "%.*s", (int)(found - name), name);
	str_add(&rest, name);
	return arena_strdup(a, str_cstr(&rest));
}

const char *clang_type_in_body(struct arena *a, CXType t)
{
	const char *name = without_unnamed(a, clang_text(a, clang_getTypeSpelling(clang_getCanonicalType(t))));

	/* A typedef of a type without a name may have one; a template's parameter has its name in the source alone. */
	if (strstr(name, "(unnamed ") || strstr(name, "(anonymous ") || strstr(name, "type-parameter-"))
		return without_unnamed(a, clang_text(a, clang_getTypeSpelling(t)));
	return name;
}

char *clang_heap_text(CXString s)
{
	const char *c = clang_getCString(s);
	char *copy = xstrdup(c ? c : "");

	clang_disposeString(s);
	return copy;
}

size_t clang_offset(CXSourceLocation at)
{
	unsigned offset;

	clang_getFileLocation(at, NULL, NULL, NULL, &offset);
	return offset;
}

size_t clang_start(CXCursor c)
{
	return clang_offset(clang_getRangeStart(clang_getCursorExtent(c)));
}

size_t clang_end(CXCursor c)
{
	return clang_offset(clang_getRangeEnd(clang_getCursorExtent(c)));
}

const char *clang_qualified_name(struct arena *a, CXCursor c)
{
	const char *name = clang_text(a, clang_getCursorSpelling(c));
	enum CXCursorKind own = clang_getCursorKind(c);

	if (own == CXCursor_Constructor || own == CXCursor_Destructor)
		name = arena_strndup(a, name, strcspn(name, "<"));	/* "Box<T>" in a template */
	for (CXCursor p = clang_getCursorSemanticParent(c);
	     !clang_Cursor_isNull(p) && clang_getCursorKind(p) != CXCursor_TranslationUnit;
	     p = clang_getCursorSemanticParent(p)) {
		enum CXCursorKind kind = clang_getCursorKind(p);
		const char *outer;

		if (kind == CXCursor_LinkageSpec || kind == CXCursor_UnexposedDecl ||
		    clang_isInvalid(kind))
			continue;
		outer = clang_text(a, clang_getCursorSpelling(p));
		if (*outer)
			name = arena_printf(a, "%s::%s", outer, name);
	}
	return name;
}

const char *clang_printed(struct arena *a, CXPrintingPolicy policy, CXCursor c)
{
	return clang_text(a, clang_getCursorPrettyPrinted(c, policy));
}

const char *clang_virtual_type(struct arena *a, CXCursor method)
{
	const char *shown, *type;

	for (;;) {
		CXCursor *overridden = NULL;
		unsigned cnt = 0;
		CXCursor next;

		clang_getOverriddenCursors(method, &overridden, &cnt);
		if (!cnt)
			break;
		next = overridden[0];
		clang_disposeOverriddenCursors(overridden);
		method = next;
	}
	shown = clang_qualified_name(a, method);
	type = clang_text(a, clang_getTypeSpelling(clang_getCanonicalType(clang_getCursorType(method))));
	return arena_printf(a, "virtual %s %s", shown, type);
}

const char *clang_function_type(struct arena *a, CXCursor f)
{
	return clang_CXXMethod_isVirtual(f) ? clang_virtual_type(a, f) :
	       clang_text(a, clang_getTypeSpelling(clang_getCanonicalType(clang_getCursorType(f))));
}

/* The part of its type after the parameters, except noexcept. */
static const char *qualifiers_of(struct arena *a, CXCursor f)
{
	const char *type = clang_function_type(a, f), *close = strrchr(type, ')'), *quiet = close ? strstr(close, " noexcept") : NULL;

	if (!close)
		return "";
	return quiet ? arena_strndup(a, close + 1, (size_t)(quiet - close - 1)) : close + 1;
}

const char *clang_signature(struct arena *a, CXCursor f)
{
	const char *name = clang_text(a, clang_getCursorSpelling(f));
	const char *shown = clang_text(a, clang_getCursorDisplayName(f));

	return starts_with(shown, name) ? arena_printf(a, "%s%s", shown + strlen(name), qualifiers_of(a, f)) : "";
}

struct child {
	CXCursor found;
	enum CXChildVisitResult go_on;	/* break: the first is wanted; continue: the last */
};

static enum CXChildVisitResult take_child(CXCursor c, CXCursor parent, CXClientData data)
{
	struct child *child = data;

	(void)parent;
	child->found = c;
	return child->go_on;
}

static CXCursor child_of(CXCursor c, enum CXChildVisitResult go_on)
{
	struct child child = { clang_getNullCursor(), go_on };

	if (!clang_Cursor_isNull(c))
		clang_visitChildren(c, take_child, &child);
	return child.found;
}

CXCursor clang_first_child(CXCursor c)
{
	return child_of(c, CXChildVisit_Break);
}

CXCursor clang_last_child(CXCursor c)
{
	return child_of(c, CXChildVisit_Continue);
}

const char *clang_pointer_call_type(struct arena *a, CXCursor call)
{
	CXCursor callee = clang_first_child(call);
	CXType t;

	if (clang_Cursor_isNull(callee))
		return NULL;
	t = clang_getCanonicalType(clang_getCursorType(callee));
	if (t.kind == CXType_LValueReference || t.kind == CXType_Pointer)
		t = clang_getCanonicalType(clang_getPointeeType(t));
	if (t.kind != CXType_FunctionProto && t.kind != CXType_FunctionNoProto)
		return NULL;
	return clang_text(a, clang_getTypeSpelling(t));
}

const char *clang_wrapped_call_type(struct arena *a, CXCursor method)
{
	CXType t;

	if (clang_getCursorKind(method) != CXCursor_CXXMethod || strcmp(clang_text(a, clang_getCursorSpelling(method)), "operator()") != 0)
		return NULL;
	t = clang_getCanonicalType(clang_getCursorType(clang_getCursorSemanticParent(method)));
	if (clang_Type_getNumTemplateArguments(t) < 1)
		return NULL;
	t = clang_getCanonicalType(clang_Type_getTemplateArgumentAsType(t, 0));
	return t.kind == CXType_FunctionProto ? clang_text(a, clang_getTypeSpelling(t)) : NULL;
}

struct taken {
	struct arena *arena;
	const char *types;		/* "int, char" */
};

static enum CXChildVisitResult take_parameter(CXCursor c, CXCursor parent, CXClientData data)
{
	struct taken *t = data;
	const char *type;

	(void)parent;
	if (clang_getCursorKind(c) != CXCursor_ParmDecl)
		return CXChildVisit_Continue;
	type = clang_text(t->arena, clang_getTypeSpelling(clang_getCanonicalType(clang_getCursorType(c))));
	t->types = *t->types ? arena_printf(t->arena, "%s, %s", t->types, type) : type;
	return CXChildVisit_Continue;
}

const char *clang_lambda_type(struct arena *a, CXCursor lambda)
{
	struct taken t = { a, "" };

	clang_visitChildren(lambda, take_parameter, &t);
	return arena_printf(a, "{lambda} (%s)", t.types);
}

bool clang_is_scalar(CXType t)
{
	switch (t.kind) {
	case CXType_Pointer:
	case CXType_Enum:
	case CXType_BlockPointer:
	case CXType_NullPtr:
		return true;
	default:
		return t.kind >= CXType_Bool && t.kind <= CXType_LongDouble;
	}
}

bool clang_is_implicit(CXCursor f)
{
	CXCursor parent = clang_getCursorSemanticParent(f);

	/* Functions that the compiler generates have the place of their class. */
	return clang_equalLocations(clang_getCursorLocation(f), clang_getCursorLocation(parent));
}

bool clang_is_c_linkage(CXCursor f)
{
	_cleanup_(freep) char *mangled = clang_heap_text(clang_Cursor_getMangling(f));

	return mangled[0] != '_' || mangled[1] != 'Z';
}

bool clang_is_qualified_call(CXCursor call)
{
	return !clang_Cursor_isDynamicCall(call);
}
