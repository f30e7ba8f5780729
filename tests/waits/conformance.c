/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conformance.c - what POSIX says of mutexes, read-write locks, condition variables and semaphores: error
 * codes, timeouts, robust owners that died, cancellation, processes; and what the kernel says of pointers
 * that lead nowhere.  Prints one line a result; with and without vprof the lines must be the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void say(const char *what, int r)
{
	printf("%s: %s\n", what, r ? strerrorname_np(r) : "0");
}

#define SAY(call) say(#call, call)
/* For calls that set errno; a success leaves errno unchanged. */
#define SAY_ERRNO(call)								\
	do {									\
		errno = ENOTTY;							\
		say(#call, (call) < 0 ? errno : 0);				\
		say("  errno after", errno);					\
	} while (0)

/* By alarms again and again: on a busy machine the first comes before the call begins. */
#define SAY_INTERRUPTED(call)							\
	do {									\
		ualarm(10000, 10000);						\
		SAY_ERRNO(call);						\
		ualarm(0, 0);							\
	} while (0)

static struct timespec in_ms(clockid_t clock, long ms)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += ms % 1000 * 1000000;
	t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static struct timespec soon, later, past, long_ago = { 1, 0 }, bad = { 0, 1000000000 }, negative = { 0, -1 };

static void look_at_clock(void)
{
	soon = in_ms(CLOCK_REALTIME, 20);
	later = in_ms(CLOCK_REALTIME, 20000);
	past = in_ms(CLOCK_REALTIME, -5000);
}

/* Runs routine in another thread, to its end. */
static void *in_thread(void *(*routine)(void *), void *arg)
{
	pthread_t t;
	void *r;

	pthread_create(&t, NULL, routine, arg);
	pthread_join(t, &r);
	return r;
}

static void make_mutex(pthread_mutex_t *m, int type, int robust, int shared)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, type);
	pthread_mutexattr_setrobust(&a, robust);
	pthread_mutexattr_setpshared(&a, shared);
	SAY(pthread_mutex_init(m, &a));
	pthread_mutexattr_destroy(&a);
}

static void *try_other(void *m)
{
	look_at_clock();
	SAY(pthread_mutex_trylock(m));
	SAY(pthread_mutex_timedlock(m, &soon));
	SAY(pthread_mutex_timedlock(m, &past));
	SAY(pthread_mutex_timedlock(m, &bad));
	SAY(pthread_mutex_timedlock(m, &negative));
	SAY(pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &long_ago));
	SAY(pthread_mutex_clocklock(m, CLOCK_PROCESS_CPUTIME_ID, &later));
	return NULL;
}

static void *unlock_other(void *m)
{
	SAY(pthread_mutex_unlock(m));
	return NULL;
}

static void check_mutex(const char *name, int type)
{
	pthread_mutex_t m;

	printf("-- mutex %s\n", name);
	make_mutex(&m, type, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_PRIVATE);
	look_at_clock();
	SAY(pthread_mutex_lock(&m));
	SAY(pthread_mutex_trylock(&m));
	if (type != PTHREAD_MUTEX_NORMAL && type != PTHREAD_MUTEX_ADAPTIVE_NP)
		SAY(pthread_mutex_lock(&m));
	SAY(pthread_mutex_timedlock(&m, &soon));
	in_thread(try_other, &m);
	if (type == PTHREAD_MUTEX_ERRORCHECK || type == PTHREAD_MUTEX_RECURSIVE)
		in_thread(unlock_other, &m);
	for (int i = 0; i < 5 && (i == 0 || type == PTHREAD_MUTEX_RECURSIVE); i++)
		SAY(pthread_mutex_unlock(&m));
	if (type == PTHREAD_MUTEX_ERRORCHECK)
		SAY(pthread_mutex_unlock(&m));
	/* Free: times are not looked at, a clock is. */
	SAY(pthread_mutex_timedlock(&m, &bad));
	SAY(pthread_mutex_unlock(&m));
	SAY(pthread_mutex_clocklock(&m, CLOCK_PROCESS_CPUTIME_ID, &later));
	SAY(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &long_ago));
	SAY(pthread_mutex_unlock(&m));
	SAY(pthread_mutex_destroy(&m));
}

static void *die_with(void *m)
{
	SAY(pthread_mutex_lock(m));
	return NULL;
}

static void check_robust(int type)
{
	pthread_mutex_t m;

	printf("-- robust %d\n", type);
	make_mutex(&m, type, PTHREAD_MUTEX_ROBUST, PTHREAD_PROCESS_PRIVATE);
	in_thread(die_with, &m);
	SAY(pthread_mutex_trylock(&m));
	SAY(pthread_mutex_consistent(&m));
	SAY(pthread_mutex_consistent(&m));
	SAY(pthread_mutex_unlock(&m));
	in_thread(die_with, &m);
	look_at_clock();
	SAY(pthread_mutex_timedlock(&m, &later));
	SAY(pthread_mutex_unlock(&m));
	SAY(pthread_mutex_lock(&m));
	SAY(pthread_mutex_trylock(&m));
	SAY(pthread_mutex_timedlock(&m, &soon));
	SAY(pthread_mutex_destroy(&m));
}

/* Another process dies while it holds one that we wait for. */
static void check_robust_process(void)
{
	pthread_mutex_t *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	volatile int *taken = (volatile int *)(m + 1);
	pid_t pid;

	puts("-- robust, another process");
	make_mutex(m, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PROCESS_SHARED);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		pthread_mutex_lock(m);
		*taken = 1;
		usleep(20000);
		kill(getpid(), SIGKILL);
	}
	while (!*taken)
		usleep(100);
	SAY(pthread_mutex_lock(m));
	SAY(pthread_mutex_consistent(m));
	SAY(pthread_mutex_unlock(m));
	SAY_ERRNO(waitpid(pid, NULL, 0));
}

static void *try_rwlock(void *l)
{
	look_at_clock();
	SAY(pthread_rwlock_tryrdlock(l));
	SAY(pthread_rwlock_trywrlock(l));
	SAY(pthread_rwlock_timedrdlock(l, &soon));
	SAY(pthread_rwlock_timedwrlock(l, &soon));
	SAY(pthread_rwlock_timedrdlock(l, &past));
	SAY(pthread_rwlock_timedwrlock(l, &bad));
	SAY(pthread_rwlock_clockrdlock(l, CLOCK_MONOTONIC, &long_ago));
	SAY(pthread_rwlock_clockwrlock(l, CLOCK_PROCESS_CPUTIME_ID, &past));
	return NULL;
}

static void *try_write(void *l)
{
	look_at_clock();
	SAY(pthread_rwlock_trywrlock(l));
	SAY(pthread_rwlock_timedwrlock(l, &soon));
	SAY(pthread_rwlock_tryrdlock(l));
	SAY(pthread_rwlock_unlock(l));
	return NULL;
}

static void check_rwlock(void)
{
	pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

	puts("-- rwlock");
	look_at_clock();
	SAY(pthread_rwlock_wrlock(&l));
	SAY(pthread_rwlock_wrlock(&l));
	SAY(pthread_rwlock_rdlock(&l));
	SAY(pthread_rwlock_timedwrlock(&l, &soon));
	SAY(pthread_rwlock_timedrdlock(&l, &soon));
	in_thread(try_rwlock, &l);
	SAY(pthread_rwlock_unlock(&l));
	SAY(pthread_rwlock_rdlock(&l));
	SAY(pthread_rwlock_rdlock(&l));
	SAY(pthread_rwlock_trywrlock(&l));
	in_thread(try_write, &l);
	SAY(pthread_rwlock_unlock(&l));
	SAY(pthread_rwlock_unlock(&l));
	SAY(pthread_rwlock_timedrdlock(&l, &bad));
	SAY(pthread_rwlock_timedwrlock(&l, &negative));
	SAY(pthread_rwlock_clockwrlock(&l, CLOCK_MONOTONIC, &long_ago));
	SAY(pthread_rwlock_unlock(&l));
	SAY(pthread_rwlock_destroy(&l));
}

/* No time at all: what the C library makes of it, be it a crash. */
static void check_no_time(void)
{
	const struct timespec *volatile none = NULL;
	pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
	int status = 0, r = 0;
	pid_t pid;

	puts("-- no time");
	for (int i = 0; i < 4; i++) {
		fflush(stdout);
		pid = fork();
		if (!pid) {
			r = i == 0 ? pthread_rwlock_timedrdlock(&l, none) : i == 1 ? pthread_rwlock_timedwrlock(&l, none) :
			    i == 2 ? pthread_rwlock_clockrdlock(&l, CLOCK_MONOTONIC, none) :
				     pthread_rwlock_clockwrlock(&l, CLOCK_REALTIME, none);
			_exit(r);
		}
		waitpid(pid, &status, 0);
		printf("%d: %x\n", i, (unsigned int)status & 0xff7f);
	}
}

static pthread_mutex_t cond_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;

static void unlock_cond(void *arg)
{
	(void)arg;
	/* The mutex is ours again when a cancelled wait cleans up. */
	SAY(pthread_mutex_unlock(&cond_mutex));
}

static void *wait_forever(void *arg)
{
	pthread_mutex_lock(&cond_mutex);
	pthread_cleanup_push(unlock_cond, NULL);
	for (;;)
		pthread_cond_wait(&cond, &cond_mutex);
	pthread_cleanup_pop(1);
	return arg;
}

static void *timedwait_forever(void *arg)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 60000);

	pthread_mutex_lock(&cond_mutex);
	pthread_cleanup_push(unlock_cond, NULL);
	for (;;)
		pthread_cond_timedwait(&cond, &cond_mutex, &t);
	pthread_cleanup_pop(1);
	return arg;
}

static void *sem_forever(void *arg)
{
	sem_wait(&sem);
	return arg;
}

static void *read_forever(void *arg)
{
	char byte;

	return read(*(int *)arg, &byte, 1) == 1 ? arg : NULL;
}

/* A mutex is no point of cancellation, what follows is. */
static void *lock_cancelled(void *arg)
{
	pthread_mutex_lock(&cond_mutex);
	pthread_mutex_unlock(&cond_mutex);
	*(int *)arg = 1;
	pthread_testcancel();
	return arg;
}

/* A pending cancellation ends even a call that would not block. */
static void *sem_pending(void *arg)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	while (!*(volatile int *)arg)
		usleep(100);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	sem_wait(&sem);
	return NULL;
}

static void cancel(const char *name, void *(*routine)(void *), void *arg, int *go)
{
	pthread_t t;
	void *r;

	pthread_create(&t, NULL, routine, arg);
	usleep(10000);
	pthread_cancel(t);
	if (go)
		*go = 1;
	pthread_join(t, &r);
	printf("%s: %s\n", name, r == PTHREAD_CANCELED ? "cancelled" : "returned");
}

static void check_cond(void)
{
	puts("-- cond");
	look_at_clock();
	pthread_mutex_lock(&cond_mutex);
	SAY(pthread_cond_timedwait(&cond, &cond_mutex, &soon));
	SAY(pthread_cond_timedwait(&cond, &cond_mutex, &past));
	SAY(pthread_cond_timedwait(&cond, &cond_mutex, &bad));
	SAY(pthread_cond_timedwait(&cond, &cond_mutex, &negative));
	SAY(pthread_cond_clockwait(&cond, &cond_mutex, CLOCK_MONOTONIC, &negative));
	SAY(pthread_cond_clockwait(&cond, &cond_mutex, CLOCK_PROCESS_CPUTIME_ID, &later));
	SAY(pthread_mutex_unlock(&cond_mutex));
	SAY(pthread_cond_signal(&cond));
	SAY(pthread_cond_broadcast(&cond));
}

static void check_cancel(void)
{
	int done = 0, go = 0, ends[2];

	puts("-- cancellation");
	SAY_ERRNO(pipe(ends));
	sem_init(&sem, 0, 0);
	cancel("cond", wait_forever, NULL, NULL);
	cancel("timed cond", timedwait_forever, NULL, NULL);
	cancel("sem", sem_forever, NULL, NULL);
	cancel("read", read_forever, ends, NULL);
	sem_post(&sem);
	cancel("sem, pending", sem_pending, &go, &go);
	SAY_ERRNO(sem_trywait(&sem));
	pthread_mutex_lock(&cond_mutex);
	pthread_t t;
	void *r;
	pthread_create(&t, NULL, lock_cancelled, &done);
	usleep(10000);
	pthread_cancel(t);
	pthread_mutex_unlock(&cond_mutex);
	pthread_join(t, &r);
	printf("mutex: %d, %s\n", done, r == PTHREAD_CANCELED ? "cancelled" : "returned");
	SAY(pthread_mutex_trylock(&cond_mutex));
	SAY(pthread_mutex_unlock(&cond_mutex));
}

static void on_alarm(int number)
{
	(void)number;
}

static void check_sem(void)
{
	struct sigaction act = { .sa_handler = on_alarm };
	int value;

	puts("-- sem");
	sigaction(SIGALRM, &act, NULL);
	look_at_clock();
	SAY_ERRNO(sem_init(&sem, 0, 2));
	SAY_ERRNO(sem_wait(&sem));
	SAY_ERRNO(sem_timedwait(&sem, &bad));
	SAY_ERRNO(sem_timedwait(&sem, &soon));
	SAY_ERRNO(sem_trywait(&sem));
	SAY_ERRNO(sem_timedwait(&sem, &past));
	SAY_ERRNO(sem_timedwait(&sem, &bad));
	SAY_ERRNO(sem_clockwait(&sem, CLOCK_MONOTONIC, &negative));
	SAY_ERRNO(sem_clockwait(&sem, CLOCK_PROCESS_CPUTIME_ID, &later));
	SAY_INTERRUPTED(sem_wait(&sem));
	SAY_ERRNO(sem_post(&sem));
	SAY_ERRNO(sem_getvalue(&sem, &value));
	say("value", value);
	sem_init(&sem, 0, SEM_VALUE_MAX);
	SAY_ERRNO(sem_post(&sem));
}

/* Calls that end a file or a process: their results, and that it happens. */
static void check_closing(void)
{
	int ends[2], fd = eventfd(3, EFD_CLOEXEC), status = 0;
	eventfd_t value = 0;
	char byte;
	pid_t pid;

	puts("-- closing");
	SAY_ERRNO(eventfd_read(fd, &value));
	say("value", (int)value);
	SAY_ERRNO(close(fd));
	SAY_ERRNO(close(fd));
	SAY_ERRNO(eventfd(0, 12345));
	SAY_ERRNO(pipe(ends));
	SAY_ERRNO(dup2(-1, ends[1]));
	SAY_ERRNO((int)write(ends[1], "x", 1));
	SAY_ERRNO(dup2(ends[1], ends[1]) - ends[1]);
	SAY_ERRNO(dup3(ends[1], ends[1], 0));
	SAY_ERRNO(shutdown(ends[1], SHUT_WR));
	SAY_ERRNO(shutdown(-1, SHUT_WR));
	SAY_ERRNO(dup2(ends[0], ends[1]) - ends[1]);
	say("bytes", (int)read(ends[0], &byte, 1));
	say("bytes", (int)read(ends[0], &byte, 1));
	SAY_ERRNO(fclose(fdopen(ends[0], "r")));
	SAY_ERRNO(close(ends[0]));
	SAY_ERRNO(close(ends[1]));
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(7);
	SAY_ERRNO(waitpid(pid, &status, 0) - pid);
	printf("status %d\n", WEXITSTATUS(status));
}

/* Memory that is mapped, moved and cut is what it is without us. */
static void check_mapping(void)
{
	int fd = memfd_create("mapping", 0), prot = PROT_READ | PROT_WRITE;
	char *a, *b;

	puts("-- mapping");
	SAY_ERRNO(ftruncate(fd, 4 * 4096));
	a = mmap(NULL, 4 * 4096, prot, MAP_SHARED, fd, 0);
	b = mmap(NULL, 4096, prot, MAP_SHARED, fd, 2 * 4096);
	strcpy(a + 2 * 4096, "text");
	puts(b);
	SAY_ERRNO(mmap(NULL, 4096, prot, MAP_SHARED, -1, 0) == MAP_FAILED ? -1 : 0);
	SAY_ERRNO(mmap(NULL, 0, prot, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
	SAY_ERRNO(munmap(a + 1, 4096));
	SAY_ERRNO(munmap(a, 4096));
	SAY_ERRNO(mremap(a, 4096, 8192, 0) == MAP_FAILED ? -1 : 0);
	b = mremap(b, 4096, 2 * 4096, MREMAP_MAYMOVE);
	puts(b);
	SAY_ERRNO(shmat(-1, NULL, 0) == (void *)-1 ? -1 : 0);
	SAY_ERRNO(shmdt(a));
	SAY_ERRNO(sem_open("/vprof-there-is-none", 0) == SEM_FAILED ? -1 : 0);
	SAY_ERRNO(munmap(b, 2 * 4096));
	close(fd);
}

static void check_calls(void)
{
	char byte;

	puts("-- calls");
	SAY_ERRNO(read(-1, &byte, 1));
	SAY_ERRNO(write(-1, &byte, 1));
	SAY_ERRNO(nanosleep(&bad, NULL));
	SAY(clock_nanosleep(CLOCK_MONOTONIC, 0, &negative, NULL));
	SAY_ERRNO(waitpid(-1, NULL, WNOHANG));
	SAY_ERRNO(fsync(-1));
	SAY(pthread_join(pthread_self(), NULL));
	SAY_INTERRUPTED(usleep(900000));
}

/* The page before it is there: what begins in it may reach into this one. */
static char *page_that_is_gone(void)
{
	char *at = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(at + 4096, 4096);
	return at + 4096;
}

static void check_bad_locks(void *nowhere, int fd)
{
	int set = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
	int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	struct sembuf *half = (struct sembuf *)nowhere - 1;

	SAY_ERRNO(fcntl(fd, F_SETLK, nowhere));
	SAY_ERRNO(fcntl(fd, F_SETLKW, nowhere));
	SAY_ERRNO(fcntl(fd, F_OFD_SETLKW, nowhere));
	SAY_ERRNO(fcntl(fd, F_SETLK, NULL));
	SAY_ERRNO(fcntl(fd, F_GETLK, nowhere));
	SAY_ERRNO(semop(set, nowhere, 1));
	SAY_ERRNO(semop(set, half, 2));
	SAY_ERRNO(semop(set, nowhere, 0));
	SAY_ERRNO(semop(set, half, 1000000));
	SAY_ERRNO(semop(-1, half, 1));
	SAY_ERRNO(semtimedop(set, nowhere, 1, NULL));
	SAY_ERRNO(msgsnd(queue, nowhere, 8, 0));
	SAY_ERRNO(msgsnd(queue, &(struct { long type; char text[8]; }){ 1, "text" }, 8, 0));
	SAY_ERRNO((int)msgrcv(queue, nowhere, 8, 0, 0));
	semctl(set, 0, IPC_RMID);
	msgctl(queue, IPC_RMID, NULL);
}

static void check_bad_files(void *nowhere, int ends[2])
{
	int poller = epoll_create1(0), socket_fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct msghdr message = { .msg_iov = nowhere, .msg_iovlen = 1 };
	struct timeval no_time = { 0, 0 };

	SAY_ERRNO(epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], nowhere));
	SAY_ERRNO(epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], NULL));
	SAY_ERRNO(epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &(struct epoll_event){ .events = EPOLLIN }));
	SAY_ERRNO(epoll_ctl(poller, EPOLL_CTL_MOD, ends[0], nowhere));
	SAY_ERRNO((int)write(ends[1], "x", 1));
	SAY_ERRNO(epoll_wait(poller, nowhere, 1, 0));
	SAY_ERRNO(epoll_ctl(poller, EPOLL_CTL_DEL, ends[0], nowhere));
	SAY_ERRNO(poll(nowhere, 1, 0));
	SAY_ERRNO(select(1, nowhere, NULL, NULL, &no_time));
	SAY_ERRNO((int)read(ends[0], nowhere, 1));
	SAY_ERRNO((int)write(ends[1], nowhere, 1));
	SAY_ERRNO((int)readv(ends[0], nowhere, 1));
	SAY_ERRNO((int)writev(ends[1], nowhere, 1));
	SAY_ERRNO(connect(socket_fd, nowhere, sizeof(struct sockaddr_un)));
	SAY_ERRNO(connect(socket_fd, (struct sockaddr *)((char *)nowhere - 2), sizeof(struct sockaddr_un)));
	SAY_ERRNO(connect(socket_fd, NULL, 16));
	SAY_ERRNO((int)sendto(socket_fd, "x", 1, MSG_NOSIGNAL, nowhere, 16));
	SAY_ERRNO((int)sendmsg(socket_fd, nowhere, MSG_NOSIGNAL));
	SAY_ERRNO((int)sendmsg(socket_fd, &message, MSG_NOSIGNAL));
	SAY_ERRNO((int)recvmsg(socket_fd, nowhere, MSG_DONTWAIT));
	SAY_ERRNO(socketpair(AF_UNIX, SOCK_STREAM, 0, nowhere));
	close(poller);
	close(socket_fd);
}

static void check_bad_pointers(void)
{
	void *volatile nowhere = page_that_is_gone();
	int ends[2];

	puts("-- pointers that lead nowhere");
	SAY_ERRNO(pipe(ends));
	check_bad_locks(nowhere, ends[0]);
	check_bad_files(nowhere, ends);
	SAY_ERRNO(nanosleep(nowhere, NULL));
	SAY_ERRNO(waitid(P_ALL, 0, nowhere, WEXITED | WNOHANG));
	SAY_ERRNO(sigtimedwait(nowhere, NULL, &(struct timespec){ 0, 0 }));
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	check_mutex("normal", PTHREAD_MUTEX_NORMAL);
	check_mutex("adaptive", PTHREAD_MUTEX_ADAPTIVE_NP);
	check_mutex("recursive", PTHREAD_MUTEX_RECURSIVE);
	check_mutex("errorcheck", PTHREAD_MUTEX_ERRORCHECK);
	check_robust(PTHREAD_MUTEX_NORMAL);
	check_robust(PTHREAD_MUTEX_ERRORCHECK);
	check_robust_process();
	check_rwlock();
	check_no_time();
	check_cond();
	check_sem();
	check_cancel();
	check_calls();
	check_closing();
	check_mapping();
	check_bad_pointers();
	return 0;
}
