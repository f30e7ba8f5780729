/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.c - interprets the instructions that the kernel accepts for seccomp: words of struct seccomp_data,
 * sixteen words of memory, jumps forward only.  So each program terminates.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "runtime/rules/filter.h"

enum { PROGRAM_MAX = 4096 };

struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
	bool failed;
};

static uint32_t load(struct machine *m, const struct sock_filter *i, const struct seccomp_data *call)
{
	uint32_t word = 0;

	switch (BPF_MODE(i->code)) {
	case BPF_IMM:
		return i->k;
	case BPF_LEN:
		return sizeof(*call);
	case BPF_MEM:
		if (i->k < BPF_MEMWORDS)
			return m->memory[i->k];
		break;
	case BPF_ABS:
		if (BPF_CLASS(i->code) == BPF_LD && i->k % sizeof(word) == 0 && i->k < sizeof(*call)) {
			memcpy(&word, (const char *)call + i->k, sizeof(word));
			return word;
		}
		break;
	}
	m->failed = true;
	return 0;
}

static uint32_t operand(const struct machine *m, const struct sock_filter *i)
{
	return BPF_SRC(i->code) == BPF_X ? m->x : i->k;
}

static void compute(struct machine *m, const struct sock_filter *i)
{
	uint32_t by = operand(m, i);

	switch (BPF_OP(i->code)) {
	case BPF_ADD:
		m->a += by;
		break;
	case BPF_SUB:
		m->a -= by;
		break;
	case BPF_MUL:
		m->a *= by;
		break;
	case BPF_DIV:
		m->failed |= !by;
		m->a = by ? m->a / by : 0;
		break;
	case BPF_OR:
		m->a |= by;
		break;
	case BPF_AND:
		m->a &= by;
		break;
	case BPF_XOR:
		m->a ^= by;
		break;
	case BPF_LSH:
		m->a = by < 32 ? m->a << by : 0;
		break;
	case BPF_RSH:
		m->a = by < 32 ? m->a >> by : 0;
		break;
	case BPF_NEG:
		m->a = -m->a;
		break;
	default:
		m->failed = true;
	}
}

/* How many instructions are passed over. */
static uint32_t jump(struct machine *m, const struct sock_filter *i)
{
	uint32_t with = operand(m, i);

	switch (BPF_OP(i->code)) {
	case BPF_JA:
		return i->k;
	case BPF_JEQ:
		return m->a == with ? i->jt : i->jf;
	case BPF_JGT:
		return m->a > with ? i->jt : i->jf;
	case BPF_JGE:
		return m->a >= with ? i->jt : i->jf;
	case BPF_JSET:
		return m->a & with ? i->jt : i->jf;
	}
	m->failed = true;
	return 0;
}

static void store(struct machine *m, const struct sock_filter *i, uint32_t word)
{
	if (i->k < BPF_MEMWORDS)
		m->memory[i->k] = word;
	else
		m->failed = true;
}

static uint32_t run(const struct sock_fprog *p, const struct seccomp_data *call)
{
	struct machine m = { .a = 0 };

	for (uint32_t at = 0; at < p->len && !m.failed; at++) {
		const struct sock_filter i = p->filter[at];
		uint32_t over;

		switch (BPF_CLASS(i.code)) {
		case BPF_LD:
			m.a = load(&m, &i, call);
			break;
		case BPF_LDX:
			m.x = load(&m, &i, call);
			break;
		case BPF_ST:
			store(&m, &i, m.a);
			break;
		case BPF_STX:
			store(&m, &i, m.x);
			break;
		case BPF_ALU:
			compute(&m, &i);
			break;
		case BPF_JMP:
			over = jump(&m, &i);
			if (over >= p->len)
				return SECCOMP_RET_KILL_THREAD;
			at += over;
			break;
		case BPF_RET:
			return BPF_RVAL(i.code) == BPF_A ? m.a : i.k;
		case BPF_MISC:
			if (BPF_MISCOP(i.code) == BPF_TAX)
				m.x = m.a;
			else
				m.a = m.x;
			break;
		}
	}
	return SECCOMP_RET_KILL_THREAD;
}

bool filter_permits(const struct sock_fprog *program, const struct seccomp_data *call)
{
	uint32_t answer;

	if (!program->len || program->len > PROGRAM_MAX)
		return false;
	answer = run(program, call) & 0xffff0000U;	/* the action; the lower half is its data */
	return answer == SECCOMP_RET_ALLOW || answer == SECCOMP_RET_LOG;
}
