/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * target_texts.c - the texts that people and compilers write: vprof.conf, tables of primitives, plans,
 * command lines, preprocessed sources; and the recorder's file of callers, whose names come from programs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "annotations/primitives.h"
#include "base/banned.h"
#include "base/elf.h"
#include "base/file.h"
#include "base/str.h"
#include "base/text/utf8.h"
#include "instrumenter/insert/fallthrough.h"
#include "instrumenter/marks/source_text.h"
#include "instrumenter/parse/command.h"
#include "instrumenter/plan/expression.h"
#include "instrumenter/plan/plan.h"
#include "instrumenter/text/braces.h"
#include "instrumenter/text/lines.h"
#include "project/config/config.h"
#include "project/config/config_text.h"
#include "project/runs/callers.h"
#include "tests/fuzz/targets.h"
#include "trace/callers.h"

static char *as_text(const uint8_t *data, size_t len)
{
	return xstrndup((const char *)data, strnlen((const char *)data, len));
}

/* An interval that was read can be written, and is then the same. */
void fuzz_conf(const uint8_t *data, size_t len)
{
	_cleanup_(freep) char *text = as_text(data, len);
	struct diag diag = DIAG_INIT;
	struct config c;

	if (config_parse(text, "vprof.conf", &c, &diag)) {
		if (diag.status != EXIT_USAGE || !*diag.text)
			abort();
		return;
	}
	for (size_t i = 0; i < c.intervals.cnt; i++) {
		_cleanup_(freep) char *written = config_put_interval(text, &c.intervals.items[i]);
		_cleanup_(config_release) struct config again;

		if (config_parse(written, "written", &again, &diag)) {
			fprintf(stderr, "%s\n---\n%s\n", diag.text, written);
			abort();
		}
	}
	config_release(&c);
}

void fuzz_sync(const uint8_t *data, size_t len)
{
	struct diag diag = DIAG_INIT;
	primitives list = { NULL, 0, 0 };

	primitives_read(fuzz_file(data, len), &list, &diag);
	for (size_t i = 0; i < list.cnt; i++)
		if (!primitives_find(&list, list.items[i].name))
			abort();
	primitives_release(&list);
}

/* A plan that was read, written and read has the same entries. */
void fuzz_plan(const uint8_t *data, size_t len)
{
	static char path[160];
	_cleanup_(plan_freep) struct plan *p = NULL, *again = NULL;
	struct diag diag = DIAG_INIT;

	if (plan_read(fuzz_file(data, len), &p, &diag))
		return;
	if (!*path)
		snprintf(path, sizeof(path), "%s/plan", fuzz_directory("plan"));
	if (plan_write(path, p, &diag) || plan_read(path, &again, &diag) ||
	    again->entries.cnt != p->entries.cnt || again->all != p->all) {
		fprintf(stderr, "written, the plan is another: %s\n", diag.text);
		abort();
	}
	unlink(path);
	for (size_t i = 0; i < p->entries.cnt; i++)
		if (plan_level_of(p, p->entries.items[i].key) !=
		    plan_level_of(again, p->entries.items[i].key))
			abort();
}

void fuzz_elf(const uint8_t *data, size_t len)
{
	_cleanup_(elf_closep) struct elf *e = NULL;

	if (elf_open(fuzz_file(data, len), &e))
		return;
	if (e->interpreter && strlen(e->interpreter) > len)
		abort();
	elf_symbol(e, "vprof_", true);
	elf_symbol(e, "main", false);
	elf_holds(e, "vprof");
}

static void found(size_t offset, void *arg)
{
	if (offset > *(const size_t *)arg)
		abort();
}

/* A preprocessed text, and a source as the user wrote it. */
void fuzz_source(const uint8_t *data, size_t len)
{
	static const char *const tokens[] = { "{", "}", ";", "return", "f" };
	_cleanup_(freep) char *text = as_text(data, len);
	_cleanup_(edits_release) struct edits edits = EDITS_INIT;
	_cleanup_(str_release) struct str edited = STR_INIT;
	struct lines *lines;

	len = strlen(text);
	lines = lines_new(text, len, "/nowhere", "/nowhere/vprof");
	for (size_t i = 0; i <= len; i++) {
		struct position p = lines_at(lines, i);

		if (!p.foreign && !p.file)
			abort();
		if (i < len && text[i] == '{' && braces_end(text, len, i) > len)
			abort();
	}
	for (size_t i = 0; i < lines_file_cnt(lines); i++)
		for (uint32_t line = 1; line < 4; line++)
			lines_find(lines, i, line, found, &len);
	if (lines_top(lines) > len || source_include_place(text) > len)
		abort();
	fallthrough_insert(lines, text, len, &edits);
	edits_apply(&edits, text, len, &edited);
	for (uint32_t line = 1; line < 5; line++)
		for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
			size_t at = source_token(text, line, tokens[i], line % 2);

			if (at != SOURCE_NONE && at > len)
				abort();
			source_last_token(text, line, tokens[i]);
			if (at != SOURCE_NONE)
				source_statement_end(text, at);
		}
	lines_free(lines);
}

static const char *parameter(size_t n, void *arg)
{
	(void)arg;
	return n == 0 ? "a" : n == 1 ? "" : NULL;
}

static void read_words(char *line)
{
	char *argv[64], *rest;
	struct command c;
	size_t cnt = 0;

	for (char *word = strtok_r(line, " \t", &rest); word && cnt < 63;
	     word = strtok_r(NULL, " \t", &rest))
		argv[cnt++] = *word == '@' ? word + 1 : word;	/* no file of this machine's */
	argv[cnt] = NULL;
	if (!cnt)
		return;
	command_parse(argv, &c);
	for (size_t i = 0; i < c.sources.cnt; i++) {
		_cleanup_(freep) char *object = command_object(&c, i);

		if (!*object)
			abort();
	}
	fallthrough_is_told(&c);
	command_release(&c);
}

/* One line each: a LOC, an expression, a primitive, an amount, a compiler's command. */
void fuzz_words(const uint8_t *data, size_t len)
{
	_cleanup_(freep) char *text = as_text(data, len);

	for (char *line = text, *next; line; line = next) {
		_cleanup_(str_release) struct str expanded = STR_INIT;
		struct diag diag = DIAG_INIT;
		struct location location;
		struct primitive primitive;
		struct sample sample;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (location_parse(line, &location, &diag) == 0) {
			_cleanup_(freep) char *written = location_text(&location);
			struct location again;

			if (location_parse(written, &again, &diag)) {
				fprintf(stderr, "'%s' became '%s': %s\n", line, written, diag.text);
				abort();
			}
			location_function_matches(line, written);
			location_file_matches(line, written);
			location_release(&again);
			location_release(&location);
		}
		if (primitive_parse(ROLE_ENQUEUE, line, &primitive, &diag) == 0)
			primitive_release(&primitive);
		if (sample_parse(line, &sample) && sample.full > sample.of)
			abort();
		expression_expand(line, parameter, NULL, "result", &expanded);
		expression_uses_result(line);
		read_words(line);
	}
}

static void write_callers(const struct trace *t, struct str *ret)
{
	callers_text_begin(ret);
	for (uint32_t i = 1; i < t->callers.cnt; i++) {
		struct wait_caller c = t->callers.items[i];

		for (uint32_t k = 0; k < c.function_cnt; k++)
			if (!*c.functions[k].name)
				c.functions[k].name = CALLER_NAMELESS;
		if (c.module)
			callers_text_add(ret, i, &c);
	}
}

static struct trace *read_callers(const char *data, size_t len, const struct project *p)
{
	const char *dir = fuzz_directory("callers");
	_cleanup_(freep) char *path = path_join(dir, CALLERS_FILE), *trace_path = path_join(dir, "trace.vpt");
	struct trace *t = trace_new();

	if (file_write(path, data, len, 0600))
		abort();
	callers_add(trace_path, p, t);
	if (unlink(path))
		abort();
	return t;
}

/* Callers that were read, written and read again are the same, whichever of them are functions of the project. */
void fuzz_callers(const uint8_t *data, size_t len)
{
	struct project_function functions[] = {
		{ .key = 1, .name = "wait_a_bit", .file = "src/wait.h", .line = 12 },
		{ .key = 2, .name = "pool::take(int)", .file = "src/pool.cc", .line = 31 },
		{ .key = 3, .name = "pool::take(long)", .file = "src/pool.cc", .line = 40 },
		{ .key = 4, .name = "handle::{lambda}", .file = "src/server.cc", .line = 5 },
		{ .key = 5, .name = "wait_a_bit" },
	};
	struct project p = { .functions = { functions, sizeof(functions) / sizeof(functions[0]), 0 } };
	_cleanup_(trace_freep) struct trace *t = read_callers((const char *)data, len, &p), *again = NULL;
	_cleanup_(str_release) struct str first = STR_INIT, second = STR_INIT;

	write_callers(t, &first);
	again = read_callers(str_cstr(&first), first.len, &p);
	write_callers(again, &second);
	if (again->losses.callers_line || strcmp(str_cstr(&first), str_cstr(&second)) != 0) {
		fprintf(stderr, "%s---\n%s", str_cstr(&first), str_cstr(&second));
		abort();
	}
}
