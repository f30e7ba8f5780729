/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_holes.c - damage to a good trace invents nothing: each interval that comes out is one of the undamaged trace, with
 * the same calls, waits and wake-ups, and all that were over before the damage, or began after it, do.
 *
 * Servers at random: four threads take turns, hand intervals to each other, wait for each other.  Damage to their
 * trace: blocks are taken out, doubled, exchanged, bits flipped, pages zeroed, bytes cut out, zeros or the trace itself put
 * behind; with the contents at its end or without.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include "tests/unit/raw_trace.h"
#include "tests/oracle/random_trace.h"
#include "trace/windows/stream.h"
#include "base/map.h"
#include "base/banned.h"

enum { THREADS = 4, KEYS = 700, TURNS = 600, CHUNK_BYTES = 2048, BLOCKS_MAX = 400, FILE_MAX = 1 << 20, ROUNDS = 400 };

struct actor {
	uint64_t now, before, cnt, first, last;
	unsigned char data[CHUNK_BYTES];
	struct encoder e;
};

static struct random r;
static struct actor actors[THREADS];
static struct contents contents;
static uint64_t used_until[KEYS];	/* of each key, in all of the trace so far */
static unsigned char bytes[FILE_MAX], changed[FILE_MAX];
static size_t len;
static struct { size_t at, len; uint64_t since, until; enum trace_block_kind kind; } blocks[BLOCKS_MAX];
static size_t block_cnt;

/* ---- the trace ---- */

static void write_chunk(size_t number)
{
	struct actor *a = &actors[number];
	struct encoder e = { chunk_data, 0, sizeof(chunk_data), false };

	if (!a->cnt)
		return;
	put(&e, number + 1);
	put(&e, 10);
	put(&e, 11 + number);
	put(&e, a->cnt);
	memcpy(e.data + e.len, a->data, a->e.len);
	trace_file_records(&file, BLOCK_CHUNKS, e.data, e.len + a->e.len, a->first, a->last);
	contents_thread(&contents, number + 1);
	contents_block(&contents, file.number, a->first, a->last, a->cnt);
	a->e.len = a->cnt = a->before = a->last = 0;
	a->first = UINT64_MAX;
}

static void record(size_t number, uint64_t head, uint64_t start, uint64_t logged, const uint64_t *words, size_t cnt)
{
	struct actor *a = &actors[number];

	put(&a->e, head);
	put(&a->e, zigzag((int64_t)(start - a->before)));
	for (size_t i = 0; i < cnt; i++)
		put(&a->e, words[i]);
	a->before = start;
	a->first = logged < a->first ? logged : a->first;
	a->last = logged > a->last ? logged : a->last;
	if (++a->cnt > 6 + random_below(&r, 20))
		write_chunk(number);
}

/* No two threads have the same ones: what is at the same time may come in either order. */
static uint64_t ticks_of(size_t number, uint64_t time)
{
	return time * THREADS + number;
}

static void event(size_t number, enum trace_event kind, const uint64_t *words)
{
	uint64_t now = ticks_of(number, actors[number].now);

	record(number, (uint64_t)kind << 1 | 1, now, kind == EVENT_WAIT ? words[0] : now, words, event_words(kind));
}

static void call(size_t number, uint64_t ticks)
{
	struct actor *a = &actors[number];
	uint64_t length = 1 + random_below(&r, (uint32_t)ticks), start = ticks_of(number, a->now);

	a->now += length;
	length *= THREADS;
	record(number, (1 + random_below(&r, 2)) << 1, start, start + length, &length, 1);
}

static void wait(size_t number)
{
	uint64_t length = 2 + random_below(&r, 30), now = actors[number].now;

	event(number, EVENT_WAIT, (const uint64_t[]){ ticks_of(number, now + length), WAIT_COND, 7,
		waker_serial(1 + random_below(&r, THREADS)), ticks_of(number, now + length - 1) });
	actors[number].now += length;
}

static size_t free_key(uint64_t now)
{
	size_t key = random_below(&r, 6);		/* few, if they are free */

	while (used_until[key] >= now)
		key = (key + 1) % KEYS;
	return key;
}

/* An interval, perhaps ended by somebody else.  Keys come again, but not while they are in use: what is paired with what is
 * then the same however much of the trace is known. */
static void turn(size_t number)
{
	size_t key = free_key(actors[number].now);
	const uint64_t interval[] = { 1 + random_below(&r, 2), key, 0 };
	size_t other = random_below(&r, 3) ? number : random_below(&r, THREADS);

	event(number, EVENT_BEGIN, interval);
	for (size_t i = random_below(&r, 4); i; i--)
		call(number, 9);
	if (random_below(&r, 3) == 0)
		wait(number);
	event(number, EVENT_PAUSE, NULL);
	if (actors[other].now <= actors[number].now)
		actors[other].now = actors[number].now + 1;
	if (other != number)
		event(other, EVENT_RESUME, interval);
	call(other, 9);
	event(other, random_below(&r, 12) ? EVENT_END : EVENT_DROP, interval);
	event(other, EVENT_PAUSE, NULL);
	used_until[key] = actors[other].now;
	actors[other].now += 1 + random_below(&r, 9);
}

static void write_contents(void)
{
	unsigned char data[1 << 15];
	struct encoder e = { data, 0, sizeof(data), false };
	size_t serial = 0;

	for (size_t i = 0; i < contents.blocks.cnt; i++) {
		const struct contents_block *b = &contents.blocks.items[i];

		put(&e, b->number);
		put(&e, b->since);
		put(&e, b->until - b->since);
		put(&e, b->records);
		put(&e, b->serial_cnt);
		for (size_t k = 0; k < b->serial_cnt; k++)
			put(&e, contents.serials.items[serial++]);
	}
	assert_false(e.full);
	trace_file_block(&file, BLOCK_CONTENTS, e.data, e.len);
}

static void find_blocks(void)
{
	block_cnt = 0;
	for (size_t at = sizeof(struct trace_header); at < len;) {
		struct trace_block b;
		struct trace_place p;

		memcpy(&b, bytes + at, sizeof(b));
		memcpy(&p, bytes + at + sizeof(b), sizeof(p));
		assert_true(block_cnt < BLOCKS_MAX);
		blocks[block_cnt].at = at;
		blocks[block_cnt].len = sizeof(b) + b.stored_bytes;
		blocks[block_cnt].since = p.since;
		blocks[block_cnt].until = p.until;
		blocks[block_cnt++].kind = b.kind;
		at += sizeof(b) + b.stored_bytes;
	}
}

static void make_trace(unsigned int seed, bool has_contents)
{
	FILE *f;

	r.state = seed;
	memset(actors, 0, sizeof(actors));
	contents.blocks.cnt = contents.serials.cnt = 0;
	memset(used_until, 0, sizeof(used_until));
	for (size_t i = 0; i < THREADS; i++) {
		actors[i].e = (struct encoder){ actors[i].data, 0, CHUNK_BYTES, false };
		actors[i].now = 100;
		actors[i].first = UINT64_MAX;
	}
	begin_trace();
	for (size_t i = 0; i < TURNS; i++)
		turn(random_below(&r, THREADS));
	for (size_t i = 0; i < THREADS; i++)
		write_chunk(i);
	if (has_contents)
		write_contents();
	end_trace(0, 0);
	trace_file_close(&file);
	f = fopen(path, "rb");
	len = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	assert_true(len < sizeof(bytes) / 2);
	find_blocks();
}

/* ---- what is done to it ---- */

static size_t changed_len;
static bool is_hurt[BLOCKS_MAX];

static void put_bytes(const unsigned char *from, size_t cnt)
{
	memcpy(changed + changed_len, from, cnt);
	changed_len += cnt;
}

static void hurt(size_t at, size_t cnt)
{
	for (size_t i = 0; i < block_cnt; i++)
		is_hurt[i] |= at < blocks[i].at + blocks[i].len && blocks[i].at < at + cnt;
}

/* Not the clock's, nor the names', which are the first; nor the end. */
static size_t any_block(void)
{
	return 3 + random_below(&r, (uint32_t)block_cnt - 3 - 2);
}

static void exchange(size_t a, size_t b)
{
	if (a == b)
		return;
	changed_len = blocks[a].at;
	put_bytes(bytes + blocks[b].at, blocks[b].len);
	put_bytes(bytes + blocks[a].at + blocks[a].len, blocks[b].at - blocks[a].at - blocks[a].len);
	put_bytes(bytes + blocks[a].at, blocks[a].len);
	put_bytes(bytes + blocks[b].at + blocks[b].len, len - blocks[b].at - blocks[b].len);
}

static void change(unsigned int how)
{
	size_t a = any_block(), b = any_block(), at = blocks[a].at + random_below(&r, (uint32_t)blocks[a].len), cnt, first = a;

	changed_len = 0;
	memset(is_hurt, 0, sizeof(is_hurt));
	cnt = 1 + random_below(&r, 12);
	if (how == 0) {				/* some are gone */
		while (cnt-- && a < block_cnt - 2)
			is_hurt[a++] = true;
		put_bytes(bytes, blocks[first].at);
		put_bytes(bytes + blocks[a].at, len - blocks[a].at);
		return;
	}
	put_bytes(bytes, len);
	switch (how) {
	case 1:
		changed[at] ^= (unsigned char)(1u << random_below(&r, 8));
		hurt(at, 1);
		break;
	case 2:					/* a page of zeros */
		cnt = at + 200 < blocks[block_cnt - 2].at ? 200 : 20;
		cnt = at + cnt < blocks[block_cnt - 2].at ? cnt : 1;
		memset(changed + at, 0, cnt);
		for (size_t i = 0; i < block_cnt; i++)	/* zeros that were there already are no damage */
			is_hurt[i] = memcmp(changed + blocks[i].at, bytes + blocks[i].at, blocks[i].len) != 0;
		break;
	case 3:					/* bytes are cut out */
		memmove(changed + at, changed + at + 1, len - at - 1);
		changed_len--;
		hurt(at, 1);
		break;
	case 4:
		memset(changed + len, 0, 4096);
		changed_len += 4096;
		break;
	case 5:
		put_bytes(bytes, len);
		break;
	case 6:
		exchange(a < b ? a : b, a < b ? b : a);
		break;
	default:				/* one is there twice */
		changed_len = blocks[b].at;
		put_bytes(bytes + blocks[a].at, blocks[a].len);
		put_bytes(bytes + blocks[b].at, len - blocks[b].at);
	}
}

/* ---- the same ---- */

static struct trace *read_back(const unsigned char *data, size_t cnt)
{
	struct diag diag = DIAG_INIT;
	struct trace *t = NULL;
	FILE *f = fopen(path, "wb");

	fwrite(data, 1, cnt, f);
	fclose(f);
	if (trace_read(path, NULL, &t, &diag))
		fail_msg("%s", diag.text);
	trace_sort(t);
	return t;
}

/* A hash of all of the interval's data except its number. */
static uint64_t print_of(const struct trace *t, const struct interval *v)
{
	uint64_t sum = hash_u64(hash_u64(hash_u64(v->name, v->status), v->start_tid), v->end_tid);
	uint64_t calls = 0, segments = 0;

	sum = hash_u64(hash_u64(sum, (uint64_t)v->start_ns), (uint64_t)v->end_ns);
	for (size_t i = 0; i < t->invocations.cnt; i++) {
		const struct invocation *c = &t->invocations.items[i];

		if (c->sid == v->sid && c->start_ns < v->end_ns)
			calls += hash_u64(hash_u64(hash_u64(c->tid, c->function), (uint64_t)c->start_ns), (uint64_t)c->end_ns);
	}
	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *s = &t->segments.items[i];

		if (s->sid == v->sid && s->start_ns < v->end_ns)
			segments += hash_u64(hash_u64(hash_u64(s->tid, s->state), (uint64_t)s->start_ns),
					     (uint64_t)(s->end_ns < v->end_ns ? s->end_ns : v->end_ns));
	}
	return hash_u64(hash_u64(sum, calls), segments);
}

static bool counts(const struct interval *v)
{
	return v->status == INTERVAL_COMPLETED && !v->lost;
}

static struct map *prints(const struct trace *t)
{
	struct map *all = map_new();

	for (size_t i = 0; i < t->intervals.cnt; i++)
		if (counts(&t->intervals.items[i]))
			++*map_slot(all, print_of(t, &t->intervals.items[i]));
	return all;
}

/* If the contents table is missing, the content of a lost block is unknown. */
static void check_rest(const struct trace *whole, const struct trace *t, const struct map *there)
{
	int64_t since_ns = INT64_MAX, until_ns = INT64_MIN;

	if (t->losses.holes.cnt) {
		since_ns = t->losses.holes.since_ns;
		until_ns = t->losses.holes.until_ns;
	}
	for (size_t i = 0; i < whole->intervals.cnt; i++) {
		const struct interval *v = &whole->intervals.items[i];
		uint64_t unused;

		if (counts(v) && (v->end_ns < since_ns || v->start_ns > until_ns))
			if (!map_get(there, print_of(whole, v), &unused))
				fail_msg("%lld..%lld is left out, hole %lld..%lld", (long long)v->start_ns, (long long)v->end_ns,
					 (long long)since_ns, (long long)until_ns);
	}
}

/* The reported hole covers the missing records, and not much more: one chunk before and one after. */
static void check_span(const struct trace *t, bool is_narrow)
{
	uint64_t since = UINT64_MAX, until = 0;

	for (size_t i = 0; i < block_cnt; i++)
		if (is_hurt[i] && blocks[i].kind == BLOCK_CHUNKS) {
			since = blocks[i].since < since ? blocks[i].since : since;
			until = blocks[i].until > until ? blocks[i].until : until;
		}
	if (since > until)
		return;
	assert_true(t->losses.holes.cnt > 0 && t->losses.holes.blocks > 0);
	if (t->losses.holes.since_ns > (int64_t)since || t->losses.holes.until_ns < (int64_t)until)
		fail_msg("missing %llu..%llu, told %lld..%lld", (unsigned long long)since, (unsigned long long)until,
			 (long long)t->losses.holes.since_ns, (long long)t->losses.holes.until_ns);
	if (is_narrow)
		assert_true(t->losses.holes.until_ns - t->losses.holes.since_ns < (int64_t)(until - since) + 8000);
}

static void check_same_in_windows(const struct trace *t)
{
	struct trace_stream *s = NULL;
	struct diag diag = DIAG_INIT;
	int e = trace_stream_open(path, NULL, &s, &diag);

	/* A trace with holes is read as a whole. */
	assert_true(t->losses.holes.cnt ? e == TRACE_STREAM_UNFIT : e == 1 || e == TRACE_STREAM_UNFIT);
	trace_stream_close(s);
}

static void check_damage(unsigned int seed, bool has_contents)
{
	_cleanup_(trace_freep) struct trace *whole = NULL, *t = NULL;
	_cleanup_(map_freep) struct map *before = NULL, *after = NULL;
	unsigned int how = seed % 8;

	make_trace(seed, has_contents);
	whole = read_back(bytes, len);
	assert_int_equal(whole->losses.holes.cnt + whole->losses.holes.twice + whole->losses.holes.bytes, 0);
	assert_true(whole->intervals.cnt > TURNS / 2);
	change(how);
	t = read_back(changed, changed_len);
	before = prints(whole);
	after = prints(t);
	for (size_t i = 0; i < t->intervals.cnt; i++) {
		const struct interval *v = &t->intervals.items[i];
		uint64_t unused;

		if (counts(v) && !map_get(before, print_of(t, v), &unused))
			fail_msg("seed %u, damage %u: an interval %lld..%lld that never was; hole %lld..%lld", seed, how,
				 (long long)v->start_ns, (long long)v->end_ns, (long long)t->losses.holes.since_ns,
				 (long long)t->losses.holes.until_ns);
	}
	check_rest(whole, t, after);
	check_span(t, has_contents);
	check_same_in_windows(t);
	unlink(path);
}

static void test_contents(void **state)
{
	(void)state;
	for (unsigned int seed = 0; seed < ROUNDS; seed++)
		check_damage(seed, true);
}

static void test_no_contents(void **state)
{
	(void)state;
	for (unsigned int seed = 0; seed < ROUNDS; seed++)
		check_damage(seed, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contents), cmocka_unit_test(test_no_contents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
