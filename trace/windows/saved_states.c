/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * saved_states.c - the file: struct saved_header, then the index, names, times off the CPU, what the replay knows, and the states.
 *
 * Numbers, in this order, which archive.h writes and reads.  It is read into memory as a whole; it is some hundredth of the trace.
 */
#include "trace/windows/saved_states.h"

#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/search.h"
#include "trace/windows/saved_stream.h"
#include "trace/windows/stream.h"

#define SAVED_MAGIC 0x31656d6954566eULL
#define ROOM_OF_TRACE 128	/* one byte for as many of the trace */
#define ROOM_MAX ((size_t)1 << 26)

enum { SAVED_VERSION = 2 };

size_t saved_states_bytes = (size_t)1 << 18;
bool saved_states_trusted;

struct saved_header {
	uint64_t magic;
	uint32_t version, header_bytes;
	uint64_t trace, options;	/* hashes: of the blocks of the trace, of the options under which it was read */
	uint64_t len, head_len;		/* of all that follows; without the states */
	uint64_t checksum;		/* of what is without the states */
};

struct state {
	int64_t until_ns;		/* when its window ended */
	uint64_t len, checksum;
	unsigned char *bytes;		/* reading: in the file's text */
};

struct saving {
	char *path;
	VEC(struct state) list;
	size_t bytes;
	uint64_t window_cnt, spacing;	/* in windows */
};

struct states {
	char *text;			/* the file */
	VEC(struct state) list;		/* by time */
};

/* Mark and interval of each alias; which names count innermost. */
static uint64_t options_hash(const struct reader_options *o)
{
	uint64_t hash = hash_u64(0, o && o->kernel_knows);

	for (size_t i = 0; o && i < o->alias_cnt; i++)
		hash = hash_str(hash_u64(hash_str(hash, o->aliases[i].mark), 1), o->aliases[i].interval);
	for (size_t i = 0; o && i < o->inner_cnt; i++)
		hash = hash_str(hash_u64(hash, 2), o->inner[i]);
	return hash;
}

/* ---- writing ---- */

struct saving *saving_new(const char *path)
{
	struct saving *v = xcalloc(1, sizeof(*v));

	v->path = xstrdup(path);
	v->spacing = 1;
	return v;
}

void saving_free(struct saving *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->list.cnt; i++)
		free(v->list.items[i].bytes);
	VEC_RELEASE(&v->list);
	free(v->path);
	free(v);
}

static void drop_every_second(struct saving *v)
{
	size_t kept = 0;

	v->bytes = 0;
	for (size_t i = 0; i < v->list.cnt; i++) {
		if (i % 2 == 0) {
			free(v->list.items[i].bytes);
			continue;
		}
		v->bytes += v->list.items[i].len;
		v->list.items[kept++] = v->list.items[i];
	}
	v->list.cnt = kept;
	v->spacing *= 2;
}

static size_t room_of(const struct trace_stream *s)
{
	size_t room = s->blocks.size / ROOM_OF_TRACE;

	room = room > saved_states_bytes ? room : saved_states_bytes;
	return room < ROOM_MAX ? room : ROOM_MAX;
}

void saving_note(struct trace_stream *s)
{
	struct saving *v = s->saving;
	struct str bytes = STR_INIT;
	struct archive to = { .out = &bytes };

	if (!v || s->rd.until_ns == INT64_MIN || ++v->window_cnt % v->spacing)
		return;
	stream_save_state(s, &to);
	VEC_ADD(&v->list, (struct state){ s->rd.until_ns, bytes.len, encode_checksum(bytes.data, bytes.len),
					  xrealloc(bytes.data, bytes.len, 1) });
	v->bytes += bytes.len;
	while (v->bytes > room_of(s))
		drop_every_second(v);
}

static void pass_state_head(struct archive *s, struct state *v, const void *unused)
{
	(void)unused;
	archive_time(s, &v->until_ns);
	archive_u64(s, &v->len);
	archive_u64(s, &v->checksum);
}

struct writing {
	struct saved_header header;
	const struct str *head;
	const struct saving *saving;
};

static int write_parts(int fd, void *arg)
{
	const struct writing *w = arg;
	int r = file_write_open(fd, (const char *)&w->header, sizeof(w->header));

	if (r == 0)
		r = file_write_open(fd, w->head->data, w->head->len);
	for (size_t i = 0; r == 0 && i < w->saving->list.cnt; i++)
		r = file_write_open(fd, (const char *)w->saving->list.items[i].bytes, w->saving->list.items[i].len);
	return r;
}

void saving_end(struct trace_stream *s)
{
	_cleanup_(str_release) struct str head = STR_INIT;
	struct archive to = { .out = &head };
	struct writing w = { .head = &head, .saving = s->saving };

	if (!s->saving)
		return;
	stream_save_whole(s, &to);
	ARCHIVE_VEC(&to, &s->saving->list, pass_state_head, NULL);
	w.header = (struct saved_header){ SAVED_MAGIC, SAVED_VERSION, sizeof(w.header), blocks_identity(&s->blocks),
					  options_hash(s->rd.options), head.len + s->saving->bytes, head.len,
					  encode_checksum(head.data, head.len) };
	if (file_write_by(s->saving->path, 0600, write_parts, &w) < 0) {
		/* The next reading begins at the beginning. */
	}
}

void trace_stream_save(struct trace_stream *s, const char *path)
{
	s->saving = saving_new(path);
}

/* ---- reading ---- */

void states_free(struct states *v)
{
	if (!v)
		return;
	VEC_RELEASE(&v->list);
	free(v->text);
	free(v);
}

/* The bytes after the header; NULL: the file is not there, or not of this trace. */
static const unsigned char *read_file(struct states *v, const char *path, const struct trace_stream *s, size_t *ret_len)
{
	struct saved_header h;
	size_t len;

	if (file_read(path, &v->text, &len) < 0 || len < sizeof(h))
		return NULL;
	memcpy(&h, v->text, sizeof(h));
	if (h.magic != SAVED_MAGIC || h.version != SAVED_VERSION || h.header_bytes != sizeof(h) || h.len != len - sizeof(h) ||
	    h.trace != blocks_identity(&s->blocks) || h.options != options_hash(s->rd.options) ||
	    h.head_len > h.len || (h.checksum != encode_checksum(v->text + sizeof(h), h.head_len) && !saved_states_trusted))
		return NULL;
	*ret_len = h.len;
	return (const unsigned char *)v->text + sizeof(h);
}

/* false: they are not where they should be. */
static bool find_states(struct states *v, struct archive *from)
{
	size_t left;

	ARCHIVE_VEC(from, &v->list, pass_state_head, NULL);
	left = (size_t)(from->end - from->at);
	for (size_t i = 0; i < v->list.cnt; i++) {
		struct state *state = &v->list.items[i];

		if (from->failed || state->len > left || (i && state->until_ns <= state[-1].until_ns))
			return false;
		state->bytes = (unsigned char *)v->text + (from->at - (const unsigned char *)v->text);
		if (state->checksum != encode_checksum(state->bytes, state->len) && !saved_states_trusted)
			return false;
		from->at += state->len;
		left -= state->len;
	}
	return !from->failed;
}

int trace_stream_open_saved(const char *path, const char *saved, const struct reader_options *o, struct trace_stream **ret)
{
	_cleanup_(trace_stream_closep) struct trace_stream *s = xcalloc(1, sizeof(*s));
	struct archive from = { .out = NULL };
	struct diag unheard = DIAG_INIT;
	size_t len;

	if (stream_open_file(s, path, o, &unheard) || blocks_have_holes(&s->blocks))
		return TRACE_STREAM_UNFIT;
	s->states = xcalloc(1, sizeof(*s->states));
	from.at = read_file(s->states, saved, s, &len);
	if (!from.at)
		return TRACE_STREAM_UNFIT;
	from.end = from.at + len;
	if (!stream_read_whole(s, &from) || !find_states(s->states, &from))
		return TRACE_STREAM_UNFIT;
	*ret = TAKE_PTR(s);
	return 1;
}

int states_jump(struct trace_stream *s, struct diag *reterr)
{
	const struct time_span *next = s->states && s->wanted ? stream_next_wanted(s->wanted, s->rd.until_ns) : NULL;
	struct archive from = { .out = NULL };
	const struct state *state;
	size_t i;

	if (!next || next->from_ns <= s->rd.until_ns)
		return 0;
	i = partition_point(k, s->states->list.cnt, s->states->list.items[k].until_ns < next->from_ns);
	state = i ? &s->states->list.items[i - 1] : NULL;
	if (!state || state->until_ns <= s->rd.until_ns)
		return 0;
	from.at = state->bytes;
	from.end = state->bytes + state->len;
	stream_save_state(s, &from);
	if (from.failed || s->rd.until_ns != state->until_ns)
		return blocks_damaged(&s->blocks, "what is kept beside it does not belong to it (vprof analyze makes it anew)", reterr);
	return stream_load_from(s, reterr);
}
