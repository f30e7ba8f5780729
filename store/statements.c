/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * statements.c - every SQL statement of vprof, one table.
 *
 * ?1 is the key of the parent row (a finding, a run), further parameters and all result columns
 * stand in the order of the column tables in project.c, runs.c and result_columns.h: those bind and
 * read by position, so that writing and reading cannot drift apart.
 */
#include <stddef.h>

#include "base/cleanup.h"
#include "store/statements.h"

static const char *const texts[] = {
	[STMT_BEGIN_READ] = "BEGIN",
	[STMT_BEGIN_WRITE] = "BEGIN IMMEDIATE",
	[STMT_COMMIT] = "COMMIT",
	[STMT_ROLLBACK] = "ROLLBACK",
	[STMT_CHECK_CELLS] = "PRAGMA cell_size_check = ON",
	[STMT_APPLICATION_ID] = "PRAGMA application_id",
	[STMT_USER_VERSION] = "PRAGMA user_version",
	[STMT_OBJECT_CNT] = "SELECT count(*) FROM sqlite_schema",
	[STMT_LATEST_FACTOR] =		/* as in schema.sql */
		"CREATE TEMP VIEW IF NOT EXISTS latest_factor AS SELECT * FROM main.factor WHERE finding ="
		" (SELECT min(id) FROM main.finding WHERE run = (SELECT max(run) FROM main.finding))",

	[STMT_SETTING_SET] = "INSERT OR REPLACE INTO setting(name, value) VALUES (?1, ?2)",
	[STMT_SETTING_GET] = "SELECT value FROM setting WHERE name = ?1",

	[STMT_CALLS_DELETE] = "DELETE FROM call",
	[STMT_FUNCTIONS_DELETE] = "DELETE FROM function",
	[STMT_UNITS_DELETE] = "DELETE FROM unit",
	[STMT_OBSERVED_FORGET] =
		"DELETE FROM observed_call WHERE caller NOT IN (SELECT key FROM function)"
		" OR callee NOT IN (SELECT key FROM function)",
	[STMT_UNIT_INSERT] =
		"INSERT OR REPLACE INTO unit(object, source, directory, untouched, misread)"
		" VALUES (?1, ?2, ?3, ?4, ?5)",
	[STMT_FUNCTION_INSERT] =
		"INSERT INTO function(key, name, file, line, end_line, is_static, is_inline,"
		" address_taken, releases, probed, skipped, type, no_return)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
	[STMT_CALL_INSERT] =
		"INSERT INTO call(caller, callee, call_site, may, tail) VALUES (?1, ?2, ?3, ?4, ?5)"
		" ON CONFLICT DO UPDATE SET may = min(may, excluded.may), tail = max(tail, excluded.tail)",
	[STMT_UNITS_READ] = "SELECT object, source, directory, untouched, misread FROM unit ORDER BY object",
	[STMT_FUNCTIONS_READ] =
		"SELECT key, name, file, line, end_line, is_static, is_inline, address_taken,"
		" releases, probed, skipped, type, no_return FROM function ORDER BY file, line, name, key",
	[STMT_CALLS_READ] =
		"SELECT caller, callee, call_site, may, tail FROM call"
		" ORDER BY caller, callee, call_site",
	[STMT_OBSERVED_INSERT] =
		"INSERT OR IGNORE INTO observed_call(run, caller, callee) VALUES (?1, ?2, ?3)",
	[STMT_OBSERVED_READ] =
		"SELECT o.caller, o.callee FROM observed_call o"
		" JOIN function f ON f.key = o.caller JOIN function g ON g.key = o.callee"
		" WHERE NOT EXISTS (SELECT 1 FROM call c WHERE c.caller = o.caller"
		" AND c.callee = o.callee) ORDER BY o.caller, o.callee",

	[STMT_RUN_LAST_NUMBER] = "SELECT ifnull(max(number), 0) FROM run",
	[STMT_RUN_INSERT] =
		"INSERT INTO run(number, name, command, source, started_ns, duration_ns, status,"
		" exit_status, interval_cnt, function_cnt, lost_records)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
	[STMT_RUN_DELETE] = "DELETE FROM run WHERE number = ?1",
	[STMT_UNITS_UNCOUNTED] =
		"SELECT count(*) FROM unit WHERE untouched IS NOT NULL OR (misread IS NOT NULL AND NOT EXISTS"
		" (SELECT 1 FROM function WHERE function.file = unit.source))",
	[STMT_RUN_UPDATE] =
		"UPDATE run SET name = ?2, command = ?3, source = ?4, started_ns = ?5,"
		" duration_ns = ?6, status = ?7, exit_status = ?8, interval_cnt = ?9,"
		" function_cnt = ?10, lost_records = ?11 WHERE number = ?1",
	[STMT_RUN_NAME_TAKEN] = "SELECT number FROM run WHERE name = ?1 AND number IS NOT ?2",
	[STMT_RUNS_READ] =
		"SELECT number, name, command, source, started_ns, duration_ns, status,"
		" exit_status, interval_cnt, function_cnt, lost_records FROM run ORDER BY number",

	[STMT_ITERATION_WRITE] =
		"INSERT OR REPLACE INTO iteration(run, first_run, policy, recorded_cnt, dormant_cnt,"
		" added_cnt, probe_cost, selected, stop) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
	[STMT_ITERATIONS_READ] =
		"SELECT run, first_run, policy, recorded_cnt, dormant_cnt, added_cnt, probe_cost,"
		" selected, stop FROM iteration ORDER BY run",

	[STMT_ITERATION_START_WRITE] =
		"INSERT OR REPLACE INTO iteration_start(first_run, command, policy, k, max_runs,"
		" threshold, overhead, sources, configuration)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
	[STMT_ITERATION_START_READ] =
		"SELECT first_run, command, policy, k, max_runs, threshold, overhead, sources,"
		" configuration FROM iteration_start WHERE first_run = ?1",
	[STMT_ANSWER_WRITE] =
		"INSERT OR REPLACE INTO answer(first_run, function, deeper) VALUES (?1, ?2, ?3)",
	[STMT_ANSWERS_READ] =
		"SELECT function, deeper FROM answer WHERE first_run = ?1 ORDER BY function",
	[STMT_PLANNED_DELETE] = "DELETE FROM planned WHERE run = ?1",
	[STMT_PLANNED_INSERT] =
		"INSERT OR REPLACE INTO planned(run, function, level, calls) VALUES (?1, ?2, ?3, ?4)",
	[STMT_PLANNED_COUNT] =
		"INSERT INTO planned(run, function, level, calls) VALUES (?1, ?2, ?3, ?4)"
		" ON CONFLICT DO UPDATE SET calls = excluded.calls",
	[STMT_PLANNED_READ] =
		"SELECT function, level, calls FROM planned WHERE run = ?1 ORDER BY function",

	[STMT_FINDING_FIND] =
		"SELECT id FROM finding WHERE run = ?1 AND ifnull(interval, '') = ifnull(?2, '')",
	[STMT_FINDING_FIRST] = "SELECT id FROM finding WHERE run = ?1 ORDER BY id LIMIT 1",
	[STMT_FINDING_LAST_ID] = "SELECT ifnull(max(id), 0) FROM finding",
	[STMT_FINDING_DELETE] = "DELETE FROM finding WHERE id = ?1",
	[STMT_NODES_DELETE] = "DELETE FROM node WHERE finding = ?1",
	[STMT_COVARIANCES_DELETE] = "DELETE FROM covariance WHERE finding = ?1",
	[STMT_FACTORS_DELETE] = "DELETE FROM factor WHERE finding = ?1",
	[STMT_FACTOR_CALL_SITES_DELETE] = "DELETE FROM factor_call_site WHERE finding = ?1",
	[STMT_BECAUSE_DELETE] = "DELETE FROM because_of WHERE finding = ?1",
	[STMT_INTERVALS_DELETE] = "DELETE FROM interval WHERE finding = ?1",
	[STMT_ORIGINS_DELETE] = "DELETE FROM origin WHERE finding = ?1",
	[STMT_WAITERS_DELETE] = "DELETE FROM waiter WHERE finding = ?1",
	[STMT_WARNINGS_DELETE] = "DELETE FROM warning WHERE finding = ?1",
	[STMT_INTERVAL_NAMES_DELETE] = "DELETE FROM interval_name WHERE finding = ?1",

	[STMT_PROBING_DELETE] = "DELETE FROM probing WHERE finding = ?1",
	[STMT_TAIL_DELETE] = "DELETE FROM tail WHERE finding = ?1",
	[STMT_CPU_DELETE] = "DELETE FROM cpu WHERE finding = ?1",
	[STMT_CPU_OTHERS_DELETE] = "DELETE FROM cpu_other WHERE finding = ?1",
	[STMT_WORK_DELETE] = "DELETE FROM inherent_work WHERE finding = ?1",
	[STMT_CAUSES_DELETE] = "DELETE FROM common_cause WHERE finding = ?1",
	[STMT_MEMBERS_DELETE] = "DELETE FROM common_member WHERE finding = ?1",
	[STMT_SUMMED_CAUSES_DELETE] = "DELETE FROM cause WHERE finding = ?1",
	[STMT_BEFORE_DELETE] = "DELETE FROM before_start WHERE finding = ?1",
	[STMT_BEFORE_BY_DELETE] = "DELETE FROM before_by WHERE finding = ?1",
	[STMT_CAUSE_PLACES_DELETE] = "DELETE FROM cause_place WHERE finding = ?1",
	[STMT_PARTS_DELETE] = "DELETE FROM part WHERE finding = ?1",
	[STMT_PART_PAIRS_DELETE] = "DELETE FROM part_pair WHERE finding = ?1",

	[STMT_FINDING_INSERT] =
		"INSERT INTO finding(id, run, interval, count, dropped_open, dropped_aborted,"
		" dropped_bad_path, dropped_lost, mean_ns, variance_ns2, stddev_ns, p50_ns, p90_ns,"
		" p99_ns, min_ns, max_ns, root_height, clamped, nested, unmatched_ends, from_stacks) VALUES (?1, ?2, ?3, ?4, ?5,"
		" ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)",
	[STMT_NODE_INSERT] =
		"INSERT INTO node(finding, id, parent, kind, function, file, line, call_site, wait,"
		" mean_ns, variance_ns2, share, variance_share, calls_per_interval, presence, open,"
		" ci95_low, ci95_high, device, put_aside, taken_up, samples) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,"
		" ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)",
	[STMT_COVARIANCE_INSERT] =
		"INSERT INTO covariance(finding, parent, a, b, covariance_ns2, share)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
	[STMT_FACTOR_INSERT] =
		"INSERT INTO factor(finding, id, kind, function, file, line, function_a, function_b,"
		" wait, share, variance_share, paper_contribution, height, specificity, score,"
		" paper_score, tail_share_p99, mean_ns, open, ci95_low, ci95_high, resolved,"
		" presence, rank_low, rank_high, rank_needed, paper_ci95_low, paper_ci95_high,"
		" paper_resolved, work_share, work_ci95_low, work_ci95_high, trimmed_share, samples)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,"
		" ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32,"
		" ?33, ?34)",
	[STMT_FACTOR_CALL_SITE_INSERT] =
		"INSERT INTO factor_call_site(finding, factor, position, call_site)"
		" VALUES (?1, ?2, ?3, ?4)",
	[STMT_BECAUSE_INSERT] =
		"INSERT INTO because_of(finding, factor, position, function, file, wait, share, device)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
	[STMT_INTERVAL_INSERT] =
		"INSERT INTO interval(finding, position, sid, start_ns, end_ns, start_thread,"
		" end_thread, root_only, origin, connection, port, bytes_in, bytes_out)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
	[STMT_ORIGIN_INSERT] =
		"INSERT INTO origin(finding, position, run, machine, host, container, build)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[STMT_WAITER_INSERT] =
		"INSERT INTO waiter(finding, position, inside, inside_file, inside_line, wait, function, file, line, key,"
		" module, is_built, is_outer, share, mean_ns)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
	[STMT_WARNING_INSERT] =
		"INSERT INTO warning(finding, position, code, text) VALUES (?1, ?2, ?3, ?4)",
	[STMT_INTERVAL_NAME_INSERT] =
		"INSERT INTO interval_name(finding, position, name) VALUES (?1, ?2, ?3)",

	[STMT_PROBING_INSERT] =
		"INSERT INTO probing(finding, root_only_count, root_only_mean_ns, root_only_variance_ns2,"
		" root_only_p50_ns, root_only_p99_ns, root_only_max_ns, mean, mean_low, mean_high,"
		" variance, variance_low, variance_high)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
	[STMT_TAIL_INSERT] =
		"INSERT INTO tail(finding, quantile, from_ns, count, mean_ns, fast_to_ns, fast_count,"
		" fast_mean_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
	[STMT_CPU_INSERT] =
		"INSERT INTO cpu(finding, runqueue_share, is_exact, is_known, cpu_count, allowed_count, runnable, stalled,"
		" throttled, from_idle) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
	[STMT_CPU_OTHER_INSERT] = "INSERT INTO cpu_other(finding, position, comm, cpus) VALUES (?1, ?2, ?3, ?4)",
	[STMT_WORK_INSERT] =
		"INSERT INTO inherent_work(finding, names, count, explained) VALUES (?1, ?2, ?3, ?4)",
	[STMT_CAUSE_INSERT] =
		"INSERT INTO common_cause(finding, id, explained, own, ci95_low, ci95_high)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
	[STMT_MEMBER_INSERT] =
		"INSERT INTO common_member(finding, cause, position, part, contribution)"
		" VALUES (?1, ?2, ?3, ?4, ?5)",
	[STMT_SUMMED_CAUSE_INSERT] =
		"INSERT INTO cause(finding, position, known, function, file, line, wait, mixed, peer, device, how, how_share, share, ci95_low, ci95_high,"
		" mean_ns, waited, waiter, waiter_file, waiter_line, waiter_share, estimated)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)",
	[STMT_BEFORE_INSERT] = "INSERT INTO before_start(finding, count, mean_ns, sd_ns, p99_ns, exact, unknown_count) "
				"VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[STMT_BEFORE_BY_INSERT] = "INSERT INTO before_by(finding, position, function, share) VALUES (?1, ?2, ?3, ?4)",
	[STMT_CAUSE_PLACE_INSERT] =
		"INSERT INTO cause_place(finding, cause, position, node) VALUES (?1, ?2, ?3, ?4)",
	[STMT_PART_PAIR_INSERT] =
		"INSERT INTO part_pair(finding, position, a, b, first, second, covariance_ns2, share, ci95_low,"
		" ci95_high, across, within) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
	[STMT_PART_INSERT] =
		"INSERT INTO part(finding, position, function, file, wait, mean_ns, share, tail_share,"
		" tail_ci95_low, tail_ci95_high, slow_mean_ns, fast_mean_ns, slow_presence,"
		" fast_presence, variance_share, other_pairs, estimated)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",

	[STMT_FINDING_READ] =
		"SELECT interval, count, dropped_open, dropped_aborted, dropped_bad_path,"
		" dropped_lost, mean_ns, variance_ns2, stddev_ns, p50_ns, p90_ns, p99_ns, min_ns,"
		" max_ns, root_height, clamped, nested, unmatched_ends, from_stacks FROM finding WHERE id = ?1",
	[STMT_NODES_READ] =
		"SELECT id, parent, kind, function, file, line, call_site, wait, mean_ns,"
		" variance_ns2, share, variance_share, calls_per_interval, presence, open,"
		" ci95_low, ci95_high, device, put_aside, taken_up, samples FROM node WHERE finding = ?1 ORDER BY id",
	[STMT_COVARIANCES_READ] =
		"SELECT parent, a, b, covariance_ns2, share FROM covariance WHERE finding = ?1"
		" ORDER BY rowid",
	[STMT_FACTORS_READ] =
		"SELECT id, kind, function, file, line, function_a, function_b, wait, share,"
		" variance_share, paper_contribution, height, specificity, score, paper_score,"
		" tail_share_p99, mean_ns, open, ci95_low, ci95_high, resolved, presence, rank_low,"
		" rank_high, rank_needed, paper_ci95_low, paper_ci95_high, paper_resolved,"
		" work_share, work_ci95_low, work_ci95_high, trimmed_share, samples FROM factor WHERE finding = ?1 ORDER BY id",
	[STMT_FACTOR_CALL_SITES_READ] =
		"SELECT factor, call_site FROM factor_call_site WHERE finding = ?1"
		" ORDER BY factor, position",
	[STMT_BECAUSE_READ] =
		"SELECT factor, function, file, wait, share, device FROM because_of WHERE finding = ?1"
		" ORDER BY factor, position",
	[STMT_ORIGINS_READ] =
		"SELECT run, machine, host, container, build FROM origin WHERE finding = ?1 ORDER BY position",
	[STMT_INTERVALS_READ] =
		"SELECT sid, start_ns, end_ns, start_thread, end_thread, root_only, origin, connection, port,"
		" bytes_in, bytes_out FROM interval"
		" WHERE finding = ?1 ORDER BY position",
	[STMT_WAITERS_READ] =
		"SELECT inside, inside_file, inside_line, wait, function, file, line, key, module, is_built, is_outer, share, mean_ns"
		" FROM waiter WHERE finding = ?1 ORDER BY position",
	[STMT_WARNINGS_READ] =
		"SELECT code, text FROM warning WHERE finding = ?1 ORDER BY position",
	[STMT_INTERVAL_NAMES_READ] =
		"SELECT name FROM interval_name WHERE finding = (SELECT min(n.finding) FROM finding f"
		" JOIN interval_name n ON n.finding = f.id AND n.position = 0"
		" WHERE f.run = (SELECT run FROM finding WHERE id = ?1)) ORDER BY position",
	[STMT_PROBING_READ] =
		"SELECT root_only_count, root_only_mean_ns, root_only_variance_ns2,"
		" root_only_p50_ns, root_only_p99_ns, root_only_max_ns, mean, mean_low, mean_high,"
		" variance, variance_low, variance_high FROM probing"
		" WHERE finding = ?1",
	[STMT_TAIL_READ] =
		"SELECT quantile, from_ns, count, mean_ns, fast_to_ns, fast_count, fast_mean_ns"
		" FROM tail WHERE finding = ?1",
	[STMT_CPU_READ] =
		"SELECT runqueue_share, is_exact, is_known, cpu_count, allowed_count, runnable, stalled, throttled, from_idle"
		" FROM cpu WHERE finding = ?1",
	[STMT_CPU_OTHERS_READ] = "SELECT comm, cpus FROM cpu_other WHERE finding = ?1 ORDER BY position",
	[STMT_WORK_READ] = "SELECT names, count, explained FROM inherent_work WHERE finding = ?1",
	[STMT_CAUSES_READ] =
		"SELECT explained, own, ci95_low, ci95_high FROM common_cause WHERE finding = ?1 ORDER BY id",
	[STMT_MEMBERS_READ] =
		"SELECT cause, part, contribution FROM common_member WHERE finding = ?1"
		" ORDER BY cause, position",
	[STMT_SUMMED_CAUSES_READ] =
		"SELECT known, function, file, line, wait, mixed, peer, device, how, how_share, share, ci95_low, ci95_high,"
		" mean_ns, waited, waiter, waiter_file, waiter_line, waiter_share, estimated FROM cause WHERE finding = ?1 ORDER BY position",
	[STMT_BEFORE_READ] = "SELECT count, mean_ns, sd_ns, p99_ns, exact, unknown_count FROM before_start WHERE finding = ?1",
	[STMT_BEFORE_BY_READ] = "SELECT function, share FROM before_by WHERE finding = ?1 ORDER BY position",
	[STMT_CAUSE_PLACES_READ] =
		"SELECT cause, node FROM cause_place WHERE finding = ?1 ORDER BY cause, position",
	[STMT_PART_PAIRS_READ] =
		"SELECT a, b, first, second, covariance_ns2, share, ci95_low, ci95_high, across, within"
		" FROM part_pair WHERE finding = ?1 ORDER BY position",
	[STMT_PARTS_READ] =
		"SELECT function, file, wait, mean_ns, share, tail_share, tail_ci95_low,"
		" tail_ci95_high, slow_mean_ns, fast_mean_ns, slow_presence, fast_presence,"
		" variance_share, other_pairs, estimated FROM part WHERE finding = ?1 ORDER BY position",

	[STMT_CAUSAL_DELETE] = "DELETE FROM causal WHERE run = ?1",
	[STMT_CAUSAL_BASELINES_DELETE] = "DELETE FROM causal_baseline WHERE run = ?1",
	[STMT_EXPERIMENTS_DELETE] = "DELETE FROM experiment WHERE run = ?1",
	[STMT_EXPERIMENT_METRICS_DELETE] = "DELETE FROM experiment_metric WHERE run = ?1",
	[STMT_CAUSAL_REFUSALS_DELETE] = "DELETE FROM causal_refusal WHERE run = ?1",
	[STMT_CAUSAL_WARNINGS_DELETE] = "DELETE FROM causal_warning WHERE run = ?1",
	[STMT_CAUSAL_INSERT] =
		"INSERT INTO causal(run, interval, intervals, metric, floor, replayed, ended)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[STMT_CAUSAL_BASELINE_INSERT] = "INSERT INTO causal_baseline(run, metric, value) VALUES (?1, ?2, ?3)",
	[STMT_EXPERIMENT_INSERT] =
		"INSERT INTO experiment(run, position, target, kind, function, file, speedup, rounds, set_aside, intervals,"
		" delay_ns, limited_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
	[STMT_EXPERIMENT_METRIC_INSERT] =
		"INSERT INTO experiment_metric(run, experiment, metric, value, gain, ci95_low, ci95_high, p_value, predicted)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
	[STMT_CAUSAL_REFUSAL_INSERT] = "INSERT INTO causal_refusal(run, position, target, why, instead) VALUES (?1, ?2, ?3, ?4, ?5)",
	[STMT_CAUSAL_WARNING_INSERT] = "INSERT INTO causal_warning(run, position, code, text) VALUES (?1, ?2, ?3, ?4)",
	[STMT_CAUSAL_READ] = "SELECT interval, intervals, metric, floor, replayed, ended FROM causal WHERE run = ?1",
	[STMT_CAUSAL_BASELINES_READ] = "SELECT metric, value FROM causal_baseline WHERE run = ?1",
	[STMT_EXPERIMENTS_READ] =
		"SELECT position, target, kind, function, file, speedup, rounds, set_aside, intervals, delay_ns, limited_by"
		" FROM experiment WHERE run = ?1 ORDER BY position",
	[STMT_EXPERIMENT_METRICS_READ] =
		"SELECT experiment, metric, value, gain, ci95_low, ci95_high, p_value, predicted FROM experiment_metric"
		" WHERE run = ?1 ORDER BY experiment, metric",
	[STMT_CAUSAL_REFUSALS_READ] = "SELECT target, why, instead FROM causal_refusal WHERE run = ?1 ORDER BY position",
	[STMT_CAUSAL_WARNINGS_READ] = "SELECT code, text FROM causal_warning WHERE run = ?1 ORDER BY position",
	[STMT_CAUSAL_LATEST] = "SELECT max(run) FROM causal",
};
_Static_assert(ARRAY_SIZE(texts) == STMT_CNT, "every statement has its text");

const char *stmt_sql(enum stmt id)
{
	return texts[id];
}
