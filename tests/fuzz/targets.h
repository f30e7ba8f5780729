/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * targets.h - everything of vprof that reads a file, as functions of bytes.
 *
 * A target's input may be anything.  The target must not crash, leak, hang, or take memory out of all proportion; and
 * what it accepts must hold (an accepted trace can be written, read again and analysed). A broken promise calls
 * abort().
 *
 *	fuzz.c		libFuzzer gives the bytes (make fuzz); mutate.c changes them
 *	replay.c	the kept files of tests/fuzz/corpus/NAME/ do (part of make check)
 *
 * A file that once broke something is kept there, too, under a name that says what.
 */
#ifndef TESTS_FUZZ_TARGETS_H
#define TESTS_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *name;
	void (*run)(const uint8_t *data, size_t len);
	uint64_t magic;			/* a file of blocks that begins so (trace/format.h); 0: it is not */
	uint32_t version;
};

extern const struct fuzz_target fuzz_targets[];
extern const size_t fuzz_target_cnt;

const struct fuzz_target *fuzz_target_find(const char *name);	/* NULL: there is none */

/* Data as a file: its path, valid until the next call. */
const char *fuzz_file(const void *data, size_t len);

/* A directory in memory of this process's own, the same for the same name; removed at the end ($FUZZ_DIR is the
 * caller's to remove). */
const char *fuzz_directory(const char *name);

/* Writes the model and reads it again, looks at it in every way there is. */
struct trace;
void fuzz_model(struct trace *t);

/* Texts and traces that were made (generate.h), and how many of them the readers took. */
struct fuzz_made {
	uint64_t all, accepted;
};
extern struct fuzz_made fuzz_made;

void fuzz_trace(const uint8_t *data, size_t len);
void fuzz_stream(const uint8_t *data, size_t len);
void fuzz_arena(const uint8_t *data, size_t len);
void fuzz_kernel(const uint8_t *data, size_t len);
void fuzz_perf(const uint8_t *data, size_t len);
void fuzz_tuples(const uint8_t *data, size_t len);
void fuzz_otlp(const uint8_t *data, size_t len);
void fuzz_chrome(const uint8_t *data, size_t len);
void fuzz_perfetto(const uint8_t *data, size_t len);
void fuzz_csv(const uint8_t *data, size_t len);
void fuzz_uftrace(const uint8_t *data, size_t len);
void fuzz_ctf(const uint8_t *data, size_t len);
void fuzz_stitch(const uint8_t *data, size_t len);
void fuzz_conf(const uint8_t *data, size_t len);
void fuzz_sync(const uint8_t *data, size_t len);
void fuzz_plan(const uint8_t *data, size_t len);
void fuzz_callers(const uint8_t *data, size_t len);
void fuzz_scan(const uint8_t *data, size_t len);
void fuzz_digest(const uint8_t *data, size_t len);
void fuzz_digest_tsv(const uint8_t *data, size_t len);
void fuzz_elf(const uint8_t *data, size_t len);
void fuzz_sql(const uint8_t *data, size_t len);
void fuzz_db(const uint8_t *data, size_t len);
void fuzz_source(const uint8_t *data, size_t len);
void fuzz_words(const uint8_t *data, size_t len);
void fuzz_valid_tuples(const uint8_t *data, size_t len);
void fuzz_valid_perf(const uint8_t *data, size_t len);
void fuzz_valid_trace(const uint8_t *data, size_t len);

#endif
