/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.c - a hash table of return addresses, and what dl_iterate_phdr() says of the files in memory.
 *
 * The loader calls the program itself "", and libraries by the name they were loaded with; for ./plugin.so
 * the current directory is added.
 */
#include <link.h>
#include <string.h>
#include <unistd.h>
#include "runtime/rules/permit.h"
#include "runtime/thread.h"
#include "runtime/waits/code.h"

enum {
	STEPS = 16,
	NAME_BYTES = 1024,
	STACK_BYTES_MAX = 32768,	/* a frame farther away than this is not searched for */
	RUNTIME_BYTES_MAX = 4096,	/* the most that our own frames take, from here to the wrapper's */
};

#ifdef __x86_64__
/* The code is not read: it may belong to a library that was unloaded, or that another thread is unloading. */
static bool points_into_code(const struct arena_map *a, uint64_t word)
{
	uint32_t cnt = __atomic_load_n(&a->control->module_cnt, __ATOMIC_ACQUIRE);

	for (uint32_t i = 1; i <= cnt && i < ARENA_MODULES; i++) {
		const struct arena_module *m = &a->modules[i];

		if (__atomic_load_n(&m->ready, __ATOMIC_ACQUIRE) && m->program == process.program && word > m->start &&
		    word < m->end)
			return true;
	}
	return false;
}

/* The frame of the innermost probed call, if it is further up this stack; else 0. */
static uint64_t probed_frame(uint64_t here)
{
	const struct vprof_frame *frame = vprof_self.top ? vprof_self.top - 1 : NULL;

	return frame && frame->start && frame->address > here && frame->address - here < STACK_BYTES_MAX &&
	       here >= vprof_self.low && frame->address < vprof_self.high ? frame->address & ~7UL : 0;
}

/* Where the return address is on the stack; 0: not found. */
static uint64_t find_slot(uint64_t here, uint64_t until, uint64_t address)
{
	uint64_t last = until - here > RUNTIME_BYTES_MAX ? here + RUNTIME_BYTES_MAX : until;

	for (; here < last; here += sizeof(uint64_t))
		if (*(const uint64_t *)here == address)
			return here;
	return 0;
}

static void note_outer(const struct arena_map *a, struct arena_caller *c, uint64_t slot, uint64_t until)
{
	unsigned int cnt = 0;

	for (slot += sizeof(uint64_t); slot < until && cnt < CODE_OUTER; slot += sizeof(uint64_t))
		if (points_into_code(a, *(const uint64_t *)slot))
			c->outer[cnt++] = *(const uint64_t *)slot;
}
#else
static uint64_t probed_frame(uint64_t here)
{
	(void)here;
	return 0;
}

static uint64_t find_slot(uint64_t here, uint64_t until, uint64_t address)
{
	(void)here;
	(void)until;
	(void)address;
	return 0;
}

static void note_outer(const struct arena_map *a, struct arena_caller *c, uint64_t slot, uint64_t until)
{
	(void)a;
	(void)c;
	(void)slot;
	(void)until;
}
#endif

uint32_t code_caller(uint64_t address)
{
	const struct arena_map *a = process.arena;
	uint64_t entry = code_entry(process.program, address), at, place;
	uint64_t here = (uint64_t)&entry & ~7UL, until = probed_frame(here), slot = until ? find_slot(here, until, address) : 0;

	/* A thread may still write to the arena of before. */
	if (!a->base || a != thread_self.arena || !address || address >> CODE_ADDRESS_BITS || !process.program ||
	    process.program >= CODE_PROGRAMS)
		return 0;
	place = (slot ? until - slot : 0) | 1;
	at = arena_hash(entry ^ place << 32);
	for (unsigned int step = 0; step < STEPS; step++) {
		uint32_t i = (uint32_t)((at + step) % ARENA_CALLERS);
		struct arena_caller *c = &a->callers[i];
		uint64_t taken = __atomic_load_n(&c->entry, __ATOMIC_ACQUIRE);

		if (!taken && __atomic_compare_exchange_n(&c->entry, &taken, entry, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			if (slot)
				note_outer(a, c, slot, until);
			__atomic_store_n(&c->place, place, __ATOMIC_RELEASE);
			return i + 1;
		}
		if (taken == entry && __atomic_load_n(&c->place, __ATOMIC_ACQUIRE) == place)
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

/* The path by which others can find the file; false: it has none. */
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
