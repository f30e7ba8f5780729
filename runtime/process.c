/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.c - attach to the arena, register functions, survive fork and dlclose.
 *
 * The drainer leaves the arena's path in the environment.  Where it is missing, or anything fails
 * on the way, all sites stay dormant and every thread's gate closes on first contact.
 *
 * After a fork both processes would write through the same cursor into the same chunk; the child
 * drops everything it inherited and starts as a new process.  A raw clone() passes by the fork
 * handlers: a page that the kernel wipes in children tells (process.same).
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime/calls.h"
#include "runtime/flow.h"
#include "runtime/libraries.h"
#include "runtime/process.h"
#include "runtime/thread.h"

enum { POPULATED_CHUNKS = 1024 };

enum attach_state { ATTACH_NEVER, ATTACH_NOW, ATTACH_DONE, ATTACH_FAILED };

struct process process;
static int attach_state;
static __thread uint64_t fork_serial;	/* of the child that a fork under way will make */

static bool map_arena(const char *path)
{
	struct stat st;
	void *base = MAP_FAILED;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		base = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (base == MAP_FAILED)
		return false;
	if (arena_open_map(&process.arena, base, (size_t)st.st_size))
		return true;
	munmap(base, (size_t)st.st_size);
	return false;
}

/*
 * Page tables now, so that no probe takes a fault; where the kernel cannot, probes do.  The chunks
 * that go round are the first ones (a list gives back what it got last), and filling the tables
 * for all of them would take a program that only starts and ends 15 ms.
 */
static void populate(void)
{
	struct arena_control *c = process.arena.control;

#ifdef MADV_POPULATE_WRITE
	uint32_t cnt = c->chunk_cnt < POPULATED_CHUNKS ? c->chunk_cnt : POPULATED_CHUNKS;

	madvise(process.arena.base + c->chunks, (size_t)cnt * VPROF_CHUNK_BYTES,
		MADV_POPULATE_WRITE);
	madvise(process.arena.base, c->stacks, MADV_POPULATE_WRITE);
#else
	(void)c;
#endif
}

static void watch_forks(void)
{
	static uint32_t always = 1;
	void *page = MAP_FAILED;

	process.same = &always;
#ifdef MADV_WIPEONFORK
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page != MAP_FAILED && !madvise(page, 4096, MADV_WIPEONFORK)) {
		*(uint32_t *)page = 1;
		process.same = page;
	}
#else
	(void)page;
#endif
}

static void take_identity(void)
{
	struct arena_control *c = process.arena.control;
	struct stat st;

	process.pid = (uint32_t)getpid();
	process.pid_namespace = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
	process.image = __atomic_add_fetch(&c->image_cnt, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->process_cnt, 1, __ATOMIC_RELAXED);
}

/* 0: not to be had.  The name in "7 (cat) S 5 ..." may hold anything, so its last bracket counts. */
static uint32_t parent_of(uint32_t pid)
{
	char path[sizeof("/proc/4294967295/stat")] = "/proc/", text[512], digits[10];
	size_t at = strlen(path), cnt = 0;
	const char *bracket;
	ssize_t len;
	int fd;

	do
		digits[cnt++] = (char)('0' + pid % 10);
	while ((pid /= 10));
	while (cnt)
		path[at++] = digits[--cnt];
	memcpy(&path[at], "/stat", sizeof("/stat"));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	bracket = strrchr(text, ')');
	return bracket && strlen(bracket) > 4 ? (uint32_t)strtoul(bracket + 4, NULL, 10) : 0;
}

/* A program that was executed: who started it may have begun the interval that it goes on with. */
static void find_ancestors(void)
{
	uint32_t pid = (uint32_t)getppid();

	for (process.ancestor_cnt = 0; pid > 1 && process.ancestor_cnt < PROCESS_ANCESTORS;
	     pid = parent_of(pid))
		process.ancestors[process.ancestor_cnt++] = pid;
}

void process_introduce(void)
{
	uint32_t pid = process.pid;

	if (__atomic_exchange_n(&process.introduced, true, __ATOMIC_RELAXED))
		return;
	for (unsigned int i = 0; i < process.ancestor_cnt; pid = process.ancestors[i++])
		THREAD_LOG(EVENT_PARENT, clock_ticks(), pid, process.ancestors[i]);
}

/* The parent's side of a fork logs the child before it exists, so that the edge has a start. */
static void before_fork(void)
{
	fork_serial = 0;
	if (!thread_ready())
		return;
	fork_serial = process_new_serial();
	THREAD_LOG(EVENT_CREATE, clock_ticks(), fork_serial);
}

static void in_fork_child(void)
{
	process_forked(fork_serial);
}

static void note_parent(void)
{
	if (process.ancestor_cnt < PROCESS_ANCESTORS)
		process.ancestor_cnt++;
	memmove(&process.ancestors[1], &process.ancestors[0],
		(process.ancestor_cnt - 1) * sizeof(process.ancestors[0]));
	process.ancestors[0] = process.pid;
}

void process_forked(uint64_t serial)
{
	*process.same = 1;
	note_parent();
	process.introduced = false;
	take_identity();
	thread_forget(serial ? serial : process_new_serial());
}

static void end_of_thread(void *set)
{
	(void)set;
	thread_detach();
}

static bool attach(void)
{
	const char *path = secure_getenv(ARENA_ENV);

	if (!path || !*path || !map_arena(path))
		return false;
	if (!process.arena.control->recording || pthread_key_create(&process.key, end_of_thread)) {
		munmap(process.arena.base, process.arena.control->bytes);
		process.arena.base = NULL;
		return false;
	}
	populate();
	calls_prepare();
	watch_forks();
	take_identity();
	find_ancestors();
	pthread_atfork(before_fork, NULL, in_fork_child);
	libraries_attach();
	return true;
}

bool process_attach(void)
{
	int state = __atomic_load_n(&attach_state, __ATOMIC_ACQUIRE), saved_errno = errno;

	if (state == ATTACH_NEVER &&
	    __atomic_compare_exchange_n(&attach_state, &state, ATTACH_NOW, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		state = attach() ? ATTACH_DONE : ATTACH_FAILED;
		__atomic_store_n(&attach_state, state, __ATOMIC_RELEASE);
		errno = saved_errno;
	}
	return state == ATTACH_DONE;
}

bool process_is_alone(void)
{
	return __atomic_load_n(&attach_state, __ATOMIC_ACQUIRE) == ATTACH_FAILED;
}

/* The thread that ends the program was there until now. */
static void __attribute__((destructor(101))) note_end(void)
{
	if (!thread_self.slot)
		return;
	flow_stamp_all_ends();
	THREAD_LOG(EVENT_STOP, clock_ticks(), 0, 0);
}

/* The order matters to probes that run meanwhile in other threads: level last. */
void vprof_register(struct vprof_site *sites, unsigned int cnt)
{
	while (!process_attach()) {
		if (process_is_alone())
			return;
		sched_yield();
	}
	libraries_look();
	__atomic_fetch_add(&process.arena.control->site_cnt, cnt, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < cnt; i++) {
		uint32_t level = arena_level(&process.arena, sites[i].key);

		sites[i].fid = (unsigned short)arena_function(&process.arena, &sites[i], level);
		__atomic_store_n(&sites[i].level, sites[i].fid ? level : 0, __ATOMIC_RELEASE);
	}
}

/* The arena has copies of the names, and open frames hold numbers only: nothing refers to the
 * unit any more once its probes are quiet. */
void vprof_unregister(struct vprof_site *sites, unsigned int cnt)
{
	for (unsigned int i = 0; i < cnt; i++)
		__atomic_store_n(&sites[i].level, 0, __ATOMIC_RELEASE);
}
