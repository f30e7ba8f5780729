/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * functions.c - libdw scans all symbols of a file for one address, which takes a millisecond for some ten thousand;
 * stacks have tens of thousands of addresses.
 *
 * libdw's answer changes only where a symbol or a section begins or ends; and if one symbol alone covers a piece
 * between two such places, that symbol is the answer.  So libdw is asked only about the other pieces, once for each.
 *
 *	main 1000 to 1040, main.cold 1038 to 1040, serve 1040 to 10c0, write and __write 10c0 to 1100
 *	1000 to 1038 main, 1038 to 1040 libdw says, 1040 to 10c0 serve, 10c0 to 1100 libdw says
 */
#include "recorder/stacks/functions.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/map.h"
#include "base/search.h"

struct piece {
	uint64_t from;			/* up to where the next one begins */
	int32_t symbol;			/* its number, if it alone covers this piece; else -1 */
	bool asked;
	const char *name;
};

struct edge {				/* of a symbol, or a section */
	uint64_t address;
	int32_t symbol;			/* its number; -1: it names nothing */
	int change;			/* 1 it begins, -1 it ends */
};

typedef VEC(struct edge) edges;

struct module_pieces {
	VEC(struct piece) items;	/* in order */
};

struct functions {
	struct map *module_at;		/* module -> index plus one */
	VEC(struct module_pieces) modules;
};

struct functions *functions_new(void)
{
	struct functions *f = xcalloc(1, sizeof(*f));

	f->module_at = map_new();
	return f;
}

void functions_free(struct functions *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->modules.cnt; i++)
		VEC_RELEASE(&f->modules.items[i].items);
	VEC_RELEASE(&f->modules);
	map_free(f->module_at);
	free(f);
}

static void add_edges(edges *e, uint64_t from, uint64_t bytes, int32_t symbol)
{
	VEC_ADD(e, (struct edge){ from, symbol, 1 });
	VEC_ADD(e, (struct edge){ from + bytes, symbol, -1 });
}

/* At the end of a section libdw still counts the address as inside. */
static void add_sections(edges *e, Dwfl_Module *module)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (elf && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_flags & SHF_ALLOC) {
			add_edges(e, header.sh_addr + bias, header.sh_size, -1);
			add_edges(e, header.sh_addr + bias, header.sh_size + 1, -1);
		}
}

/* The symbols that libdw considers. */
static bool names_code(const char *name, const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return *name && symbol->st_shndx != SHN_UNDEF && type != STT_SECTION && type != STT_FILE && type != STT_TLS;
}

static void add_symbols(edges *e, Dwfl_Module *module)
{
	int cnt = dwfl_module_getsymtab(module);

	for (int i = 0; i < cnt; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);

		if (!name)
			continue;
		/* A symbol without a size may win over others where it begins. */
		add_edges(e, address, symbol.st_size ? symbol.st_size : 1, names_code(name, &symbol) ? i : -1);
	}
}

static int by_address(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void cut(struct module_pieces *m, Dwfl_Module *module)
{
	edges all = { 0 };
	int open_cnt = 0;
	uint32_t open = 0;		/* sum of the numbers of the open symbols: if one is open, its own */

	VEC_ADD(&m->items, (struct piece){ .from = 0, .symbol = -1 });
	add_symbols(&all, module);
	add_sections(&all, module);
	qsort(all.items, all.cnt, sizeof(*all.items), by_address);
	for (size_t i = 0; i < all.cnt; i++) {
		const struct edge *e = &all.items[i];

		if (e->symbol >= 0) {
			open_cnt += e->change;
			open ^= (uint32_t)e->symbol;
		}
		if (i + 1 < all.cnt && e[1].address == e->address)
			continue;
		VEC_ADD(&m->items, (struct piece){ .from = e->address, .symbol = open_cnt == 1 ? (int32_t)open : -1 });
	}
	VEC_RELEASE(&all);
}

const char *functions_name(struct functions *f, Dwfl_Module *module, uint64_t address)
{
	uint64_t *at = map_slot(f->module_at, (uintptr_t)module);
	struct module_pieces *m;
	struct piece *p;
	GElf_Sym symbol;
	GElf_Addr begin;

	if (!*at) {
		VEC_ADD(&f->modules, (struct module_pieces){ { 0 } });
		*at = f->modules.cnt;
		cut(&f->modules.items[*at - 1], module);
	}
	m = &f->modules.items[*at - 1];
	p = &m->items.items[partition_point(i, m->items.cnt, m->items.items[i].from <= address) - 1];
	if (!p->asked) {
		p->name = p->symbol < 0 ? dwfl_module_addrname(module, address) :
			  dwfl_module_getsym_info(module, p->symbol, &symbol, &begin, NULL, NULL, NULL);
		p->asked = true;
	}
	return p->name;
}
