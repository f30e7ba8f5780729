/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dialect.c - language extensions of gcc and newer compilers that libclang 14 does not know.
 *
 * A text that g++ preprocessed holds what libstdc++ writes for g++.  One word of it, __integer_pack, is what
 * std::make_index_sequence consists of: without it std::visit, std::apply and std::async of the user's own code have
 * no meaning for libclang.  So it gets to see
 *
 *	= __make_integer_seq<integer_sequence,_Tp,_Num> ;	instead of
 *	= integer_sequence<_Tp, __integer_pack(_Num)...>;
 *
 * of the same length.  Everything else is a declaration or a macro of a file that the view includes in place of its
 * second line, the marker of <built-in>.
 */
#include <string.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "instrumenter/parse/dialect.h"

static const struct {
	const char *theirs, *ours;	/* ours is not longer */
} spellings[] = {
	{ "integer_sequence<_Tp, __integer_pack(_Num)...>", "__make_integer_seq<integer_sequence,_Tp,_Num>" },
	{ "_Index_tuple<__integer_pack(_Num)...>", "__make_integer_seq<_Ours,size_t,_Num>" },
};

static const char cxx_prologue[] =
	"typedef long double __float80;\n"
	"namespace std {\n"
	"template<__SIZE_TYPE__...> struct _Index_tuple;\n"
	"template<typename T, T... I> using _Ours = _Index_tuple<I...>;\n"
	"}\n"
	"#if !__has_builtin(__is_layout_compatible)\n"
	"#define __is_layout_compatible(...) false\n"
	"#define __builtin_is_corresponding_member(...) false\n"
	"#endif\n"
	"#if !__has_builtin(__is_pointer_interconvertible_base_of)\n"
	"#define __is_pointer_interconvertible_base_of(...) false\n"
	"#define __builtin_is_pointer_interconvertible_with_class(...) false\n"
	"#endif\n";

/* For clang these are names, which glibc's headers declare if the compiler is no gcc. */
static const char c_prologue[] =
	"typedef float _Float32;\n"
	"typedef double _Float64;\n"
	"typedef double _Float32x;\n"
	"typedef long double _Float64x;\n"
	"typedef __float128 _Float128;\n"
	"typedef long double __float80;\n";

/* C23's own words, and C11's under their new names. */
static const char c23_prologue[] =
	"#if __STDC_VERSION__ < 202311L\n"
	"#define true 1\n"
	"#define false 0\n"
	"#define bool _Bool\n"
	"#define nullptr ((void *)0)\n"
	"typedef __typeof__((void *)0) nullptr_t;\n"
	"#define static_assert _Static_assert\n"
	"#define thread_local _Thread_local\n"
	"#define alignas _Alignas\n"
	"#define alignof _Alignof\n"
	"#define typeof __typeof__\n"
	"#define typeof_unqual __typeof__\n"
	"#define constexpr const\n"
	"#endif\n";

static void put_over(char *at, size_t len, const char *ours)
{
	memset(at, ' ', len);
	memcpy(at, ours, strlen(ours));
}

static void use_our_spellings(char *text, size_t len)
{
	char *end = text + len;

	for (char *p = text; (p = memmem(p, (size_t)(end - p), "__integer_pack", 14)); p++)
		for (size_t i = 0; i < ARRAY_SIZE(spellings); i++) {
			const char *theirs = spellings[i].theirs;
			size_t before = (size_t)(strstr(theirs, "__integer_pack") - theirs);

			if ((size_t)(p - text) < before || strncmp(p - before, theirs, strlen(theirs)) != 0)
				continue;
			put_over(p - before, strlen(theirs), spellings[i].ours);
			break;
		}
}

/* Past a string, a character or a line that begins with '#'; p itself if there is none. */
static char *past_quoted(char *p, const char *end, bool line_starts)
{
	char quote = *p;

	if (quote == '#' && line_starts) {
		char *newline = memchr(p, '\n', (size_t)(end - p));

		return newline ? newline : p + (end - p);
	}
	if (quote != '"' && quote != '\'')
		return p;
	for (p++; p < end && *p != quote && *p != '\n'; p++)
		p += *p == '\\' && p + 1 < end;
	return p < end ? p + 1 : p;
}

/*
 * GNU C's forward declarations of parameters: int f(int n; int a[n], int n).  clang loses all functions behind one.  Outside
 * of braces nothing else has a ';' in parentheses.
 */
static void blank_forward_parameters(char *text, size_t len)
{
	char *end = text + len, *open = NULL, *next;
	size_t braces = 0, parentheses = 0;
	bool line_starts = true;

	for (char *p = text; p < end; p = next == p ? p + 1 : next) {
		next = past_quoted(p, end, line_starts);
		line_starts = *p == '\n' || (line_starts && (*p == ' ' || *p == '\t'));
		if (next != p)
			continue;
		braces += *p == '{';
		braces -= *p == '}' && braces;
		parentheses += *p == '(';
		parentheses -= *p == ')' && parentheses;
		if (*p == '(')
			open = p;
		if (*p == ';' && !braces && parentheses && open)
			for (char *b = open + 1; b <= p; b++)
				*b = *b == '\n' ? '\n' : ' ';
	}
}

/* Only a line marker has room for it, and only before any other text. */
static void include_prologue(char *text)
{
	static const char line[] = "#include \"" DIALECT_FILE "\"";
	char *second = text[0] == '#' ? strchr(text, '\n') : NULL;
	size_t len = second ? strcspn(++second, "\n") : 0;

	if (len >= strlen(line) && starts_with(second, "# "))
		put_over(second, len, line);
}

char *dialect_view(const char *text, size_t len, enum language language)
{
	char *view = xstrndup(text, len);

	if (language == LANG_CXX)
		use_our_spellings(view, len);
	else
		blank_forward_parameters(view, len);
	include_prologue(view);
	return view;
}

char *dialect_prologue(enum language language, const char *standard)
{
	bool is_c23 = standard && (ends_with(standard, "2x") || ends_with(standard, "23") ||
				   ends_with(standard, "2y"));

	if (language == LANG_CXX)
		return xstrdup(cxx_prologue);
	return xasprintf("%s%s", c_prologue, is_c23 ? c23_prologue : "");
}
