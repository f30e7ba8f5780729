/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rows.c - rows on disk, sorted by merging.
 *
 * Rows are collected in memory; when there are too many they are sorted and appended to the file as one run. Reading
 * merges the runs and the rows still in memory.  Intervals end in nearly the order in which they began, so a merge
 * mostly reads one run after the other.
 *
 * A row is a few 64-bit words.  Example, place 3 for 500 ns and place 4 for 5 s, no work:
 *
 *	words 11 | cells 2, works 0 | start | end | SID | start TID | end TID | origin, weight | 3 << 32 | 500 |
 *	4 << 32 | 2^32 - 1 | 5000000000
 *
 * (2^32 - 1: the time does not fit and stands in the next word.)
 */
#include "analysis/tree/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/banned.h"
#include "base/file.h"

#define HEAD_WORDS 8
#define LONG_NS UINT32_MAX
#define WRITE_WORDS ((size_t)1 << 15)
#define READ_WORDS ((size_t)1 << 13)

struct row_place {			/* of a row that is in memory */
	int64_t start_ns;
	uint64_t sid;
	size_t first;			/* word */
};

struct run {				/* sorted rows in the file */
	uint64_t first, cnt;		/* words */
};

struct rows {
	VEC(uint64_t) words;		/* the rows that are in memory */
	VEC(struct row_place) index;	/* of them */
	VEC(struct run) runs;
	uint64_t file_words;
	int fd;				/* -1: none yet */
	int error;
	size_t cnt;
	VEC(size_t) cnt_of_origin;
	uint64_t weight;		/* sum of all */
	uint32_t unit;
	bool unrepeated;
	uint32_t *new_ids;		/* of places; NULL: as they were added */
};

struct row_reader {
	const uint64_t *row;		/* the next one; NULL: none left */
	/* of a run in the file */
	uint64_t at, end;		/* words that were not read yet */
	uint64_t *buffer;
	size_t from, cnt, cap;		/* of the buffer: words not looked at yet */
	/* in memory */
	const struct row_place *place, *last_place;
};

size_t rows_memory_bytes = (size_t)8 << 20;

struct rows *rows_new(void)
{
	struct rows *r = xcalloc(1, sizeof(*r));

	r->fd = -1;
	return r;
}

struct rows *rows_new_unrepeated(void)
{
	struct rows *r = rows_new();

	r->unrepeated = true;
	return r;
}

void rows_free(struct rows *r)
{
	if (!r)
		return;
	VEC_RELEASE(&r->words);
	VEC_RELEASE(&r->index);
	VEC_RELEASE(&r->runs);
	VEC_RELEASE(&r->cnt_of_origin);
	if (r->fd >= 0)
		close(r->fd);
	free(r->new_ids);
	free(r);
}

void rows_renumber(struct rows *r, uint32_t *new_ids)
{
	free(r->new_ids);
	r->new_ids = new_ids;
}

size_t rows_recorded(const struct rows *r)
{
	return r->cnt;
}

size_t rows_recorded_of(const struct rows *r, uint32_t origin)
{
	return origin < r->cnt_of_origin.cnt ? r->cnt_of_origin.items[origin] : 0;
}

uint32_t rows_unit(const struct rows *r)
{
	return r->unit ? r->unit : 1;
}

size_t rows_cnt(const struct rows *r)
{
	return r->unrepeated ? r->cnt : (size_t)(r->weight / rows_unit(r));
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

int rows_error(const struct rows *r)
{
	return r->error;
}

/* ---- writing ---- */

static int compare_places(const void *pa, const void *pb)
{
	const struct row_place *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->sid > b->sid) - (a->sid < b->sid);
}

static void sort_memory(struct rows *r)
{
	for (size_t i = 1; i < r->index.cnt; i++)
		if (compare_places(&r->index.items[i - 1], &r->index.items[i]) > 0) {
			qsort(r->index.items, r->index.cnt, sizeof(*r->index.items), compare_places);
			return;
		}
}

static void write_words(struct rows *r, const uint64_t *words, size_t cnt)
{
	const char *data = (const char *)words;
	size_t left = cnt * sizeof(*words);
	off_t at = (off_t)(r->file_words * sizeof(*words));

	while (left > 0 && r->error == 0) {
		ssize_t n = pwrite(r->fd, data, left, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			r->error = n < 0 ? -errno : -ENOSPC;
			return;
		}
		data += n;
		at += n;
		left -= (size_t)n;
	}
	r->file_words += cnt;
}

static size_t words_of(const uint64_t *row)
{
	return row[0];
}

/* Writes the rows in memory as a run. */
static void write_run(struct rows *r)
{
	struct run run = { r->file_words, r->words.cnt };
	VEC(uint64_t) staged = { NULL, 0, 0 };

	if (r->fd < 0)
		r->fd = file_unnamed();
	if (r->fd < 0 && r->error == 0)
		r->error = r->fd;
	sort_memory(r);
	for (size_t i = 0; i < r->index.cnt && r->error == 0; i++) {
		const uint64_t *row = r->words.items + r->index.items[i].first;

		VEC_ROOM(&staged, words_of(row));
		memcpy(staged.items + staged.cnt, row, words_of(row) * sizeof(*row));
		staged.cnt += words_of(row);
		if (staged.cnt < WRITE_WORDS && i + 1 < r->index.cnt)
			continue;
		write_words(r, staged.items, staged.cnt);
		staged.cnt = 0;
	}
	VEC_RELEASE(&staged);
	VEC_ADD(&r->runs, run);
	r->words.cnt = r->index.cnt = 0;
}

void rows_add(struct rows *r, const struct row_head *head, const struct cell *cells, size_t cell_cnt,
	      const struct noted_work *works, size_t work_cnt)
{
	size_t first = r->words.cnt;
	uint32_t weight = head->weight ? head->weight : 1;
	uint64_t *at;
	const uint64_t words[HEAD_WORDS] = {
		0, (uint64_t)work_cnt << 32 | cell_cnt, (uint64_t)head->start_ns, (uint64_t)head->end_ns,
		head->sid, head->start_tid, head->end_tid, (uint64_t)head->origin << 32 | weight,
	};

	VEC_ADD(&r->index, (struct row_place){ head->start_ns, head->sid, first });
	VEC_ROOM(&r->words, HEAD_WORDS + 2 * cell_cnt + 2 * work_cnt);
	at = r->words.items + first;
	memcpy(at, words, sizeof(words));
	at += HEAD_WORDS;
	for (size_t i = 0; i < cell_cnt; i++) {
		bool fits = cells[i].ns >= 0 && cells[i].ns < LONG_NS;

		*at++ = (uint64_t)cells[i].place << 32 | (fits ? (uint64_t)cells[i].ns : LONG_NS);
		if (!fits)
			*at++ = (uint64_t)cells[i].ns;
	}
	for (size_t i = 0; i < work_cnt; i++) {
		*at++ = works[i].name;
		*at++ = (uint64_t)works[i].value;
	}
	r->words.cnt = (size_t)(at - r->words.items);
	r->words.items[first] = r->words.cnt - first;
	r->cnt++;
	while (r->cnt_of_origin.cnt <= head->origin)
		VEC_ADD(&r->cnt_of_origin, 0);
	r->cnt_of_origin.items[head->origin]++;
	r->weight += weight;
	r->unit = common_divisor(weight, r->unit);
	if (r->words.cnt * sizeof(uint64_t) > rows_memory_bytes)
		write_run(r);
}

/* ---- reading ---- */

/* Makes sure that at least cnt words are in the buffer; false: the file does not have them. */
static bool fill(struct rows *rows, struct row_reader *r, size_t cnt)
{
	size_t want;

	if (r->cnt >= cnt)
		return true;
	memmove(r->buffer, r->buffer + r->from, r->cnt * sizeof(*r->buffer));
	r->from = 0;
	if (r->cap < cnt) {
		r->cap = cnt + READ_WORDS;
		r->buffer = xrealloc(r->buffer, r->cap, sizeof(*r->buffer));
	}
	want = r->end - r->at < r->cap - r->cnt ? (size_t)(r->end - r->at) : r->cap - r->cnt;
	for (size_t done = 0; done < want * sizeof(*r->buffer); ) {
		ssize_t n = pread(rows->fd, (char *)(r->buffer + r->cnt) + done, want * sizeof(*r->buffer) - done,
				  (off_t)(r->at * sizeof(*r->buffer) + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rows->error = n < 0 ? -errno : -EIO;
			return false;
		}
		done += (size_t)n;
	}
	r->at += want;
	r->cnt += want;
	return r->cnt >= cnt;
}

/* Advances to the next row of the run. */
static void advance(struct rows *rows, struct row_reader *r)
{
	if (!r->buffer) {
		if (r->row)
			r->place++;
		r->row = r->place < r->last_place ? rows->words.items + r->place->first : NULL;
		return;
	}
	if (r->row) {
		r->from += words_of(r->row);
		r->cnt -= words_of(r->row);
	}
	r->row = NULL;
	if (r->cnt == 0 && r->at == r->end)
		return;
	if (fill(rows, r, 1) && fill(rows, r, r->buffer[r->from]))
		r->row = r->buffer + r->from;
}

static bool is_before(const struct row_reader *a, const struct row_reader *b)
{
	int64_t a_ns = (int64_t)a->row[2], b_ns = (int64_t)b->row[2];

	return a_ns != b_ns ? a_ns < b_ns : a->row[4] < b->row[4];
}

/* heap[at] may be later than the entries below it. */
static void sift_down(struct rows_walk *w, size_t cnt, size_t at)
{
	for (size_t child; (child = 2 * at + 1) < cnt; at = child) {
		uint32_t moved = w->heap[at];

		if (child + 1 < cnt && is_before(&w->readers[w->heap[child + 1]], &w->readers[w->heap[child]]))
			child++;
		if (!is_before(&w->readers[w->heap[child]], &w->readers[moved]))
			return;
		w->heap[at] = w->heap[child];
		w->heap[child] = moved;
	}
}

void rows_begin(struct rows_walk *w, struct rows *r)
{
	*w = (struct rows_walk){ .rows = r, .reader_cnt = r->runs.cnt + 1 };
	w->readers = xcalloc(w->reader_cnt, sizeof(*w->readers));
	w->heap = xcalloc(w->reader_cnt, sizeof(*w->heap));
	sort_memory(r);
	for (size_t i = 0; i < r->runs.cnt; i++)
		w->readers[i] = (struct row_reader){
			.at = r->runs.items[i].first, .end = r->runs.items[i].first + r->runs.items[i].cnt,
			.buffer = xcalloc(READ_WORDS, sizeof(uint64_t)), .cap = READ_WORDS,
		};
	w->readers[r->runs.cnt].place = r->index.items;
	w->readers[r->runs.cnt].last_place = r->index.items ? r->index.items + r->index.cnt : NULL;
	w->next = 0;
	for (uint32_t i = 0; i < w->reader_cnt; i++) {
		advance(r, &w->readers[i]);
		if (w->readers[i].row)
			w->heap[w->next++] = i;
	}
	for (size_t i = w->next; i-- > 0; )
		sift_down(w, w->next, i);
	w->row = w->recorded = SIZE_MAX;
}

static void unpack(struct rows_walk *w, const uint64_t *row)
{
	uint32_t cell_cnt = (uint32_t)row[1], work_cnt = (uint32_t)(row[1] >> 32);
	const uint64_t *at = row + HEAD_WORDS;

	w->head = (struct row_head){ (int64_t)row[2], (int64_t)row[3], row[4], row[5], row[6],
				       (uint32_t)row[7], (uint32_t)(row[7] >> 32) };
	w->cells.cnt = w->works.cnt = 0;
	if (w->heads_only)
		return;
	VEC_ROOM(&w->cells, cell_cnt);
	for (uint32_t i = 0; i < cell_cnt; i++) {
		struct cell c = { (uint32_t)(*at >> 32), (int64_t)(*at & LONG_NS) };

		at++;
		if (c.ns == LONG_NS)
			c.ns = (int64_t)*at++;
		if (w->rows->new_ids)
			c.place = w->rows->new_ids[c.place];
		w->cells.items[w->cells.cnt++] = c;
	}
	for (uint32_t i = 0; i < work_cnt; i++, at += 2)
		VEC_ADD(&w->works, (struct noted_work){ (uint32_t)at[0], (int64_t)at[1] });
}

bool rows_next(struct rows_walk *w)
{
	struct row_reader *first;

	if (w->copies_left) {
		w->copies_left--;
		w->row++;
		return true;
	}
	if (w->next == 0)
		return false;
	first = &w->readers[w->heap[0]];
	unpack(w, first->row);
	w->row++;
	w->recorded++;
	w->copies = w->rows->unrepeated ? 1 : w->head.weight / rows_unit(w->rows);
	w->copies_left = w->copies - 1;
	advance(w->rows, first);
	if (!first->row)
		w->heap[0] = w->heap[--w->next];
	sift_down(w, w->next, 0);
	return true;
}

void rows_end(struct rows_walk *w)
{
	for (size_t i = 0; i < w->reader_cnt; i++)
		free(w->readers[i].buffer);
	free(w->readers);
	free(w->heap);
	VEC_RELEASE(&w->cells);
	VEC_RELEASE(&w->works);
}
