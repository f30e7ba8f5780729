/* SPDX-License-Identifier: GPL-3.0-or-later */
/* long_options.c - see long_options.h. */
#include <string.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "instrumenter/parse/long_options.h"

enum form {
	ALONE,				/* --shared */
	VALUE,				/* --output FILE, --output=FILE: two words */
	JOINED				/* --std=c11: what follows the name goes on */
};

static const struct row {
	const char *name, *to;
	enum form form;
} rows[] = {
	{ "--compile", "-c", ALONE }, { "--assemble", "-S", ALONE }, { "--preprocess", "-E", ALONE },
	{ "--output", "-o", VALUE }, { "--language", "-x", VALUE },
	{ "--std=", "-std=", JOINED }, { "--ansi", "-ansi", ALONE },
	{ "--optimize=", "-O", JOINED }, { "--optimize", "-O", ALONE },
	{ "--debug=", "-g", JOINED }, { "--debug", "-g", ALONE }, { "--profile", "-p", ALONE },
	{ "--machine=", "-m", JOINED }, { "--machine-", "-m", JOINED },
	{ "--define-macro", "-D", VALUE }, { "--undefine-macro", "-U", VALUE },
	{ "--include-directory-after", "-idirafter", VALUE }, { "--include-directory", "-I", VALUE },
	{ "--include", "-include", VALUE }, { "--imacros", "-imacros", VALUE }, { "--assert", "-A", VALUE },
	{ "--include-prefix", "-iprefix", VALUE }, { "--include-with-prefix-before", "-iwithprefixbefore", VALUE },
	{ "--include-with-prefix-after", "-iwithprefix", VALUE }, { "--include-with-prefix", "-iwithprefix", VALUE },
	{ "--no-standard-includes", "-nostdinc", ALONE }, { "--comments", "-C", ALONE },
	{ "--comments-in-macros", "-CC", ALONE }, { "--no-line-commands", "-P", ALONE }, { "--trace-includes", "-H", ALONE },
	{ "--dependencies", "-M", ALONE }, { "--user-dependencies", "-MM", ALONE },
	{ "--write-dependencies", "-MD", ALONE }, { "--write-user-dependencies", "-MMD", ALONE },
	{ "--print-missing-file-dependencies", "-MG", ALONE },
	{ "--no-warnings", "-w", ALONE }, { "--all-warnings", "-Wall", ALONE }, { "--extra-warnings", "-W", ALONE },
	{ "--warn-", "-W", JOINED }, { "--pedantic", "-pedantic", ALONE }, { "--pedantic-errors", "-pedantic-errors", ALONE },
	{ "--shared", "-shared", ALONE }, { "--static", "-static", ALONE }, { "--static-pie", "-static-pie", ALONE },
	{ "--pie", "-pie", ALONE }, { "--no-pie", "-no-pie", ALONE }, { "--symbolic", "-symbolic", ALONE },
	{ "--no-standard-libraries", "-nostdlib", ALONE }, { "--entry", "-e", VALUE }, { "--force-link", "-u", VALUE },
	{ "--library-directory", "-L", VALUE }, { "--for-linker", "-Xlinker", VALUE },
	{ "--for-assembler", "-Xassembler", VALUE }, { "--prefix", "-B", VALUE },
};

static bool fits(const struct row *r, const char *word)
{
	size_t len = strlen(r->name);

	if (strncmp(word, r->name, len) != 0)
		return false;
	return r->form == JOINED || !word[len] || (r->form == VALUE && word[len] == '=');
}

static const struct row *find(const char *word)
{
	for (size_t i = 0; starts_with(word, "--") && i < ARRAY_SIZE(rows); i++)
		if (fits(&rows[i], word))
			return &rows[i];
	return NULL;
}

void long_options_shorten(struct args *words)
{
	struct args shortened = ARGS_INIT;

	for (size_t i = 0; i < words->cnt; i++) {
		const char *word = words->items[i];
		const struct row *r = find(word);
		const char *rest = r ? word + strlen(r->name) : "";

		if (!r) {
			args_add(&shortened, word);
		} else if (r->form == JOINED) {
			args_addf(&shortened, "%s%s", r->to, rest);
		} else {
			args_add(&shortened, r->to);
			if (*rest)
				args_add(&shortened, rest + 1);
		}
	}
	args_release(words);
	*words = shortened;
}
