/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwind_rows.c - the frames that libdw would find, by look-ups.
 *
 * For nearly all code the call frame information has one simple form: the caller's RSP is a number of bytes above RSP
 * or RBP, the return address stands just below that, and RBP is as it was or was saved there.  libdw finds that out
 * anew for each frame of each stack, with all registers; here it is asked once for each piece of code with the same
 * form, and the answer is kept.  Return addresses repeat, and are in a map; an address of preemption or of a sample
 * does not, but is mostly in a known piece.
 *
 *	burn+4 to burn+8f	RSP + 24, return address 8 below, RBP 16 below
 *	main+1 to main+71	RSP + 16, return address 8 below, RBP as it was
 *	_start to _start+26	no return address: the stack's end
 *
 * The deciding words are known as well: the return addresses, and the saved frame pointers that a caller's place was
 * computed from.  libdw reads all saved registers; values kept in them made stacks look different that unwind alike.
 *
 * Anything else (signal frames, expressions, frames relative to other registers, code of no file) leaves the whole
 * stack to libdw.
 */
#include "recorder/stacks/unwind.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/map.h"
#include "base/search.h"

enum { DWARF_RBP = 6, DWARF_RSP = 7, DWARF_RETURN_ADDRESS = 16 };
enum { IN_REGISTER = UINT32_MAX };

enum saved { SAVED_NOT, SAVED_AT, SAVED_UNDEFINED, SAVED_OTHERWISE };

/* Where a register of the caller is saved, relative to its RSP (CFA). */
static enum saved saved_at(Dwarf_Frame *frame, int number, int64_t *ret_offset)
{
	Dwarf_Op memory[3], *ops;
	size_t cnt;

	if (dwarf_frame_register(frame, number, memory, &ops, &cnt))
		return SAVED_OTHERWISE;
	if (cnt == 0)
		return ops ? SAVED_UNDEFINED : SAVED_NOT;
	if (cnt > 2 || ops[0].atom != DW_OP_call_frame_cfa || (cnt == 2 && ops[1].atom != DW_OP_plus_uconst))
		return SAVED_OTHERWISE;
	*ret_offset = cnt == 2 ? (int64_t)ops[1].number : 0;
	return SAVED_AT;
}

static bool reckoned_from(Dwarf_Frame *frame, struct row *ret)
{
	Dwarf_Op *ops;
	size_t cnt;

	if (dwarf_frame_cfa(frame, &ops, &cnt) || cnt != 1)
		return false;
	if (ops->atom == DW_OP_bregx) {
		ret->from_rbp = ops->number == DWARF_RBP;
		ret->cfa = (int64_t)ops->number2;
		return ops->number == DWARF_RBP || ops->number == DWARF_RSP;
	}
	ret->from_rbp = ops->atom == DW_OP_breg6;
	ret->cfa = (int64_t)ops->number;
	return ops->atom == DW_OP_breg6 || ops->atom == DW_OP_breg7;
}

static struct row understand(Dwarf_Frame *frame, Dwarf_Addr *ret_from, Dwarf_Addr *ret_until)
{
	struct row row = { .kind = ROW_SIMPLE };
	bool of_signal;
	enum saved rbp;

	if (dwarf_frame_info(frame, ret_from, ret_until, &of_signal) != DWARF_RETURN_ADDRESS || of_signal)
		return (struct row){ .kind = ROW_OTHER };
	switch (saved_at(frame, DWARF_RETURN_ADDRESS, &row.return_address)) {
	case SAVED_UNDEFINED:
		return (struct row){ .kind = ROW_LAST };
	case SAVED_AT:
		break;
	default:
		return (struct row){ .kind = ROW_OTHER };
	}
	rbp = saved_at(frame, DWARF_RBP, &row.rbp);
	row.saves_rbp = rbp == SAVED_AT;
	if ((rbp != SAVED_AT && rbp != SAVED_NOT) || !reckoned_from(frame, &row))
		row.kind = ROW_OTHER;
	return row;
}

/* Keeps the part of a range, which contains pc, that no other range covers. */
static void keep_range(struct unwinder *u, struct row_range range, uint64_t pc)
{
	struct row_range *r;
	size_t at = partition_point(i, u->ranges.cnt, u->ranges.items[i].from <= pc);

	VEC_ADD(&u->ranges, range);
	r = &u->ranges.items[at];
	memmove(r + 1, r, (u->ranges.cnt - 1 - at) * sizeof(range));
	if (at && range.from < r[-1].until)
		range.from = r[-1].until;
	if (at + 1 < u->ranges.cnt && range.until > r[1].from)
		range.until = r[1].from;
	*r = range;
}

/* Asks libdw.  The row's index in `rows`, plus one; 0: no file has this address. */
static uint32_t ask(struct unwinder *u, uint64_t pc)
{
	struct row_range range = { pc, pc + 1, (uint32_t)u->rows.cnt };
	struct row row = { .kind = ROW_OTHER };
	Dwfl_Module *module = dwfl_addrmodule(u->dwfl, pc);
	Dwarf_Addr bias, from, until;
	Dwarf_Frame *frame;
	Dwarf_CFI *cfi;

	if (!module)
		return 0;
	cfi = dwfl_module_eh_cfi(module, &bias);
	if (cfi && dwarf_cfi_addrframe(cfi, pc - bias, &frame) == 0) {
		row = understand(frame, &from, &until);
		if (from <= pc - bias && pc - bias < until)
			range = (struct row_range){ from + bias, until + bias, range.row };
		free(frame);
	}
	VEC_ADD(&u->rows, row);
	keep_range(u, range, pc);
	return range.row + 1;
}

/* NULL: not asked for yet. */
static const struct row_range *range_of(const struct unwinder *u, uint64_t pc)
{
	size_t after = partition_point(i, u->ranges.cnt, u->ranges.items[i].from <= pc);
	const struct row_range *r = after ? &u->ranges.items[after - 1] : NULL;

	return r && pc < r->until ? r : NULL;
}

uint64_t piece_begin(const struct unwinder *u, uint64_t pc)
{
	const struct row_range *r = range_of(u, pc);

	return r ? r->from : pc;
}

/* Asks again for an address that no file had: one may be mapped by then. */
static struct row row_of(struct unwinder *u, uint64_t pc, bool is_return_address)
{
	const struct row_range *range;
	uint64_t known = 0;
	uint32_t row;

	if (is_return_address && map_get(u->row_of, pc, &known))
		return u->rows.items[known];
	range = range_of(u, pc);
	row = range ? range->row + 1 : ask(u, pc);
	if (!row)
		return (struct row){ .kind = ROW_OTHER };
	if (is_return_address)
		map_set(u->row_of, pc, row - 1);
	return u->rows.items[row - 1];
}

struct walk {
	uint64_t pc, rsp, rbp;
	uint32_t rbp_from;		/* where RBP was read, relative to RSP; IN_REGISTER */
	bool is_left_to_libdw;
};

/* The places of the next return addresses depend on the current RBP. */
static bool depends_on_rbp(struct unwinder *u, struct walk *w)
{
	struct slot slot = { w->rbp_from, true, w->rbp - u->now->registers[STACK_RSP] };

	if (slot.value >= STACK_SIZE_MAX || u->result.slot_cnt == SLOTS_MAX)
		return false;
	if (w->rbp_from == IN_REGISTER)
		u->result.rbp = (struct slot){ .relative = true, .value = slot.value };
	else
		u->slots[u->result.slot_cnt++] = slot;
	return true;
}

/* False: this frame is the last known one, or nothing is known here. */
static bool step(struct unwinder *u, const struct row *row, struct walk *w)
{
	uint64_t cfa = (row->from_rbp ? w->rbp : w->rsp) + (uint64_t)row->cfa, rsp = u->now->registers[STACK_RSP];
	uint64_t place = cfa + (uint64_t)row->return_address, return_address;

	w->is_left_to_libdw = true;
	if (cfa <= w->rsp || (row->from_rbp && !depends_on_rbp(u, w)))
		return false;
	if (!unwind_read(u, place, &return_address)) {
		w->is_left_to_libdw = false;
		u->result.ended = u->result.cut != 0;
		return false;
	}
	if (!return_address || u->result.slot_cnt == SLOTS_MAX)
		return false;
	if (row->saves_rbp) {
		w->rbp_from = (uint32_t)(cfa + (uint64_t)row->rbp - rsp);
		if (!unwind_read(u, cfa + (uint64_t)row->rbp, &w->rbp))
			return false;
	}
	u->slots[u->result.slot_cnt++] = (struct slot){ (uint32_t)(place - rsp), false, return_address };
	u->frames[u->result.frame_cnt++] = return_address - 1;
	w->pc = return_address;
	w->rsp = cfa;
	w->is_left_to_libdw = false;
	return true;
}

bool rows_walk(struct unwinder *u)
{
	const uint64_t *registers = (const uint64_t *)u->now->registers;
	struct walk w = { registers[STACK_RIP], registers[STACK_RSP], registers[STACK_RBP], IN_REGISTER, false };
	struct row row;

	u->result = (struct shape){ .traced = true };
	u->frames[u->result.frame_cnt++] = w.pc;
	do {
		/* The call that returns to pc is the instruction before it. */
		row = row_of(u, u->frames[u->result.frame_cnt - 1], u->result.frame_cnt > 1);
		if (row.kind == ROW_OTHER)
			return false;
		u->result.ended = row.kind == ROW_LAST;
	} while (!u->result.ended && u->result.frame_cnt < FRAMES_MAX && step(u, &row, &w));
	return !w.is_left_to_libdw;
}
