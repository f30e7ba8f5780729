/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_store_project.c - which function a call means, and the call graph in and out of vprof.db.
 *
 * Three units:
 *	a.c	main() calls work() (extern), helper() (a.c's static), puts() (a library's)
 *		and a void (*)(void)
 *	b.c	work() calls helper() (b.c's static) and min() of util.h; flush(void) is put in a table
 *	c.c	another program's main(); calls min() of util.h, and work() too
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "base/file.h"
#include "store/store.h"
#include "tests/unit/store/data_dir.h"

static struct unit *add_unit(units *list, const char *object, const char *source)
{
	struct unit *u = unit_new();

	u->object = object;
	u->source = source;
	u->directory = "/src";
	VEC_ADD(list, u);
	return u;
}

/* Keys only have to be the same for the same body: the line of the body tells them apart here. */
static struct scan_function *add_function(struct unit *u, const char *name, const char *file,
					  uint32_t line, const char *type)
{
	struct scan_function *f = VEC_EXTEND(&u->functions);

	f->name = name;
	f->file = file;
	f->line = line;
	f->end_line = line + 2;
	f->key = 0xf000000000000000ULL + line;
	f->type = type;
	return f;
}

static struct scan_call *add_call(struct unit *u, uint32_t caller, const char *callee, uint32_t line)
{
	struct scan_call *c = VEC_EXTEND(&u->calls);

	c->caller = caller;
	c->callee = callee;
	c->file = u->source;
	c->line = line;
	return c;
}

static void add_min(struct unit *u, bool probed)
{
	struct scan_function *f = add_function(u, "min", "/src/util.h", 3, "int (int, int)");

	f->is_static = f->is_inline = true;
	f->probed = probed;
	f->skipped = probed ? NULL : "constexpr";
	/* max() could be probed in the second unit, but the plan did not ask for it. */
	add_function(u, "max", "/src/util.h", 7, "int (int, int)")->skipped =
		probed ? NULL : "constexpr";
}

static void call_min(struct unit *u, uint32_t caller, uint32_t line)
{
	struct scan_call *c = add_call(u, caller, "min", line);

	c->callee_static = true;
	c->callee_file = "/src/util.h";
	c->callee_line = 3;
}

static void sample_units(units *list)
{
	struct unit *a = add_unit(list, "/o/a.o", "/src/a.c");
	struct unit *b = add_unit(list, "/o/b.o", "/src/b.c");
	struct unit *c = add_unit(list, "/o/c.o", "/src/c.c");

	add_function(a, "main", "/src/a.c", 10, "int (void)")->probed = true;
	add_function(a, "helper", "/src/a.c", 20, "void (void)")->is_static = true;
	add_call(a, 0, "work", 11);
	add_call(a, 0, "helper", 12)->callee_static = true;
	add_call(a, 0, "puts", 13);
	add_call(a, 0, NULL, 14)->type = "void (void)";
	add_function(b, "work", "/src/b.c", 30, "void (void)")->releases = true;
	add_function(b, "helper", "/src/b.c", 40, "int (int)")->is_static = true;
	add_function(b, "flush", "/src/b.c", 50, "void (void)")->skipped = "naked";
	b->functions.items[1].no_return = true;
	add_min(b, false);
	add_call(b, 0, "helper", 31)->callee_static = true;
	call_min(b, 0, 32);
	VEC_ADD(&b->address_taken, "flush");
	add_function(c, "main", "/src/c.c", 60, "int (void)");
	add_min(c, true);
	call_min(c, 0, 61);
	add_call(c, 0, "work", 62);
	add_call(c, 0, "work", 62);
	c->untouched = "parse error in c.c:7";
	b->misread = "/src/b.c:33: expected ')'";
}

static struct project *load_and_read(void)
{
	_cleanup_(store_closep) struct store *s = NULL;
	units list = { NULL, 0, 0 };
	struct project *p = NULL;
	struct diag d = DIAG_INIT;

	sample_units(&list);
	assert_int_equal(store_open(dir, true, &s, &d), 0);
	assert_int_equal(project_load(s, &list, &d), 0);
	assert_int_equal(project_load(s, &list, &d), 0);	/* replaces */
	units_release(&list);
	assert_int_equal(project_read(s, &p, &d), 0);
	return p;
}

/* "a.c:20 helper" */
static void name_function(const struct project_function *f, char *ret, size_t size)
{
	snprintf(ret, size, "%s:%u %s", path_base(f->file), f->line, f->name);
}

static bool has_call(const struct project *p, const char *caller, const char *callee, const char *site,
		     bool may)
{
	for (size_t i = 0; i < p->calls.cnt; i++) {
		const struct project_call *c = &p->calls.items[i];
		char from[128], to[128];

		name_function(&p->functions.items[c->caller], from, sizeof(from));
		name_function(&p->functions.items[c->callee], to, sizeof(to));
		if (strcmp(from, caller) == 0 && strcmp(to, callee) == 0 &&
		    strcmp(c->call_site, site) == 0 && c->may == may)
			return true;
	}
	return false;
}

static void test_calls(void **state)
{
	_cleanup_(project_freep) struct project *p = load_and_read();

	(void)state;
	assert_true(has_call(p, "a.c:10 main", "b.c:30 work", "a.c:11", false));
	assert_true(has_call(p, "a.c:10 main", "a.c:20 helper", "a.c:12", false));
	assert_true(has_call(p, "a.c:10 main", "b.c:50 flush", "a.c:14", true));
	assert_true(has_call(p, "b.c:30 work", "b.c:40 helper", "b.c:31", false));
	assert_true(has_call(p, "b.c:30 work", "util.h:3 min", "b.c:32", false));
	assert_true(has_call(p, "c.c:60 main", "util.h:3 min", "c.c:61", false));
	assert_true(has_call(p, "c.c:60 main", "b.c:30 work", "c.c:62", false));
	assert_int_equal(p->calls.cnt, 7);	/* and nothing else: work() is nobody's pointer */
}

static void test_functions(void **state)
{
	_cleanup_(project_freep) struct project *p = load_and_read();
	const struct project_function *f = p->functions.items;

	(void)state;
	assert_int_equal(p->functions.cnt, 8);		/* in order of file and line */
	assert_string_equal(f[0].name, "main");
	assert_true(f[0].probed && !f[0].is_static);
	assert_true(f[0].key == 0xf00000000000000aULL);	/* keys survive as unsigned */
	assert_string_equal(f[2].name, "work");
	assert_true(f[2].releases);
	assert_true(f[3].no_return && !f[2].no_return);
	assert_string_equal(f[4].skipped, "naked");
	assert_string_equal(f[6].name, "min");		/* one, though two units compile it */
	assert_true(f[6].probed);
	assert_null(f[6].skipped);
	assert_string_equal(f[7].name, "max");
	assert_true(!f[7].probed && !f[7].skipped);
	assert_int_equal(p->units.cnt, 3);
	assert_null(p->units.items[0].untouched);
	assert_string_equal(p->units.items[2].untouched, "parse error in c.c:7");
	assert_null(p->units.items[2].misread);
	assert_string_equal(p->units.items[1].misread, "/src/b.c:33: expected ')'");
}

static void test_add_to_trace(void **state)
{
	_cleanup_(project_freep) struct project *p = load_and_read();
	_cleanup_(trace_freep) struct trace *t = trace_new();
	size_t seen = 0;

	(void)state;
	VEC_ADD(&t->functions, (struct function){ .name = "work", .key = 0xf00000000000001eULL,
						  .probed = true });
	VEC_ADD(&t->functions, (struct function){ .name = "stranger" });
	VEC_ADD(&t->call_sites, "b.c:31");
	project_add_to_trace(p, t);
	assert_string_equal(t->functions.items[0].file, "/src/b.c");
	assert_int_equal(t->functions.items[0].line, 30);
	assert_true(t->functions.items[0].probed);
	assert_null(t->functions.items[1].file);
	assert_int_equal(t->functions.cnt, 2 + 6);	/* all others that call or are called */
	for (size_t i = 2; i < t->functions.cnt; i++)	/* in another program, maybe: it has its probe */
		assert_int_equal(t->functions.items[i].probed,
				 t->functions.items[i].line == 10 || t->functions.items[i].line == 3);
	assert_int_equal(t->calls.cnt, 7);
	assert_int_equal(t->call_sites.cnt, 7);
	for (size_t i = 0; i < t->calls.cnt; i++) {
		const struct call *c = &t->calls.items[i];

		assert_true(c->caller < t->functions.cnt && c->callee < t->functions.cnt);
		if (c->caller == 0 && c->call_site == 0) {
			assert_string_equal(t->functions.items[c->callee].name, "helper");
			assert_int_equal(t->functions.items[c->callee].line, 40);
			seen++;
		}
	}
	assert_int_equal(seen, 1);
}

/* a.c's main was seen to call b.c's work (the sources say that, too), flush to call min(). */
static void observe(struct store *s)
{
	static const uint64_t main_key = 0xf00000000000000aULL, work = 0xf00000000000001eULL;
	static const uint64_t flush = 0xf000000000000032ULL, min = 0xf000000000000003ULL;
	_cleanup_(findings_freep) struct findings *f = findings_new();

	VEC_ADD(&f->observed, (struct observed_call){ main_key, work });
	VEC_ADD(&f->observed, (struct observed_call){ flush, min });
	VEC_ADD(&f->observed, (struct observed_call){ flush, 77 });	/* gone by now */
	assert_int_equal(project_add_observed(s, 5, f, NULL), 0);
	assert_int_equal(project_add_observed(s, 6, f, NULL), 0);	/* once more: the same */
}

static void test_observed(void **state)
{
	_cleanup_(project_freep) struct project *before = load_and_read(), *p = NULL, *after = NULL;
	_cleanup_(trace_freep) struct trace *t = trace_new();
	_cleanup_(store_closep) struct store *s = NULL;
	const struct project_call *c;
	units list = { NULL, 0, 0 }, none = { NULL, 0, 0 };
	size_t observed_cnt = 0;

	(void)state;
	assert_int_equal(store_open(dir, false, &s, NULL), 0);
	observe(s);
	sample_units(&list);
	assert_int_equal(project_load(s, &list, NULL), 0);	/* a build forgets nothing that is there */
	units_release(&list);
	assert_int_equal(project_read(s, &p, NULL), 0);
	assert_int_equal(p->calls.cnt, before->calls.cnt + 1);
	for (size_t i = 0; i < p->calls.cnt; i++) {
		c = &p->calls.items[i];
		if (!c->observed)
			continue;
		observed_cnt++;
		assert_string_equal(p->functions.items[c->caller].name, "flush");
		assert_string_equal(p->functions.items[c->callee].name, "min");
		assert_null(c->call_site);
		assert_false(c->may);
	}
	assert_int_equal(observed_cnt, 1);
	project_add_to_trace(p, t);
	for (size_t i = 0; i < t->calls.cnt; i++) {
		observed_cnt += t->calls.items[i].observed;
		assert_int_equal(t->calls.items[i].call_site == CALL_SITE_NONE,
				 t->calls.items[i].observed);
	}
	assert_int_equal(observed_cnt, 2);

	assert_int_equal(project_load(s, &none, NULL), 0);
	sample_units(&list);
	assert_int_equal(project_load(s, &list, NULL), 0);	/* new functions, though they look alike */
	units_release(&list);
	assert_int_equal(project_read(s, &after, NULL), 0);
	assert_int_equal(after->calls.cnt, before->calls.cnt);
}

static void test_empty(void **state)
{
	_cleanup_(store_closep) struct store *s = NULL;
	_cleanup_(project_freep) struct project *p = NULL;
	_cleanup_(trace_freep) struct trace *t = trace_new();
	units none = { NULL, 0, 0 };

	(void)state;
	assert_int_equal(store_open(dir, true, &s, NULL), 0);
	assert_int_equal(project_load(s, &none, NULL), 0);
	assert_int_equal(project_read(s, &p, NULL), 0);
	assert_int_equal(p->functions.cnt + p->calls.cnt + p->units.cnt, 0);
	project_add_to_trace(p, t);
	assert_int_equal(t->functions.cnt, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)
		TEST(test_calls),
		TEST(test_functions),
		TEST(test_add_to_trace),
		TEST(test_observed),
		TEST(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
