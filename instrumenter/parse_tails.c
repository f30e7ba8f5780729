/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parse_tails.c - where a function ends in a call, so that compilers make a jump of it.
 *
 *	return n ? f(n - 1) : (g(n), h(n));	f(n - 1) and h(n)
 *	if (n) f(n - 1);			at the end of a void function, or before its return;
 *	r = f(n); break;			in a switch that "return r;" follows
 *
 * Each statement is looked at with what follows it: more work, the return of nothing, or the return of a variable. Calls in
 * a try block are none of these: the frame has to be there when they throw.
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

struct after {
	enum { AFTER_MORE, AFTER_RETURN, AFTER_RESULT } what;
	CXCursor result;		/* the variable that is returned */
};

struct tail_walk {
	const struct parsed_private *private;
	struct parsed_tails *ret;
	struct after leave;		/* what follows a break */
};

static void tails_of_statement(struct tail_walk w, CXCursor c, struct after after);

static void tails_of_value(const struct tail_walk *w, CXCursor c);

/*
 * "return x;" may be a call of a constructor or of a conversion: there x has to stay alone, for it may be moved from.
 * Where such a one takes what f() returned, the call is f().
 */
static void tail_of_call(const struct tail_walk *w, CXCursor c)
{
	enum CXCursorKind callee = clang_getCursorKind(clang_getCursorReferenced(c));
	struct parsed_tail tail = { { clang_start(c), clang_end(c) }, clang_passes_local(w->private, c) };
	CXCursor inner = clang_last_child(c);

	if (callee != CXCursor_Constructor && callee != CXCursor_ConversionFunction)
		VEC_ADD(&w->ret->items, tail);
	else if (callee == CXCursor_Constructor && !clang_Cursor_isNull(inner) &&
		 clang_start(inner) == tail.call.start && clang_end(inner) == tail.call.end)
		tails_of_value(w, inner);
}

static void tails_of_value(const struct tail_walk *w, CXCursor c)
{
	struct children list = children_of(c);
	CXCursor *last = list.items.cnt ? &list.items.items[list.items.cnt - 1] : NULL;

	switch (clang_getCursorKind(c)) {
	case CXCursor_CallExpr:
		tail_of_call(w, c);
		break;
	case CXCursor_UnexposedExpr:
	case CXCursor_ParenExpr:
	case CXCursor_CStyleCastExpr:
	case CXCursor_CXXStaticCastExpr:
		if (last)
			tails_of_value(w, *last);
		break;
	case CXCursor_ConditionalOperator:
		if (list.items.cnt == 3)
			tails_of_value(w, last[-1]);
		if (last)
			tails_of_value(w, *last);
		break;
	case CXCursor_BinaryOperator:
		if (list.items.cnt == 2 && right_is_value(w->private, last[-1], *last))
			tails_of_value(w, *last);
		break;
	default:
		break;
	}
	VEC_RELEASE(&list.items);
}

/* --- statements ---------------------------------------------------------------------------- */

/* The variable that an expression is, without parentheses and conversions; else a null cursor. */
static CXCursor variable_of(CXCursor c)
{
	enum CXCursorKind kind = clang_getCursorKind(c);

	while (kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr || kind == CXCursor_CStyleCastExpr) {
		c = clang_first_child(c);
		kind = clang_getCursorKind(c);
	}
	return kind == CXCursor_DeclRefExpr ? clang_getCursorReferenced(c) : clang_getNullCursor();
}

static struct after after_return(CXCursor statement)
{
	CXCursor value = clang_first_child(statement), variable;

	if (clang_Cursor_isNull(value))
		return (struct after){ .what = AFTER_RETURN };
	variable = variable_of(value);
	if (clang_Cursor_isNull(variable) || !clang_is_local(variable))
		return (struct after){ .what = AFTER_MORE };
	return (struct after){ AFTER_RESULT, variable };
}

/* "out: return;" is a return. */
static CXCursor without_labels(CXCursor c)
{
	for (;;) {
		enum CXCursorKind kind = clang_getCursorKind(c);

		if (kind != CXCursor_LabelStmt && kind != CXCursor_CaseStmt && kind != CXCursor_DefaultStmt)
			return c;
		c = clang_last_child(c);
	}
}

/* What follows statement i of a block, which after follows. */
static struct after what_follows(const struct tail_walk *w, const struct children *block, size_t i, struct after after)
{
	while (++i < block->items.cnt) {
		CXCursor next = without_labels(block->items.items[i]);

		switch (clang_getCursorKind(next)) {
		case CXCursor_NullStmt:
			break;
		case CXCursor_ReturnStmt:
			return after_return(next);
		case CXCursor_BreakStmt:
			return w->leave;
		default:
			return (struct after){ .what = AFTER_MORE };
		}
	}
	return after;
}

/* "long r = f(n);", where "return r;" follows */
static void tails_of_declaration(const struct tail_walk *w, CXCursor c, struct after after)
{
	CXCursor variable = clang_last_child(c), value;

	if (after.what != AFTER_RESULT || !clang_equalCursors(variable, after.result))
		return;
	value = clang_last_child(variable);
	if (!clang_Cursor_isNull(value))
		tails_of_value(w, value);
}

static void tails_of_expression(const struct tail_walk *w, CXCursor c, struct after after)
{
	CXCursor left = clang_first_child(c), right = clang_last_child(c);

	if (after.what == AFTER_RETURN)
		tails_of_value(w, c);
	else if (after.what == AFTER_RESULT && clang_getCursorKind(c) == CXCursor_BinaryOperator &&
		 clang_equalCursors(variable_of(left), after.result))
		tails_of_value(w, right);
}

static void tails_of_branches(const struct tail_walk *w, CXCursor c, const struct children *list, struct after after)
{
	size_t behind = past_parentheses(w->private, clang_start(c), clang_end(c));

	for (size_t i = 0; i < list->items.cnt; i++)
		if (clang_start(list->items.items[i]) >= behind)
			tails_of_statement(*w, list->items.items[i], after);
}

/* w is a copy: inside a loop or a switch, break means another place. */
static void tails_of_statement(struct tail_walk w, CXCursor c, struct after after)
{
	struct children list = children_of(c);
	struct after more = { .what = AFTER_MORE };
	size_t cnt = list.items.cnt;
	CXCursor *items = list.items.items;

	switch (clang_getCursorKind(c)) {
	case CXCursor_CompoundStmt:
		for (size_t i = 0; i < cnt; i++)
			tails_of_statement(w, items[i], what_follows(&w, &list, i, after));
		break;
	case CXCursor_LabelStmt:
	case CXCursor_CaseStmt:
	case CXCursor_DefaultStmt:
	case CXCursor_UnexposedStmt:
		if (cnt)
			tails_of_statement(w, items[cnt - 1], after);
		break;
	case CXCursor_IfStmt:
		tails_of_branches(&w, c, &list, after);
		break;
	case CXCursor_SwitchStmt:
		w.leave = after;
		tails_of_branches(&w, c, &list, after);
		break;
	case CXCursor_WhileStmt:
	case CXCursor_ForStmt:
	case CXCursor_CXXForRangeStmt:
		w.leave = after;
		if (cnt)
			tails_of_statement(w, items[cnt - 1], more);
		break;
	case CXCursor_DoStmt:
		w.leave = after;
		if (cnt)
			tails_of_statement(w, items[0], more);
		break;
	case CXCursor_ReturnStmt:
		if (cnt)
			tails_of_value(&w, items[0]);
		break;
	case CXCursor_DeclStmt:
		tails_of_declaration(&w, c, after);
		break;
	default:
		if (clang_isExpression(clang_getCursorKind(c)))
			tails_of_expression(&w, c, after);
	}
	VEC_RELEASE(&list.items);
}

void parsed_tails(const struct parsed *p, size_t f, struct parsed_tails *ret)
{
	struct after end = { .what = p->functions.items[f].result_is_void ? AFTER_RETURN : AFTER_MORE };
	struct tail_walk w = { p->private, ret, { .what = AFTER_MORE } };
	CXCursor body = p->private->bodies.items[f];

	if (clang_Cursor_isNull(body))
		return;
	tails_of_statement(w, body, end);
	ret->needs_frame = ret->items.cnt && clang_has_destroyed(p->private, body);
}
