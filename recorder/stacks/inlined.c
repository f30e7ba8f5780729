/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inlined.c - by libdw; clang's files have no table of addresses, so their units are searched one by one. */
#include "recorder/stacks/inlined.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"

struct inlined {
	Dwarf *dwarf;
	int fd;
};

struct inlined *inlined_open(const char *path)
{
	struct inlined *i = xcalloc(1, sizeof(*i));
	Dwarf_Off next;
	size_t header;

	i->fd = open(path, O_RDONLY | O_CLOEXEC);
	i->dwarf = i->fd < 0 ? NULL : dwarf_begin(i->fd, DWARF_C_READ);
	if (i->dwarf && dwarf_nextcu(i->dwarf, 0, &next, &header, NULL, NULL, NULL) == 0)
		return i;
	inlined_close(i);
	return NULL;
}

void inlined_close(struct inlined *i)
{
	if (!i)
		return;
	if (i->dwarf)
		dwarf_end(i->dwarf);
	if (i->fd >= 0)
		close(i->fd);
	free(i);
}

static bool find_unit(const struct inlined *i, uint64_t address, Dwarf_Die *ret)
{
	Dwarf_Off at = 0, next;
	size_t header;

	if (dwarf_addrdie(i->dwarf, address, ret))
		return true;
	for (; dwarf_nextcu(i->dwarf, at, &next, &header, NULL, NULL, NULL) == 0; at = next)
		if (dwarf_offdie(i->dwarf, at + header, ret) && dwarf_haspc(ret, address) == 1)
			return true;
	return false;
}

static struct inlined_function describe(Dwarf_Die *die)
{
	struct inlined_function f = { .symbol = NULL };
	Dwarf_Attribute a;
	int line = 0;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a))
		f.symbol = dwarf_formstring(&a);
	if (!f.symbol)
		f.symbol = dwarf_diename(die);
	f.file = dwarf_decl_file(die);
	if (dwarf_decl_line(die, &line) == 0 && line > 0)
		f.line = (uint32_t)line;
	return f;
}

size_t inlined_find(struct inlined *i, uint64_t address, struct inlined_function *ret, size_t most)
{
	Dwarf_Die unit, *scopes = NULL;
	int cnt = find_unit(i, address, &unit) ? dwarf_getscopes(&unit, address, &scopes) : 0;
	size_t found = 0;

	for (int s = 0; s < cnt && found < most; s++) {
		int tag = dwarf_tag(&scopes[s]);

		if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
			continue;
		ret[found] = describe(&scopes[s]);
		ret[found].is_inlined = tag == DW_TAG_inlined_subroutine;
		found += ret[found].symbol != NULL;
		if (tag == DW_TAG_subprogram)
			break;
	}
	free(scopes);
	return found;
}
