/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_filter.c - what runtime/rules/filter.c says of filters, held against the kernel: a child installs each, and makes the call. */
#include <errno.h>
#include <stddef.h>
#include <linux/audit.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "runtime/rules/filter.h"
#include "tests/unit/cmocka_all.h"

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define JUMP(how, k, yes, no) BPF_JUMP(BPF_JMP | how | BPF_K, k, yes, no)
#define DO(how, k) BPF_STMT(BPF_ALU | how | BPF_K, k)
#define RET(k) BPF_STMT(BPF_RET | BPF_K, k)
#define REFUSE (SECCOMP_RET_ERRNO | 77)

struct row {
	const char *name;
	bool permits;			/* getpriority(0, 5) */
	struct sock_filter code[24];
	unsigned short cnt;
};

#define ROW(name, permits, ...) { name, permits, { __VA_ARGS__ }, sizeof((struct sock_filter[]){ __VA_ARGS__ }) / sizeof(struct sock_filter) }

/* All other calls are permitted, so that the child can report. */
#define OTHERS LOAD(nr), JUMP(BPF_JEQ, SYS_getpriority, 1, 0), RET(SECCOMP_RET_ALLOW)

static const struct row rows[] = {
	ROW("all", true, RET(SECCOMP_RET_ALLOW)),
	ROW("refused", false, OTHERS, RET(REFUSE)),
	ROW("logged", true, OTHERS, RET(SECCOMP_RET_LOG)),
	ROW("by an argument", true, OTHERS, LOAD(args[1]), JUMP(BPF_JEQ, 5, 0, 1), RET(SECCOMP_RET_ALLOW), RET(REFUSE)),
	ROW("by another argument", false, OTHERS, LOAD(args[1]), JUMP(BPF_JEQ, 6, 0, 1), RET(SECCOMP_RET_ALLOW), RET(REFUSE)),
	ROW("greater", false, OTHERS, LOAD(args[1]), JUMP(BPF_JGT, 5, 0, 1), RET(SECCOMP_RET_ALLOW), RET(REFUSE)),
	ROW("greater or equal", true, OTHERS, LOAD(args[1]), JUMP(BPF_JGE, 5, 0, 1), RET(SECCOMP_RET_ALLOW), RET(REFUSE)),
	ROW("a bit", true, OTHERS, LOAD(args[1]), JUMP(BPF_JSET, 4, 0, 1), RET(SECCOMP_RET_ALLOW), RET(REFUSE)),
	ROW("a jump", false, OTHERS, JUMP(BPF_JA, 1, 0, 0), RET(SECCOMP_RET_ALLOW), RET(REFUSE)),
	ROW("computed", true, OTHERS, LOAD(args[1]), DO(BPF_ADD, 3), DO(BPF_MUL, 4), DO(BPF_SUB, 2), DO(BPF_RSH, 1), DO(BPF_LSH, 2),
	    DO(BPF_XOR, 1), DO(BPF_OR, 64), DO(BPF_AND, 0x7f), DO(BPF_DIV, 5), JUMP(BPF_JEQ, 25, 0, 1), RET(SECCOMP_RET_ALLOW),
	    RET(REFUSE)),
	ROW("in memory", true, OTHERS, LOAD(args[1]), BPF_STMT(BPF_ST, 3), BPF_STMT(BPF_LD | BPF_IMM, 9),
	    BPF_STMT(BPF_MISC | BPF_TAX, 0), BPF_STMT(BPF_STX, 4), BPF_STMT(BPF_LD | BPF_MEM, 3), BPF_STMT(BPF_LDX | BPF_MEM, 4),
	    BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0), JUMP(BPF_JEQ, 14, 0, 1), RET(SECCOMP_RET_ALLOW), RET(REFUSE)),
	ROW("the answer computed", true, OTHERS, LOAD(args[1]), DO(BPF_MUL, 0), DO(BPF_OR, SECCOMP_RET_ALLOW), BPF_STMT(BPF_RET | BPF_A, 0)),
	ROW("x and a", true, OTHERS, LOAD(args[1]), BPF_STMT(BPF_MISC | BPF_TAX, 0), BPF_STMT(BPF_LD | BPF_IMM, 5),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1), RET(SECCOMP_RET_ALLOW), RET(REFUSE)),
	ROW("negated", true, OTHERS, LOAD(args[1]), BPF_STMT(BPF_ALU | BPF_NEG, 0), JUMP(BPF_JEQ, -5U, 0, 1), RET(SECCOMP_RET_ALLOW),
	    RET(REFUSE)),
};

/* 1: the kernel lets it through, 0: it does not, -1: it does not take such filters here. */
static int ask_kernel(const struct sock_fprog *p)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, p, 0, 0))
			_exit(2);
		errno = 0;
		syscall(SYS_getpriority, 0, 5);
		_exit(errno != 77);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 0;
	return WEXITSTATUS(status) == 2 ? -1 : WEXITSTATUS(status);
}

static void as_the_kernel(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sock_fprog p = { rows[i].cnt, (struct sock_filter *)(uintptr_t)rows[i].code };
		const struct seccomp_data call = { .nr = SYS_getpriority, .args = { 0, 5 } };
		int kernel = ask_kernel(&p);

		if (filter_permits(&p, &call) != rows[i].permits || (kernel >= 0 && kernel != rows[i].permits))
			fail_msg("%s: the kernel says %d, we say %d", rows[i].name, kernel, filter_permits(&p, &call));
	}
}

/* Such as the kernel would not take: permit nothing, and end. */
static void nonsense(void **state)
{
	const struct seccomp_data call = { .nr = SYS_getpid };
	struct sock_filter no_end[] = { LOAD(nr) }, far[] = { JUMP(BPF_JA, ~0U, 0, 0), RET(SECCOMP_RET_ALLOW) };
	struct sock_filter beyond[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4000), RET(SECCOMP_RET_ALLOW) };
	struct sock_filter memory[] = { BPF_STMT(BPF_ST, 1000), RET(SECCOMP_RET_ALLOW) };
	struct sock_filter divided[] = { BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), RET(SECCOMP_RET_ALLOW) };
	struct sock_filter unknown[] = { BPF_STMT(BPF_LD | BPF_B | BPF_IND, 0), RET(SECCOMP_RET_ALLOW) };

	(void)state;
	assert_false(filter_permits(&(struct sock_fprog){ 0, no_end }, &call));
	assert_false(filter_permits(&(struct sock_fprog){ 1, no_end }, &call));
	assert_false(filter_permits(&(struct sock_fprog){ 2, far }, &call));
	assert_false(filter_permits(&(struct sock_fprog){ 2, beyond }, &call));
	assert_false(filter_permits(&(struct sock_fprog){ 2, memory }, &call));
	assert_false(filter_permits(&(struct sock_fprog){ 2, divided }, &call));
	assert_false(filter_permits(&(struct sock_fprog){ 2, unknown }, &call));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(as_the_kernel), cmocka_unit_test(nonsense) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
