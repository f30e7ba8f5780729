/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * symbols.c - addresses to functions and lines, each once, after the run.
 *
 * The function is that of the symbol table; where there is debugging information, also those that the compiler put
 * into it (inlined), each with the line it was at.  Without any name it is the file's: "[libfoo.so]". For the
 * system's libraries only names are added: tables show the innermost known line, which should be where the program
 * calls pread() rather than where the C library calls the kernel.  Names of C++ are written as the instrumenter does,
 * without parameters: "_ZN5store3getEi" is "store::get".
 *
 * The inner end of a kernel stack (schedule(), the tracepoint, the tick's interrupt) is the same in all of them, and
 * is left out.  Its functions are marked, as in flame graphs: "vfs_fsync_[k]".
 */
#include "recorder/stacks/symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/search.h"
#include "recorder/stacks/cxx_name.h"
#include "recorder/stacks/functions.h"
#include "recorder/stacks/jit_names.h"
#include "recorder/stacks/vdso.h"

struct kernel_symbol {
	uint64_t address;
	uint32_t name;
};

struct symbols {
	struct functions *functions;
	struct names *texts;		/* of frames, and names of the kernel's functions */
	struct map *text_of;		/* (unwinder, address) -> number of its text plus one */
	struct map *unnamed_of;		/* as text_of -> number of the file that has no name for it, plus one */
	struct names *system;		/* functions of system libraries, as written */
	struct names *files;		/* such files, and how many stacks pass through unnamed functions there */
	VEC(uint64_t) unnamed_cnts;
	uint64_t stack_cnt;
	VEC(struct kernel_symbol) kernel;	/* by address; empty until first needed */
	bool kernel_read;
};

struct symbols *symbols_new(void)
{
	struct symbols *s = xcalloc(1, sizeof(*s));

	s->functions = functions_new();
	s->texts = names_new();
	s->files = names_new();
	s->system = names_new();
	s->unnamed_of = map_new();
	s->text_of = map_new();
	return s;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	functions_free(s->functions);
	names_free(s->texts);
	names_free(s->files);
	names_free(s->system);
	map_free(s->unnamed_of);
	VEC_RELEASE(&s->unnamed_cnts);
	map_free(s->text_of);
	VEC_RELEASE(&s->kernel);
	free(s);
}

static void add_escaped(struct str *to, const char *name)
{
	for (const char *p = name; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c <= ' ' || c == 0x7f || c == '%' || c == ';' || c == '@' || (c == '#' && p == name))
			str_addf(to, "%%%02X", c);
		else
			str_addc(to, (char)c);
	}
}

static void add_frame(struct str *to, const char *function, const char *file, int line)
{
	const char *slash = file ? strrchr(file, '/') : NULL;

	if (to->len)
		str_addc(to, ';');
	add_escaped(to, function);
	if (!file || line <= 0)
		return;
	str_addc(to, '@');
	add_escaped(to, slash ? slash + 1 : file);
	str_addf(to, ":%d", line);
}

/* Without the symbol's version: read@@GLIBC_2.2.5. */
static void add_readable(struct str *to, const char *symbol)
{
	if (!add_cxx_name(to, symbol))
		str_addn(to, symbol, strcspn(symbol, "@"));
}

/* dwarf_diename() omits namespaces and classes. */
static void add_inlined(struct str *to, Dwarf_Die *inlined, const char *file, int line)
{
	_cleanup_(str_release) struct str name = STR_INIT;
	const char *symbol = NULL;
	Dwarf_Attribute a;

	if (dwarf_attr_integrate(inlined, DW_AT_linkage_name, &a))
		symbol = dwarf_formstring(&a);
	if (!symbol)
		symbol = dwarf_diename(inlined);
	add_readable(&name, symbol ? symbol : "[inlined]");
	add_frame(to, str_cstr(&name), file, line);
}

static const char *file_of_call(Dwarf_Die *cu, Dwarf_Die *inlined)
{
	Dwarf_Attribute a;
	Dwarf_Word index;
	Dwarf_Files *files;
	size_t cnt;

	if (!dwarf_attr(inlined, DW_AT_call_file, &a) || dwarf_formudata(&a, &index) ||
	    dwarf_getsrcfiles(cu, &files, &cnt) || index >= cnt)
		return NULL;
	return dwarf_filesrc(files, (size_t)index, NULL, NULL);
}

static int line_of_call(Dwarf_Die *inlined)
{
	Dwarf_Attribute a;
	Dwarf_Word line;

	return dwarf_attr(inlined, DW_AT_call_line, &a) && !dwarf_formudata(&a, &line) ? (int)line : 0;
}

/* Adds the function at the address and those inlined there; outermost first, each with its line. */
static void add_functions(struct str *to, Dwfl_Module *module, uint64_t address, const char *symbol,
			  const char *file, int line)
{
	Dwarf_Addr bias = 0;
	Dwarf_Die *cu = dwfl_module_addrdie(module, address, &bias), *scopes = NULL;
	int cnt = cu ? dwarf_getscopes(cu, address - bias, &scopes) : 0;
	struct { Dwarf_Die *inlined; const char *file; int line; } found[32];
	int depth = 0;

	for (int i = 0; i < cnt && depth < 31; i++) {
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
			break;
		if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
			continue;
		found[depth].inlined = &scopes[i];
		found[depth].file = file;
		found[depth++].line = line;
		file = file_of_call(cu, &scopes[i]);
		line = line_of_call(&scopes[i]);
	}
	add_frame(to, symbol, file, line);
	while (depth--)
		add_inlined(to, found[depth].inlined, found[depth].file, found[depth].line);
	free(scopes);
}

static bool is_of_system(const char *path)
{
	return (starts_with(path, "/lib") || starts_with(path, "/usr/lib")) && strstr(path, ".so");
}

/* Without its directory, as its users call it; NULL: unknown. */
static const char *file_of(const struct unwinder *u, Dwfl_Module *module)
{
	const char *path = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL), *slash;

	for (size_t i = 0; path && i < u->image->mappings.cnt; i++) {
		const struct mapping *m = &u->image->mappings.items[i];

		if (m->link && strcmp(m->path, path) == 0) {
			path = m->link;
			break;
		}
	}
	slash = path ? strrchr(path, '/') : NULL;
	return slash ? slash + 1 : path;
}

/* True: the file has no name for the address. */
static bool add_address(struct symbols *s, struct str *to, const struct unwinder *u, Dwfl_Module *module, uint64_t address)
{
	const char *symbol = functions_name(s->functions, module, address), *file = NULL;
	const char *path = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	_cleanup_(str_release) struct str name = STR_INIT;
	Dwfl_Line *l;
	int line = 0;

	bool is_vdso = path && strcmp(path, VDSO_NAME) == 0;

	if (symbol)
		add_readable(&name, symbol);
	else if (is_vdso)
		str_add(&name, path);
	else
		str_addf(&name, "[%s]", path ? file_of(u, module) : "unknown");
	if (path && is_of_system(path)) {
		add_frame(to, str_cstr(&name), NULL, 0);
		names_add(s->system, str_cstr(to));
		return false;
	}
	l = dwfl_module_getsrc(module, address);
	if (l)
		file = dwfl_lineinfo(l, NULL, &line, NULL, NULL, NULL);
	add_functions(to, module, address, str_cstr(&name), file, line);
	return !symbol && path && !is_vdso;
}

static void note_unnamed(struct symbols *s, uint64_t key, const struct unwinder *u, Dwfl_Module *module)
{
	uint32_t number = names_add(s->files, file_of(u, module));

	if (number == s->unnamed_cnts.cnt)
		VEC_ADD(&s->unnamed_cnts, 0);
	*map_slot(s->unnamed_of, key) = number + 1;
}

static uint64_t key_of(const struct unwinder *u, uint64_t address)
{
	return hash_u64(hash_u64(0, (uintptr_t)u), address);
}

/* Adds the name of code that the process generated, if it says so. */
static void add_jit(struct str *to, const struct unwinder *u, uint64_t address)
{
	const char *file = NULL, *name;
	int line = 0;

	name = u->jit ? jit_names_find(u->jit, address, &file, &line) : NULL;
	if (name)
		add_frame(to, name, file, line);
	else
		str_add(to, "[unknown]");
}

static const char *text_of(struct symbols *s, const struct unwinder *u, uint64_t address)
{
	uint64_t key = key_of(u, address);
	uint64_t *number = map_slot(s->text_of, key);
	Dwfl_Module *module = dwfl_addrmodule(u->dwfl, address);

	if (!*number) {
		_cleanup_(str_release) struct str text = STR_INIT;

		if (!module)
			add_jit(&text, u, address);
		else if (add_address(s, &text, u, module, address))
			note_unnamed(s, key, u, module);
		*number = names_add(s->texts, str_cstr(&text)) + 1;
	}
	return names_get(s->texts, (uint32_t)*number - 1);
}

static void add_text(struct str *to, const char *text)
{
	if (to->len)
		str_addc(to, ';');
	str_add(to, text);
}

void symbols_add_shape(struct symbols *s, struct str *to, const struct shape *shape, uint64_t cnt)
{
	uint64_t unnamed = 0;		/* the innermost file that has no name for its part, plus one */

	if (shape->cut || shape->frame_cnt == FRAMES_MAX)
		add_text(to, "[deeper]");
	for (uint32_t i = shape->frame_cnt; i--; ) {
		add_text(to, text_of(s, shape->unwinder, shape->frames[i]));
		map_get(s->unnamed_of, key_of(shape->unwinder, shape->frames[i]), &unnamed);
	}
	s->stack_cnt += cnt;
	if (unnamed)
		s->unnamed_cnts.items[unnamed - 1] += cnt;
}

void symbols_unnamed(const struct symbols *s, struct unnamed_stacks *ret)
{
	*ret = (struct unnamed_stacks){ .of = s->stack_cnt };
	for (uint32_t i = 0; i < s->unnamed_cnts.cnt; i++) {
		if (s->unnamed_cnts.items[i] <= ret->cnt)
			continue;
		ret->cnt = s->unnamed_cnts.items[i];
		snprintf(ret->file, sizeof(ret->file), "%.63s", names_get(s->files, i));
	}
}

const struct names *symbols_system(const struct symbols *s)
{
	return s->system;
}

static int by_address(const void *a, const void *b)
{
	const struct kernel_symbol *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void read_kernel(struct symbols *s)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], name[256], kind;
	uint64_t address;

	s->kernel_read = true;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %c %255s", &address, &kind, name) == 3 && address &&
		    (kind == 't' || kind == 'T' || kind == 'w' || kind == 'W'))
			VEC_ADD(&s->kernel, (struct kernel_symbol){ address, names_add(s->texts, name) });
	if (f)
		fclose(f);
	if (s->kernel.cnt > 1)
		qsort(s->kernel.items, s->kernel.cnt, sizeof(*s->kernel.items), by_address);
}

static const char *kernel_name(struct symbols *s, uint64_t address)
{
	size_t after;

	if (!s->kernel_read)
		read_kernel(s);
	after = partition_point(i, s->kernel.cnt, s->kernel.items[i].address <= address);
	return after ? names_get(s->texts, s->kernel.items[after - 1].name) : NULL;
}

/* Functions that switch, wake or sample a thread: they say nothing about the reason. */
static bool is_machinery(const char *name)
{
	static const char *const prefixes[] = {
		"bpf_", "__bpf_", "_einittext", "__traceiter_", "__schedule", "schedule", "io_schedule",
		"preempt_schedule",
		"try_to_wake_up", "ttwu_", "wake_up_process", "default_wake_function", "perf_",
		"__perf_", "hrtimer_", "__hrtimer_", "sysvec_", "__sysvec_", "asm_sysvec_", "irqentry_",
		"exit_to_user_mode", "raw_irqentry_",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (starts_with(name, prefixes[i]))
			return true;
	return false;
}

void symbols_add_kernel(struct symbols *s, struct str *to, const uint64_t *addresses, unsigned int cnt)
{
	unsigned int inner = 0;
	const char *name;

	while (inner < cnt && (!(name = kernel_name(s, addresses[inner])) || is_machinery(name)))
		inner++;
	for (unsigned int i = cnt; i-- > inner; ) {
		_cleanup_(str_release) struct str marked = STR_INIT;

		name = kernel_name(s, addresses[i]);
		if (!name)
			continue;
		add_escaped(&marked, name);
		str_add(&marked, "_[k]");
		add_text(to, str_cstr(&marked));
	}
}
