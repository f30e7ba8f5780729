/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_dedup.c - a table in which each record has one place: a record that another one evicts is written in full once more.
 */
#include "recorder/record_dedup.h"

#include <string.h>
#include "base/banned.h"

void alike_begin_block(struct alike *a)
{
	a->block++;
	a->cnt = 0;
}

static struct alike_place *place_of(struct alike *a, const struct alike_key *key)
{
	static const uint64_t factors[ALIKE_WORDS] = {
		0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53,
		0xd6e8feb86659fd93, 0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3,
	};
	uint64_t words[ALIKE_WORDS], sum = 0;

	memcpy(words, key, sizeof(words));
	for (int i = 0; i < ALIKE_WORDS; i++)
		sum += (words[i] ^ words[i] >> 32) * factors[i];
	return &a->places[(sum ^ sum >> 29) * factors[0] >> 54];
}

int64_t alike_number(struct alike *a, const struct alike_key *key)
{
	struct alike_place *p = place_of(a, key);

	if (p->block == a->block && memcmp(&p->key, key, sizeof(*key)) == 0)
		return p->number;
	*p = (struct alike_place){ *key, a->block, a->cnt++ };
	return ALIKE_NEW;
}
