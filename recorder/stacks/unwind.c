/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwind.c - each stack is unwound once.
 *
 * libdw takes some microseconds for a stack, look-ups of its earlier answers (unwind_rows.c) fewer.  But the places
 * where return addresses were found in a stack determine whether another one is equal: the same RIP, and the same
 * return addresses in the same places, are the same frames, for the place of the next return address depends on the
 * address before it; and of a function that keeps a frame pointer, on that register or where it was saved.  So all
 * words that were read and point into the stack must point to the same places, too.
 *
 *	RIP in futex_wait, 24: pthread_mutex_lock+8f, 88: RSP + 200, 96: serve+31, 208: start_thread+2e
 *	the next with that RIP: what is at 24, 88, 96 and 208?
 *
 * The kernel makes the same comparison before it copies anything (stacks.bpf.h).
 *
 * None of this happens in the program, which has long continued.
 */
#include "recorder/stacks/unwind.h"

#include <gelf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "recorder/stacks/jit_names.h"
#include "recorder/stacks/vdso.h"
#include "trace/kernel_format.h"

#define JIT_ASK_NS 1000000000ULL

enum { DWARF_REGISTER_CNT = 17, SHAPES_OF_SAME_FRAMES = 16 };

/* In DWARF's order. */
static const enum stack_register dwarf_registers[DWARF_REGISTER_CNT] = {
	STACK_RAX, STACK_RDX, STACK_RCX, STACK_RBX, STACK_RSI, STACK_RDI, STACK_RBP, STACK_RSP,
	STACK_R8, STACK_R9, STACK_R10, STACK_R11, STACK_R12, STACK_R13, STACK_R14, STACK_R15, STACK_RIP,
};

/* The difference between addresses in memory and in the file, from the place of one segment. */
static bool bias_of(const struct mapping *m, const char *path, uint64_t *ret_bias)
{
	int fd = file_open_plain(path, O_RDONLY);
	Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	size_t cnt = 0;
	bool found = false;

	if (elf && elf_getphdrnum(elf, &cnt) == 0) {
		for (size_t i = 0; i < cnt && !found; i++) {
			GElf_Phdr p;

			if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X) ||
			    m->offset + (m->end - m->start) <= p.p_offset ||
			    m->offset >= p.p_offset + p.p_filesz)
				continue;
			*ret_bias = m->start - m->offset + p.p_offset - p.p_vaddr;
			found = true;
		}
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return found;
}

static bool is_reported(const struct unwinder *u, const struct mapping *m)
{
	return dwfl_addrmodule(u->dwfl, m->start) != NULL;
}

static void report(struct unwinder *u)
{
	if (u->reported == u->image->mappings.cnt)
		return;
	dwfl_report_begin_add(u->dwfl);
	for (; u->reported < u->image->mappings.cnt; u->reported++) {
		const struct mapping *m = &u->image->mappings.items[u->reported];
		const char *path = strcmp(m->path, VDSO_NAME) ? m->path : vdso_path();
		uint64_t bias;

		if (path && !is_reported(u, m) && bias_of(m, path, &bias))
			dwfl_report_elf(u->dwfl, m->path, path, -1, bias, true);
	}
	dwfl_report_end(u->dwfl, NULL, NULL);
}

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = context;
	return 1;
}

/* Unwind entries may read the code itself: those of probes do (runtime/calls.c). */
static bool read_code(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret)
{
	Dwfl_Module *m = dwfl_addrmodule(dwfl, address);
	Dwarf_Addr offset = address, bias;
	Elf_Scn *section = m ? dwfl_module_address_section(m, &offset, &bias) : NULL;
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	GElf_Shdr header;

	if (!data || !data->d_buf || offset >= data->d_size || !gelf_getshdr(section, &header) ||
	    !(header.sh_flags & SHF_EXECINSTR) || header.sh_flags & SHF_WRITE)
		return false;
	*ret = 0;
	memcpy(ret, (const char *)data->d_buf + offset,
	       data->d_size - offset < sizeof(*ret) ? data->d_size - offset : sizeof(*ret));
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *context)
{
	struct unwinder *u = context;
	uint64_t offset = address - u->now->registers[STACK_RSP];

	if (!unwind_read(u, address, ret))
		return read_code(dwfl, address, ret);
	if (u->read_cnt < FRAMES_MAX * 8)
		u->reads[u->read_cnt++] = (struct slot){ .offset = (uint32_t)offset, .value = *ret };
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
	const struct unwinder *u = context;
	Dwarf_Word values[DWARF_REGISTER_CNT];

	for (int i = 0; i < DWARF_REGISTER_CNT; i++)
		values[i] = u->now->registers[dwarf_registers[i]];
	return dwfl_thread_state_registers(thread, 0, DWARF_REGISTER_CNT, values);
}

/* Finds, among the words read since the frame before, the place of this frame's return address.  (libdw may have read
 * the next one's already.) */
static void keep_slot(struct unwinder *u, uint64_t pc)
{
	for (size_t i = u->read_at; i < u->read_cnt; i++) {
		if (u->reads[i].value != pc)
			continue;
		u->slots[u->result.slot_cnt++] = u->reads[i];
		u->read_at = i + 1;
		return;
	}
}

static int take_frame(Dwfl_Frame *frame, void *context)
{
	struct unwinder *u = context;
	Dwarf_Addr pc;
	bool exact;

	if (u->result.frame_cnt == FRAMES_MAX || !dwfl_frame_pc(frame, &pc, &exact) || !pc)
		return DWARF_CB_ABORT;
	if (u->result.frame_cnt)
		keep_slot(u, pc);
	/* The call that returns to pc is the instruction before it. */
	u->frames[u->result.frame_cnt++] = pc - !exact;
	return DWARF_CB_OK;
}

static bool attach(struct unwinder *u)
{
	static const Dwfl_Thread_Callbacks callbacks = {
		.next_thread = next_thread, .memory_read = read_memory, .set_initial_registers = set_registers,
	};

	u->attached = u->attached || dwfl_attach_state(u->dwfl, NULL, 1, &callbacks, u);
	return u->attached;
}

/* For an address without frame information libdw searches the separate debugging information, which has none either.
 * Unpacking the C library's takes 53 ms, and fetching one from a server seconds, in which stacks are lost. */
static int no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *path, const char *link,
			GElf_Word link_sum, char **ret)
{
	(void)module, (void)data, (void)name, (void)base, (void)path, (void)link, (void)link_sum, (void)ret;
	return -1;
}

static Dwfl *begin(bool for_names)
{
	static char *no_path;
	static const Dwfl_Callbacks callbacks[] = {
		{ .find_elf = dwfl_build_id_find_elf, .find_debuginfo = no_debuginfo, .debuginfo_path = &no_path },
		{ .find_elf = dwfl_build_id_find_elf, .find_debuginfo = dwfl_standard_find_debuginfo, .debuginfo_path = &no_path },
	};

	return dwfl_begin(&callbacks[for_names]);
}

static struct unwinder *unwinder_new(struct image *image)
{
	struct unwinder *u = xcalloc(1, sizeof(*u));

	elf_version(EV_CURRENT);
	u->image = image;
	u->dwfl = begin(false);
	u->arena = arena_new();
	u->shapes = map_new();
	u->inexact = map_new();
	u->row_of = map_new();
	return u;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	map_free(u->shapes);
	map_free(u->inexact);
	arena_free(u->arena);
	map_free(u->row_of);
	VEC_RELEASE(&u->rows);
	VEC_RELEASE(&u->ranges);
	dwfl_end(u->dwfl);
	jit_names_free(u->jit);
	free(u);
}

/* Whether the file at that path is still the same. */
static int compare_module(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr start, void *others)
{
	Dwfl_Module *other = dwfl_addrmodule(others, start);
	const unsigned char *id, *other_id;
	GElf_Addr at;
	int len = dwfl_module_build_id(module, &id, &at), other_len = other ? dwfl_module_build_id(other, &other_id, &at) : -1;

	(void)data, (void)name;
	if (!other || (len > 0) != (other_len > 0) || (len > 0 && (len != other_len || memcmp(id, other_id, (size_t)len) != 0)))
		return DWARF_CB_ABORT;
	return DWARF_CB_OK;
}

void unwinder_for_names(struct unwinder *u)
{
	Dwfl *before = u->dwfl;

	u->dwfl = begin(true);
	u->reported = 0;
	u->jit = jit_names_read(u->image->pid, u->image->dump);
	report(u);
	if (dwfl_getmodules(before, compare_module, u->dwfl, 0) != 0) {
		dwfl_end(u->dwfl);
		u->dwfl = before;
	} else {
		dwfl_end(before);
	}
}

static bool same_rbp(const struct shape *s, const struct record_stack *r)
{
	return !s->rbp.relative || r->registers[STACK_RBP] - r->registers[STACK_RSP] == s->rbp.value;
}

static bool fits(const struct shape *s, const struct record_stack *r)
{
	if (!s->traced || !same_rbp(s, r) || (s->cut && s->cut < r->user_bytes))
		return false;		/* untraced: a return address came from elsewhere, and nothing follows */
	for (uint32_t i = 0; i < s->slot_cnt; i++) {
		uint64_t value;

		if (s->slots[i].offset + sizeof(value) > r->user_bytes)
			return false;
		memcpy(&value, r->user + s->slots[i].offset, sizeof(value));
		if (s->slots[i].relative)
			value -= r->registers[STACK_RSP];
		if (value != s->slots[i].value)
			return false;
	}
	return true;
}

static struct shape *find_shape(struct unwinder *u, const struct record_stack *r)
{
	uint64_t *first = map_slot(u->shapes, r->registers[STACK_RIP]);
	struct shape *s = (struct shape *)(uintptr_t)*first, *before = NULL;

	while (s && !fits(s, r)) {
		before = s;
		s = s->next;
	}
	if (s && before) {		/* the last one seen is likely to come again */
		before->next = s->next;
		s->next = (struct shape *)(uintptr_t)*first;
		*first = (uintptr_t)s;
	}
	return s;
}

/* How many of s and the shapes after it have these frames; stores one of them in *ret. */
static unsigned int same_frames(struct shape *s, const struct unwinder *u, struct shape **ret)
{
	unsigned int cnt = 0;

	for (; s; s = s->next) {
		if (s->frame_cnt != u->result.frame_cnt || s->cut != u->result.cut ||
		    memcmp(s->frames, u->frames, s->frame_cnt * sizeof(*s->frames)) != 0)
			continue;
		*ret = s;
		cnt++;
	}
	return cnt;
}

static bool is_one_of_many(const struct record_stack *r, uint32_t number)
{
	return number >= SHAPES_EXACT && (r->driven || r->reason == STACK_SAMPLE);
}

/* Records only the piece of code of the innermost function. */
static void make_inexact(struct unwinder *u)
{
	u->frames[0] = piece_begin(u, u->frames[0]);
	u->result.traced = false;	/* it would not be found by that */
}

static uint64_t hash_of_frames(const struct unwinder *u)
{
	return hash_bytes(u->result.cut, u->frames, u->result.frame_cnt * sizeof(*u->frames));
}

static struct shape *keep_shape(struct unwinder *u, uint32_t *next_number)
{
	bool inexact = is_one_of_many(u->now, *next_number);
	uint64_t *first;
	struct shape *s, *same = NULL;
	unsigned int same_cnt;

	if (inexact)
		make_inexact(u);
	first = inexact ? map_slot(u->inexact, hash_of_frames(u)) : map_slot(u->shapes, u->now->registers[STACK_RIP]);
	s = (struct shape *)(uintptr_t)*first;
	same_cnt = same_frames(s, u, &same);
	if (same && (!u->result.traced || same_cnt >= SHAPES_OF_SAME_FRAMES))
		return same;
	s = ARENA_NEW(u->arena, struct shape, 1);
	*s = u->result;
	s->unwinder = u;
	s->number = same ? same->number : (*next_number)++;
	s->frames = ARENA_NEW(u->arena, uint64_t, s->frame_cnt);
	s->slots = ARENA_NEW(u->arena, struct slot, s->slot_cnt);
	memcpy(s->frames, u->frames, s->frame_cnt * sizeof(*s->frames));
	memcpy(s->slots, u->slots, s->slot_cnt * sizeof(*s->slots));
	s->next = (struct shape *)(uintptr_t)*first;
	*first = (uintptr_t)s;
	return s;
}

static struct unwinder *unwinder_of(struct image *image)
{
	if (!image->unwinder)
		image->unwinder = unwinder_new(image);
	return image->unwinder;
}

static bool points_into(const struct record_stack *r, uint64_t value)
{
	return value - r->registers[STACK_RSP] < STACK_SIZE_MAX;
}

static bool has_slot(const struct unwinder *u, uint32_t offset)
{
	for (uint32_t i = 0; i < u->result.slot_cnt; i++)
		if (u->slots[i].offset == offset)
			return true;
	return false;
}

/* Keeps the other words on which the places of return addresses may have depended. */
static void keep_pointers(struct unwinder *u, const struct record_stack *r)
{
	uint64_t rsp = r->registers[STACK_RSP], rbp = r->registers[STACK_RBP];

	u->result.traced = u->result.slot_cnt + 1 == u->result.frame_cnt && u->read_cnt < FRAMES_MAX * 8;
	u->result.rbp = (struct slot){ .relative = points_into(r, rbp), .value = rbp - rsp };
	for (size_t i = 0; i < u->read_cnt && u->result.traced; i++) {
		const struct slot *read = &u->reads[i];

		if (!points_into(r, read->value) || has_slot(u, read->offset))
			continue;
		u->slots[u->result.slot_cnt++] = (struct slot){ read->offset, true, read->value - rsp };
		u->result.traced = u->result.slot_cnt < SLOTS_MAX;
	}
}

static bool run_libdw(struct unwinder *u, const struct record_stack *r)
{
	u->result = (struct shape){ 0 };
	u->read_cnt = u->read_at = 0;
	u->libdw_cnt++;
	if (!attach(u))
		return false;
	u->result.ended = dwfl_getthread_frames(u->dwfl, 1, take_frame, u) == 0 || u->result.cut != 0;
	keep_pointers(u, r);
	return true;
}

/* False: it leads out of all known code.  (Rows are of code in files: only a frame that was not reached any more may
 * be in none.) */
static bool run(struct unwinder *u, const struct record_stack *r)
{
	report(u);
	u->now = r;
	if (!u->libdw_alone && rows_walk(u)) {
		if (u->result.frame_cnt < FRAMES_MAX)
			return true;
	} else {
		u->result = (struct shape){ 0 };
		if (!dwfl_addrmodule(u->dwfl, r->registers[STACK_RIP]) || !run_libdw(u, r))
			return false;
	}
	return u->result.frame_cnt && dwfl_addrmodule(u->dwfl, u->frames[u->result.frame_cnt - 1]);
}

/* Code that the process made is in no file and has no frame information: libdw follows frame pointers, which such code keeps.  Not
 * of any address: what is no code at all would seem to have callers. */
static bool run_jit(struct unwinder *u, const struct record_stack *r)
{
	if (!u->may_be_jit && (!u->jit_asked_ns || r->ns > u->jit_asked_ns + JIT_ASK_NS)) {
		u->may_be_jit = u->image->dump || jit_names_exist(u->image->pid);
		u->jit_asked_ns = r->ns;
	}
	u->now = r;
	return u->may_be_jit && run_libdw(u, r) && u->result.frame_cnt;
}

struct shape *unwind(struct images *all, const struct record_stack *r, uint32_t *next_number)
{
	struct image *image = images_find(all, r->pid, r->ns);
	struct shape *known = image ? find_shape(unwinder_of(image), r) : NULL;

	if (known) {
		known->came_again = true;
		return known;
	}
	if (!image || !run(unwinder_of(image), r)) {
		struct image *now = images_look(all, r->pid, r->ns);

		bool is_known = now && run(unwinder_of(now), r);

		image = now ? now : image;
		if (image && !is_known && !image->unwinder->result.frame_cnt)
			run_jit(image->unwinder, r);
	}
	if (!image || !image->unwinder->result.frame_cnt)
		return NULL;
	return keep_shape(image->unwinder, next_number);
}

bool shape_known(const struct shape *s, const struct record_stack *r, struct known_stack *ret)
{
	if (!s->came_again || !s->traced || !s->ended || !r->image || s->slot_cnt > KNOWN_WORDS_MAX)
		return false;
	*ret = (struct known_stack){
		.image = r->image, .rip = r->registers[STACK_RIP], .rsp = r->registers[STACK_RSP],
		.word_cnt = s->slot_cnt, .rbp_counts = -s->rbp.relative, .rbp = s->rbp.value,
	};
	for (uint32_t i = 0; i < s->slot_cnt; i++) {
		const struct slot *slot = &s->slots[i];

		if (slot->offset % 8 || slot->offset > STACK_DEEP_BYTES - 8)
			return false;
		ret->words[i] = (struct known_word){ slot->value, slot->offset / 8, -slot->relative };
		if (ret->bytes < slot->offset + 8)
			ret->bytes = slot->offset + 8;
	}
	return true;
}
