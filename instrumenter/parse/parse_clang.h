/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parse_clang.h - small helpers over libclang's C API, for parse*.c only.
 *
 * Text goes into the given arena.  Offsets are those of the preprocessed text.
 */
#ifndef INSTRUMENTER_PARSE_PARSE_CLANG_H
#define INSTRUMENTER_PARSE_PARSE_CLANG_H

#include <clang-c/Index.h>
#include "instrumenter/parse/clang_calls.h"
#include "instrumenter/parse/parse.h"

struct parsed_private {
	CXIndex index;
	CXTranslationUnit unit;
	CXPrintingPolicy policy;
	VEC(CXCursor) cursors, bodies;	/* of the functions */
	const char *text;		/* the caller's */
	size_t len;
};

/* whole: includes the bodies of system headers' functions (foreign_bodies.h).  NULL: libclang failed. */
struct parsed_private *clang_parse(const struct parse_input *in, bool whole);
void clang_parse_free(struct parsed_private *p);

const char *clang_text(struct arena *a, CXString s);
char *clang_heap_text(CXString s);
/* A name by which a function's body can call the type, whatever a variable there hides: "long", not "T", in T f(char T). */
const char *clang_type_in_body(struct arena *a, CXType t);
size_t clang_offset(CXSourceLocation at);
size_t clang_start(CXCursor c);
size_t clang_end(CXCursor c);

/* "ns::Class::method"; "f" in C. */
const char *clang_qualified_name(struct arena *a, CXCursor c);

/* "(int, char) const" */
const char *clang_signature(struct arena *a, CXCursor function);

/* Canonical; of virtual methods as below. */
const char *clang_function_type(struct arena *a, CXCursor function);

const char *clang_printed(struct arena *a, CXPrintingPolicy policy, CXCursor c);

/* "virtual Base::method(int)": the same for every method that overrides the same one. */
const char *clang_virtual_type(struct arena *a, CXCursor method);

/* Canonical type of the functions that a call through a pointer can reach, or NULL. */
const char *clang_pointer_call_type(struct arena *a, CXCursor call);
/* ... that a call of a wrapper of functions, as std::function<void (int)>::operator(), can reach; NULL: the method is none. */
const char *clang_wrapped_call_type(struct arena *a, CXCursor method);
/* "{lambda} (int, char)": what it takes; what it returns is nowhere. */
const char *clang_lambda_type(struct arena *a, CXCursor lambda);

CXCursor clang_first_child(CXCursor c);			/* or a null cursor */
CXCursor clang_last_child(CXCursor c);

/* parse_body.c: past the ')' that matches the first '(' at or after start. */
size_t past_parentheses(const struct parsed_private *p, size_t start, size_t end);

/* parse_frames.c */
bool clang_is_local(CXCursor variable);
bool clang_passes_local(const struct parsed_private *p, CXCursor call);
bool clang_has_destroyed(const struct parsed_private *p, CXCursor body);	/* the body declares a variable with a
										 * destructor */

bool clang_is_scalar(CXType canonical);
bool clang_is_implicit(CXCursor function);		/* made by the compiler: no source */
bool clang_is_c_linkage(CXCursor function);
bool clang_is_qualified_call(CXCursor call);		/* Base::f(): not virtual */

#endif
