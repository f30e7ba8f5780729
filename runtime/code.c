/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.c - a hash table of return addresses, and what dl_iterate_phdr() says of the files in memory.
 *
 * The loader calls the program itself "", and libraries as they were asked for: ./plugin.so is told with the directory
 * that the process is in.
 */
#include <link.h>
#include <string.h>
#include <unistd.h>
#include "runtime/code.h"
#include "runtime/permit.h"
#include "runtime/thread.h"

enum { STEPS = 16, NAME_BYTES = 1024 };

uint32_t code_caller(uint64_t address)
{
	const struct arena_map *a = process.arena;
	uint64_t entry = code_entry(process.program, address), at = arena_hash(entry);

	/* A thread may still write to the arena before. */
	if (!a->base || a != thread_self.arena || !address || address >> CODE_ADDRESS_BITS || !process.program || process.program >= CODE_PROGRAMS)
		return 0;
	for (unsigned int step = 0; step < STEPS; step++) {
		uint32_t i = (uint32_t)((at + step) % ARENA_CALLERS);
		uint64_t taken = __atomic_load_n(&a->callers[i], __ATOMIC_RELAXED);

		if (!taken)
			__atomic_compare_exchange_n(&a->callers[i], &taken, entry, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		if (!taken || taken == entry)
			return i + 1;
	}
	return 0;
}

static size_t read_link(const char *path, char *ret, size_t size)
{
	ssize_t len = permitted(PERMIT_READLINK) ? readlink(path, ret, size - 1) : -1;

	ret[len > 0 ? len : 0] = '\0';
	return len > 0 ? (size_t)len : 0;
}

/* As it is to be found by others; false: that cannot be said. */
static bool name_of(const struct dl_phdr_info *info, bool is_program, char ret[NAME_BYTES])
{
	size_t dir, len = strlen(info->dlpi_name);

	if (is_program)
		return read_link("/proc/self/exe", ret, NAME_BYTES);
	if (!strchr(info->dlpi_name, '/'))
		return false;		/* the kernel's own (vdso) */
	dir = info->dlpi_name[0] == '/' ? 0 : read_link("/proc/self/cwd", ret, NAME_BYTES - 1);
	if (dir)
		ret[dir++] = '/';
	else if (info->dlpi_name[0] != '/')
		return false;
	if (len >= NAME_BYTES - dir)
		return false;
	memcpy(ret + dir, info->dlpi_name, len + 1);
	return true;
}

static int tell(struct dl_phdr_info *info, size_t size, void *arg)
{
	unsigned int *told = arg;
	struct arena_module m = { .start = UINT64_MAX, .base = info->dlpi_addr, .program = process.program };
	char name[NAME_BYTES];

	(void)size;
	for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		m.start = start < m.start ? start : m.start;
		m.end = start + p->p_memsz > m.end ? start + p->p_memsz : m.end;
	}
	if (name_of(info, !(*told)++, name) && m.start < m.end)
		arena_module(process.arena, &m, name);
	return 0;
}

void code_look(unsigned long long adds)
{
	static unsigned long long adds_told;
	static uint32_t epoch_told;
	unsigned int told = 0;

	if (!process.arena->base || (__atomic_load_n(&epoch_told, __ATOMIC_RELAXED) == process.epoch &&
				     __atomic_exchange_n(&adds_told, adds, __ATOMIC_RELAXED) == adds))
		return;
	__atomic_store_n(&adds_told, adds, __ATOMIC_RELAXED);
	__atomic_store_n(&epoch_told, process.epoch, __ATOMIC_RELAXED);
	dl_iterate_phdr(tell, &told);
}
