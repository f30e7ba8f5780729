/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping.c - a table of this process' shared mappings, without locks, and the wrappers that fill it.
 *
 * A mapping is [start, end) and the number of its first byte: a hash of the file (device and inode, or the
 * System V segment) plus the offset; for anonymous memory, which only forked processes share, a number that
 * no other mapping has.
 *
 *	mmap(0, 8192, ..., MAP_SHARED, fd of inode 77, 4096) = 0x7f10000:
 *	[0x7f10000, 0x7f12000) hash(77) + 4096;  the byte at 0x7f10040 is hash(77) + 4096 + 0x40
 *
 * An entry's version is odd while it is written, and is read before and after the rest.  An entry is removed
 * before its memory is unmapped: a moment later another thread may map something else there.  Read-only
 * mappings hold no locks and are left out, as are mappings that find the table full.
 *
 * These wrappers are among the aliases (wrappers.h): only the loader's slots lead to them.
 */
#include <errno.h>
#include <sys/stat.h>
#include "runtime/waits/mapping.h"
#include "runtime/rules/permit.h"
#include "runtime/wrappers/real.h"
#include "runtime/thread.h"
#include "runtime/process.h"

enum { MAPPINGS = 512, PAGE = 4096, MAP_KIND = 0x0f };

#define SEM_DIRECTORY "/dev/shm/sem."

struct mapping {
	uint64_t version;
	uint64_t start, end;		/* both 0: free */
	uint64_t first;			/* number of the byte at start */
};

static struct mapping mappings[MAPPINGS];
static unsigned int mapping_cnt;	/* entries after this were never used */

#define GET(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define PUT(p, value) __atomic_store_n(p, value, __ATOMIC_RELEASE)

/* false: another thread is writing it. */
static bool claim(struct mapping *m, uint64_t *ret_version)
{
	*ret_version = GET(&m->version);
	return !(*ret_version & 1) &&
	       __atomic_compare_exchange_n(&m->version, ret_version, *ret_version + 1, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void change(struct mapping *m, uint64_t version, uint64_t start, uint64_t end, uint64_t first)
{
	PUT(&m->start, start);
	PUT(&m->end, end);
	PUT(&m->first, first);
	PUT(&m->version, version + 2);
}

/* false: it is being written. */
static bool look(const struct mapping *m, struct mapping *ret)
{
	ret->version = GET(&m->version);
	ret->start = GET(&m->start);
	ret->end = GET(&m->end);
	ret->first = GET(&m->first);
	return !(ret->version & 1) && GET(&m->version) == ret->version;
}

uint64_t mapping_name(uint64_t address)
{
	unsigned int cnt = GET(&mapping_cnt);
	struct mapping m;

	for (unsigned int i = 0; i < cnt && i < MAPPINGS; i++)
		if (look(&mappings[i], &m) && m.start <= address && address < m.end)
			return arena_hash(m.first + (address - m.start)) | 1ULL << 63;
	return 0;
}

static bool take(struct mapping *m, uint64_t start, uint64_t end, uint64_t first)
{
	uint64_t version;

	if (GET(&m->end) || !claim(m, &version))
		return false;
	if (GET(&m->end)) {		/* another thread took it meanwhile */
		PUT(&m->version, version + 2);
		return false;
	}
	change(m, version, start, end, first);
	return true;
}

static void add(uint64_t start, uint64_t end, uint64_t first)
{
	unsigned int cnt = GET(&mapping_cnt);

	for (unsigned int i = 0; i < cnt && i < MAPPINGS; i++)
		if (take(&mappings[i], start, end, first))
			return;
	cnt = __atomic_fetch_add(&mapping_cnt, 1, __ATOMIC_ACQ_REL);
	if (cnt < MAPPINGS)
		take(&mappings[cnt], start, end, first);
	else
		PUT(&mapping_cnt, MAPPINGS);
}

/* Removing a part from the middle of a mapping leaves two. */
static void cut(struct mapping *m, uint64_t start, uint64_t end)
{
	struct mapping old;
	uint64_t version;

	if (!claim(m, &version))
		return;
	old = *m;
	if (old.start >= end || start >= old.end)
		PUT(&m->version, version + 2);
	else if (old.start < start)
		change(m, version, old.start, start, old.first);
	else if (end < old.end)
		change(m, version, end, old.end, old.first + (end - old.start));
	else
		change(m, version, 0, 0, 0);
	if (old.start < start && end < old.end)
		add(end, old.end, old.first + (end - old.start));
}

static void forget(uint64_t start, uint64_t end)
{
	unsigned int cnt = GET(&mapping_cnt);

	for (unsigned int i = 0; i < cnt && i < MAPPINGS; i++)
		if (GET(&mappings[i].start) < end && start < GET(&mappings[i].end))
			cut(&mappings[i], start, end);
}

static bool is_on(void)
{
	return vprof_self.gate && process.waiters;
}

static uint64_t up_to_page(uint64_t at)
{
	return (at + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

static uint64_t file_number(const struct stat *st)
{
	return arena_hash(st->st_ino ^ arena_hash(st->st_dev + 0x2545f4914f6cdd1dULL));
}

/* Devices are left out: two mappings of one may show different memory. */
static void note(uint64_t at, size_t len, int prot, int flags, int fd, uint64_t offset)
{
	int kind = flags & MAP_KIND, saved_errno = errno;
	struct stat st;

	if (GET(&mapping_cnt))
		forget(at, up_to_page(at + len));
	if ((kind != MAP_SHARED && kind != MAP_SHARED_VALIDATE) || (prot && !(prot & PROT_WRITE)))
		return;
	if (flags & MAP_ANONYMOUS)
		add(at, up_to_page(at + len), arena_hash(at ^ (uint64_t)process.pid << 44) ^ clock_ticks());
	else if (permitted(PERMIT_FSTAT) && !fstat(fd, &st) && S_ISREG(st.st_mode))
		add(at, up_to_page(at + len), file_number(&st) + offset);
	errno = saved_errno;
}

void *vprof_w_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	void *r = real.mmap(at, len, prot, flags, fd, offset);

	if (r != MAP_FAILED && is_on())
		note((uint64_t)r, len, prot, flags, fd, (uint64_t)offset);
	return r;
}

void *vprof_w_mmap64(void *at, size_t len, int prot, int flags, int fd, off64_t offset)
{
	void *r = real.mmap64(at, len, prot, flags, fd, offset);

	if (r != MAP_FAILED && is_on())
		note((uint64_t)r, len, prot, flags, fd, (uint64_t)offset);
	return r;
}

int vprof_w_munmap(void *at, size_t len)
{
	bool fails = (uint64_t)at & (PAGE - 1) || !len;

	if (GET(&mapping_cnt) && !fails)
		forget((uint64_t)at, up_to_page((uint64_t)at + len));
	return real.munmap(at, len);
}

/* The mapping that contains address, or one of length zero. */
static struct mapping find(uint64_t address)
{
	unsigned int cnt = GET(&mapping_cnt);
	struct mapping m;

	for (unsigned int i = 0; i < cnt && i < MAPPINGS; i++)
		if (look(&mappings[i], &m) && m.start <= address && address < m.end)
			return m;
	return (struct mapping){ 0, 0, 0, 0 };
}

void *vprof_w_mremap(void *at, size_t len, size_t new_len, int flags, long to)
{
	uint64_t old = (uint64_t)at, old_end = up_to_page(old + len);
	struct mapping m = find(old);
	void *r;

	if (m.end)
		forget(old, old_end);
	r = real.mremap(at, len, new_len, flags, to);
	if (r != MAP_FAILED && GET(&mapping_cnt))
		forget((uint64_t)r, up_to_page((uint64_t)r + new_len));
	if (!m.end)
		return r;
	if (r == MAP_FAILED)
		add(old, old_end, m.first + (old - m.start));
	else
		add((uint64_t)r, up_to_page((uint64_t)r + new_len), m.first + (old - m.start));
	return r;
}

void *vprof_w_shmat(int id, const void *at, int flags)
{
	void *r = real.shmat(id, at, flags);
	int saved_errno = errno;
	struct shmid_ds info;

	if (r == (void *)-1 || !is_on())
		return r;
	if (permitted(PERMIT_SHMCTL) && !shmctl(id, IPC_STAT, &info)) {
		forget((uint64_t)r, up_to_page((uint64_t)r + info.shm_segsz));
		add((uint64_t)r, up_to_page((uint64_t)r + info.shm_segsz),
		    arena_hash((uint64_t)id + 0x4cf5ad432745937fULL));
	}
	errno = saved_errno;
	return r;
}

int vprof_w_shmdt(const void *at)
{
	struct mapping m = find((uint64_t)at);

	if (m.end && m.start == (uint64_t)at)
		forget(m.start, m.end);
	return real.shmdt(at);
}

/* Where glibc keeps it; the file itself is open inside sem_open() only. */
static bool find_sem_file(const char *name, struct stat *ret)
{
	char path[sizeof(SEM_DIRECTORY) + 256];
	size_t len = 0;

	for (; *name == '/'; name++)
		;
	for (const char *p = SEM_DIRECTORY; *p; p++)
		path[len++] = *p;
	for (; *name && len < sizeof(path) - 1; name++)
		path[len++] = *name;
	path[len] = '\0';
	return !*name && permitted(PERMIT_STAT) && !stat(path, ret) && S_ISREG(ret->st_mode);
}

sem_t *vprof_w_sem_open(const char *name, int flags, long mode, long value)
{
	sem_t *r = real.sem_open(name, flags, mode, value);
	uint64_t page = (uint64_t)r & ~(uint64_t)(PAGE - 1);
	int saved_errno = errno;
	struct stat st;

	if (r == SEM_FAILED || !is_on())
		return r;
	forget(page, page + PAGE);
	if (find_sem_file(name, &st))
		add(page, page + PAGE, file_number(&st));
	errno = saved_errno;
	return r;
}
