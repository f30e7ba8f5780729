/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * walked_parts.c - walks parts, keeps what was found, and puts it together.
 *
 * First the names and numbers of all parts are read, so that each thread, interval and function has its number in the whole; then, part
 * by part, the rows.  What a walk found is always taken from bytes, so that it is the same whether they were in a file or not.
 */
#include "project/runs/walked_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/walked.h"
#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "base/saturate.h"
#include "project/config/locate.h"
#include "project/runs/digest_runs.h"
#include "project/runs/origins.h"
#include "project/runs/project.h"
#include "project/runs/run_windows.h"
#include "trace/merge/merge.h"
#include "trace/merge/names_archive.h"

static const char magic[8] = "vpwalk1";

struct walked_head {
	char magic[8];
	uint64_t key, checksum;		/* what the bytes rest on; of the bytes */
};

struct walked_part {
	struct trace *names;
	uint32_t *calls;
	char *bytes;			/* NULL: they are in the file */
	size_t len, analyzer_at;
};

struct walked_parts {
	run_parts parts;
	struct trace_merger *merger;
	struct walked_part *walked;
	uint64_t key;			/* of the project */
};

char *walked_path(const char *trace_path)
{
	const char *dot = strrchr(trace_path, '.');

	return xasprintf("%.*s.walked", (int)(dot ? dot - trace_path : (ptrdiff_t)strlen(trace_path)), trace_path);
}

/* ---- what a walk rests on ---- */

static uint64_t hash_file(uint64_t key, const char *path)
{
	struct stat st;

	if (!path || stat(path, &st))
		return hash_u64(key, 0);
	key = hash_u64(hash_u64(key, (uint64_t)st.st_size), (uint64_t)st.st_mtim.tv_sec);
	return hash_u64(key, (uint64_t)st.st_mtim.tv_nsec + 1);
}

static uint64_t hash_graph(uint64_t key, const struct project *p)
{
	for (size_t i = 0; i < p->functions.cnt; i++) {
		const struct project_function *f = &p->functions.items[i];

		key = hash_u64(hash_str(key, f->name), f->key);
		key = hash_u64(key, (uint64_t)f->line << 2 | (uint64_t)f->probed << 1 | f->is_static);
	}
	for (size_t i = 0; i < p->calls.cnt; i++) {
		const struct project_call *c = &p->calls.items[i];

		key = hash_u64(key, (uint64_t)c->caller << 32 | c->callee);
		key = hash_u64(hash_str(key, c->call_site ? c->call_site : ""), (uint64_t)c->may << 1 | c->observed);
	}
	return key;
}

/* The configuration, the call graph, where paths begin, and this program. */
static int hash_project(struct store *s, uint64_t *ret, struct diag *reterr)
{
	_cleanup_(project_freep) struct project *project = NULL;
	_cleanup_(freep) char *text = NULL;
	size_t len = 0;
	int r = project_read(s, &project, reterr);

	if (r < 0)
		return r;
	*ret = hash_file(hash_str(0, data_dir()), "/proc/self/exe");
	if (config_path() && file_read(config_path(), &text, &len) == 0)
		*ret = hash_bytes(*ret, text, len);
	*ret = hash_graph(*ret, project);
	return 0;
}

static uint64_t hash_part(uint64_t key, const struct run_part *part)
{
	return hash_file(hash_file(key, part->path), part->kernel);
}

/* ---- the file ---- */

static void write_bytes(const struct walked_parts *w, const struct run_part *part, const struct str *bytes, struct walked_part *to)
{
	_cleanup_(freep) char *path = walked_path(part->path);
	struct walked_head head = { .key = hash_part(w->key, part), .checksum = hash_bytes(0, bytes->data, bytes->len) };
	_cleanup_(str_release) struct str file = STR_INIT;

	memcpy(head.magic, magic, sizeof(magic));
	str_addn(&file, (const char *)&head, sizeof(head));
	str_addn(&file, bytes->data, bytes->len);
	if (file_write(path, file.data, file.len, 0600) == 0)
		return;
	to->bytes = xmalloc(bytes->len + 1);	/* no room: it is walked again next time */
	memcpy(to->bytes, bytes->data, bytes->len);
	to->len = bytes->len;
}

/* The bytes of a file that still counts; the caller frees *ret_file. */
static bool read_bytes(const struct walked_parts *w, const struct run_part *part, char **ret_file, struct archive *ret)
{
	_cleanup_(freep) char *path = walked_path(part->path);
	struct walked_head head;
	size_t len;

	if (file_read(path, ret_file, &len) < 0 || len < sizeof(head))
		return false;
	memcpy(&head, *ret_file, sizeof(head));
	if (memcmp(head.magic, magic, sizeof(magic)) != 0 || head.key != hash_part(w->key, part) ||
	    head.checksum != hash_bytes(0, *ret_file + sizeof(head), len - sizeof(head)))
		return false;
	*ret = (struct archive){ .at = (const unsigned char *)*ret_file + sizeof(head), .end = (const unsigned char *)*ret_file + len };
	return true;
}

/* ---- a walk ---- */

struct walk {
	const struct walking *how;
	struct analyzer *analyzer;
	struct trace_merger *merger;	/* of the one part */
	const struct trace *names;
	uint32_t *calls;
};

static void begin(void *arg, const struct trace *names)
{
	struct walk *k = arg;

	analyzer_free(k->analyzer);
	trace_merger_free(k->merger);
	free(k->calls);
	k->analyzer = analyzer_new();
	k->merger = trace_merger_new(1);
	k->calls = xcalloc(names->functions.cnt + 1, sizeof(*k->calls));
	k->names = names;
}

static void take(void *arg, const struct trace_window *window)
{
	struct walk *k = arg;

	trace_merger_look(k->merger, 0, window->t);
	analyzer_add(k->analyzer, &(struct analysis_window){ window->t, window->before_ns, window->until_ns });
	for (size_t i = 0; i < window->t->invocations.cnt; i++) {
		const struct invocation *v = &window->t->invocations.items[i];

		if (v->start_ns > window->before_ns && k->calls[v->function] < UINT32_MAX - 1)
			k->calls[v->function]++;
	}
	k->how->progress(k->how->arg, window->done_cnt, window->record_cnt);
}

static void archive_calls(struct archive *a, uint32_t *calls, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		archive_u32(a, &calls[i]);
}

/* 0, WALKED_UNFIT or an error. */
static int walk_part(struct store *s, const struct run_part *part, const struct walking *how, struct str *ret, struct diag *reterr)
{
	_cleanup_(run_windows_freep) struct run_windows *windows = NULL;
	struct walk k = { .how = how };
	struct archive a = { .out = ret };
	int r = run_windows_read_part(s, part, how->jobs, &(struct window_taker){ .begin = begin, .take = take, .arg = &k }, &windows, reterr);

	if (r == 0 && !analyzer_can_archive(k.names))
		r = WALKED_UNFIT;
	if (r == 0) {
		trace_merger_archive(k.merger, 0, &a);
		names_archive(&a, (struct trace *)k.names);
		archive_calls(&a, k.calls, k.names->functions.cnt);
		analyzer_archive(k.analyzer, k.names, &a);
		r = a.failed ? WALKED_UNFIT : 0;	/* no room for rows: reading in windows will say so */
	}
	analyzer_free(k.analyzer);
	trace_merger_free(k.merger);
	free(k.calls);
	return r;
}

/* ---- names and numbers ---- */

static bool read_names(struct walked_parts *w, size_t part, struct archive *a)
{
	struct walked_part *p = &w->walked[part];
	const unsigned char *first = a->at;

	trace_free(p->names);
	free(p->calls);
	p->names = trace_new();
	a->arena = p->names->arena;
	trace_merger_forget(w->merger, part);
	trace_merger_archive(w->merger, part, a);
	names_archive(a, p->names);
	p->calls = xcalloc(p->names->functions.cnt + 1, sizeof(*p->calls));
	archive_calls(a, p->calls, p->names->functions.cnt);
	p->analyzer_at = (size_t)(a->at - first);
	return !a->failed;
}

static int look_at_part(struct walked_parts *w, struct store *s, size_t part, const struct walking *how, struct diag *reterr)
{
	const struct run_part *of = &w->parts.items[part];
	_cleanup_(freep) char *file = NULL;
	_cleanup_(str_release) struct str bytes = STR_INIT;
	struct archive a;
	int r;

	if (read_bytes(w, of, &file, &a) && read_names(w, part, &a))
		return 0;
	if (!how->keeps)
		return WALKED_UNFIT;
	r = walk_part(s, of, how, &bytes, reterr);
	if (r)
		return r;
	write_bytes(w, of, &bytes, &w->walked[part]);
	a = (struct archive){ .at = (const unsigned char *)bytes.data, .end = (const unsigned char *)bytes.data + bytes.len };
	return read_names(w, part, &a) ? 0 : WALKED_UNFIT;
}

static int look_at_parts(struct walked_parts *w, struct store *s, const struct walking *how, struct diag *reterr)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < w->parts.cnt; i++) {
		r = look_at_part(w, s, i, how, reterr);
		if (r == 0 && w->parts.items[i].left_out)
			trace_merger_see_threads(w->merger, i, w->walked[i].names);
		else if (r == 0)
			trace_merger_names(w->merger, i, w->walked[i].names);
	}
	if (r)
		return r;
	trace_merger_settle(w->merger);
	return trace_merger_sums_fit(w->merger) ? 0 : WALKED_UNFIT;
}

/* ---- rows ---- */

struct numbering {
	const struct trace_merger *merger;
	size_t part;
};

static uint64_t tid_of(const void *arg, uint64_t tid)
{
	const struct numbering *n = arg;

	return trace_merger_tid(n->merger, n->part, tid);
}

static uint64_t sid_of(const void *arg, uint64_t sid)
{
	const struct numbering *n = arg;

	return trace_merger_sid(n->merger, n->part, sid);
}

static int take_part(struct walked_parts *w, size_t part, struct walked_run *to)
{
	const struct walked_part *p = &w->walked[part];
	const struct numbering numbering = { w->merger, part };
	struct merged_numbers numbers = trace_merger_numbers(w->merger, part);
	const struct taken_part taken = {
		.names = p->names, .functions = numbers.functions, .interval_names = numbers.interval_names,
		.call_sites = numbers.call_sites, .work_names = numbers.work_names, .tid = tid_of, .sid = sid_of, .arg = &numbering,
		.origin = (uint32_t)part,
	};
	_cleanup_(freep) char *file = NULL;
	struct archive a = { .at = (const unsigned char *)p->bytes, .end = (const unsigned char *)p->bytes + p->len };

	if (!p->bytes && !read_bytes(w, &w->parts.items[part], &file, &a))
		return WALKED_UNFIT;	/* somebody changed it meanwhile */
	if (p->analyzer_at > (size_t)(a.end - a.at))
		return WALKED_UNFIT;
	a.at += p->analyzer_at;
	if (analyzer_take(to->analyzer, &a, &taken) < 0)
		return WALKED_UNFIT;
	for (size_t i = 0; i < p->names->functions.cnt; i++) {
		uint32_t *calls = &to->calls[numbers.functions[i]];

		*calls = p->calls[i] < UINT32_MAX - 1 - *calls ? *calls + p->calls[i] : UINT32_MAX - 1;
	}
	return 0;
}

static int take_parts(struct walked_parts *w, struct store *s, const struct run *r, struct walked_run *to)
{
	struct trace *names = trace_merger_trace(w->merger);
	int e = 0;

	trace_sort_events(names);
	origins_note(s, r, &w->parts, names);
	to->names = names;
	to->analyzer = analyzer_new();
	to->calls = xcalloc(names->functions.cnt + 1, sizeof(*to->calls));
	for (size_t i = 0; e == 0 && i < w->parts.cnt; i++)
		if (!w->parts.items[i].left_out)
			e = take_part(w, i, to);
	return e;
}

/* ---- a run ---- */

void walked_run_free(struct walked_run *run)
{
	struct walked_parts *w = run->private;

	analyzer_free(run->analyzer);
	free(run->calls);
	for (size_t i = 0; w && w->walked && i < w->parts.cnt; i++) {
		trace_free(w->walked[i].names);
		free(w->walked[i].calls);
		free(w->walked[i].bytes);
	}
	if (w) {
		free(w->walked);
		trace_merger_free(w->merger);
		run_parts_release(&w->parts);
		free(w);
	}
	memset(run, 0, sizeof(*run));
}

int walked_run_read(struct store *s, const struct run *r, const struct walking *how, struct walked_run *ret, struct diag *reterr)
{
	struct walked_parts *w = xcalloc(1, sizeof(*w));
	int e;

	*ret = (struct walked_run){ .private = w };
	e = run_parts_find(s, r, &w->parts, reterr);
	if (e == 0 && (w->parts.cnt < 2 || store_check_ours(s, NULL) < 0))
		e = WALKED_UNFIT;
	if (e == 0)
		e = origins_choose(s, r, &w->parts, reterr);
	if (e == 0)
		e = hash_project(s, &w->key, reterr);
	if (e == 0) {
		w->merger = trace_merger_new(w->parts.cnt);
		w->walked = xcalloc(w->parts.cnt + 1, sizeof(*w->walked));
		e = look_at_parts(w, s, how, reterr);
	}
	if (e == 0)
		e = take_parts(w, s, r, ret);
	if (e)
		walked_run_free(ret);
	return e;
}
