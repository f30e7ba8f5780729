/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * target.c - programs to be recorded, one a scenario; test_runtime.c knows what each must leave.
 *
 *	target NAME	exit status 0: the program itself saw nothing wrong
 *
 * If a count is not known beforehand (signals), the program reports it as WORK "rows".
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/runtime/probes.h"
#include "tests/runtime/scenarios.h"

static char *self_path;

int failed_checks;

__attribute__((noinline)) void call_leaf(void)
{
	PROBE(leaf);
	__asm__ __volatile__("");
}

__attribute__((noinline)) void call_inner(void)
{
	PROBE(inner);
	call_leaf();
	call_leaf();
}

static __attribute__((noinline)) void call_outer(void)
{
	PROBE(outer);
	call_inner();
}

/* root 1: outer 1: inner 1: leaf 2, all inside one request; one leaf after it. */
static void run_calls(void)
{
	PROBE(root);
	EVENT(BEGIN, REQUEST, 7, 0);
	call_outer();
	EVENT(WORK, ROWS, 42, 0);
	EVENT(END, REQUEST, 7, 0);
	call_leaf();
}

static jmp_buf landing;
static volatile int jumps = 1;		/* what the compiler would otherwise say about the jump */

static __attribute__((noinline)) void call_jumper(int depth)
{
	PROBE(jumper);
	if (depth)
		call_jumper(depth - 1);
	else if (jumps)
		longjmp(landing, 1);
}

static __attribute__((noinline)) void call_landed(void)
{
	PROBE(landed);
	call_leaf();
}

static void run_longjmp(void)
{
	PROBE(root);
	if (!setjmp(landing))
		call_jumper(2);
	call_landed();
}

/* More often than calls can be open at once, each time from the same place. */
static void run_landings(void)
{
	PROBE(root);
	for (volatile int i = 0; i < LANDINGS; i++)
		if (!setjmp(landing))
			call_jumper(0);
	call_leaf();
}

static __attribute__((noinline)) int call_deep(int depth)
{
	PROBE(deep);
	return depth ? call_deep(depth - 1) + 1 : 0;
}

static void run_deep(void)
{
	CHECK(call_deep(10000) == 10000);
	call_leaf();
}

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
	PROBE(handler);
	(void)number;
	call_leaf();
	handled++;
}

/* Handlers interrupt probes at every instruction; each runs a handler and a leaf. */
static void run_signals(int on_own_stack)
{
	static char stack[1 << 16];
	stack_t s = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction act = { .sa_handler = on_signal,
				 .sa_flags = SA_RESTART | (on_own_stack ? SA_ONSTACK : 0) };
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { { 0, 0 }, { 0, 0 } };

	PROBE(root);
	EVENT(BEGIN, REQUEST, 1, 0);
	CHECK(!sigaltstack(&s, NULL));
	CHECK(!sigaction(SIGALRM, &act, NULL));
	CHECK(!setitimer(ITIMER_REAL, &often, NULL));
	for (int i = 0; i < 1000000; i++)
		call_inner();
	CHECK(!setitimer(ITIMER_REAL, &never, NULL));
	EVENT(WORK, ROWS, handled, 0);
	EVENT(END, REQUEST, 1, 0);
}

static sigjmp_buf signal_landing;

static void leave_handler(int number)
{
	PROBE(handler);
	(void)number;
	handled++;
	siglongjmp(signal_landing, 1);
}

/* Handlers that do not return interrupt probes at every instruction. */
static void leave_handlers(int flags)
{
	static char stack[1 << 16];
	stack_t s = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction act = { .sa_handler = leave_handler, .sa_flags = flags };
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { { 0, 0 }, { 0, 0 } };

	CHECK(!sigaltstack(&s, NULL));
	CHECK(!sigaction(SIGALRM, &act, NULL));
	handled = 0;
	if (!sigsetjmp(signal_landing, 1))
		CHECK(!setitimer(ITIMER_REAL, &often, NULL));
	while (handled < LANDINGS)
		call_outer();
	CHECK(!setitimer(ITIMER_REAL, &never, NULL));
}

static void run_landings_of_signals(void)
{
	PROBE(root);
	leave_handlers(0);
	leave_handlers(SA_ONSTACK);
	for (int i = 0; i < 1000; i++)
		call_deep(100);
}

static void run_signals_here(void)
{
	run_signals(0);
}

static void run_signals_altstack(void)
{
	run_signals(1);
}

static void run_fork(void)
{
	int status;
	pid_t pid;

	PROBE(root);
	for (int i = 0; i < 100; i++)
		call_leaf();
	pid = fork();
	for (int i = 0; i < 200; i++)
		call_inner();
	if (!pid)
		_exit(0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	pid = vfork();
	if (!pid) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	call_outer();
}

static pid_t fork_in(int way)
{
	static uint64_t how[8] = { 0, 0, 0, 0, SIGCHLD };	/* struct clone_args; where the call is forbidden, _Fork() is made */
	long pid = way == 0 ? syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : way == 1 ? syscall(435, how, sizeof(how)) : -1;

	return pid < 0 ? _Fork() : (pid_t)pid;
}

/* Past the handlers of fork(). */
static void run_other_forks(void)
{
	PROBE(root);
	for (int way = 0; way < 3; way++) {
		pid_t pid = fork_in(way);

		for (int i = 0; i < 100; i++)
			call_leaf();
		if (!pid)
			_exit(0);
		CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid);
	}
}

static void *outlive_first(void *unused)
{
	(void)unused;
	PROBE(worker);
	for (int i = 0; i < 5; i++) {
		for (int k = 0; k < 1000; k++)
			call_leaf();
		usleep(450000);
	}
	_exit(failed_checks);
}

/* The process goes on after its first thread, which the kernel keeps as a zombie.  Longer than the drainer's second. */
static void run_outlived(void)
{
	pthread_t other;

	PROBE(root);
	CHECK(!pthread_create(&other, NULL, outlive_first, NULL));
	call_leaf();
	syscall(SYS_exit, 0);
}

static void run_exec(void)
{
	call_outer();
	execl(self_path, self_path, "calls", (char *)NULL);
	CHECK(0);
}

static void run_killed(void)
{
	PROBE(root);
	EVENT(BEGIN, REQUEST, 1, 0);
	for (int i = 0; i < 100000; i++)
		call_leaf();
	EVENT(END, REQUEST, 1, 0);
	{
		PROBE(outer);
		raise(SIGKILL);
	}
}

/* More than any chunk of a tiny arena can take before it is emptied. */
static void run_flood(void)
{
	EVENT(BEGIN, REQUEST, 1, 0);
	for (int i = 0; i < 1000000; i++)
		call_leaf();
	EVENT(END, REQUEST, 1, 0);
}

static void run_plugin(void)
{
	char path[4096];
	void (*call)(void);
	void *plugin;

	snprintf(path, sizeof(path), "%.*s/plugin.so", (int)(strrchr(self_path, '/') - self_path),
		 self_path);
	for (int i = 0; i < 3; i++) {
		plugin = dlopen(path, RTLD_NOW);
		if (!plugin) {
			fprintf(stderr, "%s\n", dlerror());
			CHECK(0);
			return;
		}
		*(void **)&call = dlsym(plugin, "plugin_call");
		call();
		call();
		CHECK(!dlclose(plugin));
	}
}

static void run_idle(void)
{
}

static const struct scenario {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{ "calls", run_calls },
	{ "longjmp", run_longjmp },
	{ "landings", run_landings },
	{ "landings of signals", run_landings_of_signals },
	{ "deep", run_deep },
	{ "signals", run_signals_here },
	{ "altstack", run_signals_altstack },
	{ "fork", run_fork },
	{ "other forks", run_other_forks },
	{ "outlived", run_outlived },
	{ "exec", run_exec },
	{ "killed", run_killed },
	{ "flood", run_flood },
	{ "plugin", run_plugin },
	{ "idle", run_idle },
	{ "churn", run_churn },
	{ "crowd", run_crowd },
	{ "mutex", run_mutex },
	{ "cond", run_cond },
	{ "barrier", run_barrier },
	{ "sem", run_sem },
	{ "rwlock", run_rwlock },
	{ "spin", run_spin },
	{ "join", run_join },
	{ "home-made", run_home_made },
	{ "never-spins", run_never_spins },
	{ "processes", run_processes },
	{ "handover", run_handover },
	{ "nested", run_nested },
	{ "registers", run_registers },
	{ "unwinding", run_unwinding },
	{ "steps", run_steps },
	{ "steps left", run_steps_left },
	{ "semantics", run_semantics },
	{ "cancel", run_cancel },
	{ "mixed", run_mixed },
	{ "copies", run_copies },
	{ "strangers", run_strangers },
	{ "lots", run_lots },
	{ "relay", run_relay },
	{ "relay-forks", run_relay_forks },
	{ "sampled-nested", run_sampled_nested },
	{ "marks", run_marks },
	{ "quiet", run_quiet },
	{ "quiet-ends", run_quiet_ends },
	{ "early", run_early },
	{ "early-keys", run_early_keys },
};

int main(int argc, char **argv)
{
	self_path = argv[0];
	for (size_t i = 0; argc > 1 && i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (!strcmp(scenarios[i].name, argv[1])) {
			scenarios[i].run();
			return failed_checks ? 1 : 0;
		}
	return 2;
}
