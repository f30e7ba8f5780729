/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * elf.c - reads an ELF file of this machine through a mapping; every offset in it is checked.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/elf.h"
#include "base/file.h"
#include "base/str.h"

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_NONE
#endif

struct elf_private {
	const char *base;
	size_t bytes;
};

/* NULL unless the file contains the whole part. */
static const void *part(const struct elf_private *p, size_t offset, size_t bytes)
{
	return offset <= p->bytes && bytes <= p->bytes - offset ? p->base + offset : NULL;
}

/* The same for a table; it starts where its entries may start. */
static const void *table_part(const struct elf_private *p, size_t offset, size_t bytes)
{
	return offset % sizeof(ElfW(Addr)) == 0 ? part(p, offset, bytes) : NULL;
}

static const ElfW(Shdr) *sections(const struct elf_private *p, size_t *ret_cnt)
{
	const ElfW(Ehdr) *h = (const void *)p->base;
	const ElfW(Shdr) *all = table_part(p, h->e_shoff, (size_t)h->e_shnum * sizeof(ElfW(Shdr)));

	*ret_cnt = all && h->e_shentsize == sizeof(ElfW(Shdr)) ? h->e_shnum : 0;
	return all;
}

static const char *find_interpreter(const struct elf_private *p)
{
	const ElfW(Ehdr) *h = (const void *)p->base;
	const ElfW(Phdr) *all = table_part(p, h->e_phoff, (size_t)h->e_phnum * sizeof(ElfW(Phdr)));

	for (size_t i = 0; all && h->e_phentsize == sizeof(ElfW(Phdr)) && i < h->e_phnum; i++) {
		const char *name = all[i].p_type == PT_INTERP && all[i].p_filesz ?
				   part(p, all[i].p_offset, all[i].p_filesz) : NULL;

		if (name && !name[all[i].p_filesz - 1])
			return name;
	}
	return NULL;
}

static bool has_table(const struct elf_private *p, unsigned type)
{
	size_t cnt;
	const ElfW(Shdr) *all = sections(p, &cnt);

	for (size_t i = 0; i < cnt; i++)
		if (all[i].sh_type == type)
			return true;
	return false;
}

static int map_file(const char *path, struct elf_private *ret)
{
	int fd = file_open_plain(path, O_RDONLY), r = 0;
	struct stat st;
	void *base = MAP_FAILED;

	if (fd < 0)
		return fd == -FILE_NOT_PLAIN || fd == -EISDIR ? -ENOEXEC : fd;
	if (fstat(fd, &st) < 0)
		r = -errno;
	else if (!S_ISREG(st.st_mode) || (size_t)st.st_size < sizeof(ElfW(Ehdr)))
		r = -ENOEXEC;
	else
		base = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (!r && base == MAP_FAILED)
		r = -errno;
	close(fd);
	if (r == 0) {
		ret->base = base;
		ret->bytes = (size_t)st.st_size;
	}
	return r;
}

int elf_open(const char *path, struct elf **ret)
{
	_cleanup_(elf_closep) struct elf *e = xcalloc(1, sizeof(*e));
	const ElfW(Ehdr) *h;
	int r;

	e->private = xcalloc(1, sizeof(*e->private));
	r = map_file(path, e->private);
	if (r < 0)
		return r;
	h = (const void *)e->private->base;
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	if (h->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != OUR_MACHINE)
		return -ENOTSUP;
	e->interpreter = find_interpreter(e->private);
	e->has_symbols = has_table(e->private, SHT_SYMTAB);
	e->is_movable = h->e_type == ET_DYN;
	*ret = TAKE_PTR(e);
	return 0;
}

void elf_close(struct elf *e)
{
	if (e && e->private && e->private->base)
		munmap((void *)(uintptr_t)e->private->base, e->private->bytes);
	if (e)
		free(e->private);
	free(e);
}

static bool in_table(const struct elf_private *p, const ElfW(Shdr) *table, const ElfW(Shdr) *strings,
		     const char *prefix, bool defined)
{
	const ElfW(Sym) *all = table_part(p, table->sh_offset, table->sh_size);
	const char *names = part(p, strings->sh_offset, strings->sh_size);
	size_t len = strlen(prefix);

	for (size_t i = 0; all && names && i < table->sh_size / sizeof(*all); i++)
		if ((!defined || all[i].st_shndx != SHN_UNDEF) && all[i].st_name < strings->sh_size &&
		    strings->sh_size - all[i].st_name > len &&
		    strncmp(names + all[i].st_name, prefix, len) == 0)
			return true;
	return false;
}

bool elf_symbol(const struct elf *e, const char *prefix, bool defined)
{
	size_t cnt;
	const ElfW(Shdr) *all = sections(e->private, &cnt);

	for (size_t i = 0; i < cnt; i++)
		if ((all[i].sh_type == SHT_SYMTAB || all[i].sh_type == SHT_DYNSYM) &&
		    all[i].sh_link < cnt &&
		    in_table(e->private, &all[i], &all[all[i].sh_link], prefix, defined))
			return true;
	return false;
}

const char *elf_section(const struct elf *e, const char *name, size_t *ret_bytes)
{
	const struct elf_private *p = e->private;
	const ElfW(Ehdr) *h = (const void *)p->base;
	size_t cnt, len = strlen(name) + 1;
	const ElfW(Shdr) *all = sections(p, &cnt);
	const ElfW(Shdr) *strings = h->e_shstrndx < cnt ? &all[h->e_shstrndx] : NULL;
	const char *names = strings ? part(p, strings->sh_offset, strings->sh_size) : NULL;

	*ret_bytes = p->bytes;
	if (!cnt || !names)
		return p->base;
	for (size_t i = 0; i < cnt; i++) {
		if (all[i].sh_name >= strings->sh_size || strings->sh_size - all[i].sh_name < len ||
		    memcmp(names + all[i].sh_name, name, len) != 0 || all[i].sh_type == SHT_NOBITS)
			continue;
		*ret_bytes = all[i].sh_size;
		return part(p, all[i].sh_offset, all[i].sh_size);
	}
	return NULL;
}

bool elf_holds(const struct elf *e, const char *text)
{
	return memmem(e->private->base, e->private->bytes, text, strlen(text)) != NULL;
}

static const ElfW(Shdr) *find_table(const struct elf_private *p, unsigned type)
{
	size_t cnt;
	const ElfW(Shdr) *all = sections(p, &cnt);

	for (size_t i = 0; i < cnt; i++)
		if (all[i].sh_type == type && all[i].sh_link < cnt)
			return &all[i];
	return NULL;
}

/* NULL if the name does not end inside its table. */
static const char *name_at(const char *names, size_t bytes, size_t at)
{
	return at < bytes && memchr(names + at, '\0', bytes - at) ? names + at : NULL;
}

static void each_symbol(const struct elf *e, unsigned wanted, void (*take)(void *arg, const struct elf_function *f), void *arg)
{
	const struct elf_private *p = e->private;
	const ElfW(Shdr) *table = find_table(p, SHT_SYMTAB), *strings;
	const ElfW(Sym) *all;
	const char *names, *file = NULL;
	size_t unused;

	table = table ? table : find_table(p, SHT_DYNSYM);
	if (!table)
		return;
	strings = &sections(p, &unused)[table->sh_link];
	all = table_part(p, table->sh_offset, table->sh_size);
	names = part(p, strings->sh_offset, strings->sh_size);
	for (size_t i = 0; all && names && i < table->sh_size / sizeof(*all); i++) {
		const char *name = name_at(names, strings->sh_size, all[i].st_name);
		unsigned type = all[i].st_info & 0xf;
		bool is_local = all[i].st_info >> 4 == STB_LOCAL;

		if (type == STT_FILE)
			file = name;
		if (type == wanted && all[i].st_shndx != SHN_UNDEF && all[i].st_size && name && *name)
			take(arg, &(struct elf_function){ name, is_local ? file : NULL, all[i].st_value, all[i].st_size });
	}
}

void elf_functions(const struct elf *e, void (*take)(void *arg, const struct elf_function *f), void *arg)
{
	each_symbol(e, STT_FUNC, take, arg);
}

void elf_variables(const struct elf *e, void (*take)(void *arg, const struct elf_function *variable), void *arg)
{
	each_symbol(e, STT_OBJECT, take, arg);
}

const void *elf_at(const struct elf *e, uint64_t address, size_t bytes)
{
	const struct elf_private *p = e->private;
	const ElfW(Ehdr) *h = (const void *)p->base;
	const ElfW(Phdr) *all = table_part(p, h->e_phoff, (size_t)h->e_phnum * sizeof(ElfW(Phdr)));

	for (size_t i = 0; all && h->e_phentsize == sizeof(ElfW(Phdr)) && i < h->e_phnum; i++) {
		uint64_t at = address - all[i].p_vaddr;

		if (all[i].p_type == PT_LOAD && address >= all[i].p_vaddr && at < all[i].p_filesz &&
		    bytes <= all[i].p_filesz - at && all[i].p_offset <= p->bytes)
			return part(p, all[i].p_offset + at, bytes);
	}
	return NULL;
}
