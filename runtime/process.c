/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.c - attach to the arena, register functions, survive fork and dlclose.
 *
 * The drainer leaves the arena's path in the environment.  Where it is missing, or anything fails on the way, all
 * sites stay dormant and every thread's gate closes on first contact, until a recorder invites the process
 * (runtime/shared/invitation.h).  When a recording is gone, the process is as before it.
 *
 * After a fork both processes would write through the same cursor into the same chunk; the child drops everything it
 * inherited and starts as a new process.  A raw clone() does not run the fork handlers; a page that the kernel wipes
 * in children reveals it (process.same).
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "runtime/calls.h"
#include "runtime/causal/causal.h"
#include "runtime/causal/devices.h"
#include "runtime/jump.h"
#include "runtime/process.h"
#include "runtime/rules/limits.h"
#include "runtime/rules/permit.h"
#include "runtime/rules/uncancelled.h"
#include "runtime/shared/invitation.h"
#include "runtime/thread.h"
#include "runtime/units.h"
#include "runtime/waits/flow.h"
#include "runtime/waits/order.h"
#include "runtime/wrappers/mutex.h"
#include "runtime/wrappers/plt_hooks.h"

enum { POPULATED_CHUNKS = 1024 };

enum { ARENAS_MAX = 256 };		/* in the life of a process */

enum attach_state { ATTACH_NEVER, ATTACH_NOW, ATTACH_DONE, ATTACH_FAILED };

struct door vprof_door __attribute__((visibility("default"))) = {
	DOOR_MAGIC, DOOR_MAGIC_2, &vprof_door, 0, 0, 0, 1, ""
};

static struct arena_map arenas[ARENAS_MAX + 1];	/* the first one is none */
static uint32_t arena_cnt = 1;

static uint32_t nobody_waits[ARENA_PLACES];

struct process process = {
	.arena = &arenas[0], .places = nobody_waits, .invitation = &vprof_door.invited
};
static int attach_state;
#pragma weak __libc_single_threaded
static __thread uint64_t fork_serial;	/* of the child that a fork under way will make */

static struct status started;

static bool is_recorded(const struct arena_map *a)
{
	uint32_t recording = __atomic_load_n(&a->control->recording, __ATOMIC_RELAXED);

	return recording == RECORDING_ON || recording == RECORDING_PAUSED;
}

static void count_apart(struct arena_control *c, enum apart why)
{
	__atomic_fetch_add(&c->apart_cnt[why], 1, __ATOMIC_RELAXED);
	__atomic_store_n(&c->apart_pid[why], process.pid, __ATOMIC_RELAXED);
}

/* Tells the recorder why the process does not take part.  Without room for even this page, nothing is reported. */
static void tell_apart(int fd, enum apart why)
{
	void *page = mmap(NULL, sizeof(struct arena_control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return;
	count_apart(page, why);
	munmap(page, sizeof(struct arena_control));
}

/* Checked without reading: processes that inherit a descriptor share its offset. */
static bool is_arena(int fd, struct stat *ret)
{
	const uint64_t *page = MAP_FAILED;
	bool is;

	if (fstat(fd, ret) || !S_ISREG(ret->st_mode) || ret->st_size < (off_t)sizeof(struct arena_control))
		return false;
	page = mmap(NULL, sizeof(struct arena_control), PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return false;
	is = *page == ARENA_MAGIC;
	munmap((void *)(uintptr_t)page, sizeof(struct arena_control));
	return is;
}

/* The drainer keeps its arena locked as long as it lives. */
static bool has_drainer(int fd)
{
	if (!permitted(PERMIT_FLOCK))
		return true;
	if (flock(fd, LOCK_SH | LOCK_NB))
		return true;
	flock(fd, LOCK_UN);		/* other processes may have the same open file */
	return false;
}

/* The number in "fd:100", or -1. */
static int inherited(const char *path)
{
	size_t len = strlen(ARENA_FD);

	return strncmp(path, ARENA_FD, len) || path[len] < '0' || path[len] > '9' ? -1 : (int)strtoul(path + len, NULL, 10);
}

static void *map_file(int fd, size_t bytes)
{
	enum apart why = clock_is_off() ? APART_NO_CLOCK : limits_make_room(bytes);
	void *base = MAP_FAILED;

	if (!why) {
		base = arena_map_file(fd, bytes);
		if (base == MAP_FAILED)
			why = APART_NO_ROOM;
	}
	if (why)
		tell_apart(fd, why);
	else
		process.mapped_bytes += bytes;
	return base;
}

/* NULL: there is no arena, none with a drainer, or we must not take part. */
static const struct arena_map *map_arena(const char *path)
{
	struct arena_map *a = &arenas[arena_cnt];
	struct stat st;
	void *base = MAP_FAILED;
	int fd = arena_cnt <= ARENAS_MAX ? inherited(path) : -1;
	bool is_ours = fd < 0 && arena_cnt <= ARENAS_MAX;

	if (is_ours)
		fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (is_arena(fd, &st) && has_drainer(fd))
		base = map_file(fd, (size_t)st.st_size);
	if (is_ours)
		close(fd);		/* else its child processes would inherit it */
	if (base == MAP_FAILED)
		return NULL;
	if (arena_open_map(a, base, (size_t)st.st_size) && is_recorded(a)) {
		arena_cnt++;
		a->waits = devices_map(a);
		return a;
	}
	munmap(base, (size_t)st.st_size);
	process.mapped_bytes -= (size_t)st.st_size;
	a->base = NULL;
	return NULL;
}

/*
 * Fills the page tables now, so that no probe takes a fault; on kernels without that, probes do.  Only for
 * the first chunks: those are in use (a list returns what it got last), and filling the tables for all of
 * them would cost a program that only starts and ends 15 ms.
 */
static void populate(void)
{
	const struct arena_map *a = process.arena;

#ifdef MADV_POPULATE_WRITE
	uint32_t cnt = a->chunk_cnt < POPULATED_CHUNKS ? a->chunk_cnt : POPULATED_CHUNKS;

	if (!permitted(PERMIT_MADVISE))
		return;
	madvise(a->chunks, (size_t)cnt * VPROF_CHUNK_BYTES, MADV_POPULATE_WRITE);
	madvise(a->base, (size_t)(a->stacks - a->base), MADV_POPULATE_WRITE);
#else
	(void)a;
#endif
}

static void watch_forks(void)
{
	static uint32_t always = 1;
	void *page = MAP_FAILED;

	process.same = &always;
#ifdef MADV_WIPEONFORK
	/* Not in our static data, whose pages come from a file. */
	if (permitted(PERMIT_MADVISE))
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
	struct arena_control *c = process.arena->control;
	struct stat st;

	process.pid = process_own_pid();
	process.pid_namespace = !permitted(PERMIT_STAT) || stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
	process.image = __atomic_add_fetch(&c->image_cnt, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->process_cnt, 1, __ATOMIC_RELAXED);
}

/* 0: unknown.  The name in "7 (cat) S 5 ..." may contain anything, so the last bracket ends it. */
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
	if (!permitted(PERMIT_OPEN) || !permitted(PERMIT_READ))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	bracket = strrchr(text, ')');
	return bracket && strlen(bracket) > 4 ? (uint32_t)strtoul(bracket + 4, NULL, 10) : 0;
}

/* For an executed program: the process that started it may have begun the interval that it continues. */
static void find_ancestors(void)
{
	uint32_t pid = permitted(PERMIT_GETPPID) ? (uint32_t)getppid() : started.ppid;

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
void process_before_fork(void)
{
	fork_serial = 0;
	if (!thread_ready())
		return;
	causal_settle();
	fork_serial = process_new_serial();
	THREAD_LOG(EVENT_CREATE, clock_ticks(), fork_serial);
}

void process_in_child(void)
{
	int now = ATTACH_NOW;		/* another thread was attaching */

	units_forked();
	mutex_forget();
	__atomic_compare_exchange_n(&attach_state, &now,
				    process.arena->base ? ATTACH_DONE : ATTACH_FAILED, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	if (process.arena->base)
		process_forked(fork_serial);
	else
		*process.same = 1;
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
	if (causal_on)
		causal_forked();
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

/* Calls that take a lock or memory of the C library: made at the start, never at an event. */
static bool prepare(void)
{
	static bool prepared;

	if (prepared)
		return true;
	if (pthread_key_create(&process.key, end_of_thread))
		return false;
	permit_start(&started);
	process.pid = started.pid;
	memcpy(process.name, started.name, sizeof(process.name));
	vprof_door.filter_cnt = started.filters;
	watch_forks();
	pthread_atfork(process_before_fork, NULL, process_in_child);
	calls_prepare();
	jump_prepare();
	return prepared = true;
}

static bool attach(const char *path)
{
	UNCANCELLED;
	const struct arena_map *a = prepare() && !process.apart && path && *path ? map_arena(path) : NULL;

	if (!a)
		return false;
	if (permitted(PERMIT_NAME))
		prctl(PR_GET_NAME, process.name);
	process.is_filtered = !permitted_all();
	if (process.is_filtered)
		count_apart(a->control, started.is_known ? APART_FILTERED : APART_NO_PROC);
	__atomic_store_n(&process.arena, a, __ATOMIC_RELEASE);
	__atomic_store_n(&process.waiters, a->waiters, __ATOMIC_RELEASE);
	__atomic_store_n(&process.places, a->places, __ATOMIC_RELEASE);
	causal_prepare();
	order_prepare();
	process.epoch++;
	process.introduced = false;
	mutex_prepare();
	populate();
	take_identity();
	process.program = (uint32_t)process.image;
	find_ancestors();
	if (path != vprof_door.path && strlen(path) < sizeof(vprof_door.path))
		memcpy(vprof_door.path, path, strlen(path) + 1);
	__atomic_store_n(&vprof_door.attached, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&process.invitation, &a->control->recording, __ATOMIC_RELEASE);
	return true;
}

bool process_attach(void)
{
	int state = __atomic_load_n(&attach_state, __ATOMIC_ACQUIRE), saved_errno = errno;

	if (state == ATTACH_NEVER &&
	    __atomic_compare_exchange_n(&attach_state, &state, ATTACH_NOW, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		state = attach(secure_getenv(ARENA_ENV)) && units_switch(true) ? ATTACH_DONE : ATTACH_FAILED;
		if (state == ATTACH_DONE)
			libraries_attach();
		__atomic_store_n(&attach_state, state, __ATOMIC_RELEASE);
		errno = saved_errno;
	}
	return state == ATTACH_DONE;
}

/* Whether the process has no arena and watches for an invitation (runtime/shared/invitation.h). */
static bool awaits_invitation(void)
{
	return __atomic_load_n(&process.invitation, __ATOMIC_ACQUIRE) == &vprof_door.invited;
}

/* The old arena stays mapped, because other threads may be using it.  Its drainer has returned its memory. */
static void leave(void)
{
	if (!units_switch(false))
		return;
	if (causal_on)
		causal_over();
	order_over();
	__atomic_store_n(&vprof_door.attached, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&process.invitation, &vprof_door.invited, __ATOMIC_RELEASE);
}

static void accept_invitation(void)
{
	int state = __atomic_load_n(&attach_state, __ATOMIC_ACQUIRE);
	bool attached;

	if (state == ATTACH_NOW ||
	    !__atomic_compare_exchange_n(&attach_state, &state, ATTACH_NOW, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return;
	attached = awaits_invitation() && vprof_door.invited && attach(vprof_door.path);
	__atomic_store_n(&vprof_door.invited, 0, __ATOMIC_RELEASE);
	if (attached) {
		while (!units_switch(true))
			permit_yield();
		libraries_attach();
	}
	__atomic_store_n(&attach_state, process.arena->base ? ATTACH_DONE : ATTACH_FAILED, __ATOMIC_RELEASE);
}

bool process_reopen(void)
{
	int saved_errno = errno;

	if (!awaits_invitation() && __atomic_load_n(process.invitation, __ATOMIC_RELAXED) == RECORDING_GONE)
		leave();
	if (awaits_invitation() && __atomic_load_n(&vprof_door.invited, __ATOMIC_ACQUIRE))
		accept_invitation();
	errno = saved_errno;
	return !awaits_invitation() && __atomic_load_n(process.invitation, __ATOMIC_RELAXED) == RECORDING_ON;
}

void process_starved(const struct arena_map *a)
{
	UNCANCELLED;
	int saved_errno = errno, fd;
	struct timespec now;

	if (a != process.arena || clock_gettime(CLOCK_MONOTONIC, &now) ||
	    __atomic_exchange_n(&a->control->starved_s, (uint64_t)now.tv_sec, __ATOMIC_RELAXED) ==
	    (uint64_t)now.tv_sec)
		return;
	if (!permitted(PERMIT_OPEN) || !permitted(PERMIT_CLOSE) || !permitted(PERMIT_FLOCK) || inherited(vprof_door.path) >= 0)
		return;
	fd = open(vprof_door.path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 ? errno == ENOENT : !flock(fd, LOCK_SH | LOCK_NB))
		__atomic_store_n(&a->control->recording, RECORDING_GONE, __ATOMIC_RELAXED);
	if (fd >= 0)
		close(fd);
	errno = saved_errno;
}

uint32_t process_own_pid(void)
{
	return permitted(PERMIT_GETPID) ? (uint32_t)getpid() : process.pid;
}

/* A thread in the middle of a call may read an arena later. */
static bool has_one_thread(void)
{
	return &__libc_single_threaded && __libc_single_threaded && !stacks_are_many();
}

static void unmap_all(void)
{
	__atomic_store_n(&process.waiters, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&process.places, nobody_waits, __ATOMIC_RELEASE);
	__atomic_store_n(&process.arena, &arenas[0], __ATOMIC_RELEASE);
	for (uint32_t i = 1; i < arena_cnt; i++) {
		if (arenas[i].waits)
			munmap((void *)(uintptr_t)arenas[i].waits, DEVICE_WAIT_TABLE_BYTES);
		munmap(arenas[i].base, arenas[i].control->bytes);
	}
	process.mapped_bytes = 0;
}

bool process_leave(enum apart why, bool unmap)
{
	if (!process.apart && process.arena->base)
		count_apart(process.arena->control, why);
	process.apart = why;
	thread_leave_recording();
	if (!unmap || !process.mapped_bytes)
		return true;
	if (!has_one_thread() || !permitted(PERMIT_MUNMAP) || !units_switch(false))
		return false;
	__atomic_store_n(&vprof_door.attached, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&process.invitation, &vprof_door.invited, __ATOMIC_RELEASE);
	unmap_all();
	__atomic_store_n(&attach_state, ATTACH_FAILED, __ATOMIC_RELEASE);
	return true;
}

bool process_is_alone(void)
{
	return __atomic_load_n(&attach_state, __ATOMIC_ACQUIRE) == ATTACH_FAILED;
}

/* The thread that ends the program was alive until now. */
static void __attribute__((destructor(101))) note_end(void)
{
	/* The copy that record preloads is mostly never called; then it makes no system call. */
	if (!process.arena->base || !vprof_self.gate || !thread_is_here() || !thread_self.slot)
		return;
	flow_stamp_all_ends();
	thread_log_account();
	THREAD_LOG(EVENT_STOP, clock_ticks(), 0, 0);
}

void vprof_register(struct vprof_site *sites, struct vprof_site *end, const char *note)
{
	while (!process_attach() && !process_is_alone())
		permit_yield();
	libraries_look();
	units_add(sites, (unsigned int)(end - sites), note);
}

/* The arena has copies of the names, and open frames hold numbers only, so nothing refers to the unit once
 * its probes are off. */
void vprof_unregister(struct vprof_site *sites, struct vprof_site *end)
{
	units_remove(sites, (unsigned int)(end - sites));
}
