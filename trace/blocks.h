/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * blocks.h - reading the blocks of a trace file, as file.h writes them.
 *
 *	struct blocks b;
 *	r = blocks_open(&b, path, TRACE_MAGIC, TRACE_VERSION, reterr);
 *	while (!r && blocks_next(&b, &r, reterr))
 *		... b.kind, b.plain[0] .. b.plain[b.len - 1]
 *	blocks_close(&b);
 *
 * The reader trusts nothing in the file.  A file that was cut off is read up to its last whole block;
 * b.cut_bytes is the number of bytes after it.  Damaged blocks are skipped, duplicate ones come once, and
 * all come in the order in which they were written; b.list and b.lost say what is missing.  A block that is whole but
 * makes no sense is an error.
 */
#ifndef TRACE_BLOCKS_H
#define TRACE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/diag.h"
#include "base/map.h"
#include "trace/block_list.h"
#include "trace/format.h"

enum { BLOCKS_KEPT = 3 };

struct unpacked {
	uint64_t at;			/* 0: nothing */
	unsigned char *plain;
	size_t cap, len;
	uint32_t kind;
};

struct packed_block {			/* as it stands in the file */
	uint64_t at;
	struct trace_block head;
	unsigned char *data;
	size_t cap;
	bool is_cut;			/* the file ends inside it, or before it */
	const char *wrong;		/* what is wrong; NULL: nothing */
};

struct blocks {
	const char *path;
	int fd;
	uint64_t at, size;		/* of the block that is being read; the file */
	uint64_t number;		/* of that block */
	uint64_t cut_bytes;
	struct block_list list;
	size_t turn;			/* the next item of list.whole */
	VEC(struct listed_block) lost;	/* blocks that are listed but damaged */
	VEC(uint64_t) twice;		/* numbers of blocks that are there twice */
	struct map *seen;		/* checksums of blocks that were read */
	bool shares_seen;		/* seen belongs to the caller, who shares it among all files of a trace */
	struct packed_block packed;	/* the same block */
	unsigned char *plain;
	size_t plain_cap;
	struct ZSTD_DCtx_s *zstd;	/* tables of the unpacking: made once, not for each block */
	uint32_t kind;
	size_t len;			/* of plain */
	struct unpacked kept[BLOCKS_KEPT];	/* blocks that blocks_again() is likely to ask for */
	size_t kept_next;
	bool skips_chunks;		/* blocks_next() yields tables alone */
	bool checks_again;		/* blocks_again() may be the first to look at a block */
};

/* Opens a file of that version; its head may be damaged, but not all of its blocks.  Call blocks_close() in
 * any case. */
int blocks_open(struct blocks *b, const char *path, uint64_t magic, uint32_t version, struct diag *reterr);
void blocks_close(struct blocks *b);

/* Skips blocks that an earlier file of the trace had.  Before the first one. */
void blocks_share_seen(struct blocks *b, struct map *seen);

/* Whether something is missing before the last existing block; damage that only reading shows counts once it is met. */
bool blocks_have_holes(const struct blocks *b);

/* The next block; false at the end. *ret_err is 0. */
bool blocks_next(struct blocks *b, int *ret_err, struct diag *reterr);

/* A hash of the file's content, by its blocks' heads. */
uint64_t blocks_identity(const struct blocks *b);

/* The block at byte at, which blocks_next() yielded before: its checksum is not verified again, unless b.checks_again; the last few
 * are cached.  Windows end in the middle of blocks. */
bool blocks_again(struct blocks *b, uint64_t at, int *ret_err, struct diag *reterr);

/* Sets the message "trace '...' is damaged at byte N: what"; returns the error. */
int blocks_damaged(const struct blocks *b, const char *what, struct diag *reterr);

#endif
