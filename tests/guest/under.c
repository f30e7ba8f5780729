/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * under.c - runs a program under a filter or limit that it inherits, or lists the system calls that it makes.
 *
 *	under calls ALL LATER COMMAND...	their numbers into the file ALL, those after getuid() into LATER
 *	under filter FILE COMMAND...		permits the numbers in FILE, kills for others
 *	under names FILE COMMAND...		the same with names, a line each; those that this machine does not know are left out
 *	under limit RESOURCE VALUE COMMAND...	both limits; RESOURCE is a number
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

enum { NUMBERS_MAX = 600 };

static const struct { const char *name; int number; } names[] = {
#include "call_names.h"
};

static unsigned char all[NUMBERS_MAX], later[NUMBERS_MAX];

static void write_numbers(const char *path, const unsigned char *set)
{
	FILE *f = fopen(path, "w");

	for (int i = 0; f && i < NUMBERS_MAX; i++)
		if (set[i])
			fprintf(f, "%d\n", i);
	if (!f || fclose(f))
		exit(93);
}

#ifdef __x86_64__
static void note_call(pid_t pid, int *is_later)
{
	long number = ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user_regs_struct, orig_rax), NULL);

	if (number < 0 || number >= NUMBERS_MAX)
		return;
	*is_later |= number == SYS_getuid;
	all[number] = 1;
	if (*is_later)
		later[number] = 1;
}

static int calls(char **argv)
{
	int status, is_later = 0, result = 1;
	pid_t first = fork(), pid;

	if (first == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	waitpid(first, &status, 0);
	ptrace(PTRACE_SETOPTIONS, first, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_EXITKILL);
	ptrace(PTRACE_SYSCALL, first, NULL, NULL);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		int signal = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;

		if (pid == first && WIFEXITED(status))
			result = WEXITSTATUS(status);
		if (!WIFSTOPPED(status))
			continue;
		if (signal == (SIGTRAP | 0x80))
			note_call(pid, &is_later);
		if (signal == SIGSTOP || (signal & 0x7f) == SIGTRAP)
			signal = 0;
		ptrace(PTRACE_SYSCALL, pid, NULL, signal);
	}
	write_numbers(argv[0], all);
	write_numbers(argv[1], later);
	return result;
}
#else
static int calls(char **argv)
{
	(void)argv;
	return 77;
}
#endif

static unsigned int read_set(const char *path, int *set, int by_name)
{
	FILE *f = fopen(path, "r");
	unsigned int cnt = 0;
	char word[64];

	while (f && cnt < NUMBERS_MAX && fscanf(f, "%63s", word) == 1) {
		int number = by_name ? -1 : atoi(word);

		for (unsigned int i = 0; by_name && i < sizeof(names) / sizeof(names[0]); i++)
			if (!strcmp(names[i].name, word))
				number = names[i].number;
		if (number >= 0)
			set[cnt++] = number;
	}
	if (!f || !cnt)
		exit(90);
	fclose(f);
	return cnt;
}

static void filter(const char *path, int by_name)
{
	static struct sock_filter code[2 * NUMBERS_MAX + 8];
	int set[NUMBERS_MAX];
	unsigned int cnt = read_set(path, set, by_name), at = 0;
	struct sock_fprog p = { 0, code };

	set[cnt < NUMBERS_MAX ? cnt++ : cnt - 1] = SYS_execve;
	code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (unsigned int i = 0; i < cnt; i++) {
		code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)set[i], 0, 1);
		code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	p.len = (unsigned short)at;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p, 0, 0))
		exit(91);
}

int main(int argc, char **argv)
{
	struct rlimit l;

	if (argc > 4 && !strcmp(argv[1], "calls"))
		return calls(argv + 2);
	if (argc > 3 && (!strcmp(argv[1], "filter") || !strcmp(argv[1], "names"))) {
		filter(argv[2], !strcmp(argv[1], "names"));
		execv(argv[3], argv + 3);
	} else if (argc > 4 && !strcmp(argv[1], "limit")) {
		l.rlim_cur = l.rlim_max = strtoull(argv[3], NULL, 10);
		if (setrlimit(atoi(argv[2]), &l))
			return 91;
		execv(argv[4], argv + 4);
	}
	return 94;
}
