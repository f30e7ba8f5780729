/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parse.h - what libclang sees in a preprocessed text, as plain data.
 *
 * parse.c is the only file that knows libclang; offsets count bytes of the text.
 */
#ifndef INSTRUMENTER_PARSE_PARSE_H
#define INSTRUMENTER_PARSE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "instrumenter/parse/command.h"
#include "instrumenter/text/lines.h"

struct parsed_parameter {
	const char *name;		/* "" if it has none */
	const char *type;		/* as spelled */
	bool is_record;			/* struct, union or class by value */
	char kind;			/* of its canonical type: p pointer or array, i integer, bool or enum, s structure; r
					 * reference; ? depends on a template's parameter; . anything else */
};

/* A function definition outside foreign headers. */
struct parsed_function {
	const char *name;		/* qualified in C++ */
	const char *signature;		/* what its overloads differ in: "(int, char) const"; NULL in C and of lambdas */
	size_t offset;			/* of its name */
	size_t body, body_end;		/* of the '{', and past the '}'; body 0: there is none */
	size_t end;			/* past the whole definition */
	bool is_static, is_extern;	/* is_extern: the word stands there */
	bool is_inline, is_lambda, is_defaulted;
	bool is_misread;		/* libclang lost its way in it */
	bool throws;			/* something besides its calls may throw: throw, new, dynamic_cast ... */
	const char *early;		/* NULL, or why it may run before the program is relocated (resolvers.c) */
	const char *printed;		/* the declaration with its attributes, without body */
	const char *type;		/* canonical; "virtual Base::f(int)" of a virtual method */
	bool is_virtual;
	const char *result;		/* its type, for the text of the body */
	bool result_is_void, result_is_scalar;
	VEC(struct parsed_parameter) parameters;
};

struct parsed_call {
	size_t caller;			/* index into functions */
	size_t offset, end;
	const char *callee;		/* NULL: through a pointer, or virtual */
	size_t callee_body;		/* offset of the callee's '{' if the unit defines it, else 0 */
	bool callee_static, callee_foreign;
	bool never_throws;		/* its declaration says so */
	bool is_scalar, is_void;	/* its value */
	const char *type;		/* what a target's type must be; NULL in C where there is a callee */
};

/* A function declaration anywhere, also in foreign headers, whose name was asked for. */
struct parsed_prototype {
	const char *name;
	size_t offset;
	bool foreign, defined, c_linkage, variadic;
	bool renamed;			/* __asm__("other_name") */
	const char *result;
	bool result_is_void, result_is_record;
	VEC(struct parsed_parameter) parameters;
};

struct text_range {
	size_t start, end;
};

struct parsed_statement {
	struct text_range range;		/* end: past the last token, without the ';' */
	bool in_block;			/* its parent is a {...}: something may stand before it */
};

struct parsed {
	struct arena *arena;
	VEC(struct parsed_function) functions;
	VEC(struct parsed_call) calls;
	VEC(const char *) address_taken;
	VEC(struct parsed_prototype) prototypes;
	VEC(const char *) resolvers;	/* of ifuncs */
	VEC(const char *) externals;	/* functions also declared without inline, or with extern */
	/* NULL, or the first error in the project's own code.  Functions whose bodies disagree with the braces are
	 * marked (is_misread); the others have correct places, but calls may be missing. */
	const char *error;
	size_t error_offset;
	struct parsed_private *private;
};

struct parse_input {
	const char *path;		/* of the text, for libclang's own use */
	const char *text;
	size_t len;
	enum language language;
	const char *standard;		/* value of -std=, NULL */
	const struct lines *lines;
	bool (*wants_prototype)(const char *name, void *arg);
	void *arg;
};

/* NULL if libclang could not parse at all. */
struct parsed *parse_text(const struct parse_input *in);
void parsed_free(struct parsed *p);

/* The parser: "Debian clang version 14.0.6"; the caller frees it. */
char *parser_version(void);
DEFINE_CLEANUP(struct parsed *, parsed_free);

/* The name of functions.items[f] for the linker, "" if that is unknown; the caller frees it. */
char *parsed_symbol(const struct parsed *p, size_t f);

/* The return statements of functions.items[f], not those of lambdas and classes inside it. */
struct ranges {
	VEC(struct text_range) items;
};
void parsed_returns(const struct parsed *p, size_t f, struct ranges *ret);

/* The calls at the end of functions.items[f]; the caller releases ret->items. */
struct parsed_tail {
	struct text_range call;
	bool passes_local;		/* the address of a variable of the caller's frame is among the arguments */
	bool accumulates;		/* "1 + f()": a jump only where f() is the function itself */
	bool depends;			/* on a template's parameter: the callee is unknown */
	bool calls_value;		/* of a variable or an expression, not a function by its name */
	bool is_scalar;			/* its value is a number or a pointer */
};
struct parsed_tails {
	VEC(struct parsed_tail) items;
	bool needs_frame;		/* destructors run after the call */
};
void parsed_tails(const struct parsed *p, size_t f, struct parsed_tails *ret);

/* Calls visit for each statement inside the body of functions.items[f], in text order. */
void parsed_statements(const struct parsed *p, size_t f,
		       void (*visit)(const struct parsed_statement *s, void *arg), void *arg);

#endif
