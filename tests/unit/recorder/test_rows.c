/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_rows.c - what look-ups make of a stack is what libdw makes of it, frame by frame; and of this program's ordinary
 * functions libdw is not asked again.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include "base/str.h"
#include "recorder/stacks/functions.h"
#include "recorder/stacks/stacks.h"
#include "recorder/stacks/unwind.h"
#include "trace/kernel_format.h"
#include "tests/unit/cmocka_all.h"

#define APART __attribute__((noinline))

enum { MOST = STACK_DEEP_BYTES, DEEP = 200 };

static struct record_stack first, taken;
static unsigned int wanted_bytes;
static volatile unsigned int sink;

static size_t bytes_above(uintptr_t rsp)
{
	pthread_attr_t a;
	size_t bytes;
	void *lowest;

	assert_int_equal(pthread_getattr_np(pthread_self(), &a), 0);
	assert_int_equal(pthread_attr_getstack(&a, &lowest, &bytes), 0);
	pthread_attr_destroy(&a);
	return (uintptr_t)lowest + bytes - rsp;
}

/* Word by word, for sanitizers look after memcpy() and do not like what lies between variables. */
static APART __attribute__((no_sanitize("address"))) void copy_words(void *to, uintptr_t from, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
		((volatile uint64_t *)to)[i] = ((const volatile uint64_t *)from)[i];
}

/* As the kernel's program copies it, of the caller. */
static APART void take_stack(void)
{
	size_t bytes;
	ucontext_t c;
	const greg_t *g = c.uc_mcontext.gregs;
	static const struct { enum stack_register ours; int theirs; } pairs[] = {
		{ STACK_R15, REG_R15 }, { STACK_R14, REG_R14 }, { STACK_R13, REG_R13 }, { STACK_R12, REG_R12 },
		{ STACK_RBP, REG_RBP }, { STACK_RBX, REG_RBX }, { STACK_RIP, REG_RIP }, { STACK_RSP, REG_RSP },
	};

	assert_int_equal(getcontext(&c), 0);
	memset(&taken, 0, offsetof(struct record_stack, user));
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		taken.registers[pairs[i].ours] = (unsigned long long)g[pairs[i].theirs];
	taken.pid = (unsigned int)getpid();
	taken.ns = 1;
	bytes = bytes_above((uintptr_t)g[REG_RSP]);
	taken.user_bytes = bytes < wanted_bytes ? (unsigned int)bytes : wanted_bytes;
	copy_words(taken.user, (uintptr_t)g[REG_RSP], taken.user_bytes);
	sink++;
}

static APART void outer(void) { take_stack(); sink++; }
static APART void with_frame(unsigned int bytes) { char *p = alloca(bytes); p[0] = (char)sink; outer(); sink += (unsigned)p[0]; }
static APART void recursive(unsigned int n) { if (n) recursive(n - 1); else with_frame(100 + sink % 7); sink++; }
static int compare(const void *a, const void *b) { recursive(3); return *(const int *)a - *(const int *)b; }
static APART void by_qsort(void) { int two[] = { 2, 1 }; qsort(two, 2, sizeof(two[0]), compare); sink++; }
static void on_signal(int number) { (void)number; outer(); }
static APART void by_signal(void) { signal(SIGUSR1, on_signal); raise(SIGUSR1); sink++; }
static APART void far_away(void) { with_frame(STACK_BYTES + 100); sink++; }
static APART void hollow(void) { with_frame(2 * STACK_PAGE_BYTES + 100); sink++; }
static APART void deeply(void) { recursive(DEEP); sink++; }
static void *thread(void *arg) { by_qsort(); return arg; }

static void by_thread(void)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, thread, NULL), 0);
	pthread_join(t, NULL);
}

/* By images that have unwound outer() alone before, so that there is an unwinder. */
static struct shape *unwound(struct images *images, struct record_stack *first, bool libdw_alone, uint64_t *ret_libdw_cnt)
{
	uint32_t next = 0;
	struct unwinder *u;
	struct shape *s;
	uint64_t before;

	assert_non_null(unwind(images, first, &next));
	u = images_item(images, 0)->unwinder;
	before = u->libdw_cnt;
	u->libdw_alone = libdw_alone;
	s = unwind(images, &taken, &next);
	*ret_libdw_cnt = u->libdw_cnt - before;
	assert_non_null(s);
	return s;
}

static void free_all(struct images *images)
{
	for (size_t i = 0; images_item(images, i); i++)
		unwinder_free(images_item(images, i)->unwinder);
	images_free(images);
}

/* frame_cnt: at least; asks_libdw: how often it may be asked. */
static void same(unsigned int frame_cnt, uint64_t asks_libdw, bool ended)
{
	struct images *by_rows = images_new(), *by_libdw = images_new();
	uint64_t asked, asked_alone;
	struct shape *a = unwound(by_rows, &first, false, &asked), *b = unwound(by_libdw, &first, true, &asked_alone);

	assert_true(a->frame_cnt >= frame_cnt);
	assert_int_equal(a->frame_cnt, b->frame_cnt);
	assert_memory_equal(a->frames, b->frames, a->frame_cnt * sizeof(*a->frames));
	assert_true(a->ended == ended && b->ended == ended && a->cut == b->cut);
	assert_int_equal(asked, asks_libdw);
	assert_int_equal(asked_alone, 1);
	/* No word is looked at that libdw did not look at, and each return address is. */
	assert_true(a->slot_cnt <= b->slot_cnt && a->slot_cnt + 1 >= a->frame_cnt);
	for (uint32_t i = 0, k; i < a->slot_cnt; i++) {
		for (k = 0; k < b->slot_cnt && b->slots[k].offset != a->slots[i].offset; k++)
			;
		assert_true(k < b->slot_cnt && b->slots[k].value == a->slots[i].value &&
			    b->slots[k].relative == a->slots[i].relative);
	}
	free_all(by_rows);
	free_all(by_libdw);
}

static void test_ordinary(void **state)
{
	(void)state;
	outer();
	same(3, 0, true);
	recursive(20);
	same(25, 0, true);
	by_qsort();
	same(10, 0, true);
	by_thread();
	same(10, 0, true);
}

/* Longer than what was copied; deeper than FRAMES_MAX. */
static void test_cut(void **state)
{
	(void)state;
	wanted_bytes = STACK_BYTES;
	far_away();
	same(3, 0, true);
	wanted_bytes = MOST;
	far_away();
	same(8, 0, true);
	deeply();
	same(FRAMES_MAX, 0, false);
}

/* A stack that came twice is given to the kernel: the second time it has the same number. */
static uint32_t known_number(struct stacks *stacks)
{
	uint32_t number = stacks_number(stacks, &taken, sizeof(taken));
	struct known_stack known;
	unsigned int place;

	assert_false(stacks_known(stacks, &taken, taken.ns + 1, &place, &known));
	assert_int_equal(stacks_number(stacks, &taken, sizeof(taken)), number);
	return number;
}

/* A stack of which a page could not be read is given to the kernel as any other; when it can be read it is another one. */
static void test_falls_short(void **state)
{
	struct stacks *stacks = stacks_new();
	struct known_stack known = { 0 };
	uint32_t whole, fallen;
	unsigned int all, place;

	(void)state;
	wanted_bytes = MOST;
	hollow();
	all = taken.user_bytes;
	taken.image = 1;
	taken.user_bytes = STACK_PAGE_BYTES - (unsigned int)(taken.registers[STACK_RSP] % STACK_PAGE_BYTES);
	while (taken.user_bytes < STACK_PAGE_BYTES / 2 || taken.user_bytes == STACK_BYTES)
		taken.user_bytes += STACK_PAGE_BYTES;
	same(3, 0, true);
	fallen = known_number(stacks);
	assert_true(stacks_known(stacks, &taken, 2, &place, &known));
	assert_true(known.falls_short && known.number_plus_one == fallen + 1 && known.bytes <= taken.user_bytes);
	taken.user_bytes = all;
	taken.ns = 3;
	whole = known_number(stacks);
	assert_int_not_equal(whole, fallen);
	assert_true(stacks_known(stacks, &taken, 4, &place, &known));
	assert_true(!known.falls_short && known.number_plus_one == whole + 1);
	stacks_free(stacks);
}

/* A signal's frame is libdw's. */
static void test_signal(void **state)
{
	(void)state;
	wanted_bytes = MOST;
	by_signal();
	same(6, 1, true);
}

/* As probes do it (runtime/calls.c): for unwinding, the call was from where the jump behind it leads. */
__asm__(".text\nodd_call: .cfi_startproc\n"
	".cfi_escape 0x16, 16, 17, 0x38, 0x1c, 0x06, 0x12, 0x31, 0x22, 0x94, 4, "
	"0x08, 32, 0x24, 0x08, 32, 0x26, 0x22, 0x35, 0x22\n"
	"call odd_outer\nret\n.cfi_endproc\n");
void odd_outer(void);
extern char odd_place[];
__attribute__((used)) void odd_outer(void) { outer(); sink++; }

static APART void by_odd_call(void)
{
	__asm__ __volatile__("call odd_call\n.byte 0xe9\n.long odd_place - . - 4\nud2\nodd_place:"
			     : : : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc", "memory");
	sink++;
}

/* At any instruction, whatever RSP and RBP are there: the same as libdw, though most are in a piece that is known by then. */
static void every_instruction(uintptr_t from, unsigned int bytes, unsigned int asked_at_most)
{
	struct images *by_rows = images_new(), *by_libdw = images_new();
	uint32_t next = 0;

	assert_true(unwind(by_rows, &first, &next) && unwind(by_libdw, &first, &next));
	images_item(by_libdw, 0)->unwinder->libdw_alone = true;
	for (unsigned int i = 0; i < bytes; i++) {
		struct shape *a, *b;

		taken.registers[STACK_RIP] = from + i * 7 % bytes;
		a = unwind(by_rows, &taken, &next);
		b = unwind(by_libdw, &taken, &next);
		assert_true(a && b && a->frame_cnt == b->frame_cnt && a->cut == b->cut && a->ended == b->ended);
		assert_memory_equal(a->frames, b->frames, a->frame_cnt * sizeof(*a->frames));
	}
	assert_in_range(images_item(by_rows, 0)->unwinder->rows.cnt, 10, asked_at_most);
	free_all(by_rows);
	free_all(by_libdw);
}

static void test_every_instruction(void **state)
{
	(void)state;
	by_qsort();
	every_instruction((uintptr_t)compare, 40, 40);
	every_instruction((uintptr_t)qsort, 509, 100);
}

/* If very many stacks come once, a new one stands for its piece of the function; the place of a wait is reported as ever. */
static void test_inexact(void **state)
{
	struct images *images = images_new();
	uint32_t next = SHAPES_EXACT, pieces;
	struct shape *s, *exact;

	(void)state;
	by_qsort();
	assert_non_null(unwind(images, &first, &next));
	for (int turn = 0; turn < 2; turn++) {
		for (unsigned int i = 0; i < 509; i++) {
			taken.registers[STACK_RIP] = (uintptr_t)qsort + i;
			taken.driven = turn == 0;
			taken.reason = turn ? STACK_SAMPLE : STACK_OUT;
			s = unwind(images, &taken, &next);
			assert_true(s && s->frames[0] <= (uintptr_t)qsort + i && !s->traced);
		}
		if (!turn)
			pieces = next - SHAPES_EXACT;
		assert_int_equal(next, SHAPES_EXACT + pieces);
	}
	assert_in_range(pieces, 2, 100);
	taken.driven = 0;
	taken.reason = STACK_OUT;
	exact = unwind(images, &taken, &next);
	assert_true(exact && exact != s && exact->frames[0] == (uintptr_t)qsort + 508 && exact->frame_cnt == s->frame_cnt);
	assert_memory_equal(exact->frames + 1, s->frames + 1, (s->frame_cnt - 1) * sizeof(*s->frames));
	free_all(images);
}

/* The function at each address of this program, and at every 61st of the C library, is the one that libdw finds. */
static void test_functions(void **state)
{
	struct images *images = images_new();
	struct functions *functions = functions_new();
	uint32_t next = 0, asked = 0;
	Dwfl *dwfl;

	(void)state;
	by_qsort();
	assert_non_null(unwind(images, &taken, &next));
	dwfl = images_item(images, 0)->unwinder->dwfl;
	for (int i = 0; i < 2; i++) {
		uint64_t from = i ? (uintptr_t)qsort - 20000 : (uintptr_t)copy_words;

		for (uint64_t at = from; at < from + (i ? 61 * 3000 : 3000); at += i ? 61 : 1, asked++) {
			Dwfl_Module *module = dwfl_addrmodule(dwfl, at);
			const char *name = functions_name(functions, module, at), *of_libdw = dwfl_module_addrname(module, at);

			if (name != of_libdw)
				assert_string_equal(name, of_libdw);
		}
	}
	assert_int_equal(asked, 6000);
	functions_free(functions);
	free_all(images);
}

/* Both are at that address. */
static void has_clock(void *context, const char *text, size_t len)
{
	const char *last = memrchr(text, ';', len);

	(void)context;
	assert_true(last && (starts_with(last, ";clock_gettime") || starts_with(last, ";__vdso_clock_gettime")));
}

/* In the kernel's own code, which no file of /proc/PID/maps has. */
static void test_vdso(void **state)
{
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	uintptr_t clock = vdso ? (uintptr_t)dlsym(vdso, "__vdso_clock_gettime") : 0;
	struct stacks *stacks;
	uint64_t back;

	(void)state;
	if (!clock) {			/* under valgrind, which hides it */
		print_message("no vDSO\n");
		skip();
	}
	outer();
	back = taken.registers[STACK_RIP] + 1;
	taken.registers[STACK_RIP] = clock;
	taken.registers[STACK_RSP] -= sizeof(back);
	memmove(taken.user + sizeof(back), taken.user, sizeof(taken.user) - sizeof(back));
	memcpy(taken.user, &back, sizeof(back));
	same(4, 0, true);
	stacks = stacks_new();
	assert_int_equal(stacks_number(stacks, &taken, sizeof(taken)), 0);
	stacks_each(stacks, has_clock, &back, &(struct unnamed_stacks){ 0 });
	stacks_free(stacks);
	dlclose(vdso);
}

static void test_odd_call(void **state)
{
	struct images *images = images_new();
	uint64_t asked;
	struct shape *s;

	(void)state;
	by_odd_call();
	s = unwound(images, &first, false, &asked);
	assert_true(s->ended && asked == 1 && s->frame_cnt > 6);
	assert_true(s->frames[4] == (uintptr_t)odd_place - 1);
	free_all(images);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ordinary), cmocka_unit_test(test_cut), cmocka_unit_test(test_falls_short),
		cmocka_unit_test(test_signal), cmocka_unit_test(test_odd_call),
		cmocka_unit_test(test_every_instruction), cmocka_unit_test(test_inexact),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_vdso),
	};

	wanted_bytes = MOST;
	outer();
	first = taken;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
