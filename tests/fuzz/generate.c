/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generate.c - choices from bytes. */
#include "base/banned.h"
#include "tests/fuzz/generate.h"

unsigned int choose_byte(struct choices *c)
{
	return c->at < c->len ? c->data[c->at++] : 0;
}

unsigned int choose(struct choices *c, unsigned int cnt)
{
	return choose_byte(c) % cnt;
}

int64_t choose_ns(struct choices *c)
{
	unsigned int kind = choose_byte(c);

	if (kind < 16)
		return kind;
	if (kind < 232)
		return (int64_t)(choose_byte(c) + 1) << (kind % 20);
	if (kind < 248)
		return ((int64_t)1 << choose(c, 63)) - 1 + kind % 3;
	return INT64_MAX >> choose(c, 4);
}

int64_t choose_start_ns(struct choices *c, int64_t last_ns)
{
	int64_t before_end_ns;

	switch (choose(c, 8)) {
	case 0:
		return 0;
	case 1:
		return last_ns / 2 + choose(c, 3) - 1;
	case 2:
		before_end_ns = choose_ns(c);
		return last_ns - (before_end_ns < last_ns ? before_end_ns : last_ns);
	default:
		return 1000000;
	}
}
