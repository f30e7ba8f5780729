/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write.c - records of the kernel's programs into the file, as trace/kernel_format.h says.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "recorder/block_queue.h"
#include "recorder/calls.h"
#include "recorder/bpf/record.h"
#include "recorder/recorder_internal.h"
#include "recorder/stacks/stacks.h"

enum { BLOCK_CAP = 1 << 18, RECORD_MAX = 256 };

int writer_open(struct writer *w, const char *path)
{
	memset(w, 0, sizeof(*w));
	w->file.fd = -1;
	alike_begin_block(&w->alike);
	w->block.data = malloc(BLOCK_CAP);
	w->block.cap = BLOCK_CAP;
	if (!w->block.data)
		return -ENOMEM;
	return trace_file_open(&w->file, path, KERNEL_MAGIC, KERNEL_VERSION);
}

/* Waits until everything in the queue has been written. */
static void end_queue(struct writer *w)
{
	block_queue_close(w->queue);
	w->queue = NULL;
}

int writer_close(struct writer *w)
{
	end_queue(w);
	free(w->block.data);
	w->block.data = NULL;
	return trace_file_close(&w->file);
}

void writer_flush(struct writer *w)
{
	block_queue_put(w->queue, KERNEL_RECORDS, &w->block);
	w->before_ns = 0;
	alike_begin_block(&w->alike);
}

/* Most numbers take one byte; how many others take cannot be predicted, so this has no branch. */
static inline void put(struct writer *w, uint64_t value)
{
	unsigned char *at = w->block.data + w->block.len;

	if (value <= 0x7f || value >> 56 || encode_room(&w->block) < sizeof(value))
		encode_varint(&w->block, value);
	else
		w->block.len += (size_t)(encode_short_varint(at, value) - at);
}

static void put_time(struct writer *w, uint64_t ns)
{
	put(w, zigzag((int64_t)(ns - w->before_ns)));
	w->before_ns = ns;
}

static void make_room(struct writer *w)
{
	if (encode_room(&w->block) < RECORD_MAX)
		writer_flush(w);
}

static void put_head(struct writer *w, uint64_t kind, uint64_t tid, uint64_t ns)
{
	put(w, kind);
	put(w, tid);
	put_time(w, ns);
}

/* Writes the head of a record, with all fields of the key.  False: the other fields have to follow. */
static bool put_head_if_alike(struct writer *w, const struct alike_key *key, uint64_t ns)
{
	int64_t number;

	make_room(w);
	number = alike_number(&w->alike, key);
	if (number == ALIKE_NEW) {
		put_head(w, key->kind, key->tid, ns);
		return false;
	}
	put(w, KERNEL_RECORD_KIND_CNT + (uint64_t)number);
	put_time(w, ns);
	return true;
}

int writer_begin(struct writer *w, bool reduced, uint32_t sample_ns)
{
	put(w, reduced);
	put(w, sample_ns);
	put(w, w->exchanges);
	put(w, w->sample_cost_ns);
	trace_file_block(&w->file, KERNEL_BEGIN, w->block.data, w->block.len);
	w->block.len = 0;
	return block_queue_open(&w->file, &w->queue);
}

/* Looks up its name at the end. */
static void note_device(struct writer *w, enum kernel_waker kind, uint32_t number)
{
	if (kind == WAKER_TASK)
		return;
	for (unsigned int i = 0; i < w->device_cnt; i++)
		if (w->devices[i].kind == kind && w->devices[i].number == number)
			return;
	if (w->device_cnt < WRITE_DEVICES_MAX)
		w->devices[w->device_cnt++] = (struct device){ kind, number };
}

static void put_off_in_full(struct writer *w, const struct record_off *r)
{
	put(w, r->pid);
	put(w, r->ns - r->out_ns);
	put(w, r->flags & OFF_WOKEN ? zigzag((int64_t)(r->ns - r->woken_ns)) : 0);
	put(w, r->flags);
	put(w, r->state);
	put(w, r->state ? (uint64_t)((int64_t)r->syscall + 1) : 0);
	put(w, r->waker_kind);
	put(w, r->waker);
	put(w, r->lost);
	if (r->flags & OFF_ARGUMENTS)
		for (int i = 0; i < 3; i++)
			put(w, r->argument[i]);
	if (r->flags & OFF_WOKEN)
		note_device(w, r->waker_kind, r->waker);
}

static void put_off(struct writer *w, const struct record_off *r)
{
	struct alike_key key = {
		.kind = KERNEL_OFF, .tid = r->tid, .pid = r->pid, .state = r->state, .flags = r->flags,
		.waker_kind = r->waker_kind, .waker = r->waker, .lost = r->lost, .number = r->state ? r->syscall : 0,
	};

	if (r->flags & OFF_ARGUMENTS)
		memcpy(key.argument, r->argument, sizeof(key.argument));
	w->records++;
	if (!put_head_if_alike(w, &key, r->ns)) {
		put_off_in_full(w, r);
		return;
	}
	put(w, r->ns - r->out_ns);
	if (r->flags & OFF_WOKEN)
		put(w, zigzag((int64_t)(r->ns - r->woken_ns)));
}

static void put_stack_number(struct writer *w, uint32_t tid, uint64_t ns, enum kernel_stack_reason reason, uint32_t number)
{
	struct alike_key key = { .kind = KERNEL_STACK, .tid = tid, .number = number, .reason = reason };

	if (!put_head_if_alike(w, &key, ns)) {
		put(w, reason);
		put(w, number);
	}
	if (w->stacks)
		stacks_count(w->stacks, number);
}

/* Writes a number plus one; 0: there is none, or it has a record of its own. */
static void put_known_stack(struct writer *w, uint32_t tid, uint64_t ns, enum kernel_stack_reason reason, uint32_t number)
{
	if (!number)
		return;
	put_stack_number(w, tid, ns, reason, number - 1);
	w->stack_records++;
}

static void put_life(struct writer *w, const struct record_life *r)
{
	static const uint64_t kinds[] = {
		[RECORD_FORK] = KERNEL_FORK, [RECORD_EXEC] = KERNEL_EXEC,
		[RECORD_EXIT] = KERNEL_EXIT, [RECORD_SEEN] = KERNEL_SEEN,
	};

	make_room(w);
	put_head(w, kinds[r->kind], r->tid, r->ns);
	w->records++;
	put(w, r->pid);
	put(w, r->other);
	encode_text(&w->block, r->name, strnlen(r->name, sizeof(r->name)));
}

static void put_request(struct writer *w, const struct record_request *r)
{
	struct alike_key key = {
		.kind = r->device_kind == WAKER_NIC ? KERNEL_PACKET : KERNEL_REQUEST, .tid = r->tid, .number = r->device,
	};

	if (!put_head_if_alike(w, &key, r->ns))
		put(w, r->device);
	put(w, r->ns - r->issue_ns);
}

static void put_exchange(struct writer *w, const struct record_exchange *r)
{
	w->exchange_cnt++;
	make_room(w);
	put_head(w, KERNEL_EXCHANGE, r->sender, r->ns);
	put(w, r->receiver);
	put(w, r->connection);
	put(w, r->port);
	put(w, r->flags);
	put(w, r->ns - r->start_ns);
	put(w, zigzag((int64_t)(r->first_read_ns - r->start_ns)));
	put(w, zigzag((int64_t)(r->last_read_ns - r->first_read_ns)));
	put(w, zigzag((int64_t)(r->first_send_ns - r->last_read_ns)));
	put(w, zigzag((int64_t)(r->last_send_ns - r->first_send_ns)));
	put(w, r->bytes_in);
	put(w, r->bytes_out);
	put(w, r->unsolicited);
}

static void put_upstream(struct writer *w, const struct record_upstream *r)
{
	bool is_path = r->port >= EXCHANGE_PATH;

	make_room(w);
	put_head(w, KERNEL_UPSTREAM, r->tid, r->ns);
	put(w, r->after_wait);
	put(w, r->connection);
	if (r->connection) {
		put(w, r->ns - r->arrival_ns);
		put(w, r->arrival_ns - r->sent_ns);
	}
	put(w, is_path ? r->port : 0);
	if (!is_path) {
		const char *name = upstream_name(&w->upstreams, r);

		encode_text(&w->block, name, strlen(name));
	}
}

static void put_stack(struct writer *w, const struct record_stack *r, size_t len)
{
	uint32_t number = w->stacks ? stacks_number(w->stacks, r, len) : STACK_NONE;

	w->stack_records++;
	if (number == STACK_NONE) {
		w->unknown_stacks++;
		return;
	}
	put_stack_number(w, r->tid, r->ns, r->reason, number);
}

void writer_record(struct writer *w, const void *record, size_t len)
{
	const struct record_off *off = record;

	if (len >= sizeof(struct record_off) && off->kind == RECORD_OFF) {
		put_known_stack(w, off->tid, off->out_ns, STACK_OUT, off->stack);
		put_known_stack(w, off->waker, off->woken_ns, STACK_WAKER, off->waker_stack);
		put_off(w, off);
	} else if (len >= sizeof(struct record_life) && off->kind > RECORD_OFF && off->kind <= RECORD_SEEN)
		put_life(w, record);
	else if (len >= sizeof(struct record_request) && off->kind == RECORD_REQUEST)
		put_request(w, record);
	else if (len >= sizeof(struct record_exchange) && off->kind == RECORD_EXCHANGE)
		put_exchange(w, record);
	else if (len >= sizeof(struct record_upstream) && off->kind == RECORD_UPSTREAM)
		put_upstream(w, record);
	else if (len >= offsetof(struct record_stack, user) && off->kind == RECORD_STACK)
		put_stack(w, record, len);
}

static void end_texts(struct writer *w, uint64_t kind)
{
	trace_file_block(&w->file, kind, w->block.data, w->block.len);
	w->block.len = 0;
}

/* In a block of any size that fits. */
static void put_text(struct writer *w, uint64_t kind, const char *text, size_t len)
{
	if (len > BLOCK_CAP / 2)
		len = BLOCK_CAP / 2;
	if (encode_room(&w->block) < len + RECORD_MAX)
		end_texts(w, kind);
	encode_text(&w->block, text, len);
}

static void put_stack_text(void *context, const char *text, size_t len)
{
	put_text(context, KERNEL_STACKS, text, len);
}

static void put_system_name(void *context, const char *text, size_t len)
{
	put_text(context, KERNEL_SYSTEM, text, len);
}

static void write_stacks(struct writer *w)
{
	if (!w->stacks)
		return;
	stacks_each(w->stacks, put_stack_text, w, &w->unnamed);
	end_texts(w, KERNEL_STACKS);
	if (w->exchanges != EXCHANGES_REQUESTS)
		return;
	stacks_each_system(w->stacks, put_system_name, w);
	end_texts(w, KERNEL_SYSTEM);
}

static void write_paths(struct writer *w)
{
	for (size_t i = 0; i < w->path_cnt; i++)
		put_text(w, KERNEL_PATHS, w->paths[i], strlen(w->paths[i]));
	if (w->path_cnt)
		end_texts(w, KERNEL_PATHS);
}

static void write_calls(struct writer *w)
{
	if (!w->calls)
		return;
	put_text(w, KERNEL_CALLS, w->calls->name, strlen(w->calls->name));
	if (*w->calls->start)
		put_text(w, KERNEL_CALLS, w->calls->start, strlen(w->calls->start));
	if (*w->calls->start && *w->calls->end)
		put_text(w, KERNEL_CALLS, w->calls->end, strlen(w->calls->end));
	end_texts(w, KERNEL_CALLS);
}

static void write_names(struct writer *w)
{
	char name[64];

	for (unsigned int i = 0; i < w->device_cnt; i++) {
		if (!device_name(&w->devices[i], name, sizeof(name)))
			continue;
		put(w, w->devices[i].kind);
		put(w, w->devices[i].number);
		encode_text(&w->block, name, strlen(name));
	}
	trace_file_block(&w->file, KERNEL_NAMES, w->block.data, w->block.len);
	w->block.len = 0;
}

void writer_end(struct writer *w, uint64_t start_ns, uint64_t end_ns, uint64_t lost)
{
	writer_flush(w);
	end_queue(w);
	write_stacks(w);
	write_paths(w);
	write_calls(w);
	write_names(w);
	put(w, start_ns);
	put(w, end_ns);
	put(w, lost);
	put(w, w->unasked);
	put(w, w->exchange_cost_ns);
	put(w, w->calls_without_start);
	put(w, w->watched_ns);
	trace_file_last(&w->file, KERNEL_END, w->block.data, w->block.len);
	w->block.len = 0;
}
