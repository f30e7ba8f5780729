/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What C with GNU's extensions has. */
#include "counts.h"
#include <alloca.h>
#include <setjmp.h>
#include <string.h>

static int old_style(a, b) int a; char *b; { HERE return a + (int)strlen(b); }
#ifdef __clang__
static int forward(int *a, int n) { HERE return a[n - 1]; }
#else
static int forward(int n; int a[n], int n) { HERE return a[n - 1]; }
#endif
static int sum(int n, ...) { HERE __builtin_va_list l; int s = 0; __builtin_va_start(l, n); while (n--) s += __builtin_va_arg(l, int); __builtin_va_end(l); return s; }
static int variable(int n) { HERE int i = 0; again: { int a[n]; a[n - 1] = i; if (i++ < 3) goto again; return a[n - 1]; } }
static int allocates(int n) { HERE char *p = alloca((size_t)n); memset(p, 1, (size_t)n); return p[n - 1]; }
static int computed(const char *p) { HERE static void *const to[] = { &&plus, &&stop }; int n = 0; goto *to[*p - '0']; plus: n++; goto *to[*++p - '0']; stop: return n; }
static int falls(int n) { HERE switch (n) { int x; case 0: n++; __attribute__((fallthrough)); case 1: x = n; return x; case 5 ... 9: return 5; default: return -1; } }
static int expression(int n) { HERE return ({ int m = n; if (m < 0) return -1; while (m > 10) m /= 2; m; }); }
static int jumps(int n) { HERE __asm__ goto ("test %0, %0\n\tjz %l1" : : "r"(n) : "cc" : zero); return 1; zero: return 0; }
#define BLOCK(code) do { code } while (0)
static int in_macro(int n) { HERE BLOCK(if (n) return 1; n = 5;); return n; }
#define FUNCTION(name, ...) static int name(int n) __VA_ARGS__
FUNCTION(made, { HERE int a = n, b = 2; return a + b; })
static jmp_buf jump;
static void far(int n) { HERE if (n) far(n - 1); counts_unleft(__LINE__); longjmp(jump, 4); }
static void closes(int *n) { HERE ++*n; }
static int cleaned(int n) { HERE int m __attribute__((cleanup(closes))) = n; return m; }
static struct pair { int a, b; } returns(int a) { HERE return (struct pair){ .b = a, .a = 1 }; }
static _Noreturn void leaves(void) { HERE counts_unleft(__LINE__); longjmp(jump, 6); }
extern __inline__ __attribute__((always_inline, gnu_inline)) int inlined(int n) { return n + 1; }	/* without: inline */
static __attribute__((pure, noinline)) int pure(int n) { HERE return n; }
static int typed(int n) { HERE return _Generic(n, int: 1, default: 2); }
static int (*pointer(void))(int) { HERE return typed; }
static int deep(int n) { HERE return n ? deep(n - 1) + 0 * n : counts_depth(); }
int main(int argc, char **argv)
{ HERE
	(void)argv;
#ifndef __clang__
	int nested(int n) { return n + argc; }	/* libclang does not show it */
	int (*volatile through)(int) = nested;
	TELL(through(3) + nested(2))
#endif
	TELL(old_style(1, "ab") + sum(3, 1, 2, 3) + variable(5) + allocates(9) + computed("0001") + falls(0) + falls(7) + falls(2))
	TELL(expression(-1) + expression(90) + jumps(0) + jumps(1) + in_macro(0) + in_macro(1) + made(1) + cleaned(3) + returns(2).b)
	TELL(inlined(1) + pure(2) + pointer()(1) + deep(6))
	int numbers[] = { 3, 4 };
	TELL(forward(numbers, 2))
	int r = setjmp(jump);
	if (r == 0) far(3);
	TELL(r)
	if (r == 4) leaves();
	return 0;
}
