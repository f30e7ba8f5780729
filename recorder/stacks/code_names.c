/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code_names.c - files are opened once; their functions are in order of address.
 *
 * Variants that compilers make of a function keep its name: lock_slow.part.0, lock_slow.cold and
 * lock_slow.constprop.1 are lock_slow.
 */
#include "recorder/stacks/code_names.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/elf.h"
#include "base/map.h"
#include "base/search.h"
#include "base/str.h"
#include "recorder/stacks/cxx_name.h"
#include "recorder/stacks/inlined.h"

#define UNIT_SECTION ".vprof"		/* instrumenter/insert/unit_note.h */

enum { CALL_BYTES = 5, CALL_OPCODE = 0xe8, POINTER_CALL_OPCODE = 0xff };	/* x86's call with a distance, and
										 * through a pointer */

struct code_file {
	const char *path;
	struct elf *elf;		/* NULL: the file is not ELF */
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

/* Functions of the forwarders to the runtime, and of the runtime itself. */
static bool is_ours(const char *name)
{
	return starts_with(name, "vprof_");
}

/* The target of the call before the return address, if the instruction contains it; else 0. */
static uint64_t called_at(const struct code_file *f, uint64_t address)
{
#ifdef __x86_64__
	const unsigned char *code = address >= CALL_BYTES ? elf_at(f->elf, address - CALL_BYTES, CALL_BYTES) : NULL;
	int32_t distance;

	if (!code || *code != CALL_OPCODE)
		return 0;
	memcpy(&distance, code + 1, sizeof(distance));
	return address + (uint64_t)(int64_t)distance;
#else
	(void)f;
	(void)address;
	return 0;
#endif
}

/* Whether a call instruction precedes the address; a stack has other words that point into code.  A call is e8 and a
 * distance, or ff and an operand. */
static bool is_behind_call(const struct code_file *f, uint64_t address)
{
#ifdef __x86_64__
	static const uint64_t pointer_call_bytes[] = { 2, 3, 6, 7 };
	const unsigned char *code = address >= CALL_BYTES ? elf_at(f->elf, address - CALL_BYTES, CALL_BYTES) : NULL;
	bool is = code && *code == CALL_OPCODE;

	for (size_t i = 0; i < ARRAY_SIZE(pointer_call_bytes) && !is; i++) {
		uint64_t bytes = pointer_call_bytes[i];

		code = address >= bytes ? elf_at(f->elf, address - bytes, bytes) : NULL;
		is = code && *code == POINTER_CALL_OPCODE;
	}
	return is;
#else
	(void)f;
	(void)address;
	return true;
#endif
}

static const struct elf_function *beginning_at(const struct code_file *f, uint64_t address)
{
	const struct elf_function *found = address ? function_at(f, address) : NULL;

	return found && found->start == address ? found : NULL;
}

/* The name that the instrumenter uses if there are overloads. */
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

/* Adds the functions at the address, the inlined ones first. */
static void add_functions(struct code_names *n, const struct code_file *f, uint64_t address, struct code_place *to)
{
	struct inlined_function inlined[CODE_NAMES_MAX];
	size_t cnt = f->inlined ? inlined_find(f->inlined, address - 1, inlined, CODE_NAMES_MAX) : 0;
	const struct elf_function *function = function_at(f, address - 1);
	const struct inlined_function *whole = cnt && !inlined[cnt - 1].is_inlined ? &inlined[--cnt] : NULL;

	for (size_t i = 0; i < cnt; i++)
		add(n, to, inlined[i].symbol, inlined[i].file, inlined[i].line);
	/* The symbol says more than the line information, which lacks the namespace of a static function. */
	if (function && !is_ours(function->name))
		add(n, to, function->name, whole ? whole->file : function->file, whole ? whole->line : 0);
	else if (whole && !function)
		add(n, to, whole->symbol, whole->file, whole->line);
}

static void look_at(const struct code_file *f, uint64_t address, struct code_place *ret)
{
	const struct elf_function *function = function_at(f, address - 1);

	ret->path = f->path;
	ret->start = function ? function->start : 0;
	ret->called = called_at(f, address);
	ret->called_is_function = beginning_at(f, ret->called);
}

bool code_names_find(struct code_names *n, const char *path, uint64_t address, struct code_place *ret)
{
	struct code_file *f = open_file(n, path);
	const struct elf_function *called;

	*ret = (struct code_place){ .is_built = f->is_built };
	if (!f->elf || !address)
		return false;
	look_at(f, address, ret);
	called = beginning_at(f, ret->called);
	if (called && !is_ours(called->name))
		add(n, ret, called->name, called->file, 0);
	add_functions(n, f, address, ret);
	return true;
}

static bool calls(const struct code_place *caller, const struct code_place *place)
{
	bool same_file = strcmp(caller->path, place->path) == 0;

	if (!caller->called)			/* through a pointer */
		return true;
	if (same_file && place->start)
		return caller->called == place->start;
	return !caller->called_is_function;
}

bool code_names_add_caller(struct code_names *n, const char *path, uint64_t address, struct code_place *place)
{
	struct code_file *f = open_file(n, path);
	struct code_place caller = { .name_cnt = 0 };

	if (!f->elf || !address || !is_behind_call(f, address))
		return false;
	look_at(f, address, &caller);
	if (!caller.start || !calls(&caller, place))
		return false;
	add_functions(n, f, address, place);
	place->path = caller.path;
	place->start = caller.start;
	return true;
}
