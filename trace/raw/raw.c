/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * raw.c - the blocks of a trace file (blocks.h) -> struct raw.  Every number is checked before it is used as
 * an index.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "trace/blocks.h"
#include "trace/encode.h"
#include "trace/parts.h"
#include "trace/raw/cpu_use.h"
#include "trace/raw/holes.h"
#include "trace/raw/raw.h"

static int decode_block(struct raw *r, const struct blocks *b, uint64_t number, struct diag *reterr);

void raw_release(struct raw *r)
{
	map_free(r->thread_of);
	VEC_RELEASE(&r->threads);
	VEC_RELEASE(&r->events);
	VEC_RELEASE(&r->invocations);
	VEC_RELEASE(&r->functions);
	VEC_RELEASE(&r->labels);
	VEC_RELEASE(&r->anchors);
	VEC_RELEASE(&r->pauses);
	VEC_RELEASE(&r->accounts);
	VEC_RELEASE(&r->cpu_use.users);
	map_free(r->cpu_users);
	VEC_RELEASE(&r->holes);
	VEC_RELEASE(&r->gaps);
	if (r->found)
		holes_release(r->found);
	free(r->found);
}

static int read_file(struct raw *r, const char *path, struct map *seen, struct diag *reterr)
{
	struct blocks b;
	int err = blocks_open(&b, path, TRACE_MAGIC, TRACE_VERSION, reterr);

	blocks_share_seen(&b, seen);
	while (!err && blocks_next(&b, &err, reterr))
		err = decode_block(r, &b, holes_block(r->found, &b), reterr);
	r->cut_bytes += b.cut_bytes;
	holes_file(r->found, &b);
	blocks_close(&b);
	return err;
}

/* Whether there is anything to read.  A file without a whole block counts as a hole if there are other files. */
static int judge(const struct raw *r, int err, const char *path, struct diag *reterr)
{
	if (err && err != -EBADMSG)
		return err;
	if (r->found->numbers.cnt)
		return 0;
	if (!err && r->found->damaged_bytes)
		err = diag_set(reterr, EXIT_DATA, -EBADMSG, "trace '%s' is damaged: none of its blocks is whole", path);
	return err;
}

/* The trace itself is read last: its end describes all parts. */
int raw_read(struct raw *r, const char *path, struct diag *reterr)
{
	size_t cnt;
	_cleanup_(trace_parts_release) char **parts = trace_parts(path, &cnt);
	_cleanup_(map_freep) struct map *seen = map_new();
	int err = 0, part_err = 0;

	r->thread_of = map_new();
	r->found = xcalloc(1, sizeof(*r->found));
	for (size_t i = 0; i < cnt && (!err || err == -EBADMSG); i++) {
		err = read_file(r, parts[i], seen, reterr);
		part_err = err ? err : part_err;
	}
	if (!err || err == -EBADMSG)
		err = read_file(r, path, seen, reterr);
	r->damage.files += (part_err != 0) + (err != 0);
	err = judge(r, err, path, reterr);
	if (!err)
		holes_settle(r->found, r);
	return err;
}

uint32_t raw_add_thread(struct raw *r, const struct raw_chunk *c)
{
	uint64_t *index = map_slot(r->thread_of, c->serial);

	if (!*index) {
		VEC_ADD(&r->threads, (struct raw_thread){ .serial = c->serial, .pid = c->pid,
			.kernel_tid = c->tid, .first_ns = INT64_MAX, .last_ns = INT64_MIN });
		*index = r->threads.cnt;
	}
	return (uint32_t)*index - 1;
}

bool raw_decode_chunk(struct decoder *d, struct raw_chunk *ret)
{
	uint64_t pid, tid;

	ret->serial = decode_varint(d);
	pid = decode_varint(d);
	tid = decode_varint(d);
	ret->cnt = decode_varint(d);
	ret->pid = (uint32_t)pid;
	ret->tid = (uint32_t)tid;
	if (d->bad || pid > UINT32_MAX || tid > UINT32_MAX || !ret->serial || ret->cnt > decode_left(d))
		d->bad = true;
	return !d->bad;
}

void raw_decode_record(struct decoder *d, uint64_t *before, struct raw_record *ret)
{
	uint64_t head = decode_varint(d);

	ret->ticks = *before + (uint64_t)unzigzag(decode_varint(d));
	*before = ret->ticks;
	if (!(head & 1)) {
		ret->kind = EVENT_NONE;
		ret->fid = (uint32_t)(head >> 1);
		ret->words[0] = ret->ticks + decode_varint(d);
		if (head >> 1 == 0 || head >> 1 > TRACE_FIDS_MAX)
			d->bad = true;
		return;
	}
	if (head >> 1 == EVENT_NONE || head >> 1 >= EVENT_CNT) {
		d->bad = true;
		return;
	}
	ret->kind = (enum trace_event)(head >> 1);
	ret->caller = ret->polls = 0;
	for (unsigned int i = 0; i < event_words(ret->kind); i++)
		ret->words[i] = decode_varint(d);
	if (ret->kind != EVENT_WAIT)
		return;
	ret->polls = wait_word_polls(&ret->words[1]);
	ret->caller = wait_word_caller(&ret->words[1]) & INT32_MAX;
}

void raw_add_own_look(struct raw *r, uint32_t thread, const struct raw_record *record)
{
	uint64_t serial = r->threads.items[thread].serial;
	struct raw_account *last = r->accounts.cnt ? &r->accounts.items[r->accounts.cnt - 1] : NULL;

	if (record->kind == EVENT_ACCOUNT)
		VEC_ADD(&r->accounts, (struct raw_account){ .serial = serial, .ns = (int64_t)record->ticks, .run_ns = record->words[0],
			.look_cnt = 1, .is_own = true });
	else if (record->kind == EVENT_SWITCHES && last && last->is_own && last->serial == serial && record->words[0] < UINT64_MAX)
		last->left_cnt = record->words[0] + 1;
}

static void add_record(struct raw *r, uint32_t thread, const struct raw_record *record)
{
	struct raw_event *e;

	if (record->kind == EVENT_NONE) {
		VEC_ADD(&r->invocations, (struct raw_invocation){
			(int64_t)record->ticks, (int64_t)record->words[0], thread, record->fid,
			(uint32_t)r->invocations.cnt });
		return;
	}
	raw_add_own_look(r, thread, record);
	e = VEC_EXTEND(&r->events);
	e->ns = (int64_t)record->ticks;
	e->thread = thread;
	e->order = (uint32_t)r->events.cnt;
	e->kind = record->kind;
	e->caller = record->caller;
	e->polls = record->polls;
	memcpy(e->words, record->words, event_words(record->kind) * sizeof(e->words[0]));
}

/* Successive calls of a chunk are read in batches of this size. */
enum { CALLS_AT_ONCE = 256 };

static void saw(struct holes_chunk *c, uint64_t logged)
{
	c->first = logged < c->first ? logged : c->first;
	c->last = logged > c->last ? logged : c->last;
}

static void add_calls(struct raw *r, struct holes_chunk *c, const struct raw_call *calls, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		VEC_ADD(&r->invocations, (struct raw_invocation){
			(int64_t)calls[i].start, (int64_t)calls[i].end, c->thread, calls[i].fid,
			(uint32_t)r->invocations.cnt });
		saw(c, calls[i].end);
	}
}

static void take_record(struct raw *r, struct holes_chunk *c, const struct raw_record *record)
{
	add_record(r, c->thread, record);
	if (record->kind == EVENT_NONE)
		saw(c, record->words[0]);
	else if (record->kind != EVENT_OPEN_FRAME)
		saw(c, raw_logged_at(record));
	c->started |= record->kind == EVENT_START;
	c->stopped |= record->kind == EVENT_STOP;
}

static void decode_records(struct raw *r, struct decoder *d, struct holes_chunk *chunk, uint64_t left)
{
	struct raw_call calls[CALLS_AT_ONCE];
	uint64_t before = 0;

	while (left && !d->bad) {
		size_t cnt = raw_decode_calls(d, &before, calls, left < CALLS_AT_ONCE ? left : CALLS_AT_ONCE);
		struct raw_record record;

		add_calls(r, chunk, calls, cnt);
		left -= cnt ? cnt : 1;
		if (cnt)
			continue;
		raw_decode_record(d, &before, &record);
		if (!d->bad)
			take_record(r, chunk, &record);
	}
}

/* number: of their block. */
static void decode_chunks(struct raw *r, struct decoder *d, uint64_t number)
{
	struct raw_chunk c;

	while (!d->bad && decode_left(d) && raw_decode_chunk(d, &c)) {
		struct holes_chunk chunk = { .number = number, .first = UINT64_MAX, .thread = raw_add_thread(r, &c) };

		decode_records(r, d, &chunk, c.cnt);
		if (chunk.first <= chunk.last)
			VEC_ADD(&r->found->chunks, chunk);
	}
}

static const char *decode_name(struct raw *r, struct decoder *d)
{
	size_t len;
	const char *text = decode_text(d, &len);

	return text ? arena_strndup(r->arena, text, len) : NULL;
}

static void decode_functions(struct raw *r, struct decoder *d)
{
	while (!d->bad && decode_left(d)) {
		uint64_t fid = decode_varint(d);
		struct raw_function f = { .key = decode_varint(d) };

		f.line = (uint32_t)decode_varint(d);
		f.level = (uint32_t)decode_varint(d);
		f.name = decode_name(r, d);
		f.file = decode_name(r, d);
		if (d->bad || !fid || fid > TRACE_FIDS_MAX) {
			d->bad = true;
			return;
		}
		while (r->functions.cnt <= fid)
			VEC_EXTEND(&r->functions);
		r->functions.items[fid] = f;
	}
}

static void decode_labels(struct raw *r, struct decoder *d)
{
	while (!d->bad && decode_left(d)) {
		uint64_t id = decode_varint(d);
		const char *name = decode_name(r, d);

		if (d->bad || id > TRACE_LABELS_MAX) {
			d->bad = true;
			return;
		}
		while (r->labels.cnt <= id)
			VEC_EXTEND(&r->labels);
		r->labels.items[id] = name;
	}
}

static void decode_anchors(struct raw *r, struct decoder *d)
{
	while (!d->bad && decode_left(d)) {
		struct raw_anchor a = { .ticks = decode_varint(d) };

		a.mono_ns = decode_varint(d);
		decode_varint(d);		/* CLOCK_REALTIME: for people, not for us */
		if (!d->bad)
			VEC_ADD(&r->anchors, a);
	}
}

static void decode_window(struct raw *r, struct decoder *d)
{
	uint64_t from = decode_varint(d), until = decode_varint(d), keep_ns = decode_varint(d);

	r->windowed = true;
	if (from > r->from_ticks)
		r->from_ticks = from;
	if (until && (!r->until_ticks || until < r->until_ticks))
		r->until_ticks = until;
	if (keep_ns && (!r->keep_ns || keep_ns < r->keep_ns))
		r->keep_ns = keep_ns;
}

/* The last entry about a pause counts: a recorder that is killed during the pause leaves only the first. */
static void decode_pauses(struct raw *r, struct decoder *d)
{
	while (!d->bad && decode_left(d)) {
		struct raw_pause pause = { .from = decode_varint(d) };
		size_t at = r->pauses.cnt;

		pause.until = decode_varint(d);
		if (d->bad)
			return;
		while (at && r->pauses.items[at - 1].from != pause.from)
			at--;
		if (at)
			r->pauses.items[at - 1] = pause;
		else
			VEC_ADD(&r->pauses, pause);
	}
}

static void decode_accounts(struct raw *r, struct decoder *d)
{
	while (!d->bad && decode_left(d)) {
		struct raw_account a = { .serial = decode_varint(d) };
		uint64_t slices;

		a.ns = (int64_t)decode_varint(d);
		a.run_ns = decode_varint(d);
		a.delay_ns = decode_varint(d);
		slices = decode_varint(d);
		a.slices = slices >> 1;
		a.is_off = slices & 1;
		a.look_cnt = decode_varint(d);
		if (!d->bad)
			VEC_ADD(&r->accounts, a);
	}
}

int raw_decode_table(struct raw *r, const struct blocks *b, struct diag *reterr)
{
	struct decoder d = { b->plain, b->plain + b->len, false };

	switch (b->kind) {
	case BLOCK_ANCHORS:
		decode_anchors(r, &d);
		break;
	case BLOCK_FUNCTIONS:
		decode_functions(r, &d);
		break;
	case BLOCK_LABELS:
		decode_labels(r, &d);
		break;
	case BLOCK_WINDOW:
		decode_window(r, &d);
		break;
	case BLOCK_PAUSES:
		decode_pauses(r, &d);
		break;
	case BLOCK_TABLES:
		full_tables_decode(&r->full, &d);
		break;
	case BLOCK_ACCOUNTS:
		decode_accounts(r, &d);
		break;
	case BLOCK_CPU_USE:
		if (!r->cpu_users)
			r->cpu_users = map_new();
		cpu_use_decode(&r->cpu_use, r->cpu_users, r->arena, &d);
		break;
	case BLOCK_CONTENTS:
		d.bad = r->found && !holes_decode_contents(r->found, &d);
		break;
	case BLOCK_END:
		r->ended = true;
		r->lost_cnt = decode_varint(&d);
		r->lost_since = decode_varint(&d);
		break;
	default:
		return blocks_damaged(b, "a block of unknown kind", reterr);
	}
	return d.bad ? blocks_damaged(b, "a record makes no sense", reterr) : 0;
}

static int decode_block(struct raw *r, const struct blocks *b, uint64_t number, struct diag *reterr)
{
	struct decoder d = { b->plain, b->plain + b->len, false };

	if (b->kind != BLOCK_CHUNKS)
		return raw_decode_table(r, b, reterr);
	decode_chunks(r, &d, number);
	return d.bad ? blocks_damaged(b, "a record makes no sense", reterr) : 0;
}
