// SPDX-License-Identifier: GPL-3.0-or-later
// What C++17 added.
#include "counts.h"
#include <optional>
#include <string_view>
#include <tuple>
#include <variant>

template <class T> static int select(T t) { HERE if constexpr (sizeof(T) == 1) return [] { HERE return 1; }(); else { auto f = [&] { HERE return (int)t; }; return f(); } }
template <class... T> static auto folded(T... t) { HERE return (t + ... + 0); }
template <auto N> struct number { static int get() { HERE return (int)N; } };
struct pair { int a, b; pair(int x, int y) : a(x), b(y) { HERE } };
struct taken { int n; auto f() { HERE return [*this] { HERE return n; }; } };
template <class... F> struct overloaded : F... { using F::operator()...; };
template <class... F> overloaded(F...) -> overloaded<F...>;
template <class T> struct guided { T t; guided(T x) : t(x) { HERE } T get() { HERE return t; } };
inline int inline_variable = [] { HERE return 3; }();
static inline const auto constant_lambda = [](int n) constexpr { HERE_AT_RUN_TIME return n * 2; };
static constexpr auto plain_lambda = [](int n) { return n + 1; };	// without: {lambda}
[[nodiscard]] static int important() { HERE return 6; }
[[maybe_unused]] static int unused() { return 7; }
namespace a::b::c { static int deep() { HERE return 8; } }
struct static_inline { static inline struct nested { int f() { HERE return 9; } } one, two; };
static int noexcept_type(int (*f)() noexcept) { HERE return f(); }
static int quiet() noexcept { HERE return 10; }
struct no_copy { no_copy() { HERE } no_copy(const no_copy &) = delete; int f() { HERE return 11; } };
static no_copy elided() { HERE return no_copy(); }
constexpr int with_lambda(int n) { HERE_AT_RUN_TIME auto f = [n](int m) { HERE_AT_RUN_TIME return n + m; }; return f(1); }
static int falls(int n) { HERE switch (n) { case 1: n++; [[fallthrough]]; case 2: n++; break; default: return 0; } return n; }
template <class T> static T recursive(T t) { HERE if (t < 2) return 1; return recursive(t - 1) + recursive(t - 2); }

int main()
{ HERE
	auto [x, y] = pair(1, 2);
	auto [p, q] = std::tuple(3, 4);
	if (auto l = [&] { HERE return 5; }; l() == 5) TELL(l())
	if (struct { int n; int f() { HERE return n; } } s{ 4 }; s.f()) TELL(s.f())
	switch (int i = important(); i) { case 6: TELL(i) }
	std::variant<int, char> v = 'a';
	int r = std::visit(overloaded{ [](int) { HERE return 1; }, [](char) { HERE return 2; } }, v);
	int array[constant_lambda(2)] = {}; static_assert(plain_lambda(1) == 2 && with_lambda(2) == 3);
	TELL(select('a') + select(3) + folded(1, 2, 3) + folded() + number<3>::get() + number<'a'>::get() + x + y + p + q + r + array[0])
	TELL(taken{ 3 }.f()() + guided(2).get() + guided('b').get() + inline_variable + constant_lambda(x) + plain_lambda(y))
	TELL(a::b::c::deep() + static_inline::two.f() + noexcept_type(quiet) + elided().f() + with_lambda(x) + falls(1) + falls(2) + recursive(6))
	for (auto [k, w] : { std::pair(1, 2), std::pair(3, 4) }) [k = k, w = w] { HERE TELL(k * w) }();
	TELL(std::optional<int>().value_or([] { HERE return 12; }()))
	return 0;
}
