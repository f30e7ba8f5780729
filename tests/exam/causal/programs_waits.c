/* SPDX-License-Identifier: GPL-3.0-or-later */
/* programs_waits.c - programs of make exam-causal whose threads wait for locks, disks and requests. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <vprof.h>
#include "programs.h"

enum { PAGE = 4096, READS = 20, FAULTS = 60, WRITES = 4, FILE_PAGES = 4096, RATE = 900, SLOTS = 4096 };

static pthread_barrier_t gate;
static pthread_mutex_t *lock;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

/* ---- a lock: 1 ms asleep with it, 0.6 ms computing without ---- */

NOINLINE void hold(void)
{
	sleep_us(left(1000));
}

static void *run_holder(void *arg)
{
	for (long i = (long)(intptr_t)arg;; i += 1000) {
		VPROF_BEGIN("item", i);
		pthread_mutex_lock(lock);
		hold();
		pthread_mutex_unlock(lock);
		work(600);
		VPROF_END("item", i);
	}
	return arg;
}

static void make_lock(void)
{
	pthread_mutexattr_t shared;

	lock = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(lock, &shared);
}

static void holders(int cnt)
{
	make_lock();
	for (int i = 2; i <= cnt; i++)
		part(run_holder, (void *)(intptr_t)i);
	run_holder((void *)(intptr_t)1);
}

void two_holders(void)
{
	holders(2);
}

void three_holders(void)
{
	holders(3);
}

/* A lock of two processes. */
void shared_lock(void)
{
	make_lock();
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_holder((void *)(intptr_t)2);
	}
	run_holder((void *)(intptr_t)1);
}

/* ---- a disk beside 1.5 ms of computing ---- */

static int file = -1;
static char *buffer, *pages;

static void open_file(int flags)
{
	const char *name = "exam.data";

	file = open(name, O_RDWR | O_CREAT | flags, 0600);
	if (file < 0 || posix_memalign((void **)&buffer, PAGE, PAGE) || posix_fallocate(file, 0, (off_t)FILE_PAGES * PAGE)) {
		perror(name);
		exit(77);
	}
	unlink(name);
	memset(buffer, 7, PAGE);
	for (int i = 0; i < FILE_PAGES; i++)
		if (pwrite(file, buffer, PAGE, (off_t)i * PAGE) != PAGE)
			exit(77);
	fsync(file);
}

NOINLINE void read_blocks(void)
{
	static unsigned int at;

	for (long i = 0; i < left(READS); i++) {
		at = at * 1664525 + 1013904223;
		if (pread(file, buffer, PAGE, (off_t)(at >> 8) % FILE_PAGES * PAGE) != PAGE)
			abort();
	}
}

NOINLINE void write_blocks(void)
{
	static unsigned int at;

	for (long i = 0; i < left(WRITES); i++) {
		at = at * 1664525 + 1013904223;
		if (pwrite(file, buffer, PAGE, (off_t)(at >> 8) % FILE_PAGES * PAGE) != PAGE || fdatasync(file))
			abort();
	}
}

/* By page faults: no wrapper sees them. */
NOINLINE void touch_pages(void)
{
	static unsigned int at;
	static volatile char sink;

	for (long i = 0; i < left(FAULTS); i++) {
		at = at * 1664525 + 1013904223;
		sink = pages[(size_t)((at >> 8) % FILE_PAGES) * PAGE];
	}
	(void)sink;
	madvise(pages, (size_t)FILE_PAGES * PAGE, MADV_DONTNEED);
	posix_fadvise(file, 0, (off_t)FILE_PAGES * PAGE, POSIX_FADV_DONTNEED);
}

static void *run_compute(void *arg)
{
	for (;;) {
		work(1500);
		pthread_barrier_wait(&gate);
	}
	return arg;
}

static void disk_beside(void (*blocks)(void))
{
	pthread_barrier_init(&gate, NULL, 2);
	part(run_compute, NULL);
	for (long i = 1;; i++) {
		VPROF_BEGIN("item", i);
		blocks();
		work(500);
		pthread_barrier_wait(&gate);
		VPROF_END("item", i);
	}
}

void disk_reads(void)
{
	open_file(O_DIRECT);
	disk_beside(read_blocks);
}

void disk_writes(void)
{
	open_file(0);
	disk_beside(write_blocks);
}

void page_faults(void)
{
	open_file(0);
	pages = mmap(NULL, (size_t)FILE_PAGES * PAGE, PROT_READ, MAP_SHARED, file, 0);
	if (pages == MAP_FAILED || madvise(pages, (size_t)FILE_PAGES * PAGE, MADV_RANDOM))
		exit(77);
	disk_beside(touch_pages);
}

/* ---- an open loop: requests come 900 times a second to two workers; one of 25 computes 4 ms in rare() ---- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t has;
	long put, taken;
} queue = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };

NOINLINE void rare(void)
{
	work(left(4000));
}

NOINLINE void commit(void)
{
	pthread_mutex_lock(lock);
	sleep_us(300);
	pthread_mutex_unlock(lock);
}

static void *run_worker(void *arg)
{
	for (;;) {
		long number;

		pthread_mutex_lock(&queue.lock);
		while (queue.put == queue.taken)
			pthread_cond_wait(&queue.has, &queue.lock);
		number = ++queue.taken;
		pthread_mutex_unlock(&queue.lock);
		work(250);
		if (number * 2654435761u % 25 == 0)
			rare();
		commit();
		VPROF_END("item", number);
	}
	return arg;
}

/* Sleeps from one request to the next, not until a time: the process' clocks go on in real time. */
static void for_length(void)
{
	sleep_us(1000000 / RATE - 60);		/* a sleep ends late */
}

/* By its clock, which must be virtual. */
static void until_next(void)
{
	static struct timespec next;

	if (!next.tv_sec)
		clock_gettime(CLOCK_MONOTONIC, &next);
	next.tv_nsec += 1000000000 / RATE;
	next.tv_sec += next.tv_nsec / 1000000000;
	next.tv_nsec %= 1000000000;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL))
		;
}

static void requests(void (*await_next)(void))
{
	make_lock();
	for (int i = 0; i < 2; i++)
		part(run_worker, NULL);
	for (long i = 1;; i++) {
		await_next();
		VPROF_BEGIN("item", i);
		pthread_mutex_lock(&queue.lock);
		if (queue.put - queue.taken < SLOTS)
			queue.put = i;
		pthread_cond_signal(&queue.has);
		pthread_mutex_unlock(&queue.lock);
	}
}

void open_loop(void)
{
	requests(for_length);
}

void open_loop_by_clock(void)
{
	requests(until_next);
}

/* ---- two readers and a writer ---- */

NOINLINE void write_hold(void)
{
	sleep_us(left(1500));
}

static void *run_writer(void *arg)
{
	for (;;) {
		pthread_rwlock_wrlock(&rwlock);
		write_hold();
		pthread_rwlock_unlock(&rwlock);
		sleep_us(300);
	}
	return arg;
}

static void *run_reader(void *arg)
{
	for (long i = (long)(intptr_t)arg;; i += 1000) {
		VPROF_BEGIN("item", i);
		pthread_rwlock_rdlock(&rwlock);
		work(200);
		pthread_rwlock_unlock(&rwlock);
		VPROF_END("item", i);
		sleep_us(400);
	}
	return arg;
}

void readers(void)
{
	pthread_rwlockattr_t fair;

	pthread_rwlockattr_init(&fair);
	pthread_rwlockattr_setkind_np(&fair, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&rwlock, &fair);
	part(run_writer, NULL);
	part(run_reader, (void *)2);
	run_reader((void *)1);
}
