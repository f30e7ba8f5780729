/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source_marks.c - VPROF_ macros into the user's sources.
 *
 * Example: start = end = f, key = arg0->id:
 *
 *	int f(struct r *r)		int f(struct r *r)
 *	{				{
 *						VPROF_BEGIN("request", r->id);
 *		return g(r);			return ({ int vprof_result = ( g(r)); VPROF_END(...);
 *	}						  vprof_result; });	(on one line)
 *					}
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/ours.h"
#include "instrumenter/marks/source_marks.h"
#include "instrumenter/marks/source_text.h"
#include "instrumenter/parse/parse.h"
#include "instrumenter/parse/preprocess.h"
#include "instrumenter/plan/expression.h"
#include "instrumenter/scan/scan.h"
#include "instrumenter/text/edit.h"

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

/* A function that one LOC names, in a parsed unit. */
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
				return refuse(m, mf, "several functions have this name; give FILE:FUNCTION");
			mf->scanned = f;
			mf->unit = unit;
		}
	}
	return mf->scanned ? 0 : refuse(m, mf, "the last build compiled no function there");
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
	preprocess_command(&c, i, path, m->o->include_dir, false, &words);
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

static struct marked_file *open_file(struct marking *m, const char *scanned)
{
	_cleanup_(freep) char *path = path_real(scanned);	/* a link stays one */
	char *text;

	for (size_t i = 0; i < m->files.cnt; i++)
		if (strcmp(m->files.items[i].path, path) == 0)
			return &m->files.items[i];
	if (file_read(path, &text, NULL) < 0)
		return NULL;

	struct marked_file *file = VEC_EXTEND(&m->files);

	file->path = TAKE_PTR(path);
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

/* "(r->id)", for readers: without the cast. */
static const char *add_expression(struct marked_function *mf, const char *expression, const char *result,
				  struct str *ret)
{
	static const char cast[] = "(unsigned long long)";
	_cleanup_(str_release) struct str text = STR_INIT;
	const char *problem = expression_expand(expression, name_of,
						&mf->parsed->functions.items[mf->f], result, &text);

	if (!problem)
		str_add(ret, text.data + strlen(cast));
	return problem;
}

/* `VPROF_END("request", (r->id));`, after `if (CONDITION) ` if there is one. */
static int mark_text(struct marking *m, struct marked_function *mf, const char *result, struct str *ret)
{
	const char *key = mf->loc->key ? mf->loc->key : m->d->key, *problem = NULL;

	if (mf->loc->condition) {
		str_add(ret, "if ");
		problem = add_expression(mf, mf->loc->condition, result, ret);
		str_add(ret, " ");
	}
	str_addf(ret, "%s(\"%s\", ", mf->macro, m->d->name);
	if (!problem && key)
		problem = add_expression(mf, key, result, ret);
	else
		str_add(ret, "~0ULL");
	if (problem)
		return refuse(m, mf, problem);
	str_add(ret, ");");
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
	size_t end = source_statement_end(mf->file->text, start);
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
	edits_insert(&mf->file->edits, start + strlen("return"), " ({ %s vprof_result = (", f->result);
	edits_insert(&mf->file->edits, end, "); %s vprof_result; })", str_cstr(&mark));
	return 0;
}

/* Which return on its line it is: the number of others of the list before it there. */
static unsigned nth_on_line(const struct lines *l, const struct ranges *list, size_t i)
{
	uint32_t line = lines_at(l, list->items.items[i].start).line;
	unsigned nth = 0;

	while (i-- > 0)
		nth += lines_at(l, list->items.items[i].start).line == line;
	return nth;
}

static int mark_returns(struct marking *m, struct marked_function *mf)
{
	const struct parsed_function *f = &mf->parsed->functions.items[mf->f];
	_cleanup_(str_release) struct str mark = STR_INIT;
	struct ranges returns = { { NULL, 0, 0 } };
	int r = 0;

	parsed_returns(mf->parsed, mf->f, &returns);
	for (size_t i = 0; r == 0 && i < returns.items.cnt; i++) {
		uint32_t line = lines_at(mf->lines, returns.items.items[i].start).line;
		size_t at = source_token(mf->file->text, line, "return",
					 nth_on_line(mf->lines, &returns, i));

		r = at == SOURCE_NONE ? refuse(m, mf, "one of its returns is in a macro") :
					mark_return(m, mf, at);
	}
	VEC_RELEASE(&returns.items);
	if (r == 0 && f->result_is_void) {
		size_t brace = source_last_token(mf->file->text, mf->scanned->end_line, "}");

		r = mark_text(m, mf, NULL, &mark);
		if (r == 0 && brace == SOURCE_NONE)
			r = refuse(m, mf, "a macro writes the end of its body");
		if (r == 0)
			edits_insert(&mf->file->edits, brace, "\t%s\n", str_cstr(&mark));
	}
	return r;
}

struct line_search {
	const struct lines *lines;
	uint32_t line;
	bool found, in_block;
};

static void look_at_statement(const struct parsed_statement *s, void *arg)
{
	struct line_search *search = arg;

	if (!search->found && lines_at(search->lines, s->range.start).line == search->line) {
		search->found = true;
		search->in_block = s->in_block;
	}
}

static int mark_line(struct marking *m, struct marked_function *mf)
{
	struct line_search search = { .lines = mf->lines, .line = mf->loc->line };
	_cleanup_(str_release) struct str mark = STR_INIT;
	size_t start = source_line(mf->file->text, mf->loc->line);
	int r = mark_text(m, mf, NULL, &mark);

	parsed_statements(mf->parsed, mf->f, look_at_statement, &search);
	if (r < 0)
		return r;
	if (!search.found || start == SOURCE_NONE)
		return refuse(m, mf, "no statement begins on that line");
	if (!search.in_block)
		return refuse(m, mf, "the statement on that line is the unbraced body of another");

	int indent = (int)strspn(mf->file->text + start, " \t");

	edits_insert(&mf->file->edits, start, "%.*s%s\n", indent, mf->file->text + start,
		     str_cstr(&mark));
	return 0;
}

/* A second beginning in the same place would be an interval inside another of its name. */
static bool begins_already(const struct marking *m, const struct marked_file *file)
{
	_cleanup_(freep) char *begin = xasprintf("VPROF_BEGIN(\"%s\"", m->d->name);

	return strstr(file->text, begin) != NULL;
}

static int mark(struct marking *m, const struct location *loc, const char *macro, bool at_return)
{
	struct marked_function mf = { .loc = loc, .macro = macro };
	int r;

	if (loc->place == PLACE_MARK)
		return 0;			/* is in the source already */
	if (loc->place == PLACE_ENTRY)
		at_return = false;
	else if (loc->place == PLACE_RETURN)
		at_return = true;
	r = find_function(m, &mf);
	if (r == 0)
		r = parse_unit(m, &mf);
	if (r == 0) {
		mf.file = open_file(m, mf.scanned->file);
		if (!mf.file)
			r = refuse(m, &mf, "its source cannot be read");
		else if (strcmp(macro, "VPROF_BEGIN") == 0 && begins_already(m, mf.file))
			r = refuse(m, &mf, "its file has a VPROF_BEGIN of that name already: take it out first, or give --name NAME");
		else if (loc->place == PLACE_LINE)
			r = mark_line(m, &mf);
		else
			r = at_return ? mark_returns(m, &mf) : mark_entry(m, &mf);
	}
	parsed_free(mf.parsed);
	lines_free(mf.lines);
	free(mf.text);
	return r;
}

/* ---- the patch ---- */

/* How much of each path is left out in the patch. */
static size_t patch_prefix(const struct marking *m, bool *ret_from_root)
{
	_cleanup_(freep) char *here = path_real("."), *below = path_join(here, "");

	*ret_from_root = false;
	for (size_t i = 0; i < m->files.cnt; i++)
		*ret_from_root |= !starts_with(m->files.items[i].path, below);
	return *ret_from_root ? 1 : strlen(below);
}

static int diff_and_write(struct marking *m, struct marked_file *file, size_t prefix, struct str *patch)
{
	_cleanup_(str_release) struct str marked = STR_INIT;
	_cleanup_(freep) char *dir = path_dir(file->path), *why = NULL;
	char temporary[] = "/tmp/vprof-marks-XXXXXX";
	char *name = file->path + prefix;
	char *argv[] = { (char *)"diff", (char *)"-u", (char *)"--label", name, (char *)"--label", name, file->path, temporary, NULL };
	struct proc_options run = { .out = patch };
	_cleanup_(closep) int way = m->o->write ? ours_open(dir, false, &why) : -1;
	_cleanup_(closep) int fd = -1;
	int r;

	if (why) {
		diag_set(m->reterr, EXIT_ENVIRONMENT, -EPERM, "root does not write '%s': %s", file->path, why);
		return diag_remedy(m->reterr, -EPERM, "run vprof as the owner of the sources");
	}
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return diag_set(m->reterr, EXIT_ENVIRONMENT, -errno, "cannot make a file in /tmp: %s", strerror(errno));
	edits_apply(&file->edits, file->text, strlen(file->text), &marked);
	r = file_write_open(fd, marked.data, marked.len);
	if (r == 0 && proc_run(argv, &run) > 1)
		r = -EIO;
	unlink(temporary);
	if (r == 0 && m->o->write)
		r = file_write(file->path, marked.data, marked.len, file_mode(file->path, 0644));
	if (r < 0)
		return diag_set(m->reterr, EXIT_ENVIRONMENT, r, "cannot write '%s': %s", file->path,
				strerror(-r));
	return 0;
}

static int mark_all(struct marking *m)
{
	const struct interval_directive *d = m->d;
	int r = mark(m, &d->start, "VPROF_BEGIN", false);

	for (size_t i = 0; r == 0 && i < d->resumes.cnt; i++)
		r = mark(m, &d->resumes.items[i], "VPROF_RESUME", false);
	return r < 0 ? r : mark(m, &d->end, "VPROF_END", true);
}

int source_marks_insert(const struct source_marks_options *o, const struct interval_directive *d,
			struct str *patch, bool *ret_from_root, struct diag *reterr)
{
	struct marking m = { .o = o, .d = d, .reterr = reterr };
	size_t prefix;
	int r = units_read(o->build_dir, &m.scanned, reterr);

	if (r == 0 && m.scanned.cnt == 0) {
		r = diag_set(reterr, EXIT_USAGE, -ENODATA, "the sources are not known yet");
		diag_remedy(reterr, r, "vprof build -- make   (it reads them while it compiles)");
	}
	if (r == 0)
		r = mark_all(&m);
	prefix = patch_prefix(&m, ret_from_root);
	for (size_t i = 0; r == 0 && i < m.files.cnt; i++)
		r = diff_and_write(&m, &m.files.items[i], prefix, patch);
	for (size_t i = 0; i < m.files.cnt; i++) {
		edits_release(&m.files.items[i].edits);
		free(m.files.items[i].path);
		free(m.files.items[i].text);
	}
	VEC_RELEASE(&m.files);
	units_release(&m.scanned);
	return r;
}
