/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * uring.c - writes a file and has io_uring bring it to the disk: a worker that the kernel has made in this process waits for the
 * disk, no clone() made it, and a thread that wants the file there waits for the worker.
 *
 *	uring ROUNDS FILE >writer.txt
 *
 * A line: the number of the thread that writes, and when it begins to (TID NS).  Exit 77 where io_uring is not permitted.
 *
 * FILE is made on the disk.  Another thread lives until the end, and calls itself "lasting" once SIGUSR1 has come.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "must.h"

enum { BLOCK = 65536, BLOCK_CNT = 16 };

struct ring {
	int fd;
	struct io_uring_params params;
	char *rings;
	struct io_uring_sqe *entries;
};

static void open_ring(struct ring *r)
{
	size_t bytes;

	memset(r, 0, sizeof(*r));
	r->fd = (int)syscall(SYS_io_uring_setup, 4, &r->params);
	if (r->fd < 0 && (errno == ENOSYS || errno == EPERM))
		exit(77);
	must(r->fd >= 0 && r->params.features & IORING_FEAT_SINGLE_MMAP, "io_uring_setup");
	bytes = r->params.cq_off.cqes + r->params.cq_entries * sizeof(struct io_uring_cqe);
	r->rings = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQ_RING);
	r->entries = mmap(NULL, r->params.sq_entries * sizeof(*r->entries), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQES);
	must(r->rings != MAP_FAILED && r->entries != MAP_FAILED, "mmap");
}

static unsigned int *word(struct ring *r, unsigned int offset)
{
	return (unsigned int *)(r->rings + offset);
}

static void sync_file(struct ring *r, int file)
{
	unsigned int tail = *word(r, r->params.sq_off.tail), at = tail & *word(r, r->params.sq_off.ring_mask);
	unsigned int head = *word(r, r->params.cq_off.head);
	struct io_uring_cqe *all = (struct io_uring_cqe *)(r->rings + r->params.cq_off.cqes);
	const struct io_uring_cqe *done = &all[head & *word(r, r->params.cq_off.ring_mask)];

	r->entries[at] = (struct io_uring_sqe){
		.opcode = IORING_OP_FSYNC, .fsync_flags = IORING_FSYNC_DATASYNC, .fd = file,
	};
	word(r, r->params.sq_off.array)[at] = at;
	__atomic_store_n(word(r, r->params.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
	must(syscall(SYS_io_uring_enter, r->fd, 1, 0, 0, NULL, 0) == 1, "io_uring_enter");
	while (__atomic_load_n(word(r, r->params.cq_off.tail), __ATOMIC_ACQUIRE) == head)
		must(syscall(SYS_io_uring_enter, r->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 0 || errno == EINTR,
		     "io_uring_enter");
	errno = -done->res;
	must(done->res == 0, "fsync");
	__atomic_store_n(word(r, r->params.cq_off.head), head + 1, __ATOMIC_RELEASE);
}

static atomic_bool is_told;

static void tell(int signal)
{
	(void)signal;
	is_told = true;
}

static void *last(void *nothing)
{
	while (!is_told)
		usleep(10000);
	pthread_setname_np(pthread_self(), "lasting");
	pause();
	return nothing;
}

int main(int argc, char **argv)
{
	static char buffer[BLOCK];
	int rounds = argc > 2 ? atoi(argv[1]) : 0, file;
	pthread_t thread;
	struct ring ring;

	must(rounds > 0, "usage: uring ROUNDS FILE");
	open_ring(&ring);
	signal(SIGUSR1, tell);
	must((errno = pthread_create(&thread, NULL, last, NULL)) == 0, "pthread_create");
	file = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
	must(file >= 0, argv[2]);
	printf("%d %lld\n", (int)getpid(), (long long)now_ns());
	fflush(stdout);
	for (int i = 0; i < rounds; i++) {
		must(pwrite(file, buffer, BLOCK, (off_t)(i % BLOCK_CNT) * BLOCK) == BLOCK, "pwrite");
		sync_file(&ring, file);
	}
	return 0;
}
