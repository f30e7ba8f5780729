/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parse_tails.c - finds calls at the end of a function, which compilers turn into jumps.
 *
 *	return n ? f(n - 1) : (g(n), h(n));	f(n - 1) and h(n)
 *	if (n) f(n - 1);			at the end of a void function, or before its return;
 *	r = f(n); break;			in a switch that "return r;" follows
 *	r = f(n); goto out;			where "out: return r;" is anywhere
 *	return n ? 1 + f(n - 1) : 0;		where f() calls itself: compilers add up in a loop
 *
 * Each statement is examined together with what follows it: more work, the return of nothing, or the return of a
 * variable.  Calls in a try block are excluded: the frame must exist when they throw.
 */
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "instrumenter/parse/parse.h"
#include "instrumenter/parse/parse_clang.h"

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

/* The first character of "left OPERATOR right"; ',' where the value is that of right. */
static char operator_of(const struct parsed_private *p, CXCursor left, CXCursor right)
{
	for (size_t i = clang_end(left); i < clang_start(right) && i < p->len; i++) {
		if (strncmp(p->text + i, "&&", 2) == 0 || strncmp(p->text + i, "||", 2) == 0)
			return ',';
		if (p->text[i] == '=' || (strchr(",+-*&|^", p->text[i]) && p->text[i + 1] != '='))
			return p->text[i];
	}
	return '\0';
}

struct after {
	enum { AFTER_MORE, AFTER_RETURN, AFTER_RESULT } what;
	CXCursor result;		/* the variable that is returned */
};

struct labels {
	struct map *of_place;		/* start of a label -> its number in items */
	VEC(struct after) items;	/* what comes from there on */
};

struct tail_walk {
	const struct parsed_private *private;
	struct parsed_tails *ret;
	struct labels *labels;
	struct after leave;		/* what follows a break */
	bool accumulates;		/* something is added to the value before it is returned */
};

static void tails_of_statement(struct tail_walk w, CXCursor c, struct after after);

static void tails_of_value(const struct tail_walk *w, CXCursor c);

/* A call whose target a template's parameter decides. */
static bool depends_on_parameter(CXCursor call)
{
	enum CXTypeKind kind = clang_getCursorType(call).kind;

	return kind == CXType_Dependent || kind == CXType_Unexposed;
}

/* table[i](x), (*f)(x), f(x) where f is a variable or a parameter. */
static bool calls_value(CXCursor call)
{
	CXCursor callee = clang_first_child(call);
	enum CXCursorKind of;

	while (clang_getCursorKind(callee) == CXCursor_UnexposedExpr)
		callee = clang_first_child(callee);
	switch (clang_getCursorKind(callee)) {
	case CXCursor_ArraySubscriptExpr:
	case CXCursor_UnaryOperator:
	case CXCursor_ParenExpr:
		return true;
	case CXCursor_DeclRefExpr:
		of = clang_getCursorKind(clang_getCursorReferenced(callee));
		return of == CXCursor_ParmDecl || of == CXCursor_VarDecl;
	default:
		return false;
	}
}

/*
 * "return x;" may be a call of a constructor or of a conversion: there x must remain alone, because it may be moved
 * from.  If such a constructor takes the result of f(), the call is f().
 */
static void tail_of_call(const struct tail_walk *w, CXCursor c)
{
	enum CXCursorKind callee = clang_getCursorKind(clang_getCursorReferenced(c));
	struct parsed_tail tail = { { clang_start(c), clang_end(c) }, clang_passes_local(w->private, c), w->accumulates,
				    depends_on_parameter(c), calls_value(c), clang_is_scalar(clang_getCanonicalType(clang_getCursorType(c))) };
	CXCursor inner = clang_last_child(c);

	if (callee != CXCursor_Constructor && callee != CXCursor_ConversionFunction)
		VEC_ADD(&w->ret->items, tail);
	else if (callee == CXCursor_Constructor && !clang_Cursor_isNull(inner) &&
		 clang_start(inner) == tail.call.start && clang_end(inner) == tail.call.end)
		tails_of_value(w, inner);
}

/*
 * Compilers turn "1 + f(n - 1)" and "f(n - 1) * n" into a loop.  The right operand is assumed to be evaluated last:
 * in "f(a) + f(b)" f(b) is the tail.
 */
static void tails_of_operation(const struct tail_walk *w, CXCursor left, CXCursor right)
{
	char operator = operator_of(w->private, left, right);
	struct tail_walk accumulating = *w;
	size_t found = w->ret->items.cnt;

	if (operator == ',')
		tails_of_value(w, right);
	if (operator == '\0' || operator == ',' || operator == '=')
		return;
	accumulating.accumulates = true;
	tails_of_value(&accumulating, right);
	if (w->ret->items.cnt == found)
		tails_of_value(&accumulating, left);
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
		if (list.items.cnt == 2)
			tails_of_operation(w, last[-1], *last);
		break;
	default:
		break;
	}
	VEC_RELEASE(&list.items);
}

/* --- statements ---------------------------------------------------------------------------- */

/* The variable that the expression consists of, without parentheses and conversions; else a null cursor. */
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

static struct after after_goto(const struct tail_walk *w, CXCursor statement)
{
	CXCursor label = clang_getCursorReferenced(clang_first_child(statement));
	uint64_t n;

	if (clang_Cursor_isNull(label) || !map_get(w->labels->of_place, clang_start(label), &n))
		return (struct after){ .what = AFTER_MORE };
	return w->labels->items.items[n];
}

/* The statement after those of a block from number i on; at its end, after. */
static struct after what_comes(const struct tail_walk *w, const struct children *block, size_t i, struct after after)
{
	for (; i < block->items.cnt; i++) {
		CXCursor next = without_labels(block->items.items[i]);

		switch (clang_getCursorKind(next)) {
		case CXCursor_NullStmt:
			break;
		case CXCursor_ReturnStmt:
			return after_return(next);
		case CXCursor_BreakStmt:
			return w->leave;
		case CXCursor_GotoStmt:
			return after_goto(w, next);
		default:
			return (struct after){ .what = AFTER_MORE };
		}
	}
	return after;
}

static void note_label(const struct tail_walk *w, CXCursor c, struct after after)
{
	uint64_t n = w->labels->items.cnt;

	if (map_get(w->labels->of_place, clang_start(c), &n)) {
		w->labels->items.items[n] = after;
		return;
	}
	map_set(w->labels->of_place, clang_start(c), n);
	VEC_ADD(&w->labels->items, after);
}

/* Notes each label of "a: b: return;". */
static void note_labels(const struct tail_walk *w, CXCursor c, struct after after)
{
	for (; !clang_Cursor_isNull(c) && clang_getCursorKind(c) == CXCursor_LabelStmt; c = clang_last_child(c))
		note_label(w, c, after);
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
	enum CXCursorKind kind = clang_getCursorKind(c);
	struct tail_walk assigned = *w;

	assigned.accumulates |= kind == CXCursor_CompoundAssignOperator;
	if (after.what == AFTER_RETURN)
		tails_of_value(w, c);
	else if (after.what == AFTER_RESULT && (kind == CXCursor_BinaryOperator || assigned.accumulates) &&
		 clang_equalCursors(variable_of(left), after.result))
		tails_of_value(&assigned, right);
}

static void tails_of_branches(const struct tail_walk *w, CXCursor c, const struct children *list, struct after after)
{
	size_t behind = past_parentheses(w->private, clang_start(c), clang_end(c));

	for (size_t i = 0; i < list->items.cnt; i++)
		if (clang_start(list->items.items[i]) >= behind)
			tails_of_statement(*w, list->items.items[i], after);
}

/* w is a copy: inside a loop or a switch, break leads elsewhere. */
static void tails_of_statement(struct tail_walk w, CXCursor c, struct after after)
{
	struct children list = children_of(c);
	struct after more = { .what = AFTER_MORE };
	size_t cnt = list.items.cnt;
	CXCursor *items = list.items.items;

	switch (clang_getCursorKind(c)) {
	case CXCursor_CompoundStmt:
		for (size_t i = 0; i < cnt; i++)
			tails_of_statement(w, items[i], what_comes(&w, &list, i + 1, after));
		for (size_t i = 0; i < cnt; i++)
			note_labels(&w, items[i], what_comes(&w, &list, i, after));
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

/* The first pass finds what follows each label; a goto that leads to a goto needs another. */
void parsed_tails(const struct parsed *p, size_t f, struct parsed_tails *ret)
{
	enum { MOST_GOTOS = 4 };	/* gotos in a row */
	struct after end = { .what = p->functions.items[f].result_is_void ? AFTER_RETURN : AFTER_MORE };
	_cleanup_(map_freep) struct map *places = map_new();
	struct labels labels = { .of_place = places };
	struct tail_walk w = { p->private, ret, &labels, { .what = AFTER_MORE }, false };
	CXCursor body = p->private->bodies.items[f];

	if (clang_Cursor_isNull(body))
		return;
	tails_of_statement(w, body, end);
	for (int i = 0; labels.items.cnt && i < MOST_GOTOS; i++) {
		ret->items.cnt = 0;
		tails_of_statement(w, body, end);
	}
	VEC_RELEASE(&labels.items);
	ret->needs_frame = ret->items.cnt && clang_has_destroyed(p->private, body);
}
