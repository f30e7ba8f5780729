/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay.c - the kept corpora, once through their targets: inputs that once broke something still pass, with any
 * compiler.
 *
 *	replay [FILE...]	tests/fuzz/corpus/NAME/... ; default: all of them
 *	replay --made CNT	CNT texts that are made to be accepted, of fixed bytes; prints how many are
 *	replay --text valid-perf/FILE	the text that a file of bytes makes
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "tests/fuzz/generate.h"
#include "tests/fuzz/targets.h"

static const char *target_name, *file_name;

/* Names the file in which a target aborts. */
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

/* Bytes of a fixed row of numbers: short inputs and long ones.  At least half of the texts are accepted. */
static int run_made(const struct fuzz_target *target, unsigned long cnt)
{
	static uint8_t data[2048];
	uint64_t random = 1;

	fuzz_made = (struct fuzz_made){ 0, 0 };
	target_name = target->name;
	for (unsigned long i = 0; i < cnt; i++) {
		char name[32];
		size_t len = 16 + i * 37 % (sizeof(data) - 16);

		for (size_t k = 0; k < len; k++) {
			random = random * 6364136223846793005 + 1442695040888963407;
			data[k] = (uint8_t)(random >> 56);
		}
		snprintf(name, sizeof(name), "made input %lu", i);
		file_name = name;
		target->run(data, len);
		file_name = NULL;
	}
	printf("%s: %" PRIu64 " of %" PRIu64 " texts are accepted\n", target->name, fuzz_made.accepted, fuzz_made.all);
	return fuzz_made.all == cnt && fuzz_made.accepted * 2 >= cnt ? 0 : 1;
}

static int print_text(const char *path)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	_cleanup_(freep) char *dir = path_dir(path), *data = NULL;
	size_t len;

	if (file_read(path, &data, &len))
		return 99;
	(strcmp(path_base(dir), "valid-perf") ? generate_tuples : generate_perf)((const uint8_t *)data, len, &text);
	fputs(str_cstr(&text), stdout);
	return 0;
}

int main(int argc, char **argv)
{
	const char *source = getenv("srcdir");
	char *corpus = path_join(source ? source : ".", "tests/fuzz/corpus");
	int status = 0;

	atexit(say_where);
	if (argc == 3 && !strcmp(argv[1], "--made")) {
		free(corpus);
		return run_made(fuzz_target_find("valid-tuples"), strtoul(argv[2], NULL, 10)) |
		       run_made(fuzz_target_find("valid-perf"), strtoul(argv[2], NULL, 10)) |
		       run_made(fuzz_target_find("valid-trace"), strtoul(argv[2], NULL, 10));
	}
	if (argc == 3 && !strcmp(argv[1], "--text")) {
		free(corpus);
		return print_text(argv[2]);
	}
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
