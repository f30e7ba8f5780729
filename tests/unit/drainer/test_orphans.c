/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_orphans.c - what a killed drainer leaves is removed by a later one.
 *
 * In a directory of its own: where many programs record at once, or the memory is short, orphans of any age are removed.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "drainer/drainer.h"
#include "tests/unit/cmocka_all.h"

static void make_older(const char *path, long s)
{
	const struct timespec times[] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = time(NULL) - s } };

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static struct drainer *open_in(const char *dir, const char *trace_path)
{
	struct drainer_options o = { .trace_path = trace_path, .arena_dir = dir, .arena_bytes = 1 };
	struct drainer *d;

	return drainer_open(&o, &d, NULL) ? NULL : d;
}

static void record_nothing_in(const char *dir)
{
	struct drainer *d = open_in(dir, "none.trace");

	assert_non_null(d);
	assert_int_equal(drainer_close(d, NULL, NULL), 0);
	unlink("none.trace");
}

/* An arena whose drainer is killed. */
static void make_orphan(const char *dir, char path[4096])
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		struct drainer *d = open_in(dir, "orphan.trace");

		if (!d || write(ends[1], drainer_path(d), strlen(drainer_path(d)) + 1) < 0)
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(read(ends[0], path, 4096) > 12);
	close(ends[0]);
	assert_int_equal(access(path, F_OK), 0);
}

/* A drainer that is killed cannot remove its arena; another one does, an hour later, but not that of a live one. */
static void test_orphans(void **state)
{
	char dir[] = "orphans-XXXXXX", path[4096];
	struct drainer *live;

	(void)state;
	assert_non_null(mkdtemp(dir));
	live = open_in(dir, "live.trace");
	assert_non_null(live);
	make_orphan(dir, path);
	record_nothing_in(dir);
	assert_int_equal(access(path, F_OK), 0);
	make_older(path, 3700);
	make_older(drainer_path(live), 3700);
	record_nothing_in(dir);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(access(drainer_path(live), F_OK), 0);
	assert_int_equal(drainer_close(live, NULL, NULL), 0);
	assert_int_equal(rmdir(dir), 0);
	unlink("live.trace");
	unlink("orphan.trace");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_orphans) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
