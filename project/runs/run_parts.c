/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_parts.c - finds the traces that a run consists of, by their names; creates a run from such parts.
 *
 * Example: "part-004.tuples" is run 4's, imported; "part-x.vpt" is ignored.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <time.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/str.h"
#include "project/runs/run_parts.h"
#include "trace/tuples/tuples.h"

/* Takes over both paths; the kernel's file may be missing. */
static void add(run_parts *list, uint32_t run, char *path, char *kernel, bool tuples)
{
	if (tuples || !file_exists(kernel)) {
		free(kernel);
		kernel = NULL;
	}
	VEC_ADD(list, (struct run_part){ run, path, kernel, tuples, false });
}

static bool parse_name(const char *name, uint32_t *ret_run, bool *ret_tuples)
{
	char *end;
	unsigned long run;

	if (!starts_with(name, "part-") || name[5] < '0' || name[5] > '9')
		return false;
	run = strtoul(name + 5, &end, 10);
	*ret_run = (uint32_t)run;
	*ret_tuples = strcmp(end, ".tuples") == 0;
	return run < UINT32_MAX && (*ret_tuples || strcmp(end, ".vpt") == 0);
}

static int compare_parts(const void *a, const void *b)
{
	const struct run_part *x = a, *y = b;

	return (x->run > y->run) - (x->run < y->run);
}

static void add_merged(const char *dir, run_parts *list)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		uint32_t run;
		bool tuples;

		if (parse_name(entry->d_name, &run, &tuples))
			add(list, run, path_join(dir, entry->d_name),
			    xasprintf("%s/part-%03" PRIu32 ".vpk", dir, run), tuples);
	}
	if (d)
		closedir(d);
	if (list->cnt > 1)
		qsort(list->items, list->cnt, sizeof(*list->items), compare_parts);
}

int run_parts_find(const struct store *s, const struct run *r, run_parts *ret, struct diag *reterr)
{
	_cleanup_(freep) char *dir = run_dir(s, r->number);
	char *recorded = path_join(dir, "trace.vpt"), *imported = path_join(dir, "trace.tuples");

	if (file_exists(recorded))
		add(ret, r->number, TAKE_PTR(recorded), path_join(dir, "kernel.vpk"), false);
	else if (file_exists(imported))
		add(ret, r->number, TAKE_PTR(imported), NULL, true);
	else
		add_merged(dir, ret);
	free(recorded);
	free(imported);
	if (ret->cnt)
		return 0;
	return diag_set(reterr, EXIT_DATA, -ENOENT, "run %u has no trace any more: '%s' holds neither "
			"trace.vpt nor trace.tuples", r->number, dir);
}

void run_parts_release(run_parts *list)
{
	for (size_t i = 0; i < list->cnt; i++) {
		free(list->items[i].path);
		free(list->items[i].kernel);
	}
	VEC_RELEASE(list);
}

int run_create_from(struct store *s, const char *source, const struct args *words, const char *name,
		    struct run *run, struct diag *reterr)
{
	_cleanup_(str_release) struct str command = STR_INIT;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	str_add(&command, source);
	for (size_t i = 0; i < words->cnt; i++) {
		str_addc(&command, ' ');
		str_add_shell_quoted(&command, words->items[i]);
	}
	run->name = name ? xstrdup(name) : NULL;
	run->command = str_take(&command);
	run->source = xstrdup(source);
	run->started_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	run->status = RUN_RECORDED;
	return run_create(s, run, reterr);
}

static int save_tuples(const char *path, const struct trace *t, struct diag *reterr)
{
	_cleanup_(fclosep) FILE *out = fopen(path, "we");
	int r = out ? tuples_write(out, t) : -errno;

	if (r == 0 && fflush(out) != 0)
		r = -errno;
	if (r < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot write '%s': %s", path, strerror(-r));
	return 0;
}

int run_create_of_tuples(struct store *s, const char *source, const struct args *words, const char *name, const struct trace *t,
			 struct run *run, struct diag *reterr)
{
	_cleanup_(freep) char *dir = NULL, *path = NULL;
	int r = run_create_from(s, source, words, name, run, reterr);

	if (r < 0)
		return r;
	dir = run_dir(s, run->number);
	path = path_join(dir, "trace.tuples");
	r = save_tuples(path, t, reterr);
	if (r < 0) {
		unlink(path);		/* makes room for what follows */
		run_remove(s, run->number, NULL);
	}
	return r;
}
