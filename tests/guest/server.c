/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * server.c - a small server that restricts itself, and then serves: threads, a lock, a pipe, memory, sleeps, a fiber.
 *
 *	server				serves
 *	server prctl:FILE		under a filter that permits the numbers in FILE and kills for others
 *	server seccomp:FILE | instruction:FILE | refuse:FILE | twice:FILE	installed in other ways
 *	server tsc | tsc-late		the time stamp counter is switched off, at first, or after half of the requests
 *	server limit:RESOURCE:VALUE	setrlimit()
 *	server lock:VALUE		RLIMIT_MEMLOCK, then mlockall()
 *	server user			becomes nobody
 *
 * Its output must not depend on whether it is recorded.
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

enum { NUMBERS_MAX = 500, REQUESTS = 40 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int sum;
static int ends[2];

__attribute__((noinline)) static unsigned int compute(unsigned int n)
{
	unsigned int x = n;

	for (unsigned int i = 0; i < 3000 + n % 7 * 500; i++)
		x = x * 1664525 + 1013904223;
	return x;
}

__attribute__((noinline)) static void request(unsigned int n)
{
	unsigned int x = compute(n);

	pthread_mutex_lock(&lock);
	sum += x;
	pthread_mutex_unlock(&lock);
}

static void *serve(void *arg)
{
	for (unsigned int i = 0; i < REQUESTS; i++)
		request(*(unsigned int *)arg + i);
	return NULL;
}

static void *serve_pipe(void *arg)
{
	char c;

	(void)arg;
	while (read(ends[0], &c, 1) == 1)
		request((unsigned char)c);
	return NULL;
}

static ucontext_t here, there;

static void serve_fiber(void)
{
	for (unsigned int i = 0; i < 4; i++) {
		request(i);
		swapcontext(&there, &here);
	}
}

static void serve_on_fiber(void)
{
	static char stack[64 << 10];

	if (getcontext(&there))
		exit(6);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	makecontext(&there, serve_fiber, 0);
	for (unsigned int i = 0; i < 4; i++) {
		request(i);
		swapcontext(&here, &there);
	}
}

static const struct timespec moment = { 0, 1000000 };

static int serve_all(void)
{
	static unsigned int from[2] = { 100, 200 };
	pthread_t threads[3];
	pthread_attr_t attr;
	char *memory;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 << 10);
	for (unsigned int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], &attr, serve, &from[i]))
			return 3;
	if (pthread_create(&threads[2], &attr, serve_pipe, NULL))
		return 3;
	for (unsigned int i = 0; i < REQUESTS; i++) {
		char c = (char)i;

		nanosleep(&moment, NULL);
		if (write(ends[1], &c, 1) != 1)
			return 4;
		request(i);
	}
	close(ends[1]);
	for (unsigned int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	memory = malloc(4 << 20);
	if (!memory)
		return 5;
	memset(memory, 1, 4 << 20);
	free(memory);
	return 0;
}

static struct sock_filter code[2 * NUMBERS_MAX + 8];

static struct sock_fprog read_filter(const char *path, unsigned int otherwise)
{
	unsigned int numbers[NUMBERS_MAX], cnt = 0, at = 0;
	FILE *f = fopen(path, "r");

	while (f && cnt < NUMBERS_MAX && fscanf(f, "%u", &numbers[cnt]) == 1)
		cnt++;
	if (!f || !cnt)
		exit(90);
	fclose(f);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (unsigned int i = 0; i < cnt; i++) {
		code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], 0, 1);
		code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
		if (at + 4 > sizeof(code) / sizeof(code[0]))
			break;
	}
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
	return (struct sock_fprog){ (unsigned short)at, code };
}

static long by_instruction(long number, long a, long b, long c)
{
	long r = -ENOSYS;

#ifdef __x86_64__
	__asm__ volatile("syscall" : "=a"(r) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
#endif
	return r;
}

static void restrict_to(const char *how, const char *path)
{
	struct sock_fprog p = read_filter(path, strcmp(how, "refuse") ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM);
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog harmless = { 1, &all };
	long r = 0;

	if (!strcmp(how, "twice"))
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &harmless, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!strcmp(how, "seccomp"))
		r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &p);
	else if (!strcmp(how, "instruction"))
		r = by_instruction(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&p);
	else
		r = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p, 0, 0);
	if (r)
		exit(91);
}

static int resource_of(const char *name)
{
	static const struct { const char *name; int number; } all[] = {
		{ "as", RLIMIT_AS }, { "data", RLIMIT_DATA }, { "stack", RLIMIT_STACK }, { "nofile", RLIMIT_NOFILE },
		{ "fsize", RLIMIT_FSIZE }, { "memlock", RLIMIT_MEMLOCK }, { "nproc", RLIMIT_NPROC },
	};

	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(name, all[i].name))
			return all[i].number;
	exit(92);
}

/* Also prints the limit that the program sees. */
static void limit(const char *name, const char *value)
{
	rlim_t bytes = strtoull(value, NULL, 10);
	struct rlimit l = { bytes, bytes }, now;
	int resource = resource_of(name), r = setrlimit(resource, &l);

	getrlimit(resource, &now);
	printf("limit %d: %llu %llu\n", r, (unsigned long long)now.rlim_cur, (unsigned long long)now.rlim_max);
}

static void forbid(char *what)
{
	char *colon = strchr(what, ':');

	if (colon)
		*colon++ = '\0';
	if (!strcmp(what, "tsc") || !strcmp(what, "tsc-late")) {
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	} else if (!strcmp(what, "limit")) {
		char *value = strchr(colon, ':');

		*value++ = '\0';
		limit(colon, value);
	} else if (!strcmp(what, "lock")) {
		limit("memlock", colon);
		printf("mlockall %d\n", mlockall(MCL_CURRENT | MCL_FUTURE));
	} else if (!strcmp(what, "user")) {
		printf("user %d %d\n", setgid(65534), setuid(65534));
	} else {
		restrict_to(what, colon);
	}
}

int main(int argc, char **argv)
{
	int r;

	if (argc > 1 && !strcmp(argv[1], "tsc-late"))
		serve(&(unsigned int){ 50 });
	if (pipe(ends))
		return 2;
	if (argc > 1)
		forbid(argv[1]);
	by_instruction(SYS_getuid, 0, 0, 0);	/* tests/guest/under.c: from here on */
	serve_on_fiber();
	r = serve_all();
	printf("served %u, %d\n", sum, r);
	return r;
}
