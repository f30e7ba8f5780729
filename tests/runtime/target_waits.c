/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * target_waits.c - threads that wait for each other.  In most scenarios the main thread, inside
 * waiter() and a request, waits for what a second thread, inside holder(), holds for HOLD_USEC.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/runtime/probes.h"
#include "tests/runtime/scenarios.h"

static atomic_int step;			/* the threads' own turn-taking, unknown to vprof */

static void wait_for_step(int wanted)
{
	while (atomic_load(&step) < wanted)
		usleep(100);
}

static pthread_t start(void *(*routine)(void *), void *arg)
{
	pthread_t t;

	CHECK(!vprof_w_pthread_create(&t, NULL, routine, arg));
	return t;
}

/* Runs routine beside waiting(), which begins once the other has what it wants (step 1). */
static void contend(void *(*routine)(void *), void (*waiting)(void))
{
	pthread_t t = start(routine, NULL);

	wait_for_step(1);
	{
		PROBE(waiter);
		EVENT(BEGIN, REQUEST, 1, 0);
		waiting();
		EVENT(END, REQUEST, 1, 0);
	}
	CHECK(!pthread_join(t, NULL));
}

static void *work_once(void *arg)
{
	PROBE(worker);
	(void)arg;
	call_leaf();
	return NULL;
}

/* Short threads, one after the other. */
void run_churn(void)
{
	for (int i = 0; i < 2000; i++)
		CHECK(!pthread_join(start(work_once, NULL), NULL));
}

static void *work_together(void *arg)
{
	PROBE(worker);
	(void)arg;
	for (int i = 0; i < 20000; i++)
		call_leaf();
	return NULL;
}

/* Threads of code that vprof has not built: the call was not redirected when it was compiled. */
void run_crowd(void)
{
	pthread_t t[8];

	for (int i = 0; i < 8; i++)
		CHECK(!pthread_create(&t[i], NULL, work_together, NULL));
	for (int i = 0; i < 8; i++)
		CHECK(!pthread_join(t[i], NULL));
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *hold_mutex(void *arg)
{
	PROBE(holder);
	vprof_w_pthread_mutex_lock(&mutex);
	atomic_store(&step, 1);
	usleep(HOLD_USEC);
	vprof_w_pthread_mutex_unlock(&mutex);
	return arg;
}

static void want_mutex(void)
{
	CHECK(!vprof_w_pthread_mutex_lock(&mutex));
	CHECK(!vprof_w_pthread_mutex_unlock(&mutex));
}

void run_mutex(void)
{
	contend(hold_mutex, want_mutex);
}

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int ready;

static void *signal_cond(void *arg)
{
	PROBE(holder);
	atomic_store(&step, 1);
	usleep(HOLD_USEC);
	vprof_w_pthread_mutex_lock(&mutex);
	ready = 1;
	vprof_w_pthread_cond_signal(&cond);
	vprof_w_pthread_mutex_unlock(&mutex);
	return arg;
}

static void want_cond(void)
{
	vprof_w_pthread_mutex_lock(&mutex);
	while (!ready)
		CHECK(!vprof_w_pthread_cond_wait(&cond, &mutex));
	vprof_w_pthread_mutex_unlock(&mutex);
}

void run_cond(void)
{
	contend(signal_cond, want_cond);
}

static pthread_barrier_t barrier;

static void *reach_barrier(void *arg)
{
	PROBE(holder);
	atomic_store(&step, 1);
	usleep(HOLD_USEC);
	vprof_w_pthread_barrier_wait(&barrier);
	return arg;
}

static void want_barrier(void)
{
	int r = vprof_w_pthread_barrier_wait(&barrier);

	CHECK(r == 0 || r == PTHREAD_BARRIER_SERIAL_THREAD);
}

void run_barrier(void)
{
	CHECK(!pthread_barrier_init(&barrier, NULL, 2));
	contend(reach_barrier, want_barrier);
	CHECK(!pthread_barrier_destroy(&barrier));
}

static sem_t sem;

static void *post_sem(void *arg)
{
	PROBE(holder);
	atomic_store(&step, 1);
	usleep(HOLD_USEC);
	vprof_w_sem_post(&sem);
	return arg;
}

static void want_sem(void)
{
	CHECK(!vprof_w_sem_wait(&sem));
}

void run_sem(void)
{
	CHECK(!sem_init(&sem, 0, 0));
	contend(post_sem, want_sem);
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *hold_rwlock(void *arg)
{
	PROBE(holder);
	vprof_w_pthread_rwlock_rdlock(&rwlock);
	atomic_store(&step, 1);
	usleep(HOLD_USEC);
	vprof_w_pthread_rwlock_unlock(&rwlock);
	return arg;
}

static void want_rwlock(void)
{
	CHECK(!vprof_w_pthread_rwlock_wrlock(&rwlock));
	CHECK(!vprof_w_pthread_rwlock_unlock(&rwlock));
}

void run_rwlock(void)
{
	contend(hold_rwlock, want_rwlock);
}

static pthread_spinlock_t spin;

static void *hold_spin(void *arg)
{
	PROBE(holder);
	vprof_w_pthread_spin_lock(&spin);
	atomic_store(&step, 1);
	usleep(HOLD_USEC);
	vprof_w_pthread_spin_unlock(&spin);
	return arg;
}

static void want_spin(void)
{
	CHECK(!vprof_w_pthread_spin_lock(&spin));
	CHECK(!vprof_w_pthread_spin_unlock(&spin));
}

void run_spin(void)
{
	CHECK(!pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
	contend(hold_spin, want_spin);
}

static void *end_later(void *arg)
{
	PROBE(holder);
	usleep(HOLD_USEC);
	return arg;
}

void run_join(void)
{
	PROBE(waiter);
	EVENT(BEGIN, REQUEST, 1, 0);
	CHECK(!vprof_w_pthread_join(start(end_later, NULL), NULL));
	EVENT(END, REQUEST, 1, 0);
}

/* A lock of the program's own, made of an atomic and sleeps. */
static atomic_int own_lock;

static void own_acquire(unsigned int how)
{
	int free = 0;

	EVENT(ACQUIRE, NULL, (unsigned long)&own_lock, how);
	while (!atomic_compare_exchange_weak(&own_lock, &free, 1)) {
		free = 0;
		vprof_w_usleep(200);		/* a wait inside the wait: the outer one counts */
	}
	EVENT(ACQUIRED, NULL, (unsigned long)&own_lock, 0);
}

static void own_release(void)
{
	EVENT(RELEASE, NULL, (unsigned long)&own_lock, 0);
	atomic_store(&own_lock, 0);
}

static void *hold_own(void *arg)
{
	PROBE(holder);
	own_acquire(0);
	atomic_store(&step, 1);
	usleep(HOLD_USEC);
	own_release();
	return arg;
}

static void want_own(void)
{
	own_acquire(0);
	own_release();
}

void run_home_made(void)
{
	contend(hold_own, want_own);
}

static void want_own_never_spinning(void)
{
	own_acquire(VPROF_NEVER_SPINS);
	own_release();
}

/* The releaser learns when the first sleep begins. */
void run_never_spins(void)
{
	contend(hold_own, want_own_never_spinning);
}

/* Two processes, a semaphore in memory that they share. */
void run_processes(void)
{
	sem_t *s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	CHECK(!sem_init(s, 1, 0));
	EVENT(PAUSE, NULL, 0, 0);		/* attached before the fork */
	pid = fork();
	if (!pid) {
		PROBE(holder);
		usleep(HOLD_USEC);
		vprof_w_sem_post(s);
		_exit(0);
	}
	{
		PROBE(waiter);
		EVENT(BEGIN, REQUEST, 1, 0);
		CHECK(!vprof_w_sem_wait(s));
		EVENT(END, REQUEST, 1, 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* The main thread begins requests 1..3, a worker takes each up later and ends it. */
static int queue;

static void *take_over(void *arg)
{
	for (unsigned long task = 1; task <= 3; task++) {
		PROBE(worker);
		wait_for_step((int)task);
		usleep(HOLD_USEC / 4);
		EVENT(DEQUEUE, NULL, (unsigned long)&queue, task);
		EVENT(RESUME, REQUEST, task, 0);
		call_leaf();
		usleep(HOLD_USEC / 4);
		EVENT(END, REQUEST, task, 0);
	}
	return arg;
}

void run_handover(void)
{
	pthread_t t = start(take_over, NULL);

	for (unsigned long task = 1; task <= 3; task++) {
		PROBE(root);
		EVENT(BEGIN, REQUEST, task, 0);
		usleep(HOLD_USEC / 4);
		EVENT(ENQUEUE, NULL, (unsigned long)&queue, task);
		EVENT(PAUSE, NULL, 0, 0);
		atomic_store(&step, (int)task);
		usleep(HOLD_USEC);
	}
	CHECK(!pthread_join(t, NULL));
}

/* A query inside a request: the inner one is worked on, then the outer one again. */
void run_nested(void)
{
	EVENT(BEGIN, REQUEST, 1, 0);
	call_leaf();
	EVENT(BEGIN, QUERY, 2, 0);
	call_leaf();
	EVENT(END, QUERY, 2, 0);
	call_leaf();
	EVENT(LEAVE, QUERY, 2, 0);		/* not worked on: means nothing */
	call_leaf();
	EVENT(LEAVE, REQUEST, 1, 0);
	call_leaf();				/* outside: level 1 records nothing */
	EVENT(END, REQUEST, 1, 0);
	EVENT(BEGIN, REQUEST, ~0ULL, 0);	/* key: this thread */
	EVENT(DROP, REQUEST, ~0ULL, 0);
}

static void *write_late(void *pipe_end)
{
	PROBE(holder);
	usleep(HOLD_USEC);
	CHECK(vprof_w_write(*(int *)pipe_end, "x", 1) == 1);
	return NULL;
}

/* Times that this thread gave up its CPU, by the kernel's account. */
static long switches(void)
{
	struct rusage usage;

	CHECK(!getrusage(RUSAGE_THREAD, &usage));
	return usage.ru_nvcsw;
}

/* Reads that take their time, and one that waits.  It says how often the thread gave up its CPU during the former. */
void run_copies(void)
{
	static char data[COPY_BYTES];
	int random = open("/dev/urandom", O_RDONLY | O_CLOEXEC), ends[2];
	long before = switches();
	pthread_t t;

	CHECK(random >= 0 && !pipe(ends));
	EVENT(BEGIN, REQUEST, 1, 0);
	for (int i = 0; i < COPIES; i++)
		CHECK(vprof_w_read(random, data, sizeof(data)) == sizeof(data));
	EVENT(WORK, ROWS, (uint64_t)(switches() - before), 0);
	t = start(write_late, &ends[1]);
	{
		PROBE(waiter);
		CHECK(vprof_w_read(ends[0], data, 1) == 1);
	}
	EVENT(END, REQUEST, 1, 0);
	CHECK(!pthread_join(t, NULL));
}

/* The runtime's too: a program's own comes before the C library's. */
static atomic_int fstat_cnt;

int fstat(int fd, struct stat *ret)
{
	atomic_fetch_add(&fstat_cnt, 1);
	return (int)syscall(SYS_fstat, fd, ret);
}

/* Not even by syscall(), which the runtime wraps. */
static long unseen(long number, long a, const void *b, long c)
{
#ifdef __x86_64__
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
#else
	return syscall(number, a, b, c);
#endif
}

/* One that is not recorded: it answers each byte after a while, until there are none. */
static void answer(int from, int to)
{
	static const struct timespec moment = { 0, 1000000 };
	char byte;

	while (unseen(SYS_read, from, &byte, 1) == 1) {
		unseen(SYS_nanosleep, (long)&moment, NULL, 0);
		unseen(SYS_write, to, &byte, 1);
	}
	syscall(SYS_exit_group, 0);
}

/* By poll, its answer has come: the read does not sleep, but may be preempted.  Returns the number of calls that slept. */
static int hear(int fd, bool by_poll)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	long first = switches(), second = first;
	char byte;

	if (by_poll) {
		CHECK(vprof_w_poll(&ready, 1, -1) == 1);
		second = switches();
	}
	CHECK(vprof_w_read(fd, &byte, 1) == 1);
	return (second != first) + (switches() != second);
}

/*
 * Waits for what no thread of the run writes: no name is asked for.  Then one for what a thread does.  It says
 * how many of the calls before slept, and how often the thread gave up its CPU meanwhile.
 */
void run_strangers(void)
{
	int to[2], back[2];
	long switched = switches();
	char byte = 0;
	int slept = 0;
	pthread_t t;
	int before;

	CHECK(!pipe(to) && !pipe(back));
	if (!syscall(SYS_fork)) {
		syscall(SYS_close, to[1]);
		answer(to[0], back[1]);
	}
	EVENT(BEGIN, REQUEST, 1, 0);
	before = atomic_load(&fstat_cnt);
	for (int i = 0; i < STRANGERS; i++) {
		CHECK(unseen(SYS_write, to[1], &byte, 1) == 1);
		slept += hear(back[0], i % 2);
	}
	CHECK(atomic_load(&fstat_cnt) == before);
	EVENT(WORK, ROWS, (uint64_t)slept, 0);
	EVENT(WORK, ROWS, (uint64_t)(switches() - switched), 0);
	t = start(write_late, &back[1]);
	{
		PROBE(waiter);
		CHECK(vprof_w_read(back[0], &byte, 1) == 1);
	}
	EVENT(END, REQUEST, 1, 0);
	CHECK(!pthread_join(t, NULL));
	CHECK(!close(to[1]));
}

/* Everything at once on few objects; for the race detector. */
static void *mix(void *arg)
{
	unsigned int seed = (unsigned int)(unsigned long)arg;

	for (int i = 0; i < 300; i++) {
		PROBE(worker);
		EVENT(BEGIN, REQUEST, ~0ULL, 0);
		vprof_w_pthread_mutex_lock(&mutex);
		call_leaf();
		if (rand_r(&seed) % 8 == 0)
			vprof_w_usleep(50);
		vprof_w_pthread_cond_broadcast(&cond);
		vprof_w_pthread_mutex_unlock(&mutex);
		vprof_w_pthread_rwlock_rdlock(&rwlock);
		vprof_w_pthread_rwlock_unlock(&rwlock);
		vprof_w_pthread_rwlock_wrlock(&rwlock);
		vprof_w_pthread_rwlock_unlock(&rwlock);
		vprof_w_sem_post(&sem);
		vprof_w_sem_wait(&sem);
		EVENT(ENQUEUE, NULL, 1, i);
		EVENT(DEQUEUE, NULL, 1, i);
		EVENT(END, REQUEST, ~0ULL, 0);
		if (i % 30 == 0)
			CHECK(!vprof_w_pthread_join(start(work_once, NULL), NULL));
	}
	want_barrier();
	want_barrier();
	return NULL;
}

void run_mixed(void)
{
	pthread_t t[4];

	CHECK(!sem_init(&sem, 0, 0));
	CHECK(!pthread_barrier_init(&barrier, NULL, 4));
	for (unsigned long i = 0; i < 4; i++)
		CHECK(!vprof_w_pthread_create(&t[i], NULL, mix, (void *)(i + 1)));
	for (int i = 0; i < 4; i++)
		CHECK(!vprof_w_pthread_join(t[i], NULL));
}
