/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * processes.c - waits for another program of the run, which has the memory that both share at another
 * address: of a file, of a System V segment, of a named semaphore.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "tests/waits/waits.h"

struct common {
	char other[1024];		/* not at the start of a page */
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	pthread_cond_t cond;
	pthread_barrier_t barrier;
	pthread_spinlock_t spin;
	sem_t sem;
	int word, ready, segment, maker;
};

static struct common *common(void) { return (struct common *)shared->memory; }

static void share_mutex(pthread_mutex_t *m, int robust)
{
	pthread_mutexattr_t a;

	MUST(!pthread_mutexattr_init(&a));
	MUST(!pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
	if (robust)
		MUST(!pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST));
	MUST(!pthread_mutex_init(m, &a));
}

static void make_mutex(void) { share_mutex(&common()->mutex, 0); }
static void make_robust(void) { share_mutex(&common()->mutex, 1); }
static void lock(void) { MUST(!pthread_mutex_lock(&common()->mutex)); }
static void unlock(void) { MUST(!pthread_mutex_unlock(&common()->mutex)); }

static void make_rwlock(void)
{
	pthread_rwlockattr_t a;

	MUST(!pthread_rwlockattr_init(&a));
	MUST(!pthread_rwlockattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
	MUST(!pthread_rwlock_init(&common()->rwlock, &a));
}

static void read_lock(void) { MUST(!pthread_rwlock_rdlock(&common()->rwlock)); }
static void write_lock(void) { MUST(!pthread_rwlock_wrlock(&common()->rwlock)); }
static void rw_unlock(void) { MUST(!pthread_rwlock_unlock(&common()->rwlock)); }

static void make_cond(void)
{
	pthread_condattr_t a;

	make_mutex();
	MUST(!pthread_condattr_init(&a));
	MUST(!pthread_condattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
	MUST(!pthread_cond_init(&common()->cond, &a));
	common()->ready = 0;
}

static void wait_cond(void)
{
	lock();
	while (!common()->ready)
		MUST(!pthread_cond_wait(&common()->cond, &common()->mutex));
	common()->ready = 0;
	unlock();
}

static void signal_cond(void)
{
	lock();
	common()->ready = 1;
	MUST(!pthread_cond_signal(&common()->cond));
	unlock();
}

static void make_barrier(void)
{
	pthread_barrierattr_t a;

	MUST(!pthread_barrierattr_init(&a));
	MUST(!pthread_barrierattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
	MUST(!pthread_barrier_init(&common()->barrier, &a, 2));
}

static void reach(void)
{
	int r = pthread_barrier_wait(&common()->barrier);

	MUST(!r || r == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void make_spin(void) { MUST(!pthread_spin_init(&common()->spin, PTHREAD_PROCESS_SHARED)); }
static void spin_lock(void) { MUST(!pthread_spin_lock(&common()->spin)); }
static void spin_unlock(void) { MUST(!pthread_spin_unlock(&common()->spin)); }
static void make_sem(void) { MUST(!sem_init(&common()->sem, 1, 0)); }
static void wait_sem(void) { MUST(!sem_wait(&common()->sem)); }
static void post_sem(void) { MUST(!sem_post(&common()->sem)); }
static void clear_word(void) { common()->word = 0; }

static void wait_futex(void)
{
	volatile int *word = &common()->word;

	while (!*word)
		syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);
	*word = 0;
}

static void wake_futex(void)
{
	*(volatile int *)&common()->word = 1;
	syscall(SYS_futex, &common()->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* A lock that vprof knows by name only, as own.c's. */
struct own_lock;
void own_acquire(struct own_lock *l);
void own_release(struct own_lock *l);

static void take_own(void) { own_acquire((struct own_lock *)&common()->word); }
static void give_own(void) { own_release((struct own_lock *)&common()->word); }

/* A semaphore by name: each program opens it for itself. */
static sem_t *named(int flags)
{
	static sem_t *sem;
	char name[64];

	snprintf(name, sizeof(name), "/vprof-waits-exec-%d", common()->maker);
	if (!sem || flags)
		sem = sem_open(name, flags, 0600, 0);
	MUST(sem != SEM_FAILED);
	return sem;
}

static void make_named(void)
{
	common()->maker = getpid();
	named(O_CREAT | O_EXCL);
}

static void post_named(void)
{
	char name[64];

	MUST(!sem_post(named(0)));
	snprintf(name, sizeof(name), "/vprof-waits-exec-%d", common()->maker);
	sem_unlink(name);		/* in the first round */
}

static void wait_named(void) { MUST(!sem_wait(named(0))); }

/* A mutex in a segment, which is gone when both have let it go. */
static pthread_mutex_t *in_segment(void)
{
	static pthread_mutex_t *m;

	if (!m) {
		m = shmat(common()->segment, NULL, 0);
		MUST(m != (void *)-1);
		m += 3;
	}
	return m;
}

static void make_segment(void)
{
	common()->segment = shmget(IPC_PRIVATE, 8192, IPC_CREAT | 0600);
	MUST(common()->segment >= 0);
	share_mutex(in_segment(), 0);
}

static void lock_in_segment(void)
{
	MUST(!pthread_mutex_lock(in_segment()));
	shmctl(common()->segment, IPC_RMID, NULL);
}

static void unlock_in_segment(void) { MUST(!pthread_mutex_unlock(in_segment())); }

/* The same page is mapped twice, here for the waiter and there for the waker. */
static pthread_mutex_t *second(void)
{
	static char *at;

	if (!at)
		at = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED,
			  common()->maker, 0);
	MUST(at != MAP_FAILED);
	return &((struct common *)(at + (shared->memory - (char *)shared)))->mutex;
}

static void make_twice(void)
{
	common()->maker = memory_file();
	make_mutex();
	second();
}

static void lock_second(void) { MUST(!pthread_mutex_lock(second())); }

/* Memory without a file, of parent and child. */
static pthread_mutex_t *nameless;

static void make_nameless(void)
{
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	MUST(at != MAP_FAILED);
	nameless = (pthread_mutex_t *)(at + 512);
	share_mutex(nameless, 0);
}

static void lock_nameless(void) { MUST(!pthread_mutex_lock(nameless)); }
static void unlock_nameless(void) { MUST(!pthread_mutex_unlock(nameless)); }

const struct wait_case process_cases[] = {
	{ "mutex-exec", "lock", make_mutex, lock, 0, lock, unlock, unlock, CASE_EXEC },
	{ "mutex-robust-exec", "lock", make_robust, lock, 0, lock, unlock, unlock, CASE_EXEC },
	{ "rwlock-read-exec", "lock", make_rwlock, write_lock, 0, read_lock, rw_unlock, rw_unlock, CASE_EXEC },
	{ "rwlock-write-exec", "lock", make_rwlock, read_lock, 0, write_lock, rw_unlock, rw_unlock, CASE_EXEC },
	{ "cond-exec", "cond", make_cond, 0, 0, wait_cond, signal_cond, 0, CASE_EXEC },
	{ "barrier-exec", "cond", make_barrier, 0, 0, reach, reach, 0, CASE_EXEC },
	{ "spin-exec", "lock", make_spin, spin_lock, 0, spin_lock, spin_unlock, spin_unlock, CASE_EXEC },
	{ "sem-exec", "lock", make_sem, 0, 0, wait_sem, post_sem, 0, CASE_EXEC },
	{ "sem-named-exec", "lock", make_named, 0, 0, wait_named, post_named, 0, CASE_EXEC },
	{ "mutex-segment-exec", "lock", make_segment, lock_in_segment, 0, lock_in_segment,
	  unlock_in_segment, unlock_in_segment, CASE_EXEC },
	{ "futex-exec", "cond", clear_word, 0, 0, wait_futex, wake_futex, 0, CASE_EXEC },
	{ "listed-own-exec", "lock", clear_word, take_own, 0, take_own, give_own, give_own, CASE_EXEC },
	{ "mutex-mapped-twice", "lock", make_twice, lock, 0, lock_second, unlock, unlock, 0 },
	{ "mutex-nameless", "lock", make_nameless, lock_nameless, 0, lock_nameless, unlock_nameless,
	  unlock_nameless, CASE_PROCESS },
	{ .name = 0 }
};
