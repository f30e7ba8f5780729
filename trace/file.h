/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - writing a trace file: blocks, each compressed and checked by itself.  The runtime's
 * drainer and the kernel's recorder have one each.
 */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>
#include "trace/format.h"

struct trace_file {
	int fd;
	ZSTD_CCtx *zstd;
	unsigned char *packed;		/* packed_cap bytes */
	size_t packed_cap;
	uint64_t bytes;			/* length: the end of the last whole block */
	uint64_t number;		/* of the last block; parts go on counting */
	uint64_t reserved;		/* the file may grow to this length, whatever else fills the disk */
	uint64_t limit;			/* ... and no longer than this; 0: any length */
	unsigned int stored_left;	/* number of blocks to store uncompressed, as the last one hardly shrank */
	bool in_haste;			/* the writer cannot keep up: blocks are stored uncompressed */
	bool full;			/* the disk is full or the limit is reached: nothing more is written */
	int error;			/* the reason: ENOSPC, EDQUOT ...; 0: the limit */
};

/* 0 or a negative errno for open and close; a full disk is a state, not an error. */
int trace_file_open(struct trace_file *f, const char *path, uint64_t magic, uint32_t version);
int trace_file_close(struct trace_file *f);

/* Continues a file that was cut off after its last block.  Damage before that remains.  -EBADMSG: not a file
 * of this kind. */
int trace_file_reopen(struct trace_file *f, const char *path, uint64_t magic, uint32_t version);

/* false: the disk or the limit is full, and the block is not in the file. */
bool trace_file_block(struct trace_file *f, uint32_t kind, const void *data, size_t len);
/* The same for records that were logged from since to until (ticks). */
bool trace_file_records(struct trace_file *f, uint32_t kind, const void *data, size_t len, uint64_t since, uint64_t until);

/* Writes a small block of the file's end.  There is room for it even if the file is full. */
bool trace_file_last(struct trace_file *f, uint32_t kind, const void *data, size_t len);

uint64_t trace_place_checksum(const struct trace_block *block, const struct trace_place *place);

#endif
