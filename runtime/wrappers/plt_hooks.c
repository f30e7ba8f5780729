/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plt_hooks.c - points the calls of uninstrumented code at the wrappers.
 *
 * libstdc++ calls pthread_cond_wait, libevent epoll_wait, libuv read: those calls were not redirected when they were
 * compiled.  But each library calls through a slot of its own that the loader fills:
 *
 *	libevent.so: JUMP_SLOT epoll_wait	0x7f..c0 (libc's) -> vprof_w_epoll_wait
 *
 * The slots of the program and of its libraries are changed once a recorded process has attached; where nothing is
 * recorded nothing is touched.  No symbol gets another address, so other interposition works as before, and nothing
 * counts twice: instrumented code calls the wrappers itself, the wrappers call the C library through real.h, whose
 * pointers are no slots.
 *
 * Only a slot that leads where the wrapper leads is changed.  A slot that is not filled yet (lazy binding) leads into
 * its own library's table; it will lead there, too, but for the condition variables of 2002 (pthread_cond_* of
 * GLIBC_2.2.5), which have a layout of their own.
 *
 * Left alone: the C library and the loader, whose inner calls are no waits of the program's; the sanitizers'
 * libraries; this one.  A library that is loaded later is seen when a thread is created next, when an instrumented
 * unit registers, or when a symbol is looked up by dlsym().
 */
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runtime/causal/virtual_clock.h"
#include "runtime/process.h"
#include "runtime/rules/permit.h"
#include "runtime/waits/code.h"
#include "runtime/wrappers/plt_hooks.h"
#include "runtime/wrappers/real.h"

#if defined(__x86_64__) && defined(__LP64__)
enum { SLOT_LAZY = R_X86_64_JUMP_SLOT, SLOT_DATA = R_X86_64_GLOB_DAT, SLOT_POINTER = R_X86_64_64 };
#elif defined(__aarch64__)
enum { SLOT_LAZY = R_AARCH64_JUMP_SLOT, SLOT_DATA = R_AARCH64_GLOB_DAT, SLOT_POINTER = R_AARCH64_ABS64 };
#else
#define NO_SLOTS
#endif

#ifndef NO_SLOTS
struct wrapped {
	const char *name;
	void *const *real;
	void *wrapper;
	bool is_clock;			/* only where clocks are virtual */
};

static const struct wrapped wrapped[] = {
#define X(type, name, params, args) \
	{ #name, (void *const *)(const void *)&real.name, (void *)vprof_w_##name, false },
	RUNTIME_WRAPPERS(X)
	ALIAS_WRAPPERS(X)
#undef X
#define X(type, name, params, args) \
	{ #name, (void *const *)(const void *)&real.name, (void *)vprof_w_##name, true },
	CLOCK_WRAPPERS(X)
#undef X
};

enum { WRAPPED_CNT = sizeof(wrapped) / sizeof(wrapped[0]), INDEX_SIZE = 512 };
_Static_assert(WRAPPED_CNT < 255 && WRAPPED_CNT < INDEX_SIZE / 2, "the index has room");

static unsigned char by_name[INDEX_SIZE];	/* number in wrapped + 1 */
static unsigned long long adds_seen;

static unsigned int hash_name(const char *name)
{
	unsigned int h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

static void fill_index(void)
{
	for (unsigned int i = 0; i < WRAPPED_CNT; i++) {
		unsigned int at = hash_name(wrapped[i].name);

		while (by_name[at % INDEX_SIZE])
			at++;
		by_name[at % INDEX_SIZE] = (unsigned char)(i + 1);
	}
}

static const struct wrapped *find_wrapped(const char *name)
{
	for (unsigned int at = hash_name(name); by_name[at % INDEX_SIZE]; at++) {
		const struct wrapped *w = &wrapped[by_name[at % INDEX_SIZE] - 1];

		if (!strcmp(w->name, name))
			return w;
	}
	return NULL;
}

struct object {				/* a program or library in memory */
	const struct dl_phdr_info *info;
	const ElfW(Sym) *symbols;
	const char *strings;
	const ElfW(Half) *versions;
	const ElfW(Verneed) *needed;
	const ElfW(Rela) *relas, *jumps;
	size_t rela_cnt, jump_cnt;
	uintptr_t relro, relro_end;
	bool writable;			/* relro was made so */
};

/* glibc has added the base to most of these pointers in memory, musl to none. */
static const void *at_base(const struct object *o, ElfW(Addr) value)
{
	return (const void *)(value < o->info->dlpi_addr ? value + o->info->dlpi_addr : value);
}

static void read_dynamic(struct object *o, const ElfW(Dyn) *d)
{
	size_t first = 0;

	for (; d->d_tag != DT_NULL; d++) {
		const void *at = at_base(o, d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			o->symbols = at;
		else if (d->d_tag == DT_STRTAB)
			o->strings = at;
		else if (d->d_tag == DT_VERSYM)
			o->versions = at;
		else if (d->d_tag == DT_VERNEED)
			o->needed = at;
		else if (d->d_tag == DT_RELA)
			o->relas = at;
		else if (d->d_tag == DT_RELASZ)
			o->rela_cnt = d->d_un.d_val / sizeof(ElfW(Rela));
		else if (d->d_tag == DT_RELACOUNT)
			first = d->d_un.d_val;
		else if (d->d_tag == DT_JMPREL)
			o->jumps = at;
		else if (d->d_tag == DT_PLTRELSZ)
			o->jump_cnt = d->d_un.d_val / sizeof(ElfW(Rela));
	}
	if (o->relas && first <= o->rela_cnt) {		/* those name no symbol */
		o->relas += first;
		o->rela_cnt -= first;
	}
}

static bool read_object(struct object *o)
{
	long page = sysconf(_SC_PAGESIZE);

	for (ElfW(Half) i = 0; i < o->info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &o->info->dlpi_phdr[i];
		uintptr_t start = o->info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_DYNAMIC)
			read_dynamic(o, (const void *)start);
		if (p->p_type == PT_GNU_RELRO) {
			o->relro = start & ~((uintptr_t)page - 1);
			o->relro_end = (start + p->p_memsz) & ~((uintptr_t)page - 1);
		}
	}
	return o->symbols && o->strings;
}

static bool contains(const struct object *o, const void *address)
{
	for (ElfW(Half) i = 0; i < o->info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &o->info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD &&
		    (uintptr_t)address - (o->info->dlpi_addr + p->p_vaddr) < p->p_memsz)
			return true;
	}
	return false;
}

/* names: possible prefixes, NULL after the last. */
static bool is_named(const struct object *o, const char *const *names)
{
	const char *slash = strrchr(o->info->dlpi_name, '/');
	const char *name = slash ? slash + 1 : o->info->dlpi_name;

	while (*names && strncmp(name, *names, strlen(*names)))
		names++;
	return *names;
}

static const char *const c_names[] = { "libc.so", "libc-", "libpthread", NULL };

static bool is_left_alone(const struct object *o)
{
	static const char *const names[] = { "ld-linux", "ld-musl", "librt", "linux-vdso", "libasan", "libhwasan",
		"libtsan", "liblsan", "libubsan", NULL };

	/* libvprof.so; a program's own name is empty */
	return is_named(o, c_names) || is_named(o, names) || (*o->info->dlpi_name && contains(o, &real));
}

static const char *version_of(const struct object *o, size_t symbol)
{
	const ElfW(Verneed) *n = o->versions ? o->needed : NULL;

	while (n) {
		const ElfW(Vernaux) *a = (const void *)((const char *)n + n->vn_aux);

		for (unsigned int i = 0; i < n->vn_cnt; i++) {
			if (a->vna_other == (o->versions[symbol] & 0x7fff))
				return o->strings + a->vna_name;
			a = (const void *)((const char *)a + a->vna_next);
		}
		n = n->vn_next ? (const void *)((const char *)n + n->vn_next) : NULL;
	}
	return "";
}

static bool leads_to_real(const struct object *o, const struct wrapped *w, void *const *slot,
			  unsigned int type, size_t symbol)
{
	if (*slot == *w->real)
		return true;
	return type == SLOT_LAZY && contains(o, *slot) &&
	       (strncmp(w->name, "pthread_cond_", 13) ||
		strcmp(version_of(o, symbol), "GLIBC_2.2.5"));
}

static bool make_writable(struct object *o, const void *slot)
{
	if ((uintptr_t)slot < o->relro || (uintptr_t)slot >= o->relro_end || o->writable)
		return true;
	o->writable = permitted(PERMIT_MPROTECT) &&
		      !mprotect((void *)o->relro, o->relro_end - o->relro, PROT_READ | PROT_WRITE);
	return o->writable;
}

static void change_slot(struct object *o, const ElfW(Rela) *rela)
{
	unsigned int type = (unsigned int)ELF64_R_TYPE(rela->r_info);
	size_t symbol = ELF64_R_SYM(rela->r_info);
	void **slot = (void **)(o->info->dlpi_addr + rela->r_offset);
	const struct wrapped *w;

	if ((type != SLOT_LAZY && type != SLOT_DATA && type != SLOT_POINTER) ||
	    (type == SLOT_POINTER && rela->r_addend) || o->symbols[symbol].st_shndx != SHN_UNDEF ||
	    (uintptr_t)slot - (uintptr_t)&real < sizeof(real))
		return;
	w = find_wrapped(o->strings + o->symbols[symbol].st_name);
	/* A program may have taken the function's address (-no-pie): then this slot is how we reach the function. */
	if (w && w->is_clock && *w->real && contains(o, *w->real))
		virtual_clock_is_out_of_reach();
	if (!w || (w->is_clock && !clock_is_virtual) || !*w->real || contains(o, *w->real) || !leads_to_real(o, w, slot, type, symbol))
		return;
	if (make_writable(o, slot))
		__atomic_store_n(slot, w->wrapper, __ATOMIC_RELEASE);
	else if (w->is_clock)
		virtual_clock_is_out_of_reach();
}

static int see_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct object o = { .info = info };

	(void)size;
	(void)arg;
	if (is_left_alone(&o) || !read_object(&o))
		return 0;
	for (size_t i = 0; i < o.jump_cnt && o.jumps; i++)
		change_slot(&o, &o.jumps[i]);
	for (size_t i = 0; i < o.rela_cnt && o.relas; i++)
		change_slot(&o, &o.relas[i]);
	if (o.writable)
		mprotect((void *)o.relro, o.relro_end - o.relro, PROT_READ);
	return 0;
}

/* The program comes first.  One without a loader has no slots. */
static int look_for_loader(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++)
		*(bool *)arg |= info->dlpi_phdr[i].p_type == PT_INTERP;
	return 1;
}

static int read_adds(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(unsigned long long *)arg = info->dlpi_adds;
	return 1;
}

void libraries_look(void)
{
	unsigned long long adds = 0;

	if (!process.waiters)
		return;
	dl_iterate_phdr(read_adds, &adds);
	code_look(adds);
	if (__atomic_exchange_n(&adds_seen, adds, __ATOMIC_RELAXED) != adds)
		dl_iterate_phdr(see_object, NULL);
}

struct search {
	const void *const *functions;
	size_t cnt, found_cnt;
	bool watched;
};

static int search_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	static const char *const watchers[] = { "vgpreload_helgrind", "vgpreload_drd", NULL };
	struct search *s = arg;
	struct object o = { .info = info };

	(void)size;
	s->watched |= is_named(&o, watchers);
	for (size_t i = 0; i < s->cnt && is_named(&o, c_names); i++)
		s->found_cnt += contains(&o, s->functions[i]);
	return 0;
}

bool libraries_has_c(const void *const *functions, size_t cnt)
{
	struct search s = { .functions = functions, .cnt = cnt };

	dl_iterate_phdr(search_object, &s);
	return s.found_cnt == cnt && !s.watched;
}

void libraries_attach(void)
{
	static bool filled;

	if (!filled)
		fill_index();
	filled = true;
	if (clock_is_virtual) {
		bool has_loader = false;

		dl_iterate_phdr(look_for_loader, &has_loader);
		if (!has_loader)
			virtual_clock_is_out_of_reach();
	}
	libraries_look();
}
#else
void libraries_look(void)
{
}

void libraries_attach(void)
{
	virtual_clock_is_out_of_reach();
}

bool libraries_has_c(const void *const *functions, size_t cnt)
{
	(void)functions;
	return cnt == 0;
}
#endif

/* clang has an attribute for that; without it, clang inlined libraries_look() into the wrapper, whose
 * variable prevented the jump.  gcc has no such attribute and jumps if it optimises: libraries.sh. */
#if defined(__clang__)
#define ENDS_IN_A_JUMP __attribute__((musttail))
#else
#define ENDS_IN_A_JUMP
#endif

/* The call must end in a jump, because dlsym() checks who called it.  (No caller can ask a library for its
 * symbols before it is loaded.) */
void *vprof_w_dlsym(void *library, const char *name)
{
	libraries_look();
	ENDS_IN_A_JUMP return real.dlsym(library, name);
}
