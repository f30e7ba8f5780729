/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_encode.c - varints by hand: 300 is ac 02; zigzag; what does not fit or makes no sense. */
#include <stdlib.h>
#include <string.h>
#include "tests/unit/cmocka_all.h"
#include "base/map.h"
#include "trace/encode.h"

static void test_bytes(void **state)
{
	static const struct {
		uint64_t value;
		size_t len;
		unsigned char bytes[10];
	} cases[] = {
		{ 0, 1, { 0x00 } },
		{ 127, 1, { 0x7f } },
		{ 128, 2, { 0x80, 0x01 } },
		{ 300, 2, { 0xac, 0x02 } },
		{ UINT64_MAX, 10, { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char data[16];
		struct encoder e = { data, 0, sizeof(data), false };
		struct decoder d = { data, data, false };

		encode_varint(&e, cases[i].value);
		assert_false(e.full);
		assert_int_equal(e.len, cases[i].len);
		assert_memory_equal(data, cases[i].bytes, cases[i].len);
		d.end = data + e.len;
		assert_true(decode_varint(&d) == cases[i].value);
		assert_false(d.bad);
		assert_int_equal(decode_left(&d), 0);
	}
}

/* The same bytes as three encode_varint(), also for more than 56 bits, and with hardly any room; not a byte beyond it. */
static void assert_three_encoded(const uint64_t values[3], const struct encoder *one_by_one)
{
	for (size_t cap = 0; cap <= 40; cap++) {
		unsigned char data[64];
		struct encoder e = { data, 0, cap, false };

		memset(data, 0xee, sizeof(data));
		encode_three(&e, values[0], values[1], values[2]);
		assert_int_equal(e.full, one_by_one->len > cap);
		for (size_t i = cap; i < sizeof(data); i++)
			assert_int_equal(data[i], 0xee);
		if (e.full)
			continue;
		assert_int_equal(e.len, one_by_one->len);
		assert_memory_equal(data, one_by_one->data, e.len);
	}
}

/* All widths: three are decoded at once if they end within eight bytes, else none. */
static void test_three(void **state)
{
	unsigned char data[64];
	size_t taken = 0;

	(void)state;
	for (unsigned int widths = 0; widths < 11 * 11 * 11; widths++) {
		uint64_t values[3], ret[3];
		unsigned int bits[3] = { widths % 11, widths / 11 % 11, widths / 121 };
		struct encoder e = { data, 0, sizeof(data), false };
		struct decoder d;
		bool fit;

		for (int i = 0; i < 3; i++) {
			values[i] = bits[i] ? UINT64_MAX >> (64 - (bits[i] * 6 + bits[i] % 3)) : 0;
			values[i] ^= bits[i] > 2 ? 0x2a55a : 0;
			encode_varint(&e, values[i]);
		}
		assert_three_encoded(values, &e);
		fit = e.len <= 8;
		for (size_t end = e.len; end <= 16; end++) {
			d = (struct decoder){ data, data + end, false };
			assert_int_equal(decode_three(&d, ret), fit && end >= 8);
			assert_int_equal(d.at - data, fit && end >= 8 ? (long)e.len : 0);
			for (int i = 0; i < 3 && fit && end >= 8; i++)
				assert_true(ret[i] == values[i]);
		}
		taken += fit;
	}
	assert_true(taken > 50);
}

static void test_zigzag(void **state)
{
	(void)state;
	assert_int_equal(zigzag(0), 0);
	assert_int_equal(zigzag(-1), 1);
	assert_int_equal(zigzag(1), 2);
	assert_int_equal(zigzag(-2), 3);
	assert_true(zigzag(INT64_MIN) == UINT64_MAX);
	assert_true(unzigzag(UINT64_MAX) == INT64_MIN);
	for (int64_t v = -300; v < 300; v++)
		assert_int_equal(unzigzag(zigzag(v)), v);
}

static void test_full(void **state)
{
	unsigned char data[12];
	struct encoder e = { data, 0, 1, false };

	(void)state;
	encode_varint(&e, 300);
	assert_true(e.full);
	assert_int_equal(e.len, 0);
	e = (struct encoder){ data, 0, sizeof(data), false };
	encode_text(&e, "abc", 3);		/* wants room for the longest length */
	assert_true(e.full);
	assert_int_equal(e.len, 0);
}

static void test_bad(void **state)
{
	static const unsigned char cut[] = { 0xac }, too_long[] = { 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff, 0x02 }, short_text[] = { 5, 'a', 'b' };
	struct decoder d = { cut, cut + 1, false };
	size_t len = 9;

	(void)state;
	assert_int_equal(decode_varint(&d), 0);
	assert_true(d.bad);
	d = (struct decoder){ too_long, too_long + sizeof(too_long), false };
	assert_int_equal(decode_varint(&d), 0);
	assert_true(d.bad);
	d = (struct decoder){ short_text, short_text + sizeof(short_text), false };
	assert_null(decode_text(&d, &len));
	assert_true(d.bad && len == 0);
}

static void test_text(void **state)
{
	unsigned char data[32];
	struct encoder e = { data, 0, sizeof(data), false };
	struct decoder d = { data, data, false };
	const char *text;
	size_t len;

	(void)state;
	encode_text(&e, "ab", 2);
	encode_text(&e, "", 0);
	assert_int_equal(e.len, 4);
	d.end = data + e.len;
	text = decode_text(&d, &len);
	assert_int_equal(len, 2);
	assert_memory_equal(text, "ab", 2);
	assert_non_null(decode_text(&d, &len));
	assert_int_equal(len, 0);
	assert_false(d.bad);
}

static void test_checksum(void **state)
{
	(void)state;
	unsigned char data[40] = { 0 };
	uint64_t seen[40];

	assert_true(hash_bytes(0, "", 0) == 0xcbf29ce484222325ULL);
	assert_true(hash_bytes(0, "a", 1) == 0xaf63dc4c8601ec8cULL);	/* published FNV-1a */
	/* By another program, from what encode.h says. */
	assert_true(encode_checksum("", 0) == 0 && encode_checksum(NULL, 0) == 0);
	assert_true(encode_checksum("a", 1) == 0x54cda58fef23226fULL);
	assert_true(encode_checksum("abcdefghi", 9) == 0xb59f9daa22c3e03eULL);
	for (size_t len = 0; len < sizeof(data); len++) {
		seen[len] = encode_checksum(data, len);
		for (size_t i = 0; i < len; i++) {
			assert_true(seen[i] != seen[len]);
			data[i] ^= 0x40;
			assert_true(encode_checksum(data, len) != seen[len]);
			data[i] ^= 0x40;
		}
	}
}

static uint64_t random_number(unsigned int *seed, unsigned int bits_max)
{
	unsigned int bits = (unsigned int)rand_r(seed) % (bits_max + 1);
	uint64_t number = (uint64_t)(unsigned int)rand_r(seed) << 42 ^ (uint64_t)(unsigned int)rand_r(seed) << 21 ^
			  (uint64_t)(unsigned int)rand_r(seed);

	return bits ? number >> (64 - bits) | 1ULL << (bits - 1) : 0;
}

/* As encode_calls(), number by number. */
static size_t encode_one_by_one(struct encoder *e, struct encoded_calls *c, const uint64_t *words, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt && words[2 * i] && words[2 * i + 1] & 0xff; i++) {
		uint64_t start = words[2 * i], fid = (uint32_t)words[2 * i + 1] >> 8, length = words[2 * i + 1] >> 32;

		encode_varint(e, fid << 1);
		encode_varint(e, zigzag((int64_t)(start - c->before)));
		encode_varint(e, length);
		c->before = start;
		if (start + length < c->first_end)
			c->first_end = start + length;
		if (start + length > c->last_end)
			c->last_end = start + length;
		c->found |= start == c->sought_start && fid == c->sought_fid;
	}
	return i;
}

/* Calls of all lengths, up to a hole or an event; with and without room, and with the instructions of any CPU. */
static void test_calls(void **state)
{
	enum { CALLS = 40, BYTES = CALLS * 3 * VARINT_BYTES_MAX };
	unsigned int seed = 1, found_cnt = 0, cut_cnt = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		unsigned char plain[BYTES], data[BYTES + 8];
		struct encoder one = { plain, 0, sizeof(plain), false }, e = { data, 0, BYTES, false };
		struct encoded_calls a = { .before = (uint64_t)round, .first_end = UINT64_MAX }, b;
		uint64_t words[2 * CALLS], start = 1 + random_number(&seed, 48);
		unsigned int widths = 1 + (unsigned int)rand_r(&seed) % 48;
		size_t cnt;

		for (size_t i = 0; i < CALLS; i++) {
			start += random_number(&seed, widths) - random_number(&seed, widths);
			words[2 * i] = start;
			words[2 * i + 1] = random_number(&seed, widths % 32) << 32 | (1 + random_number(&seed, 20)) << 8 | 1;
		}
		if (round % 2)
			words[(unsigned int)rand_r(&seed) % (2 * CALLS)] &= ~(uint64_t)0xff * (round & 2);
		a.sought_start = words[round % CALLS * 2];
		a.sought_fid = ((uint32_t)words[round % CALLS * 2 + 1] >> 8) ^ (round % 3 == 0);
		b = a;
		encode_calls_anywhere = round % 4 >= 2;
		cnt = encode_one_by_one(&one, &a, words, CALLS);
		if (round % 5 == 0)
			e.cap = one.len;
		if (round % 5 == 1 && one.len)
			e.cap = one.len - 1;
		memset(data + e.cap, 0xee, sizeof(data) - e.cap);
		assert_int_equal(encode_calls(&e, &b, words, CALLS), cnt);
		for (size_t i = e.cap; i < sizeof(data); i++)
			assert_int_equal(data[i], 0xee);
		assert_int_equal(e.full, one.len > e.cap);
		assert_true(b.before == a.before && b.first_end == a.first_end && b.last_end == a.last_end &&
			    b.found == a.found);
		if (!e.full) {
			assert_int_equal(e.len, one.len);
			assert_memory_equal(data, plain, one.len);
		}
		found_cnt += b.found;
		cut_cnt += cnt < CALLS;
	}
	encode_calls_anywhere = false;
	assert_true(found_cnt > 5000 && found_cnt < 15000 && cut_cnt > 5000);
}

/* A number that was not known yet is read as any other. */
static void test_two_bytes(void **state)
{
	(void)state;
	for (uint64_t value = 0; value < 1 << 14; value++) {
		unsigned char data[2];
		struct encoder e = { data, 0, sizeof(data), false };
		struct decoder d = { data, data + sizeof(data), false };

		encode_two_bytes(&e, value);
		assert_int_equal(e.len, 2);
		assert_true(decode_varint(&d) == value);
		assert_int_equal(decode_left(&d), 0);
		encode_two_bytes(&e, value);
		assert_true(e.full);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes), cmocka_unit_test(test_three), cmocka_unit_test(test_zigzag),
		cmocka_unit_test(test_full), cmocka_unit_test(test_bad), cmocka_unit_test(test_calls), cmocka_unit_test(test_two_bytes),
		cmocka_unit_test(test_text), cmocka_unit_test(test_checksum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
