/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_read.c - the blocks of kernel.vpk (kernel_format.h) -> struct kernel_trace.  Every field is checked:
 * impossible values are damage, overlapping times are cut.
 *
 *	thread 7 off 100..195, and again 190..300 (two namespaces may both have a 7): the second
 *	begins at 195
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "base/banned.h"
#include "trace/blocks.h"
#include "trace/encode.h"
#include "trace/kernel/kernel.h"
#include "trace/kernel/kernel_merging.h"

enum { NAME_MAX_BYTES = 64 };
#define NS_MAX (INT64_MAX / 4)

void kernel_release(struct kernel_trace *k)
{
	if (k->spilled_bytes) {
		munmap(k->offs.items, k->spilled_bytes);
		k->offs.items = NULL;
		k->spilled_bytes = 0;
	}
	VEC_RELEASE(&k->offs);
	VEC_RELEASE(&k->lives);
	VEC_RELEASE(&k->names);
	VEC_RELEASE(&k->stacks);
	VEC_RELEASE(&k->texts);
	VEC_RELEASE(&k->system);
	VEC_RELEASE(&k->paths);
	VEC_RELEASE(&k->calls);
	VEC_RELEASE(&k->exchanges);
	VEC_RELEASE(&k->upstreams);
	VEC_RELEASE(&k->upstream_names);
	VEC_RELEASE(&k->requests);
	arena_free(k->arena);
}

static const char *decode_name(struct kernel_trace *k, struct decoder *d)
{
	size_t len;
	const char *text = decode_text(d, &len);

	if (!text || len > NAME_MAX_BYTES) {
		d->bad = true;
		return "";
	}
	return arena_strndup(k->arena, text, strnlen(text, len));
}

static uint32_t decode_u32(struct decoder *d)
{
	uint64_t value = decode_varint(d);

	if (value > UINT32_MAX)
		d->bad = true;
	return (uint32_t)value;
}

/* A record without its times; another record may repeat it. */
struct said {
	enum kernel_record_kind kind;
	union {
		struct kernel_off off;
		struct kernel_stack stack;
		struct kernel_request request;
	};
};
typedef VEC(struct said) all_said;

static void sum_runqueue(struct kernel_trace *k, const struct kernel_off *o)
{
	int64_t ready_ns = kernel_blocked(o) ? o->woken_ns : o->out_ns;
	double squared;

	if (o->flags & (OFF_OPEN | OFF_KERNEL_THREAD) || (kernel_blocked(o) && !(o->flags & OFF_WOKEN)) || ready_ns >= o->in_ns)
		return;
	squared = (double)(o->in_ns - ready_ns) * (double)(o->in_ns - ready_ns);
	k->runqueue.all += squared;
	if (o->flags & OFF_FROM_IDLE)
		k->runqueue.from_idle += squared;
}

static void add_off(struct kernel_trace *k, struct decoder *d, struct kernel_off *o, int64_t ns, uint64_t length,
		    int64_t since_woken)
{
	if (d->bad || length > (uint64_t)ns || since_woken < 0 || since_woken > ns) {
		d->bad = true;
		return;
	}
	o->in_ns = ns;
	o->out_ns = ns - (int64_t)length;
	o->woken_ns = ns - since_woken;
	sum_runqueue(k, o);
	if (o->out_ns < o->in_ns && o->in_ns > k->last_off_ns)
		k->last_off_ns = o->in_ns;
	if (k->take_off)
		k->take_off(k->take_arg, o);
	else
		VEC_ADD(&k->offs, *o);
}

static void decode_off(struct kernel_trace *k, struct decoder *d, struct kernel_off *o, int64_t ns)
{
	uint64_t length, syscall, kind;
	int64_t since_woken;

	o->pid = decode_u32(d);
	length = decode_varint(d);
	since_woken = unzigzag(decode_varint(d));
	o->flags = decode_u32(d);
	o->state = decode_u32(d);
	syscall = decode_varint(d);
	kind = decode_varint(d);
	o->waker = decode_u32(d);
	o->after_loss = decode_varint(d) > 0;
	if (o->flags & OFF_ARGUMENTS)
		for (int i = 0; i < 3; i++)
			o->argument[i] = decode_varint(d);
	if (syscall > INT32_MAX || kind >= WAKER_KIND_CNT) {
		d->bad = true;
		return;
	}
	o->syscall = (int32_t)syscall - 1;
	o->waker_kind = (enum kernel_waker)kind;
	add_off(k, d, o, ns, length, since_woken);
}

static void decode_life(struct kernel_trace *k, struct decoder *d, enum kernel_record_kind kind,
			uint32_t tid, int64_t ns)
{
	struct kernel_life l = { .kind = kind, .tid = tid, .ns = ns };

	l.pid = decode_u32(d);
	l.other = decode_u32(d);
	l.name = decode_name(k, d);
	if (!d->bad)
		VEC_ADD(&k->lives, l);
}

static void add_stack(struct kernel_trace *k, struct decoder *d, struct kernel_stack *s, int64_t ns)
{
	s->ns = ns;
	if (!d->bad && !k->take_off)
		VEC_ADD(&k->stacks, *s);
}

static void decode_stack(struct kernel_trace *k, struct decoder *d, struct kernel_stack *s, int64_t ns)
{
	uint64_t reason = decode_varint(d);

	s->stack = decode_u32(d);
	s->reason = (enum kernel_stack_reason)reason;
	if (reason >= STACK_REASON_CNT)
		d->bad = true;
	add_stack(k, d, s, ns);
}

static void add_request(struct kernel_trace *k, struct decoder *d, struct kernel_request *r, int64_t ns)
{
	uint64_t length = decode_varint(d);

	if (d->bad || length > (uint64_t)ns) {
		d->bad = true;
		return;
	}
	r->issue_ns = ns - (int64_t)length;
	r->done_ns = ns;
	VEC_ADD(&k->requests, *r);
}

static void decode_request(struct kernel_trace *k, struct decoder *d, struct kernel_request *r, int64_t ns)
{
	r->device = decode_u32(d);
	add_request(k, d, r, ns);
}

/* Times in order.  The last ones may be a little after ns: another CPU took them meanwhile. */
static bool is_ordered(const struct kernel_exchange *x)
{
	return x->start_ns >= 0 && x->start_ns <= x->last_read_ns && x->first_read_ns <= x->last_read_ns &&
	       x->first_read_ns >= x->start_ns && x->first_send_ns <= x->last_send_ns && x->start_ns <= x->first_send_ns &&
	       x->last_read_ns <= NS_MAX && x->last_send_ns <= NS_MAX;
}

static int64_t decode_after(struct decoder *d, int64_t ns)
{
	int64_t more = unzigzag(decode_varint(d));

	if (ns < 0 || ns > NS_MAX || more > NS_MAX || more < -NS_MAX) {
		d->bad = true;
		return 0;
	}
	return ns + more;
}

static void decode_exchange(struct kernel_trace *k, struct decoder *d, uint32_t tid, int64_t ns)
{
	struct kernel_exchange x = { .sender = tid };
	uint64_t length;

	x.receiver = decode_u32(d);
	x.connection = decode_u32(d);
	x.port = decode_u32(d);
	x.flags = decode_u32(d);
	length = decode_varint(d);
	if (length > (uint64_t)ns) {
		d->bad = true;
		return;
	}
	x.start_ns = ns - (int64_t)length;
	x.first_read_ns = decode_after(d, x.start_ns);
	x.last_read_ns = decode_after(d, x.first_read_ns);
	x.first_send_ns = decode_after(d, x.last_read_ns);
	x.last_send_ns = decode_after(d, x.first_send_ns);
	x.bytes_in = decode_u32(d);
	x.bytes_out = decode_u32(d);
	x.unsolicited = decode_u32(d);
	if (!d->bad && !is_ordered(&x))
		d->bad = true;
	if (!d->bad)
		VEC_ADD(&k->exchanges, x);
}

/* There are few, and the last ones come again. */
static uint32_t upstream_number(struct kernel_trace *k, const char *text, size_t len)
{
	for (size_t i = k->upstream_names.cnt; i-- > 0;)
		if (strlen(k->upstream_names.items[i]) == len && memcmp(k->upstream_names.items[i], text, len) == 0)
			return (uint32_t)i;
	VEC_ADD(&k->upstream_names, arena_strndup(k->arena, text, len));
	return (uint32_t)(k->upstream_names.cnt - 1);
}

static int64_t decode_before(struct decoder *d, int64_t ns)
{
	uint64_t length = decode_varint(d);

	if (ns < 0 || length > (uint64_t)ns) {
		d->bad = true;
		return 0;
	}
	return ns - (int64_t)length;
}

static void decode_upstream(struct kernel_trace *k, struct decoder *d, uint32_t tid, int64_t ns)
{
	struct kernel_upstream u = { .tid = tid, .ns = ns };
	const char *text = NULL;
	uint32_t name;
	size_t len = 0;

	u.after_wait = decode_u32(d) != 0;
	u.connection = decode_u32(d);
	if (u.connection) {
		u.arrival_ns = decode_before(d, ns);
		u.sent_ns = decode_before(d, u.arrival_ns);
	}
	name = decode_u32(d);
	if (!name)
		text = decode_text(d, &len);
	if (name ? name < EXCHANGE_PATH : !text || !len || len > UPSTREAM_NAME_MAX || memchr(text, '\0', len))
		d->bad = true;
	if (text && !d->bad)
		name = upstream_number(k, text, len);
	if (k->upstream_names.cnt > UPSTREAMS_MAX)
		d->bad = true;
	u.name = name;
	if (!d->bad)
		VEC_ADD(&k->upstreams, u);
}

static void decode_names_of(struct kernel_trace *k, struct decoder *d, strings *list)
{
	while (!d->bad && decode_left(d)) {
		size_t len;
		const char *text = decode_text(d, &len);

		if (!text || !len || memchr(text, '\0', len))
			d->bad = true;
		else
			VEC_ADD(list, arena_strndup(k->arena, text, len));
	}
}

static void decode_texts(struct kernel_trace *k, struct decoder *d)
{
	while (!d->bad && decode_left(d)) {
		size_t len;
		const char *text = decode_text(d, &len);

		if (!text || !len || memchr(text, '\0', len))
			d->bad = true;
		else if (!k->take_off)
			VEC_ADD(&k->texts, arena_strndup(k->arena, text, len));
	}
}

/* Decodes a record that repeats an earlier one except for its times. */
static void decode_said_again(struct kernel_trace *k, struct decoder *d, struct said *s, int64_t ns)
{
	if (s->kind == KERNEL_OFF) {
		uint64_t length = decode_varint(d);

		add_off(k, d, &s->off, ns, length, s->off.flags & OFF_WOKEN ? unzigzag(decode_varint(d)) : 0);
	} else if (s->kind == KERNEL_STACK) {
		add_stack(k, d, &s->stack, ns);
	} else {
		add_request(k, d, &s->request, ns);
	}
}

static void decode_in_full(struct kernel_trace *k, struct decoder *d, all_said *said, enum kernel_record_kind kind,
			   uint32_t tid, int64_t ns)
{
	struct said s = { .kind = kind };

	if (kind == KERNEL_OFF) {
		s.off.tid = tid;
		decode_off(k, d, &s.off, ns);
	} else if (kind == KERNEL_STACK) {
		s.stack.tid = tid;
		decode_stack(k, d, &s.stack, ns);
	} else if (kind == KERNEL_REQUEST || kind == KERNEL_PACKET) {
		s.request.kind = kind == KERNEL_PACKET ? WAKER_NIC : WAKER_DISK;
		s.request.tid = tid;
		decode_request(k, d, &s.request, ns);
	} else if (kind == KERNEL_EXCHANGE) {
		decode_exchange(k, d, tid, ns);
		return;
	} else if (kind == KERNEL_UPSTREAM) {
		decode_upstream(k, d, tid, ns);
		return;
	} else {
		decode_life(k, d, kind, tid, ns);
		return;
	}
	if (!d->bad)
		VEC_ADD(said, s);
}

static void decode_records(struct kernel_trace *k, struct decoder *d)
{
	all_said said = { 0 };
	uint64_t ns = 0;

	while (!d->bad && decode_left(d)) {
		uint64_t kind = decode_varint(d), again = kind - KERNEL_RECORD_KIND_CNT;
		bool is_full = kind > 0 && kind < KERNEL_RECORD_KIND_CNT;
		uint32_t tid = is_full ? decode_u32(d) : 0;

		ns += (uint64_t)unzigzag(decode_varint(d));
		if (ns > NS_MAX || (!is_full && (!kind || again >= said.cnt)))
			d->bad = true;
		else if (is_full)
			decode_in_full(k, d, &said, (enum kernel_record_kind)kind, tid, (int64_t)ns);
		else
			decode_said_again(k, d, &said.items[again], (int64_t)ns);
	}
	VEC_RELEASE(&said);
}

static void decode_names(struct kernel_trace *k, struct decoder *d)
{
	while (!d->bad && decode_left(d)) {
		uint64_t kind = decode_varint(d);
		struct kernel_name n = { .number = decode_u32(d) };

		n.name = decode_name(k, d);
		n.kind = (enum kernel_waker)kind;
		if (kind >= WAKER_KIND_CNT)
			d->bad = true;
		if (!d->bad)
			VEC_ADD(&k->names, n);
	}
}

static void decode_end(struct kernel_trace *k, struct decoder *d)
{
	uint64_t start = decode_varint(d), end = decode_varint(d);

	k->lost = decode_varint(d);
	k->unasked = decode_left(d) ? decode_varint(d) : 0;
	k->exchange_cost_ns = decode_left(d) ? decode_u32(d) : 0;
	k->calls_without_start = decode_left(d) ? decode_varint(d) : 0;
	k->watched_ns = decode_left(d) ? (int64_t)(decode_varint(d) & NS_MAX) : 0;
	if (start > end || end > NS_MAX)
		d->bad = true;
	if (d->bad)
		return;
	k->start_ns = (int64_t)start;
	k->end_ns = (int64_t)end;
}

static int decode_block(struct kernel_trace *k, const struct blocks *b, struct diag *reterr)
{
	struct decoder d = { b->plain, b->plain + b->len, false };
	uint64_t exchanges;

	switch (b->kind) {
	case KERNEL_RECORDS:
		decode_records(k, &d);
		break;
	case KERNEL_NAMES:
		decode_names(k, &d);
		break;
	case KERNEL_END:
		decode_end(k, &d);
		break;
	case KERNEL_STACKS:
		decode_texts(k, &d);
		break;
	case KERNEL_SYSTEM:
		decode_names_of(k, &d, &k->system);
		break;
	case KERNEL_PATHS:
		decode_names_of(k, &d, &k->paths);
		break;
	case KERNEL_CALLS:
		decode_names_of(k, &d, &k->calls);
		break;
	case KERNEL_BEGIN:
		k->reduced = decode_varint(&d) != 0;
		k->sample_ns = decode_u32(&d);
		exchanges = decode_varint(&d);
		k->has_exchanges = exchanges != EXCHANGES_OFF;
		k->for_arrivals = exchanges == EXCHANGES_ARRIVALS;
		k->sample_cost_ns = decode_u32(&d);
		break;
	default:
		return blocks_damaged(b, "a block of unknown kind", reterr);
	}
	return d.bad ? blocks_damaged(b, "a record makes no sense", reterr) : 0;
}

/* A recording that was cut off ends with its last record. */
static void find_span(struct kernel_trace *k)
{
	bool ended = k->end_ns != 0;

	if (!ended)
		k->end_ns = k->last_off_ns;
	for (size_t i = 0; i < k->lives.cnt; i++)
		if (!ended && k->lives.items[i].ns > k->end_ns)
			k->end_ns = k->lives.items[i].ns;
}

struct kernel_kind kernel_kind_of(const char *path)
{
	struct diag none = DIAG_INIT;
	struct kernel_trace k = { .arena = arena_new() };
	struct blocks b;
	int err = blocks_open(&b, path, KERNEL_MAGIC, KERNEL_VERSION, &none);

	if (!err && blocks_next(&b, &err, &none) && !err && b.kind == KERNEL_BEGIN)
		decode_block(&k, &b, &none);
	blocks_close(&b);
	kernel_release(&k);
	return (struct kernel_kind){ k.reduced, k.has_exchanges };
}

int kernel_read(struct kernel_trace *k, const char *path, struct diag *reterr)
{
	struct blocks b;
	int err = blocks_open(&b, path, KERNEL_MAGIC, KERNEL_VERSION, reterr);

	k->arena = arena_new();
	while (!err && blocks_next(&b, &err, reterr))
		err = decode_block(k, &b, reterr);
	/* Threads that slept across the hole would seem to have run. */
	if (!err && blocks_have_holes(&b))
		err = diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' is damaged: blocks of the kernel's side are missing", path);
	k->cut_bytes = b.cut_bytes;
	blocks_close(&b);
	if (err)
		return err;
	kernel_sort(k);
	find_span(k);
	return 0;
}

int kernel_add(struct trace *t, const char *path, struct diag *reterr)
{
	struct kernel_trace k = { 0 };
	int r = kernel_read(&k, path, reterr);

	if (!r)
		kernel_merge(t, &k);
	kernel_release(&k);
	return r;
}
