/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a target may do: wait for a peer, be left by longjmp(), fork, exec, start threads; and calls that a signal could break. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int ask[2], answer[2];
static jmp_buf back;
static volatile long turn;
static long eintr, bad;
static volatile sig_atomic_t is_asked;	/* to end: what a signal breaks from here on is not ours */

static void note(int number)
{
	(void)number;
	is_asked = 1;
}

static void burn(long us)
{
	struct timespec t;
	long until;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	until = t.tv_sec * 1000000 + t.tv_nsec / 1000 + us;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_sec * 1000000 + t.tv_nsec / 1000 < until);
}

static void *serve(void *arg)
{
	char c;

	while (read(ask[0], &c, 1) == 1) {
		burn(300);
		if (write(answer[1], &c, 1) != 1)
			abort();
	}
	return arg;
}

/* At 100 % the server must not be held up until this is over. */
static void through_pipe(void)
{
	char c = 'x';

	if (write(ask[1], &c, 1) != 1 || read(answer[0], &c, 1) != 1)
		abort();
}

static void leave(void)
{
	burn(100);
	longjmp(back, 1);
}

void target(void)
{
	if (turn % 3 == 0)
		through_pipe();
	else if (turn % 3 == 1)
		burn(200);
	else
		leave();
}

static void *brief(void *arg)
{
	burn(100);
	return arg;
}

static void start_threads(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, brief, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

/* A tick may be pending when the program is replaced. */
static void start_program(char *self)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		turn = 1;
		target();
		burn(1500);
		execl(self, self, "child", (char *)NULL);
		_exit(99);
	}
	if ((waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 7) && !is_asked) {
		fprintf(stderr, "child: status %x\n", status);
		bad++;
	}
}

static void count(int r)
{
	if (r < 0 && errno == EINTR && !is_asked)
		eintr++;
}

static void short_calls(void)
{
	struct timespec t = { 0, 60000 };
	static sem_t s;
	static int poller = -1;
	struct epoll_event e;
	struct timespec until;

	if (poller < 0) {
		poller = epoll_create1(0);
		sem_init(&s, 0, 0);
	}
	burn(300);
	count(ppoll(NULL, 0, &t, NULL));
	count(nanosleep(&t, NULL));
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 60000;
	if (until.tv_nsec < 1000000000)
		count(sem_timedwait(&s, &until) && errno == EINTR ? -1 : 0);
	count(epoll_wait(poller, &e, 1, 1));
}

void item(char *self)
{
	errno = 77;
	turn++;
	if (!setjmp(back))
		target();
	if (errno != 77)
		bad++;
	short_calls();
	if (turn % 5 == 0)
		start_threads();
	if (turn % 10 == 0)
		start_program(self);
}

/* Any of the calls that only ticks need would end the program; other threads are under the filter, too. */
static void filter(void)
{
	static const unsigned int killed[] = { SYS_perf_event_open, SYS_ioctl };
	struct sock_filter code[8] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
	struct sock_fprog p = { 1, code };

	for (unsigned int i = 0; i < 2; i++) {
		code[p.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, killed[i], 0, 1);
		code[p.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	}
	code[p.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &p)) {
		printf("no filters here\n");
		exit(77);
	}
}

/* The events of ticks have high numbers. */
static int has_ticks(void)
{
	return fcntl(900, F_GETFD) >= 0;
}

/* manners ITEMS [start | ticks]: the filter comes at the start, or when there are ticks */
int main(int argc, char **argv)
{
	int is_due = argc > 2, awaits_ticks = is_due && strcmp(argv[2], "ticks") == 0;
	pthread_t t;

	alarm(60);
	if (argc > 1 && strcmp(argv[1], "child") == 0) {
		burn(500);
		return 7;
	}
	if (pipe(ask) || pipe(answer))
		return 1;
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = note, .sa_flags = SA_RESTART }, NULL);
	pthread_create(&t, NULL, serve, NULL);
	for (long i = 0; i < atol(argv[1]) && !is_asked; i++) {
		if (is_due && (!awaits_ticks || has_ticks())) {
			filter();
			is_due = 0;
		}
		item(argv[0]);
	}
	bad += is_due;			/* no ticks were seen */
	printf("eintr %ld bad %ld\n", eintr, bad);
	return eintr || bad ? 3 : 0;
}
