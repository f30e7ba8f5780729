/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pager.c - starts the pager, and waits for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/banned.h"
#include "cmd/messages.h"
#include "cmd/pager.h"

#define NOT_RUNNABLE 126		/* the shell's status where it cannot run a program; 127: where it finds none */

extern char **environ;

bool pager_off;

static pid_t pager;			/* 0: none runs */
static int own_stderr = -1;		/* the terminal, while stderr goes to the pager */

/* NULL: none. */
static const char *chosen_pager(bool *ret_by_user)
{
	const char *command = getenv("VPROF_PAGER");

	if (!command)
		command = getenv("PAGER");
	*ret_by_user = command != NULL;
	if (!command)
		command = "less";
	return !*command || strcmp(command, "cat") == 0 ? NULL : command;
}

/* The pager reads the pipe, and gets signals as if a shell had started it: this process ignores SIGPIPE. */
static int spawn(const char *command, const int fds[2])
{
	/* Without words or signs for a shell, what is missing is known at once. */
	bool shell = command[strcspn(command, "|&;<>()$`\\\"' \t\n*?[#~=%")] != '\0';
	char *const direct[] = { (char *)command, NULL }, *const by_shell[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int r;

	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, fds[0], STDIN_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	r = posix_spawnp(&pager, shell ? "sh" : command, &files, &attributes, shell ? by_shell : direct, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return r;
}

static int wait_for_pager(void)
{
	int status = 0;

	while (waitpid(pager, &status, 0) < 0)
		if (errno != EINTR)
			return 0;
	return status;
}

/* ^C is the pager's, too, and less goes on: this process must not leave it alone on the terminal. */
static void end_by_signal(int signal_number)
{
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	wait_for_pager();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void take_outputs(int to)
{
	static const int ending[] = { SIGINT, SIGHUP, SIGTERM, SIGQUIT };

	dup2(to, STDOUT_FILENO);
	if (isatty(STDERR_FILENO)) {
		own_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		dup2(to, STDERR_FILENO);
	}
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		signal(ending[i], end_by_signal);
}

void pager_start(void)
{
	bool by_user;
	const char *command = chosen_pager(&by_user);
	int fds[2], r;

	if (pager_off || pager || !command || !isatty(STDOUT_FILENO))
		return;
	if (fflush(stdout) != 0 || pipe2(fds, O_CLOEXEC) < 0)
		return;
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	r = spawn(command, fds);
	close(fds[0]);
	if (r == 0)
		take_outputs(fds[1]);
	else
		pager = 0;
	close(fds[1]);
	if (r && (by_user || r != ENOENT))
		warn_line("cannot run the pager '%s': %s", command, strerror(r));
}

int pager_end(int status)
{
	int ended;

	if (!pager)
		return status;
	close(STDOUT_FILENO);
	if (own_stderr >= 0)
		dup2(own_stderr, STDERR_FILENO);
	ended = wait_for_pager();
	if (WIFEXITED(ended) && WEXITSTATUS(ended) >= NOT_RUNNABLE)
		return fail_now(EXIT_ENVIRONMENT, "--no-pager, or another $VPROF_PAGER or $PAGER",
				"the pager could not be run, and showed nothing");
	return status;
}
