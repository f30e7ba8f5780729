#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# More ways to end in a call than tails.sh has: goto to a return, what a template's parameter decides, recursion that adds up,
# records returned, labels as values, musttail. A program that runs in a small stack without probes also does with them.
. "${srcdir:-.}/tests/instrument/lib.sh"
STACK_KB=256
tried=0
needed=0

cat > leads.c <<'END'
#include <stdio.h>
#include <stdlib.h>
struct vm { unsigned long acc; unsigned left; };
typedef long (*op)(struct vm *);
extern const op ops[6];
static long out(struct vm *m) { long r; m->acc += 3; if (!m->left--) { r = 1; goto out; } r = ops[m->left % 6](m); goto out; out: return r; }
static long falls(struct vm *m) { long r = 5; if (!m->left--) goto done; if (m->acc & 1) { m->acc++; r = ops[m->left % 6](m); goto done; } r = ops[(m->left + 1) % 6](m); done: return r; }
static long hops(struct vm *m) { long r = 5; if (!m->left--) goto one; r = ops[m->acc % 6](m); goto one; last: return r; two: goto last; one: goto two; }
static long loops(struct vm *m) { long r = 5; for (;;) { if (!m->left--) goto end; switch (m->left & 1) { case 0: r = ops[m->acc % 6](m); goto end; default: r = ops[m->left % 6](m); goto end; } } end: return r; }
static long back(struct vm *m) { long r; goto begin; end: return r; begin: r = 7; if (!m->left--) goto end; r = ops[m->acc % 6](m); goto end; }
static long computed(struct vm *m)
{
	static void *const to[] = { &&one, &&two, &&three };

	if (!m->left--)
		return 4;
	goto *to[m->left % 3];
one:	m->acc += 1; return ops[m->acc % 6](m);
two:	m->acc += 2; goto out;
three:	m->acc += 3;
out:	return ops[m->left % 6](m);
}
const op ops[6] = { out, falls, hops, loops, back, computed };
static void (*volatile quiet[3])(struct vm *), (*volatile no_space)(struct vm *);
static void leaves(struct vm *m) { if (!m->left--) goto out; m->acc++; quiet[m->left % 3](m); goto out; out: return; }
static void ends(struct vm *m) { if (m->left) { m->left--; quiet[m->left % 3](m); goto out; } m->acc += 10; out: ; }
static void both(struct vm *m) { if (!m->left) goto b; m->left--; quiet[m->acc % 3](m); a: b: ; goto c; c: return; goto a; }
static void tight(struct vm *m) {leaves(m);}
static void tighter(struct vm *m) {no_space(m);}
int main(int c, char **v)
{
	struct vm m = { 1, 200000 };

	quiet[0] = tighter; quiet[1] = ends; quiet[2] = both; no_space = tight;
	if (atoi(v[c - 1]))
		leaves(&m);
	else
		m.acc += (unsigned long)ops[0](&m);
	printf("%lu\n", m.acc);
	return 0;
}
END

cat > sums.c <<'END'
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next, *left; long v; };
static long length(const struct node *n) { return n ? 1 + length(n->next) : 0; }
static long total(const struct node *n) { if (!n) return 0; return total(n->next) + n->v; }
static unsigned long product(long n) { if (n <= 1) return 1; return (unsigned long)(n | 1) * product(n - 1); }
static unsigned long bits(const struct node *n) { return !n ? 0 : bits(n->next) ^ (unsigned long)n->v; }
static long count(const struct node *n) { return n ? 1 + count(n->left) + count(n->next) : 0; }
static long local(const struct node *n) { long r; if (!n) return 0; r = n->v + local(n->next); return r; }
static long adds(const struct node *n) { long r = 2; if (n) r += adds(n->next); return r; }
static long less(const struct node *n) { return n ? less(n->next) - 1 : 0; }
static long jumps(const struct node *n) { long r = 0; if (!n) goto out; r = 3 + jumps(n->next); out: return r; }
static long walks(const struct node *n) { if (n->left) walks(n->left); return n->next ? n->v + walks(n->next) : 0; }
int main(int argc, char **argv)
{
	enum { CNT = 200000 };
	struct node *all = calloc(CNT, sizeof(*all));

	for (long i = 0; i < CNT; i++) {
		all[i].v = i & 7;
		all[i].next = i + 1 < CNT ? &all[i + 1] : NULL;
	}
	switch (atoi(argv[argc - 1])) {
	case 0: printf("%ld\n", length(all)); break;
	case 1: printf("%ld\n", total(all)); break;
	case 2: printf("%lu\n", product(CNT)); break;
	case 3: printf("%lu\n", bits(all)); break;
	case 4: printf("%ld\n", count(all)); break;
	case 5: printf("%ld\n", local(all)); break;
	case 6: printf("%ld\n", adds(all)); break;
	case 7: printf("%ld\n", less(all)); break;
	case 8: printf("%ld\n", jumps(all)); break;
	case 9: printf("%ld\n", walks(all)); break;
	}
	return 0;
}
END

cat > records.c <<'END'
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
struct big { unsigned long v[8]; };
struct pair { long a, b; };
struct vm { unsigned long acc; unsigned left; };
typedef struct big (*op)(struct vm *);
typedef struct pair (*small)(struct vm *);
static struct big a(struct vm *m), b(struct vm *m);
static struct pair c(struct vm *m), d(struct vm *m);
static op volatile ops[2] = { a, b };
static small volatile smalls[2] = { c, d };
static struct big a(struct vm *m) { m->acc += 3; if (!m->left--) return (struct big){ { m->acc } }; return ops[m->left & 1](m); }
static struct big b(struct vm *m) { m->acc ^= 3; if (!m->left--) { struct big r = { { 7 } }; return r; } return ops[m->left & 1](m); }
static struct pair c(struct vm *m) { m->acc += 3; if (!m->left--) return (struct pair){ 1, 2 }; return smalls[m->left & 1](m); }
static struct pair d(struct vm *m) { struct pair r = { 3, 4 }; if (!m->left--) return r; r = smalls[m->left & 1](m); return r; }
static struct big self(long n) { if (!n) return (struct big){ { 9 } }; return self(n - 1); }
static struct big named(long n) { struct big r; if (!n) { r.v[0] = 9; return r; } r = self(n - 1); return r; }
typedef long (*listed)(struct vm *, ...);
static long e(struct vm *m, ...), f(struct vm *m, ...);
static listed volatile lists[2] = { e, f };
static long e(struct vm *m, ...) { va_list v; va_start(v, m); m->acc += va_arg(v, unsigned); va_end(v); if (!m->left--) return 1; return lists[m->left & 1](m, m->left); }
static long f(struct vm *m, ...) { m->acc ^= 3; if (!m->left--) return 2; return lists[m->left & 1](m, 7u); }
#ifdef __clang__
#define MUST __attribute__((musttail))
#else
#define MUST
#endif
static long must(struct vm *m) { m->acc += 5; if (!m->left--) return 3; MUST return must(m); }
int main(int argc, char **argv)
{
	struct vm m = { 1, 200000 };

	switch (atoi(argv[argc - 1])) {
	case 0: printf("%lu\n", a(&m).v[0]); break;
	case 1: printf("%ld\n", c(&m).a); break;
	case 2: printf("%lu\n", self(200000).v[0]); break;
	case 3: printf("%lu\n", named(200000).v[0]); break;
	case 4: printf("%ld\n", e(&m, 1u)); break;
	case 5: printf("%ld\n", must(&m)); break;
	}
	return 0;
}
END

cat > depends.cc <<'END'
#include <cstdio>
#include <cstdlib>
struct state { unsigned long acc; unsigned left; };
template <class T> struct machine;
template <class T> using op = unsigned long (*)(machine<T> &);
template <class T> struct machine { T s; op<T> volatile ops[2]; };
template <class T> unsigned long add(machine<T> &m) { m.s.acc += 3; if (!m.s.left--) return m.s.acc; return m.ops[m.s.left & 1](m); }
template <class T> unsigned long mix(machine<T> &m) { m.s.acc ^= 5; if (!m.s.left--) return m.s.acc; return m.ops[m.s.left & 1](m); }
template <class T> static unsigned long self(T n, T s) { return n ? self(n - 1, s + 1) : s; }
template <class F> unsigned long apply(F f, unsigned n) { if (!n) return 4; return f(n - 1); }
static unsigned long back(unsigned n) { return apply(back, n); }
struct base { virtual unsigned long run(state &s) = 0; };
template <class D> struct shared : base { D *next; unsigned long run(state &s) override { if (!s.left--) return s.acc; s.acc++; return static_cast<D *>(this)->next->run(s); } };
struct leaf : shared<leaf> {};
static unsigned long passed(state &s, int i);
static unsigned long (*volatile to)(state &, int) = passed;
template <class F> auto invoke(F f, state &s, int i) -> decltype(f(s, i)) { return f(s, i); }
static unsigned long passed(state &s, int i) { if (!s.left--) return s.acc; s.acc++; return invoke(to, s, i); }
template <class T> void quiet(T &m) { m.s.acc++; if (!m.s.left) return; m.s.left--; quiet(m); }
struct stays { int n; explicit stays(int i) : n(i) {} stays(const stays &) = delete; };
template <class T, class F> T made(F f, int n) { if (n > 5) return T(n); return f(n); }
template <class T> T moved(T &&t) { return static_cast<T &&>(t); }
int main(int argc, char **argv)
{
	machine<state> m = { { 1, 200000 }, { add<state>, mix<state> } };
	leaf l;
	l.next = &l;
	switch (std::atoi(argv[argc - 1])) {
	case 0: std::printf("%lu\n", add(m)); break;
	case 1: std::printf("%lu\n", self<unsigned long>(200000, 0)); break;
	case 2: std::printf("%lu\n", back(200000)); break;
	case 3: std::printf("%lu\n", l.run(m.s)); break;
	case 4: std::printf("%lu\n", passed(m.s, 3)); break;
	case 5: quiet(m); std::printf("%lu\n", m.s.acc); break;
	case 6: std::printf("%d %d %d\n", made<stays>([](int n) { return stays(n); }, 3).n, made<stays>([](int n) { return stays(n); }, 9).n, moved(5)); break;
	}
}
END

run() { (ulimit -s $STACK_KB && exec "./$1" "$2") > "$3" 2> err; }	# PROGRAM CASE OUTPUT

check() {	# CASES COMPILER FLAG... FILE
	cases=$1
	shift
	"$@" -o plain || exit 99
	rm -rf build
	"$launch" -b build -p all -t "$source/annotations/pthread.sync" -R "$runtime" -I "$source/annotations" -- \
		"$@" -o probed 2> err || { fail "$*: does not compile: $(cat err)"; return; }
	"$launch" -b build -l > list
	grep -v -e ' probed$' -e '^must .* musttail$' list && fail "$*: these are not probed"
	case=0
	while [ $case -lt "$cases" ]; do
		tried=$((tried + 1))
		if run plain $case plain.out; then
			needed=$((needed + 1))
			run probed $case probed.out && cmp -s plain.out probed.out || fail "$*: case $case needs more stack with probes"
		fi
		case=$((case + 1))
	done
}

for compiler in $compilers; do
	for level in -O2 -Os; do
		check 2 "$compiler" $level leads.c
		check 10 "$compiler" $level sums.c
		check 6 "$compiler" $level records.c
		check 7 "$(echo "$compiler" | sed 's/gcc/g++/; s/clang/clang++/')" -std=c++17 $level depends.cc
	done
done
echo "$tried cases, $needed of them in $STACK_KB KiB without probes, $failed failures"
[ "$failed" = 0 ] && [ "$needed" -gt $((tried / 2)) ]
