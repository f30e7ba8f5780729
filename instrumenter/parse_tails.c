/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parse_tails.c - where a function ends in a call, so that compilers make a jump of it.
 *
 *	return n ? f(n - 1) : (g(n), h(n));	f(n - 1) and h(n)
 *	if (n) f(n - 1);			at the end of a void function, or before its return;
 */
#include <string.h>
#include "base/banned.h"
#include "instrumenter/parse.h"
#include "instrumenter/parse_clang.h"

struct children {
	VEC(CXCursor) items;
};

static enum CXChildVisitResult take_child(CXCursor c, CXCursor parent, CXClientData data)
{
	struct children *list = data;

	(void)parent;
	VEC_ADD(&list->items, c);
	return CXChildVisit_Continue;
}

static struct children children_of(CXCursor c)
{
	struct children list = { { NULL, 0, 0 } };

	clang_visitChildren(c, take_child, &list);
	return list;
}

/* Is the value of "left OPERATOR right" that of right? */
static bool right_is_value(const struct parsed_private *p, CXCursor left, CXCursor right)
{
	for (size_t i = clang_end(left); i < clang_start(right) && i < p->len; i++)
		if (p->text[i] == ',' || strncmp(p->text + i, "&&", 2) == 0 || strncmp(p->text + i, "||", 2) == 0)
			return true;
	return false;
}

static void tails_of_value(const struct parsed_private *p, CXCursor c, struct ranges *ret)
{
	struct children list = children_of(c);
	CXCursor *last = list.items.cnt ? &list.items.items[list.items.cnt - 1] : NULL;

	switch (clang_getCursorKind(c)) {
	case CXCursor_CallExpr:
		VEC_ADD(&ret->items, (struct range){ clang_start(c), clang_end(c) });
		break;
	case CXCursor_UnexposedExpr:
	case CXCursor_ParenExpr:
	case CXCursor_CStyleCastExpr:
		if (last)
			tails_of_value(p, *last, ret);
		break;
	case CXCursor_ConditionalOperator:
		if (list.items.cnt == 3)
			tails_of_value(p, last[-1], ret);
		if (last)
			tails_of_value(p, *last, ret);
		break;
	case CXCursor_BinaryOperator:
		if (list.items.cnt == 2 && right_is_value(p, last[-1], *last))
			tails_of_value(p, *last, ret);
		break;
	default:
		break;
	}
	VEC_RELEASE(&list.items);
}

/* What is done last in a statement that nothing follows. */
static void tails_of_statement(const struct parsed_private *p, CXCursor c, struct ranges *ret)
{
	struct children list = children_of(c);
	size_t cnt = list.items.cnt;
	CXCursor *items = list.items.items;

	switch (clang_getCursorKind(c)) {
	case CXCursor_CompoundStmt:
		if (cnt > 1 && clang_getCursorKind(items[cnt - 1]) == CXCursor_ReturnStmt)
			tails_of_statement(p, items[cnt - 2], ret);
		else if (cnt)
			tails_of_statement(p, items[cnt - 1], ret);
		break;
	case CXCursor_LabelStmt:
		if (cnt)
			tails_of_statement(p, items[cnt - 1], ret);
		break;
	case CXCursor_IfStmt:		/* the condition, what is done, and perhaps what else is */
		for (size_t i = 1; i < cnt; i++)
			tails_of_statement(p, items[i], ret);
		break;
	default:
		tails_of_value(p, c, ret);
	}
	VEC_RELEASE(&list.items);
}

struct return_walk {
	const struct parsed_private *private;
	struct ranges *ret;
};

static enum CXChildVisitResult visit_return(CXCursor c, CXCursor parent, CXClientData data)
{
	struct return_walk *w = data;
	enum CXCursorKind kind = clang_getCursorKind(c);
	struct children list;

	(void)parent;
	if (kind == CXCursor_LambdaExpr || clang_isDeclaration(kind))
		return CXChildVisit_Continue;
	if (kind != CXCursor_ReturnStmt)
		return CXChildVisit_Recurse;
	list = children_of(c);
	if (list.items.cnt)
		tails_of_value(w->private, list.items.items[0], w->ret);
	VEC_RELEASE(&list.items);
	return CXChildVisit_Continue;
}

void parsed_tails(const struct parsed *p, size_t f, struct ranges *ret)
{
	struct return_walk w = { p->private, ret };

	clang_visitChildren(p->private->bodies.items[f], visit_return, &w);
	if (p->functions.items[f].result_is_void)
		tails_of_statement(p->private, p->private->bodies.items[f], ret);
}
