/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_calls.c - system calls that a unit makes by an instruction of its own, in text that the compiler sees.
 *
 *	__asm__ volatile("syscall" : "=a"(r) : "0"(n), "D"(a) : "rcx", "r11", "memory");
 * becomes
 *	__asm__ volatile("cmpq $0, vprof_own_call@GOTPCREL(%%rip) ... jmp *vprof_own_call@GOTPCREL(%%rip); 9915: " "syscall"
 *			 : ... the same ...);
 *
 * which, if there is a runtime, goes to runtime/wrappers/own_stub.c with the instruction's address in rcx.  Applies
 * only to a template that is that one instruction and declares that rcx and r11 change: then the edit changes no
 * further register.
 *
 * Left alone: `asm goto`, templates with more in them, Intel's syntax, 32 bits; and units whose text vprof does not
 * edit at all.
 */
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "instrumenter/insert/instrument.h"

/* Precedes the template; no other label has this number. */
#define BEFORE \
	"\".weak vprof_own_call\\n\\tcmpq $0, vprof_own_call@GOTPCREL(%%rip)\\n\\tje 9915f\\n\\t" \
	"leaq 9915f(%%rip), %%rcx\\n\\tjmp *vprof_own_call@GOTPCREL(%%rip)\\n9915:\\t\" "

struct cursor {
	const char *at, *end;
};

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Preprocessed text has no comments, but has line markers. */
static void skip_space(struct cursor *c)
{
	bool starts_line = false;

	for (; c->at < c->end; c->at++) {
		if (*c->at == '#' && starts_line)
			while (c->at < c->end && *c->at != '\n')
				c->at++;
		if (c->at == c->end || !is_space(*c->at))
			return;
		starts_line = *c->at == '\n';
	}
}

static bool take(struct cursor *c, const char *text)
{
	size_t len = strlen(text);

	skip_space(c);
	if ((size_t)(c->end - c->at) < len || memcmp(c->at, text, len) != 0)
		return false;
	c->at += len;
	return true;
}

static bool take_word(struct cursor *c, const char *word)
{
	struct cursor before = *c;

	if (take(c, word) && (c->at == c->end || !is_word(*c->at)))
		return true;
	*c = before;
	return false;
}

/* A string literal; its bytes between the quotes. */
static bool take_string(struct cursor *c, const char **ret, size_t *ret_len)
{
	if (!take(c, "\""))
		return false;
	*ret = c->at;
	for (; c->at < c->end && *c->at != '"' && *c->at != '\n'; c->at++)
		if (*c->at == '\\' && c->at + 1 < c->end)
			c->at++;
	if (c->at >= c->end || *c->at != '"')
		return false;
	*ret_len = (size_t)(c->at++ - *ret);
	return true;
}

/* "syscall", with blanks, "\n\t" or ';' around it. */
static bool is_the_instruction(const char *text, size_t len)
{
	static const char name[] = "syscall";
	size_t found = 0;

	for (size_t i = 0; i < len; i++) {
		if (is_space(text[i]) || text[i] == ';')
			continue;
		if (text[i] == '\\' && i + 1 < len && (text[i + 1] == 'n' || text[i + 1] == 't')) {
			i++;
			continue;
		}
		if (found || len - i < strlen(name) || memcmp(&text[i], name, strlen(name)) != 0)
			return false;
		found = 1;
		i += strlen(name) - 1;
	}
	return found;
}

/* The template: one literal with the instruction; further literals must be empty. */
static bool take_template(struct cursor *c)
{
	bool found = false;
	const char *text;
	size_t len;

	for (skip_space(c); c->at < c->end && *c->at == '"'; skip_space(c)) {
		if (!take_string(c, &text, &len))
			return false;
		if (is_the_instruction(text, len)) {
			if (found)
				return false;
			found = true;
		} else {
			for (size_t i = 0; i < len; i++)
				if (!is_space(text[i]) && text[i] != ';' && text[i] != '\\' && text[i] != 'n' &&
				    text[i] != 't')
					return false;
		}
	}
	return found;
}

static bool is_register(const char *text, size_t len, const char *name)
{
	if (len && *text == '%') {
		text++;
		len--;
	}
	return len == strlen(name) && memcmp(text, name, len) == 0;
}

/* From the first ':' to the ')': both registers are among the strings.  C++ may write the colons together. */
static bool changes_registers(struct cursor *c)
{
	bool rcx = false, r11 = false;
	int depth = 1;

	while (c->at < c->end && depth) {
		const char *text;
		size_t len;

		if (*c->at == '"') {
			if (!take_string(c, &text, &len))
				return false;
			rcx |= is_register(text, len, "rcx") || is_register(text, len, "cx") || is_register(text, len, "ecx");
			r11 |= is_register(text, len, "r11");
			continue;
		}
		depth += (*c->at == '(') - (*c->at == ')');
		c->at++;
	}
	return !depth && rcx && r11;
}

/* Behind the word asm.  Where the template begins, or NULL. */
static const char *own_call_at(struct cursor c)
{
	const char *start;

	while (take_word(&c, "volatile") || take_word(&c, "__volatile__") || take_word(&c, "__volatile") ||
	       take_word(&c, "inline") || take_word(&c, "__inline__") || take_word(&c, "__inline"))
		;
	if (!take(&c, "("))
		return NULL;
	skip_space(&c);
	start = c.at;
	if (!take_template(&c))
		return NULL;
	skip_space(&c);
	return c.at < c.end && *c.at == ':' && changes_registers(&c) ? start : NULL;
}

static bool has_word(const char *const *argv, const char *word)
{
	for (; *argv; argv++)
		if (strcmp(*argv, word) == 0)
			return true;
	return false;
}

static bool is_for_this_machine(const struct unit *u)
{
	const char *const *argv = (const char *const *)u->argv;

	return !has_word(argv, "-m32") && !has_word(argv, "-mx32") && !has_word(argv, "-m16") &&
	       !has_word(argv, "-masm=intel") && !has_word(argv, "-mcmodel=large");
}

void insert_own_calls(struct instrumenting *in)
{
#if defined(__x86_64__)
	static const char *const names[] = { "__asm__", "__asm", "asm" };
	const char *end = in->text + in->len;

	if (!is_for_this_machine(in->unit))
		return;
	for (const char *at = in->text; (at = memmem(at, (size_t)(end - at), "asm", 3)); at += 3) {
		const char *word = at;

		while (word > in->text && is_word(word[-1]))
			word--;
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			struct cursor c = { word, end };
			const char *template;

			if (!take_word(&c, names[i]))
				continue;
			template = own_call_at(c);
			if (template) {
				edits_insert(&in->edits, (size_t)(template - in->text), "%s", BEFORE);
				in->event_cnt++;
			}
		}
	}
#else
	(void)in;
#endif
}
