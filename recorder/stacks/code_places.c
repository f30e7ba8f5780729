/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code_places.c - a symbol's address is one of memory, relative to where the file is loaded; a uprobe takes an offset of the file.
 * The program headers say which offset is loaded where.
 *
 *	processCommand at 0x5a410; a segment of code: offset 0x4c000 at 0x4d000	-> offset 0x59410
 *
 * Compilers make variants of a function (handle.constprop.0, handle.isra.1): one of them is taken if there is nothing of the
 * very name.
 */
#include "recorder/stacks/code_places.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "recorder/stacks/cxx_name.h"

enum { BUILD_ID_MAX = 64, BUILD_ID_NOTE = 3 };

int code_open(struct code_elf *e, const char *path)
{
	elf_version(EV_CURRENT);
	*e = (struct code_elf){ .fd = file_open_plain(path, O_RDONLY) };
	if (e->fd < 0)
		return e->fd;
	e->elf = elf_begin(e->fd, ELF_C_READ_MMAP, NULL);
	return e->elf && elf_kind(e->elf) == ELF_K_ELF ? 0 : -ENOEXEC;
}

void code_close(struct code_elf *e)
{
	elf_end(e->elf);		/* NULL is fine */
	if (e->fd >= 0)
		close(e->fd);
	*e = (struct code_elf){ .fd = -1 };
}

bool code_offset(Elf *elf, uint64_t address, uint64_t *ret)
{
	size_t cnt = 0;

	if (elf_getphdrnum(elf, &cnt))
		return false;
	for (size_t i = 0; i < cnt; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X) || address < p.p_vaddr ||
		    address - p.p_vaddr >= p.p_filesz)
			continue;
		*ret = address - p.p_vaddr + p.p_offset;
		return true;
	}
	return false;
}

enum { EXACT, VARIANT, KIND_CNT };

struct search {
	const char *function;
	struct {
		uint64_t address;
		size_t cnt;		/* of addresses */
	} found[KIND_CNT];
};

static bool is_variant(const char *rest)
{
	return starts_with(rest, ".isra.") || starts_with(rest, ".constprop.") || starts_with(rest, ".lto_priv.");
}

/* "read@@GLIBC_2.2.5" is read. */
static bool is_named(const char *symbol, const char *function, int *ret_kind)
{
	size_t len = strlen(function);
	_cleanup_(str_release) struct str cxx = STR_INIT;

	*ret_kind = EXACT;
	if (strncmp(symbol, function, len) == 0) {
		*ret_kind = symbol[len] && symbol[len] != '@' ? VARIANT : EXACT;
		return *ret_kind == EXACT || is_variant(symbol + len);
	}
	return starts_with(symbol, "_Z") && add_cxx_name(&cxx, symbol) && strcmp(str_cstr(&cxx), function) == 0;
}

static void take_symbol(struct search *s, const GElf_Sym *symbol, const char *name)
{
	int kind;

	if (!name || GELF_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF || !is_named(name, s->function, &kind))
		return;
	if (s->found[kind].cnt && s->found[kind].address == symbol->st_value)
		return;
	s->found[kind].address = symbol->st_value;
	s->found[kind].cnt++;
}

static void search_tables(struct search *s, Elf *elf)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;
		GElf_Sym symbol;

		if (!gelf_getshdr(section, &header) || (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) ||
		    !(data = elf_getdata(section, NULL)))
			continue;
		for (int i = 0; gelf_getsym(data, i, &symbol); i++)
			take_symbol(s, &symbol, elf_strptr(elf, header.sh_link, symbol.st_name));
	}
}

/* In hexadecimal; false: the file has none. */
static bool build_id(Elf *elf, char ret[2 * BUILD_ID_MAX + 1])
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		size_t name, text, next = 0;
		GElf_Shdr header;
		GElf_Nhdr note;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE || !(data = elf_getdata(section, NULL)))
			continue;
		while ((next = gelf_getnote(data, next, &note, &name, &text))) {
			if (note.n_type != BUILD_ID_NOTE || note.n_namesz != 4 || memcmp((char *)data->d_buf + name, "GNU", 4) != 0 ||
			    !note.n_descsz || note.n_descsz > BUILD_ID_MAX)
				continue;
			for (size_t i = 0; i < note.n_descsz; i++)
				snprintf(ret + 2 * i, 3, "%02x", ((unsigned char *)data->d_buf)[text + i]);
			return true;
		}
	}
	return false;
}

/* Its addresses are those of the file. */
static void search_separate(struct search *s, Elf *elf)
{
	char id[2 * BUILD_ID_MAX + 1], path[2 * BUILD_ID_MAX + 64], same[2 * BUILD_ID_MAX + 1];
	struct code_elf e = { .fd = -1 };

	if (!build_id(elf, id))
		return;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	if (code_open(&e, path) == 0 && build_id(e.elf, same) && strcmp(id, same) == 0)
		search_tables(s, e.elf);
	code_close(&e);
}

static int judge(const struct search *s, Elf *elf, uint64_t *ret_offset)
{
	for (int kind = 0; kind < KIND_CNT; kind++) {
		if (!s->found[kind].cnt)
			continue;
		if (s->found[kind].cnt > 1)
			return -ENOTUNIQ;
		return code_offset(elf, s->found[kind].address, ret_offset) ? 0 : -ENOENT;
	}
	return -ENOENT;
}

int code_function_find(const char *path, const char *function, uint64_t *ret_offset)
{
	struct search s = { .function = function };
	struct code_elf e;
	int r = code_open(&e, path);

	if (r == 0) {
		search_tables(&s, e.elf);
		if (!s.found[EXACT].cnt)
			search_separate(&s, e.elf);
		r = judge(&s, e.elf, ret_offset);
	}
	code_close(&e);
	return r;
}
