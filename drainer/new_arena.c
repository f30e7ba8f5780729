/* SPDX-License-Identifier: Apache-2.0 */
/*
 * new_arena.c - makes the arena: a file in /dev/shm, or beside the trace if that is too small.
 *
 * All its pages but for the rest of two large tables are allocated here, at once: a target that touches one cannot find that
 * the disk is full (SIGBUS).  The file is locked while its drainer lives, so that the next one can tell the
 * arena of a killed drainer: 200 MB of memory, with records that recover.c has yet to put into their
 * trace.  It is removed after an hour; sooner where there are many, at once where there is no room for another, not on disk
 * either.
 *
 * Root's commands often start their server as another user (su, setpriv, a service manager), which
 * must be able to open it as well.  So root's arena may be opened by everybody who knows its name,
 * which is random, in a directory that no other user may list; the run's processes get it in
 * their environment, which other users cannot read:
 *
 *	0600 /dev/shm/vprof-aW3xQ1			of an ordinary user
 *	0711 /dev/shm/vprof-Zr8LmT/			of root
 *	0666 /dev/shm/vprof-Zr8LmT/5be1c0a93f7d2e46
 *
 * A program in a container or below another root may not see that directory.  Then the user names one that both see, or the
 * program inherits a descriptor of the file.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/file.h"
#include "base/ours.h"
#include "drainer/drain.h"
#include "runtime/shared/switched.h"

enum {
	ARENA_CHUNK_BYTES = 128 << 20,		/* default */
	CHUNKS_MIN = 4,
	ORPHAN_KEPT_S = 3600,
	ORPHAN_OF_MANY_KEPT_S = 60,
	ORPHANS_MANY = 5,
	INHERITED_FD = 100,			/* or the next free one: out of the range that scripts use */
	LOCK_TRIES = 20,
	LOCK_PAUSE_NS = 5000000,
};

#define SHM "/dev/shm"

static size_t lay_out(struct arena_control *c, const struct drainer_options *o);
static int make_file(struct drainer *d, const struct arena_control *c, const struct drainer_options *o);
static int make_arena_file(struct drainer *d, const struct arena_control *c);
static int make_shared_file(struct drainer *d, const struct arena_control *c);
static int open_map(struct drainer *d, size_t bytes);
static unsigned int remove_orphans(const struct drainer *d, long kept_s);
static void fill_plan(struct drainer *d, const struct drainer_options *o);
static void fill_labels(struct drainer *d, const struct drainer_options *o);
static uint64_t random_seed(void);
static void fill_lists(struct drainer *d);

int drain_make_arena(struct drainer *d, const struct drainer_options *o)
{
	struct arena_control layout = {
		.default_level = o->default_level,
		.as_sampled = o->as_sampled,
		.sample_by_trace = o->sample_by_trace,
		.stranger_cnt = o->stranger_cnt,
		.sample_full = o->budget > 0 ? SAMPLE_FULL : o->sample_full,
		.sample_of = o->budget > 0 ? SAMPLE_OF : o->sample_of,
		.switches_are_told = switched_is_told(),
		.sample_seed = o->sample_seed ? o->sample_seed : random_seed(),
	};
	size_t bytes = lay_out(&layout, o);
	int r;

	layout.bytes = bytes;
	r = make_file(d, &layout, o);
	if (r)
		return r;
	layout.magic = ARENA_MAGIC;
	layout.recording = RECORDING_ON;
	layout.text_used = 8;		/* offset 0 is the empty string */
	memcpy(d->arena.base, &layout, sizeof(layout));
	r = open_map(d, bytes);
	if (r)
		return r;
	fill_plan(d, o);
	fill_labels(d, o);
	fill_lists(d);
	return 0;
}

static int make_in_dir(struct drainer *d, const struct arena_control *c)
{
	snprintf(d->arena_path, sizeof(d->arena_path), "%s/vprof-XXXXXX", d->arena_dir);
	return geteuid() == 0 ? make_shared_file(d, c) : make_arena_file(d, c);
}

static int make_beside(struct drainer *d, const struct arena_control *c, const char *trace_path)
{
	/* Absolute, since the program may change its directory. */
	char *beside = realpath(trace_path, NULL);
	int r = beside ? -ENAMETOOLONG : -errno;

	if (beside && strlen(beside) + 16 <= sizeof(d->arena_path)) {
		snprintf(d->arena_path, sizeof(d->arena_path), "%s.arena-XXXXXX", beside);
		r = make_arena_file(d, c);
	}
	free(beside);
	return r;
}

/* Absolute, since the program may change its directory. */
static int name_dir(struct drainer *d, const char *dir)
{
	char *whole = dir ? realpath(dir, NULL) : strdup(SHM);
	int r = whole ? -ENAMETOOLONG : -errno;

	if (whole && strlen(whole) < sizeof(d->arena_dir)) {
		snprintf(d->arena_dir, sizeof(d->arena_dir), "%s", whole);
		r = 0;
	}
	free(whole);
	return r;
}

/* A second open file, because the drainer's carries the lock. */
static int open_for_heirs(struct drainer *d)
{
	int fd = open(d->arena_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return -errno;
	d->inherited_fd = fcntl(fd, F_DUPFD_CLOEXEC, INHERITED_FD);
	if (d->inherited_fd < 0)
		d->inherited_fd = fd;
	else
		close(fd);
	return 0;
}

static int make_file(struct drainer *d, const struct arena_control *c, const struct drainer_options *o)
{
	int r = name_dir(d, o->arena_dir);

	if (r)
		return r;
	if (remove_orphans(d, ORPHAN_KEPT_S) >= ORPHANS_MANY && remove_orphans(d, ORPHAN_OF_MANY_KEPT_S) >= ORPHANS_MANY)
		remove_orphans(d, 0);
	r = make_in_dir(d, c);
	if (r && !o->arena_dir)
		r = make_beside(d, c, o->trace_path);
	if (r == -ENOSPC || r == -ENOMEM) {	/* other programs may have filled the memory: removes orphans
						 * last, since they hold records */
		remove_orphans(d, 0);
		r = make_in_dir(d, c);
	}
	return r || !o->inherit_arena ? r : open_for_heirs(d);
}

static int open_map(struct drainer *d, size_t bytes)
{
	if (!arena_open_map(&d->arena, d->arena.base, bytes))
		return -EBADMSG;
	d->drained = calloc(d->arena.chunk_cnt + 1, 1);
	return d->drained ? 0 : -ENOMEM;
}

static size_t plan_slots(const struct drainer_options *o)
{
	size_t cnt = 64;

	while (cnt < o->plan_cnt * 2)
		cnt *= 2;
	return cnt;
}

/* Lays the parts out one after the other; returns the size of the whole. */
static size_t lay_out(struct arena_control *c, const struct drainer_options *o)
{
	size_t bytes = o->arena_bytes ? o->arena_bytes : ARENA_CHUNK_BYTES, at = sizeof(*c);

	c->chunk_cnt = (uint32_t)(bytes / VPROF_CHUNK_BYTES);
	if (c->chunk_cnt < CHUNKS_MIN)
		c->chunk_cnt = CHUNKS_MIN;
	c->plan_mask = (uint32_t)plan_slots(o) - 1;
#define PART(name, size)					\
	do {							\
		at = (at + 0x3fff) & ~(size_t)0x3fff;		\
		c->name = at;					\
		at += (size);					\
	} while (0)
	PART(slots, sizeof(struct arena_slot) * ARENA_SLOTS);
	PART(links, sizeof(uint64_t) * ((size_t)c->chunk_cnt + 1));
	PART(releasers, sizeof(struct arena_bucket) * ARENA_BUCKETS);
	PART(waiters, sizeof(uint32_t) * ARENA_WAITERS);
	PART(places, sizeof(uint32_t) * ARENA_PLACES);
	PART(lots, 2 * sizeof(uint64_t) * ARENA_LOTS);
	PART(opened, sizeof(struct arena_opened) * ARENA_OPENED);
	PART(callers, sizeof(struct arena_caller) * ARENA_CALLERS);
	PART(modules, sizeof(struct arena_module) * ARENA_MODULES);
	PART(stamp_maxima, sizeof(arena_maxima) * ARENA_BUCKETS);
	PART(stacks, (size_t)VPROF_STACK_BYTES * ARENA_SLOTS);
	PART(heads, sizeof(uint32_t) * ARENA_HEADS);
	PART(labels, sizeof(struct arena_label) * ARENA_LABELS);
	PART(index, sizeof(uint32_t) * ARENA_INDEX);
	PART(plan, sizeof(struct arena_plan) * ((size_t)c->plan_mask + 1));
	PART(chunks, (size_t)VPROF_CHUNK_BYTES * c->chunk_cnt);
	PART(functions, sizeof(struct arena_function) * ARENA_FUNCTIONS);
	PART(text, ARENA_TEXT_BYTES);
#undef PART
	return at;
}

static int allocate(int fd, uint64_t from, uint64_t bytes)
{
	int r;

	do
		r = -posix_fallocate(fd, (off_t)from, (off_t)bytes);
	while (r == -EINTR);
	return r;
}

/* Tables grow beyond what was allocated at the start.  The process that adds an entry has checked that there
 * is memory for it (arena.c). */
bool drain_has_tables(const struct drainer *d)
{
	const struct arena_control *c = d->arena.control;
	uint64_t function_cnt = c->function_cnt, text_used = c->text_used;

	if (function_cnt >= ARENA_FUNCTIONS)
		function_cnt = ARENA_FUNCTIONS - 1;
	if (text_used > ARENA_TEXT_BYTES)
		text_used = ARENA_TEXT_BYTES;
	return (function_cnt < ARENA_FUNCTIONS_FIRST ||
		!allocate(d->arena_fd, (uint64_t)((char *)d->arena.functions - d->arena.base),
			  sizeof(struct arena_function) * (function_cnt + 1))) &&
	       (text_used <= ARENA_TEXT_FIRST ||
		!allocate(d->arena_fd, (uint64_t)(d->arena.text - d->arena.base), text_used));
}

/* Allocates and maps the new file d->arena_path, which is open as fd; negative: it failed. */
static int allocate_file(struct drainer *d, int fd, const struct arena_control *c)
{
	size_t bytes = c->bytes;
	void *base;
	int r;

	if (fd < 0) {
		r = -errno;
		*d->arena_path = '\0';
		return r;
	}
	flock(fd, LOCK_EX | LOCK_NB);
	r = ftruncate(fd, (off_t)bytes) ? -errno : allocate(fd, 0, c->functions + sizeof(struct arena_function) * ARENA_FUNCTIONS_FIRST);
	if (!r)
		r = allocate(fd, c->text, ARENA_TEXT_FIRST);
	base = r ? MAP_FAILED : arena_map_file(fd, bytes);
	if (!r && base == MAP_FAILED)
		r = -errno;
	if (r) {
		close(fd);
		drain_remove_arena(d);
		return r;
	}
	d->arena_fd = fd;
	d->arena.base = base;
	d->arena_bytes = bytes;
	return 0;
}

/* d->arena_path ends in XXXXXX. */
static int make_arena_file(struct drainer *d, const struct arena_control *c)
{
	return allocate_file(d, mkostemp(d->arena_path, O_CLOEXEC), c);
}

/* The same, as a directory with a file of secret name in it. */
static int make_shared_file(struct drainer *d, const struct arena_control *c)
{
	uint64_t secret;
	size_t len;
	int fd, r;

	if (getrandom(&secret, sizeof(secret), 0) != sizeof(secret) || !mkdtemp(d->arena_path)) {
		r = -errno;
		*d->arena_path = '\0';
		return r;
	}
	len = strlen(d->arena_path);
	chmod(d->arena_path, 0711);
	snprintf(d->arena_path + len, sizeof(d->arena_path) - len, "/%016llx",
		 (unsigned long long)secret);
	fd = open(d->arena_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		fchmod(fd, 0666);	/* whatever the umask */
	return allocate_file(d, fd, c);
}

/* Processes that continue keep the mapping: this returns its memory, except for the chunks that threads hold
 * and may still write. */
static void free_memory(struct drainer *d)
{
	const struct arena_map *a = &d->arena;
	uint32_t first = 1;

	for (uint32_t i = 1; i <= a->chunk_cnt + 1; i++) {
		if (i <= a->chunk_cnt &&
		    __atomic_load_n(&arena_chunk(&d->arena, i)->state, __ATOMIC_ACQUIRE) == CHUNK_FREE)
			continue;
		if (i > first)
			fallocate(d->arena_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				  (off_t)((uint64_t)(a->chunks - a->base) + (uint64_t)(first - 1) * VPROF_CHUNK_BYTES),
				  (off_t)(i - first) * VPROF_CHUNK_BYTES);
		first = i + 1;
	}
	for (uint32_t i = 1; i <= ARENA_SLOTS; i++)
		if (!__atomic_load_n(&d->arena.slots[i].used, __ATOMIC_ACQUIRE))
			fallocate(d->arena_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				  (off_t)((uint64_t)(a->stacks - a->base) + (uint64_t)(i - 1) * VPROF_STACK_BYTES), VPROF_STACK_BYTES);
}

void drain_leave_arena(struct drainer *d)
{
	bool any = false;

	__atomic_store_n(&d->arena.control->recording, RECORDING_GONE, __ATOMIC_RELEASE);
	for (uint32_t i = 1; !any && i <= ARENA_SLOTS; i++)
		any = __atomic_load_n(&d->arena.slots[i].used, __ATOMIC_ACQUIRE);
	if (any)
		free_memory(d);
}

void drain_remove_arena(struct drainer *d)
{
	char *name = strrchr(d->arena_path, '/');
	bool is_shared;

	if (!*d->arena_path)
		return;
	unlink(d->arena_path);
	is_shared = strspn(name + 1, "0123456789abcdef") == 2 * sizeof(uint64_t);
	*name = '\0';
	if (is_shared)
		rmdir(d->arena_path);	/* our own directory; any other was named by the user */
	*d->arena_path = '\0';
}

/* Its drainer touched it once a second. */
static bool is_younger(const struct stat *st, long s)
{
	long age_s = time(NULL) - st->st_mtime;

	return age_s >= 0 && age_s < s;
}

/* A file that is still being made belongs to a drainer, though it may not be locked yet; if its maker was
 * killed, it was never completed.  Only a name of ours says that such a file is an arena at all: of one whose path was given,
 * its first word has to. */
static bool is_arena(int fd, const struct stat *st, bool told)
{
	uint64_t magic = 0;

	if (pread(fd, &magic, sizeof(magic), 0) == sizeof(magic) && magic)
		return magic == ARENA_MAGIC;
	return !told && !is_younger(st, ORPHAN_KEPT_S);
}

/*
 * An arena with a free lock: open, and locked by us.  Root's may be written by every process that knows its name.
 * Root neither touches nor counts another user's.  The owner is checked through the descriptor, since a name in
 * /dev/shm may mean another file by now.  told: a run or a process gave the path; it may belong to the user who ran sudo.
 * Only plain files are opened: a device may act on an open.
 */
static int open_orphan(int dir, const char *name, bool told)
{
	struct stat st;
	int fd, r = 0;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode))
		return -EBADMSG;
	fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !(st.st_uid == geteuid() || (told && user_is_us(st.st_uid))) || !S_ISREG(st.st_mode) ||
	    !is_arena(fd, &st, told))
		r = -EBADMSG;
	else if (flock(fd, LOCK_EX | LOCK_NB))
		r = -EBUSY;
	if (!r)
		return fd;
	close(fd);
	return r;
}

/* Its processes see that it is gone.  True: no process needs it to stay. */
static bool remove_open(int dir, const char *name, int fd)
{
	static const uint32_t gone = RECORDING_GONE;
	bool orphan = pwrite(fd, &gone, sizeof(gone), offsetof(struct arena_control, recording)) == sizeof(gone);

	unlinkat(dir, name, 0);
	close(fd);
	return orphan;
}

/*
 * The arena of a path that was given; *ret_dir is its directory.  The path may be a lie: a process that root records says
 * what it likes.  So nobody else may be able to exchange a name on the way (base/ours.h), and the last one is opened and
 * removed by the directory's descriptor.  A search for orphans (below) holds their locks for a moment.
 */
static int open_told(const char *path, int *ret_dir)
{
	_cleanup_(freep) char *parent = path_dir(path), *why = NULL;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int dir = ours_open(parent, false, &why), fd;

	*ret_dir = dir;
	if (dir < 0)
		return dir;
	fd = open_orphan(dir, name, true);
	for (int i = 0; i < LOCK_TRIES && fd == -EBUSY; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = LOCK_PAUSE_NS }, NULL);
		fd = open_orphan(dir, name, true);
	}
	return fd;
}

int drain_take_over(struct drainer *d, const char *path)
{
	_cleanup_(closep) int dir = -1;
	int fd = open_told(path, &dir);
	struct stat st;
	void *base;

	if (fd < 0)
		return fd;
	d->arena_fd = fd;
	if (fstat(fd, &st) || strlen(path) >= sizeof(d->arena_path))
		return -EBADMSG;
	base = arena_map_file(fd, (size_t)st.st_size);
	if (base == MAP_FAILED)
		return -errno;
	d->arena.base = base;
	d->arena_bytes = (size_t)st.st_size;
	snprintf(d->arena_path, sizeof(d->arena_path), "%s", path);
	return open_map(d, d->arena_bytes);
}

bool drain_give_up(const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_(closep) int dir = -1;
	int fd;

	if (strncmp(path, ARENA_FD, strlen(ARENA_FD)) == 0)
		return false;		/* only its heirs can open it */
	fd = open_told(path, &dir);
	return fd < 0 ? fd == -ENOENT : remove_open(dir, slash ? slash + 1 : path, fd);
}

/* True: it is an orphan that remains. */
static bool remove_if_older(int dir, const char *name, long s)
{
	int fd = open_orphan(dir, name, false);
	struct stat st;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) || !is_younger(&st, s)) {
		remove_open(dir, name, fd);
		return false;
	}
	close(fd);
	return true;
}

/* A directory of root's, with one arena or none.  An empty one may be about to get it. */
static bool remove_in_if_older(int parent, const char *name, long s)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;
	struct stat st;
	bool any = false, stays = false;

	if (dir && (fstat(fd, &st) || st.st_uid != geteuid())) {
		closedir(dir);
		return false;
	}
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while ((e = readdir(dir)))
		if (*e->d_name != '.') {
			any = true;
			stays |= remove_if_older(dirfd(dir), e->d_name, s);
		}
	if (any || (!fstat(dirfd(dir), &st) && !is_younger(&st, ORPHAN_KEPT_S)))
		unlinkat(parent, name, AT_REMOVEDIR);	/* fails unless it is empty by now */
	closedir(dir);
	return stays;
}

/* Removes arenas whose drainers were killed longer ago: their locks are free.  Returns how many others remain. */
static unsigned int remove_orphans(const struct drainer *d, long kept_s)
{
	unsigned int stay_cnt = 0;
	DIR *dir = opendir(d->arena_dir);
	struct dirent *e;
	struct stat st;

	while (dir && (e = readdir(dir))) {
		if (strncmp(e->d_name, "vprof-", 6) || strlen(e->d_name) != 12 ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || st.st_uid != geteuid())
			continue;
		if (S_ISDIR(st.st_mode))
			stay_cnt += remove_in_if_older(dirfd(dir), e->d_name, kept_s);
		else if (S_ISREG(st.st_mode))
			stay_cnt += remove_if_older(dirfd(dir), e->d_name, kept_s);
	}
	if (dir)
		closedir(dir);
	return stay_cnt;
}

static void fill_plan(struct drainer *d, const struct drainer_options *o)
{
	uint32_t mask = d->arena.plan_mask;

	for (size_t i = 0; i < o->plan_cnt; i++) {
		uint64_t at = arena_hash(o->plan[i].key);

		if (!o->plan[i].key)
			continue;
		while (d->arena.plan[at & mask].key &&
		       d->arena.plan[at & mask].key != o->plan[i].key)
			at++;
		d->arena.plan[at & mask].key = o->plan[i].key;
		d->arena.plan[at & mask].level = o->plan[i].level;
	}
}

/* An interval may begin under one mark and be resumed under another: the runtime must know that both
 * mean the same. */
static void fill_labels(struct drainer *d, const struct drainer_options *o)
{
	for (size_t i = 0; i < o->alias_cnt; i++) {
		uint32_t mark = arena_label(&d->arena, o->aliases[i].mark);
		uint32_t interval = arena_label(&d->arena, o->aliases[i].interval);

		if (mark && interval)
			d->arena.labels[mark].interval = interval;
	}
}

static uint64_t random_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), 0) == sizeof(seed))
		return seed;
	return clock_ticks() ^ (uint64_t)getpid() << 32;
}

static void fill_lists(struct drainer *d)
{
	for (uint32_t i = d->arena.chunk_cnt; i > 0; i--)
		arena_give_chunk(&d->arena, i);
	for (uint32_t i = ARENA_SLOTS; i > 0; i--)
		arena_give_slot(&d->arena, i);
}
