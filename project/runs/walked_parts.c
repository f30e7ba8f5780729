/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * walked_parts.c - walks parts, keeps what was found, and puts it together.
 *
 * First the names and numbers of all parts are read, so that each thread, interval and function has its number in the whole; then, part
 * by part, the rows.  A walk's findings are always read from the file, so that they are the same whether the file existed before or not; if
 * there is no room for one, the run is read in windows.  The file is as long as two thirds of the trace, so it is written in pieces and
 * mapped to be read.
 */
#include "project/runs/walked_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/walked.h"
#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "base/saturate.h"
#include "project/config/locate.h"
#include "project/runs/leave_out.h"
#include "project/runs/origins.h"
#include "project/runs/project.h"
#include "project/runs/run_windows.h"
#include "trace/encode.h"
#include "trace/merge/merge.h"
#include "trace/merge/names_archive.h"

static const char magic[8] = "vpwalk2";

struct walked_head {
	char magic[8];
	uint64_t key, checksum;		/* what the bytes rest on; of the bytes */
};

struct walked_part {
	struct trace *names;
	uint32_t *calls;
	size_t analyzer_at;		/* in the bytes */
};

struct walked_parts {
	run_parts parts;
	struct trace_merger *merger;
	struct walked_part *walked;
	uint64_t key;			/* of the project */
	struct project *observed;	/* the project with the observed calls alone */
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

		if (c->observed)
			continue;
		key = hash_u64(key, (uint64_t)c->caller << 32 | c->callee);
		key = hash_u64(hash_str(key, c->call_site ? c->call_site : ""), c->may);
	}
	return key;
}

static void keep_observed(struct project *p)
{
	size_t cnt = 0;

	for (size_t i = 0; i < p->calls.cnt; i++)
		if (p->calls.items[i].observed)
			p->calls.items[cnt++] = p->calls.items[i];
	p->calls.cnt = cnt;
}

/* The configuration, the call graph, where paths begin, and this program.  Any new run may observe calls that the sources do not show:
 * these are added when a file is read, so that it still counts. */
static int look_at_project(struct walked_parts *w, struct store *s, struct diag *reterr)
{
	_cleanup_(config_release) struct config config = { 0 };
	_cleanup_(freep) char *text = NULL;
	size_t len = 0;
	int r = project_config(&config, reterr);

	if (r == 0)
		r = project_read(s, &w->observed, reterr);
	if (r < 0)
		return r;
	w->key = hash_file(hash_str(0, data_dir()), "/proc/self/exe");
	if (config_path() && file_read(config_path(), &text, &len) == 0)
		w->key = hash_bytes(w->key, text, len);
	w->key = hash_graph(w->key, w->observed);
	leave_out(w->observed, &config);
	project_shorten_paths(w->observed);
	keep_observed(w->observed);
	return 0;
}

static uint64_t hash_part(uint64_t key, const struct run_part *part)
{
	return hash_file(hash_file(key, part->path), part->kernel);
}

/* ---- the file ---- */

struct writing {
	int fd;
	struct str bytes;		/* not written yet */
};

static void write_out(struct archive *a)
{
	struct writing *w = a->arg;
	size_t done = 0;

	while (done < w->bytes.len && !a->failed) {
		ssize_t n = write(w->fd, w->bytes.data + done, w->bytes.len - done);

		if (n < 0 && errno == EINTR)
			continue;
		a->failed = n <= 0;
		done += n > 0 ? (size_t)n : 0;
	}
	w->bytes.len = 0;
}

struct mapping {
	void *base;
	size_t len;
};

static void mapping_release(struct mapping *m)
{
	if (m->base)
		munmap(m->base, m->len);
}

/* false: there is no such file, or it is too short to be one. */
static bool map_file(int fd, struct mapping *ret, struct walked_head *ret_head, struct archive *ret_bytes)
{
	const unsigned char *first;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || (size_t)st.st_size <= sizeof(*ret_head))
		return false;
	ret->len = (size_t)st.st_size;
	ret->base = mmap(NULL, ret->len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (ret->base == MAP_FAILED) {
		ret->base = NULL;
		return false;
	}
	first = ret->base;
	memcpy(ret_head, first, sizeof(*ret_head));
	*ret_bytes = (struct archive){ .at = first + sizeof(*ret_head), .end = first + ret->len };
	return true;
}

static uint64_t checksum_of(const struct archive *a)
{
	return encode_checksum(a->at, (size_t)(a->end - a->at));
}

/* The bytes of a file that still counts. */
static bool open_bytes(const struct walked_parts *w, const struct run_part *part, struct mapping *ret, struct archive *ret_bytes)
{
	_cleanup_(freep) char *path = walked_path(part->path);
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct walked_head head;

	return map_file(fd, ret, &head, ret_bytes) && memcmp(head.magic, magic, sizeof(magic)) == 0 &&
	       head.key == hash_part(w->key, part) && head.checksum == checksum_of(ret_bytes);
}

/* Now that all is written: what makes it count. */
static bool write_head(const struct walked_parts *w, const struct run_part *part, int fd)
{
	_cleanup_(mapping_release) struct mapping m = { NULL, 0 };
	struct walked_head head;
	struct archive bytes;

	if (!map_file(fd, &m, &head, &bytes))
		return false;
	head = (struct walked_head){ .key = hash_part(w->key, part), .checksum = checksum_of(&bytes) };
	memcpy(head.magic, magic, sizeof(magic));
	return pwrite(fd, &head, sizeof(head), 0) == sizeof(head);
}

/* ---- a walk ---- */

struct walk {
	const struct walking *how;
	struct analyzer *analyzer;
	struct trace_merger *merger;	/* of the one part */
	const struct trace *names;
	uint32_t *calls;
	bool is_unfit;
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
	k->is_unfit = !analyzer_can_archive(names);
}

static void take(void *arg, const struct trace_window *window)
{
	struct walk *k = arg;

	if (k->is_unfit)
		return;
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

static bool write_walk(const struct walked_parts *w, const struct run_part *part, const struct walk *k, int fd)
{
	const struct walked_head none = { .key = 0 };
	struct writing writing = { .fd = fd, .bytes = STR_INIT };
	struct archive a = { .out = &writing.bytes, .full = write_out, .arg = &writing };

	str_addn(&writing.bytes, (const char *)&none, sizeof(none));
	trace_merger_archive(k->merger, 0, &a);
	names_archive(&a, (struct trace *)k->names);
	archive_calls(&a, k->calls, k->names->functions.cnt);
	analyzer_archive(k->analyzer, k->names, &a);
	write_out(&a);
	str_release(&writing.bytes);
	return !a.failed && write_head(w, part, fd);
}

/* Under another name first, so that a file is whole or not there.  false: there is no room. */
static bool save_walk(const struct walked_parts *w, const struct run_part *part, const struct walk *k)
{
	_cleanup_(freep) char *path = walked_path(part->path), *new_path = xasprintf("%s.new", path);
	int fd;
	bool ok;

	unlink(new_path);
	fd = open(new_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	ok = fd >= 0 && write_walk(w, part, k, fd);
	if (fd >= 0)
		close(fd);
	ok = ok && rename(new_path, path) == 0;
	if (!ok)
		unlink(new_path);
	return ok;
}

/* 0, WALKED_UNFIT or an error. */
static int walk_part(const struct walked_parts *w, struct store *s, const struct run_part *part, const struct walking *how,
		     struct diag *reterr)
{
	_cleanup_(run_windows_freep) struct run_windows *windows = NULL;
	struct walk k = { .how = how };
	int r = run_windows_read_part(s, part, how->jobs, &(struct window_taker){ .begin = begin, .take = take, .arg = &k }, &windows, reterr);

	if (r == 0)
		r = !k.is_unfit && save_walk(w, part, &k) ? 0 : WALKED_UNFIT;
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
	_cleanup_(freep) uint32_t *calls = NULL;
	size_t own_cnt;

	trace_free(p->names);
	free(p->calls);
	p->calls = NULL;
	p->names = trace_new();
	a->arena = p->names->arena;
	trace_merger_forget(w->merger, part);
	trace_merger_archive(w->merger, part, a);
	names_archive(a, p->names);
	own_cnt = p->names->functions.cnt;
	calls = xcalloc(own_cnt + 1, sizeof(*calls));
	archive_calls(a, calls, own_cnt);
	p->analyzer_at = (size_t)(a->at - first);
	if (a->failed)
		return false;
	if (!w->parts.items[part].tuples)
		project_add_to_trace(w->observed, p->names);
	p->calls = xcalloc(p->names->functions.cnt + 1, sizeof(*p->calls));
	memcpy(p->calls, calls, own_cnt * sizeof(*calls));
	return true;
}

static bool look_at_file(struct walked_parts *w, size_t part)
{
	_cleanup_(mapping_release) struct mapping m = { NULL, 0 };
	struct archive a;

	return open_bytes(w, &w->parts.items[part], &m, &a) && read_names(w, part, &a);
}

static int look_at_part(struct walked_parts *w, struct store *s, size_t part, const struct walking *how, struct diag *reterr)
{
	int r;

	if (look_at_file(w, part))
		return 0;
	if (!how->keeps)
		return WALKED_UNFIT;
	r = walk_part(w, s, &w->parts.items[part], how, reterr);
	return r ? r : look_at_file(w, part) ? 0 : WALKED_UNFIT;
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

static int take_part(struct walked_parts *w, size_t part, struct walked_run *to)
{
	const struct walked_part *p = &w->walked[part];
	const struct merger_part numbering = { w->merger, part };
	struct merged_numbers numbers = trace_merger_numbers(w->merger, part);
	const struct taken_part taken = {
		.names = p->names, .functions = numbers.functions, .interval_names = numbers.interval_names,
		.call_sites = numbers.call_sites, .work_names = numbers.work_names, .tid = merger_part_tid, .sid = merger_part_sid, .arg = &numbering,
		.origin = (uint32_t)part,
	};
	_cleanup_(mapping_release) struct mapping m = { NULL, 0 };
	struct archive a;

	if (!open_bytes(w, &w->parts.items[part], &m, &a) || p->analyzer_at > (size_t)(a.end - a.at))
		return WALKED_UNFIT;	/* somebody changed it meanwhile */
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
	}
	if (w) {
		free(w->walked);
		trace_merger_free(w->merger);
		project_free(w->observed);
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
		e = look_at_project(w, s, reterr);
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
