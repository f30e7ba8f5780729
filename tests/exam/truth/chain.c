/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chain.c - the cause is eight calls down, among functions that only pass it on.
 *
 * A request reads a line, takes its way through eight layers, and hashes its answer.  At the bottom copy_rows()
 * takes 100 to 700 us, evenly: variance 600^2 / 12 = 30,000 us^2.  hash_answer() takes 100 to 400 us: 7,500.
 * read_line() takes the most time of all, and always the same.
 *
 * truth: function copy_rows 0.80
 * truth: function hash_answer 0.20
 * forbidden: function read_line
 * forbidden: function note
 * fix: copy_rows function copy_rows
 */
#include <vprof.h>
#include "truth.h"

enum { REQUESTS = 500 };

static volatile unsigned notes;

static void note(size_t id)
{
	notes += (unsigned)id;
}

static void read_line(size_t id)
{
	note(id);
	TRUTH(id, 2, truth_work(700));
}

static void hash_answer(size_t id)
{
	TRUTH(id, 1, truth_work(truth_uniform("hash_answer", 2, id, 100, 400)));
}

static void copy_rows(size_t id)
{
	TRUTH(id, 0, truth_work(truth_uniform("copy_rows", 1, id, 100, 700)));
}

static void layer8(size_t id) { note(id); copy_rows(id); }
static void layer7(size_t id) { note(id); layer8(id); }
static void layer6(size_t id) { note(id); layer7(id); }
static void layer5(size_t id) { note(id); layer6(id); }
static void layer4(size_t id) { note(id); layer5(id); }
static void layer3(size_t id) { note(id); layer4(id); }
static void layer2(size_t id) { note(id); layer3(id); }
static void layer1(size_t id) { note(id); layer2(id); }

static void handle(size_t id)
{
	read_line(id);
	layer1(id);
	hash_answer(id);
}

int main(void)
{
	truth_open(REQUESTS, "function copy_rows;function hash_answer;function read_line");
	TRUTH_SERVE(id, REQUESTS, 800, handle(id));
	truth_close();
	return 0;
}
