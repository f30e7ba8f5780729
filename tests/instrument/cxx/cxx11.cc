// SPDX-License-Identifier: GPL-3.0-or-later
// What C++11 has that holds the body of a function.
#include "counts.h"
#include <csetjmp>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

// Classes that are defined inside a declaration: once in the text, whatever it declares.
typedef struct st { int x; void reset() { HERE x = 7; } } ST, *PST, AST[2];
struct outer { struct in { int v; int get() const { HERE return v; } } a, *b, c[3]; int own() { HERE return a.get(); } };
struct several { int g() { HERE return 5; } } se_a, *se_b, se_c[3], &se_d = se_a;
struct { int g() { HERE return 6; } } anonymous[2], *anonymous_2;
union un { int i; float f; int g() { HERE return i; } } un_a = { 3 }, un_b[2], *un_c;
using aliased = struct al { int k() { HERE return 9; } };
static const struct fixed { int f() const { HERE return 4; } } fixed_a = {}, fixed_b[2] = {};
template <class X> struct holder {
	struct in { X v; X get() { HERE return v; } } a, b[2];
	typedef struct in3 { X f() { HERE return X(3); } } i3, *pi3;
	union { int p; struct { int q; } r; };
	X own(X x = X(2)) { HERE return x; }
	static X shared() { HERE return X(8); }
	template <class Y> Y member(Y y) { HERE return y; }
	template <class Y> struct deep { Y f() { HERE return Y(11); } };
	explicit holder(X x) : a{ x }, b() { HERE }
	~holder() { HERE }
};
extern struct ext { int f() { HERE return 13; } } ext_a, ext_b; ext ext_a, ext_b;
static void classes()
{ HERE
	ST s; s.reset(); PST p = &s; p->reset();
	outer o; o.a.v = 3; o.c[0].v = 4;
	struct loc { int l() { HERE return 8; } struct more { int m() { HERE return 2; } } a, b; } x, *y = &x;
	for (struct lf { int i; int m() { HERE return i; } } q = { 0 }; q.m() < 2; q.i++)
		TELL(q.i)
	holder<int> h(5); holder<long> hl(6);
	holder<int>::i3 i3; holder<int>::deep<char> d;
	TELL(s.x + o.own() + o.c[0].get() + se_a.g() + se_d.g() + anonymous[1].g() + un_a.g() + aliased{}.k() + fixed_a.f())
	TELL(y->l() + x.a.m() + h.own() + h.shared() + h.member('a') + hl.own(3) + h.a.get() + i3.f() + d.f())
	TELL(ext_b.f() + fixed_b[1].f() + se_c[2].g())
}

// Lambdas, wherever an expression may be.
static int by_default(int n, const std::function<int(int)> &f = [](int i) { HERE return i * 2; }) { HERE return f(n); }
static int global = [] { HERE return 17; }();
static std::function<int()> table[] = { [] { HERE return 1; }, [] { HERE return 2; } };
struct initialised { int a = [] { HERE return 21; }(); std::function<int()> f = [this] { HERE return a; }; };
struct listed { int a, b; listed(int n) : a([n] { HERE return n + 1; }()), b([this]() -> int { HERE return a; }()) { HERE } };
static int in_macro(int n)
{ HERE
#define TWICE(f) (f(n) + f(n))
	return TWICE([](int i) { HERE return i + 1; });
}
static int array_size(int n) { HERE int a[sizeof(int)] = { [n] { HERE return n; }() }; return a[0]; }
static void lambdas()
{ HERE
	int n = 3;
	auto changes = [n]() mutable { HERE return ++n; };
	std::function<int(int)> again = [&](int i) -> int { HERE return i ? again(i - 1) + 1 : counts_depth(); };
	auto nested = [&] { HERE return [&] { HERE return n; }(); };
	auto throws = []() -> int { HERE throw 3; };
	TELL(by_default(2) + global + table[0]() + table[1]() + initialised().f() + listed(1).b)
	TELL(changes() + changes() + again(5) + nested() + in_macro(2) + array_size(4))
	try { throws(); } catch (int i) { TELL(i) }
	for (int i : { 1, 2 }) [i] { HERE TELL(i) }();
	switch ([] { HERE return 1; }()) { case 1: TELL(1) break; default: TELL(2) }
	while ([&] { HERE return n-- > 2; }()) TELL(n)
	TELL(n ? [] { HERE return 1; }() : [] { HERE return 2; }())
	new (&n) int([] { HERE return 5; }());
}

// Members of all kinds.
struct base { virtual int v(int) { HERE return 1; } virtual ~base() { HERE } virtual int pure() = 0; };
int base::pure() { HERE return 2; }
struct left : virtual base { int v(int) override { HERE return 3; } int pure() final { HERE return base::pure(); } };
struct right : virtual base { int r; right() : r(1) { HERE } right(const right &) = default; right &operator=(const right &) = delete; };
struct both : left, right { int v(int) noexcept(false) override { HERE return left::v(0); } ~both() noexcept { HERE } };
struct delegating { int n; delegating() : delegating(3) { HERE } explicit delegating(int i) : n{ i } { HERE } };
// without: its body does not begin with
struct tried { int n; tried(int i) try : n(i) { if (i < 0) throw 1; } catch (int) { } };
struct ops {
	int n;
	operator int() const { HERE return n; }
	explicit operator bool() const { HERE return n != 0; }
	template <class T> operator T *() const { HERE return nullptr; }
	int operator()(int i) { HERE return n + i; }
	int operator[](int i) const { HERE return n * i; }
	ops *operator->() { HERE return this; }
	ops &operator++() { HERE ++n; return *this; }
	ops operator++(int) { HERE ops o = *this; n++; return o; }
	bool operator<(const ops &o) const { HERE return n < o.n; }
	ops operator,(const ops &o) const { HERE return o; }
	static void *operator new(size_t s) { HERE return ::operator new(s); }
	static void operator delete(void *p) { HERE ::operator delete(p); }
	friend ops operator+(const ops &a, const ops &b) { HERE return ops{ a.n + b.n }; }
	int on() & { HERE return 1; } int on() && { HERE return 2; } int on() const & { HERE return 3; }
	friend int befriended(const ops &o) { HERE return o.n; }
	template <class T> friend int befriended(const ops &o, T t) { HERE return o.n + (int)t; }
	auto trailing(int i) const -> decltype(i + 1) { HERE return i + n; }
	int quiet() const noexcept(noexcept(1 + 1)) { HERE return n; }
};
static int operator"" _km(unsigned long long n) { HERE return (int)n * 1000; }
static int operator"" _len(const char *, size_t n) { HERE return (int)n; }
template <char... C> static int operator"" _digits() { HERE return sizeof...(C); }
static int tried_function(int n) try { if (n) throw std::runtime_error("n"); return 1; } catch (const std::exception &) { return 2; }
static void members()
{ HERE
	{ both b; base &r = b; TELL(r.v(1) + r.pure() + b.right::r) }
	{ delegating d; tried t(1); TELL(d.n + t.n) }
	try { tried t(-1); } catch (int i) { TELL(i) }
	ops o{ 2 }, p{ 3 }; const ops c{ 4 };
	TELL((int)o + o(1) + o[2] + o->n + (++o).n + o++.n + (o < p) + (o + p).n + (o ? 1 : 0))
	TELL(o.on() + ops{ 1 }.on() + c.on() + befriended(o) + befriended(o, 2L) + o.trailing(3) + o.quiet() + (o, p).n)
	{ std::unique_ptr<ops> u(new ops{ 1 }); char *text = c; TELL(u->n + (text == nullptr)) }
	TELL(3_km + "four"_len + 12345_digits + tried_function(0) + tried_function(1))
}

// Templates.
template <class T> int kind_of(T) { HERE return 1; }
template <class T> int kind_of(T *) { HERE return 2; }
template <> int kind_of(char) { HERE return 3; }
template <class T, int N> struct part { int f() { HERE return 1; } };
template <class T> struct part<T, 0> { int f() { HERE return 2; } };
template <class T, int N> struct part<T *, N> { int f(); };
template <class T, int N> int part<T *, N>::f() { HERE return 3; }
template <> struct part<int, 7> { int f() { HERE return 4; } };
template <> int part<int, 8>::f() { HERE return 5; }
template <class... T> int count(T... t) { HERE return sizeof...(t); }
static int sum() { HERE return 0; }
template <class T, class... R> int sum(T t, R... r) { HERE return t + sum(r...); }
template <template <class> class H> int with() { HERE H<int> h(1); return h.own(); }
template <class T> int uses_lambda(T t) { HERE return [&](T s) { HERE return (int)(s + t); }(t); }
template int uses_lambda<short>(short);
extern template struct part<unsigned, 3>;
template struct part<unsigned, 3>;
template <class F> auto call(F f) -> decltype(f()) { HERE return f(); }
template <class T, typename std::enable_if<sizeof(T) == 1, int>::type = 0> int sized(T) { HERE return 1; }
template <class T, typename std::enable_if<sizeof(T) != 1, int>::type = 0> int sized(T) { HERE return 2; }
struct crtp_user;
template <class D> struct crtp { int f() { HERE return static_cast<D *>(this)->g(); } };
struct crtp_user : crtp<crtp_user> { int g() { HERE return 31; } };
static void templates()
{ HERE
	int i = 0;
	TELL(kind_of(1) + kind_of(&i) + kind_of('c') + kind_of(2L) + part<int, 1>().f() + part<int, 0>().f() + part<int *, 2>().f())
	TELL(part<int, 7>().f() + part<int, 8>().f() + count(1, 'a', 2.0) + sum(1, 2, 3) + with<holder>() + uses_lambda(1) + uses_lambda('a'))
	TELL(call([] { HERE return 2; }) + sized('a') + sized(1) + crtp_user().f())
}

// Names, linkage, attributes.
namespace { int hidden() { HERE return 1; } struct hides { int f() { HERE return 2; } } hides_a, hides_b; }
inline namespace v2 { namespace deep { int f() { HERE return 3; } } }
extern "C" { int c_name(int i) { HERE return i; } static int c_static() { HERE return 4; } }
extern "C" int c_alone() { HERE return 5; }
[[noreturn]] static void leaves() { HERE throw 1; }
__attribute__((always_inline)) static inline int inlined(int i) { HERE return i; }
__attribute__((noinline, cold)) static int cold(int i) { HERE return i; }
__attribute__((constructor)) static void first() { HERE }
// without: constexpr, in C++11
static constexpr int old_constant(int n) { return n < 2 ? 1 : n * old_constant(n - 1); }
struct literal { int n; constexpr literal(int i) : n(i) {} constexpr int get() const { return n; } };
static int variadic(int n, ...) { HERE __builtin_va_list l; __builtin_va_start(l, n); int r = __builtin_va_arg(l, int); __builtin_va_end(l); return r; }
static int
on_lines(
	int n
)
{ HERE return n; }
#define DEFINE(name, n) static int name() { HERE return n; }
DEFINE(made_1, 1)
DEFINE(made_2, 2)
#define BEGIN {
#define END }
static int begun() BEGIN HERE return 6; END
#define BODY(x) { x }
static int argument() BODY(HERE return 7;)
static int alternative() <% HERE return 8; %>
static void names()
{ HERE
	static_assert(old_constant(5) == 120 && literal(3).get() == 3, "");
	TELL(hidden() + hides_b.f() + deep::f() + c_name(1) + c_static() + c_alone() + inlined(1) + cold(2) + variadic(1, 5) + on_lines(3))
	TELL(made_1() + made_2() + begun() + argument() + alternative() + old_constant(4))
	try { leaves(); } catch (int i) { TELL(i) }
}

// Ways out of a function, and through one.
struct counted { int *n; ~counted() { HERE ++*n; } };
static int deep_throw(int n) { HERE counted c{ &n }; if (n == 0) throw std::logic_error("deep"); return deep_throw(n - 1) + 1; }
static int jumps(int n) { HERE int i = 0; again: counted c{ &i }; if (i < n) goto again; return i; }
static int falls(int n) { HERE switch (n) { int x; case 0: x = 1; return x; case 1: n++; default: return n; } }
static std::jmp_buf jump;
static void far(int n) { HERE if (n) far(n - 1); counts_unleft(__LINE__); std::longjmp(jump, 5); }
static int value_or_goto(int n) { HERE return ({ if (n < 0) return -1; n + 1; }); }
static counted elided(int *n) { HERE return counted{ n }; }
static const int &reference(const int &n) { HERE return n; }
static std::initializer_list<int> nothing() { HERE return {}; }
static int recursion(int n) { HERE return n ? recursion(n - 1) : counts_depth(); }
static void ways()
{ HERE
	int n = 0;
	try { deep_throw(4); } catch (const std::logic_error &) { TELL(1) }
	TELL(jumps(3) + falls(0) + falls(1) + falls(5) + value_or_goto(-2) + value_or_goto(2) + reference(3) + (int)nothing().size())
	{ counted c = elided(&n); } TELL(n)
	if (int r = setjmp(jump)) TELL(r) else far(3);
	TELL(recursion(10))
}

int main() { HERE classes(); lambdas(); members(); templates(); names(); ways(); return 0; }
