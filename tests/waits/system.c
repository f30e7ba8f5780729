/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system.c - futexes, processes, signals, System V, file locks, sleeps. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/waits/waits.h"

static void wait_futex(void)
{
	volatile int *word = (volatile int *)shared->memory;

	while (!*word)
		syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);
	*word = 0;
}

static void wake_futex(void)
{
	*(volatile int *)shared->memory = 1;
	syscall(SYS_futex, shared->memory, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static volatile int private_word;

static void wait_private(void)
{
	while (!private_word)
		syscall(SYS_futex, &private_word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL,
			FUTEX_BITSET_MATCH_ANY);
	private_word = 0;
}

static void wake_private(void)
{
	private_word = 1;
	syscall(SYS_futex, &private_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void clear_word(void) { memset(shared->memory, 0, sizeof(shared->memory)); }

static pid_t child;

static void start_child(void)
{
	child = fork();
	MUST(child >= 0);
	if (!child) {
		hold();
		_exit(0);
	}
	shared->waker_tid = child;
}

static void wait_any(void) { MUST(wait(NULL) == child); }
static void wait_pid(void) { MUST(waitpid(child, NULL, 0) == child); }
static void wait_usage(void) { MUST(wait4(child, NULL, 0, NULL) == child); }

static void wait_id(void)
{
	siginfo_t info;

	MUST(!waitid(P_PID, (id_t)child, &info, WEXITED));
}

static void run_shell(void) { MUST(!system("sleep 0.01")); }

static pthread_t waiter;
static sigset_t set;

static void block_signal(void)
{
	waiter = pthread_self();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	MUST(!pthread_sigmask(SIG_BLOCK, &set, NULL));
}

static void wait_signal(void)
{
	int number;

	MUST(!sigwait(&set, &number) && number == SIGUSR1);
}

static void wait_info(void) { MUST(sigwaitinfo(&set, NULL) == SIGUSR1); }

static void wait_timed(void)
{
	struct timespec t = { 5, 0 };

	MUST(sigtimedwait(&set, NULL, &t) == SIGUSR1);
}

/* No thread leaves a stamp: the signal itself names its sender. */
static void start_child_and_block(void)
{
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	MUST(!pthread_sigmask(SIG_BLOCK, &set, NULL));
	start_child();
}

static void wait_for_child(void)
{
	siginfo_t info;

	MUST(sigwaitinfo(&set, &info) == SIGCHLD && info.si_pid == child);
}

static void reap(void)
{
	MUST(waitpid(child, NULL, 0) == child);
	MUST(!pthread_sigmask(SIG_UNBLOCK, &set, NULL));
}

static void on_signal(int number) { (void)number; }

static void handle_signal(void)
{
	struct sigaction act = { .sa_handler = on_signal };

	block_signal();
	MUST(!sigaction(SIGUSR1, &act, NULL));
}

static void suspend(void)
{
	sigset_t none;

	sigemptyset(&none);
	MUST(sigsuspend(&none) && errno == EINTR);
}

static void signal_thread(void) { MUST(!pthread_kill(waiter, SIGUSR1)); }
static void signal_process(void) { MUST(!kill(getppid(), SIGUSR1)); }

static void queue_signal(void)
{
	union sigval value = { .sival_int = 1 };

	MUST(!sigqueue(getpid(), SIGUSR1, value));
}

static int sems, messages;

static void remove_ids(void)
{
	semctl(sems, 0, IPC_RMID);
	msgctl(messages, IPC_RMID, NULL);
}

static void make_ids(void)
{
	if (sems)
		return;
	sems = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
	messages = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	MUST(sems >= 0 && messages >= 0);
	atexit(remove_ids);
}

static void change_sem(int by)
{
	struct sembuf op = { 0, (short)by, 0 };

	MUST(!semop(sems, &op, 1));
}

static void take_sem(void) { change_sem(-1); }
static void give_sem(void) { change_sem(1); }

static void take_sem_timed(void)
{
	struct sembuf op = { 0, -1, 0 };
	struct timespec t = { 5, 0 };

	MUST(!semtimedop(sems, &op, 1, &t));
}

struct message {
	long type;
	char text[8];
};

static void receive(void)
{
	struct message m;

	MUST(msgrcv(messages, &m, sizeof(m.text), 0, 0) == 1);
}

static void post(void)
{
	struct message m = { 1, "m" };

	MUST(!msgsnd(messages, &m, 1, 0));
}

/* A file of its own for waiter and waker: one open file does not lock itself out. */
static __thread int locked_fd = -1;

static int file(void)
{
	static __thread pid_t opener;

	if (locked_fd < 0 || opener != getpid()) {
		if (locked_fd >= 0)
			close(locked_fd);	/* the parent's, which would keep its lock */
		locked_fd = open("locked.file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		opener = getpid();
	}
	MUST(locked_fd >= 0);
	return locked_fd;
}

/* Its lock goes with it. */
static void close_file(void)
{
	MUST(!close(file()));
	locked_fd = -1;
}

static void flock_file(void) { MUST(!flock(file(), LOCK_EX)); }
static void unflock_file(void) { MUST(!flock(file(), LOCK_UN)); }
static void lockf_file(void) { MUST(!lockf(file(), F_LOCK, 0)); }
static void unlockf_file(void) { MUST(!lockf(file(), F_ULOCK, 0)); }

static void lock_range(int op, short type)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET, .l_len = 10 };

	MUST(!fcntl(file(), op, &l));
}

static void lock_posix(void) { lock_range(F_SETLKW, F_WRLCK); }
static void unlock_posix(void) { lock_range(F_SETLK, F_UNLCK); }
static void lock_open_file(void) { lock_range(F_OFD_SETLKW, F_WRLCK); }
static void unlock_open_file(void) { lock_range(F_OFD_SETLK, F_UNLCK); }

static void sleep_usec(void) { MUST(!usleep(HOLD_USEC)); }

static void sleep_nano(void)
{
	struct timespec t = { 0, HOLD_USEC * 1000 };

	MUST(!nanosleep(&t, NULL));
}

static void sleep_until(void)
{
	struct timespec t = in_ms(CLOCK_MONOTONIC, HOLD_USEC / 1000);

	MUST(!clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL));
}

static void write_dirty(void)
{
	static char data[1 << 16];

	MUST(pwrite(file(), data, sizeof(data), 0) == sizeof(data));
}

static void sync_file(void) { MUST(!fsync(file())); }
static void sync_data(void) { MUST(!fdatasync(file())); }

/* One of several words (Linux 5.16), and the calls of their own (6.7), by number: headers may not have them. */
static volatile int words[3];

static void wait_vector(void)
{
	struct { unsigned long long value, address; unsigned int flags, reserved; } v[3];

	for (int i = 0; i < 3; i++) {
		v[i].value = 0;
		v[i].address = (unsigned long)&words[i];
		v[i].flags = 2 | FUTEX_PRIVATE_FLAG;
		v[i].reserved = 0;
	}
	while (!words[2])
		MUST(syscall(449, v, 3, 0, NULL, CLOCK_MONOTONIC) == 2 || errno == EAGAIN);
	words[2] = 0;
}

static void wake_word(int operation)
{
	words[2] = 1;
	syscall(SYS_futex, &words[2], operation, 1, NULL, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void wake_vector(void) { wake_word(FUTEX_WAKE_PRIVATE); }

/* If the kernel has none of them, the older calls are used. */
static void wait_newer(void)
{
	while (!words[2])
		if (syscall(455, &words[2], 0L, 0xffffffffL, 2L | FUTEX_PRIVATE_FLAG, NULL, 0L) < 0 && errno == ENOSYS)
			syscall(SYS_futex, &words[2], FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	words[2] = 0;
}

static void wake_newer(void)
{
	words[2] = 1;
	if (syscall(454, &words[2], 0xffffffffL, 1L, 2L | FUTEX_PRIVATE_FLAG) < 0)
		syscall(SYS_futex, &words[2], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* FUTEX_WAKE_OP on another word sets this word and wakes its waiter. */
static void wait_word(void)
{
	while (!words[2])
		syscall(SYS_futex, &words[2], FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	words[2] = 0;
}

static void wake_by_operation(void)
{
	words[2] = 1;
	syscall(SYS_futex, &words[0], FUTEX_WAKE_OP_PRIVATE, 0, 1L, &words[2], FUTEX_OP(FUTEX_OP_SET, 1, FUTEX_OP_CMP_EQ, 1));
}

static void signal_by_number(void) { MUST(!syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1)); }

static void futex_in_vain(void)
{
	struct timespec t = { 0, HOLD_USEC * 1000 };

	while (!syscall(SYS_futex, &private_word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0) || errno != ETIMEDOUT)
		;
}

static void signal_in_vain(void)
{
	struct timespec t = { 0, HOLD_USEC * 1000 };

	MUST(sigtimedwait(&set, NULL, &t) < 0 && errno == EAGAIN);
}

static void sem_in_vain(void)
{
	struct sembuf op = { 0, -1, 0 };
	struct timespec t = { 0, HOLD_USEC * 1000 };

	MUST(semtimedop(sems, &op, 1, &t) < 0 && errno == EAGAIN);
}

const struct wait_case system_cases[] = {
	{ "futex", "cond", clear_word, 0, 0, wait_futex, wake_futex, 0, 0 },
	{ "futex-process", "cond", clear_word, 0, 0, wait_futex, wake_futex, 0, CASE_PROCESS },
	{ "futex-private", "cond", 0, 0, 0, wait_private, wake_private, 0, 0 },
	{ "futex-vector", "cond", 0, 0, 0, wait_vector, wake_vector, 0, 0 },
	{ "futex-newer", "cond", 0, 0, 0, wait_newer, wake_newer, 0, 0 },
	{ "futex-wake-op", "cond", 0, 0, 0, wait_word, wake_by_operation, 0, 0 },
	{ "sigwait-tgkill", "cond", block_signal, 0, 0, wait_signal, signal_by_number, 0, 0 },
	{ "futex-timeout", "cond", 0, 0, 0, futex_in_vain, 0, 0, CASE_TIME_OUT },
	{ "sigtimedwait-timeout", "cond", block_signal, 0, 0, signal_in_vain, 0, 0, CASE_TIME_OUT },
	{ "semtimedop-timeout", "lock", make_ids, 0, 0, sem_in_vain, 0, 0, CASE_TIME_OUT },
	{ "wait", "join", 0, 0, start_child, wait_any, 0, 0, 0 },
	{ "waitpid", "join", 0, 0, start_child, wait_pid, 0, 0, 0 },
	{ "wait4", "join", 0, 0, start_child, wait_usage, 0, 0, 0 },
	{ "waitid", "join", 0, 0, start_child, wait_id, 0, 0, 0 },
	{ "system", "join", 0, 0, 0, run_shell, 0, 0, CASE_ALONE },
	{ "sigwait", "cond", block_signal, 0, 0, wait_signal, signal_thread, 0, 0 },
	{ "sigwaitinfo", "cond", block_signal, 0, 0, wait_info, queue_signal, 0, 0 },
	{ "sigtimedwait-process", "cond", block_signal, 0, 0, wait_timed, signal_process, 0, CASE_PROCESS },
	{ "sigwaitinfo-child", "cond", 0, 0, start_child_and_block, wait_for_child, 0, reap, 0 },
	{ "sigsuspend", "cond", handle_signal, 0, 0, suspend, signal_thread, 0, 0 },
	{ "semop", "lock", make_ids, 0, 0, take_sem, give_sem, 0, 0 },
	{ "semtimedop-process", "lock", make_ids, 0, 0, take_sem_timed, give_sem, 0, CASE_PROCESS },
	{ "msgrcv", "io", make_ids, 0, 0, receive, post, 0, 0 },
	{ "flock", "lock", 0, flock_file, 0, flock_file, unflock_file, unflock_file, CASE_PROCESS },
	{ "flock-close", "lock", 0, flock_file, 0, flock_file, close_file, close_file, CASE_PROCESS },
	{ "lockf", "lock", 0, lockf_file, 0, lockf_file, unlockf_file, unlockf_file, CASE_PROCESS },
	{ "fcntl-lock", "lock", 0, lock_posix, 0, lock_posix, unlock_posix, unlock_posix, CASE_PROCESS },
	{ "fcntl-lock-close", "lock", 0, lock_posix, 0, lock_posix, close_file, close_file, CASE_PROCESS },
	{ "fcntl-open-file-lock", "lock", 0, lock_open_file, 0, lock_open_file, unlock_open_file,
	  unlock_open_file, 0 },
	{ "usleep", "sleep", 0, 0, 0, sleep_usec, 0, 0, CASE_ALONE },
	{ "nanosleep", "sleep", 0, 0, 0, sleep_nano, 0, 0, CASE_ALONE },
	{ "clock_nanosleep", "sleep", 0, 0, 0, sleep_until, 0, 0, CASE_ALONE },
	{ "fsync", "io", 0, 0, write_dirty, sync_file, 0, 0, CASE_ALONE },
	{ "fdatasync", "io", 0, 0, write_dirty, sync_data, 0, 0, CASE_ALONE },
	{ .name = 0 }
};
