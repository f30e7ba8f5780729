/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_reach.c - reach_ask() of a process that begins another program all the time.
 *
 * The kernel puts a new program's arguments and environment in place after the program itself.  A reader in between sees a
 * process without either.  This program has the symbol of one that was linked with the runtime, and starts itself again
 * and again; reach_ask() looks at it meanwhile.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"

#include "base/cleanup.h"
#include "base/banned.h"
#include "project/record/reach.h"

#define AGAIN "again"
#define STAY "stay"

int vprof_anchor;			/* makes this one a program with the runtime */

static char arena[] = "/tmp/test_reach.XXXXXX";

static pid_t start(const char *what, bool has_arena)
{
	char variable[sizeof(ARENA_VARIABLE) + sizeof(arena) + 1];
	char *const argv[] = { "test_reach", (char *)what, NULL };
	char *const env[] = { has_arena ? variable : NULL, NULL };
	pid_t pid;

	(void)snprintf(variable, sizeof(variable), ARENA_VARIABLE "=%s", arena);
	pid = fork();
	assert_return_code(pid, errno);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);	/* a test that fails leaves no process behind */
		(void)execve("/proc/self/exe", argv, env);
		_exit(127);
	}
	return pid;
}

static void stop(pid_t pid)
{
	assert_return_code(kill(pid, SIGKILL), errno);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Until fork()'s copy of this process has become the program that was asked for. */
static enum reach ask_when_started(pid_t pid)
{
	struct timespec moment = { 0, 1000000 };
	_cleanup_(str_release) struct str arguments = STR_INIT;

	for (int i = 0; i < 10000 && !reach_line(pid, "cmdline", "test_reach", &arguments); i++)
		(void)nanosleep(&moment, NULL);
	return reach_ask(pid, arena, NULL);
}

static void test_environment(void **state)
{
	pid_t with = start(STAY, true), without = start(STAY, false);

	(void)state;
	assert_int_equal(ask_when_started(with), REACH_UNKNOWN);
	assert_int_equal(ask_when_started(without), REACH_NOT_TOLD);
	stop(with);
	stop(without);
}

static void test_between_two_programs(void **state)
{
	pid_t pid = start(AGAIN, true);
	struct timespec begin, now;
	long asked = 0;

	(void)state;
	(void)ask_when_started(pid);
	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		assert_int_equal(reach_ask(pid, arena, NULL), REACH_UNKNOWN);
		asked++;
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - begin.tv_sec < 2);
	assert_true(asked > 100);
	stop(pid);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_between_two_programs),
	};
	int ret, fd;

	if (argc == 2 && !strcmp(argv[1], AGAIN))
		(void)execv("/proc/self/exe", argv);
	if (argc == 2 && !strcmp(argv[1], STAY))
		(void)pause();
	fd = mkstemp(arena);
	if (fd < 0 || close(fd) != 0)
		return 1;
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	(void)unlink(arena);
	return ret;
}
