/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_table.c - columns, widths, and foreign text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "base/text/label.h"
#include "base/text/table.h"
#include "base/text/utf8.h"

static char *write_table(const struct table *t, size_t width)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	table_write(t, out, width, "..");
	fclose(out);
	return text;
}

static void test_alignment(void **state)
{
	_cleanup_(table_freep) struct table *t = table_new();
	_cleanup_(freep) char *text = NULL;

	(void)state;
	table_column(t, "share", TABLE_RIGHT);
	table_column(t, "", TABLE_LEFT);
	table_column(t, "node", TABLE_LEFT);
	table_column(t, "n", TABLE_RIGHT);
	table_cell(t, "%.1f", 100.0);
	table_cell(t, "%s", "##");
	table_cell(t, "%s", "\xe4\xb8\xad\xe6\x96\x87");	/* two wide characters: 4 columns */
	table_cell(t, "%d", 7);
	table_cell(t, "%.1f", 2.5);
	table_cell(t, "%s", "");
	table_cell(t, "%s", "e\xcc\x81");			/* a letter and its accent: 1 column */
	table_cell(t, "%s", "");
	assert_int_equal(table_width(t), 5 + 2 + 2 + 2 + 4 + 2 + 1);
	text = write_table(t, 80);
	assert_string_equal(text, "share      node  n\n"
				  "100.0  ##  \xe4\xb8\xad\xe6\x96\x87  7\n"
				  "  2.5      e\xcc\x81\n");
}

static void test_shrinking(void **state)
{
	_cleanup_(table_freep) struct table *t = table_new();
	_cleanup_(freep) char *fits = NULL, *narrow = NULL, *least = NULL;

	(void)state;
	table_column(t, "", TABLE_SHRINKS);
	table_column(t, "", TABLE_RIGHT);
	table_cell(t, "abcdefghijklmnopqrst");
	table_cell(t, "%d", 12345);
	fits = write_table(t, 27);
	assert_string_equal(fits, "abcdefghijklmnopqrst  12345\n");
	narrow = write_table(t, 22);		/* 15 columns: 7, "..", 6 */
	assert_string_equal(narrow, "abcdefg..opqrst  12345\n");
	least = write_table(t, 5);		/* no column below 12 */
	assert_string_equal(least, "abcde..pqrst  12345\n");
	table_cell(t, "|  |- abcdefghijklmn");
	table_keep(t, 6);			/* the tree stays: 6 and 2, "..", 2 */
	free(least);
	least = write_table(t, 5);
	assert_string_equal(least, "abcde..pqrst  12345\n|  |- ab..mn\n");
}

/* A spare column is there where it fits whole and says something; the others shrink only without it. */
static void test_spare(void **state)
{
	_cleanup_(table_freep) struct table *t = table_new(), *empty = table_new();
	_cleanup_(freep) char *fits = NULL, *narrow = NULL, *text = NULL;

	(void)state;
	table_column(t, "node", TABLE_SHRINKS);
	table_column(t, "where", TABLE_SPARE);
	table_column(t, "n", TABLE_RIGHT);
	table_cell(t, "abcdefghijklmnop");
	table_cell(t, "server.c:28");
	table_link(t, "file://host/a%20b/server.c#28");
	table_cell(t, "%d", 7);
	assert_int_equal(table_width(t), 16 + 2 + 1);
	assert_int_equal(table_width_whole(t), 16 + 2 + 11 + 2 + 1);
	fits = write_table(t, 32);
	assert_string_equal(fits, "node              where        n\n"
				  "abcdefghijklmnop  \033]8;;file://host/a%20b/server.c#28\033\\server.c:28\033]8;;\033\\  7\n");
	narrow = write_table(t, 31);
	assert_string_equal(narrow, "node              n\nabcdefghijklmnop  7\n");
	table_column(empty, "node", TABLE_LEFT);
	table_column(empty, "where", TABLE_SPARE);
	table_column(empty, "n", TABLE_RIGHT);
	table_cell(empty, "f");
	table_cell(empty, "%s", "");
	table_link(empty, NULL);
	table_cell(empty, "%d", 7);
	text = write_table(empty, 0);
	assert_string_equal(text, "node  n\nf     7\n");
}

/* A name that is longer than any page: its own line is long, the others' are not, and cutting it takes no longer than
 * reading it (with time in proportion to its square this is minutes). */
static void test_endless_name(void **state)
{
	enum { LONG = 1000000 };
	_cleanup_(table_freep) struct table *t = table_new();
	_cleanup_(freep) char *name = malloc(LONG + 1), *whole = NULL, *cut = NULL;
	size_t second;

	(void)state;
	memset(name, 'f', LONG);
	name[LONG] = '\0';
	table_column(t, "", TABLE_SHRINKS);
	table_column(t, "", TABLE_RIGHT);
	table_cell(t, "%s", name);
	table_cell(t, "1");
	table_cell(t, "g");
	table_cell(t, "2");
	whole = write_table(t, 0);
	second = strcspn(whole, "\n") + 1;
	assert_int_equal(second, LONG + 2 + 1 + 1);
	assert_int_equal(strlen(whole + second), 1000 + 2 + 1 + 1);
	assert_string_equal(whole + second + 1000, "  2\n");
	cut = write_table(t, 20);
	assert_string_equal(cut, "ffffffff..fffffff  1\ng                  2\n");
}

static void test_styles(void **state)
{
	_cleanup_(table_freep) struct table *t = table_new();
	_cleanup_(freep) char *text = NULL;

	(void)state;
	table_column(t, "", TABLE_LEFT);
	table_column(t, "", TABLE_LEFT);
	table_cell(t, "a");
	table_style(t, "\033[1m");
	table_cell(t, "b");
	table_style(t, "");
	text = write_table(t, 80);
	assert_string_equal(text, "\033[1ma\033[0m  b\n");
}

static void expect_clean(const char *text, const char *clean)
{
	_cleanup_(str_release) struct str s = STR_INIT;

	utf8_add_line(&s, text);
	assert_string_equal(str_cstr(&s), clean);
}

static void test_clean(void **state)
{
	_cleanup_(str_release) struct str s = STR_INIT;

	(void)state;
#define BAD "\xef\xbf\xbd"
	expect_clean("plain na\xc3\xafve \xf0\x9f\x98\x80", "plain na\xc3\xafve \xf0\x9f\x98\x80");
	expect_clean("\x1b[0m\t\n\x7f", BAD "[0m" BAD BAD BAD);
	expect_clean("\xff" "a\xc3", BAD "a" BAD);
	expect_clean("\xc0\xaf", BAD BAD);			/* overlong '/' */
	expect_clean("\xe0\x80\xaf", BAD BAD BAD);
	expect_clean("\xed\xa0\x80", BAD BAD BAD);		/* a surrogate */
	expect_clean("\xf4\x90\x80\x80", BAD BAD BAD BAD);	/* above U+10FFFF */
	expect_clean("\xc2\x85", BAD);				/* a C1 control */
	expect_clean("\xe2\x80\xae", BAD);			/* right-to-left override */
	expect_clean("", "");
	utf8_add_clean(&s, "a\tb\nc\x01");
	assert_string_equal(str_cstr(&s), "a\tb\nc" BAD);
}

static void expect_label(const char *text, size_t width, const char *wanted)
{
	_cleanup_(str_release) struct str s = STR_INIT;

	label_add_shortened(&s, text, width, "…");
	assert_string_equal(str_cstr(&s), wanted);
	assert_true(utf8_width(wanted) <= width);
}

/* Names differ at their ends and in the text after them; these are cut last. */
static void test_names(void **state)
{
	static const char long_one[] = "store::pool<std::string, 16>::take(int, std::vector<long>) › lock wait";

	(void)state;
	expect_label(long_one, 80, long_one);
	expect_label(long_one, 60, "store::pool<…>::take(int, std::vector<…>) › lock wait");
	expect_label(long_one, 52, "…::pool<…>::take(int, std::vector<…>) › lock wait");
	expect_label(long_one, 42, "…::take(int, std::vector<…>) › lock wait");
	expect_label(long_one, 36, "store::pool<…>::take(…) › lock wait");
	expect_label(long_one, 32, "…::pool<…>::take(…) › lock wait");
	expect_label(long_one, 24, "…::take(…) › lock wait");
	expect_label(long_one, 18, "…ke(…) › lock wait");
	expect_label("mysql_execute_command › lock wait", 24, "mysq…command › lock wait");
	expect_label("mysql_execute_command › lock wait", 15, "mysql_e…ck wait");
	expect_label("work(int)", 8, "work(…)");
	expect_label("std::operator<<(std::ostream<char>&, int)", 30, "std::operator<<(…)");
	expect_label("std::operator<<(std::ostream<char>&, int)", 17, "…::operator<<(…)");
	expect_label("ns::f<(3 > 2)>::operator()(int) const", 30, "…::f<…>::operator()(int) const");
	expect_label("ns::f<(3 > 2)>::operator()(int) const", 22, "…::operator()(…) const");
	expect_label("(anonymous namespace)::helper", 14, "…::helper");
	expect_label("take<int", 6, "tak…nt");
	expect_label("a<b<c<d", 6, "a<b…<d");
	expect_label("f(", 1, "f");
	expect_label("", 0, "");
	expect_label("by holder_of_the_lock (io, disk)", 25, "by h…_the_lock (io, disk)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alignment),
		cmocka_unit_test(test_shrinking), cmocka_unit_test(test_spare),
		cmocka_unit_test(test_endless_name),
		cmocka_unit_test(test_styles),
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
