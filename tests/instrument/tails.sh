#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Many steps, each of which ends in a call of the next one, through pointers, tables, virtual methods and other
# units: with every function probed they run in the stack that they have without probes, not recorded and recorded.
. "${srcdir:-.}/tests/instrument/lib.sh"
STACK_KB=256
tried=0
printf 'vprof-plan 1\nall always\n' > plan

cat > vm.h <<'END'
enum { STEPS = 200000 };
struct vm { unsigned long acc; unsigned left; int (*trace)(int); long (*next)(struct vm *); void (*then)(struct vm *); };
END

# Values: through a table, a member, a local result, in a switch, with ?: and a comma, behind an inline helper.
cat > values.c <<'END'
#include <stdio.h>
#include "vm.h"
typedef long (*step)(struct vm *);
extern const step steps[8];
static unsigned fetch(const struct vm *m) { return m->left % 7; }
static long inner(struct vm *m) { m->acc += 3; if (m->left) { m->left--; { return steps[m->left & 7](m); } } return (long)m->acc; }
static long member(struct vm *m) { m->acc ^= 5; m->next = inner; if (!m->left--) return 1; return m->next(m); }
static long starred(struct vm *m) { m->next = member; if (!m->left--) return 2; return (*m->next)(m); }
static long result(struct vm *m) { long r; if (!m->left--) return 3; r = steps[fetch(m)](m); return r; }
static long declared(struct vm *m) { if (!m->left--) return 4; long r = steps[m->acc & 3](m); return r; }
static long chosen(struct vm *m) { return !m->left-- ? 5 : m->acc & 1 ? inner(m) : (m->acc++, steps[m->left & 7](m)); }
static long cases(struct vm *m)
{
	long r = 0;

	if (!m->left--)
		return 6;
	switch (m->left & 3) {
	case 0: return steps[1](m);
	case 1: r = steps[2](m); break;
	case 2: m->acc++; /* fall through */
	default: r = steps[fetch(m)](m);
	}
	return r;
}
static inline long dispatch(struct vm *m) { return steps[(m->acc ^ m->left) & 7](m); }
static long helped(struct vm *m) { m->acc += 11; if (!m->left--) return 7; return dispatch(m); }
const step steps[8] = { inner, member, starred, result, declared, chosen, cases, helped };
int main(void) { struct vm m = { 1, STEPS, 0, 0, 0 }; long r = helped(&m); printf("%ld %lu\n", r, m.acc); return 0; }
END

# Nothing returned: the last statement, before return, in both branches, in a switch, out of a loop.
cat > nothing.c <<'END'
#include <stdio.h>
#include "vm.h"
typedef void (*step)(struct vm *);
extern const step steps[4];
static void last(struct vm *m) { if (m->left == 0) return; m->left--; steps[m->left & 3](m); }
static void before(struct vm *m) { if (m->left) { m->left--; m->acc += 2; steps[m->acc & 3](m); return; } puts("before"); }
static void branches(struct vm *m) { m->then = last; if (!m->left--) return; if (m->left & 4) m->then(m); else { m->acc++; steps[m->acc & 3](m); } }
static void leaves(struct vm *m)
{
	if (!m->left--) { puts("leaves"); return; }
	switch (m->left & 3) {
	case 0: m->acc += 7; steps[1](m); break;
	case 1: for (int i = 0; ; i++) if (i > (int)(m->left & 1)) { steps[0](m); break; } break;
	default: m->acc++; steps[2](m); return;
	}
}
const step steps[4] = { last, before, branches, leaves };
int main(void) { struct vm m = { 1, STEPS, 0, 0, 0 }; leaves(&m); printf("%lu %d\n", m.acc, (int)m.left); return 0; }
END

# Three units in a circle; none of them sees it.
cat > first.c <<'END'
#include <stdio.h>
#include "vm.h"
long second(struct vm *m); void quiet_second(struct vm *m);
long first(struct vm *m) { m->acc += 3; return m->left-- ? second(m) : 10; }
void quiet_first(struct vm *m) { if (m->left--) quiet_second(m); }
int main(void)
{
	struct vm m = { 1, STEPS, 0, 0, 0 };
	long r = first(&m);
	m.left = STEPS;
	quiet_first(&m);
	printf("%ld %lu\n", r, m.acc);
	return 0;
}
END
cat > second.c <<'END'
#include "vm.h"
long third(struct vm *m); void quiet_first(struct vm *m);
static long pass(struct vm *m) { return third(m); }
long second(struct vm *m) { m->acc ^= 9; if (!m->left--) return 20; if (m->acc & 1) return pass(m); return third(m); }
void quiet_second(struct vm *m) { m->acc++; if (m->left) { m->left--; quiet_first(m); return; } m->acc += 100; }
END
cat > third.c <<'END'
#include "vm.h"
long first(struct vm *m);
long third(struct vm *m) { if (!m->left--) return 30; switch (m->left & 1) { case 0: return first(m); default: m->acc++; } return first(m); }
END

# C++: virtual methods, pointers to members, static members, references, templates.
cat > methods.cc <<'END'
#include <cstdio>
struct state { unsigned long acc; unsigned left; };
struct node {
	node *next;
	explicit node(node *n) : next(n) {}
	virtual unsigned long run(state &s) const = 0;
	virtual void walk(state &s) const = 0;
};
struct adder : node {
	using node::node;
	unsigned long run(state &s) const override { s.acc += 3; if (!s.left--) return s.acc; return next->run(s); }
	void walk(state &s) const override { s.acc++; if (s.left) { s.left--; next->walk(s); } }
};
struct mixer : node {
	using node::node;
	unsigned long run(state &s) const override { return s.left-- ? next->run(s) : s.acc ^ 5; }
	void walk(state &s) const override { if (!s.left--) return; switch (s.left & 1) { case 0: next->walk(s); break; default: s.acc ^= 7; next->walk(s); return; } }
};
template <unsigned long N> struct op {
	static unsigned long (*const table[2])(state *);
	static unsigned long run(state *s) { s->acc += N; return s->left-- ? table[s->left & 1](s) : s->acc; }
};
template <unsigned long N> unsigned long (*const op<N>::table[2])(state *) = { op<2>::run, op<5>::run };
state &(*again)(state &);
static state &same(state &s) { s.acc ^= 3; return s.left-- ? again(s) : s; }
int main()
{
	static adder a(nullptr);
	static mixer m(&a);
	a.next = &m;
	state s = { 1, 200000 };
	unsigned long r = a.run(s);
	s.left = 200000; a.walk(s);
	s.left = 200000; r += op<2>::run(&s);

	again = same; s.left = 200000; r += same(s).acc;
	std::printf("%lu %lu\n", r, s.acc);
}
END

# Calls that may throw before the last one.  gcc makes no jump of that beside a probe, so there is none, unless an
# interval begins in the function (tail_calls.c).
cat > throws.h <<'END'
struct state { unsigned long acc; unsigned left; };
void note(state &s);
void quiet_note(state &s) noexcept;
END
cat > throws.cc <<'END'
#include <cstdio>
#include <initializer_list>
#include "throws.h"
static unsigned long itself(state &s) { note(s); return s.left-- ? itself(s) : s.acc; }
static unsigned long adds(state &s) { note(s); return s.left-- ? 1 + adds(s) : s.acc; }
static unsigned long odd(state &s);
static unsigned long even(state &s) { note(s); if (!s.left--) return 2; return odd(s); }
static unsigned long odd(state &s) { note(s); if (!s.left--) return 1; return even(s); }
static unsigned long (*steps[2])(state &);
static unsigned long step(state &s) { note(s); return s.left-- ? steps[s.left & 1](s) : s.acc; }
static unsigned long by_pointer(state &s) { unsigned long (*next)(state &) = step; note(s); if (s.left--) return next(s); return 3; }
static void nothing(state &s) { note(s); if (s.left--) nothing(s); }
static unsigned long thrower(state &s) { if (s.left == 1u << 31) throw 1; return s.left-- ? thrower(s) : 6; }
static unsigned long newer(state &s) { int *p = new int; s.acc += *p = 3; delete p; return s.left-- ? newer(s) : 7; }
static unsigned long caster(state &s);
static unsigned long quiet(state &s) { quiet_note(s); return s.left-- ? quiet(s) : s.acc; }
struct node {
	node *next;
	virtual unsigned long run(state &s) const { note(s); if (!s.left--) return s.acc; return next->run(s); }
	virtual void walk(state &s) const { note(s); if (s.left) { s.left--; next->walk(s); } }
};
struct other : node { int n = 4; };
static unsigned long caster(state &s) { static other o; node &n = o; dynamic_cast<other &>(n).n++; return s.left-- ? caster(s) : o.n; }
template <int N> static unsigned long times(state &s) { static unsigned long (*const to[])(state &) = { times<N> }; note(s); return s.left-- ? to[0](s) : N; }
int main()
{
	state s = { 1, 0 };
	node n; n.next = &n;
	unsigned long r = 0;
	auto lambda = [](auto &self, state &t) -> unsigned long { note(t); return t.left-- ? self(self, t) + 1 : 4; };
	auto other = [](auto self, state &t) -> unsigned long { note(t); return t.left-- ? self(self, t) : 4; };

	steps[0] = step; steps[1] = by_pointer;
	for (auto f : { itself, adds, even, step, quiet, times<5>, thrower, newer, caster }) { s.left = 200000; r += f(s); }
	s.left = 200000; nothing(s);
	s.left = 200000; r += n.run(s);
	s.left = 200000; n.walk(s);
	s.left = 200000; r += lambda(lambda, s);
	s.left = 200000; r += other(other, s);
	std::printf("%lu %lu\n", r, s.acc);
}
END
cat > note.cc <<'END'
#include "throws.h"
void note(state &s) { if (s.left == 1u << 31) throw 1; s.acc += 3; }
void quiet_note(state &s) noexcept { s.acc ^= 7; }
END
throws='a tail call behind calls that may throw'

# The returned value looks like a call to the compiler, but nothing may be put before it: a move.
cat > moves.h <<'END'
struct only_moved { int n; explicit only_moved(int); only_moved(only_moved &&); only_moved(const only_moved &) = delete; };
only_moved make(int n);
END
cat > moves.cc <<'END'
#include <cstdio>
#include "moves.h"
only_moved named(int n) { only_moved m(n); return m; }
only_moved made(int n) { return make(n); }
only_moved given(only_moved &&m) { return static_cast<only_moved &&>(m); }
int main() { std::printf("%d %d %d\n", named(3).n, made(4).n, given(make(5)).n); }
END
cat > move.cc <<'END'
#include "moves.h"
only_moved::only_moved(int i) : n(i) {}
only_moved::only_moved(only_moved &&o) : n(o.n + 100) {}
only_moved make(int n) { return only_moved(n * 2); }
END

run() {		# PROGRAM OUTPUT
	(ulimit -s $STACK_KB && exec "./$1") > "$2" 2> err
}

recorded() {	# COMPILER AND FLAGS
	rm -rf data && mkdir -p data/build && cp plan data/build/plan || exit 99
	(ulimit -s $STACK_KB; "$runtime/vprof" -d data record -- sh -c './probed > recorded; echo $? > status') > err 2>&1
	[ "$(cat status)" = 0 ] && cmp -s plain.out recorded || fail "$*: recorded it ends with $(cat status): $(tail -1 err)"
}

check() {	# COMPILER FLAGS FILE...: plainly and with probes
	tried=$((tried + 1))
	$cc "$@" -o plain || exit 99
	run plain plain.out || { echo "$cc $*: needs more stack without probes"; return; }
	rm -rf build
	"$launch" -b build -p plan -t "$source/annotations/pthread.sync" -R "$runtime" -I "$source/annotations" -- \
		$cc "$@" -o probed 2> err || { fail "$cc $*: does not compile: $(cat err)"; return; }
	"$launch" -b build -l > list
	grep -v ' probed$' list | grep -v "${without:- probed}\$" && fail "$cc $*: these are not probed"
	run probed probed.out
	status=$?
	[ $status = 0 ] && cmp -s plain.out probed.out || fail "$cc $*: ends with $status"
	recorded "$cc" "$@"
}

for compiler in $compilers; do
	for level in -O2 -Os; do
		cc=$compiler
		check $level values.c
		check $level nothing.c
		check $level first.c second.c third.c
		cc=$(echo "$compiler" | sed 's/gcc/g++/; s/clang/clang++/')
		check $level -std=c++17 methods.cc
		check $level -std=c++17 moves.cc move.cc
		[ "$compiler" = gcc ] && without=$throws
		check $level -std=c++17 throws.cc note.cc
		if [ "$compiler" = gcc ]; then
			grep -q '^quiet .* probed' list || fail "$cc: nothing that quiet() calls throws, and it has no probe"
			[ "$(grep -c "$throws\$" list)" = 15 ] || { fail "$cc: not the fifteen functions before calls that may throw"; cat list; }
		fi
		cc=$compiler
		check $level -fexceptions first.c second.c third.c
		check $level -fexceptions values.c
		without=
	done
done

# Whatever an interval is named by keeps its probe.
cat > places.cc <<'END'
#include <vprof.h>
void note(int n);
extern int (*next)(int);
int marked(int n) { VPROF_BEGIN("work", n); note(n); VPROF_END("work", n); return next(n); }
int named(int n) { note(n); return next(n); }
int other(int n) { note(n); return next(n); }
END
rm -rf build
"$launch" -b build -p plan -n request -s named -e named@return -t "$source/annotations/pthread.sync" -I "$source/annotations" -- \
	g++ -O2 -I"$source/annotations" -c places.cc -o places.o || exit 99
"$launch" -b build -l > list
"$launch" -b build -P > places
grep -q '^marked .* probed' list && grep -q '^named .* probed' list && grep -q "^other .* $throws\$" list &&
	! grep -v ': in place' places || { fail "places of intervals:"; cat list places; }
echo "$tried programs, $failed failures"
[ "$failed" = 0 ] && [ "$tried" -gt 0 ]
