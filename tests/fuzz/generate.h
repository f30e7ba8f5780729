/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * generate.h - makes texts and traces that readers accept from any bytes, to test the code after the readers.
 *
 * The bytes are choices: how many threads, which state next, how long.  Whoever changes one of them gets another
 * trace, but still a trace.  When they are used up, all choices are 0, and the text ends soon.  Same bytes, same
 * text.
 *
 * Few choices are wrong on purpose (one in 32 texts has a line that contradicts another), for refusals of what is
 * nearly right.
 */
#ifndef TESTS_FUZZ_GENERATE_H
#define TESTS_FUZZ_GENERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/str.h"

struct choices {
	const uint8_t *data;
	size_t len, at;
};

/* One byte; 0 at the end. */
unsigned int choose_byte(struct choices *c);

/* Below cnt. */
unsigned int choose(struct choices *c, unsigned int cnt);

/* A length of time: mostly some 1 to 10^8 ns, now and then a power of two, or as long as there is time. */
int64_t choose_ns(struct choices *c);

/* When a trace begins: at 0, soon, or so late that little or nothing is left of the 63 bits. */
int64_t choose_start_ns(struct choices *c, int64_t last_ns);

/* Appends a text: vprof-tuples, or what perf script prints. */
void generate_tuples(const uint8_t *data, size_t len, struct str *ret);
void generate_perf(const uint8_t *data, size_t len, struct str *ret);

/* The same as a trace file; false: it cannot be written. */
bool generate_trace(const uint8_t *data, size_t len, const char *path);

#endif
