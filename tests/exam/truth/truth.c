/* SPDX-License-Identifier: GPL-3.0-or-later */
/* truth.c - see truth.h. */
#define _GNU_SOURCE
#include "truth.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { COLUMNS_MAX = 16 };

struct row {
	int64_t begin_ns, end_ns, took_ns[COLUMNS_MAX];
};

static struct row *rows;
static size_t row_cnt;
static int column_cnt;
static const char *column_names;

void truth_open(size_t cnt, const char *columns)
{
	rows = mmap(NULL, cnt * sizeof(*rows), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
		    -1, 0);
	if (rows == MAP_FAILED)
		abort();
	row_cnt = cnt;
	column_names = columns;
	/* If permitted: fewer accidents on a busy machine. */
	sched_setscheduler(0, SCHED_RR, &(struct sched_param){ .sched_priority = 1 });
	column_cnt = 1;
	for (const char *c = columns; *c; c++)
		column_cnt += *c == ';';
	if (column_cnt > COLUMNS_MAX)
		abort();
}

int64_t truth_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void truth_begin(size_t id)
{
	rows[id].begin_ns = truth_now();
}

void truth_end(size_t id)
{
	rows[id].end_ns = truth_now();
}

void truth_took(size_t id, int column, int64_t ns)
{
	__atomic_fetch_add(&rows[id].took_ns[column], ns, __ATOMIC_RELAXED);
}

void truth_close(void)
{
	const char *path = getenv("TRUTH_BOOK");
	FILE *book = fopen(path ? path : "truth.book", "w");

	if (!book)
		abort();
	fprintf(book, "begin;end;%s\n", column_names);
	for (size_t i = 0; i < row_cnt; i++) {
		fprintf(book, "%lld;%lld", (long long)rows[i].begin_ns, (long long)rows[i].end_ns);
		for (int c = 0; c < column_cnt; c++)
			fprintf(book, ";%lld", (long long)rows[i].took_ns[c]);
		fputc('\n', book);
	}
	if (fclose(book))
		abort();
}

void truth_work(int64_t us)
{
	int64_t until = truth_now() + us * 1000;

	while (truth_now() < until)
		;
}

void truth_nap(int64_t us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

/* splitmix64: neighbours have nothing in common. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

double truth_draw(unsigned stream, uint64_t id)
{
	return (double)(mix(mix(stream) ^ id) >> 11) / (double)(1ull << 53);
}

static int is_off(const char *name)
{
	const char *off = getenv("TRUTH_OFF");

	return off && strcmp(off, name) == 0;
}

int64_t truth_uniform(const char *name, unsigned stream, uint64_t id, int64_t low, int64_t high)
{
	double at = is_off(name) ? 0.5 : truth_draw(stream, id);

	return low + (int64_t)(at * (double)(high - low));
}

int64_t truth_rare(const char *name, unsigned stream, uint64_t id, double probability, int64_t most)
{
	if (is_off(name))
		return (int64_t)(probability * (double)most);
	return truth_draw(stream, id) < probability ? most : 0;
}
