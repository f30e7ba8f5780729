/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * target_db.c - a vprof.db from another program, and every command that reads one.
 *
 * The input is SQL, done to a good database whose tables take NULL everywhere; or a file that begins as one of
 * SQLite's.  Then each command is called as main() would: all views, each in a format and with options that the
 * input's hash decides (opening a database takes most of the time here); sql, export, merge, analyze.  Example:
 *
 *	UPDATE node SET function = NULL;  UPDATE interval SET end_ns = start_ns + 9223372036854775807;
 *
 * The time of the statements themselves is not checked: they are stopped after a number of steps.  The commands are
 * not, so a view in a table's place that never ends is found as a hang.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "cmd/commands.h"
#include "project/config/locate.h"
#include "project/runs/project.h"
#include "report/report.h"
#include "store/db.h"
#include "store/iteration_start.h"
#include "tests/fuzz/commands.h"
#include "tests/fuzz/targets.h"

enum { RUNS = 3, STEPS_MAX = 3000 };

static struct {
	char *db, *image;		/* the file that is read; a good one, to begin with */
	size_t image_len;
} own;

/* ---- a good database ---- */

static void must(bool held, const char *what)
{
	if (held)
		return;
	fprintf(stderr, "fuzz: db: %s\n", what);
	exit(99);
}

static char *tuples(unsigned int first)
{
	struct str s = STR_INIT;

	str_add(&s, "vprof-tuples 1\ncall handle f\ncall handle g\ncall g f\n");
	for (unsigned int i = first; i < first + 40; i++) {
		unsigned int at = i * 100000, f = 1000 + i * 7919 % 977, w = i % 7 ? 3000 + i * 31 % 5000 : 1;
		unsigned int g = 400 + i * 104729 % 1013, wake = at + f + w, end = wake + g;

		str_addf(&s, "interval %u req 1 %u 1 %u\nsegment 1 %u %u %u running\n", i, at, end, i, at,
			 at + f);
		str_addf(&s, "segment 1 %u %u %u lock\nsegment 1 %u %u %u running\n", i, at + f, wake, i, wake,
			 end);
		str_addf(&s, "segment 2 - %u %u running\ninvocation 2 - hold %u %u\nwakeup 1 2 %u\n", at, wake,
			 at + 1, wake, wake);
		str_addf(&s, "invocation 1 %u handle %u %u\ninvocation 1 %u f %u %u\n", i, at, end, i, at, wake);
		str_addf(&s, "invocation 1 %u g %u %u\nwork %u rows %u\n", i, wake, end, i, i % 50);
	}
	str_add(&s, "interval 9000 other 3 10 3 20\nsegment 3 9000 10 20 running\n");
	return str_take(&s);
}

static void make_run(struct store *s, unsigned int number)
{
	struct run run = { .command = xstrdup("server"), .source = xstrdup("import"), .started_ns = 1,
			   .duration_ns = 2, .status = RUN_RECORDED };
	struct diag diag = DIAG_INIT;
	struct findings *f = NULL;
	char *text = tuples(100 * number), *dir, *path;

	must(run_create(s, &run, &diag) == 0, diag.text);
	dir = run_dir(s, run.number);
	path = path_join(dir, "trace.tuples");
	must(file_write(path, text, strlen(text), 0600) == 0, path);
	must(run_analyze(s, &run, 1, &f, &diag) == 0, diag.text);
	findings_free(f);
	run_release(&run);
	free(path);
	free(dir);
	free(text);
}

/* Rows of what an import does not have, and tables without NOT NULL. */
static const char seed[] =
	"INSERT INTO unit VALUES ('/p/a.o','/p/a.c','/p',NULL,NULL), ('/p/b.o','/p/b.c','/p','not wanted','/p/b.c:3: x');"
	"INSERT INTO function VALUES (1,'handle','/p/a.c',1,9,0,0,1,0,1,NULL,'int (void)',0),"
	" (2,'f','/p/a.c',11,19,1,0,0,1,1,NULL,NULL,0), (3,'g','/p/b.c',1,9,0,1,1,0,0,'variadic','int (void)',1);"
	"INSERT INTO call VALUES (1,2,'a.c:3',0,1), (2,3,'a.c:13',1,0), (3,1,'b.c:2',0,1);"
	"INSERT INTO observed_call VALUES (1,3,1);"
	"INSERT INTO iteration VALUES (1,1,'budget',3,1,3,0.01,'f',NULL), (2,1,'budget',4,1,1,0.02,'f, g','closed');"
	"INSERT INTO iteration_start VALUES (1,'server','budget',3,9,0.05,0.05,1,1);"
	"INSERT INTO answer VALUES (1,2,1), (1,3,0);"
	"INSERT OR REPLACE INTO planned VALUES (1,1,'interval',40), (1,2,'always',0), (1,3,'dormant',NULL),"
	" (3,1,'interval',40), (3,2,'always',0), (3,3,'dormant',NULL);"
	"INSERT INTO probing SELECT id,10,1.5e4,1e6,15000,19000,20000,0.1,0.05,0.2,0.3,0.1,0.5 FROM finding;"
	"INSERT OR IGNORE INTO inherent_work SELECT id,'rows, bytes',40,0.5 FROM finding;"
	"INSERT OR IGNORE INTO common_cause SELECT id,0,0.5,0.3,0.4,0.6 FROM finding;"
	"INSERT OR IGNORE INTO common_member SELECT finding,0,position,position,0.2 FROM part WHERE position < 2;"
	"INSERT OR IGNORE INTO cause SELECT id,90,1,'f','a.c',3,'io',0,'/s','disk','lock',0.2,0.3,0.2,0.4,10.0,'lock','g','b.c',4,0.1,0"
	" FROM finding;"
	"INSERT OR IGNORE INTO cause_place SELECT finding,position,9,0 FROM cause;"
	"INSERT OR IGNORE INTO part_pair SELECT finding,0,0,1,'f','g',1e6,0.4,0.3,0.5,1,NULL FROM part"
	" WHERE position = 1;"
	"INSERT OR IGNORE INTO warning SELECT id,9,'outliers','few intervals carry much' FROM finding;"
	"PRAGMA writable_schema = ON;"
	"UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '') WHERE type = 'table';";

static void change(const char *sql, bool must_work);

static void make_image(void)
{
	_cleanup_(freep) char *dir = xstrdup(fuzz_directory("db")), *conf = path_join(dir, "vprof.conf");
	struct diag diag = DIAG_INIT;
	struct store *s = NULL;

	own.db = path_join(dir, "vprof.db");
	must(file_write(conf, "", 0, 0600) == 0, conf);
	setenv("VPROF_CONF", conf, 1);
	set_data_dir(dir);
	change("PRAGMA page_size = 512; VACUUM;", true);
	must(store_open(dir, true, &s, &diag) == 0, diag.text);
	must(setting_set(s, "build.command", "make", &diag) == 0, diag.text);
	for (unsigned int i = 1; i <= RUNS; i++)
		make_run(s, i);
	store_close(s);
	change(seed, true);
	must(file_read(own.db, &own.image, &own.image_len) == 0, own.db);
}

/* ---- one input ---- */

static int enough(void *left)
{
	return --*(int *)left <= 0;
}

/* Other files are none of its business. */
static int allow(void *unused, int action, const char *a, const char *b, const char *c, const char *d)
{
	(void)unused, (void)a, (void)b, (void)c, (void)d;
	return action == SQLITE_ATTACH ? SQLITE_DENY : SQLITE_OK;
}

/* A statement that fails is left out. */
static void change(const char *sql, bool must_work)
{
	sqlite3 *db = NULL;
	int left = STEPS_MAX;

	must(sqlite3_open(own.db, &db) == SQLITE_OK, own.db);
	sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL, NULL);
	if (!must_work) {
		sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
		sqlite3_set_authorizer(db, allow, NULL);
		sqlite3_progress_handler(db, 1000, enough, &left);
	}
	while (*sql && left > 0) {
		sqlite3_stmt *st = NULL;
		const char *rest = NULL;
		int code = sqlite3_prepare_v2(db, sql, -1, &st, &rest);

		while (code == SQLITE_OK && st && sqlite3_step(st) == SQLITE_ROW)
			;
		if (sqlite3_finalize(st) != SQLITE_OK || code != SQLITE_OK)
			must(!must_work, sqlite3_errmsg(db));
		if (code != SQLITE_OK) {
			rest = strchr(sql, ';');
			rest = rest ? rest + 1 : sql + strlen(sql);
		}
		sql = rest;
	}
	sqlite3_close(db);
}

/* Removes the runs that merge and analyze made. */
static void remove_new_runs(void)
{
	_cleanup_(freep) char *dir = path_dir(own.db), *runs = path_join(dir, "runs");
	DIR *d = opendir(runs);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *path = path_join(runs, e->d_name), *end;
		long number = strtol(e->d_name, &end, 10);

		if (*e->d_name != '.' && (*end || number < 1 || number > RUNS))
			remove_tree(path);
		free(path);
	}
	if (d)
		closedir(d);
}

static const char *format_of(const struct view *v, uint64_t choice)
{
	const char *formats[5];
	size_t cnt = 0;

	formats[cnt++] = "text";
	formats[cnt++] = "json";
	if (v->csv)
		formats[cnt++] = "csv";
	if (v->dot)
		formats[cnt++] = "dot";
	if (v->folded)
		formats[cnt++] = "folded";
	return formats[choice % cnt];
}

static void show_all(uint64_t choice)
{
	for (size_t v = 0; v < report_view_cnt; v++, choice = choice >> 3 | choice << 61) {
		const char *name = report_views[v]->name, *format = format_of(report_views[v], choice);

		if (choice & 8)
			FUZZ_RUN(&cmd_show, name, "1", "--format", format, "--all", "--no-collapse", "--k", "0",
			    "--slowest", "3", "--paper");
		else
			FUZZ_RUN(&cmd_show, name, "--format", format);
	}
	if (choice % 4 == 0)
		FUZZ_RUN(&cmd_show, "variance-tree", "--by", "cause");
	if (choice % 4 == 1)
		FUZZ_RUN(&cmd_show, "critical-path", "--interval", "110");
	if (choice % 4 == 2)
		FUZZ_RUN(&cmd_show, "call-graph", "--above", "f");
	if (choice % 4 == 3)
		FUZZ_RUN(&cmd_show, "summary", "--interval", "other");
}

/* Reads the tables that iterate reads. */
static void read_project(void)
{
	_cleanup_(store_closep) struct store *s = NULL;
	_cleanup_(project_freep) struct project *p = NULL;
	struct iteration_start start = { 0 };
	iteration_answers answers = { NULL, 0, 0 };
	_cleanup_(trace_freep) struct trace *t = trace_new();
	struct diag diag = DIAG_INIT;

	if (store_open(data_dir(), false, &s, &diag) < 0)
		return;
	if (project_read(s, &p, &diag) == 0)
		project_add_to_trace(p, t);
	if (iteration_start_read(s, 1, &start, &diag) == 0)
		iteration_start_release(&start);
	if (iteration_answers_read(s, 1, &answers, &diag) == 0)
		VEC_RELEASE(&answers);
	free(setting_get(s, "build.command"));
}

void fuzz_db(const uint8_t *data, size_t len)
{
	bool is_file = len >= 16 && !memcmp(data, "SQLite format 3", 16);
	_cleanup_(freep) char *sql = xstrndup((const char *)data, strnlen((const char *)data, len));
	uint64_t choice;

	if (!own.db)
		make_image();
	must(file_write(own.db, is_file ? (const char *)data : own.image, is_file ? len : own.image_len,
			0600) == 0, own.db);
	if (!is_file)
		change(sql, false);
	choice = hash_bytes(0, data, len);
	show_all(choice);
	read_project();
	if (choice % 5 == 0)
		FUZZ_RUN(&cmd_sql, "SELECT * FROM latest_factor");
	if (choice % 5 == 1) {
		FUZZ_RUN(&cmd_sql, "--format", "json", "SELECT * FROM node");
		FUZZ_RUN(&cmd_sql, "--format", "json", "SELECT * FROM sqlite_schema");
	}
	if (choice % 5 == 2)
		FUZZ_RUN(&cmd_export, "2");
	if (choice % 5 == 3)
		FUZZ_RUN(&cmd_analyze, "2");
	if (choice % 5 == 4)
		FUZZ_RUN(&cmd_merge, "1", "3");
	remove_new_runs();
}
