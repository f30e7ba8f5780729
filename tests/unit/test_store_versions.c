/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_store_versions.c - databases of older versions are brought up to date by whoever opens them.
 *
 * Each row takes away what its version did not have yet, and so goes one version back.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "base/file.h"
#include "tests/unit/sample_findings.h"
#include "tests/unit/store_dir.h"

static const char *const downgrades[] = {
	[1] = "DROP TABLE iteration",
	[2] = "DROP TABLE observed_call",
	[3] = "ALTER TABLE function DROP COLUMN no_return",
	[4] = "DROP TABLE probing",
	[5] = "DROP TABLE iteration_start; DROP TABLE answer; DROP TABLE planned",
	[6] = "ALTER TABLE node DROP COLUMN ci95_low; ALTER TABLE node DROP COLUMN ci95_high;"
	      "ALTER TABLE factor DROP COLUMN ci95_low; ALTER TABLE factor DROP COLUMN ci95_high;"
	      "ALTER TABLE factor DROP COLUMN resolved",
	[7] = "ALTER TABLE interval DROP COLUMN root_only",
	[8] = "ALTER TABLE factor DROP COLUMN presence; ALTER TABLE factor DROP COLUMN rank_low;"
	      "ALTER TABLE factor DROP COLUMN rank_high; ALTER TABLE factor DROP COLUMN rank_needed;"
	      "ALTER TABLE factor DROP COLUMN paper_ci95_low;"
	      "ALTER TABLE factor DROP COLUMN paper_ci95_high;"
	      "ALTER TABLE factor DROP COLUMN paper_resolved",
	[9] = "DROP TABLE tail; DROP TABLE part",
	[11] = "DROP TABLE common_cause; DROP TABLE common_member",
	[10] = "DROP TABLE inherent_work; ALTER TABLE factor DROP COLUMN work_share",
	[12] = "ALTER TABLE unit DROP COLUMN misread",
	[13] = "ALTER TABLE factor DROP COLUMN work_ci95_low; ALTER TABLE factor DROP COLUMN work_ci95_high;"
	       "ALTER TABLE factor DROP COLUMN trimmed_share; ALTER TABLE common_cause DROP COLUMN ci95_low;"
	       "ALTER TABLE common_cause DROP COLUMN ci95_high",
	[14] = "DROP TABLE part_pair; ALTER TABLE part DROP COLUMN variance_share;"
	       "ALTER TABLE part DROP COLUMN other_pairs",
	[15] = "ALTER TABLE node DROP COLUMN device; ALTER TABLE because_of DROP COLUMN device",
	[16] = "ALTER TABLE finding DROP COLUMN nested; ALTER TABLE finding DROP COLUMN unmatched_ends",
};

/* A run with findings, written by this version and then taken back. */
static void make_old(unsigned version)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct run r = { .status = RUN_ANALYSED };
	char pragma[64];
	struct store *s = open_store(true);

	assert_int_equal(run_create(s, &r, NULL), 0);
	assert_int_equal(findings_write(s, r.number, &f, 1, NULL), 0);
	store_close(s);
	for (size_t v = ARRAY_SIZE(downgrades) - 1; v >= version; v--)
		run_sql(downgrades[v]);
	snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %u", version);
	run_sql(pragma);
}

static void check_tables(struct store *s)
{
	struct iteration i = { .run = 1, .first_run = 1, .policy = (char *)"paper",
			       .selected = (char *)"f, g" };
	_cleanup_(iterations_release) iterations list = { 0 };
	_cleanup_(findings_freep) struct findings *back = NULL, *f = sample_server();
	_cleanup_(project_freep) struct project *p = NULL;
	const struct planned_function planned = { 10, PLANNED_ALWAYS, UINT32_MAX };
	planned_functions plan;

	assert_int_equal(planned_read(s, 1, &plan, NULL), 0);
	assert_int_equal(plan.cnt, 0);
	assert_int_equal(planned_write(s, 1, &planned, 1, NULL), 0);
	assert_int_equal(findings_read(s, 1, NULL, &back, NULL), 0);
	assert_int_equal(iteration_write(s, &i, NULL), 0);
	assert_int_equal(iterations_read(s, &list, NULL), 0);
	assert_int_equal(list.cnt, 1);
	assert_string_equal(list.items[0].selected, "f, g");
	assert_int_equal(back->probing.root_only_cnt, 0);
	f->probing.root_only_cnt = 7;
	VEC_ADD(&f->observed, (struct observed_call){ 1, 2 });
	assert_int_equal(project_add_observed(s, 1, f, NULL), 0);
	assert_int_equal(project_read(s, &p, NULL), 0);
	assert_int_equal(findings_write(s, 1, &f, 1, NULL), 0);
	findings_free(TAKE_PTR(back));
	assert_int_equal(findings_read(s, 1, NULL, &back, NULL), 0);
	assert_int_equal(back->probing.root_only_cnt, 7);
}

/* What the old version did not know is unknown, and what is analysed again is there. */
static void check_columns(struct store *s, unsigned version)
{
	_cleanup_(findings_freep) struct findings *f = NULL;

	assert_int_equal(findings_read(s, 1, NULL, &f, NULL), 0);
	assert_int_equal(f->interval.has_pairing, version > 16);
	assert_int_equal(f->factors.items[0].has_ci95, version > 6);
	assert_int_equal(f->factors.items[0].has_resolved, version > 6);
	assert_int_equal(f->nodes.items[1].has_ci95, version > 6);
	assert_int_equal(f->factors.items[0].has_presence, version > 8);
	assert_int_equal(f->factors.items[0].has_paper_ci95, version > 8);
	assert_int_equal(f->factors.items[0].has_paper_resolved, version > 8);
	assert_int_equal(f->factors.items[1].rank_high, version > 8 ? 3 : 0);
	assert_int_equal(f->factors.items[1].rank_needed, version > 8 ? 900 : 0);
	assert_true(f->factors.items[0].share == .61);
	assert_int_equal(f->parts.cnt, version > 9 ? 2 : 0);
	assert_int_equal(f->work.names != NULL, version > 10);
	assert_int_equal(f->common_causes.cnt, version > 11);
	assert_int_equal(f->factors.items[0].has_work_share, version > 10);
	assert_int_equal(f->factors.items[0].has_work_ci95, version > 13);
	assert_int_equal(f->factors.items[0].has_trimmed, version > 13);
	assert_int_equal(version > 11 && f->common_causes.items[0].has_ci95, version > 13);
	assert_int_equal(f->part_pairs.cnt, version > 14);
	assert_int_equal(version > 9 && f->parts.items[0].has_pairs, version > 14);
	assert_true(f->tail.quantile == TAIL_QUANTILE_DEFAULT);
}

static void check_version(unsigned version)
{
	struct store *s;

	make_old(version);
	s = open_store(version % 2);	/* to write, or only to look */
	check_columns(s, version);
	check_tables(s);
	check_columns(s, UINT_MAX);
	store_close(s);
	store_close(open_store(true));
}

/* In a directory that others may write to it is only looked at: the file stays as it was, and is read all the same. */
static void test_only_looked_at(void **state)
{
	_cleanup_(freep) char *path = path_join(dir, "vprof.db"), *before = NULL, *after = NULL;
	size_t before_len, after_len;
	struct diag d = DIAG_INIT;
	struct store *s;

	(void)state;
	make_old(4);
	assert_int_equal(file_read(path, &before, &before_len), 0);
	assert_int_equal(chmod(dir, 0777), 0);
	s = open_store(false);
	check_tables(s);
	check_columns(s, UINT_MAX);
	assert_int_equal(store_check_ours(s, &d), -EPERM);
	assert_non_null(strstr(d.text, "other users may write to"));
	store_close(s);
	assert_int_equal(file_read(path, &after, &after_len), 0);
	assert_int_equal(after_len, before_len);
	assert_memory_equal(after, before, before_len);
	assert_int_equal(store_open(dir, true, &s, &d), -EPERM);
	assert_int_equal(chmod(dir, 0700), 0);
}

static void test_versions(void **state)
{
	for (unsigned version = 1; version < ARRAY_SIZE(downgrades); version++) {
		check_version(version);
		drop_dir(state);
		make_dir(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)
		TEST(test_versions), TEST(test_only_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
