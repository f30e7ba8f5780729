/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shapes.h - traces of about n tuples, one for each way in which a program can be hard to analyse.
 */
#ifndef TESTS_BENCH_SHAPES_H
#define TESTS_BENCH_SHAPES_H

#include "trace/model.h"

struct shape {
	const char *name, *what;
	void (*make)(struct trace *t, size_t n);
};

extern const struct shape shapes[];
extern const size_t shape_cnt;

struct trace *shape_new(const struct shape *s, size_t n);

#endif
