// SPDX-License-Identifier: GPL-3.0-or-later
// What C++20 added.
#include "counts.h"
#include <compare>
#include <initializer_list>
#if __has_include(<concepts>)
#include <concepts>
#endif

template <class T> concept small = sizeof(T) == 1 && requires(T t) { t + 1; };
template <class T> concept answers = [] { return sizeof(T) > 1; }();	// without: {lambda}
template <class T> requires small<T> static int sized(T) { HERE return 1; }
template <class T> requires (!small<T>) static int sized(T) { HERE return 2; }
template <small T> static int constrained(T) { HERE return 3; }
static int abbreviated(answers auto n) { HERE return (int)n; }
static auto abbreviated2(auto a, auto... b) { HERE return a + (b + ... + 0); }
template <class T> static int trailing(T) requires (sizeof(T) > 1) { HERE return 4; }
template <class T> struct conditional { int f() requires small<T> { HERE return 5; } int f() requires (!small<T>) { HERE return 6; } };
consteval int at_once(int n) { return n * 2; }	// without: consteval
struct ordered { int n; auto operator<=>(const ordered &) const = default; bool operator==(const ordered &o) const { HERE return n == o.n; } };	// without: operator<=>
struct three { int n; std::strong_ordering operator<=>(const three &o) const { HERE return n <=> o.n; } bool operator==(const three &) const = default; };	// without: = default
struct designated { int a, b = [] { HERE return 8; }(); };
template <designated D> struct by_value { int f() { HERE return D.a; } };
constexpr int tries(int n) { HERE_AT_RUN_TIME try { return n; } catch (...) { return 0; } }
constexpr int allocates(int n) { HERE_AT_RUN_TIME int *p = new int(n); int r = *p; delete p; return r; }
struct virtual_constant { constexpr virtual int f() const { HERE_AT_RUN_TIME return 9; } constexpr virtual ~virtual_constant() { HERE_AT_RUN_TIME } };
using in_decltype = decltype([](int n) { HERE return n; });
static decltype([] { HERE return 10; }) twice_a, twice_b;
template <class T> static int default_constructed(T t = {}) { HERE return t(11); }
struct explicitly { int n; template <class T> explicit(sizeof(T) > 4) explicitly(T t) : n((int)t) { HERE } };
constinit static int initialised = at_once(3);
template <class F = decltype([](int n) { HERE return n + 1; })> static int by_type() { HERE return F{}(1); }
static int likely(int n) { HERE if (n) [[likely]] return 1; else [[unlikely]] return 2; }
enum class color { red, blue };
static int using_enum(color c) { HERE switch (c) { using enum color; case red: return 1; case blue: return 2; } return 0; }

int main()
{ HERE
	auto typed = []<class T>(T a, T b) { HERE return a + b; };
	auto needs = [](auto n) requires (sizeof(n) > 1) { HERE return (int)n; };
	auto packs = []<int... I>() { HERE return (I + ... + 0); };
	auto pack_init = [](auto... a) { HERE return [... b = a] { HERE return sizeof...(b); }(); };
	static_assert(tries(3) == 3 && allocates(2) == 2 && virtual_constant().f() == 9);
	{ conditional<char> c; conditional<int> i; TELL(c.f() + i.f()) }
	TELL(sized('a') + sized(1) + constrained('b') + abbreviated(3) + abbreviated2(1, 2, 3) + trailing(1) + at_once(4))
	TELL((ordered{ 1 } == ordered{ 1 }) + (ordered{ 1 } < ordered{ 2 }) + (three{ 1 } < three{ 2 }) + (three{ 1 } == three{ 1 }))
	TELL(designated{ .a = 1 }.b + by_value<designated{ .a = 2, .b = 3 }>().f() + tries(initialised) + allocates(initialised) + virtual_constant().f())
	TELL(in_decltype{}(9) + twice_a() + twice_b() + default_constructed<in_decltype>() + explicitly(3).n + by_type() + likely(1) + using_enum(color::blue))
	TELL(typed(1, 2) + needs(3) + packs.operator()<1, 2, 3>() + pack_init(1, 2))
	for (int n = 0; int i : { 1, 2 }) [&]() { HERE TELL(n += i) }();
	return 0;
}
