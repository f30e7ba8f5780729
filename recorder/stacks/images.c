/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * images.c - address spaces, from perf's records of fork, exec and mmap, and from /proc/PID/maps.
 *
 * perf reports mappings in time; /proc does so only while the process lives, and most processes are gone when the
 * recorder handles their stacks.
 *
 *	fork 7 -> 8	8 has the image of 7
 *	8: exec		8 has a new one, empty, from then on
 *	8: mmap		added to it; were it shared, 8 would get a copy first
 */
#include "recorder/stacks/images.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "recorder/stacks/perf_rings.h"
#include "recorder/stacks/vdso.h"

enum { LOOK_AGAIN_NS = 200000000 };

struct happening {
	uint64_t ns;
	uint32_t order;			/* of appearance */
	uint32_t kind, pid, parent;
	struct mapping mapping;
};

struct stay {				/* the time that a process spent in an image */
	uint64_t from_ns;
	struct image *image;
};

struct process {
	uint32_t pid;
	VEC(struct stay) stays;		/* in order of time */
	uint64_t looked_ns;		/* when /proc was read last; 0: never */
};

struct images {
	struct perf_rings *rings;	/* NULL: only /proc */
	struct arena *arena;		/* of paths */
	struct names *paths;
	struct map *process_of;		/* pid -> index plus one */
	VEC(struct process) processes;
	VEC(struct image *) all;
	VEC(struct happening) pending;
	uint32_t order;
};

struct images *images_new(void)
{
	const struct perf_event_attr kinds = { .task = 1, .comm = 1, .comm_exec = 1, .mmap = 1, .mmap2 = 1 };
	struct images *i = xcalloc(1, sizeof(*i));

	i->arena = arena_new();
	i->paths = names_new();
	i->process_of = map_new();
	if (perf_rings_open(&kinds, &i->rings) < 0)
		i->rings = NULL;
	return i;
}

void images_free(struct images *i)
{
	if (!i)
		return;
	for (size_t k = 0; k < i->processes.cnt; k++)
		VEC_RELEASE(&i->processes.items[k].stays);
	for (size_t k = 0; k < i->all.cnt; k++) {
		VEC_RELEASE(&i->all.items[k]->mappings);
		free(i->all.items[k]);
	}
	VEC_RELEASE(&i->processes);
	VEC_RELEASE(&i->all);
	VEC_RELEASE(&i->pending);
	perf_rings_close(i->rings);
	names_free(i->paths);
	map_free(i->process_of);
	arena_free(i->arena);
	free(i);
}

struct image *images_item(struct images *i, size_t index)
{
	return index < i->all.cnt ? i->all.items[index] : NULL;
}

static struct process *process_of(struct images *i, uint32_t pid)
{
	uint64_t *index = map_slot(i->process_of, pid);

	if (!*index) {
		(void)VEC_EXTEND(&i->processes);
		*index = i->processes.cnt;
		i->processes.items[*index - 1].pid = pid;
	}
	return &i->processes.items[*index - 1];
}

static struct stay *last_stay(struct process *p)
{
	return p->stays.cnt ? &p->stays.items[p->stays.cnt - 1] : NULL;
}

static struct image *new_image(struct images *i, struct process *p, uint64_t from_ns)
{
	struct image *image = xcalloc(1, sizeof(*image));

	image->processes = 1;
	image->pid = p->pid;
	VEC_ADD(&i->all, image);
	VEC_ADD(&p->stays, (struct stay){ from_ns, image });
	return image;
}

static const char *path_of(struct images *i, const char *path)
{
	return names_get(i->paths, names_add(i->paths, path));
}

static bool read_line(uint32_t pid, const char *file, char *ret, size_t size)
{
	char path[64];
	FILE *f;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, file);
	f = fopen(path, "re");
	len = f ? fread(ret, 1, size - 1, f) : 0;
	if (f)
		fclose(f);
	ret[len] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	return *ret;
}

/* redis-server is a link to redis-check-rdb.  A process may change what it is called, so only another name of that file counts. */
static const char *link_in(struct images *i, const char *path, const char *called)
{
	size_t dir = (size_t)(strrchr(path, '/') - path) + 1, len = strcspn(called, " :");
	char link[4096];
	struct stat a, b;

	if (!len || memchr(called, '/', len) || dir + len >= sizeof(link) || (strlen(path + dir) == len && !memcmp(path + dir, called, len)))
		return NULL;
	memcpy(link, path, dir);
	memcpy(link + dir, called, len);
	link[dir + len] = '\0';
	if (stat(path, &a) < 0 || stat(link, &b) < 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino)
		return NULL;
	return path_of(i, link);
}

/* path: of the first code that it mapped. */
static const char *program_link(struct images *i, uint32_t pid, const char *path)
{
	char text[4096], exe[4096];
	const char *slash, *link = NULL;
	ssize_t len;

	snprintf(text, sizeof(text), "/proc/%" PRIu32 "/exe", pid);
	len = readlink(text, exe, sizeof(exe) - 1);
	exe[len > 0 ? len : 0] = '\0';
	if (path[0] != '/' || strcmp(exe, path) != 0)
		return NULL;
	if (read_line(pid, "cmdline", text, sizeof(text))) {
		text[strcspn(text, " ")] = '\0';
		slash = strrchr(text, '/');
		link = link_in(i, path, slash ? slash + 1 : text);
	}
	if (!link && read_line(pid, "comm", text, sizeof(text)))
		link = link_in(i, path, text);
	return link;
}

static bool has(const struct image *image, const struct mapping *m)
{
	for (size_t k = image->mappings.cnt; k--; ) {
		const struct mapping *old = &image->mappings.items[k];

		if (old->start < m->end && m->start < old->end)
			return old->start == m->start && old->end == m->end && old->path == m->path &&
			       old->offset == m->offset;
	}
	return false;
}

/* A file's code, or the kernel's own; not the vDSO of 32-bit processes, whose stacks are not unwound. */
static bool has_code(const char *path, uint64_t start)
{
	return (path[0] == '/' && path[1] != '/') ||	/* "//anon" */
	       (strcmp(path, VDSO_NAME) == 0 && start > UINT32_MAX);
}

/* ".../jit-7.dump" */
static bool is_dump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t len = name ? strlen(name) : 0;

	return len > 10 && strncmp(name, "/jit-", 5) == 0 && strcmp(name + len - 5, ".dump") == 0;
}

static void add_mapping(struct images *i, struct process *p, const struct mapping *m, uint64_t ns)
{
	struct stay *stay = last_stay(p);
	struct image *image = stay ? stay->image : new_image(i, p, 0);

	if (has(image, m))
		return;
	if (image->processes > 1) {	/* the other processes do not have it */
		struct image *copy = new_image(i, p, ns);

		for (size_t k = 0; k < image->mappings.cnt; k++)
			VEC_ADD(&copy->mappings, image->mappings.items[k]);
		copy->dump = image->dump;
		image->processes--;
		image = copy;
	}
	VEC_ADD(&image->mappings, *m);
	if (image->mappings.cnt == 1)
		image->mappings.items[0].link = program_link(i, p->pid, m->path);
	image->changes++;
	if (is_dump(m->path))
		image->dump = m->path;
}

static void play_fork(struct images *i, const struct happening *h)
{
	struct process *child = process_of(i, h->pid);
	struct stay *stay = last_stay(process_of(i, h->parent));

	child->stays.cnt = 0;		/* another process had its number before */
	child->looked_ns = 0;
	if (stay) {
		stay->image->processes++;
		VEC_ADD(&child->stays, (struct stay){ h->ns, stay->image });
	}
}

static void play(struct images *i, const struct happening *h)
{
	if (h->kind == PERF_RECORD_FORK)
		play_fork(i, h);
	else if (h->kind == PERF_RECORD_COMM)
		new_image(i, process_of(i, h->pid), h->ns);
	else
		add_mapping(i, process_of(i, h->pid), &h->mapping, h->ns);
}

struct mmap_record {			/* PERF_RECORD_MMAP2, after its header */
	uint32_t pid, tid;
	uint64_t start, len, offset;
	uint64_t inode[3];
	uint32_t protection, flags;
	char path[];
};

static void take(void *context, const struct perf_event_header *header, const struct perf_trailer *t)
{
	struct images *i = context;
	const uint32_t *words = (const void *)(header + 1);
	const struct mmap_record *m = (const void *)words;
	struct happening h = { .ns = t->ns, .order = i->order++, .kind = header->type, .pid = words[0] };

	switch (header->type) {
	case PERF_RECORD_FORK:		/* pid, ppid, tid, ptid */
		h.parent = words[1];
		if (h.pid == h.parent)
			return;		/* a thread */
		break;
	case PERF_RECORD_COMM:
		if (!(header->misc & PERF_RECORD_MISC_COMM_EXEC))
			return;
		break;
	case PERF_RECORD_MMAP2:
		if (!has_code(m->path, m->start))
			return;
		h.mapping = (struct mapping){ m->start, m->start + m->len, m->offset, path_of(i, m->path), NULL };
		break;
	default:
		return;
	}
	VEC_ADD(&i->pending, h);
}

static int compare(const void *a, const void *b)
{
	const struct happening *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void images_read(struct images *i)
{
	if (!i->rings)
		return;
	perf_rings_read(i->rings, take, i);
	if (i->pending.cnt > 1)
		qsort(i->pending.items, i->pending.cnt, sizeof(*i->pending.items), compare);
	for (size_t k = 0; k < i->pending.cnt; k++)
		play(i, &i->pending.items[k]);
	i->pending.cnt = 0;
}

static struct image *image_at(const struct process *p, uint64_t ns)
{
	struct image *image = NULL;

	for (size_t k = 0; k < p->stays.cnt && (k == 0 || p->stays.items[k].from_ns <= ns); k++)
		image = p->stays.items[k].image;
	return image;
}

struct image *images_find(struct images *i, uint32_t pid, uint64_t ns)
{
	return image_at(process_of(i, pid), ns);
}

/* "7f..-7f.. r-xp 00001000 fe:00 123  /usr/lib/libc.so.6" */
static void read_maps(struct images *i, uint32_t pid, uint64_t ns)
{
	char path[64], line[4400];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		struct mapping m;
		char rights[8];
		int at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &m.start, &m.end,
			   rights, &m.offset, &at) < 4 || !at || rights[2] != 'x' || !has_code(line + at, m.start))
			continue;
		m.path = path_of(i, line + at);
		add_mapping(i, process_of(i, pid), &m, ns);
	}
	if (f)
		fclose(f);
}

struct image *images_look(struct images *i, uint32_t pid, uint64_t ns)
{
	struct process *p;
	struct image *before = images_find(i, pid, ns), *image;
	unsigned int changes = before ? before->changes : 0;

	images_read(i);
	image = images_find(i, pid, ns);
	if (image && (image != before || image->changes != changes))
		return image;
	p = process_of(i, pid);
	if (p->looked_ns && ns < p->looked_ns + LOOK_AGAIN_NS)
		return NULL;
	p->looked_ns = ns;
	read_maps(i, pid, ns);
	image = images_find(i, pid, ns);
	return image && (image != before || image->changes != changes) ? image : NULL;
}
