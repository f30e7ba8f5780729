/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * redirect_object.c - primitives redirected in an object that the user's own command made.
 *
 * An object says "call sem_post" by the number of a symbol.  The undefined symbol of that number
 *
 *	7: UND GLOBAL sem_post
 *
 * becomes a forwarder in the object, and its targets get new symbols:
 *
 *	7: WEAK HIDDEN FUNC vprof_w_sem_post		vprof_x_sem_post ? vprof_x_sem_post() : sem_post()
 *	8: UND GLOBAL sem_post
 *	9: UND WEAK vprof_x_sem_post
 *
 * So no relocation of the user's code is touched.  The forwarder is a jump: whatever sem_post() is given or returns
 * passes through.  As in sync.c the runtime's own vprof_w_sem_post comes first where there is one.
 *
 * New tables are appended to the object; one write of its header at the end makes them effective. The old tables
 * remain in the file as unused bytes.
 */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "instrumenter/insert/redirect_object.h"

#if defined(__x86_64__)

/* r11 is free between a call and its target; al holds the number of vector registers for "...". */
static const unsigned char forwarder[] = {
	0xf3, 0x0f, 0x1e, 0xfa,				/* endbr64 */
	0x4c, 0x8b, 0x1d, 0, 0, 0, 0,			/* mov vprof_x_NAME@GOTPCREL(%rip), %r11 */
	0x4d, 0x85, 0xdb,				/* test %r11, %r11 */
	0x74, 0x03,					/* je 1f */
	0x41, 0xff, 0xe3,				/* jmp *%r11 */
	0xe9, 0, 0, 0, 0,				/* 1: jmp NAME@PLT */
	0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0,		/* nop, up to a multiple of 16 */
};

enum { RUNTIME_AT = 7, REAL_AT = 20, FORWARDER_BYTES = 24 };

#define SECTION_CODE ".text.vprof"
#define SECTION_RELOCATIONS ".rela.text.vprof"

struct object {
	char *bytes;
	size_t len;
	Elf64_Ehdr header;
	struct str sections;			/* Elf64_Shdr[] */
	struct str symbols;			/* Elf64_Sym[] */
	struct str names, section_names;	/* empty if one table is both */
	struct str code, relocations;
	size_t symtab, strtab;			/* numbers of sections */
};

static void object_release(struct object *o)
{
	free(o->bytes);
	str_release(&o->sections);
	str_release(&o->symbols);
	str_release(&o->names);
	str_release(&o->section_names);
	str_release(&o->code);
	str_release(&o->relocations);
}

/* --- reading ---------------------------------------------------------------------------- */

static Elf64_Shdr *section(const struct object *o, size_t i)
{
	return (Elf64_Shdr *)(void *)o->sections.data + i;
}

static size_t section_cnt(const struct object *o)
{
	return o->sections.len / sizeof(Elf64_Shdr);
}

static Elf64_Sym *symbol(const struct object *o, size_t i)
{
	return (Elf64_Sym *)(void *)o->symbols.data + i;
}

static bool is_inside(const struct object *o, uint64_t at, uint64_t bytes)
{
	return at <= o->len && bytes <= o->len - at;
}

static bool take_section(const struct object *o, size_t i, struct str *ret)
{
	const Elf64_Shdr *s = section(o, i);

	if (!is_inside(o, s->sh_offset, s->sh_size) || !s->sh_size)
		return false;
	str_addn(ret, o->bytes + s->sh_offset, s->sh_size);
	return true;
}

static bool read_header(struct object *o)
{
	const Elf64_Ehdr *h = &o->header;

	if (o->len < sizeof(*h) || memcmp(o->bytes, ELFMAG, SELFMAG) != 0)
		return false;
	memcpy(&o->header, o->bytes, sizeof(*h));
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
	    h->e_type != ET_REL || h->e_machine != EM_X86_64 || h->e_shentsize != sizeof(Elf64_Shdr))
		return false;
	/* An object with very many sections counts them elsewhere, and its symbols need a second table. */
	if (!h->e_shnum || h->e_shnum >= SHN_LORESERVE - 2 || h->e_shstrndx >= h->e_shnum ||
	    !is_inside(o, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
		return false;
	str_addn(&o->sections, o->bytes + h->e_shoff, (size_t)h->e_shnum * sizeof(Elf64_Shdr));
	return true;
}

/* Its symbols are of no use if a linker generates the code. */
static bool is_for_lto(const struct object *o)
{
	const Elf64_Shdr *names = section(o, o->header.e_shstrndx);

	for (size_t i = 1; i < section_cnt(o); i++) {
		uint64_t name = section(o, i)->sh_name;

		if (name + strlen(".gnu.lto_") < names->sh_size &&
		    starts_with(o->bytes + names->sh_offset + name, ".gnu.lto_"))
			return true;
	}
	return false;
}

static bool read_tables(struct object *o)
{
	const Elf64_Shdr *names = section(o, o->header.e_shstrndx);

	if (!is_inside(o, names->sh_offset, names->sh_size) || is_for_lto(o))
		return false;
	for (size_t i = 1; i < section_cnt(o); i++) {
		if (section(o, i)->sh_type == SHT_SYMTAB_SHNDX)
			return false;
		if (section(o, i)->sh_type == SHT_SYMTAB)
			o->symtab = i;
	}
	if (!o->symtab || section(o, o->symtab)->sh_entsize != sizeof(Elf64_Sym))
		return false;
	o->strtab = section(o, o->symtab)->sh_link;
	if (!o->strtab || o->strtab >= section_cnt(o) || !take_section(o, o->symtab, &o->symbols) ||
	    !take_section(o, o->strtab, &o->names) || o->symbols.len % sizeof(Elf64_Sym) ||
	    o->names.data[o->names.len - 1] != '\0')
		return false;
	return o->strtab == o->header.e_shstrndx ||
	       take_section(o, o->header.e_shstrndx, &o->section_names);
}

/* --- changing ---------------------------------------------------------------------------- */

static struct str *section_name_table(struct object *o)
{
	return o->strtab == o->header.e_shstrndx ? &o->names : &o->section_names;
}

static uint32_t add_name(struct str *table, const char *prefix, const char *name)
{
	size_t at = table->len;

	str_addf(table, "%s%s", prefix, name);
	str_addc(table, '\0');
	return (uint32_t)at;
}

/* 0: the object does not call it.  A weak symbol remains: the user's code tests whether it is there. */
static size_t find_call(const struct object *o, const char *name)
{
	for (size_t i = 1; i < o->symbols.len / sizeof(Elf64_Sym); i++) {
		const Elf64_Sym *s = symbol(o, i);

		if (s->st_shndx == SHN_UNDEF && ELF64_ST_BIND(s->st_info) == STB_GLOBAL &&
		    s->st_name < o->names.len && strcmp(o->names.data + s->st_name, name) == 0)
			return i;
	}
	return 0;
}

/* Returns its number. */
static size_t add_undefined(struct object *o, unsigned binding, const char *prefix, const char *name)
{
	Elf64_Sym s = {
		.st_name = add_name(&o->names, prefix, name),
		.st_info = ELF64_ST_INFO(binding, STT_NOTYPE),
	};

	str_addn(&o->symbols, (const char *)&s, sizeof(s));
	return o->symbols.len / sizeof(s) - 1;
}

static void add_relocation(struct object *o, size_t at, size_t to, uint32_t type)
{
	Elf64_Rela r = {
		.r_offset = at, .r_info = ELF64_R_INFO(to, type),
		.r_addend = -4,			/* from the end of the four bytes */
	};

	str_addn(&o->relocations, (const char *)&r, sizeof(r));
}

static void add_forwarder(struct object *o, size_t call, const char *name)
{
	size_t at = o->code.len;
	Elf64_Sym *s = symbol(o, call);

	str_addn(&o->code, (const char *)forwarder, sizeof(forwarder));
	s->st_info = ELF64_ST_INFO(STB_WEAK, STT_FUNC);
	s->st_other = STV_HIDDEN;
	s->st_shndx = (Elf64_Section)section_cnt(o);
	s->st_value = at;
	s->st_size = FORWARDER_BYTES;
	s->st_name = add_name(&o->names, "vprof_w_", name);
	add_relocation(o, at + RUNTIME_AT, add_undefined(o, STB_WEAK, "vprof_x_", name), R_X86_64_GOTPCREL);
	add_relocation(o, at + REAL_AT, add_undefined(o, STB_GLOBAL, "", name), R_X86_64_PLT32);
}

static void add_sections(struct object *o)
{
	size_t code = section_cnt(o);
	Elf64_Shdr s[2] = { {
		.sh_name = add_name(section_name_table(o), "", SECTION_CODE),
		.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addralign = 16,
	}, {
		.sh_name = add_name(section_name_table(o), "", SECTION_RELOCATIONS),
		.sh_type = SHT_RELA, .sh_flags = SHF_INFO_LINK, .sh_link = (uint32_t)o->symtab,
		.sh_info = (uint32_t)code, .sh_addralign = 8, .sh_entsize = sizeof(Elf64_Rela),
	} };

	str_addn(&o->sections, (const char *)s, sizeof(s));
}

/* --- writing ------------------------------------------------------------------------------ */

/* Collects what is appended to the object, whose end is at len. */
static size_t append(struct str *tail, size_t len, const struct str *table)
{
	while ((len + tail->len) % 16)
		str_addc(tail, '\0');

	size_t at = len + tail->len;

	str_addn(tail, table->data, table->len);
	return at;
}

static void append_section(struct object *o, struct str *tail, size_t i, const struct str *table)
{
	section(o, i)->sh_offset = append(tail, o->len, table);
	section(o, i)->sh_size = table->len;
}

static bool write_object(struct object *o, const char *path)
{
	_cleanup_(str_release) struct str tail = STR_INIT;
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t cnt = section_cnt(o);

	append_section(o, &tail, cnt - 2, &o->code);
	append_section(o, &tail, cnt - 1, &o->relocations);
	append_section(o, &tail, o->symtab, &o->symbols);
	append_section(o, &tail, o->strtab, &o->names);
	if (o->section_names.len)
		append_section(o, &tail, o->header.e_shstrndx, &o->section_names);
	o->header.e_shoff = append(&tail, o->len, &o->sections);
	o->header.e_shnum = (Elf64_Half)cnt;
	return fd >= 0 && pwrite(fd, tail.data, tail.len, (off_t)o->len) == (ssize_t)tail.len &&
	       pwrite(fd, &o->header, sizeof(o->header), 0) == sizeof(o->header);
}

/* -flto; and jumps that reach 2 GB only. */
bool object_is_redirectable(const char *const *argv)
{
	for (; *argv; argv++)
		if (starts_with(*argv, "-flto") || strcmp(*argv, "-mcmodel=large") == 0)
			return false;
	return true;
}

bool object_redirect(const char *path, const char *const *names, size_t cnt)
{
	_cleanup_(object_release) struct object o = { .bytes = NULL };
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || file_read(path, &o.bytes, &o.len) < 0 ||
	    !read_header(&o) || !read_tables(&o))
		return false;
	for (size_t i = 0; i < cnt; i++) {
		size_t call = find_call(&o, names[i]);

		if (call)
			add_forwarder(&o, call, names[i]);
	}
	if (!o.code.len)
		return true;
	add_sections(&o);
	return write_object(&o, path);
}

#else

bool object_is_redirectable(const char *const *argv)
{
	(void)argv;
	return false;
}

bool object_redirect(const char *path, const char *const *names, size_t cnt)
{
	(void)path;
	(void)names;
	(void)cnt;
	return false;
}

#endif
