/* SPDX-License-Identifier: GPL-3.0-or-later */
/* targets.c - the table of targets, and files and directories in memory for those that want a path. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/banned.h"
#include "base/file.h"
#include "base/str.h"
#include "tests/fuzz/targets.h"
#include "trace/format.h"
#include "trace/kernel_format.h"

const struct fuzz_target fuzz_targets[] = {
	{ "trace", fuzz_trace, TRACE_MAGIC, TRACE_VERSION },
	{ "stream", fuzz_stream, TRACE_MAGIC, TRACE_VERSION },
	{ "arena", fuzz_arena, 0, 0 },
	{ "kernel", fuzz_kernel, KERNEL_MAGIC, KERNEL_VERSION },
	{ "perf", fuzz_perf, 0, 0 },
	{ "tuples", fuzz_tuples, 0, 0 },
	{ "otlp", fuzz_otlp, 0, 0 },
	{ "chrome", fuzz_chrome, 0, 0 },
	{ "perfetto", fuzz_perfetto, 0, 0 },
	{ "csv", fuzz_csv, 0, 0 },
	{ "uftrace", fuzz_uftrace, 0, 0 },
	{ "ctf", fuzz_ctf, 0, 0 },
	{ "stitch", fuzz_stitch, 0, 0 },
	{ "conf", fuzz_conf, 0, 0 },
	{ "sync", fuzz_sync, 0, 0 },
	{ "plan", fuzz_plan, 0, 0 },
	{ "callers", fuzz_callers, 0, 0 },
	{ "scan", fuzz_scan, 0, 0 },
	{ "digest", fuzz_digest, 0, 0 },
	{ "digest-tsv", fuzz_digest_tsv, 0, 0 },
	{ "elf", fuzz_elf, 0, 0 },
	{ "sql", fuzz_sql, 0, 0 },
	{ "db", fuzz_db, 0, 0 },
	{ "source", fuzz_source, 0, 0 },
	{ "words", fuzz_words, 0, 0 },
	{ "valid-tuples", fuzz_valid_tuples, 0, 0 },
	{ "valid-perf", fuzz_valid_perf, 0, 0 },
	{ "valid-trace", fuzz_valid_trace, 0, 0 },
};

const size_t fuzz_target_cnt = sizeof(fuzz_targets) / sizeof(fuzz_targets[0]);

const struct fuzz_target *fuzz_target_find(const char *name)
{
	for (size_t i = 0; i < fuzz_target_cnt; i++)
		if (!strcmp(fuzz_targets[i].name, name))
			return &fuzz_targets[i];
	return NULL;
}

const char *fuzz_file(const void *data, size_t len)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, len, 0) != (ssize_t)len) {
		perror("memfd");
		exit(99);
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static char own_directory[64];

static void remove_directory(void)
{
	remove_tree(own_directory);
}

static void make_directory(void)
{
	const char *given = getenv("FUZZ_DIR");

	snprintf(own_directory, sizeof(own_directory), "%s/vprof-fuzz-XXXXXX", given ? given : "/dev/shm");
	if (!mkdtemp(own_directory)) {
		perror(own_directory);
		exit(99);
	}
	atexit(remove_directory);
}

const char *fuzz_directory(const char *name)
{
	static char path[128];

	if (!*own_directory)
		make_directory();
	snprintf(path, sizeof(path), "%s/%s", own_directory, name);
	if (make_dirs(path, 0700)) {
		perror(path);
		exit(99);
	}
	return path;
}
