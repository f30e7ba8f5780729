/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * raw.c - the bytes of a trace file -> struct raw.  Nothing in the file is believed: sizes are
 * checked before memory is taken, numbers before they are used as indexes.
 *
 * The file is cut where its last block is not whole: a recorder that was killed leaves that, and
 * all before is good.  A block that is whole but does not match its checksum is damage.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>
#include "base/banned.h"
#include "trace/encode.h"
#include "trace/raw.h"

enum { RATIO_MAX = 512 };	/* zstd makes no trace smaller than that: a bomb */

struct source {
	const char *path;
	int fd;
	uint64_t at, size;
	unsigned char *packed, *plain;
	struct diag *reterr;
};

static int read_blocks(struct raw *r, struct source *s);
static int decode_block(struct raw *r, const struct source *s, uint32_t kind, size_t len);

static int damaged(const struct source *s, const char *what)
{
	return diag_set(s->reterr, EXIT_DATA, -EBADMSG, "trace '%s' is damaged at byte %llu: %s",
			s->path, (unsigned long long)s->at, what);
}

void raw_release(struct raw *r)
{
	map_free(r->thread_of);
	VEC_RELEASE(&r->threads);
	VEC_RELEASE(&r->events);
	VEC_RELEASE(&r->invocations);
	VEC_RELEASE(&r->functions);
	VEC_RELEASE(&r->labels);
	VEC_RELEASE(&r->anchors);
}

/* false: the file ends before len bytes, or cannot be read. */
static bool read_at(const struct source *s, void *data, size_t len, uint64_t at)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(s->fd, (char *)data + done, len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

int raw_read(struct raw *r, const char *path, struct diag *reterr)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_(freep) unsigned char *packed = xmalloc(ZSTD_COMPRESSBOUND(TRACE_BLOCK_RAW_MAX));
	_cleanup_(freep) unsigned char *plain = xmalloc(TRACE_BLOCK_RAW_MAX);
	struct source s = { path, fd, 0, 0, packed, plain, reterr };
	struct trace_header header;
	struct stat st;

	r->thread_of = map_new();
	if (fd < 0 || fstat(fd, &st))
		return diag_set(reterr, EXIT_DATA, -errno, "cannot read trace '%s': %s", path,
				strerror(errno));
	s.size = (uint64_t)st.st_size;
	if (!read_at(&s, &header, sizeof(header), 0) || header.magic != TRACE_MAGIC)
		return diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' is not a vprof trace", path);
	if (header.version != TRACE_VERSION || header.header_bytes != sizeof(header))
		return diag_set(reterr, EXIT_DATA, -EBADMSG,
				"trace '%s' has format version %u; this vprof reads version %u",
				path, header.version, TRACE_VERSION);
	s.at = sizeof(header);
	return read_blocks(r, &s);
}

static int read_blocks(struct raw *r, struct source *s)
{
	struct trace_block block;
	size_t len;
	int err;

	for (; s->at < s->size; s->at += sizeof(block) + block.stored_bytes) {
		r->cut_bytes = s->size - s->at;
		if (!read_at(s, &block, sizeof(block), s->at))
			return 0;
		if (block.magic != TRACE_BLOCK_MAGIC)
			return damaged(s, "no block begins here");
		if (!block.raw_bytes || block.raw_bytes > TRACE_BLOCK_RAW_MAX ||
		    block.stored_bytes > ZSTD_COMPRESSBOUND(TRACE_BLOCK_RAW_MAX) ||
		    block.raw_bytes / RATIO_MAX > block.stored_bytes)
			return damaged(s, "a block of impossible size");
		if (!read_at(s, s->packed, block.stored_bytes, s->at + sizeof(block)))
			return 0;
		if (encode_checksum(s->packed, block.stored_bytes) != block.checksum)
			return damaged(s, "the checksum of a block is wrong");
		len = ZSTD_decompress(s->plain, block.raw_bytes, s->packed, block.stored_bytes);
		if (ZSTD_isError(len) || len != block.raw_bytes)
			return damaged(s, "a block cannot be unpacked");
		err = decode_block(r, s, block.kind, len);
		if (err)
			return err;
	}
	r->cut_bytes = 0;
	return 0;
}

uint32_t raw_find_thread(const struct raw *r, uint64_t serial)
{
	uint64_t index;

	return map_get(r->thread_of, serial, &index) ? (uint32_t)index - 1 : UINT32_MAX;
}

static uint32_t add_thread(struct raw *r, uint64_t serial, uint32_t pid, uint32_t tid)
{
	uint64_t *index = map_slot(r->thread_of, serial);

	if (!*index) {
		VEC_ADD(&r->threads, (struct raw_thread){ .serial = serial, .pid = pid,
			.kernel_tid = tid, .first_ns = INT64_MAX, .last_ns = INT64_MIN });
		*index = r->threads.cnt;
	}
	return (uint32_t)*index - 1;
}

static void decode_record(struct raw *r, struct decoder *d, uint32_t thread, uint64_t *before)
{
	uint64_t head = decode_varint(d);
	uint64_t ticks = *before + (uint64_t)unzigzag(decode_varint(d)), end;
	struct raw_event *e;

	*before = ticks;
	if (!(head & 1)) {
		end = ticks + decode_varint(d);
		if (head >> 1 == 0 || head >> 1 > UINT16_MAX)
			d->bad = true;
		else
			VEC_ADD(&r->invocations, (struct raw_invocation){
				(int64_t)ticks, (int64_t)end, thread, (uint32_t)(head >> 1),
				(uint32_t)r->invocations.cnt });
		return;
	}
	if (head >> 1 == EVENT_NONE || head >> 1 >= EVENT_CNT) {
		d->bad = true;
		return;
	}
	e = VEC_EXTEND(&r->events);
	e->ns = (int64_t)ticks;
	e->thread = thread;
	e->order = (uint32_t)r->events.cnt;
	e->kind = (enum trace_event)(head >> 1);
	for (unsigned int i = 0; i < event_words(e->kind); i++)
		e->words[i] = decode_varint(d);
}

static void decode_chunks(struct raw *r, struct decoder *d)
{
	while (!d->bad && decode_left(d)) {
		uint64_t serial = decode_varint(d), pid = decode_varint(d), tid = decode_varint(d);
		uint64_t cnt = decode_varint(d), before = 0;
		uint32_t thread;

		if (d->bad || pid > UINT32_MAX || tid > UINT32_MAX || !serial ||
		    cnt > decode_left(d)) {
			d->bad = true;
			return;
		}
		thread = add_thread(r, serial, (uint32_t)pid, (uint32_t)tid);
		while (cnt-- && !d->bad)
			decode_record(r, d, thread, &before);
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
		if (d->bad || !fid || fid > UINT16_MAX) {
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

		if (d->bad || id > UINT16_MAX) {
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

static int decode_block(struct raw *r, const struct source *s, uint32_t kind, size_t len)
{
	struct decoder d = { s->plain, s->plain + len, false };

	switch (kind) {
	case BLOCK_CHUNKS:
		decode_chunks(r, &d);
		break;
	case BLOCK_ANCHORS:
		decode_anchors(r, &d);
		break;
	case BLOCK_FUNCTIONS:
		decode_functions(r, &d);
		break;
	case BLOCK_LABELS:
		decode_labels(r, &d);
		break;
	case BLOCK_END:
		r->lost_cnt = decode_varint(&d);
		r->lost_since = decode_varint(&d);
		break;
	default:
		return damaged(s, "a block of unknown kind");
	}
	return d.bad ? damaged(s, "a record makes no sense") : 0;
}
