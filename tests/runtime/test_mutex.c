/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_mutex.c - a mutex that the runtime took is as the C library would have left it, and no thread misses a
 * call.  With INTERPOSED the program has a pthread_mutex_trylock() of its own, as a race detector would; in a
 * build with AddressSanitizer its library has.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "runtime/process.h"
#include "runtime/wrappers/mutex.h"
#include "runtime/wrappers/real.h"
#include "tests/unit/cmocka_all.h"

#if defined(__SANITIZE_ADDRESS__)
#define WATCHED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHED
#endif
#endif

#ifdef INTERPOSED
static int tries;

int pthread_mutex_trylock(pthread_mutex_t *m)
{
	static int (*next)(pthread_mutex_t *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_trylock");
	tries++;
	return next(m);
}

static void test_interposed(void **state)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

	(void)state;
	mutex_prepare();
	for (int i = 1; i <= 3; i++) {
		assert_int_equal(vprof_w_pthread_mutex_lock(&m), 0);
		assert_int_equal(tries, i);
		assert_int_equal(vprof_w_pthread_mutex_unlock(&m), 0);
	}
	assert_int_equal(vprof_self.tid, 0);
	assert_false(mutex_take(&m));
}
#else
static void learn(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

	assert_int_equal(real.pthread_mutex_trylock(&m), 0);
	mutex_learn(&m);
	assert_int_equal(real.pthread_mutex_unlock(&m), 0);
}

#ifdef WATCHED
static void test_watched(void **state)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

	(void)state;
	mutex_prepare();
	learn();
	assert_int_equal(vprof_self.tid, 0);
	assert_false(mutex_take(&m));
}
#elif defined(__GLIBC__)
static void test_only_when_known(void **state)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

	(void)state;
	learn();
	assert_false(mutex_take(&m));		/* the C library was not examined yet */
	mutex_prepare();
	assert_false(mutex_take(&m));
	learn();
	assert_int_equal(vprof_self.tid, syscall(SYS_gettid));
	assert_true(mutex_take(&m));
	assert_int_equal(real.pthread_mutex_unlock(&m), 0);
}

static void init(pthread_mutex_t *m, int shared)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, shared);
	memset(m, 0, sizeof(*m));
	assert_int_equal(pthread_mutex_init(m, &attr), 0);
	pthread_mutexattr_destroy(&attr);
}

static void test_left_as_by_the_c_library(void **state)
{
	pthread_mutex_t m, other;

	(void)state;
	for (int shared = 0; shared < 2; shared++) {
		init(&m, shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
		other = m;
		assert_true(mutex_take(&m));
		assert_int_equal(real.pthread_mutex_lock(&other), 0);
		assert_memory_equal(&m, &other, sizeof(m));
		assert_false(mutex_take(&m));
		assert_int_equal(real.pthread_mutex_trylock(&m), EBUSY);
		assert_int_equal(real.pthread_mutex_unlock(&m), 0);
		assert_int_equal(real.pthread_mutex_unlock(&other), 0);
		assert_memory_equal(&m, &other, sizeof(m));
		assert_int_equal(pthread_mutex_destroy(&m), 0);
	}
}

static void test_other_kinds_are_left_alone(void **state)
{
	static const int types[] = { PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP,
		PTHREAD_MUTEX_NORMAL };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		for (int how = 0; how < 4; how++) {
			pthread_mutexattr_t attr;
			pthread_mutex_t m, before;

			if (types[i] == PTHREAD_MUTEX_NORMAL && !how)
				continue;	/* may be one that is taken, or not (it is for glibc's elision) */
			pthread_mutexattr_init(&attr);
			pthread_mutexattr_settype(&attr, types[i]);
			pthread_mutexattr_setrobust(&attr, how & 1 ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED);
			pthread_mutexattr_setprotocol(&attr, how & 2 ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE);
			memset(&m, 0, sizeof(m));
			assert_int_equal(pthread_mutex_init(&m, &attr), 0);
			memcpy(&before, &m, sizeof(m));
			assert_false(mutex_take(&m));
			assert_memory_equal(&m, &before, sizeof(m));
		}
	}
}

/* A thread, and the child of a fork, have names of their own. */
static void *take_in_thread(void *m)
{
	bool taken = mutex_take(m);

	learn();
	return (void *)(intptr_t)(!taken && vprof_self.tid == syscall(SYS_gettid) && mutex_take(m));
}

static void test_threads_and_forks(void **state)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	void *result = NULL;
	pthread_t thread;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, take_in_thread, &m), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_non_null(result);
	assert_true(process_attach() || process_is_alone());	/* has the handlers of forks installed */
	assert_int_equal(vprof_self.tid, getpid());
	pid = fork();
	if (!pid) {
		learn();
		_exit(vprof_self.tid == getpid() ? 0 : 9);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}
#endif
#endif

int main(void)
{
	static const struct CMUnitTest tests[] = {
#ifdef INTERPOSED
		cmocka_unit_test(test_interposed),
#elif defined(WATCHED)
		cmocka_unit_test(test_watched),
#elif defined(__GLIBC__)
		cmocka_unit_test(test_only_when_known), cmocka_unit_test(test_left_as_by_the_c_library),
		cmocka_unit_test(test_other_kinds_are_left_alone), cmocka_unit_test(test_threads_and_forks),
#endif
		{ NULL, NULL, NULL, NULL, NULL }
	};

	return _cmocka_run_group_tests("mutex", tests, sizeof(tests) / sizeof(tests[0]) - 1, NULL, NULL);
}
