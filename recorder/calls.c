/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calls.c - finds the places of intervals in the files that the process executes, and sets uprobes there.
 *
 * An end by return needs two where the key is an argument: at the return it is gone, so the entry keeps it.
 */
#include "recorder/calls.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "recorder/bpf/record.skel.h"
#include "recorder/stacks/code_places.h"
#include "recorder/stacks/usdt.h"

#define UPROBES "/sys/bus/event_source/devices/uprobe"
enum { ARGUMENTS_IN_REGISTERS = 6 };

/* ---- what was asked for ---- */

struct spec {				/* "libfoo.so:handle@return" */
	char file[CALL_NAME_MAX], name[CALL_NAME_MAX], provider[CALL_NAME_MAX];	/* "": not given */
	bool is_usdt, is_return;
};

static bool copy(char to[CALL_NAME_MAX], const char *from, size_t len)
{
	if (!len || len >= CALL_NAME_MAX)
		return false;
	memcpy(to, from, len);
	to[len] = '\0';
	return true;
}

/* The first colon that is no "::" of C++. */
static const char *colon_of(const char *text)
{
	for (const char *at = strchr(text, ':'); at; at = strchr(at, ':')) {
		if (at[1] != ':')
			return at;
		at += 2;
	}
	return NULL;
}

static bool parse_usdt(const char *text, struct spec *ret)
{
	const char *colon = strchr(text, ':');

	ret->is_usdt = true;
	if (colon && !copy(ret->provider, text, (size_t)(colon - text)))
		return false;
	text = colon ? colon + 1 : text;
	return copy(ret->name, text, strlen(text));
}

static bool parse(const char *text, bool is_end, struct spec *ret)
{
	const char *colon, *at;

	*ret = (struct spec){ .is_return = is_end };
	if (starts_with(text, "usdt:"))
		return parse_usdt(text + 5, ret);
	colon = colon_of(text);
	if (colon && !copy(ret->file, text, (size_t)(colon - text)))
		return false;
	text = colon ? colon + 1 : text;
	at = strrchr(text, '@');
	if (at && strcmp(at, "@entry") != 0 && strcmp(at, "@return") != 0)
		return false;
	if (at)
		ret->is_return = at[1] == 'r';
	return copy(ret->name, text, at ? (size_t)(at - text) : strlen(text));
}

/* ---- the files ---- */

typedef VEC(char *) paths;

static void add_path(paths *all, char *path)
{
	for (size_t i = 0; i < all->cnt; i++)
		if (strcmp(all->items[i], path) == 0) {
			free(path);
			return;
		}
	VEC_ADD(all, path);
}

static void paths_release(paths *all)
{
	for (size_t i = 0; i < all->cnt; i++)
		free(all->items[i]);
	VEC_RELEASE(all);
}

/* As the process sees it. */
static char *path_there(pid_t pid, const char *path)
{
	char there[4200];

	snprintf(there, sizeof(there), "/proc/%d/root%s", (int)pid, path);
	return xstrdup(access(there, R_OK) == 0 ? there : path);
}

/* The files whose code the process has, its own first. */
static void find_files(pid_t pid, paths *ret)
{
	char path[64], line[4400], own[64];
	FILE *f;

	snprintf(own, sizeof(own), "/proc/%d/exe", (int)pid);
	VEC_ADD(ret, xstrdup(own));
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		char rights[8];
		int at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%*x-%*x %7s %*x %*s %*s %n", rights, &at) >= 1 && at && rights[2] == 'x' && line[at] == '/')
			add_path(ret, path_there(pid, line + at));
	}
	if (f)
		fclose(f);
}

static bool is_file(const char *path, const char *file)
{
	const char *slash = strrchr(path, '/');

	return !*file || strcmp(slash ? slash + 1 : path, file) == 0;
}

/* ---- places ---- */

struct finder {
	struct calls *c;
	pid_t pid;
	const char *program;		/* that will be executed; NULL: pid runs already */
	unsigned int key;		/* the argument plus one; 0: the thread */
	paths files;
};

static struct call_probe *add_probe(struct calls *c, const char *path, uint64_t offset)
{
	struct call_probe *p;

	if (c->cnt == CALL_PLACES_MAX)
		return NULL;
	p = &c->probes[c->cnt++];
	*p = (struct call_probe){ .offset = offset };
	snprintf(p->path, sizeof(p->path), "%s", path);
	return p;
}

static void add_entry_and_return(struct finder *f, const char *path, uint64_t offset, struct call_place place)
{
	static const enum stack_register arguments[ARGUMENTS_IN_REGISTERS] = {
		STACK_RDI, STACK_RSI, STACK_RDX, STACK_RCX, STACK_R8, STACK_R9
	};
	struct call_key argument = { .kind = KEY_THREAD };
	struct call_probe *p;

	if (f->key)
		argument = (struct call_key){ .kind = KEY_REGISTER, .place = arguments[f->key - 1], .bytes = 8 };
	place.key = argument;
	if (place.is_return && f->key) {
		p = add_probe(f->c, path, offset);
		if (p)
			p->place = (struct call_place){ .role = CALL_ENTRY, .key = argument };
		place.key = (struct call_key){ .kind = KEY_KEPT };
	}
	p = add_probe(f->c, path, offset);
	if (p)
		p->place = place;
}

static int find_function(struct finder *f, const struct spec *s, struct call_place place, struct diag *reterr)
{
	uint64_t offset;

	for (size_t i = 0; i < f->files.cnt; i++) {
		const char *path = strchr(s->file, '/') ? s->file : f->files.items[i];
		int r = strchr(s->file, '/') || is_file(path, s->file) ? code_function_find(path, s->name, &offset) : -ENOENT;

		if (r == -ENOTUNIQ) {
			diag_set(reterr, EXIT_USAGE, r, "'%s' has several functions '%s'", path, s->name);
			return diag_remedy(reterr, r, "name another function, one that calls it or that it calls");
		}
		if (r == 0) {
			add_entry_and_return(f, path, offset, place);
			return 0;
		}
	}
	if (f->program)
		diag_set(reterr, EXIT_USAGE, -ENOENT, "'%s' has no function '%s'", f->program, s->name);
	else
		diag_set(reterr, EXIT_USAGE, -ENOENT, "process %d has no function '%s' in its files", (int)f->pid, s->name);
	return diag_remedy(reterr, -ENOENT, "a function that the file names (nm -D FILE), FILE:FUNCTION, or its debugging symbols: "
			   "static functions of a stripped file have no name");
}

static int find_usdt(struct finder *f, const struct spec *s, struct call_place place, struct diag *reterr)
{
	struct usdt_site *sites = xcalloc(USDT_SITES_MAX, sizeof(*sites));
	int cnt = -ENOENT, r = 0;
	size_t file;

	for (file = 0; file < f->files.cnt && cnt < 0; file++)
		cnt = usdt_find(f->files.items[file], *s->provider ? s->provider : NULL, s->name, sites);
	for (int i = 0; i < cnt && r == 0; i++) {
		struct call_probe *p;

		if (f->key && !usdt_argument(sites[i].arguments, f->key - 1, &place.key)) {
			diag_set(reterr, EXIT_USAGE, -EINVAL, "the tracepoint '%s' has no argument %u that can be a key: it has '%s'",
				 s->name, f->key - 1, sites[i].arguments);
			r = diag_remedy(reterr, -EINVAL, "another --key, or none: the thread is the key then");
			break;
		}
		p = add_probe(f->c, f->files.items[file - 1], sites[i].offset);
		if (p) {
			p->place = place;
			p->semaphore = sites[i].semaphore;
		}
	}
	free(sites);
	if (cnt < 0) {
		diag_set(reterr, EXIT_USAGE, -ENOENT, "no file of the program has a tracepoint '%s%s%s'", s->provider,
			 *s->provider ? ":" : "", s->name);
		r = diag_remedy(reterr, -ENOENT, "readelf -n FILE lists those of a file (stapsdt)");
	}
	return r;
}

static int find_place(struct finder *f, const char *text, bool is_end, struct spec *s, struct diag *reterr)
{
	struct call_place place = { .role = is_end ? CALL_END : CALL_START };

	if (!parse(text, is_end, s)) {
		diag_set(reterr, EXIT_USAGE, -EINVAL, "'%.200s' is no place in the program", text);
		return diag_remedy(reterr, -EINVAL, "--start FUNCTION, FILE:FUNCTION, FUNCTION@return, or usdt:PROVIDER:NAME");
	}
	place.is_return = s->is_return && !s->is_usdt;
	if (place.role == CALL_START && place.is_return && f->key) {
		diag_set(reterr, EXIT_USAGE, -EINVAL, "an argument cannot be read where '%s' returns", s->name);
		return diag_remedy(reterr, -EINVAL, "begin at its entry, or without --key");
	}
	return s->is_usdt ? find_usdt(f, s, place, reterr) : find_function(f, s, place, reterr);
}

static int find_places(struct finder *f, const struct recorder_calls *wanted, struct diag *reterr)
{
	struct spec start, end;
	int r;

	if (f->program)
		VEC_ADD(&f->files, xstrdup(f->program));
	else
		find_files(f->pid, &f->files);
	r = find_place(f, wanted->end, true, &end, reterr);
	if (r == 0)
		r = find_place(f, wanted->start, false, &start, reterr);
	if (r)
		return r;
	f->c->nest = !f->key && !start.is_usdt && !end.is_usdt && end.is_return && !start.is_return && strcmp(start.name, end.name) == 0;
	snprintf(f->c->start, sizeof(f->c->start), "%s", start.is_usdt ? "" : start.name);
	snprintf(f->c->end, sizeof(f->c->end), "%s", end.is_usdt ? "" : end.name);
	if (strcmp(start.name, end.name) == 0)
		snprintf(f->c->name, sizeof(f->c->name), "%s", start.name);
	else
		snprintf(f->c->name, sizeof(f->c->name), "%s to %s", start.name, end.name);
	return 0;
}

int recorder_try_calls(struct diag *reterr)
{
	if (access(UPROBES, F_OK) == 0 && !programs_must_use("no-uprobes"))
		return 0;
	diag_set(reterr, EXIT_ENVIRONMENT, -ENOSYS, "this kernel has no uprobes (CONFIG_UPROBE_EVENTS; there is no " UPROBES "): it cannot "
		 "say when a function is called");
	return diag_remedy(reterr, -ENOSYS, "vprof annotate --start FUNCTION --end FUNCTION and a build; or another kernel");
}

int calls_find(struct calls *c, const struct recorder_calls *wanted, pid_t pid, struct diag *reterr)
{
	struct finder f = { .c = c, .pid = pid, .program = pid ? NULL : wanted->program, .key = wanted->key };
	int r = recorder_try_calls(reterr);

	*c = (struct calls){ .probes = xcalloc(CALL_PLACES_MAX, sizeof(*c->probes)) };
	if (r)
		return r;
	if (f.key > ARGUMENTS_IN_REGISTERS) {
		diag_set(reterr, EXIT_USAGE, -EINVAL, "only the arguments arg0 to arg%d are in registers", ARGUMENTS_IN_REGISTERS - 1);
		return diag_remedy(reterr, -EINVAL, "--key arg0");
	}
	r = find_places(&f, wanted, reterr);
	paths_release(&f.files);
	return r;
}

void calls_release(struct calls *c)
{
	free(c->probes);
	c->probes = NULL;
}

/* ---- the kernel ---- */

void calls_choose(const struct calls *c, struct record_bpf *p)
{
	bpf_program__set_autoload(p->progs.on_call, c != NULL);
	bpf_program__set_autoattach(p->progs.on_call, false);
	bpf_map__set_autocreate(p->maps.open_calls, c != NULL);
	bpf_map__set_autocreate(p->maps.call_entries, c != NULL);
	p->rodata->calls_nest = c && c->nest;
}

int calls_attach(struct calls *c, struct record_bpf *p)
{
	for (size_t i = 0; i < c->cnt; i++)
		memcpy((void *)&p->bss->call_places[i], &c->probes[i].place, sizeof(struct call_place));
	for (size_t i = 0; i < c->cnt; i++) {
		const struct call_probe *probe = &c->probes[i];
		LIBBPF_OPTS(bpf_uprobe_opts, options, .retprobe = probe->place.is_return, .bpf_cookie = i,
			    .ref_ctr_offset = probe->semaphore);

		c->links[i] = bpf_program__attach_uprobe_opts(p->progs.on_call, -1, probe->path, probe->offset, &options);
		if (!c->links[i])
			return -errno;
	}
	return 0;
}

void calls_detach(struct calls *c)
{
	for (size_t i = 0; i < c->cnt; i++)
		bpf_link__destroy(c->links[i]);
	memset(c->links, 0, sizeof(c->links));
}
