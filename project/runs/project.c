/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * project.c - what the commands share about a profiled project.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "base/text/utf8.h"
#include "instrumenter/plan/plan.h"
#include "project/config/locate.h"
#include "project/config/paths.h"
#include "project/digests/recorded_by.h"
#include "project/runs/digest_runs.h"
#include "project/notices.h"
#include "project/runs/callers.h"
#include "project/runs/leave_out.h"
#include "project/runs/origins.h"
#include "project/runs/project.h"
#include "project/runs/run_parts.h"
#include "report/probing.h"
#include "report/words/sentence.h"
#include "trace/kernel/kernel.h"
#include "trace/merge/merge.h"
#include "trace/tuples/tuples.h"

void config_aliases(const struct config *c, name_aliases *ret)
{
	for (size_t i = 0; i < c->intervals.cnt; i++) {
		const struct interval_directive *d = &c->intervals.items[i];
		const struct location *ends[] = { &d->start, &d->end };

		for (size_t e = 0; e < ARRAY_SIZE(ends); e++)
			if (ends[e]->place == PLACE_MARK && strcmp(ends[e]->mark, d->name) != 0)
				VEC_ADD(ret, (struct name_alias){ ends[e]->mark, d->name });
		for (size_t k = 0; k < d->resumes.cnt; k++)
			if (d->resumes.items[k].place == PLACE_MARK &&
			    strcmp(d->resumes.items[k].mark, d->name) != 0)
				VEC_ADD(ret, (struct name_alias){ d->resumes.items[k].mark, d->name });
	}
}

/* Paths relative to the project's directory: "/home/u/server/src/log.c" is "src/log.c" in /home/u/server. */
static void shorten_path(const char **path, const char *project_dir)
{
	size_t len = strlen(project_dir);

	if (*path && strncmp(*path, project_dir, len) == 0 && (*path)[len] == '/')
		*path += len + 1;
}

static void shorten_paths(struct trace *t)
{
	_cleanup_(freep) char *project_dir = path_dir(data_dir());

	for (size_t i = 0; i < t->functions.cnt; i++)
		shorten_path(&t->functions.items[i].file, project_dir);
}

void project_shorten_paths(struct project *p)
{
	_cleanup_(freep) char *project_dir = path_dir(data_dir());

	for (size_t i = 0; i < p->functions.cnt; i++)
		shorten_path(&p->functions.items[i].file, project_dir);
	for (size_t i = 0; i < p->units.cnt; i++) {
		shorten_path(&p->units.items[i].source, project_dir);
		shorten_path(&p->units.items[i].object, project_dir);
		shorten_path(&p->units.items[i].misread, project_dir);	/* begins with the file's path */
	}
}

int recorded_options_read(struct recorded_options *ret, const char *kernel, struct diag *reterr)
{
	int r = project_config(&ret->config, reterr);

	if (r < 0)
		return r;
	config_aliases(&ret->config, &ret->aliases);
	ret->reader.aliases = ret->aliases.items;
	ret->reader.alias_cnt = ret->aliases.cnt;
	for (size_t i = 0; i < ret->config.intervals.cnt; i++)
		if (ret->config.intervals.items[i].inner)
			VEC_ADD(&ret->inner, ret->config.intervals.items[i].name);
	ret->reader.inner = ret->inner.items;
	ret->reader.inner_cnt = ret->inner.cnt;
	ret->reader.kernel_knows = kernel;
	ret->reader.knows_no_wakes = kernel && kernel_kind_of(kernel).is_reduced;
	return 0;
}

void recorded_options_release(struct recorded_options *o)
{
	VEC_RELEASE(&o->aliases);
	VEC_RELEASE(&o->inner);
	config_release(&o->config);
}

/* Blocks of VPROF_SCOPE have a key as well, but of another kind: they are in no call graph. */
static void note_beyond_graph(const struct project *p, struct trace *t)
{
	_cleanup_(map_freep) struct map *known = map_new();
	uint64_t index;

	for (size_t i = 0; i < p->functions.cnt; i++)
		map_set(known, p->functions.items[i].key, i);
	for (size_t i = 0; i < t->functions.cnt; i++) {
		struct function *f = &t->functions.items[i];

		f->beyond_graph = f->registered && f->file && f->key == function_key(f->file, f->line, f->name) &&
				  !map_get(known, f->key, &index);
	}
}

int recorded_complete(struct store *s, const struct recorded_options *o, const char *path, struct trace *t,
		      struct diag *reterr)
{
	_cleanup_(project_freep) struct project *project = NULL;
	int r = project_read(s, &project, reterr);

	if (r < 0)
		return r;
	leave_out(project, &o->config);
	note_beyond_graph(project, t);
	project_add_to_trace(project, t);
	callers_add(path, project, t);
	shorten_paths(t);
	return 0;
}

static int read_recorded(struct store *s, const char *path, const char *kernel, struct trace **ret, struct diag *reterr)
{
	_cleanup_(recorded_options_release) struct recorded_options o = { .config = { 0 } };
	int r = recorded_options_read(&o, kernel, reterr);

	if (r == 0)
		r = trace_read(path, &o.reader, ret, reterr);
	return r < 0 ? r : recorded_complete(s, &o, path, *ret, reterr);
}

/* The data directory may belong to another user. */
static int read_imported(const char *path, struct trace **ret, struct diag *reterr)
{
	_cleanup_(freep) char *text = NULL;
	size_t len;
	int r = file_read(path, &text, &len);

	if (r < 0)
		return diag_set(reterr, EXIT_DATA, r, "cannot read '%s': %s", path, file_why(r));
	return tuples_parse(text, len, path, ret, reterr);
}

/* The kernel trace is damaged: the run is read as if recorded without --kernel.  A run without intervals says nothing
 * then. */
static int read_without_kernel(struct store *s, const char *path, struct trace **ret, int damage, struct diag *reterr)
{
	struct diag other = DIAG_INIT;
	struct trace *t = NULL;

	trace_free(TAKE_PTR(*ret));
	if (read_recorded(s, path, NULL, &t, &other) < 0 || !t->intervals.cnt) {
		trace_free(t);
		return damage;
	}
	t->losses.kernel_damaged = true;
	*ret = t;
	*reterr = (struct diag)DIAG_INIT;
	return 0;
}

void recorded_note_host(const char *path, struct trace *t)
{
	struct summed_source by;

	if (!t->ids.cnt && !t->remote_calls.cnt)
		return;
	recorded_by_read(path, t->arena, &by);
	t->host = *by.host ? by.host : NULL;
}

int run_part_read(struct store *s, const struct run_part *part, struct trace **ret, struct diag *reterr)
{
	const char *path = part->path;
	int r = part->tuples ? read_imported(path, ret, reterr) : read_recorded(s, path, part->kernel, ret, reterr);

	if (r == 0 && part->kernel)
		r = kernel_add(*ret, part->kernel, reterr);
	if (r == -EBADMSG && part->kernel)
		r = read_without_kernel(s, path, ret, r, reterr);
	if (r == 0 && !part->tuples)
		recorded_note_host(path, *ret);
	return r;
}

int run_trace_read(struct store *s, const struct run *r, struct trace **ret, struct diag *reterr)
{
	_cleanup_(run_parts_release) run_parts parts = { NULL, 0, 0 };
	_cleanup_(freep) struct trace **traces = NULL;
	_cleanup_(freep) bool *left_out = NULL;
	int e = run_is_digest(s, r) ? run_digest_refuse(r, "this", reterr) : run_parts_find(s, r, &parts, reterr);

	if (e == 0)
		e = origins_choose(s, r, &parts, reterr);
	traces = xcalloc(parts.cnt + 1, sizeof(*traces));
	left_out = xcalloc(parts.cnt + 1, sizeof(*left_out));
	for (size_t i = 0; i < parts.cnt; i++)
		left_out[i] = parts.items[i].left_out;
	for (size_t i = 0; e == 0 && i < parts.cnt; i++)
		e = run_part_read(s, &parts.items[i], &traces[i], reterr);
	if (e == 0)
		*ret = parts.cnt == 1 ? TAKE_PTR(traces[0]) : traces_merge_some(traces, left_out, parts.cnt);
	if (e == 0)
		origins_note(s, r, &parts, *ret);
	for (size_t i = 0; i < parts.cnt; i++)
		trace_free(traces[i]);
	return e;
}

static void tell_intervals(const struct run *r, const struct findings *f)
{
	_cleanup_(freep) char *probing = probing_text(f);
	const struct interval_summary *i = &f->interval;

	if (!probing) {
		note_line("run %u: %llu interval%s of '%s'", r->number, (unsigned long long)i->cnt,
			  i->cnt == 1 ? "" : "s", i->name);
		return;
	}
	note_line("run %u: %llu interval%s of '%s' recorded in full, %llu root-only", r->number,
		  (unsigned long long)i->cnt, i->cnt == 1 ? "" : "s", i->name,
		  (unsigned long long)f->probing.root_only_cnt);
	note_line("%s", probing);
}

/* Views of the kernel's side need no interval. */
static int announce_no_interval(struct store *s, const struct run *r)
{
	_cleanup_(freep) char *dir = run_dir(s, r->number), *kernel = path_join(dir, "kernel.vpk");

	if (r->source && strcmp(r->source, "import") == 0)
		return fail_now(EXIT_NO_EVIDENCE, "man vprof-tuples", "no interval began in run %u", r->number);
	if (file_exists(kernel))
		return fail_now(EXIT_NO_EVIDENCE, "vprof show wait-graph, vprof show samples, vprof show criticality; "
				"vprof annotate --start FUNCTION --end FUNCTION says what an interval is",
				"no interval began in run %u; what the kernel saw of it is recorded", r->number);
	return fail_now(EXIT_NO_EVIDENCE, "vprof annotate --start FUNCTION --end FUNCTION says what an interval is; "
			"if that is done: does the load reach it?", "no interval began in run %u", r->number);
}

void announce_warnings(const struct run *r, const struct findings *f)
{
	size_t more = f->warnings.cnt - 1;

	if (!f->warnings.cnt)
		return;
	if (more)
		warn_line("%s (%zu more warning%s: vprof show warnings %u)", f->warnings.items[0].text, more,
			  more == 1 ? "" : "s", r->number);
	else
		warn_line("%s", f->warnings.items[0].text);
}

/* Whether the first warning has given the remedy already. */
static bool first_warning_helps(const struct findings *f)
{
	return f->warnings.cnt && (strcmp(f->warnings.items[0].code, "names-missing") == 0 ||
				   (strcmp(f->warnings.items[0].code, "aborted") == 0 &&
				    (f->interval.dropped_aborted || f->interval.unmatched_ends)));
}

int announce_findings(struct store *s, const struct run *r, const struct findings *f)
{
	_cleanup_(str_release) struct str text = STR_INIT, clean = STR_INIT;
	const struct interval_summary *i = &f->interval;

	if (i->cnt == 0) {
		bool imported = r->source && strcmp(r->source, "import") == 0;

		if (!i->name || !*i->name)
			return announce_no_interval(s, r);
		if (i->dropped_lost) {
			announce_warnings(r, f);
			return fail_now(EXIT_NO_EVIDENCE, NULL, "all %llu '%s' intervals that completed in run %u are left out",
					(unsigned long long)i->dropped_lost, i->name, r->number);
		}
		if (f->probing.root_only_cnt)
			return fail_now(EXIT_NO_EVIDENCE, "record more of them: vprof record --sample 1/K with "
					"a smaller K, or run longer",
					"none of the %llu '%s' intervals completed in run %u was recorded in full",
					(unsigned long long)f->probing.root_only_cnt, i->name, r->number);
		announce_warnings(r, f);	/* with the number of starts and ends, and a remedy */
		return fail_now(EXIT_NO_EVIDENCE, imported ? "man vprof-tuples" : first_warning_helps(f) ? NULL :
				"see that the load reaches the server and that it runs long enough; "
				"vprof.conf says where an interval starts and ends",
				"no '%s' interval completed in run %u (%llu still open at its end, %llu aborted)",
				i->name, r->number, (unsigned long long)i->dropped_open,
				(unsigned long long)i->dropped_aborted);
	}
	announce_warnings(r, f);
	report_sentence(f, &text);
	utf8_add_line(&clean, str_cstr(&text));
	tell_intervals(r, f);
	str_add(&clean, "\n");
	tell_verbatim(str_cstr(&clean));
	return EXIT_DONE;
}
