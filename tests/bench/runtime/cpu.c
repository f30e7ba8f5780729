/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpu.c - cpu FILE COMMAND...: appends the processor time of the command, in ms, to FILE; ends as the command did. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	FILE *out;
	int status;
	pid_t pid;

	if (argc < 3)
		return 2;
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return 99;
	out = fopen(argv[1], "a");
	if (!out || fprintf(out, "%.3f\n", (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
			    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3) < 0 || fclose(out))
		return 99;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
