/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source_marks.c - VPROF_ macros into the user's sources.
 *
 * Example: start = end = f, key = arg0->id:
 *
 *	int f(struct r *r)		int f(struct r *r)
 *	{				{
 *						VPROF_BEGIN("request", r->id);
 *		return g(r);			{ int vprof_result = g(r); VPROF_END("request", r->id);
 *						  return vprof_result; }	(on one line)
 *	}				}
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "instrumenter/edit.h"
#include "instrumenter/expression.h"
#include "instrumenter/parse.h"
#include "instrumenter/preprocess.h"
#include "instrumenter/scan.h"
#include "instrumenter/source_marks.h"
#include "instrumenter/source_text.h"

struct marked_file {
	char *path, *text;
	struct edits edits;
};

struct marking {
	const struct source_marks_options *o;
	const struct interval_directive *d;
	units scanned;
	VEC(struct marked_file) files;
	struct diag *reterr;
};

/* What is marked at one LOC: a function of a unit, parsed. */
struct marked_function {
	const struct location *loc;
	const char *macro;		/* "VPROF_BEGIN" ... */
	const struct unit *unit;
	const struct scan_function *scanned;
	char *text;			/* preprocessed */
	struct lines *lines;
	struct parsed *parsed;
	size_t f;			/* index into parsed->functions */
	struct marked_file *file;
};

static int refuse(struct marking *m, const struct marked_function *mf, const char *why)
{
	_cleanup_(freep) char *loc = location_text(mf->loc);

	return diag_set(m->reterr, EXIT_USAGE, -EINVAL, "cannot mark '%s': %s", loc, why);
}

/* ---- which function ---- */

static bool matches(const struct scan_function *f, const struct location *l)
{
	if (l->file && !location_file_matches(l->file, f->file))
		return false;
	if (l->place == PLACE_LINE)
		return f->line <= l->line && l->line <= f->end_line;
	return l->function && strcmp(l->function, f->name) == 0;
}

static int find_function(struct marking *m, struct marked_function *mf)
{
	for (size_t u = 0; u < m->scanned.cnt; u++) {
		const struct unit *unit = m->scanned.items[u];

		for (size_t i = 0; i < unit->functions.cnt; i++) {
			const struct scan_function *f = &unit->functions.items[i];

			if (!matches(f, mf->loc))
				continue;
			if (mf->scanned && mf->scanned->key != f->key)
				return refuse(m, mf, "several functions are called so; give FILE:FUNCTION");
			mf->scanned = f;
			mf->unit = unit;
		}
	}
	return mf->scanned ? 0 : refuse(m, mf, "no function that the last build compiled is there");
}

/* ---- the unit, parsed again ---- */

static bool wants_none(const char *name, void *arg)
{
	(void)name;
	(void)arg;
	return false;
}

static int preprocess_unit(struct marking *m, struct marked_function *mf, const char *path)
{
	struct proc_options run = { .dir = mf->unit->directory };
	_cleanup_(args_release) struct args words = ARGS_INIT;
	_cleanup_(command_release) struct command c = { 0 };
	struct parse_input input = { .path = path, .wants_prototype = wants_none };
	size_t len, i = 0;

	command_parse((char *const *)mf->unit->argv, &c);
	while (i < c.sources.cnt && strcmp(path_base(c.sources.items[i].path), path_base(mf->unit->source)))
		i++;
	if (i == c.sources.cnt)
		return refuse(m, mf, "the recorded command of its unit names no source");
	preprocess_command(&c, i, path, m->o->include_dir, &words);
	if (proc_run(words.items, &run) != 0 || file_read(path, &mf->text, &len) < 0)
		return refuse(m, mf, "its unit cannot be preprocessed any more; build it again");
	mf->lines = lines_new(mf->text, len, mf->unit->directory, m->o->include_dir);
	input.text = mf->text;
	input.len = len;
	input.lines = mf->lines;
	input.language = c.sources.items[i].language;
	input.standard = c.standard;
	mf->parsed = parse_text(&input);
	return mf->parsed ? 0 : refuse(m, mf, "its unit cannot be parsed");
}

static int parse_unit(struct marking *m, struct marked_function *mf)
{
	char path[] = "/tmp/vprof-marks-XXXXXX.i";
	int fd = mkstemps(path, 2), r;

	if (fd < 0)
		return refuse(m, mf, "no temporary file can be made");
	close(fd);
	r = preprocess_unit(m, mf, path);
	unlink(path);
	if (r < 0)
		return r;
	for (mf->f = 0; mf->f < mf->parsed->functions.cnt; mf->f++) {
		const struct parsed_function *f = &mf->parsed->functions.items[mf->f];

		if (f->body && strcmp(f->name, mf->scanned->name) == 0 &&
		    lines_at(mf->lines, f->body).line == mf->scanned->line)
			return 0;
	}
	return refuse(m, mf, "its source has changed since the last build; build it again");
}

static struct marked_file *open_file(struct marking *m, const char *path)
{
	char *text;

	for (size_t i = 0; i < m->files.cnt; i++)
		if (strcmp(m->files.items[i].path, path) == 0)
			return &m->files.items[i];
	if (file_read(path, &text, NULL) < 0)
		return NULL;

	struct marked_file *file = VEC_EXTEND(&m->files);

	file->path = xstrdup(path);
	file->text = text;
	if (!strstr(text, "<vprof.h>"))
		edits_insert(&file->edits, source_include_place(text), "#include <vprof.h>\n");
	return file;
}

/* ---- the marks ---- */

static const char *name_of(size_t n, void *arg)
{
	const struct parsed_function *f = arg;

	return n < f->parameters.cnt ? f->parameters.items[n].name : NULL;
}

/* `VPROF_END("request", r->id);` */
static int mark_text(struct marking *m, struct marked_function *mf, const char *result, struct str *ret)
{
	static const char cast[] = "(unsigned long long)";
	_cleanup_(str_release) struct str key = STR_INIT;
	const char *problem = NULL;

	if (m->d->key)
		problem = expression_expand(m->d->key, name_of, &mf->parsed->functions.items[mf->f], result,
					    &key);
	else
		str_add(&key, "~0ULL");
	if (problem)
		return refuse(m, mf, problem);

	const char *text = str_cstr(&key);

	if (starts_with(text, cast))
		text += strlen(cast);
	str_addf(ret, "%s(\"%s\", %s);", mf->macro, m->d->name, text);
	return 0;
}

static int mark_entry(struct marking *m, struct marked_function *mf)
{
	_cleanup_(str_release) struct str mark = STR_INIT;
	size_t brace = source_token(mf->file->text, mf->scanned->line, "{", 0);
	int r = mark_text(m, mf, NULL, &mark);

	if (r < 0)
		return r;
	if (brace == SOURCE_NONE)
		return refuse(m, mf, "a macro writes the beginning of its body");
	edits_insert(&mf->file->edits, brace + 1, "\n\t%s", str_cstr(&mark));
	return 0;
}

/* One `return E;` at start (of the word) in the user's text. */
static int mark_return(struct marking *m, struct marked_function *mf, size_t start)
{
	const struct parsed_function *f = &mf->parsed->functions.items[mf->f];
	_cleanup_(str_release) struct str mark = STR_INIT;
	size_t end = source_statement_end(mf->file->text, start), word = strlen("return");
	int r = mark_text(m, mf, f->result_is_void ? NULL : "vprof_result", &mark);

	if (r < 0)
		return r;
	if (end == SOURCE_NONE)
		return refuse(m, mf, "the end of a return statement is not in the source");
	if (f->result_is_void) {
		edits_insert(&mf->file->edits, start, "{ %s ", str_cstr(&mark));
		edits_insert(&mf->file->edits, end + 1, " }");
		return 0;
	}
	if (strchr(f->result, '('))
		return refuse(m, mf, "what it returns cannot be kept in a simple variable");
	edits_insert(&mf->file->edits, start, "{ %s vprof_result = (", f->result);
	edits_insert(&mf->file->edits, start + word, " /* returned */");
	edits_insert(&mf->file->edits, end, "); %s return vprof_result", str_cstr(&mark));
	edits_insert(&mf->file->edits, end + 1, " }");
	return 0;
}
