/* SPDX-License-Identifier: GPL-3.0-or-later */
/* uftrace_names.c - see uftrace_names.h.  The files may be hostile: a name leads to no file outside of the directory. */
#include "cmd/formats/spans/uftrace_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/arena.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/map.h"
#include "base/search.h"
#include "base/str.h"
#include "recorder/stacks/cxx_name.h"

enum { FORKS_MAX = 64 };

struct symbol {
	uint64_t address;
	const char *name;
	bool is_library;
};

struct symbols {			/* of one file */
	const char *file;
	VEC(struct symbol) list;	/* by address */
};

struct module {
	uint64_t start, end, base;	/* base: of its first mapping */
	size_t symbols;
};

struct session {
	uint64_t pid;
	int64_t ns;
	VEC(struct module) modules;	/* by address */
};

struct uftrace_names {
	const char *dir;
	struct arena *arena;
	VEC(struct session) sessions;
	VEC(struct symbols) files;
	struct map *pid_of, *parent_of;	/* tid -> pid; pid -> parent's */
	struct map *unknown;		/* address -> its name, a pointer */
};

static int by_address(const void *pa, const void *pb)
{
	const struct symbol *a = pa, *b = pb;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->is_library - b->is_library;
}

static int modules_by_address(const void *pa, const void *pb)
{
	const struct module *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Cuts the next line off. */
static char *next_line(char **text)
{
	char *line = *text;

	if (!line || !*line)
		return NULL;
	line[strcspn(line, "\n")] == '\n' ? (*text = line + strcspn(line, "\n") + 1) : (*text = NULL);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static const char *written(struct uftrace_names *n, const char *symbol)
{
	_cleanup_(str_release) struct str name = STR_INIT;

	return arena_strdup(n->arena, add_cxx_name(&name, symbol) ? str_cstr(&name) : symbol);
}

/* A program without its file has no names. */
static size_t read_symbols(struct uftrace_names *n, const char *module)
{
	_cleanup_(freep) char *file = xasprintf("%s.sym", path_base(module)), *path = path_join(n->dir, file), *text = NULL;
	struct symbols s = { .file = NULL };
	char *line, *rest;
	size_t len;

	for (size_t i = 0; i < n->files.cnt; i++)
		if (strcmp(n->files.items[i].file, file) == 0)
			return i;
	s.file = arena_strdup(n->arena, file);
	if (file_read(path, &text, &len) == 0)
		for (rest = text; (line = next_line(&rest)); ) {
			char *end;
			uint64_t address = strtoull(line, &end, 16);

			if (*line == '#' || end == line || end[0] != ' ' || !end[1] || end[2] != ' ' || !end[3] ||
			    strncmp(end + 3, "__sym_end", 9) == 0)
				continue;
			if (strchr("TtwWVvuiP", end[1]))
				VEC_ADD(&s.list, (struct symbol){ address, written(n, end + 3), end[1] == 'P' });
		}
	if (s.list.cnt)
		qsort(s.list.items, s.list.cnt, sizeof(*s.list.items), by_address);
	VEC_ADD(&n->files, s);
	return n->files.cnt - 1;
}

static uint64_t base_of(const struct session *s, const struct uftrace_names *n, const char *module, uint64_t otherwise)
{
	for (size_t i = 0; i < s->modules.cnt; i++)
		if (strncmp(n->files.items[s->modules.items[i].symbols].file, module, strlen(module)) == 0)
			return s->modules.items[i].base;
	return otherwise;
}

/* "55cf68042000-55cf68047000 r-xp 00000000 00:00 0   /bin/p build-id:d5c3" */
static void read_map(struct uftrace_names *n, struct session *s, const char *sid)
{
	_cleanup_(freep) char *file = xasprintf("sid-%s.map", sid), *path = path_join(n->dir, file), *text = NULL;
	char *line, *rest;
	size_t len;

	if (file_read(path, &text, &len) < 0)
		return;
	for (rest = text; (line = next_line(&rest)); ) {
		char *end, *name = strchr(line, '/');
		struct module m = { .start = strtoull(line, &end, 16) };

		if (end == line || *end != '-' || !name)
			continue;
		m.end = strtoull(end + 1, &end, 16);
		name[strcspn(name, " ")] = '\0';
		if (m.end <= m.start || !*path_base(name))
			continue;
		m.symbols = read_symbols(n, name);
		m.base = base_of(s, n, path_base(name), m.start);
		VEC_ADD(&s->modules, m);
	}
	if (s->modules.cnt)
		qsort(s->modules.items, s->modules.cnt, sizeof(*s->modules.items), modules_by_address);
}

/* "key=123" in the line; false: it is not there. */
static bool number_of(const char *line, const char *key, uint64_t *ret)
{
	const char *at = strstr(line, key);
	char *end;

	if (!at)
		return false;
	*ret = strtoull(at + strlen(key), &end, 10);
	return end != at + strlen(key);
}

/* "timestamp=14618.999879464" */
static int64_t time_of(const char *line)
{
	const char *at = strstr(line, "timestamp="), *point;
	uint64_t s, ns = 0;

	if (!at || !number_of(line, "timestamp=", &s) || s > INT64_MAX / 1000000000 - 1)
		return 0;
	point = strchr(at, '.');
	if (point)
		for (unsigned i = 1; i <= 9; i++)
			ns = ns * 10 + (point[i] >= '0' && point[i] <= '9' ? (uint64_t)(point[i] - '0') : 0);
	return (int64_t)(s * 1000000000 + ns);
}

static void read_session(struct uftrace_names *n, const char *line)
{
	const char *sid = strstr(line, " sid=");
	struct session s = { .ns = time_of(line) };
	size_t digits = sid ? strspn(sid + 5, "0123456789abcdef") : 0;

	if (!digits || !number_of(line, " pid=", &s.pid))
		return;

	_cleanup_(freep) char *name = xstrndup(sid + 5, digits);

	read_map(n, &s, name);
	VEC_ADD(&n->sessions, s);
}

int uftrace_names_read(const char *dir, struct uftrace_names **ret, struct diag *reterr)
{
	_cleanup_(freep) char *path = path_join(dir, "task.txt"), *text = NULL;
	struct uftrace_names *n;
	unsigned long number = 0;
	char *line, *rest;
	size_t len;
	int r = file_read(path, &text, &len);

	if (r < 0)
		return diag_set(reterr, EXIT_DATA, r, "cannot read '%s': %s", path, file_why(r));
	n = xcalloc(1, sizeof(*n));
	n->arena = arena_new();
	n->dir = arena_strdup(n->arena, dir);
	n->pid_of = map_new();
	n->parent_of = map_new();
	n->unknown = map_new();
	for (rest = text; (line = next_line(&rest)); ) {
		uint64_t tid, pid;

		number++;
		if (strncmp(line, "SESS ", 5) == 0)
			read_session(n, line);
		else if (strncmp(line, "TASK ", 5) == 0 && number_of(line, " tid=", &tid) && number_of(line, " pid=", &pid))
			map_set(n->pid_of, tid, pid);
		else if (strncmp(line, "FORK ", 5) == 0 && number_of(line, " pid=", &pid) && number_of(line, " ppid=", &tid))
			map_set(n->parent_of, pid, tid);
		else if (strncmp(line, "DLOP ", 5) != 0 && *line) {
			diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:%lu: SESS, TASK, FORK or DLOP with their fields was expected", path, number);
			uftrace_names_free(n);
			return -EBADMSG;
		}
	}
	*ret = n;
	return 0;
}

void uftrace_names_free(struct uftrace_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->sessions.cnt; i++)
		VEC_RELEASE(&n->sessions.items[i].modules);
	for (size_t i = 0; i < n->files.cnt; i++)
		VEC_RELEASE(&n->files.items[i].list);
	VEC_RELEASE(&n->sessions);
	VEC_RELEASE(&n->files);
	map_free(n->pid_of);
	map_free(n->parent_of);
	map_free(n->unknown);
	arena_free(n->arena);
	free(n);
}

uint64_t uftrace_pid(const struct uftrace_names *n, uint64_t tid)
{
	uint64_t pid;

	return map_get(n->pid_of, tid, &pid) ? pid : tid;
}

/* The last program that the process, or the one it was forked from, began to execute by then. */
static const struct session *session_of(const struct uftrace_names *n, uint64_t tid, int64_t ns)
{
	uint64_t pid = uftrace_pid(n, tid);

	for (int forks = 0; forks < FORKS_MAX; forks++) {
		const struct session *best = NULL;

		for (size_t i = 0; i < n->sessions.cnt; i++)
			if (n->sessions.items[i].pid == pid && (!best || (n->sessions.items[i].ns <= ns && n->sessions.items[i].ns >= best->ns)))
				best = &n->sessions.items[i];
		if (best)
			return best;
		if (!map_get(n->parent_of, pid, &pid))
			break;
	}
	return n->sessions.cnt ? &n->sessions.items[0] : NULL;
}

static const char *unknown_name(struct uftrace_names *n, uint64_t address)
{
	uint64_t *slot = map_slot(n->unknown, address);

	if (!*slot) {
		_cleanup_(freep) char *text = xasprintf("0x%" PRIx64, address);

		*slot = (uintptr_t)arena_strdup(n->arena, text);
	}
	return (const char *)(uintptr_t)*slot;
}

const char *uftrace_name(struct uftrace_names *n, uint64_t tid, int64_t ns, uint64_t address, bool *ret_is_library)
{
	const struct session *s = session_of(n, tid, ns);
	size_t at = s ? partition_point(i, s->modules.cnt, s->modules.items[i].start <= address) : 0;
	const struct module *m = at && address < s->modules.items[at - 1].end ? &s->modules.items[at - 1] : NULL;
	const struct symbols *file = m ? &n->files.items[m->symbols] : NULL;

	*ret_is_library = false;
	at = file ? partition_point(i, file->list.cnt, file->list.items[i].address <= address - m->base) : 0;
	if (!at)
		return unknown_name(n, address);
	*ret_is_library = file->list.items[at - 1].is_library;
	return file->list.items[at - 1].name;
}
