/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * faults.c - waits for a disk that no wrapper sees.
 *
 *	faults FILE		each request reads a page of the file by a page fault, in touch()
 *	faults FILE child	... in a process that it forks, while requests only compute
 *	faults			requests only compute
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>
#include <vprof.h>

enum { PAGES = 512, PAGE = 4096 };

static volatile unsigned long sink;
static char *map;
static int fd = -1;

__attribute__((noinline)) void touch(int page)
{
	sink += (unsigned char)map[page * PAGE];
}

__attribute__((noinline)) void compute(void)
{
	for (int i = 0; i < 300000; i++)
		sink++;
}

static int open_file(const char *name)
{
	char block[PAGE];

	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		return 0;
	unlink(name);
	memset(block, 1, sizeof(block));
	for (int i = 0; i < PAGES; i++)
		if (write(fd, block, PAGE) != PAGE)
			return 0;
	map = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	return !fsync(fd) && map != MAP_FAILED && !madvise(map, (size_t)PAGES * PAGE, MADV_RANDOM);
}

/* Out of the page cache, so that the next access reads it. */
static void read_page(long i)
{
	int page = (int)(i % PAGES);

	madvise(map + (long)page * PAGE, PAGE, MADV_DONTNEED);
	posix_fadvise(fd, (off_t)page * PAGE, PAGE, POSIX_FADV_DONTNEED);
	touch(page);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !open_file(argv[1]))
		return 1;
	if (argc > 2 && fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (long i = 1;; i++) {
			read_page(i);
			usleep(100);
		}
	}
	for (long i = 1; i < 1000000000; i++) {
		VPROF_BEGIN("request", i);
		if (argc == 2)
			read_page(i);
		compute();
		VPROF_END("request", i);
	}
	return 0;
}
