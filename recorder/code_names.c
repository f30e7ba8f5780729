/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code_names.c - files are opened once; their functions are in order of address.
 *
 * What compilers make of a function keeps its name: lock_slow.part.0, lock_slow.cold and lock_slow.constprop.1 are lock_slow.
 */
#include "recorder/code_names.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "base/banned.h"
#include "base/elf.h"
#include "base/map.h"
#include "base/search.h"
#include "base/str.h"
#include "recorder/cxx_name.h"
#include "recorder/inlined.h"

#define UNIT_SECTION ".vprof"		/* instrumenter/unit_note.h */

enum { CALL_BYTES = 5, CALL_OPCODE = 0xe8 };	/* x86's call of what is near */

struct code_file {
	const char *path;
	struct elf *elf;		/* NULL: it is none */
	struct inlined *inlined;
	VEC(struct elf_function) functions;	/* by start, the longest last */
	bool is_built;
};

struct code_names {
	struct arena *arena;
	VEC(struct code_file *) files;
};

struct code_names *code_names_new(void)
{
	struct code_names *n = xcalloc(1, sizeof(*n));

	n->arena = arena_new();
	return n;
}

void code_names_free(struct code_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->files.cnt; i++) {
		inlined_close(n->files.items[i]->inlined);
		elf_close(n->files.items[i]->elf);
		VEC_RELEASE(&n->files.items[i]->functions);
		free(n->files.items[i]);
	}
	VEC_RELEASE(&n->files);
	arena_free(n->arena);
	free(n);
}

static void take_function(void *arg, const struct elf_function *f)
{
	struct code_file *file = arg;

	VEC_ADD(&file->functions, *f);
}

static int by_start(const void *a, const void *b)
{
	const struct elf_function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static bool has_section(const struct elf *e, const char *name)
{
	size_t bytes, unused;
	const char *whole = elf_section(e, "", &unused), *found = elf_section(e, name, &bytes);

	return found && found != whole && bytes;
}

static struct code_file *open_file(struct code_names *n, const char *path)
{
	struct code_file *f;

	for (size_t i = 0; i < n->files.cnt; i++)
		if (strcmp(n->files.items[i]->path, path) == 0)
			return n->files.items[i];
	f = xcalloc(1, sizeof(*f));
	f->path = arena_strdup(n->arena, path);
	VEC_ADD(&n->files, f);
	if (elf_open(path, &f->elf) < 0)
		return f;
	elf_functions(f->elf, take_function, f);
	if (f->functions.cnt > 1)
		qsort(f->functions.items, f->functions.cnt, sizeof(*f->functions.items), by_start);
	f->is_built = has_section(f->elf, UNIT_SECTION);
	f->inlined = inlined_open(path);
	return f;
}

static const struct elf_function *function_at(const struct code_file *f, uint64_t address)
{
	size_t after = partition_point(i, f->functions.cnt, f->functions.items[i].start <= address);
	const struct elf_function *last = after ? &f->functions.items[after - 1] : NULL;

	return last && address - last->start < last->bytes ? last : NULL;
}

/* Of the forwarders to the runtime, and of the runtime itself: nobody's own functions. */
static bool is_ours(const char *name)
{
	return starts_with(name, "vprof_");
}

/* The function that the call before the return address is of, if that call says it by itself. */
static const struct elf_function *called_at(const struct code_file *f, uint64_t address)
{
#ifdef __x86_64__
	const unsigned char *code = address >= CALL_BYTES ? elf_at(f->elf, address - CALL_BYTES, CALL_BYTES) : NULL;
	const struct elf_function *found;
	int32_t distance;

	if (!code || *code != CALL_OPCODE)
		return NULL;
	memcpy(&distance, code + 1, sizeof(distance));
	found = function_at(f, address + (uint64_t)(int64_t)distance);
	return found && found->start == address + (uint64_t)(int64_t)distance && !is_ours(found->name) ? found : NULL;
#else
	(void)f;
	(void)address;
	return NULL;
#endif
}

/* As the instrumenter calls it, if it has overloads. */
static const char *readable(struct code_names *n, const char *symbol)
{
	size_t len = strcspn(symbol, ".@");
	_cleanup_(freep) char *bare = xstrndup(symbol, len ? len : strlen(symbol));
	_cleanup_(str_release) struct str text = STR_INIT;

	if (!add_cxx_signature(&text, bare))
		str_add(&text, bare);
	return arena_strdup(n->arena, str_cstr(&text));
}

static void add(struct code_names *n, struct code_place *to, const char *symbol, const char *file, uint32_t line)
{
	if (to->name_cnt < CODE_NAMES_MAX)
		to->names[to->name_cnt++] = (struct code_name){ readable(n, symbol), file, line };
}

bool code_names_find(struct code_names *n, const char *path, uint64_t address, struct code_place *ret)
{
	struct code_file *f = open_file(n, path);
	struct inlined_function inlined[CODE_NAMES_MAX];
	const struct elf_function *function, *called;
	size_t cnt;

	*ret = (struct code_place){ .is_built = f->is_built };
	if (!f->elf || !address)
		return false;
	called = called_at(f, address);
	if (called)
		add(n, ret, called->name, called->file, 0);
	cnt = f->inlined ? inlined_find(f->inlined, address - 1, inlined, CODE_NAMES_MAX) : 0;
	for (size_t i = 0; i < cnt; i++)
		add(n, ret, inlined[i].symbol, inlined[i].file, inlined[i].line);
	function = cnt ? NULL : function_at(f, address - 1);
	if (function && is_ours(function->name))
		return true;
	if (function)
		add(n, ret, function->name, function->file, 0);
	return true;
}
