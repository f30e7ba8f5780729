/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_instrumenter.c - locations, expressions, primitives, line markers, insertions, and the
 * files that the plan and the scan records are.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/unit/cmocka_all.h"
#include "trace/format.h"
#include "annotations/primitives.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "instrumenter/text/braces.h"
#include "instrumenter/parse/dialect.h"
#include "instrumenter/text/edit.h"
#include "instrumenter/plan/expression.h"
#include "instrumenter/text/lines.h"
#include "instrumenter/plan/location.h"
#include "instrumenter/plan/plan.h"
#include "instrumenter/scan/scan_head.h"
#include "instrumenter/products/interrupted_output.h"
#include "instrumenter/text/word_count.h"

static const struct {
	const char *text;
	enum place place;
	const char *file, *function;
	uint32_t line;
	const char *key, *condition;
} locations[] = {
	{ "f", PLACE_DEFAULT, NULL, "f", 0, NULL, NULL },
	{ "f@entry", PLACE_ENTRY, NULL, "f", 0, NULL, NULL },
	{ "f@return", PLACE_RETURN, NULL, "f", 0, NULL, NULL },
	{ "a.c:f", PLACE_DEFAULT, "a.c", "f", 0, NULL, NULL },
	{ "src/a.c:f@return", PLACE_RETURN, "src/a.c", "f", 0, NULL, NULL },
	{ "src/a.c:28", PLACE_LINE, "src/a.c", NULL, 28, NULL, NULL },
	{ "ns::C::f", PLACE_DEFAULT, NULL, "ns::C::f", 0, NULL, NULL },
	{ "a.cc:ns::f@entry", PLACE_ENTRY, "a.cc", "ns::f", 0, NULL, NULL },
	{ "C::operator bool", PLACE_DEFAULT, NULL, "C::operator bool", 0, NULL, NULL },
	{ "f key=arg0->id", PLACE_DEFAULT, NULL, "f", 0, "arg0->id", NULL },
	{ "a.c:f@return if (ret) != 0", PLACE_RETURN, "a.c", "f", 0, NULL, "(ret) != 0" },
	{ "a.c:7 key=a ? b : c if d", PLACE_LINE, "a.c", NULL, 7, "a ? b : c", "d" },
	{ "f key=g(\" if \", '\\'', (x if y)) + keyif_if if key == 1", PLACE_DEFAULT, NULL, "f", 0,
	  "g(\" if \", '\\'', (x if y)) + keyif_if", "key == 1" },
	{ "operator new if arg0", PLACE_DEFAULT, NULL, "operator new", 0, NULL, "arg0" },
};

static const char *const bad_locations[] = {
	"", "@entry", "f@exit", "f@", "a.c:0", "a.c:99999999999", ":f", "28", "a.c:", "two words", "mark:",
	"f key=", "f key= if x", "f key= = x", "f if", "f key == x", "if x", "mark:m if x", "mark:m key=x", "f iffy x",
};

static void test_locations(void **state)
{
	struct diag d = DIAG_INIT;
	struct location l;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(locations); i++) {
		assert_int_equal(location_parse(locations[i].text, &l, &d), 0);
		assert_int_equal(l.place, locations[i].place);
		assert_string_equal(l.file ? l.file : "-", locations[i].file ? locations[i].file : "-");
		assert_string_equal(l.function ? l.function : "-",
				    locations[i].function ? locations[i].function : "-");
		assert_int_equal(l.line, locations[i].line);
		assert_string_equal(l.key ? l.key : "-", locations[i].key ? locations[i].key : "-");
		assert_string_equal(l.condition ? l.condition : "-",
				    locations[i].condition ? locations[i].condition : "-");
		_cleanup_(freep) char *text = location_text(&l);

		assert_string_equal(text, locations[i].text);
		location_release(&l);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad_locations); i++) {
		assert_int_equal(location_parse(bad_locations[i], &l, &d), -EINVAL);
		assert_int_equal(d.status, EXIT_USAGE);
	}
	assert_int_equal(location_parse("mark:request", &l, &d), 0);
	assert_string_equal(l.mark, "request");
	location_release(&l);
}

static void test_location_matches(void **state)
{
	(void)state;
	assert_true(location_file_matches("server.c", "/u/log/server.c"));
	assert_true(location_file_matches("log/server.c", "/u/log/server.c"));
	assert_true(location_file_matches("./log/server.c", "/u/log/server.c"));
	assert_true(location_file_matches("/u/log/server.c", "/u/log/server.c"));
	assert_false(location_file_matches("erver.c", "/u/log/server.c"));
	assert_false(location_file_matches("x/u/log/server.c", "/u/log/server.c"));
	assert_true(location_function_matches("f", "f"));
	assert_true(location_function_matches("f", "ns::C::f"));
	assert_true(location_function_matches("C::f", "ns::C::f"));
	assert_false(location_function_matches("f", "ns::gf"));
	assert_false(location_function_matches("::f", "f"));
}

static const char *parameter(size_t n, void *arg)
{
	static const char *const names[] = { "conn", "", "n" };

	(void)arg;
	return n < ARRAY_SIZE(names) ? names[n] : NULL;
}

static void check_expression(const char *text, const char *result, const char *wanted)
{
	_cleanup_(str_release) struct str s = STR_INIT;

	assert_null(expression_expand(text, parameter, NULL, result, &s));
	assert_string_equal(str_cstr(&s), wanted);
}

static void test_expressions(void **state)
{
	_cleanup_(str_release) struct str s = STR_INIT;

	(void)state;
	check_expression("arg0->id", NULL, "(unsigned long long)(conn->id)");
	check_expression("arg0->arg0 + target0 + p.ret", NULL,
			 "(unsigned long long)(conn->arg0 + target0 + p.ret)");
	check_expression("f(ret, arg2) ^ 0xarg0", "r", "(unsigned long long)(f(r, n) ^ 0xarg0)");
	check_expression("\"arg0 \\\" ret\"[arg2]", "r", "(unsigned long long)(\"arg0 \\\" ret\"[n])");
	check_expression("arg100 'ret'", NULL, "(unsigned long long)(arg100 'ret')");
	check_expression("\"open", NULL, "(unsigned long long)(\"open)");
	assert_non_null(expression_expand("arg1", parameter, NULL, NULL, &s));	/* no name */
	assert_non_null(expression_expand("arg3", parameter, NULL, NULL, &s));
	assert_non_null(expression_expand("ret", parameter, NULL, NULL, &s));
	assert_true(expression_uses_result("arg0 + ret"));
	assert_false(expression_uses_result("arg0->ret + retry"));
}

static void test_words(void **state)
{
	static const char text[] = "read(); _read pread read1 read->read\nx.wait_for_a_word_of_more_than_sixty_four_letters"
				   "_that_the_table_has_no_bit_for+re\xc3\xa9read,write";
	static const char longest[] = "wait_for_a_word_of_more_than_sixty_four_letters_that_the_table_has_no_bit_for";
	size_t cnt[] = { 0, 0, 0, 0 }, none[] = { 0 };
	_cleanup_(names_freep) struct names *names = names_new(), *no_names = names_new();

	(void)state;
	names_add(names, "read");
	names_add(names, "write");
	names_add(names, longest);
	names_add(names, "rea");		/* begins a word, and is none */
	words_count(names, text, strlen(text), cnt);
	assert_int_equal(cnt[0], 4);
	assert_int_equal(cnt[1], 1);
	assert_int_equal(cnt[2], 1);
	assert_int_equal(cnt[3], 0);
	words_count(names, text, strlen(text) - 1, cnt);	/* it ends within "write" */
	assert_int_equal(cnt[0], 8);
	assert_int_equal(cnt[1], 1);
	words_count(no_names, text, strlen(text), none);
	assert_int_equal(none[0], 0);
}

static void test_primitives(void **state)
{
	static const char table[] = "# a table\n\nacquire = lock_it( arg0 )  # why\n"
				    "builtin sleep other\ndequeue = pop(task=*arg1, queue=f(arg0, 1))\n";
	static const char bad[] = "acquire = lock_it(arg0)\nacquire lock_it\n";
	struct primitive p;
	struct diag d = DIAG_INIT;
	primitives list = { NULL, 0, 0 };

	(void)state;
	assert_int_equal(file_write("table.tmp", table, strlen(table), 0600), 0);
	assert_int_equal(primitives_read("table.tmp", &list, &d), 0);
	assert_int_equal(list.cnt, 3);
	assert_string_equal(primitives_find(&list, "lock_it")->object, "arg0");
	assert_true(primitives_find(&list, "sleep")->builtin);
	assert_string_equal(primitives_find(&list, "pop")->object, "f(arg0, 1)");
	assert_string_equal(primitives_find(&list, "pop")->task, "*arg1");
	assert_null(primitives_find(&list, "push"));
	assert_int_equal(file_write("table.tmp", bad, strlen(bad), 0600), 0);
	assert_int_equal(primitives_read("table.tmp", &list, &d), -EINVAL);
	assert_non_null(strstr(d.text, "table.tmp:2"));
	unlink("table.tmp");
	primitives_release(&list);
	assert_int_equal(primitive_parse(ROLE_ACQUIRE, "f(arg0, arg1)", &p, &d), -EINVAL);
	assert_int_equal(primitive_parse(ROLE_ACQUIRE, "f()", &p, &d), -EINVAL);
	assert_int_equal(primitive_parse(ROLE_ACQUIRE, "f", &p, &d), -EINVAL);
	assert_int_equal(primitive_parse(ROLE_ENQUEUE, "f(queue=arg0)", &p, &d), -EINVAL);
	assert_int_equal(primitive_parse(ROLE_ENQUEUE, "f(arg0, arg1)", &p, &d), -EINVAL);
	assert_int_equal(primitive_parse(ROLE_ENQUEUE, "f(queue=a, queue=b, task=c)", &p, &d), -EINVAL);
	assert_int_equal(primitive_parse(ROLE_ACQUIRE, "f(arg0, class=none)", &p, &d), -EINVAL);
	assert_int_equal(primitive_parse(ROLE_ACQUIRE, "f(class=cond)", &p, &d), -EINVAL);
	assert_int_equal(primitive_parse(ROLE_RELEASE, "f(arg0, class=cond)", &p, &d), -EINVAL);
	assert_int_equal(primitive_parse(ROLE_ACQUIRE, "f(arg0, class = io)", &p, &d), 0);
	assert_int_equal(p.class, WAIT_IO);
	assert_string_equal(p.object, "arg0");
	primitive_release(&p);
	assert_int_equal(primitive_parse(ROLE_ACQUIRE, "f(arg0, spins=never)", &p, &d), -EINVAL);
	assert_int_equal(primitive_parse(ROLE_RELEASE, "f(arg0, spins=no)", &p, &d), -EINVAL);
	assert_int_equal(primitive_parse(ROLE_ACQUIRE, "f(arg0, spins=yes)", &p, &d), 0);
	assert_false(p.never_spins);
	primitive_release(&p);
	assert_int_equal(primitive_parse(ROLE_ACQUIRE, "f(class=cond, arg0->n, spins = no)", &p, &d), 0);
	assert_true(p.never_spins && p.class == CLASS_COND);
	primitive_release(&p);
	assert_int_equal(primitive_parse(ROLE_ACQUIRE, "f(arg0, class=lock)", &p, &d), 0);
	assert_int_equal(p.class, CLASS_NONE);
	primitive_release(&p);
	assert_int_equal(primitive_parse(ROLE_ACQUIRE, "f(arg0, class=queue)", &p, &d), -EINVAL);
	assert_non_null(strstr(d.remedy, "class=lock, cond, io, join or sleep, spins=no"));
	assert_int_equal(primitive_parse(ROLE_ACQUIRE, "f(arg0 == 1)", &p, &d), 0);
	assert_string_equal(p.object, "arg0 == 1");
	primitive_release(&p);
}

static void check_position(const struct lines *l, const char *text, const char *at, const char *file,
			   uint32_t line, bool foreign)
{
	struct position p = lines_at(l, (size_t)(strstr(text, at) - text));

	assert_string_equal(p.file, file);
	assert_int_equal(p.line, line);
	assert_int_equal(p.foreign, foreign);
}

static void test_lines(void **state)
{
	static const char text[] =
		"# 0 \"a.c\"\n# 1 \"/nowhere/dir//\"\n# 0 \"<built-in>\"\nint built;\n"
		"# 1 \"/usr/include/x.h\" 1 3 4\nint x;\n# 1 \"own/vprof.h\" 1\nint v;\n"
		"# 5 \"/nowhere/q\\\"\\303\\251.h\" 2\nint q;\n"
		"# 2 \"a.c\" 2\n\nint first;\nint second;\n# pragma once\nint third;\n";
	_cleanup_(lines_freep) struct lines *l = lines_new(text, strlen(text), "/nowhere", "/nowhere/own");

	(void)state;
	check_position(l, text, "int built", "<built-in>", 0, true);
	check_position(l, text, "int x", "/usr/include/x.h", 1, true);
	check_position(l, text, "int v", "/nowhere/own/vprof.h", 1, true);
	check_position(l, text, "int q", "/nowhere/q\"\303\251.h", 5, false);
	check_position(l, text, "int first", "/nowhere/a.c", 3, false);
	check_position(l, text, "second", "/nowhere/a.c", 4, false);
	check_position(l, text, "int third", "/nowhere/a.c", 6, false);
	assert_int_equal(lines_top(l), strstr(text, "# 0 \"<built") - text);
}

static void test_edits(void **state)
{
	_cleanup_(edits_release) struct edits e = EDITS_INIT;
	_cleanup_(str_release) struct str s = STR_INIT;

	(void)state;
	edits_insert(&e, 3, "C");
	edits_insert(&e, 1, "A%d", 1);
	edits_insert(&e, 1, "B");
	edits_insert(&e, 0, "<");
	edits_insert(&e, 99, ">");
	edits_insert_first(&e, 1, "%c", '{');
	edits_insert_first(&e, 2, "2");
	edits_apply(&e, "xyz", 3, &s);
	assert_string_equal(s.data, "<x{A1By2zC>");
}

static void test_plan(void **state)
{
	static const char *const bad[] = {
		"", "vprof-plan 2\n", "vprof-plan 1\nall sometimes\n", "vprof-plan 1\nalways\t/a.c\t3\n",
		"vprof-plan 1\nalways\t/a.c\tx\tf\n", "vprof-plan 1\nnever\t/a.c\t3\tf\n",
		"vprof-plan 1\n\n", "vprof-plan 1\nalways\t/a.c\t99999999999\tf\n", "vprof-plan 1\nsampled \n",
	};
	_cleanup_(plan_freep) struct plan *p = plan_new(), *q = NULL;
	struct diag d = DIAG_INIT;

	(void)state;
	plan_add(p, PLAN_IN_INTERVALS, "/src/a.c", 3, "f");
	plan_add(p, PLAN_ALWAYS, "/src/a b.cc", 4, "C::operator bool");
	plan_add(p, PLAN_DORMANT, "/src/c.c", 5, "g");
	assert_int_equal(plan_write("plan.tmp", p, &d), 0);
	assert_int_equal(plan_read("plan.tmp", &q, &d), 0);
	assert_int_equal(q->entries.cnt, 3);
	assert_false(plan_is_aside(q, function_key("/src/a.c", 3, "f")));
	assert_true(plan_is_aside(q, function_key("/src/c.c", 5, "g")));
	assert_int_equal(q->all, PLAN_OFF);
	assert_int_equal(plan_level_of(q, function_key("/src/a.c", 3, "f")), PLAN_IN_INTERVALS);
	assert_int_equal(plan_level_of(q, function_key("/src/a b.cc", 4, "C::operator bool")),
			 PLAN_ALWAYS);
	assert_int_equal(plan_level_of(q, function_key("/src/a.c", 4, "f")), PLAN_OFF);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct plan *none = NULL;

		assert_int_equal(file_write("plan.tmp", bad[i], strlen(bad[i]), 0600), 0);
		assert_int_equal(plan_read("plan.tmp", &none, &d), -EBADMSG);
		assert_int_equal(d.status, EXIT_DATA);
		assert_null(none);
	}
	p->sampled = true;
	assert_int_equal(plan_write("plan.tmp", p, &d), 0);
	plan_free(TAKE_PTR(q));
	assert_int_equal(plan_read("plan.tmp", &q, &d), 0);
	assert_true(q->sampled && plan_is_aside(q, function_key("/src/a.c", 3, "f")));
	unlink("plan.tmp");
	plan_free(TAKE_PTR(q));
	assert_int_equal(plan_read("plan.tmp", &q, &d), 0);
	assert_int_equal(q->entries.cnt, 0);
}

static struct unit *sample_unit(void)
{
	static const char *argv[] = { "/usr/bin/gcc", "-c", "a \"b\".c", NULL };
	struct unit *u = unit_new();
	struct scan_function f = {
		.name = "f", .file = "/src/a.c", .line = 3, .end_line = 9, .key = 0xfedcba9876543210ULL,
		.is_static = true, .releases = true, .type = "int (void)", .skipped = "naked",
	};
	struct scan_function g = { .name = "g\xff", .file = "/src/a.c", .probed = true, .body = 200 };
	struct scan_function last = { .name = "last", .file = "/src/a.c", .key = 9, .skipped = "naked", .body = 150 };
	struct scan_function h = { .name = "h", .file = "/src/h.h", .line = 1, .end_line = 2, .key = 7, .body = 11 };
	struct scan_call in_header = { .caller = 2, .callee = "f", .callee_file = "/src/a.c", .callee_line = 3, .file = "/src/h.h", .line = 2 };
	struct scan_call call = { .caller = 1, .callee = "f", .callee_file = "/src/a.c",
				  .callee_line = 3, .callee_static = true, .file = "/src/a.c", .line = 12 };
	struct scan_call through = { .caller = 0, .type = "void (int)", .file = "/src/a.c", .line = 5 };
	struct scan_place place = { .interval = "i", .role = "start", .location = "f", .problem = "x" };

	u->object = "/src/a.o";
	u->source = "/src/a.c";
	u->directory = "/src";
	u->argv = argv;
	u->probe_set = UINT64_MAX;
	u->untouched = "why";
	u->product = "/src/a.o";
	u->product_ns = UINT64_MAX - 1;
	u->product_bytes = 7;
	u->known.plain = 0x0123456789abcdefULL;
	u->known.redirected = " sem_post sem_wait";
	VEC_ADD(&u->known.inputs, ((struct scan_input){ "/src/a b.h", UINT64_MAX - 2, 11 }));
	VEC_ADD(&u->known.inputs, ((struct scan_input){ "/src/a.c", 3, 0 }));
	VEC_ADD(&u->known.tails, ((struct scan_tail){ 3, true, 170, 175 }));
	VEC_ADD(&u->known.tails, ((struct scan_tail){ 1, false, 90, 190 }));
	VEC_ADD(&u->functions, f);
	VEC_ADD(&u->functions, g);
	VEC_ADD(&u->functions, h);
	VEC_ADD(&u->functions, last);
	VEC_ADD(&u->calls, in_header);
	VEC_ADD(&u->calls, call);
	VEC_ADD(&u->calls, through);
	VEC_ADD(&u->address_taken, "g");
	VEC_ADD(&u->places, place);
	u->misread = "a.c:3: what";
	return u;
}

static void test_scan_round_trip(void **state)
{
	_cleanup_(unit_freep) struct unit *u = sample_unit();
	units list = { NULL, 0, 0 };
	struct diag d = DIAG_INIT;

	(void)state;
	remove_tree("scan.tmp");
	assert_int_equal(unit_write("scan.tmp", u, &d), 0);
	assert_int_equal(units_read("scan.tmp", &list, &d), 0);
	assert_int_equal(list.cnt, 1);
	struct unit *r = list.items[0];

	assert_string_equal(r->object, u->object);
	assert_string_equal(r->argv[2], "a \"b\".c");
	assert_null(r->argv[3]);
	assert_int_equal(r->probe_set, UINT64_MAX);
	assert_string_equal(r->untouched, "why");
	assert_string_equal(r->misread, "a.c:3: what");
	assert_string_equal(r->product, "/src/a.o");
	assert_true(r->product_ns == UINT64_MAX - 1 && r->product_bytes == 7);
	assert_int_equal(r->functions.cnt, 4);
	assert_string_equal(r->functions.items[2].file, "/src/h.h");
	assert_int_equal(r->functions.items[2].body, 11);
	assert_string_equal(r->functions.items[3].name, "last");
	assert_int_equal(r->functions.items[1].body, 200);
	assert_int_equal(r->functions.items[3].body, 150);
	assert_false(r->functions.items[2].probed || r->functions.items[3].probed);
	assert_int_equal(r->functions.items[0].key, 0xfedcba9876543210ULL);
	assert_true(r->functions.items[0].is_static && r->functions.items[0].releases);
	assert_false(r->functions.items[0].probed || r->functions.items[0].is_inline);
	assert_string_equal(r->functions.items[0].skipped, "naked");
	assert_string_equal(r->functions.items[1].name, "g?");
	assert_null(r->functions.items[1].skipped);
	assert_true(r->functions.items[1].probed);
	assert_string_equal(r->calls.items[0].callee, "f");
	assert_int_equal(r->calls.items[0].line, 12);
	assert_int_equal(r->calls.items[0].caller, 1);
	assert_null(r->calls.items[1].callee);
	assert_string_equal(r->calls.items[1].type, "void (int)");
	assert_int_equal(r->calls.cnt, 3);
	assert_int_equal(r->calls.items[2].caller, 2);
	assert_string_equal(r->calls.items[2].file, "/src/h.h");
	assert_string_equal(r->calls.items[2].callee_file, "/src/a.c");
	assert_string_equal(r->address_taken.items[0], "g");
	assert_string_equal(r->places.items[0].problem, "x");
	assert_true(r->known.plain == 0x0123456789abcdefULL);
	assert_string_equal(r->known.redirected, " sem_post sem_wait");
	assert_int_equal(r->known.tails.cnt, 2);
	assert_true(r->known.tails.items[0].function == 3 && r->known.tails.items[0].is_scalar);
	assert_true(r->known.tails.items[0].start == 170 && r->known.tails.items[0].end == 175);
	assert_true(r->known.tails.items[1].function == 1 && !r->known.tails.items[1].is_scalar);
	assert_true(r->known.tails.items[1].start == 90 && r->known.tails.items[1].end == 190);
	assert_int_equal(r->known.inputs.cnt, 2);
	assert_string_equal(r->known.inputs.items[0].path, "/src/a b.h");
	assert_true(r->known.inputs.items[0].ns == UINT64_MAX - 2 && r->known.inputs.items[0].bytes == 11);
	units_release(&list);
}

/* The lines that the next compile looks at, and what it changes in them. */
static void test_scan_head(void **state)
{
	_cleanup_(unit_freep) struct unit *u = sample_unit();
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	_cleanup_(scan_head_release) struct scan_head head = { .len = 0 }, again = { .len = 0 };
	_cleanup_(str_release) struct str s = STR_INIT;
	struct scan_part_name part = { UINT64_MAX - 5, "/src/h\n.h" };
	const scan_part_names parts = { &part, 1, 1 };

	(void)state;
	u->functions.items[1].key = 5;
	assert_int_equal(scan_head_add(u, &parts, &s), 0);
	assert_memory_equal(s.data, "vprof-scan 1\n"
			    "made fffffffffffffffe 0000000000000007\n"
			    "plain 0123456789abcdef\n"
			    "redirected sem_post sem_wait\n"
			    "head ", 109);
	str_add(&s, "{}");
	scan_head_stamp(s.data, 0xabc, UINT64_MAX);
	assert_null(scan_head_read(s.data, s.len, arena, &head));
	assert_string_equal(s.data + head.len, "{}");
	assert_true(head.made_ns == 0xabc && head.made_bytes == UINT64_MAX);
	assert_int_equal(head.keys.cnt, 1);		/* others cannot take a probe, or are in a part */
	assert_int_equal(head.keys.items[0], 5);
	assert_int_equal(head.inputs.cnt, 2);
	assert_true(head.inputs.items[0].ns == UINT64_MAX - 2 && head.inputs.items[0].bytes == 11);
	assert_string_equal(head.inputs.items[0].path, "/src/a b.h");
	assert_int_equal(head.parts.cnt, 1);
	assert_true(head.parts.items[0].hash == UINT64_MAX - 5);
	assert_string_equal(head.parts.items[0].file, "/src/h?.h");
	s.data[strlen("vprof-scan 1\nmade ")] = '-';
	assert_string_equal(scan_head_read(s.data, s.len, arena, &again), "made");
}

/* Every cut and every changed byte of a record is either read or reported, never a crash. */
static void test_scan_damage(void **state)
{
	_cleanup_(unit_freep) struct unit *u = sample_unit();
	_cleanup_(freep) char *path = unit_path("scan.tmp", u->object, ".scan"), *text = NULL;
	struct diag d = DIAG_INIT;
	unsigned damaged = 0;
	size_t len;

	(void)state;
	assert_int_equal(unit_write("scan.tmp", u, &d), 0);
	assert_int_equal(file_read(path, &text, &len), 0);
	for (size_t i = 0; i < 2 * len; i++) {
		_cleanup_(freep) char *copy = memcpy(xmalloc(len), text, len);
		units list = { NULL, 0, 0 };

		if (i >= len)
			copy[i - len] = "\"0x]{}-\0,"[i % 9];
		assert_int_equal(file_write(path, copy, i < len ? i : len, 0600), 0);
		if (units_read("scan.tmp", &list, &d) < 0) {
			assert_int_equal(d.status, EXIT_DATA);
			assert_int_equal(list.cnt, 0);
			damaged++;
		}
		units_release(&list);
	}
	assert_true(damaged > len);			/* every cut, and some of the changes */
	remove_tree("scan.tmp");
}

static void test_long_paths(void **state)
{
	char object[600] = "/", other[600];

	(void)state;
	memset(object + 1, 'a', sizeof(object) - 2);
	object[sizeof(object) - 1] = '\0';
	memcpy(other, object, sizeof(other));
	other[1] = 'b';
	_cleanup_(freep) char *a = unit_path("d", object, ".scan"), *b = unit_path("d", other, ".scan");

	assert_true(strlen(path_base(a)) < 255);
	assert_string_not_equal(a, b);
	_cleanup_(freep) char *plain = unit_path("d", "/src/a.o", ".scan");

	assert_string_equal(plain, "d/%src%a.o.scan");
}

/* Each text begins with a brace; what it closes with is the first "}!" or "%>!". */
static const char *const braced[] = {
	"{}!", "{ { } }! }", "{ if (c == '}') puts(\"}\"); }! }", "{ '\\'', '{' }!", "{ \"\\\\\" \"{\" }!",
	"{ 1'000 + 0x7f'ff; '}'; }!", "{ u8'}'; L\"}\"; a'}'; }!", "{ R\"(}\")\" }!", "{ u8R\"x()}\")x\" }!",
	"{ /* } */ a / b; // }\n }!", "{\n# 1 \"it's } a\"\n }!", "{\n  #pragma }\n }!", "{ a #}!",
	"<% <% %> %>! %>", "{ a < b % c > d }!", "{ fR\"}\" }!",
};

static const char *const unclosed[] = { "{", "{ { }", "{ \"}", "{ '}", "{ /* }", "{ R\"x(} )y\"", "{ // }" };

static void test_braces(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(braced); i++) {
		const char *end = strchr(braced[i], '!');

		assert_int_equal(braces_end(braced[i], strlen(braced[i]), 0), end - braced[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(unclosed); i++)
		assert_int_equal(braces_end(unclosed[i], strlen(unclosed[i]), 0), 0);
}

static void test_dialect(void **state)
{
	static const char text[] = "# 0 \"a.cc\"\n# 0 \"<built-in>\"\n"
		"x = integer_sequence<_Tp, __integer_pack(_Num)...>;\n"
		"y = _Index_tuple<__integer_pack(_Num)...>;\n"
		"z = __integer_pack(_Num);\n";
	_cleanup_(freep) char *cxx = dialect_view(text, strlen(text), LANG_CXX);
	_cleanup_(freep) char *c = dialect_view(text, strlen(text), LANG_C);
	_cleanup_(freep) char *bare = dialect_view("int a;\nint b;\n", 14, LANG_C);

	(void)state;
	assert_string_equal(cxx, "# 0 \"a.cc\"\n#include \"vprof\"\n"
		"x = __make_integer_seq<integer_sequence,_Tp,_Num> ;\n"
		"y = __make_integer_seq<_Ours,size_t,_Num>;\n"
		"z = __integer_pack(_Num);\n");
	assert_non_null(strstr(c, "#include \"vprof\"\nx = integer_sequence<_Tp, __integer_pack"));
	assert_string_equal(bare, "int a;\nint b;\n");
}

static void write_half(const char *path, time_t seconds)
{
	const struct timespec times[2] = { { seconds, 0 }, { seconds, 0 } };

	assert_int_equal(file_write(path, "half", 4, 0644), 0);
	if (seconds)
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* A marked file is removed if its maker is gone, and wrote to it. */
static void test_unfinished(void **state)
{
	char dir[] = "/tmp/vprof-unfinished.XXXXXX";
	_cleanup_(freep) char *path = NULL;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	path = path_join(dir, "a.o");
	fd = unfinished_mark(path, dir);
	assert_true(fd >= 0);
	write_half(path, 0);
	assert_int_equal(unfinished_remove(dir), 0);		/* it is being made */
	assert_true(file_exists(path));
	close(fd);
	assert_int_equal(unfinished_remove(dir), 1);
	assert_false(file_exists(path));
	write_half(path, 0);
	assert_int_equal(unfinished_remove(dir), 0);		/* the mark is gone, too */
	write_half(path, 1000000000);
	close(unfinished_mark(path, dir));			/* killed before it wrote */
	assert_int_equal(unfinished_remove(dir), 0);
	assert_true(file_exists(path));
	unfinished_done(path, dir, unfinished_mark(path, dir));
	write_half(path, 0);
	assert_int_equal(unfinished_remove(dir), 0);
	assert_int_equal(unfinished_mark("/dev/null", dir), -1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);			/* no mark is left */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_braces),
		cmocka_unit_test(test_dialect),
		cmocka_unit_test(test_locations),
		cmocka_unit_test(test_location_matches),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_primitives),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_edits),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_scan_round_trip),
		cmocka_unit_test(test_scan_head), cmocka_unit_test(test_scan_damage),
		cmocka_unit_test(test_long_paths),
		cmocka_unit_test(test_unfinished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
