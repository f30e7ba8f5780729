/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_store.c - vprof.db: opening, runs, findings.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "base/file.h"
#include "tests/unit/same_findings.h"
#include "tests/unit/sample_findings.h"
#include "tests/unit/store/store_dir.h"

static uint32_t new_run(struct store *s, const char *name)
{
	struct run r = { .name = (char *)name, .status = RUN_RECORDING };
	struct diag d = DIAG_INIT;

	if (run_create(s, &r, &d) < 0)
		fail_msg("%s", d.text);
	return r.number;
}

/* ---- opening ---- */

static void write_db(const char *bytes)
{
	_cleanup_(freep) char *path = path_join(dir, "vprof.db");

	assert_int_equal(file_write(path, bytes, strlen(bytes), 0600), 0);
}

static void expect_open(bool create, int status, const char *words)
{
	struct diag d = DIAG_INIT;
	struct store *s = NULL;

	assert_true(store_open(dir, create, &s, &d) < 0);
	assert_null(s);
	assert_int_equal(d.status, status);
	assert_non_null(strstr(d.text, words));
	assert_string_not_equal(d.remedy, "");
}

static void test_open(void **state)
{
	(void)state;
	expect_open(false, EXIT_NO_EVIDENCE, "no runs yet");
	write_db("");
	expect_open(false, EXIT_NO_EVIDENCE, "no runs yet");	/* died before the first commit */
	write_db("this is no database, it only has its name; and it is long enough to be one\n"
		 "...................................................................");
	expect_open(false, EXIT_DATA, "not a database");
	expect_open(true, EXIT_DATA, "not a database");
	write_db("");
	store_close(open_store(true));
}

static void test_open_foreign(void **state)
{
	(void)state;
	run_sql("CREATE TABLE mine(x)");
	expect_open(false, EXIT_DATA, "not one of vprof's");
	expect_open(true, EXIT_DATA, "not one of vprof's");
	run_sql("SELECT * FROM mine");
}

static void test_open_read_only(void **state)
{
	_cleanup_(freep) char *path = path_join(dir, "vprof.db");
	_cleanup_(store_closep) struct store *s = NULL;
	_cleanup_(run_release) struct run r = { 0 };
	struct diag d = DIAG_INIT;

	(void)state;
	s = open_store(true);
	new_run(s, NULL);
	store_close(TAKE_PTR(s));
	chmod(path, 0400);
	chmod(dir, 0500);
	assert_int_equal(store_open(dir, false, &s, &d), 0);
	assert_int_equal(run_find(s, NULL, &r, &d), 0);
	if (geteuid() != 0) {			/* root may write anything */
		assert_true(setting_set(s, "a", "b", &d) < 0);
		assert_int_equal(d.status, EXIT_ENVIRONMENT);
		assert_non_null(strstr(d.text, "may not be written"));
	}
}

static void test_settings(void **state)
{
	_cleanup_(store_closep) struct store *s = open_store(true);
	_cleanup_(freep) char *value = NULL;

	(void)state;
	assert_null(setting_get(s, "build.command"));
	assert_int_equal(setting_set(s, "build.command", "make 'all' \xc3\xa4", NULL), 0);
	assert_int_equal(setting_set(s, "build.command", "make \"x\"; DROP TABLE run", NULL), 0);
	value = setting_get(s, "build.command");
	assert_string_equal(value, "make \"x\"; DROP TABLE run");
}

/* ---- runs ---- */

static void test_runs(void **state)
{
	_cleanup_(store_closep) struct store *s = open_store(true);
	_cleanup_(runs_release) runs list = { NULL, 0, 0 };
	_cleanup_(freep) char *second = NULL, *left_over = NULL;
	struct run r = { .number = 1, .name = (char *)"base", .command = (char *)"./a 'b c'",
			 .source = (char *)"record", .started_ns = 5, .duration_ns = CLOCK_MAX_NS,
			 .status = RUN_ANALYSED, .exit_status = -1, .interval_cnt = UINT64_MAX };
	struct diag d = DIAG_INIT;
	struct stat st;

	(void)state;
	assert_int_equal(new_run(s, NULL), 1);
	second = run_dir(s, 2);
	assert_true(ends_with(second, "/runs/002"));
	left_over = run_dir(s, 3);
	assert_int_equal(make_dirs(left_over, 0700), 0);	/* not ours to write into */
	assert_int_equal(new_run(s, "head"), 2);
	assert_int_equal(new_run(s, NULL), 4);
	assert_int_equal(stat(second, &st), 0);
	assert_int_equal(run_update(s, &r, &d), 0);
	assert_int_equal(runs_read(s, &list, &d), 0);
	assert_int_equal(list.cnt, 3);
	assert_string_equal(list.items[0].name, "base");
	assert_string_equal(list.items[0].command, "./a 'b c'");
	assert_true(list.items[0].duration_ns == CLOCK_MAX_NS);
	assert_true(list.items[0].interval_cnt == UINT64_MAX);
	assert_int_equal(list.items[0].exit_status, -1);
	assert_int_equal(list.items[0].status, RUN_ANALYSED);
	assert_string_equal(list.items[1].name, "head");
	assert_null(list.items[2].name);
	r.number = 77;
	r.name = NULL;
	assert_true(run_update(s, &r, &d) < 0);
}

static void expect_no_run(struct store *s, const char *name, const char *words)
{
	struct run r = { .name = (char *)name };
	struct diag d = DIAG_INIT;

	assert_true(run_create(s, &r, &d) < 0);
	assert_int_equal(d.status, EXIT_USAGE);
	assert_non_null(strstr(d.text, words));
}

static uint32_t find(struct store *s, const char *text)
{
	_cleanup_(run_release) struct run r = { 0 };
	struct diag d = DIAG_INIT;

	return run_find(s, text, &r, &d) == 0 ? r.number : 0;
}

static void test_run_names(void **state)
{
	_cleanup_(store_closep) struct store *s = open_store(true);
	struct run r = { 0 };
	struct diag d = DIAG_INIT;

	(void)state;
	assert_true(run_find(s, NULL, &r, &d) < 0);
	assert_int_equal(d.status, EXIT_NO_EVIDENCE);
	new_run(s, "base");
	new_run(s, "2nd");
	expect_no_run(s, "base", "already called");
	expect_no_run(s, "12", "digits");
	expect_no_run(s, "", "empty");
	expect_no_run(s, "base,2nd", "comma");
	expect_no_run(s, "base.vpd", "digest");
	expect_no_run(s, "-", "digest");
	expect_no_run(s, "-x", "an option");
	assert_int_equal(find(s, NULL), 2);
	assert_int_equal(find(s, "1"), 1);
	assert_int_equal(find(s, "001"), 1);
	assert_int_equal(find(s, "base"), 1);
	assert_int_equal(find(s, "2nd"), 2);
	assert_int_equal(find(s, "3"), 0);
	assert_int_equal(find(s, "-1"), 0);
	assert_int_equal(find(s, "99999999999999999999999"), 0);
	assert_int_equal(find(s, ""), 0);
	assert_true(run_find(s, "bas", &r, &d) < 0);
	assert_int_equal(d.status, EXIT_USAGE);
	assert_non_null(strstr(d.remedy, "1 (base), 2 (2nd)"));
	assert_true(run_find(s, "base.vpd", &r, &d) < 0);
	assert_non_null(strstr(d.remedy, "vprof import --from digest base.vpd"));
}

static void test_run_statuses(void **state)
{
	_cleanup_(store_closep) struct store *s = open_store(true);
	_cleanup_(runs_release) runs list = { NULL, 0, 0 };
	struct diag d = DIAG_INIT;

	(void)state;
	for (unsigned status = RUN_RECORDING; status <= RUN_KILLED; status++) {
		struct run r = { .number = new_run(s, NULL), .status = status };

		assert_int_equal(run_update(s, &r, &d), 0);
	}
	assert_int_equal(runs_read(s, &list, &d), 0);
	for (unsigned status = RUN_RECORDING; status <= RUN_KILLED; status++)
		assert_int_equal(list.items[status].status, status);
}

/* ---- findings ---- */

static void write_findings(struct store *s, uint32_t run, struct findings *f)
{
	struct diag d = DIAG_INIT;

	if (findings_write(s, run, &f, 1, &d) < 0)
		fail_msg("%s", d.text);
}

static struct findings *read_findings(struct store *s, uint32_t run, const char *interval)
{
	struct findings *f = NULL;
	struct diag d = DIAG_INIT;

	if (findings_read(s, run, interval, &f, &d) < 0)
		fail_msg("%s", d.text);
	return f;
}

static void test_round_trip(void **state)
{
	_cleanup_(store_closep) struct store *s = open_store(true);
	struct findings *(*const samples[])(void) = { sample_server, sample_odd, findings_new };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		_cleanup_(findings_freep) struct findings *f = samples[i](), *back = NULL;
		uint32_t run = new_run(s, NULL);

		f->before.exact = true;
		f->before.unknown_cnt = 7;
		f->cpu.has_from_idle = i == 0;
		f->cpu.from_idle = i == 0 ? .25 : 0;
		write_findings(s, run, f);
		back = read_findings(s, run, NULL);
		same_findings(f, back);
		assert_true(back->before.exact && back->before.unknown_cnt == 7 && back->before.cnt == f->before.cnt);
		assert_true(back->cpu.has_from_idle == (i == 0) && back->cpu.from_idle == f->cpu.from_idle);
		assert_int_equal(f->before.by.cnt, back->before.by.cnt);
		for (size_t k = 0; k < f->before.by.cnt; k++) {
			assert_true(f->before.by.items[k].share == back->before.by.items[k].share);
			assert_string_equal(f->before.by.items[k].function ? f->before.by.items[k].function : "",
					    back->before.by.items[k].function ? back->before.by.items[k].function : "");
		}
	}
}

/* All but the intervals, which then read as none. */
static void test_sums(void **state)
{
	_cleanup_(store_closep) struct store *s = open_store(true);
	_cleanup_(findings_freep) struct findings *f = sample_server(), *back = NULL;
	struct diag d = DIAG_INIT;
	size_t cnt = f->intervals.cnt;

	(void)state;
	assert_true(cnt > 0);
	write_findings(s, new_run(s, NULL), f);
	assert_int_equal(findings_read_sums(s, 1, f->interval.name, &back, &d), 0);
	assert_int_equal(back->intervals.cnt, 0);
	f->intervals.cnt = 0;
	same_findings(f, back);
	f->intervals.cnt = cnt;
}

/* Every kind of node and factor, and every wait class, by its name and back. */
static void test_names_both_ways(void **state)
{
	_cleanup_(store_closep) struct store *s = open_store(true);
	_cleanup_(findings_freep) struct findings *f = findings_new(), *back = NULL;

	(void)state;
	for (unsigned kind = NODE_INTERVAL; kind <= NODE_BLAME; kind++)
		for (unsigned wait = 0; wait < STATE_CNT; wait++) {
			struct node *n = VEC_EXTEND(&f->nodes);

			n->id = (uint32_t)f->nodes.cnt - 1;
			n->parent = n->id ? 0 : NODE_NONE;
			n->kind = kind;
			n->is_wait = true;
			n->wait = wait;
		}
	for (unsigned kind = FACTOR_FUNCTION; kind <= FACTOR_PAIR; kind++)
		VEC_EXTEND(&f->factors)->kind = kind;
	f->look.is_one = true;
	write_findings(s, new_run(s, NULL), f);
	back = read_findings(s, 1, NULL);
	same_findings(f, back);
}

static void test_several_intervals(void **state)
{
	_cleanup_(store_closep) struct store *s = open_store(true);
	_cleanup_(findings_freep) struct findings *f = sample_server(), *odd = sample_odd();
	struct findings *back = NULL;
	uint32_t run = new_run(s, NULL);
	struct diag d = DIAG_INIT;

	(void)state;
	assert_true(findings_read(s, run, NULL, &back, &d) == -ENOENT);
	assert_int_equal(d.status, EXIT_NO_EVIDENCE);
	write_findings(s, run, f);
	write_findings(s, run, odd);
	f->interval.cnt = 99;
	write_findings(s, run, f);		/* again: replaced, and still the first */
	back = read_findings(s, run, NULL);
	same_findings(f, back);
	findings_free(back);
	back = read_findings(s, run, odd->interval.name);
	VEC_ADD(&odd->interval_names, f->interval_names.items[0]);	/* kept once a run */
	VEC_ADD(&odd->interval_names, f->interval_names.items[1]);
	same_findings(odd, back);
	findings_free(back);
	back = NULL;
	assert_true(findings_read(s, run, "nope", &back, &d) == -ENOENT);
	assert_int_equal(d.status, EXIT_USAGE);
	assert_null(back);
}

static void test_not_a_number(void **state)
{
	_cleanup_(store_closep) struct store *s = open_store(true);
	_cleanup_(findings_freep) struct findings *f = sample_server(), *back = NULL;
	_cleanup_(findings_freep) struct findings *good = sample_server();
	struct diag d = DIAG_INIT;

	(void)state;
	write_findings(s, new_run(s, NULL), good);
	f->nodes.items[3].share = NAN;
	assert_true(findings_write(s, 1, &f, 1, &d) < 0);
	back = read_findings(s, 1, NULL);	/* the old one is whole */
	same_findings(good, back);
}

static void test_disk_full(void **state)
{
	_cleanup_(store_closep) struct store *s = open_store(true);
	_cleanup_(findings_freep) struct findings *f = sample_server(), *back = NULL;
	_cleanup_(findings_freep) struct findings *good = sample_server();
	struct diag d = DIAG_INIT;

	(void)state;
	write_findings(s, new_run(s, NULL), good);
	for (int i = 0; i < 20000; i++)
		findings_warn(f, "w", "%0100d", i);
	assert_int_equal(sqlite3_exec(s->db, "PRAGMA max_page_count = 60", NULL, NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(findings_write(s, 1, &f, 1, &d), -ENOSPC);
	assert_int_equal(d.status, EXIT_ENVIRONMENT);
	assert_non_null(strstr(d.text, "disk is full"));
	back = read_findings(s, 1, NULL);
	same_findings(good, back);
}

static void test_damaged(void **state)
{
	static const struct { const char *sql, *table; } damages[] = {
		{ "UPDATE node SET parent = 3 WHERE id = 2", "node" },
		{ "UPDATE node SET parent = 2 WHERE id = 2", "node" },
		{ "UPDATE node SET parent = NULL WHERE id = 2", "node" },
		{ "UPDATE node SET kind = 'nude' WHERE id = 2", "node" },
		{ "UPDATE node SET wait = 'lokc' WHERE id = 3", "node" },
		{ "UPDATE node SET line = -1 WHERE id = 1", "node" },
		{ "UPDATE node SET line = 'ten' WHERE id = 1", "node" },
		{ "DELETE FROM node WHERE id = 1", "node" },
		{ "UPDATE covariance SET b = 10", "covariance" },
		{ "UPDATE factor SET id = 9 WHERE id = 1", "factor" },
		{ "UPDATE interval SET end_ns = start_ns - 1 WHERE position = 1", "interval" },
		{ "UPDATE interval SET start_ns = -9223372036854775807 - 1", "interval" },
		{ "UPDATE because_of SET factor = 6", "because_of" },
		{ "UPDATE factor_call_site SET factor = -1", "factor_call_site" },
		{ "UPDATE common_member SET part = 2", "common_member" },
		{ "UPDATE common_member SET cause = 1", "common_member" },
		{ "UPDATE cause SET how = 'magic' WHERE position = 0", "cause" },
		{ "UPDATE cause_place SET cause = 9 WHERE cause = 0", "cause_place" },
		{ "UPDATE cause_place SET node = 10 WHERE cause = 0", "cause_place" },
		{ "UPDATE part SET wait = 'lokc' WHERE position = 0", "part" },
		{ "UPDATE part_pair SET b = 2", "part_pair" },
		{ "UPDATE part_pair SET within = 1", "part_pair" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		_cleanup_(store_closep) struct store *s = open_store(true);
		_cleanup_(findings_freep) struct findings *f = sample_server();
		struct findings *back = NULL;
		struct diag d = DIAG_INIT;
		uint32_t run = new_run(s, NULL);

		write_findings(s, run, f);
		assert_int_equal(sqlite3_exec(s->db, damages[i].sql, NULL, NULL, NULL), SQLITE_OK);
		assert_int_equal(findings_read(s, run, NULL, &back, &d), -EBADMSG);
		assert_int_equal(d.status, EXIT_DATA);
		assert_non_null(strstr(d.text, damages[i].table));
		sqlite3_exec(s->db, "DELETE FROM run; DELETE FROM finding; DELETE FROM node;"
			     "DELETE FROM covariance; DELETE FROM factor; DELETE FROM because_of;"
			     "DELETE FROM factor_call_site; DELETE FROM interval;"
			     "DELETE FROM warning; DELETE FROM interval_name; DELETE FROM tail;"
			     "DELETE FROM part; DELETE FROM part_pair; DELETE FROM inherent_work; DELETE FROM common_cause; DELETE FROM cause; DELETE FROM cause_place; DELETE FROM before_start; DELETE FROM before_by;"
			     "DELETE FROM common_member; DELETE FROM cpu; DELETE FROM cpu_other", NULL, NULL, NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)
		TEST(test_open),
		TEST(test_open_foreign),
		TEST(test_open_read_only),
		TEST(test_settings),
		TEST(test_runs),
		TEST(test_run_names),
		TEST(test_run_statuses),
		TEST(test_round_trip), TEST(test_sums),
		TEST(test_names_both_ways),
		TEST(test_several_intervals),
		TEST(test_not_a_number),
		TEST(test_disk_full),
		TEST(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
