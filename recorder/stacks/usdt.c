/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usdt.c - a note: address, address of .stapsdt.base as it was linked, address of the counter; then three texts.  A file that was
 * moved later (prelink) has its base elsewhere, and the others by as much.
 *
 *	8@%rax	-4@%edi	4@$17	8@-24(%rbp)	8@(%rsp)
 */
#include "recorder/stacks/usdt.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "recorder/stacks/code_places.h"

enum { USDT_NOTE = 3, WORDS = 3 };
#define USDT_OWNER "stapsdt"

static bool section_address(Elf *elf, const char *wanted, uint64_t *ret)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		if (name && strcmp(name, wanted) == 0) {
			*ret = header.sh_addr;
			return true;
		}
	}
	return false;
}

/* Of data, which the program may change. */
static uint64_t data_offset(Elf *elf, uint64_t address)
{
	size_t cnt = 0;

	if (elf_getphdrnum(elf, &cnt))
		return 0;
	for (size_t i = 0; i < cnt; i++) {
		GElf_Phdr p;

		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && p.p_flags & PF_W && address >= p.p_vaddr &&
		    address - p.p_vaddr < p.p_filesz)
			return address - p.p_vaddr + p.p_offset;
	}
	return 0;
}

struct note {
	uint64_t address, base, semaphore;
	const char *provider, *name, *arguments;
};

/* The next text of at most *left bytes; NULL: it does not end. */
static const char *next_text(const char **at, size_t *left)
{
	const char *text = *at, *end = memchr(text, '\0', *left);

	if (!end)
		return NULL;
	*left -= (size_t)(end + 1 - text);
	*at = end + 1;
	return text;
}

static bool read_note(const char *text, size_t bytes, struct note *ret)
{
	uint64_t words[WORDS];
	size_t left = bytes - sizeof(words);

	if (bytes < sizeof(words))
		return false;
	memcpy(words, text, sizeof(words));
	text += sizeof(words);
	*ret = (struct note){ .address = words[0], .base = words[1], .semaphore = words[2] };
	ret->provider = next_text(&text, &left);
	ret->name = ret->provider ? next_text(&text, &left) : NULL;
	ret->arguments = ret->name ? next_text(&text, &left) : NULL;
	return ret->arguments != NULL;
}

struct search {
	Elf *elf;
	const char *provider, *name;
	struct usdt_site *sites;
	int cnt;
};

static void take_note(struct search *s, const struct note *n)
{
	uint64_t base = n->base, moved, offset;
	struct usdt_site *site;

	if (strcmp(n->name, s->name) != 0 || (s->provider && strcmp(n->provider, s->provider) != 0))
		return;
	section_address(s->elf, ".stapsdt.base", &base);
	moved = n->base ? base - n->base : 0;
	if (s->cnt == USDT_SITES_MAX || !code_offset(s->elf, n->address + moved, &offset))
		return;
	site = &s->sites[s->cnt];
	*site = (struct usdt_site){ .offset = offset };
	if (n->semaphore) {
		site->semaphore = data_offset(s->elf, n->semaphore + moved);
		if (!site->semaphore)
			return;		/* it would never be on */
	}
	if (strlen(n->arguments) < sizeof(site->arguments))
		memcpy(site->arguments, n->arguments, strlen(n->arguments) + 1);
	s->cnt++;
}

static void search_notes(struct search *s)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(s->elf, section))) {
		size_t owner, text, next = 0;
		GElf_Shdr header;
		GElf_Nhdr note;
		struct note n;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE || !(data = elf_getdata(section, NULL)))
			continue;
		while ((next = gelf_getnote(data, next, &note, &owner, &text)))
			if (note.n_type == USDT_NOTE && note.n_namesz == sizeof(USDT_OWNER) &&
			    memcmp((char *)data->d_buf + owner, USDT_OWNER, sizeof(USDT_OWNER)) == 0 &&
			    read_note((char *)data->d_buf + text, note.n_descsz, &n))
				take_note(s, &n);
	}
}

int usdt_find(const char *path, const char *provider, const char *name, struct usdt_site ret[USDT_SITES_MAX])
{
	struct search s = { .provider = provider, .name = name, .sites = ret };
	struct code_elf e;
	int r = code_open(&e, path);

	if (r == 0) {
		s.elf = e.elf;
		search_notes(&s);
		r = s.cnt ? s.cnt : -ENOENT;
	}
	code_close(&e);
	return r;
}

/* "rax", "eax", "ax", "al" are one register; "%r8d", "%r8w", "%r8b" another. */
static bool register_named(const char *name, size_t len, unsigned int *ret)
{
	static const struct { const char *names; enum stack_register which; } all[] = {
		{ " rax eax ax al ", STACK_RAX }, { " rbx ebx bx bl ", STACK_RBX }, { " rcx ecx cx cl ", STACK_RCX },
		{ " rdx edx dx dl ", STACK_RDX }, { " rsi esi si sil ", STACK_RSI }, { " rdi edi di dil ", STACK_RDI },
		{ " rbp ebp bp bpl ", STACK_RBP }, { " rsp esp sp spl ", STACK_RSP }, { " r8 r8d r8w r8b ", STACK_R8 },
		{ " r9 r9d r9w r9b ", STACK_R9 }, { " r10 r10d r10w r10b ", STACK_R10 }, { " r11 r11d r11w r11b ", STACK_R11 },
		{ " r12 r12d r12w r12b ", STACK_R12 }, { " r13 r13d r13w r13b ", STACK_R13 },
		{ " r14 r14d r14w r14b ", STACK_R14 }, { " r15 r15d r15w r15b ", STACK_R15 },
	};
	char word[8] = " ";

	if (!len || len > 4 || memchr(name, ' ', len))
		return false;
	memcpy(word + 1, name, len);
	memcpy(word + 1 + len, " ", 2);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strstr(all[i].names, word)) {
			*ret = all[i].which;
			return true;
		}
	return false;
}

/* "-24(%rbp)", "(%rsp)"; one with an index, or of a variable, is not read. */
static bool memory_operand(const char *text, size_t len, struct call_key *ret)
{
	char *end;

	ret->kind = KEY_MEMORY;
	ret->offset = strtoll(text, &end, 0);
	return end < text + len - 3 && end[0] == '(' && end[1] == '%' && text[len - 1] == ')' &&
	       register_named(end + 2, (size_t)(text + len - 1 - (end + 2)), &ret->place);
}

static bool operand(const char *text, size_t len, struct call_key *ret)
{
	char *end;

	if (len < 2)
		return false;
	if (*text == '%') {
		ret->kind = KEY_REGISTER;
		return register_named(text + 1, len - 1, &ret->place);
	}
	if (*text == '$') {
		ret->kind = KEY_CONSTANT;
		ret->offset = strtoll(text + 1, &end, 0);
		return end == text + len;
	}
	return len > 3 && memory_operand(text, len, ret);
}

static bool is_size(long bytes)
{
	bytes = labs(bytes);
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

bool usdt_argument(const char *arguments, unsigned int n, struct call_key *ret)
{
	const char *text = arguments + strspn(arguments, " ");
	char *at;
	long bytes;

	for (; n && *text; n--) {
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
	if (!*text)
		return false;
	bytes = strtol(text, &at, 10);
	*ret = (struct call_key){ .bytes = (int)bytes };
	return at > text && *at == '@' && is_size(bytes) && operand(at + 1, strcspn(at + 1, " "), ret);
}
