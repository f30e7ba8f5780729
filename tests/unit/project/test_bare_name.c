/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_bare_name.c - the name of a symbol and that of the sources have the same bare name: symbols as gcc and clang made them of
 * functions, and the names that the instrumenter gave to the same functions.
 */
#include "tests/unit/cmocka_all.h"

#include "base/cleanup.h"
#include "base/banned.h"
#include "project/runs/bare_name.h"
#include "recorder/stacks/cxx_name.h"

static const struct {
	const char *symbol, *source;
} functions[] = {
	{ "_ZN1S6taggedB5cxx11Ei", "S::tagged" },
	{ "_Z7own_tagB4minev", "own_tag" },
	{ "_Z3numILi3EEvv", "num" },
	{ "_Z3numILin3EEvv", "num" },
	{ "_Z4tfunIiET_S0_", "tfun" },
	{ "_Z4tfunINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEET_S6_", "tfun" },
	{ "_Z8variadicIJidPKcEEvDpT_", "variadic" },
	{ "_ZN1QIiE4pushEi", "Q::push(T)" },
	{ "_ZN1QIiE4convIdEET_S2_", "Q::conv" },
	{ "_ZN1QIiE3allEv", "Q::all" },
	{ "_ZN1QIiE2in4deepEv", "Q::in::deep" },
	{ "_ZN1QIcE4pushEc", "Q::push(char)" },
	{ "_ZN2v19versionedEv", "v1::versioned" },
	{ "_ZN1a1b1C4methEv", "a::b::C::meth" },
	{ "_ZN12_GLOBAL__N_14anonEv", "anon" },
	{ "_ZN12_GLOBAL__N_12AS2amEv", "AS::am" },
	{ "_ZN1SC2Ev", "S::S" },
	{ "_ZN1SD1Ev", "S::~S" },
	{ "_ZN1SclEi", "S::operator()" },
	{ "_ZNK1SltERKS_", "S::operator<" },
	{ "_ZN1SppEv", "S::operator++" },
	{ "_ZN1SnwEm", "S::operator new" },
	{ "_ZNK1ScvbEv", "S::operator bool" },
	{ "_ZN1ScvNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEv", "S::operator basic_string" },
	{ "_Zli2_wB5cxx11PKcm", "operator\"\"_w" },
	{ "_ZN1D1wEv", "D::w" },
	{ "_ZThn8_N1D1wEv", "D::w" },
	{ "_Z2fpi", "fp" },
	{ "_ZZ7requestiEN1L3locEv", "request::L::loc" },
	{ "_ZZ7requestiENKUlvE_clEv", "request::{lambda}" },
	{ "_ZZ7requestiENKUlT_E_clIiEEDaS_", "request::{lambda}" },
	{ "_ZZ4findPKcENUllE_4_FUNEl", "find::{lambda}" },
	{ "_ZZ4findPKcENKUllE_8__invokeEl", "find::{lambda}" },
	{ "_Z4callIZ7requestiEUlvE_EvT_", "call" },
	{ "_ZlsIcEvR1ST_", "operator<<" },
	{ "_Z9operatorsv", "operators" },
	{ "_Z11my_operatorIiEvv", "my_operator" },
};

static void test_alike(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		_cleanup_(str_release) struct str signature = STR_INIT, of_symbol = STR_INIT, of_source = STR_INIT;

		if (!add_cxx_signature(&signature, functions[i].symbol))
			skip();		/* built without a demangler */
		add_bare_name(&of_symbol, str_cstr(&signature));
		add_bare_name(&of_source, functions[i].source);
		assert_string_equal(str_cstr(&of_symbol), str_cstr(&of_source));
	}
}

static void test_any_text(void **state)
{
	static const struct {
		const char *text, *bare;
	} texts[] = {
		{ "", "" }, { "main", "main" }, { "f<", "f" }, { "f<int", "f" }, { "f(", "f" }, { "operator", "operator" },
		{ "operator ", "operator type" }, { "operator<", "operator<" }, { "{lambda", "{lambda}" }, { "(a)::", "::" },
		{ "f(int) const::g()", "f::g" }, { "f() [clone .cold]", "f" }, { "non-f", "non-f" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_(str_release) struct str bare = STR_INIT;

		add_bare_name(&bare, texts[i].text);
		assert_string_equal(str_cstr(&bare), texts[i].bare);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_any_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
