/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay.c - the kept corpora, once through their targets: what once broke stays mended, with any
 * compiler.
 *
 *	replay [FILE...]	tests/fuzz/corpus/NAME/... ; default: all of them
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/file.h"
#include "tests/fuzz/targets.h"

static const char *target_name, *file_name;

/* Who aborts says in which file. */
static void say_where(void)
{
	if (file_name)
		fprintf(stderr, "replay: while reading %s/%s\n", target_name, file_name);
}

static bool run_file(const struct fuzz_target *target, const char *path)
{
	char *data;
	size_t len;

	if (file_read(path, &data, &len)) {
		fprintf(stderr, "replay: cannot read %s\n", path);
		return false;
	}
	target_name = target->name;
	file_name = path_base(path);
	printf("%s/%s\n", target_name, file_name);
	fflush(stdout);
	target->run((const uint8_t *)data, len);
	file_name = NULL;
	free(data);
	return true;
}

/* How many there were, or -1. */
static int run_directory(const struct fuzz_target *target, const char *corpus)
{
	char *path = path_join(corpus, target->name);
	struct dirent **names;
	int cnt = scandir(path, &names, NULL, alphasort), ran = 0;

	for (int i = 0; i < cnt; i++) {
		char *file = path_join(path, names[i]->d_name);

		if (*names[i]->d_name != '.' && ran >= 0)
			ran = run_file(target, file) ? ran + 1 : -1;
		free(file);
		free(names[i]);
	}
	if (cnt >= 0)
		free(names);
	free(path);
	return ran;
}

static int run_named(const char *path)
{
	char *dir = path_dir(path);
	const struct fuzz_target *target = fuzz_target_find(path_base(dir));

	if (!target)
		fprintf(stderr, "replay: %s lies in no directory that is named like a target\n", path);
	free(dir);
	return target && run_file(target, path) ? 0 : 99;
}

int main(int argc, char **argv)
{
	const char *source = getenv("srcdir");
	char *corpus = path_join(source ? source : ".", "tests/fuzz/corpus");
	int status = 0;

	atexit(say_where);
	for (int i = 1; i < argc && !status; i++)
		status = run_named(argv[i]);
	for (size_t i = 0; argc < 2 && i < fuzz_target_cnt && !status; i++) {
		int cnt = run_directory(&fuzz_targets[i], corpus);

		if (cnt <= 0) {
			fprintf(stderr, "replay: no corpus for %s in %s\n", fuzz_targets[i].name, corpus);
			status = 99;
		}
	}
	free(corpus);
	return status;
}
