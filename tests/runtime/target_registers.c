/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * target_registers.c - what probes call, looked at from outside and instruction by instruction.
 *
 * vprof_enter() preserves all registers but r10, r11, rdx and rax, vprof_leave() all but r10, r11, rcx, rdx and rsi;
 * vprof_leave_void() changes rax instead of rsi.  The same for those that probes aside call.
 *
 * Each call finds a pattern in every register and must leave it there: also a thread's first call,
 * which attaches it, and those that find the chunk full.
 */
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include "tests/runtime/probes.h"
#include "tests/runtime/scenarios.h"

#if defined(__x86_64__)

enum { GENERAL = 13, VECTOR_BYTES = 32 * 64, CALLS = 5000 };	/* more than four chunks' worth */

struct registers {
	uint64_t general[GENERAL];
	uint64_t padding[3];
	unsigned char vectors[VECTOR_BYTES];
};

static struct registers before, after;
uint64_t try_target __attribute__((used)), try_rax __attribute__((used));

#define GENERAL_REGISTERS(op)								\
	op(0, rbx) op(8, rbp) op(16, rcx) op(24, rdx) op(32, rsi) op(40, rdi) op(48, r8)	\
	op(56, r9) op(64, r12) op(72, r13) op(80, r14) op(88, r15)
#define LOAD(offset, reg) "mov " #offset "(%rax), %" #reg "\n"
#define STORE(offset, reg) "mov %" #reg ", " #offset "(%rax)\n"

/* The registers 0 to 15 of a kind, of the given size in bytes each, from 128(%rax) on. */
#define VECTORS_0(macro, move, kind, bytes)						\
	macro(move, kind, 0, bytes) macro(move, kind, 1, bytes) macro(move, kind, 2, bytes)	\
	macro(move, kind, 3, bytes) macro(move, kind, 4, bytes) macro(move, kind, 5, bytes)	\
	macro(move, kind, 6, bytes) macro(move, kind, 7, bytes) macro(move, kind, 8, bytes)	\
	macro(move, kind, 9, bytes) macro(move, kind, 10, bytes) macro(move, kind, 11, bytes)	\
	macro(move, kind, 12, bytes) macro(move, kind, 13, bytes) macro(move, kind, 14, bytes)	\
	macro(move, kind, 15, bytes)
#define VECTORS_16(macro, move, kind, bytes)						\
	macro(move, kind, 16, bytes) macro(move, kind, 17, bytes) macro(move, kind, 18, bytes)	\
	macro(move, kind, 19, bytes) macro(move, kind, 20, bytes) macro(move, kind, 21, bytes)	\
	macro(move, kind, 22, bytes) macro(move, kind, 23, bytes) macro(move, kind, 24, bytes)	\
	macro(move, kind, 25, bytes) macro(move, kind, 26, bytes) macro(move, kind, 27, bytes)	\
	macro(move, kind, 28, bytes) macro(move, kind, 29, bytes) macro(move, kind, 30, bytes)	\
	macro(move, kind, 31, bytes)
#define VECTOR_LOAD(move, kind, i, bytes) #move " 128+" #i "*" #bytes "(%rax), %" #kind #i "\n"
#define VECTOR_STORE(move, kind, i, bytes) #move " %" #kind #i ", 128+" #i "*" #bytes "(%rax)\n"

/* uint64_t NAME(uint64_t edx, uint64_t r11, before, after): calls try_target, returns rax. */
#define TRY(name, loads, stores)							\
	__asm__(".text\n.globl " #name "\n" #name ":\n"					\
		"push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\npush %rcx\n"	\
		"mov %rsi, %r11\nmov %rdi, 24(%rdx)\nmov %rdx, %rax\n"			\
		loads GENERAL_REGISTERS(LOAD) "mov 96(%rax), %rax\n"			\
		"call *try_target(%rip)\n"						\
		"mov %rax, try_rax(%rip)\n"						\
		"pop %rax\n"								\
		GENERAL_REGISTERS(STORE) stores						\
		"mov try_rax(%rip), %rcx\nmov %rcx, 96(%rax)\nmov %rcx, %rax\n"		\
		"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n");	\
	uint64_t name(uint64_t rdx, uint64_t r11, struct registers *in, struct registers *out)

TRY(try_sse, VECTORS_0(VECTOR_LOAD, movdqu, xmm, 16), VECTORS_0(VECTOR_STORE, movdqu, xmm, 16));
TRY(try_avx, VECTORS_0(VECTOR_LOAD, vmovdqu, ymm, 32), VECTORS_0(VECTOR_STORE, vmovdqu, ymm, 32));
TRY(try_avx512, VECTORS_0(VECTOR_LOAD, vmovdqu64, zmm, 64) VECTORS_16(VECTOR_LOAD, vmovdqu64, zmm, 64),
    VECTORS_0(VECTOR_STORE, vmovdqu64, zmm, 64) VECTORS_16(VECTOR_STORE, vmovdqu64, zmm, 64));

static size_t vector_bytes;

/* Bits of general[]. */
enum { RCX = 1 << 2, RDX = 1 << 3, RSI = 1 << 4, RAX = 1 << 12 };

static bool came_back(unsigned int but)
{
	for (int i = 0; i < GENERAL; i++)
		if (before.general[i] != after.general[i] && !(but >> i & 1))
			return false;
	return true;
}

static uint64_t try_call(void (*target)(void), uint64_t rdx, uint64_t r11, unsigned int but)
{
	static unsigned char seed;
	uint64_t result;

	for (size_t i = 0; i < sizeof(before); i++)
		((unsigned char *)&before)[i] = (unsigned char)(i * 7 + seed);
	seed++;
	memset(&after, 0, sizeof(after));
	memcpy(&try_target, &target, sizeof(target));
	if (__builtin_cpu_supports("avx512f")) {
		vector_bytes = 32 * 64;
		result = try_avx512(rdx, r11, &before, &after);
	} else if (__builtin_cpu_supports("avx")) {
		vector_bytes = 16 * 32;
		result = try_avx(rdx, r11, &before, &after);
	} else {
		vector_bytes = 16 * 16;
		result = try_sse(rdx, r11, &before, &after);
	}
	CHECK(came_back(but));
	CHECK(!memcmp(before.vectors, after.vectors, vector_bytes));
	return result;
}

extern void enter_symbol(void) __asm__("vprof_enter") __attribute__((weak));
extern void leave_symbol(void) __asm__("vprof_leave") __attribute__((weak));
extern void leave_void(void) __asm__("vprof_leave_void") __attribute__((weak));
extern void enter_aside(void) __asm__("vprof_enter_aside") __attribute__((weak));
extern void leave_aside(void) __asm__("vprof_leave_aside") __attribute__((weak));

static void *call_often(void *arg)
{
	uint64_t frame[2] = { 0, 4711 };	/* with the return address that vprof_enter() looks at */

	(void)arg;
	for (int i = 0; i < CALLS && !failed_checks; i++) {
		const struct vprof_site *site = &vprof_sites[SITE_leaf];
		uint32_t word = site->gate | site_fid(site) << 8;
		bool aside = i % 3 == 1, returns_nothing = i % 3 == 2;
		uint64_t call = try_call(aside ? enter_aside : enter_symbol, word,
					 (uintptr_t)frame, RAX | RDX);

		CHECK(call != 0);
		CHECK(vprof_sites[SITE_leaf].gate == 1);
		if (returns_nothing)
			try_call(leave_void, 0, call, RAX | RCX | RDX);
		else
			try_call(aside ? leave_aside : leave_symbol, 0, call, RCX | RDX | RSI);
	}
	return NULL;
}

void run_registers(void)
{
	pthread_t t;

	CHECK(!pthread_create(&t, NULL, call_often, NULL));
	CHECK(!pthread_join(t, NULL));
}

/* A signal handler runs after each instruction of vprof_enter() and vprof_leave().  Each is shorter than the way from
 * the one to the other. */
enum { TRAP_FLAG = 0x100, FRAMES = 32, STEPS_MIN = 35 };

static void *stepped_caller;
static int steps_inside, steps_before, steps_lost, last_step;
static sigjmp_buf way_out;

static bool is_inside(uintptr_t at)
{
	uintptr_t length = (uintptr_t)leave_aside - (uintptr_t)enter_aside;
	uintptr_t starts[] = { (uintptr_t)enter_symbol, (uintptr_t)leave_symbol, (uintptr_t)leave_void, (uintptr_t)enter_aside,
			       (uintptr_t)leave_aside };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (at - starts[i] < length)
			return true;
	return false;
}

static bool is_step_inside(const void *context)
{
	return is_inside((uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP]);
}

/* The function with the probe is found, and its caller. */
static void unwind_step(int number, siginfo_t *info, void *context)
{
	void *frames[FRAMES];
	int cnt, i;

	(void)number;
	(void)info;
	if (!is_step_inside(context))
		return;
	cnt = backtrace(frames, FRAMES);
	for (i = 0; i < cnt && frames[i] != stepped_caller; i++)
		;
	steps_inside++;
	steps_lost += i == cnt;
}

static __attribute__((noinline)) void work_in_handler(void)
{
	PROBE(handler);
	call_leaf();
}

/* Now here, now there: where the stack of probes has a frame of the handler before, its address says nothing. */
static __attribute__((noinline)) void work_further_down(size_t bytes)
{
	volatile char *space = __builtin_alloca(bytes);

	*space = 0;
	work_in_handler();
}

static void record_step(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	if (!is_step_inside(context))
		return;
	steps_inside++;
	work_further_down((steps_inside - steps_before) % 2 ? 1024 : 16);
}

static void leave_step(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	if (is_step_inside(context) && ++steps_inside == last_step)
		siglongjmp(way_out, 1);
}

static __attribute__((noinline)) void stepped(void)
{
	PROBE(deep);
	stepped_caller = __builtin_return_address(0);
}

static __attribute__((noinline)) void stepped_void(void)
{
	PROBE_VOID(deep);
	stepped_caller = __builtin_return_address(0);
}

static __attribute__((noinline)) void stepped_aside(void)
{
	PROBE_ASIDE(deep);
	stepped_caller = __builtin_return_address(0);
}

static void (*const steppeds[])(void) = { stepped, stepped_void, stepped_aside };

enum { STEPPEDS = sizeof(steppeds) / sizeof(steppeds[0]) };

static __attribute__((noinline)) void step(void (*function)(void), unsigned long flag)
{
	__asm__ __volatile__("pushfq\n\txorq\t%0, (%%rsp)\n\tpopfq" : : "r"(flag) : "cc", "memory");
	function();
	__asm__ __volatile__("pushfq\n\tandq\t%0, (%%rsp)\n\tpopfq" : : "r"(~(unsigned long)TRAP_FLAG) : "cc", "memory");
}

static void at_steps(void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction act = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	CHECK(!sigaction(SIGTRAP, &act, NULL));
}

void run_unwinding(void)
{
	void *frames[FRAMES];

	CHECK(backtrace(frames, FRAMES) > 0);	/* loads what it needs */
	at_steps(unwind_step);
	for (int i = 0; i < STEPPEDS; i++) {
		steps_inside = 0;
		step(steppeds[i], 0);
		step(steppeds[i], TRAP_FLAG);
		CHECK(steps_inside >= STEPS_MIN);
	}
	CHECK(!steps_lost);
}

/* A handler records after each instruction. */
void run_steps(void)
{
	PROBE(root);
	EVENT(BEGIN, REQUEST, 1, 0);
	at_steps(record_step);
	for (int i = 0; i < 2 * STEPPEDS; i++) {
		steps_before = i / STEPPEDS + steps_inside;
		step(steppeds[i % STEPPEDS], TRAP_FLAG);
	}
	CHECK(steps_inside >= 2 * STEPPEDS * STEPS_MIN);
	EVENT(WORK, ROWS, (unsigned int)steps_inside, 0);
	EVENT(END, REQUEST, 1, 0);
}

/* Each time a handler leaves by longjmp() after one instruction more. */
void run_steps_left(void)
{
	static volatile unsigned int cnt;

	PROBE(root);
	EVENT(BEGIN, REQUEST, 1, 0);
	at_steps(leave_step);
	for (int i = 0; i < STEPPEDS; i++)
		for (last_step = 1; last_step == 1 || steps_inside == last_step - 1; last_step++) {
			steps_inside = 0;
			if (!sigsetjmp(way_out, 1))
				step(steppeds[i], TRAP_FLAG);
			call_inner();
			cnt++;
		}
	CHECK(cnt >= STEPPEDS * STEPS_MIN);
	EVENT(WORK, ROWS, cnt, 0);
	EVENT(END, REQUEST, 1, 0);
}

#else

static void run_steps_nowhere(void)
{
	EVENT(BEGIN, REQUEST, 1, 0);
	EVENT(WORK, ROWS, 0, 0);
	EVENT(END, REQUEST, 1, 0);
}

void run_unwinding(void)
{
}

void run_steps(void)
{
	run_steps_nowhere();
}

void run_steps_left(void)
{
	run_steps_nowhere();
}

void run_registers(void)
{
	for (int i = 0; i < 5000; i++)
		call_leaf();
}

#endif
