/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jit_names.c - reads perf-PID.map and jitdump; what was written last at an address holds.
 */
#include "recorder/stacks/jit_names.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/search.h"
#include "base/str.h"

#define BYTES_MAX (256ULL << 20)
#define DUMP_MAGIC 0x4a695444U
enum { CODES_MAX = 1000000, RECORDS_MAX = 2 * CODES_MAX, NAME_MAX_BYTES = 512, DUMP_LOAD = 0, DUMP_MOVE = 1 };

struct code {
	uint64_t start, end;
	int line;			/* 0: not known */
	const char *name, *file;	/* file NULL: not known */
};

struct jit_names {
	struct arena *arena;
	VEC(struct code) codes;		/* in order of appearance; after settle() by start, and apart */
};

/* ---- names ---- */

/* V8: what a function is, and how well it was compiled: one function still. */
static const char *after_v8(const char *name)
{
	static const char *const kinds[] = { "LazyCompile:", "Function:", "JS:" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (starts_with(name, kinds[i])) {
			name += strlen(kinds[i]);
			return name + strspn(name, "*~^+");
		}
	return NULL;
}

/* "handle /srv/app.js:12:3" */
static void split_v8(struct jit_names *n, struct code *c, const char *name)
{
	const char *space = strrchr(name, ' '), *slash, *colon;
	size_t len = space ? (size_t)(space - name) : strlen(name);
	int line = 0;

	c->name = len ? arena_strndup(n->arena, name, len) : "(anonymous)";
	if (!space)
		return;
	slash = strrchr(space, '/');
	slash = slash ? slash : space;
	colon = strchr(slash, ':');
	if (!colon || sscanf(colon, ":%d", &line) != 1 || line <= 0 || colon == slash + 1)
		return;
	c->line = line;
	c->file = arena_strndup(n->arena, slash + 1, (size_t)(colon - slash - 1));
}

/* Nothing in a name may act on a terminal. */
static void add_code(struct jit_names *n, uint64_t start, uint64_t bytes, const char *text, size_t len)
{
	struct code c = { .start = start, .end = start + bytes };
	char name[NAME_MAX_BYTES];
	const char *v8;

	if (!bytes || c.end < start || !len || n->codes.cnt == CODES_MAX)
		return;
	len = len < sizeof(name) ? len : sizeof(name) - 1;
	for (size_t i = 0; i < len; i++)
		name[i] = text[i] < ' ' || text[i] > '~' ? '?' : text[i];
	name[len] = '\0';
	v8 = after_v8(name);
	if (v8)
		split_v8(n, &c, v8);
	else
		c.name = arena_strndup(n->arena, name, len);
	VEC_ADD(&n->codes, c);
}

/* ---- files ---- */

static FILE *open_trusted(const char *path, uid_t owner)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	FILE *f;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != geteuid() && st.st_uid != owner) ||
	    !(f = fdopen(fd, "re"))) {
		close(fd);
		return NULL;
	}
	return f;
}

/* "7f10a0 80 name"; the last line may be half written. */
static void read_map(struct jit_names *n, const char *path, uid_t owner)
{
	FILE *f = open_trusted(path, owner);
	char line[NAME_MAX_BYTES + 64];
	uint64_t bytes = 0;
	bool is_rest = false;

	while (f && bytes < BYTES_MAX && n->codes.cnt < CODES_MAX && fgets(line, sizeof(line), f)) {
		size_t len = strcspn(line, "\n");
		bool is_line = !is_rest, ends = line[len] == '\n';
		uint64_t start, size;
		int at = 0;

		bytes += strlen(line);
		is_rest = !ends;
		line[len] = '\0';
		if (is_line && (ends || len + 1 == sizeof(line)) &&
		    sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &start, &size, &at) == 2 && at)
			add_code(n, start, size, line + at, strlen(line + at));
	}
	if (f)
		fclose(f);
}

struct dump_head {
	uint32_t magic, version, total_size, machine, unused, pid;
	uint64_t ns, flags;
};

struct dump_record {
	uint32_t id, total_size;
	uint64_t ns;
};

struct dump_load {
	uint32_t pid, tid;
	uint64_t vma, address, bytes, index;
};

struct dump_move {
	uint32_t pid, tid;
	uint64_t vma, from, address, bytes, index;
};

static void take_move(struct jit_names *n, const struct map *latest, const struct dump_move *m)
{
	struct code c;
	uint64_t index;

	if (!map_get(latest, m->from, &index))
		return;
	c = n->codes.items[index];
	c.start = m->address;
	c.end = m->address + m->bytes;
	if (c.end > c.start && n->codes.cnt < CODES_MAX)
		VEC_ADD(&n->codes, c);
}

/* False: the file ends, or makes no sense from here on. */
static bool read_record(struct jit_names *n, struct map *latest, FILE *f, long *at)
{
	size_t before = n->codes.cnt;
	struct dump_record r;
	struct dump_load load;
	struct dump_move move;
	char name[NAME_MAX_BYTES];

	if (fseek(f, *at, SEEK_SET) || fread(&r, sizeof(r), 1, f) != 1 || r.total_size < sizeof(r))
		return false;
	if (r.id == DUMP_LOAD && r.total_size > sizeof(r) + sizeof(load)) {
		size_t most = r.total_size - sizeof(r) - sizeof(load);

		if (fread(&load, sizeof(load), 1, f) != 1)
			return false;
		most = fread(name, 1, most < sizeof(name) ? most : sizeof(name), f);
		add_code(n, load.address, load.bytes, name, strnlen(name, most));
	} else if (r.id == DUMP_MOVE && r.total_size >= sizeof(r) + sizeof(move)) {
		if (fread(&move, sizeof(move), 1, f) != 1)
			return false;
		take_move(n, latest, &move);
	}
	if (n->codes.cnt > before)
		map_set(latest, n->codes.items[before].start, before);
	*at += (long)r.total_size;
	return (uint64_t)*at < BYTES_MAX && n->codes.cnt < CODES_MAX;
}

static void read_dump(struct jit_names *n, const char *path, uid_t owner)
{
	FILE *f = open_trusted(path, owner);
	struct map *latest = map_new();		/* address -> index of what was written there last */
	struct dump_head head;
	size_t records = 0;
	long at;

	if (f && fread(&head, sizeof(head), 1, f) == 1 && head.magic == DUMP_MAGIC && head.total_size >= sizeof(head))
		for (at = (long)head.total_size; records < RECORDS_MAX && read_record(n, latest, f, &at); records++)
			;
	if (f)
		fclose(f);
	map_free(latest);
}

/* ---- which holds ---- */

static int by_start(const void *a, const void *b)
{
	const struct code *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The first cell from `cell` on that nothing was painted over; short cuts are left on the way. */
static size_t next_free(size_t *next, size_t cell)
{
	while (next[cell] != cell) {
		next[cell] = next[next[cell]];
		cell = next[cell];
	}
	return cell;
}

/* Paints the cells; true: nothing was there. */
static bool paint(size_t *next, size_t from, size_t until)
{
	size_t cnt = 0;

	for (size_t cell = next_free(next, from); cell < until; cell = next_free(next, cell)) {
		next[cell] = cell + 1;
		cnt++;
	}
	return cnt == until - from;
}

/* Memory is used again for other functions: what something later was written over is gone.  So the latest come first, and
 * each paints its addresses, in cells between all places where code begins or ends. */
static void settle(struct jit_names *n)
{
	size_t cnt = n->codes.cnt, kept = 0;
	uint64_t *edges = xcalloc(2 * cnt + 1, sizeof(*edges));
	size_t *next = xcalloc(2 * cnt + 1, sizeof(*next));

	for (size_t i = 0; i < cnt; i++) {
		edges[2 * i] = n->codes.items[i].start;
		edges[2 * i + 1] = n->codes.items[i].end;
	}
	qsort(edges, 2 * cnt, sizeof(*edges), by_address);
	for (size_t i = 0; i < 2 * cnt + 1; i++)
		next[i] = i;
	for (size_t i = cnt; i-- > 0; ) {
		struct code *c = &n->codes.items[i];
		size_t from = partition_point(j, 2 * cnt, edges[j] < c->start), until = partition_point(j, 2 * cnt, edges[j] < c->end);

		if (!paint(next, from, until))
			c->name = NULL;
	}
	for (size_t i = 0; i < cnt; i++)
		if (n->codes.items[i].name)
			n->codes.items[kept++] = n->codes.items[i];
	n->codes.cnt = kept;
	if (kept > 1)
		qsort(n->codes.items, kept, sizeof(*n->codes.items), by_start);
	free(edges);
	free(next);
}

static struct jit_names *end_reading(struct jit_names *n)
{
	settle(n);
	if (n->codes.cnt)
		return n;
	jit_names_free(n);
	return NULL;
}

static struct jit_names *names_new_jit(void)
{
	struct jit_names *n = xcalloc(1, sizeof(*n));

	n->arena = arena_new();
	return n;
}

struct jit_names *jit_names_read_files(const char *map, const char *dump, unsigned int owner)
{
	struct jit_names *n = names_new_jit();

	if (map)
		read_map(n, map, owner);
	if (dump)
		read_dump(n, dump, owner);
	return end_reading(n);
}

static uid_t owner_of(uint32_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	return stat(path, &st) == 0 ? st.st_uid : geteuid();
}

/* In its own mount namespace while it lives; else here. */
static void map_path(char ret[128], uint32_t pid)
{
	snprintf(ret, 128, "/proc/%" PRIu32 "/root/tmp/perf-%" PRIu32 ".map", pid, pid);
	if (access(ret, R_OK) < 0)
		snprintf(ret, 128, "/tmp/perf-%" PRIu32 ".map", pid);
}

struct jit_names *jit_names_read(uint32_t pid, const char *dump)
{
	char map[128], there[4200];

	map_path(map, pid);
	if (dump)
		snprintf(there, sizeof(there), "/proc/%" PRIu32 "/root%s", pid, dump);
	if (dump && access(there, R_OK) < 0)
		snprintf(there, sizeof(there), "%s", dump);
	return jit_names_read_files(map, dump ? there : NULL, owner_of(pid));
}

bool jit_names_exist(uint32_t pid)
{
	char map[128];
	FILE *f;

	map_path(map, pid);
	f = open_trusted(map, owner_of(pid));
	if (f)
		fclose(f);
	return f != NULL;
}

void jit_names_free(struct jit_names *n)
{
	if (!n)
		return;
	VEC_RELEASE(&n->codes);
	arena_free(n->arena);
	free(n);
}

const char *jit_names_find(const struct jit_names *n, uint64_t address, const char **ret_file, int *ret_line)
{
	size_t after = partition_point(i, n->codes.cnt, n->codes.items[i].start <= address);
	const struct code *c = after ? &n->codes.items[after - 1] : NULL;

	if (!c || address >= c->end)
		return NULL;
	*ret_file = c->file;
	*ret_line = c->line;
	return c->name;
}
