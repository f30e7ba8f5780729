/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_command.c - compilers' command lines, and what a unit's compile becomes.
 *
 * Each row of the table: the command line, what it is, its sources and the object of the first.
 */
#include <string.h>
#include "tests/unit/cmocka_all.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "instrumenter/parse/preprocess.h"

/* Units with probes: runtime/shared/probe_x86_64.h. */
#if defined(__x86_64__)
#define PROBED "-mno-red-zone "
#else
#define PROBED ""
#endif

static const struct {
	const char *line;
	enum command_kind kind;
	enum link_kind link;
	const char *sources;		/* "a.c:c b.cc:c++" */
	const char *object;		/* NULL: no source */
} rows[] = {
	{ "gcc -c a.c", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c", "a.o" },
	{ "gcc -O2 -Isrc -DX=1 -c dir/a.c -o obj/x.lo", COMMAND_COMPILE, LINK_EXECUTABLE, "dir/a.c:c",
	  "obj/x.lo" },
	{ "g++ -c a.c", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c++", "a.o" },
	{ "x86_64-linux-gnu-g++-12 -c a.b.cc", COMMAND_COMPILE, LINK_EXECUTABLE, "a.b.cc:c++", "a.b.o" },
	{ "gcc -c a.c b.cpp", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c b.cpp:c++", "a.o" },
	{ "gcc a.c -lm -o prog", COMMAND_COMPILE_LINK, LINK_EXECUTABLE, "a.c:c", "prog-a.o" },
	{ "gcc a.c", COMMAND_COMPILE_LINK, LINK_EXECUTABLE, "a.c:c", "a-a.o" },
	{ "gcc -shared -o lib.so a.o", COMMAND_LINK, LINK_NO_RUNTIME, "", NULL },
	{ "gcc -r -o x.o a.o", COMMAND_LINK, LINK_NO_RUNTIME, "", NULL },
	{ "gcc -r -shared -o x.o a.o", COMMAND_LINK, LINK_NO_RUNTIME, "", NULL },
	{ "gcc -nostdlib a.o", COMMAND_LINK, LINK_NO_RUNTIME, "", NULL },
	{ "gcc -o p a.o -Wl,-z,now -L lib -l foo", COMMAND_LINK, LINK_EXECUTABLE, "", NULL },
	{ "ccache gcc -c a.c", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c", "a.o" },
	{ "gcc -x c++ -c a.c -x none -o a.o", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c++", "a.o" },
	{ "gcc -xc -c a.inc", COMMAND_COMPILE, LINK_EXECUTABLE, "a.inc:c", "a.o" },
	{ "gcc -include x.c -c a.c", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c", "a.o" },
	{ "gcc -MF a.c -MD -c b.c", COMMAND_COMPILE, LINK_EXECUTABLE, "b.c:c", "b.o" },
	{ "gcc -Xlinker a.c -o p b.o", COMMAND_LINK, LINK_EXECUTABLE, "", NULL },
	{ "gcc -D a.c -I a.c -U a.c -c b.c -o c.o", COMMAND_COMPILE, LINK_EXECUTABLE, "b.c:c", "c.o" },
	{ "gcc -o p a.c s.S b.o", COMMAND_COMPILE_LINK, LINK_EXECUTABLE, "a.c:c", "p-a.o" },
	{ "gcc -E a.c", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -S a.c", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -MM a.c", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -c a.c b.S", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c", "a.o" },
	{ "x86_64-linux-gnu-gcc -c a.c", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c", "a.o" },
	{ "clang --target=x86_64-unknown-linux-gnu -c a.c", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c", "a.o" },
	{ "aarch64-linux-gnu-gcc-12 -c a.c", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c", "a.o" },
	{ "/opt/x-tools/arm-none-eabi-g++ a.cc", COMMAND_COMPILE_LINK, LINK_EXECUTABLE, "a.cc:c++", "a-a.o" },
	{ "musl-gcc -c a.c", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c", "a.o" },
	{ "clang -target riscv64-linux-gnu -c a.c", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c", "a.o" },
	{ "musl-gcc -o p a.o", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -m32 -c conftest.c", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -c a.i", COMMAND_COMPILE, LINK_EXECUTABLE, "a.i:c", "a.o" },
	{ "gcc -x cpp-output -c a.txt -o b.o", COMMAND_COMPILE, LINK_EXECUTABLE, "a.txt:c", "b.o" },
	{ "ccache -s", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -c a.S", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -v", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc --version", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -print-file-name=crt1.o", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -c a.h", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -x c-header -c a.h", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -c conftest.c", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -x c - -o p", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -c a.c -o /dev/null", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -m32 -c a.c", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c", "a.o" },
	{ "gcc", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -o", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	/* What the compiler refuses. */
	{ "gcc -c a.c -o", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -c a.c -I", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -c a.c b.c -o x.o", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -c a.c b.S -o x.o", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc -c a.c b.mk -o x.o", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c", "x.o" },
	/* Long names. */
	{ "gcc --compile a.c --output x.o", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c", "x.o" },
	{ "gcc a.c --output=prog", COMMAND_COMPILE_LINK, LINK_EXECUTABLE, "a.c:c", "prog-a.o" },
	{ "gcc --language c++ -c a.c", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c++", "a.o" },
	{ "gcc --language=c++ -c a.c", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c++", "a.o" },
	{ "gcc --include b.c --define-macro c.c --include-directory d.c -c a.c", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c", "a.o" },
	{ "gcc --shared a.o -o a.so", COMMAND_LINK, LINK_NO_RUNTIME, "", NULL },
	{ "gcc --no-standard-libraries a.o", COMMAND_LINK, LINK_NO_RUNTIME, "", NULL },
	{ "gcc --static --pie a.o", COMMAND_LINK, LINK_EXECUTABLE, "", NULL },
	{ "gcc --preprocess a.c", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc --assemble a.c", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc --user-dependencies -c a.c", COMMAND_PASS, LINK_EXECUTABLE, NULL, NULL },
	{ "gcc --sharedx --outputs -c a.c", COMMAND_COMPILE, LINK_EXECUTABLE, "a.c:c", "a.o" },
};

/* Splits at single blanks. */
static void split(const char *line, struct args *ret)
{
	while (*line) {
		size_t len = strcspn(line, " ");

		args_addf(ret, "%.*s", (int)len, line);
		line += len + (line[len] == ' ');
	}
}

static char *joined(const struct args *a)
{
	struct str s = STR_INIT;

	for (size_t i = 0; i < a->cnt; i++)
		str_addf(&s, "%s%s", i ? " " : "", a->items[i]);
	return str_take(&s);
}

static void check_row(size_t i)
{
	_cleanup_(args_release) struct args words = ARGS_INIT;
	_cleanup_(command_release) struct command c;
	_cleanup_(str_release) struct str sources = STR_INIT;

	split(rows[i].line, &words);
	command_parse(words.items, &c);
	print_message("%s\n", rows[i].line);
	assert_int_equal(c.kind, rows[i].kind);
	if (c.kind == COMMAND_PASS)
		return;
	assert_int_equal(c.link, rows[i].link);
	for (size_t n = 0; n < c.sources.cnt; n++)
		str_addf(&sources, "%s%s:%s", n ? " " : "", c.sources.items[n].path,
			 c.sources.items[n].language == LANG_CXX ? "c++" : "c");
	assert_string_equal(str_cstr(&sources), rows[i].sources);
	if (rows[i].object) {
		_cleanup_(freep) char *object = command_object(&c, 0);

		assert_string_equal(object, rows[i].object);
	}
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_row(i);
}

static void test_response_file(void **state)
{
	static const char text[] = "-DX='a b' \"-DY=\\\"q\\\"\"\n -c\ta\\ b.c @response.tmp @no.such\n";
	char *const argv[] = { "gcc", "@response.tmp", NULL };
	struct command c;

	(void)state;
	assert_int_equal(file_write("response.tmp", text, strlen(text), 0600), 0);
	command_parse(argv, &c);
	unlink("response.tmp");
	assert_int_equal(c.kind, COMMAND_COMPILE);
	assert_string_equal(c.words.items[1], "-DX=a b");
	assert_string_equal(c.words.items[2], "-DY=\"q\"");
	assert_string_equal(c.words.items[4], "a b.c");
	/* the file that names itself is opened 8 times, then left as a word */
	assert_string_equal(c.words.items[c.words.cnt - 1], "@no.such");
	assert_int_equal(c.sources.cnt, 8);
	command_release(&c);
}

/* clang -c log.c -o '' */
static void test_empty_output(void **state)
{
	char *words[] = { "clang", "-c", "log.c", "-o", "", NULL };
	_cleanup_(command_release) struct command c;

	(void)state;
	command_parse(words, &c);
	_cleanup_(freep) char *object = command_object(&c, 0);

	assert_string_equal(object, "log.o");
}

/* The commands that a line becomes, one a line: preprocess, compile, messages, original. */
static void check_commands(const char *line, bool again, const char *expected)
{
	_cleanup_(args_release) struct args words = ARGS_INIT, p = ARGS_INIT, o = ARGS_INIT;
	_cleanup_(args_release) struct args m = ARGS_INIT, u = ARGS_INIT;
	_cleanup_(command_release) struct command c;

	split(line, &words);
	command_parse(words.items, &c);
	_cleanup_(freep) char *object = command_object(&c, 0);

	preprocess_command(&c, 0, "T.i", "inc", !again, &p);
	compile_command(&c, 0, "T.i", object, !again, &o);
	messages_command(&c, 0, "T.i", "inc", &m);
	original_command(&c, 0, object, "inc", !again, &u);
	_cleanup_(freep) char *p_text = joined(&p), *o_text = joined(&o), *u_text = joined(&u);
	_cleanup_(freep) char *m_text = joined(&m);
	_cleanup_(freep) char *all = xasprintf("%s\n%s\n%s\n%s", p_text, o_text, m_text, u_text);

	assert_string_equal(all, expected);
}

static void test_commands(void **state)
{
	(void)state;
	check_commands("gcc -O2 -Wall -Werror -pedantic -DX -MD -Wp,-DY -fPIC -c log.c -o obj/log.o", false,
		       "gcc -O2 -Wall -Werror -pedantic -DX -MD -Wp,-DY -fPIC -MF obj/log.d -MQ obj/log.o "
		       "-Iinc -E log.c -o T.i\n"
		       "gcc -O2 -Wall -pedantic -fPIC " PROBED "-c -x cpp-output T.i -o obj/log.o\n"
		       "gcc -O2 -Wall -Werror -pedantic -DX -Wp,-DY -fPIC -Iinc -S log.c -o T.i\n"
		       "gcc -O2 -Wall -Werror -pedantic -DX -MD -Wp,-DY -fPIC -c log.c -o obj/log.o -Iinc");
	check_commands("gcc -MMD -MF d -MT t -P -c a.cc -Werror=format -pedantic-errors", false,
		       "gcc -MMD -MF d -MT t -Werror=format -pedantic-errors -Iinc -E a.cc -o T.i\n"
		       "gcc -Wformat -pedantic " PROBED "-c -x c++-cpp-output T.i -o a.o\n"
		       "gcc -P -Werror=format -pedantic-errors -Iinc -S a.cc -o T.i\n"
		       "gcc -MMD -MF d -MT t -P -c a.cc -Werror=format -pedantic-errors -Iinc");
	check_commands("gcc -g -MD a.c -Wl,-z,now -o prog b.o", false,
		       "gcc -g -MD -MF prog.d -MQ prog -Iinc -E a.c -o T.i\n"
		       "gcc -g " PROBED "-c -x cpp-output T.i -o prog-a.o\n"
		       "gcc -g -Iinc -S a.c -o T.i\n"
		       "gcc -g -MD -MF prog.d -MQ prog -Iinc -c a.c -o prog-a.o");
	check_commands("clang -Xclang -include-pch -Xclang p.pch -Xclang -include -Xclang p.h -x c++ -c a.c", false,
		       "clang -Xclang -include -Xclang p.h -Iinc -E -x c++ a.c -o T.i\n"
		       "clang " PROBED "-c -x c++-cpp-output T.i -o a.o\n"
		       "clang -Xclang -include-pch -Xclang p.pch -Xclang -include -Xclang p.h -Iinc -S -x c++ a.c "
		       "-o T.i\n"
		       "clang -Xclang -include-pch -Xclang p.pch -Xclang -include -Xclang p.h -x c++ -c a.c -Iinc");
	check_commands("gcc --std=c11 --optimize=2 --write-dependencies --warn-shadow -c a.c b.mk", false,
		       "gcc -std=c11 -O2 -MD -Wshadow -MF a.d -MQ a.o -Iinc -E a.c -o T.i\n"
		       "gcc -std=c11 -O2 -Wshadow b.mk " PROBED "-c -x cpp-output T.i -o a.o\n"
		       "gcc -std=c11 -O2 -Wshadow b.mk -Iinc -S a.c -o T.i\n"
		       "gcc -std=c11 -O2 -MD -Wshadow -c a.c b.mk -Iinc");
	check_commands("gcc -Wall -MD -MF d -DX -c a.c -Wl,-z,now", true,
		       "gcc -Wall -DX -Iinc -E a.c -o T.i\n"
		       "gcc -Wl,-z,now -w " PROBED "-c -x cpp-output T.i -o a.o\n"
		       "gcc -Wall -DX -Wl,-z,now -Iinc -S a.c -o T.i\n"
		       "gcc -Wall -DX -c a.c -Wl,-z,now -Iinc");
}

static void test_namesakes(void **state)
{
	char *const argv[] = { "gcc", "one/list.c", "two/list.c", "-o", "prog", NULL };
	struct command c;

	(void)state;
	command_parse(argv, &c);
	_cleanup_(freep) char *first = command_object(&c, 0), *second = command_object(&c, 1);

	assert_string_equal(first, "prog-list.o");
	assert_string_equal(second, "prog-list-1.o");
	command_release(&c);
}

static void test_dependency_file(void **state)
{
	static const char *const cases[][2] = {
		{ "gcc -c a.c", NULL }, { "gcc -MD -c a.c", "a.d" }, { "gcc -MMD -c d/a.c -o o/a.lo", "o/a.d" },
		{ "gcc -MD -MF .deps/a.Tpo -c a.c", ".deps/a.Tpo" }, { "gcc -MMD -MFx.d -c a.c", "x.d" },
		{ "gcc -Wp,-MD,.a.d,-MT,x -c a.c", ".a.d" }, { "gcc -Wp,-MMD,wp.d -c a.c", "wp.d" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(args_release) struct args words = ARGS_INIT;
		_cleanup_(command_release) struct command c;

		split(cases[i][0], &words);
		command_parse(words.items, &c);
		_cleanup_(freep) char *file = dependency_file(&c, 0);

		if (cases[i][1])
			assert_string_equal(file, cases[i][1]);
		else
			assert_null(file);
	}
}

static void test_wrapped(void **state)
{
	_cleanup_(args_release) struct args words = ARGS_INIT, names = ARGS_INIT;
	_cleanup_(command_release) struct command c;

	(void)state;
	split("gcc a.o -Wl,--wrap=read,-z,now,-wrap,poll -Xlinker --wrap=send -Wl,--wrap -Wl,recv -Wl,--wrapped=no --wrap=no", &words);
	command_parse(words.items, &c);
	command_wrapped(&c, &names);
	_cleanup_(freep) char *all = joined(&names);

	assert_string_equal(all, "read poll send recv");
}

static void test_untouchable(void **state)
{
	char *const two[] = { "gcc", "-MD", "-c", "a.c", "b.c", NULL };
	char *const precompiled[] = { "clang", "-include-pch", "p.pch", "-c", "a.c", NULL };
	char *const temps[] = { "gcc", "-save-temps=obj", "-c", "a.c", NULL };
	struct command c;

	(void)state;
	command_parse(two, &c);
	assert_non_null(c.untouchable);
	command_release(&c);
	command_parse(precompiled, &c);
	assert_non_null(c.untouchable);
	assert_int_equal(c.sources.cnt, 1);
	command_release(&c);
	command_parse(temps, &c);
	assert_non_null(c.untouchable);
	command_release(&c);
}

/* Commands whose objects cannot contain our probes, and those that look like them. */
static void test_foreign(void **state)
{
	static const struct {
		const char *line, *why;		/* why: a part of the reason; NULL: not foreign */
	} lines[] = {
		{ "gcc -c a.c", NULL },
		{ "x86_64-linux-gnu-gcc -c a.c", NULL },
		{ "clang -target x86_64-linux-gnu -c a.c", NULL },
		{ "clang --target=x86_64-linux-gnu -c a.c", NULL },
		{ "clang --target=x86_64-linux-musl -c a.c", "-target" },
		{ "clang -target riscv64-linux-gnu -c a.c", "-target" },
		{ "gcc -m32 -c a.c", "-m32" },
		{ "gcc -mx32 -c a.c", "-mx32" },
		{ "gcc -mabi=ms -c a.c", "-mabi=ms" },
		{ "musl-gcc a.c -o p", "C library" },
		{ "ccache arm-none-eabi-g++ -c a.cc", "another machine" },
		{ "gcc -c a.i", "preprocessed" },
		{ "g++ -c a.ii", "preprocessed" },
		{ "gcc -x c++-cpp-output -c a", "preprocessed" },
		{ "gcc -x c -c a.i", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_(args_release) struct args words = ARGS_INIT;
		_cleanup_(command_release) struct command c;

		split(lines[i].line, &words);
		command_parse(words.items, &c);
		print_message("%s\n", lines[i].line);
		if (lines[i].why)
			assert_true(c.foreign && strstr(c.foreign, lines[i].why));
		else
			assert_null(c.foreign);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_empty_output),
		cmocka_unit_test(test_response_file),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_dependency_file),
		cmocka_unit_test(test_namesakes),
		cmocka_unit_test(test_wrapped),
		cmocka_unit_test(test_untouchable),
		cmocka_unit_test(test_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
