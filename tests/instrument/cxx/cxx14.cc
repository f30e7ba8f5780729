// SPDX-License-Identifier: GPL-3.0-or-later
// What C++14 added.
#include "counts.h"
#include <memory>
#include <utility>

static auto deduced(int n) { HERE if (n > 3) return n; return n + 1; }
static decltype(auto) exactly(int &n) { HERE return (n); }
struct plain { int n; auto get() const { HERE return n; } auto &self() { HERE return *this; } };
template <class T> constexpr T pi = T(3.14);
template <class T> static int variable = [] { return (int)sizeof(T); }();	// libclang 14 does not show these
constexpr int loops(int n) { HERE_AT_RUN_TIME int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
struct constant { int n = 0; constexpr void add(int i) { HERE_AT_RUN_TIME n += i; } constexpr int get() const { HERE_AT_RUN_TIME return n; } };
constexpr int builds() { HERE_AT_RUN_TIME constant c{}; c.add(2); c.add(3); return c.get(); }
[[deprecated]] static int old() { HERE return 4; }
struct aggregate { int a = [] { HERE return 5; }(); int b = 6; };
static auto make_adder(int n) { HERE return [n](auto m) { HERE return n + m; }; }
template <class... F> static void all(F... f) { HERE int unused[] = { (f(), 0)... }; (void)unused; }
template <int N> static constexpr int fixed() { HERE_AT_RUN_TIME return N; }
static auto forward_declared(int);
static auto forward_declared(int n) { HERE return n * 2L; }

int main()
{ HERE
	int n = 2;
	auto generic = [](auto a, auto b) { HERE return a + b; };
	auto moved = [p = std::make_unique<int>(4)] { HERE return *p; };
	auto variadic = [](auto... a) { HERE return sizeof...(a); };
	auto recursive = [](auto self, int i) -> int { HERE return i ? self(self, i - 1) + 1 : counts_depth(); };
	static_assert(loops(5) == 10 && builds() == 5 && fixed<3>() == 3, "");
	constexpr int c = builds();
	int array[loops(3)] = {};
	TELL(deduced(1) + deduced(5) + (exactly(n) = 3) + plain{ 3 }.get() + plain{ 4 }.self().n + (int)pi<int>)
	TELL(loops(n) + builds() + old() + aggregate{}.a + make_adder(1)(2) + make_adder(1)('a') + fixed<4>() + c + array[0])
	TELL(generic(1, 2) + generic('a', 2L) + moved() + variadic(1, 'a') + recursive(recursive, 4) + forward_declared(3))
	TELL(variable<char> + variable<long>)
	all([] { HERE }, [&] { HERE n++; });
	TELL(n)
	return 0;
}
