/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * str.h - a growable string, always NUL-terminated once something was added.
 *
 *	_cleanup_(str_release) struct str s = STR_INIT;
 *	str_addf(&s, "%s:%u", file, line);
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
	char *data;		/* NULL while empty; str_cstr() never is */
	size_t len, cap;
};

#define STR_INIT { NULL, 0, 0 }

void str_release(struct str *s);		/* also a _cleanup_ function */
void str_reset(struct str *s);			/* len = 0, memory kept */
void str_add(struct str *s, const char *text);
void str_addn(struct str *s, const char *bytes, size_t len);
void str_addc(struct str *s, char c);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_vaddf(struct str *s, const char *fmt, va_list ap);
const char *str_cstr(const struct str *s);
char *str_take(struct str *s);			/* the caller frees it; s is empty again */

/* Quote for POSIX sh, so that the text can be pasted into a terminal. */
void str_add_shell_quoted(struct str *s, const char *word);

/* "2.22 ms", "374 µs" (without utf8 "374 us"), "8.50 ns": three digits; a string of buf. */
enum { TEXT_MAX = 64 };
const char *text_ns(char buf[TEXT_MAX], double ns, bool utf8);
const char *text_cnt(char buf[TEXT_MAX], uint64_t cnt);		/* "4,000" */

bool starts_with(const char *s, const char *prefix);
bool ends_with(const char *s, const char *suffix);

/* The candidate nearest to word (the same but for case, or edit distance at most 1/3 of its length), or NULL. */
const char *nearest_word(const char *word, const char *const *candidates, size_t cnt);

#endif
