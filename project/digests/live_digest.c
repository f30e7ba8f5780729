/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * live_digest.c - see live_digest.h.
 *
 * The order of writing: the spool, then windows.vpd, then the state.  Killed in between, the stretch is digested again, and what is
 * there already is written over by the same.
 */
#include "project/digests/live_digest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/file.h"
#include "digest/digest.h"
#include "digest/unite.h"
#include "project/digests/spool.h"
#include "project/digests/window_digest.h"
#include "project/notices.h"

#define STRETCH_NS ((int64_t)5 * 1000000000)
#define WINDOWS_FILE "windows"
#define REST_FILE "windows.vpd"

int64_t live_stretch_ns(int64_t every_ns)
{
	for (int64_t n = 1; n <= every_ns / 1000000; n++)
		if (every_ns % n == 0 && every_ns / n <= STRETCH_NS)
			return every_ns / n;
	return every_ns;
}

/* ---- the state ---- */

static char *file_of(const struct store *s, uint32_t run, const char *name)
{
	_cleanup_(freep) char *dir = run_dir(s, run);

	return path_join(dir, name);
}

static int write_state(const struct store *s, uint32_t run, const struct live_state *state, struct diag *reterr)
{
	_cleanup_(freep) char *path = file_of(s, run, WINDOWS_FILE);
	_cleanup_(freep) char *text = xasprintf("every %" PRId64 "\ndone %" PRId64 "\nsince %" PRId64 "\nlost %" PRIu64 "\n"
						"refused %" PRIu64 "\nrefusing %u\n", state->every_ns, state->done_ns, state->since_ns,
						state->lost_records, state->refused_cnt, state->is_refusing);
	int r = file_write(path, text, strlen(text), 0600);

	return r < 0 ? diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot write '%s': %s", path, strerror(-r)) : 0;
}

int live_begin(const struct store *s, uint32_t run, const struct live_state *state, struct diag *reterr)
{
	return write_state(s, run, state, reterr);
}

bool live_read(const struct store *s, uint32_t run, struct live_state *ret)
{
	_cleanup_(freep) char *path = file_of(s, run, WINDOWS_FILE), *text = NULL;

	return file_read(path, &text, NULL) == 0 &&
	       sscanf(text, "every %" SCNd64 "\ndone %" SCNd64 "\nsince %" SCNd64 "\nlost %" SCNu64 "\nrefused %" SCNu64 "\nrefusing %u",
		      &ret->every_ns, &ret->done_ns, &ret->since_ns, &ret->lost_records, &ret->refused_cnt, &ret->is_refusing) == 6 &&
	       ret->every_ns > 0;
}

/* ---- windows ---- */

static int64_t window_from(int64_t ns, int64_t every_ns)
{
	int64_t rest = ns % every_ns;

	return ns - (rest < 0 ? rest + every_ns : rest);
}

/* The windows that end by until_ns, or the others, under the same names. */
static struct summed *chosen(const struct summed *s, int64_t every_ns, int64_t until_ns, bool full, struct diag *reterr)
{
	_cleanup_(uniter_freep) struct uniter *u = uniter_new();
	struct summed part = *s, *ret = NULL;

	memset(&part.windows, 0, sizeof(part.windows));
	for (size_t i = 0; i < s->windows.cnt; i++) {
		const struct summed_window *w = &s->windows.items[i];
		bool is_full = until_ns == INT64_MAX || window_from(w->from_ns, every_ns) + every_ns <= until_ns;

		if (is_full == full)
			VEC_ADD(&part.windows, *w);
	}
	uniter_add(u, &part);
	VEC_RELEASE(&part.windows);
	return uniter_end(u, &ret, reterr) < 0 ? NULL : ret;
}

/* Tells the first refusal, and when there is room again: the command may fail for days. */
static int spool(const struct summed *s, uint32_t run, int64_t until_ns, struct live_state *state, uint64_t limit, struct diag *reterr)
{
	_cleanup_(str_release) struct str bytes = STR_INIT;
	int r = digest_write(s, &bytes, reterr);
	bool is_refused;

	if (r == 0)
		r = spool_add(run, until_ns, bytes.data, bytes.len, limit, reterr);
	is_refused = r == -ENOSPC && !*reterr->text;
	if (r < 0 && !is_refused)
		return r;
	if (is_refused && !state->is_refusing)
		warn_line("windows of run %" PRIu32 " are not kept from now on: what waits to be sent has the size of --limit (%" PRIu64
			  " bytes)", run, limit);
	else if (!is_refused && state->is_refusing)
		note_line("run %" PRIu32 ": there is room for windows again; %" PRIu64 " window%s not kept", run, state->refused_cnt,
			  state->refused_cnt == 1 ? " was" : "s were");
	state->refused_cnt += is_refused ? s->windows.cnt : 0;
	state->is_refusing = is_refused;
	return 0;
}

/* Full windows become one each, with the edges that they have in a digest of the whole run. */
static int spool_full(const struct summed *all, uint32_t run, struct live_state *state, int64_t until_ns, uint64_t limit,
		      struct diag *reterr)
{
	_cleanup_(summed_freep) struct summed *full = chosen(all, state->every_ns, until_ns, true, reterr);
	int64_t last_ns = 0;
	int r;

	if (!full)
		return -EEXIST;
	if (!full->windows.cnt)
		return 0;
	r = summed_roll_up(full, state->every_ns, reterr);
	for (size_t i = 0; i < full->windows.cnt; i++) {
		struct summed_window *w = &full->windows.items[i];

		w->from_ns = window_from(w->from_ns, state->every_ns);
		w->until_ns = w->from_ns + state->every_ns;
		last_ns = w->until_ns > last_ns ? w->until_ns : last_ns;
	}
	return r < 0 ? r : spool(full, run, last_ns, state, limit, reterr);
}

static int write_rest(const struct summed *all, const char *path, const struct live_state *state, int64_t until_ns, struct diag *reterr)
{
	_cleanup_(summed_freep) struct summed *rest = chosen(all, state->every_ns, until_ns, false, reterr);
	_cleanup_(str_release) struct str bytes = STR_INIT;
	int r = rest ? digest_write(rest, &bytes, reterr) : -EEXIST;

	if (r < 0)
		return r;
	if (!rest->windows.cnt) {
		unlink(path);
		return 0;
	}
	r = file_write(path, bytes.data, bytes.len, 0600);
	return r < 0 ? diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot write '%s': %s", path, strerror(-r)) : 0;
}

/* With the stretches before.  A stretch that is among them already was digested before somebody was killed. */
static int unite_with_rest(const char *path, struct summed *one, struct summed **ret, struct diag *reterr)
{
	_cleanup_(uniter_freep) struct uniter *u = uniter_new();
	_cleanup_(summed_freep) struct summed *rest = NULL;
	int r;

	if (file_exists(path) && digest_read(path, &rest, NULL) == 0)
		uniter_add(u, rest);
	uniter_add(u, one);
	r = uniter_end(u, ret, reterr);
	if (r == -EEXIST && rest) {
		*ret = TAKE_PTR(rest);
		r = 0;
	}
	return r;
}

static int digest_stretch(struct store *s, const struct run *r, const struct live_stretch *stretch, struct live_state *state,
			  struct diag *reterr)
{
	_cleanup_(freep) char *path = file_of(s, r->number, REST_FILE);
	_cleanup_(summed_freep) struct summed *one = NULL, *all = NULL;
	struct window_wanted wanted = { .trace = stretch->trace, .from_ns = state->done_ns, .until_ns = stretch->until_ns,
					.window_ns = live_stretch_ns(state->every_ns), .lost_records = stretch->lost_records,
					.lost_before = state->lost_records };
	int e = window_digest_read(s, r, &wanted, &one, &state->since_ns, reterr);

	if (e == 0)
		e = unite_with_rest(path, one, &all, reterr);
	if (e == 0)
		e = spool_full(all, r->number, state, stretch->until_ns, stretch->limit, reterr);
	if (e == 0)
		e = write_rest(all, path, state, stretch->until_ns, reterr);
	state->done_ns = stretch->until_ns;
	if (stretch->lost_records != WINDOW_LOST_OF_TRACE)
		state->lost_records += stretch->lost_records;
	return e;
}

int live_digest(struct store *s, const struct run *r, const struct live_stretch *stretch, struct diag *reterr)
{
	_cleanup_(freep) char *lock_path = file_of(s, r->number, "windows.lock"), *path = file_of(s, r->number, WINDOWS_FILE);
	int lock = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), e = 0;
	struct live_state state;

	if (lock < 0 || flock(lock, LOCK_EX))	/* a killed recorder's process may still be at it */
		e = diag_set(reterr, EXIT_ENVIRONMENT, -errno, "cannot lock '%s': %s", lock_path, strerror(errno));
	if (e == 0 && live_read(s, r->number, &state) && state.done_ns < stretch->until_ns) {
		e = digest_stretch(s, r, stretch, &state, reterr);
		if (e == 0 && stretch->until_ns == INT64_MAX && state.refused_cnt)
			warn_line("%" PRIu64 " window%s of run %" PRIu32 " %s not kept, because what waited to be sent had the size of --limit; "
				  "vprof export --format digest --window has what is left of the trace", state.refused_cnt,
				  state.refused_cnt == 1 ? "" : "s", r->number, state.refused_cnt == 1 ? "was" : "were");
		if (e == 0 && stretch->until_ns != INT64_MAX)
			e = write_state(s, r->number, &state, reterr);
		else if (e == 0 && (unlink(path) || unlink(lock_path)))
			warn_line("cannot remove '%s': %s", path, strerror(errno));
	}
	if (lock >= 0)
		close(lock);
	return e;
}
