#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The depth of the stack, plainly and with every function probed: at most 1.2 times as much, plus some bytes per frame, because a probe
# keeps 8 bytes and their consequences.  Only small frames show it; large ones, loops and tail calls are unchanged.
. "${srcdir:-.}/tests/instrument/lib.sh"
FRAME=48	# bytes for each frame with optimisation
tried=0

cat > depth.h <<'END'
#include <stdio.h>
#if defined(__x86_64__)
#define STACK(p) __asm__ volatile("mov %%rsp, %0" : "=r"(p))
#elif defined(__aarch64__)
#define STACK(p) __asm__ volatile("mov %0, sp" : "=r"(p))
#else
#define STACK(p) ((p) = (char *)__builtin_frame_address(0))
#endif
#define HERE() do { char *here_; STACK(here_); if (here_ < lowest) lowest = here_; } while (0)
static char *lowest;
static volatile long zero;
#ifdef __cplusplus
extern "C"
#endif
void sink(char *text);
#define MEASURE(name, frames, call) do { char *top_; STACK(top_); lowest = top_; long r_ = (long)(call); \
	printf("%s %ld %ld %ld\n", name, (long)(top_ - lowest), r_, (long)(frames)); } while (0)
END

cat > depth.c <<'END'
#include "depth.h"
#include <alloca.h>
#include <stdlib.h>
#include <setjmp.h>
enum { DEEP = 1000 };
static long recursion(long n) { HERE(); return n ? 1 + recursion(n - 1) : zero; }
static long odd(long n);
static long even(long n) { HERE(); return n ? 1 + odd(n - 1) : zero; }
static long odd(long n) { HERE(); return n ? 2 + even(n - 1) : zero; }
static long second(long n), third(long n);
static long first(long n) { HERE(); return n ? second(n - 1) + 1 : zero; }
static long second(long n) { HERE(); if (!n) return zero; return 2 + third(n - 1); }
static long third(long n) { long r; HERE(); if (!n) return zero; r = first(n - 1); return r; }
static long tail(long n, long sum) { HERE(); return n ? tail(n - 1, sum + 1) : sum; }
typedef long (*step)(long, long);
static long left(long n, long sum), right(long n, long sum);
static step volatile steps[2] = { left, right };
static long left(long n, long sum) { HERE(); if (!n) return sum; return steps[n & 1](n - 1, sum + 2); }
static long right(long n, long sum) { HERE(); if (!n) return sum; return steps[n & 1](n - 1, sum + 3); }
static void finish(long n) { HERE(); if (n) { zero += 0; finish(n - 1); return; } zero += 0; }
static long large(long n) { char text[2000]; HERE(); sink(text); return n ? 1 + large(n - 1) + text[zero] : zero; }
static long two_large(long n)
{
	HERE();
	if (n & 1) { char a[3000]; sink(a); return n ? a[zero] + two_large(n - 1) : 0; }
	char b[1000]; sink(b); return n ? b[zero] + two_large(n - 1) : 0;
}
static long allocated(long n) { char *p; HERE(); p = alloca(100 + (size_t)n); sink(p); return n ? p[zero] + allocated(n - 1) : 0; }
static long in_a_loop(long n) { long sum = 0; while (n--) { char *p = alloca(64); sink(p); sum += p[zero]; HERE(); } return sum; }
static long variable(long n) { HERE(); char a[100 + n]; sink(a); return n ? a[zero] + variable(n - 1) : 0; }
static long variable_loop(long n) { long sum = 0; for (long i = 0; i < n; i++) { char a[100 + i]; sink(a); sum += a[zero]; HERE(); } return sum; }
static inline long help(long a) { char t[64]; sink(t); return t[zero]; }
static inline long helps(long a) { return help(a) + help(a + 1); }
static long inlined(long n) { HERE(); long s = helps(n); return n ? s + inlined(n - 1) : s; }
static inline __attribute__((always_inline)) long forced(long a) { char t[40]; sink(t); return t[zero]; }
static long forced_ones(long n) { HERE(); long s = forced(n) + forced(n + 1) + forced(n + 2) + forced(n + 3); return n ? s + forced_ones(n - 1) : s; }
static jmp_buf back;
static long jumps(long n) { HERE(); if (!n) longjmp(back, 1); return 1 + jumps(n - 1); }
static long caught(long n) { volatile long s = 0; for (long i = 0; i < 50; i++) if (!setjmp(back)) s += jumps(n); return s; }
static long aligned(long n) { _Alignas(64) char a[64]; HERE(); sink(a); return n ? a[zero] + aligned(n - 1) : 0; }
static long many(long a, long b, long c, long d, long e, long f, long g, long h) { HERE(); return a ? 1 + many(a - 1, c, d, e, f, g, h, b) : b; }
static double floats(long n, double x) { HERE(); return n ? x + floats(n - 1, x * 0.5) : x; }
struct record { long v[6]; };
static struct record given(struct record r, long n) { HERE(); if (n) { r.v[n % 6]++; struct record o = given(r, n - 1); o.v[0]++; return o; } return r; }
static int compare(const void *a, const void *b);
static long sorted(long n) { long v[2] = { n, n - 1 }; HERE(); if (n > 0) qsort(v, 2, sizeof(*v), compare); return v[0]; }
static int compare(const void *a, const void *b) { long x = *(const long *)a, y = *(const long *)b; HERE(); return (int)(sorted((x < y ? x : y) - 1) * 0 + (x > y) - (x < y)); }
static long fibonacci(long n) { HERE(); return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
int main(void)
{
	MEASURE("recursion", DEEP, recursion(DEEP));
	MEASURE("mutual", DEEP, even(DEEP));
	MEASURE("three", DEEP, first(DEEP));
	MEASURE("tail", DEEP, tail(DEEP, zero));
	MEASURE("table", DEEP, left(DEEP, zero));
	MEASURE("void", DEEP, (finish(DEEP), 0));
	MEASURE("large", DEEP, large(DEEP));
	MEASURE("two_large", DEEP, two_large(DEEP));
	MEASURE("alloca", DEEP, allocated(DEEP));
	MEASURE("alloca_loop", 1, in_a_loop(DEEP));
	MEASURE("vla", DEEP, variable(DEEP));
	MEASURE("vla_loop", 1, variable_loop(DEEP));
	MEASURE("inlined", 3 * DEEP, inlined(DEEP));
	MEASURE("forced", 5 * DEEP, forced_ones(DEEP));
	MEASURE("longjmp", DEEP, caught(DEEP));
	MEASURE("aligned", DEEP, aligned(DEEP));
	MEASURE("arguments", DEEP, many(DEEP, 1, 2, 3, 4, 5, 6, 7));
	MEASURE("floats", DEEP, floats(DEEP, 1.0));
	MEASURE("records", DEEP, given((struct record){ { 0 } }, DEEP).v[0]);
	MEASURE("qsort", 200, sorted(100));
	MEASURE("fibonacci", 12, fibonacci(12));
	return 0;
}
END

cat > depth.cc <<'END'
#include "depth.h"
#include <cstdlib>
struct guard { long &n; explicit guard(long &m) : n(m) { n++; } ~guard() { n--; } };
static long open_;
static long thrown(long n) { guard g(open_); HERE(); if (!n) throw 7L; return 1 + thrown(n - 1); }
static long caught(long n) { long s = 0; for (int i = 0; i < 20; i++) try { s += thrown(n); } catch (long v) { s += v; } return s; }
static long rethrown(long n) { HERE(); if (!n) throw 1L; try { return 1 + rethrown(n - 1); } catch (long v) { if (n < 50) throw v + 1; return v; } }
struct shape { virtual long deep(long n) const = 0; };
struct round : shape { long deep(long n) const override; };
static shape *volatile some;
long round::deep(long n) const { HERE(); return n ? 1 + some->deep(n - 1) : zero; }
template <class T> static T generic(T n) { HERE(); char t[200]; sink(t); return n ? t[0] + generic<T>(n - 1) : T(zero); }
static long nested(long n) { auto f = [](long m) { HERE(); return nested(m - 1); }; HERE(); return n ? 1 + f(n) : zero; }
int main()
{
	round r;

	some = &r;
	MEASURE("exceptions", 2 * 1000, caught(1000));
	MEASURE("rethrown", 100, rethrown(100));
	MEASURE("virtual", 1000, some->deep(1000));
	MEASURE("template", 1000, generic<long>(1000));
	MEASURE("lambda", 2 * 1000, nested(1000));
}
END
printf 'void sink(char *text);\nvoid sink(char *text) { text[0] = 1; }\n' > sink.c

# without COMPILER: bytes for each frame without optimisation, where nothing is kept in a register; C++ has more probes that are
# inline functions (probe_constant.h), whose variables have places of their own
without() {
	case $1 in
	*clang++*)	echo 80 ;;
	*clang*)	echo 32 ;;
	*++*)		echo 48 ;;
	*)		echo 16 ;;
	esac
}

compare() {	# COMPILER LEVEL FILE
	tried=$((tried + 1))
	c=gcc
	$c -c -O1 sink.c -o sink.o || exit 99
	"$@" sink.o -o plain && ./plain > plain.out || exit 99
	rm -rf build
	"$launch" -b build -p all -t "$source/annotations/pthread.sync" -R "$runtime" -I "$source/annotations" -- \
		"$@" sink.o -o probed 2> err || { fail "$*: does not compile: $(cat err)"; return; }
	./probed > probed.out || { fail "$*: ends with $?"; return; }
	case $2 in
	-O0)		bytes=$(without "$1") jumps='^$' ;;
	-O1)		bytes=$FRAME jumps='^$' ;;
	*)		bytes=$FRAME jumps='^(tail|table|void|recursion|mutual)$' ;;
	esac
	awk -v bytes="$bytes" -v jumps="$jumps" 'NR == FNR { plain[$1] = $2; result[$1] = $3; next }
		!($1 in plain) || $3 != result[$1] { print $1 " has another result"; next }
		$1 ~ jumps { $4 = 0 }
		$2 > 1.2 * plain[$1] + 256 + bytes * $4 { print $1 ": " plain[$1] " bytes, with probes " $2 }' plain.out probed.out > wrong
	[ "$(wc -l < plain.out)" = "$(wc -l < probed.out)" ] || fail "$*: other output"
	[ ! -s wrong ] || fail "$*: $(cat wrong)"
	[ -z "${DEPTH_SHOW:-}" ] || awk -v w="$*" 'NR == FNR { p[$1] = $2; next } { printf "%s %s %d %d %.2f %.1f\n", w, $1, p[$1], $2, $2 / (p[$1] + 1), ($2 - 1.2 * p[$1]) / $4 }' plain.out probed.out
}

for compiler in $compilers; do
	for level in -O0 -O1 -O2 -Os -O3; do
		compare "$compiler" $level depth.c
		compare "$(echo "$compiler" | sed 's/gcc/g++/; s/clang/clang++/')" $level depth.cc
	done
done
echo "$tried programs, $failed failures"
[ "$failed" = 0 ] && [ "$tried" -gt 0 ]
