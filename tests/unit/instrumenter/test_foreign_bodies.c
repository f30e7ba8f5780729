/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_foreign_bodies.c - which braces of a system header are blank for libclang, and which are not.
 */
#include <string.h>
#include "tests/unit/cmocka_all.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "instrumenter/parse/foreign_bodies.h"

#define SYSTEM "# 1 \"/usr/include/x.h\" 1 3\n"

/* As a system header has it; @ stands for what is to be blank. */
static const struct {
	const char *text, *view;
} cases[] = {
	{ "int f(int a) { return a; }", "int f(int a) {@@@@@@@@@@@}" },
	{ "int f() { { } \"}\" '}'; } int g;", "int f() {@@@@@@@@@@@@@@} int g;" },
	{ "template <class T> T f(T a) { return a; }", "template <class T> T f(T a) {@@@@@@@@@@@}" },
	{ "template <class T, class U = s<s<T>>> int f() {1}", "template <class T, class U = s<s<T>>> int f() {@}" },
	{ "struct s { s() : a(1) {2} int f() const noexcept {3} ~s() {4} int a; };",
	  "struct s { s() : a(1) {@} int f() const noexcept {@} ~s() {@} int a; };" },
	{ "struct s { int f() & {1} int g() && {2} operator int() {3} };",
	  "struct s { int f() & {@} int g() && {@} operator int() {@} };" },
	{ "namespace n { int f() {1} } int g() noexcept(true) {2}", "namespace n { int f() {@} } int g() noexcept(true) {@}" },
	{ "extern \"C\" { int f(void) {1} }", "extern \"C\" { int f(void) {@} }" },
	{ "extern __inline int __attribute__((__gnu_inline__)) f(int a) {1}", "extern __inline int __attribute__((__gnu_inline__)) f(int a) {@}" },
	{ "struct stat *f(int a) {1}", NULL },		/* it might be a class */
	{ "struct __attribute__((packed)) s { int a; };", NULL },
	{ "enum class e : int { a, b };", NULL },
	{ "int a[] = { 1, 2 }; struct s b = { f(1) };", NULL },
	{ "constexpr int f(int a) { if (a) { return 1; } return 2; }", NULL },
	{ "consteval int f() {1}", NULL },
	{ "auto f() { return 1; } decltype(auto) g() { return 2; }", NULL },
	{ "auto f() -> int { if (a) { return 1; } return 2; }", NULL },
	{ "struct s { int a, b; constexpr s() : a{1}, b(2) { if (a) { b = 1; } } };", NULL },
	{ "template <class T> constexpr T f(T a) requires c<T> { if (a) { return 1; } }", NULL },
	{ "template <class T> concept c = requires(T a) { a.f(); };", NULL },
	{ "template <class T> requires c<T> void f(T a) { a.f(); }", NULL },
	{ "constexpr int f() {1} int g() {2}", "constexpr int f() {1} int g() {@}" },
	{ "struct s { constexpr s() : a{1}, b{2} { if (b) {3} } void f() {4} };", "struct s { constexpr s() : a{1}, b{2} { if (b) {3} } void f() {@} };" },
	{ "template <class T> constexpr int f(T a) requires requires(T b) {1} && requires(T c) {2} { if (a) {3} }", NULL },
	{ "constexpr int f() {1}; int g() {2}", "constexpr int f() {1}; int g() {@}" },
	{ "constexpr int a{1}; int g() {2}", "constexpr int a{1}; int g() {@}" },
	{ "int f() {", NULL }, { "} ) {", NULL }, { "int f(", NULL }, { "template", NULL }, { "template <", NULL }, { "'", NULL }, { "\"\\", NULL },
	{ "", NULL },
};

static void expect_view(const char *text, const char *view)
{
	_cleanup_(freep) char *got = xstrdup(text), *want = xstrdup(view);
	_cleanup_(lines_freep) struct lines *lines = lines_new(text, strlen(text), "/", NULL);

	for (char *p = want; *p; p++)
		*p = *p == '@' ? ' ' : *p;
	foreign_bodies_blank(got, strlen(text), lines);
	assert_string_equal(got, want);
}

static void test_foreign(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *text = xasprintf("%s%s", SYSTEM, cases[i].text);
		_cleanup_(freep) char *view = xasprintf("%s%s", SYSTEM, cases[i].view ? cases[i].view : cases[i].text);

		expect_view(text, view);
	}
}

/* The project's own text stays, to the byte. */
static void test_own(void **state)
{
	(void)state;
	expect_view("# 1 \"/nowhere/a.c\"\nint f(int a) { return a; }\n", "# 1 \"/nowhere/a.c\"\nint f(int a) { return a; }\n");
	expect_view(SYSTEM "int f() {1}\n# 1 \"/nowhere/a.c\" 2\nint g() {2}\n" SYSTEM "int h() {3}\n# 5 \"/nowhere/a.c\" 2\nint i() {4}\n",
		    SYSTEM "int f() {@}\n# 1 \"/nowhere/a.c\" 2\nint g() {2}\n" SYSTEM "int h() {@}\n# 5 \"/nowhere/a.c\" 2\nint i() {4}\n");
}

/* A body that a macro of a system header puts into the project's code holds lines of both. */
static void test_macros(void **state)
{
	static const char text[] = "# 1 \"/nowhere/a.c\"\nint f() {\n# 2 \"/nowhere/a.c\" 3 4\n"
		"if (x) { y(\n# 2 \"/nowhere/a.c\"\nown()\n# 2 \"/nowhere/a.c\" 3 4\n); }\n# 3 \"/nowhere/a.c\"\nif (own(1)) { own(2); } }\n";

	(void)state;
	expect_view(text, text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_foreign), cmocka_unit_test(test_own), cmocka_unit_test(test_macros),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
