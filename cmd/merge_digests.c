/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * merge_digests.c - digests and runs as one digest, or one run that holds it.
 *
 * A run among them is summed up, so that it goes with what other hosts sent; its intervals are not kept.
 */
#include "cmd/merge_digests.h"

#include <errno.h>
#include <string.h>

#include "base/banned.h"
#include "cmd/messages.h"
#include "cmd/output_file.h"
#include "digest/digest.h"
#include "digest/unite.h"
#include "project/config/locate.h"
#include "project/digests/run_digest.h"
#include "project/runs/digest_runs.h"
#include "project/runs/project.h"

bool is_digest_name(const char *word)
{
	size_t len = word ? strlen(word) : 0;

	return word && (strcmp(word, "-") == 0 || (len > 4 && strcmp(word + len - 4, ".vpd") == 0));
}

static bool is_digest_run(const char *word)
{
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(runs_release) runs found = { NULL, 0, 0 };

	if (store_open(data_dir(), false, &store, NULL) < 0 || runs_find(store, word, &found, NULL) < 0)
		return false;
	for (size_t i = 0; i < found.cnt; i++)
		if (run_is_digest(store, &found.items[i]))
			return true;
	return false;
}

bool merges_digests(const struct args *words, struct merging_digests *m, const char *window)
{
	m->windows = window;
	if (window || is_digest_name(m->output))
		return true;
	for (size_t i = 0; i < words->cnt; i++)
		if (is_digest_name(words->items[i]))
			return true;
	for (size_t i = 0; i < words->cnt; i++)
		if (is_digest_run(words->items[i]))
			return true;
	return false;
}

/* A run, or the runs of a group. */
static int add_runs(struct uniter *u, struct store **store, const char *word, int64_t window_ns, struct diag *reterr)
{
	_cleanup_(runs_release) runs found = { NULL, 0, 0 };
	int r = *store ? 0 : store_open(data_dir(), false, store, reterr);

	if (r == 0)
		r = runs_find(*store, word, &found, reterr);
	for (size_t i = 0; r == 0 && i < found.cnt; i++) {
		_cleanup_(summed_freep) struct summed *one = NULL;

		r = run_digest_read(*store, &found.items[i], window_ns, &one, reterr);
		if (r == 0)
			uniter_add(u, one);
	}
	return r;
}

static int add_file(struct uniter *u, const char *path, struct diag *reterr)
{
	_cleanup_(summed_freep) struct summed *one = NULL;
	int r = digest_read(path, &one, reterr);

	if (r == 0)
		uniter_add(u, one);
	return r;
}

static int add_all(struct uniter *u, struct store **store, const struct args *words, const struct merging_digests *m,
		   struct diag *reterr)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < words->cnt; i++)
		r = is_digest_name(words->items[i]) ? add_file(u, words->items[i], reterr) :
						      add_runs(u, store, words->items[i], m->window_ns, reterr);
	return r;
}

static int write_file(const char *path, const struct summed *digest, struct diag *reterr)
{
	_cleanup_(output_release) struct output o = { .path = strcmp(path, "-") ? path : NULL };
	_cleanup_(str_release) struct str bytes = STR_INIT;
	int r = digest_write(digest, &bytes, reterr);

	if (r == 0)
		r = output_open(&o, reterr);
	if (r < 0)
		return r;
	if (fwrite(bytes.data, 1, bytes.len, o.file) != bytes.len)
		return diag_set(reterr, EXIT_ENVIRONMENT, -errno, "cannot write '%s': %s", path, strerror(errno));
	return output_finish(&o, reterr);
}

static size_t host_cnt(const struct summed *s)
{
	size_t cnt = 0;

	for (size_t i = 0; i < s->sources.cnt; i++)	/* in order of machine and host */
		cnt += i == 0 || strcmp(s->sources.items[i].machine, s->sources.items[i - 1].machine) ||
		       strcmp(s->sources.items[i].host, s->sources.items[i - 1].host);
	return cnt;
}

int merge_digests(const struct args *words, const struct merging_digests *m)
{
	_cleanup_(uniter_freep) struct uniter *u = uniter_new();
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(summed_freep) struct summed *all = NULL;
	_cleanup_(run_release) struct run run = { 0 };
	_cleanup_(findings_freep) struct findings *findings = NULL;
	struct diag diag = DIAG_INIT;
	int r = add_all(u, &store, words, m, &diag);

	if (r == 0)
		r = uniter_end(u, &all, &diag);
	if (r == 0 && m->windows)
		r = summed_roll_up(all, m->window_ns, &diag);
	if (r < 0)
		return fail(&diag);
	note_line("%zu recording%s of %zu host%s, %zu window%s", all->sources.cnt, all->sources.cnt == 1 ? "" : "s", host_cnt(all),
		  host_cnt(all) == 1 ? "" : "s", all->windows.cnt, all->windows.cnt == 1 ? "" : "s");
	if (is_digest_name(m->output))
		return write_file(m->output, all, &diag) < 0 ? fail(&diag) : EXIT_DONE;
	store_close(TAKE_PTR(store));
	if (store_open(data_dir(), true, &store, &diag) < 0 || store_check_ours(store, &diag) < 0 ||
	    run_digest_keep(store, all, "merge", words, m->output, &run, &findings, &diag) < 0)
		return fail(&diag);
	return announce_findings(store, &run, findings);
}
