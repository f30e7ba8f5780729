/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parse_body.c - the returns and the statements of one function.
 *
 * Used only for functions that a LOC names.  A statement is a child of a {...}, or the unbraced body of an if, a
 * loop, a switch, a case or a label.  libclang gives an if's condition and its branches as equal children; a branch
 * is one that starts after the closing parenthesis:
 *
 *	if (a(b)) c(); else d();
 *	   ^condition  ^      ^ branches start after the ')' that matches the first '('
 */
#include <string.h>
#include "base/banned.h"
#include "instrumenter/parse/parse.h"
#include "instrumenter/parse/parse_clang.h"

static bool is_own_function(enum CXCursorKind k)
{
	return k == CXCursor_LambdaExpr || k == CXCursor_BlockExpr || k == CXCursor_CXXMethod ||
	       k == CXCursor_Constructor || k == CXCursor_Destructor || k == CXCursor_ClassDecl ||
	       k == CXCursor_StructDecl || k == CXCursor_ConversionFunction ||
	       k == CXCursor_FunctionTemplate;
}

static enum CXChildVisitResult visit_return(CXCursor c, CXCursor parent, CXClientData data)
{
	struct ranges *ret = data;
	enum CXCursorKind kind = clang_getCursorKind(c);

	(void)parent;
	if (is_own_function(kind))
		return CXChildVisit_Continue;
	if (kind == CXCursor_ReturnStmt)
		VEC_ADD(&ret->items, (struct text_range){ clang_start(c), clang_end(c) });
	return CXChildVisit_Recurse;
}

void parsed_returns(const struct parsed *p, size_t f, struct ranges *ret)
{
	clang_visitChildren(p->private->bodies.items[f], visit_return, ret);
}

struct statement_walk {
	const struct parsed_private *private;
	void (*visit)(const struct parsed_statement *s, void *arg);
	void *arg;
	size_t behind;			/* children that start before are not statements */
	size_t left;			/* number of further ones */
};

size_t past_parentheses(const struct parsed_private *p, size_t start, size_t end)
{
	int depth = 0;

	for (size_t i = start; i < end && i < p->len; i++) {
		char c = p->text[i];

		if (c == '"' || c == '\'') {
			for (i++; i < end && p->text[i] != c; i++)
				i += p->text[i] == '\\';
		} else if (c == '(') {
			depth++;
		} else if (c == ')' && --depth == 0) {
			return i + 1;
		}
	}
	return end;
}

/* Past the ':' of "case 1 ... 2:" or "default:" or "label:". */
static size_t past_colon(const struct parsed_private *p, size_t start, size_t end)
{
	for (size_t i = start; i < end && i < p->len; i++) {
		if (p->text[i] == '\'')		/* case ':': */
			i += p->text[i + 1] == '\\' ? 3 : 2;
		else if (p->text[i] == '?')	/* case A ? B : C: is left alone */
			return end;
		else if (p->text[i] == ':' && p->text[i + 1] == ':')
			i++;
		else if (p->text[i] == ':')
			return i + 1;
	}
	return end;
}

/* Which children of c are statements: at most `left` of them, from `behind` on. */
static void set_limits(struct statement_walk *w, CXCursor c)
{
	size_t start = clang_start(c), end = clang_end(c);

	w->behind = 0;
	w->left = SIZE_MAX;
	switch (clang_getCursorKind(c)) {
	case CXCursor_CompoundStmt:
		break;
	case CXCursor_IfStmt:
	case CXCursor_WhileStmt:
	case CXCursor_ForStmt:
	case CXCursor_CXXForRangeStmt:
	case CXCursor_SwitchStmt:
		w->behind = past_parentheses(w->private, start, end);
		break;
	case CXCursor_DoStmt:			/* do BODY while (CONDITION) */
		w->left = 1;
		break;
	case CXCursor_CaseStmt:
	case CXCursor_DefaultStmt:
	case CXCursor_LabelStmt:
		w->behind = past_colon(w->private, start, end);
		break;
	default:
		w->left = 0;
	}
}

static enum CXChildVisitResult visit_statement(CXCursor c, CXCursor parent, CXClientData data)
{
	struct statement_walk *w = data;
	struct statement_walk below = *w;
	size_t start = clang_start(c);

	if (is_own_function(clang_getCursorKind(c)))
		return CXChildVisit_Continue;
	if (start >= w->behind && w->left) {
		struct parsed_statement s = {
			{ start, clang_end(c) }, clang_getCursorKind(parent) == CXCursor_CompoundStmt,
		};

		w->left--;
		w->visit(&s, w->arg);
	}
	set_limits(&below, c);
	clang_visitChildren(c, visit_statement, &below);
	return CXChildVisit_Continue;
}

void parsed_statements(const struct parsed *p, size_t f,
		       void (*visit)(const struct parsed_statement *s, void *arg), void *arg)
{
	CXCursor body = p->private->bodies.items[f];
	struct statement_walk w = { .private = p->private, .visit = visit, .arg = arg };

	set_limits(&w, body);
	clang_visitChildren(body, visit_statement, &w);
}
