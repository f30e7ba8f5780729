/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_mapping.c - names of bytes in shared memory: the same wherever and however they are mapped. */
#include "tests/unit/cmocka_all.h"
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>
#include "runtime/thread.h"
#include "runtime/waits/mapping.h"
#include "runtime/wrappers/real.h"

enum { PAGE = 4096 };

static const int writable = PROT_READ | PROT_WRITE;

static uint64_t name_of(const void *at)
{
	return mapping_name((uint64_t)at);
}

static int new_file(void)
{
	int fd = memfd_create("mapping", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 16 * PAGE), 0);
	return fd;
}

static char *map(int fd, size_t pages, size_t from_page)
{
	char *at = vprof_w_mmap(NULL, pages * PAGE, writable, MAP_SHARED, fd, (off_t)(from_page * PAGE));

	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

static void unmap(char *at, size_t pages)
{
	assert_int_equal(vprof_w_munmap(at, pages * PAGE), 0);
}

static void test_same_file(void **state)
{
	int fd = new_file(), other = new_file();
	char *a = map(fd, 4, 0), *b = map(fd, 2, 1), *c = map(other, 4, 0);

	(void)state;
	assert_true(name_of(a) != 0);
	assert_int_equal(name_of(a + PAGE + 64), name_of(b + 64));
	assert_int_equal(name_of(a + 2 * PAGE + 64), name_of(b + PAGE + 64));
	assert_int_not_equal(name_of(a), name_of(b));
	assert_int_not_equal(name_of(a + 64), name_of(a + 65));
	assert_int_not_equal(name_of(a), name_of(c));
	unmap(a, 4);
	unmap(b, 2);
	assert_int_equal(name_of(a), 0);
	assert_int_equal(name_of(b), 0);
	assert_true(name_of(c) != 0);
	unmap(c, 4);
	close(fd);
	close(other);
}

static void test_what_is_not_shared(void **state)
{
	int fd = new_file();
	char *a = vprof_w_mmap(NULL, PAGE, writable, MAP_PRIVATE, fd, 0);
	char *b = vprof_w_mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	char *c = vprof_w_mmap64(NULL, PAGE, writable, MAP_SHARED, fd, 0);

	(void)state;
	assert_int_equal(name_of(a), 0);
	assert_int_equal(name_of(b), 0);
	assert_true(name_of(c) != 0);
	assert_int_equal(name_of(&fd), 0);
	/* Over it. */
	assert_ptr_equal(vprof_w_mmap(c, PAGE, writable, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), c);
	assert_int_equal(name_of(c), 0);
	unmap(a, 1);
	unmap(b, 1);
	unmap(c, 1);
	close(fd);
}

static void test_a_part_is_unmapped(void **state)
{
	int fd = new_file();
	char *a = map(fd, 8, 0), *all = map(fd, 8, 0);

	(void)state;
	unmap(a, 1);
	unmap(a + 3 * PAGE, 2);
	unmap(a + 7 * PAGE, 1);
	for (size_t page = 0; page < 8; page++)
		assert_int_equal(name_of(a + page * PAGE + 8),
				 page == 0 || page == 3 || page == 4 || page == 7
					 ? 0 : name_of(all + page * PAGE + 8));
	unmap(a, 8);
	for (size_t page = 0; page < 8; page++)
		assert_int_equal(name_of(a + page * PAGE), 0);
	unmap(all, 8);
	close(fd);
}

static void test_moved(void **state)
{
	int fd = new_file();
	char *all = map(fd, 8, 0), *a = map(fd, 2, 3), *place, *b;

	(void)state;
	place = vprof_w_mmap(NULL, 8 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	b = vprof_w_mremap(a, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (long)place);
	assert_ptr_equal(b, place);
	assert_int_equal(name_of(a), 0);
	assert_int_equal(name_of(b + 8), name_of(all + 3 * PAGE + 8));
	assert_int_equal(name_of(b + 3 * PAGE), name_of(all + 6 * PAGE));
	/* It fails: all is as it was. */
	assert_ptr_equal(vprof_w_mremap(b, 4 * PAGE, 4 * PAGE, MREMAP_FIXED, 1), MAP_FAILED);
	assert_int_equal(name_of(b + 8), name_of(all + 3 * PAGE + 8));
	unmap(place, 8);
	unmap(all, 8);
	close(fd);
}

static void test_segments(void **state)
{
	int id = shmget(IPC_PRIVATE, 2 * PAGE, IPC_CREAT | 0600);
	char *a = vprof_w_shmat(id, NULL, 0), *b = vprof_w_shmat(id, NULL, 0);

	(void)state;
	shmctl(id, IPC_RMID, NULL);
	assert_ptr_not_equal(a, b);
	assert_true(name_of(a) != 0);
	assert_int_equal(name_of(a + PAGE + 8), name_of(b + PAGE + 8));
	assert_int_equal(vprof_w_shmdt(a), 0);
	assert_int_equal(name_of(a), 0);
	assert_true(name_of(b) != 0);
	assert_int_equal(vprof_w_shmdt(b), 0);
	assert_int_equal(name_of(b), 0);
}

static void test_nameless(void **state)
{
	char *a = vprof_w_mmap(NULL, PAGE, writable, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t first = name_of(a);

	(void)state;
	assert_true(first != 0);
	unmap(a, 1);
	/* The same place, another mapping. */
	assert_ptr_equal(vprof_w_mmap(a, PAGE, writable, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0), a);
	assert_int_not_equal(name_of(a), first);
	unmap(a, 1);
}

/* More than there is room for: the rest is unknown, and there is room again later. */
static void test_many(void **state)
{
	int fd = new_file();
	char *at[1000];
	int known = 0;

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		at[i] = map(fd, 1, i % 16);
		known += name_of(at[i]) != 0;
		assert_true(!name_of(at[i]) || i < 16 || name_of(at[i]) == name_of(at[i % 16]));
	}
	assert_in_range(known, 500, 512);
	for (size_t i = 0; i < 1000; i++)
		unmap(at[i], 1);
	at[0] = map(fd, 1, 0);
	assert_true(name_of(at[0]) != 0);
	unmap(at[0], 1);
	close(fd);
}

/* Equal offsets in any two pages share a counter; releasers_name() is the address that is waited for. */
static void test_waiters_by_place(void **state)
{
	uint64_t a = releasers_shared(0x7f0000010040), b = releasers_shared(0x7fa000000040);

	(void)state;
	assert_true(releasers_is_unnamed(a));
	assert_ptr_equal(releasers_place(a), releasers_place(b));
	assert_ptr_equal(releasers_place(a), releasers_place(releasers_private(0x7f0000010042)));
	assert_ptr_not_equal(releasers_place(a), releasers_place(releasers_shared(0x7f0000010044)));
	assert_in_range((uintptr_t)releasers_place(~0ULL), (uintptr_t)process.places,
			(uintptr_t)(process.places + ARENA_PLACES - 1));
	assert_int_equal(releasers_name(a), 0x7f0000010040);
	assert_int_equal(releasers_name(a | RELEASERS_OWN), releasers_private(0x7f0000010040));
	assert_int_equal(releasers_shared(7), 7);		/* no address: a number of the user's */
	assert_false(releasers_is_unnamed(releasers_private(0x7f0000010040)));
}

int main(void)
{
	static uint32_t waiters[ARENA_WAITERS], places[ARENA_PLACES];
	static struct arena_map arena;
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_file), cmocka_unit_test(test_what_is_not_shared),
		cmocka_unit_test(test_a_part_is_unmapped), cmocka_unit_test(test_moved),
		cmocka_unit_test(test_segments), cmocka_unit_test(test_nameless),
		cmocka_unit_test(test_many), cmocka_unit_test(test_waiters_by_place),
	};

	arena.base = (char *)waiters;
	arena.waiters = waiters;
	process.arena = &arena;
	process.waiters = waiters;
	process.places = places;
	process.pid = 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
