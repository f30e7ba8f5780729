// SPDX-License-Identifier: GPL-3.0-or-later
// What C++23 added: each where the compiler has it.  The parser is older than that, and loses nothing but what it cannot read.
#include "counts.h"

static int before() { HERE return 1; }
#if __cpp_if_consteval
constexpr int decides(int n) { HERE_AT_RUN_TIME if consteval { return n; } else { return before() + n; } }
constexpr int decides_not(int n) { HERE_AT_RUN_TIME if !consteval { return before(); } return n; }
#else
constexpr int decides(int n) { HERE_AT_RUN_TIME return n; }
constexpr int decides_not(int n) { HERE_AT_RUN_TIME return n; }
#endif
struct table {
	int cells[4] = {};
#if __cpp_multidimensional_subscript
	int &operator[](int a, int b) { HERE return cells[a * 2 + b]; }
#endif
#if __cpp_static_call_operator
	static int operator()(int n) { HERE return n; }
#else
	int operator()(int n) { HERE return n; }
#endif
	int after() { HERE return 2; }
};
#if __cpp_explicit_this_parameter
struct deduces { int n; int get(this const deduces &self) { HERE return self.n; } template <class S> auto &&any(this S &&self) { HERE return self.n; } };
#else
struct deduces { int n; int get() const { HERE return n; } int any() const { HERE return n; } };
#endif
static int behind() { HERE return 3; }
enum class letter : char { a = 'a' };
static constexpr int literal(int n) { HERE_AT_RUN_TIME static_assert(sizeof(0uz) == sizeof(sizeof(int))); return n; }

int main()
{ HERE
	table t;
	auto without = [] mutable { HERE return 4; };
	auto attributed = [] [[nodiscard]] (int n) { HERE return n; };
	int n = before();
	TELL(decides(n) + decides_not(n) + t(2) + t.after() + deduces{ 5 }.get() + deduces{ 6 }.any() + behind() + literal(n))
#if __cpp_multidimensional_subscript
	t[1, 1] = 7;
	TELL(t[1, 1])
#endif
	TELL(without() + attributed(3))
	for (auto c : "ab") { [&] { HERE n += c; }(); }
	TELL(n)
	return 0;
}
