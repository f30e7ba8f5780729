/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parse_frames.c - what keeps a function's frame until its last call has returned, so that compilers make no jump.
 *
 *	struct conn c; return handle(&c);		handle() may use what is in the frame
 *	std::lock_guard<std::mutex> l(m); return work();	the destructor runs after work()
 *
 * If in doubt, the answer is no: then a span ends slightly early, which is harmless.
 */
#include <string.h>
#include "base/banned.h"
#include "instrumenter/parse/parse_clang.h"

/* A variable in the frame of a function: no static one, no global one. */
bool clang_is_local(CXCursor variable)
{
	enum CXCursorKind kind = clang_getCursorKind(variable);
	enum CX_StorageClass storage;

	if (kind == CXCursor_ParmDecl)
		return true;
	storage = clang_Cursor_getStorageClass(variable);
	return kind == CXCursor_VarDecl && storage != CX_SC_Static && storage != CX_SC_Extern &&
	       clang_getCursorLinkage(variable) == CXLinkage_NoLinkage;
}

struct search {
	const struct parsed_private *private;
	bool found;
};

/* "x", "x.part", "x.row[2]", where x is a local variable; not "p->part", "*p". */
static bool is_in_frame(const struct parsed_private *p, CXCursor c)
{
	size_t start = clang_start(c), end = clang_end(c);
	size_t name = start;

	while (name < end && strchr("&( \t\n", p->text[name]))
		name++;
	if (memmem(p->text + start, end - start, "->", 2) || p->text[name] == '*')
		return false;
	for (;;) {
		CXCursor first = clang_first_child(c);
		enum CXCursorKind kind = clang_getCursorKind(c);

		if (kind == CXCursor_DeclRefExpr)
			break;
		if (clang_Cursor_isNull(first) || kind == CXCursor_CallExpr)
			return false;
		c = first;
	}
	return clang_is_local(clang_getCursorReferenced(c));
}

static bool is_local_array(CXCursor c)
{
	CXCursor to = clang_getCursorReferenced(c);

	return clang_is_local(to) && clang_getCursorKind(to) == CXCursor_VarDecl &&
	       clang_getCanonicalType(clang_getCursorType(to)).kind == CXType_ConstantArray;
}

static enum CXChildVisitResult visit_argument(CXCursor c, CXCursor parent, CXClientData data)
{
	struct search *s = data;
	enum CXCursorKind kind = clang_getCursorKind(c), of = clang_getCursorKind(parent);
	size_t start = clang_start(c);

	if (kind == CXCursor_UnaryOperator && start < s->private->len && s->private->text[start] == '&')
		s->found |= is_in_frame(s->private, c);
	if (kind == CXCursor_DeclRefExpr && of != CXCursor_ArraySubscriptExpr)
		s->found |= is_local_array(c);
	return s->found ? CXChildVisit_Break :
	       kind == CXCursor_ArraySubscriptExpr || kind == CXCursor_LambdaExpr ? CXChildVisit_Continue :
	       CXChildVisit_Recurse;
}

bool clang_passes_local(const struct parsed_private *p, CXCursor call)
{
	struct search s = { p, false };

	clang_visitChildren(call, visit_argument, &s);
	return s.found;
}

/* --- destructors ------------------------------------------------------------------------- */

#define DEEPEST 6		/* members of members */

struct record_search {
	int depth;
	bool found;
};

static bool is_destroyed(CXType t, int depth);

static enum CXChildVisitResult visit_member(CXCursor c, CXCursor parent, CXClientData data)
{
	struct record_search *s = data;
	enum CXCursorKind kind = clang_getCursorKind(c);

	(void)parent;
	if (kind == CXCursor_Destructor)
		s->found = !clang_CXXMethod_isDefaulted(c);
	else if (kind == CXCursor_FieldDecl || kind == CXCursor_CXXBaseSpecifier)
		s->found = is_destroyed(clang_getCursorType(c), s->depth + 1);
	return s->found ? CXChildVisit_Break : CXChildVisit_Continue;
}

/* Whether leaving its scope runs a destructor. */
static bool is_destroyed(CXType t, int depth)
{
	struct record_search s = { depth, false };
	CXCursor class, pattern;

	t = clang_getCanonicalType(t);
	if (t.kind != CXType_Record || depth > DEEPEST)
		return false;
	class = clang_getTypeDeclaration(t);
	pattern = clang_getSpecializedCursorTemplate(class);
	if (clang_Cursor_isNull(pattern))
		pattern = class;
	clang_visitChildren(pattern, visit_member, &s);
	return s.found;
}

/* __attribute__((cleanup(f))), which may precede the type or follow the name. */
static bool has_cleanup(CXCursor variable)
{
	CXString text;
	bool found;

	if (!clang_Cursor_hasAttrs(variable))
		return false;
	text = clang_getCursorPrettyPrinted(variable, NULL);
	found = strstr(clang_getCString(text), "cleanup(") != NULL;
	clang_disposeString(text);
	return found;
}

static enum CXChildVisitResult visit_variable(CXCursor c, CXCursor parent, CXClientData data)
{
	struct search *s = data;
	enum CXCursorKind kind = clang_getCursorKind(c);

	(void)parent;
	if (kind == CXCursor_LambdaExpr || kind == CXCursor_ClassDecl || kind == CXCursor_StructDecl)
		return CXChildVisit_Continue;
	if (kind == CXCursor_VarDecl && clang_is_local(c))
		s->found |= has_cleanup(c) || is_destroyed(clang_getCursorType(c), 0);
	return s->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

bool clang_has_destroyed(const struct parsed_private *p, CXCursor body)
{
	struct search s = { p, false };

	clang_visitChildren(body, visit_variable, &s);
	return s.found;
}
