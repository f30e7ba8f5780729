/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_part.c - stores once what the units of a build have in common.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "base/pack.h"
#include "instrumenter/scan/scan_part.h"

#define FOLDER "parts"
#define LOCK_FILE "lock"
#define PART_BYTES_MAX (256u << 20)	/* unpacked */

/* --- the folder ------------------------------------------------------------------------------- */

static char *folder_path(const char *build_dir)
{
	return path_join(build_dir, FOLDER);
}

static char *part_path(const char *build_dir, uint64_t hash)
{
	return xasprintf("%s/" FOLDER "/%016llx", build_dir, (unsigned long long)hash);
}

static int open_lock(const char *build_dir, int flags)
{
	_cleanup_(freep) char *path = xasprintf("%s/" FOLDER "/" LOCK_FILE, build_dir);

	return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0600);
}

int parts_lock(const char *build_dir, bool writes)
{
	_cleanup_(freep) char *folder = folder_path(build_dir);
	int fd;

	if (writes)
		make_dirs(folder, 0700);
	fd = open_lock(build_dir, writes ? O_CREAT : 0);
	while (fd >= 0 && flock(fd, LOCK_SH) < 0 && errno == EINTR)
		;
	return fd;
}

void parts_unlock(int lock)
{
	closep(&lock);
}

/* --- one part --------------------------------------------------------------------------------- */

void scan_part_drop(struct scan_part *p)
{
	if (--p->users)
		return;
	scan_contents_release(&p->contents);
	arena_free(p->arena);
	free(p);
}

int part_write(const char *build_dir, const json_t *group, uint64_t *ret_hash)
{
	_cleanup_(freep) char *text = json_dumps(group, JSON_COMPACT), *path = NULL;
	_cleanup_(str_release) struct str packed = STR_INIT;
	int r;

	if (!text)
		return -ENOMEM;
	*ret_hash = hash_str(0, text);
	path = part_path(build_dir, *ret_hash);
	if (file_exists(path))
		return 0;
	r = pack(text, strlen(text), &packed);
	return r < 0 ? r : file_write(path, packed.data, packed.len, 0600);
}

bool parts_are_there(const char *build_dir, const scan_part_names *names)
{
	for (size_t i = 0; i < names->cnt; i++) {
		_cleanup_(freep) char *path = part_path(build_dir, names->items[i].hash);

		if (!file_exists(path))
			return false;
	}
	return true;
}

/* NULL: the file is missing, or does not have the hash that its name says. */
static json_t *read_text(const char *build_dir, uint64_t hash)
{
	_cleanup_(freep) char *path = part_path(build_dir, hash), *packed = NULL, *text = NULL;
	size_t packed_len, len;

	if (file_read(path, &packed, &packed_len) < 0 || unpack(packed, packed_len, PART_BYTES_MAX, &text, &len) < 0 ||
	    hash_bytes(0, text, len) != hash)
		return NULL;
	return json_loadb(text, len, 0, NULL);
}

static struct scan_part *part_load(const char *build_dir, uint64_t hash)
{
	json_t *o = read_text(build_dir, hash);
	struct reading r = { .arena = arena_new() };
	struct scan_part *p = xcalloc(1, sizeof(*p));

	p->arena = r.arena;
	p->users = 1;
	if (o)
		get_group(&r, o, &p->contents);
	json_decref(o);
	if (o && !r.bad)
		return p;
	scan_part_drop(p);
	return NULL;
}

void part_mend(const char *build_dir, uint64_t hash)
{
	_cleanup_(freep) char *path = part_path(build_dir, hash);
	struct scan_part *p = part_load(build_dir, hash);

	if (p)
		scan_part_drop(p);
	else
		unlink(path);
}

/* --- those of many units ------------------------------------------------------------------------ */

struct part_reading {
	char *build_dir;
	struct map *numbers;		/* by hash: index in parts, plus one */
	VEC(struct scan_part *) parts;	/* NULL: not there */
};

struct part_reading *part_reading_new(const char *build_dir)
{
	struct part_reading *r = xcalloc(1, sizeof(*r));

	r->build_dir = xstrdup(build_dir);
	r->numbers = map_new();
	return r;
}

void part_reading_free(struct part_reading *r)
{
	for (size_t i = 0; i < r->parts.cnt; i++)
		if (r->parts.items[i])
			scan_part_drop(r->parts.items[i]);
	VEC_RELEASE(&r->parts);
	map_free(r->numbers);
	free(r->build_dir);
	free(r);
}

struct scan_part *part_read(struct part_reading *r, uint64_t hash)
{
	uint64_t *number = map_slot(r->numbers, hash);
	struct scan_part *p;

	if (!*number) {
		VEC_ADD(&r->parts, part_load(r->build_dir, hash));
		*number = r->parts.cnt;
	}
	p = r->parts.items[*number - 1];
	if (p)
		p->users++;
	return p;
}

/* --- parts without a reference ---------------------------------------------------------------------- */

static bool is_record(const char *name)
{
	return ends_with(name, ".scan");
}

/* False: a record cannot be read, so the parts that it names are unknown. */
static bool note_names(const char *path, struct map *named)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	_cleanup_(scan_head_release) struct scan_head head = { .len = 0 };
	_cleanup_(freep) char *text = NULL;
	size_t len;

	if (file_read(path, &text, &len) < 0 || scan_head_read(text, len, arena, &head))
		return false;
	for (size_t i = 0; i < head.parts.cnt; i++)
		map_set(named, head.parts.items[i].hash, 1);
	return true;
}

static bool note_all_names(const char *build_dir, struct map *named)
{
	DIR *d = opendir(build_dir);
	struct dirent *entry;
	bool all = d != NULL;

	while (all && (entry = readdir(d))) {
		_cleanup_(freep) char *path = path_join(build_dir, entry->d_name);

		all = !is_record(entry->d_name) || note_names(path, named);
	}
	if (d)
		closedir(d);
	return all;
}

/* Whether named has the hash of a file in the folder; also of a killed writer's rest: "HASH.tmp-..." */
static bool is_named(const char *name, const struct map *named)
{
	uint64_t there;
	char *end;
	unsigned long long hash = strtoull(name, &end, 16);

	return *name == '.' || strcmp(name, LOCK_FILE) == 0 || (!*end && map_get(named, hash, &there));
}

/* Visits the files of the folder that are not named; remove: deletes them.  Returns their number. */
static size_t look_for_rest(const char *build_dir, const struct map *named, bool remove)
{
	_cleanup_(freep) char *folder = folder_path(build_dir);
	DIR *d = opendir(folder);
	struct dirent *entry;
	size_t cnt = 0;

	while (d && (entry = readdir(d))) {
		if (is_named(entry->d_name, named))
			continue;
		cnt++;
		if (remove)
			unlinkat(dirfd(d), entry->d_name, 0);
	}
	if (d)
		closedir(d);
	return cnt;
}

void parts_sweep(const char *build_dir, const units *used)
{
	_cleanup_(map_freep) struct map *named = map_new();
	_cleanup_(closep) int lock = -1;

	for (size_t i = 0; i < used->cnt; i++)
		for (size_t k = 0; k < used->items[i]->part_names.cnt; k++)
			map_set(named, used->items[i]->part_names.items[k], 1);
	if (!look_for_rest(build_dir, named, false))
		return;
	lock = open_lock(build_dir, O_CREAT);
	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0)
		return;
	if (note_all_names(build_dir, named))
		look_for_rest(build_dir, named, true);
}
