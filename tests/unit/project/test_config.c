/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_config.c - vprof.conf: what is read, what is refused and with which words, what is written.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "project/config/config.h"
#include "project/config/config_text.h"

/* Every section of vprof.conf(5). */
static const char whole_example[] =
	"[interval \"request\"]\n"
	"    start  = enqueue_request@entry    ; LOC, see below\n"
	"    end    = send_reply@return\n"
	"    resume = handle_request@entry     ; a thread starts to work on behalf of the interval\n"
	"    key    = arg0->id                 ; what makes one interval of this name\n"
	"[sync]\n"
	"    acquire = apr_thread_mutex_lock(arg0)      ; may block\n"
	"    release = apr_thread_mutex_unlock(arg0)    ; may wake\n"
	"    enqueue = queue_push(queue=arg0, task=arg1)\n"
	"    dequeue = queue_pop(queue=arg0, task=ret)\n"
	"[build]\n"
	"    command = make -j2\n"
	"[run]\n"
	"    command = ./bench.sh\n"
	"[iterate]\n"
	"    k = 4\n"
	"    threshold = 0.1      ; d in the paper\n"
	"    overhead = 0.02\n"
	"    max-runs = 9\n";

static void test_whole_example(void **state)
{
	struct diag d = DIAG_INIT;
	struct config c;

	(void)state;
	assert_int_equal(config_parse(whole_example, "vprof.conf", &c, &d), 0);
	assert_int_equal(c.intervals.cnt, 1);
	assert_string_equal(c.intervals.items[0].name, "request");
	assert_string_equal(c.intervals.items[0].start.function, "enqueue_request");
	assert_int_equal(c.intervals.items[0].start.place, PLACE_ENTRY);
	assert_int_equal(c.intervals.items[0].end.place, PLACE_RETURN);
	assert_int_equal(c.intervals.items[0].resumes.cnt, 1);
	assert_string_equal(c.intervals.items[0].key, "arg0->id");
	assert_int_equal(c.sync.cnt, 4);
	assert_string_equal(c.sync.items[3].name, "queue_pop");
	assert_string_equal(c.sync.items[3].task, "ret");
	assert_string_equal(c.build_command, "make -j2");
	assert_string_equal(c.run_command, "./bench.sh");
	assert_int_equal(c.k, 4);
	assert_int_equal(c.max_runs, 9);
	assert_true(c.threshold == 0.1 && c.overhead == 0.02);
	config_release(&c);
}

static void test_defaults(void **state)
{
	struct config c;

	(void)state;
	assert_int_equal(config_parse("# nothing\n\n", "vprof.conf", &c, NULL), 0);
	assert_int_equal(c.intervals.cnt, 0);
	assert_null(c.build_command);
	assert_int_equal(c.k, 3);
	assert_int_equal(c.max_runs, 12);
	assert_true(c.threshold == 0.05 && c.overhead == 0.05);
	assert_int_equal(c.sample.of, 0);
	config_release(&c);
	assert_int_equal(config_read(-1, NULL, &c, NULL), 0);
	assert_int_equal(c.k, 3);
	config_release(&c);
}

static void test_sample(void **state)
{
	static const char *const wrong[] = { "", "0", "1/0", "0/3", "4/3", "-1", "1/", "/2", "1/2/3", "1/2x",
					     " 2", "1/-2", "0.1", "1/10000000000", "automatic", "auto=", "auto=0",
					     "auto=1.1", "auto=-1", "auto=nan", "auto=.1x",
					     "99999999999999999999" };
	struct config c;
	struct sample s;

	(void)state;
	assert_true(sample_parse("1/10", &s) && s.full == 1 && s.of == 10);
	assert_true(sample_parse("10", &s) && s.full == 1 && s.of == 10);
	assert_true(sample_parse("15/16", &s) && s.full == 15 && s.of == 16);
	assert_true(sample_parse("1", &s) && s.full == 1 && s.of == 1);
	assert_true(sample_parse("auto", &s) && s.automatic && s.budget == 0);
	assert_true(sample_parse("auto=0.125", &s) && s.automatic && s.budget == 0.125);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(sample_parse(wrong[i], &s));
	assert_int_equal(config_parse("[record]\nsample = 1/8\n", "c", &c, NULL), 0);
	assert_true(c.sample.full == 1 && c.sample.of == 8);
	config_release(&c);
}

static void test_several_intervals_and_resumes(void **state)
{
	struct config c;

	(void)state;
	assert_int_equal(config_parse("[interval \"a\"]\nstart=f\nend=g\nresume=r\nresume=s.c:9\n"
				      "[interval \"b c\"]\nstart=mark:x\nend=file.c:12\n",
				      "vprof.conf", &c, NULL), 0);
	assert_int_equal(c.intervals.cnt, 2);
	assert_int_equal(c.intervals.items[0].resumes.cnt, 2);
	assert_int_equal(c.intervals.items[0].resumes.items[1].line, 9);
	assert_string_equal(c.intervals.items[1].name, "b c");
	assert_string_equal(c.intervals.items[1].start.mark, "x");
	config_release(&c);
}

/* A command longer than inih's 200 characters arrives whole, and the lines behind it keep their numbers. */
static void test_long_line(void **state)
{
	char text[2000] = "[run]\ncommand = x", expected[1000] = "x";
	struct diag d = DIAG_INIT;
	struct config c;

	(void)state;
	for (int i = 0; i < 60; i++) {
		char word[16];
		int len = snprintf(word, sizeof(word), " word%d;#a", i);

		memcpy(text + strlen(text), word, (size_t)len + 1);
		memcpy(expected + strlen(expected), word, (size_t)len + 1);
	}
	memcpy(text + strlen(text), "\n", 2);
	assert_int_equal(config_parse(text, "vprof.conf", &c, &d), 0);
	assert_string_equal(c.run_command, expected);
	config_release(&c);
	memcpy(text + strlen(text), "comand = y\n", sizeof("comand = y\n"));
	assert_true(config_parse(text, "vprof.conf", &c, &d) < 0);
	assert_string_equal(d.text, "vprof.conf:3: unknown key 'comand'; did you mean 'command'?");
}

/* More than inih takes of a line at once. */
#define WORDS "a comment that is long "
#define LONG WORDS WORDS WORDS WORDS WORDS WORDS WORDS WORDS WORDS WORDS

#define TEN_OF(x) x x x x x x x x x x
#define HASHES TEN_OF(TEN_OF("#")) TEN_OF(TEN_OF("#;"))

/* As in git's files: ';' and '#' behind a value open a comment, not between quotes. */
static void test_comments_and_quotes(void **state)
{
	static const struct { const char *text, *command; } cases[] = {
		{ "[run]\ncommand = make -j2 ; fast\n", "make -j2" },
		{ "[run] # mine\n command = make -j2\t# fast; \"very\"\n", "make -j2" },
		{ "[run]\ncommand = a#b;c", "a#b;c" },
		{ "[run]\ncommand = a" HASHES " # c\n", "a" HASHES },
		{ "[run]\ncommand = '" HASHES "'\n", "'" HASHES "'" },
		{ "[run]\ncommand = sh -c 'a ; b # c' ; d\n", "sh -c 'a ; b # c'" },
		{ "[run]\ncommand = sh -c \"a ; b\" \"c # d\" # e\n", "sh -c \"a ; b\" \"c # d\"" },
		{ "[run]\ncommand = \"a \\\"b ; c\\\" # d\" ; e\n", "a \"b ; c\" # d" },
		{ "[run]\ncommand = echo don't # say\n", "echo don't" },
		{ "[run]\ncommand = a ; " LONG "\n", "a" },
		{ "[run]\ncommand = a\n ; " LONG "\n# " LONG "\n", "a" },
		{ "[run]\ncommand = make \\\n\t-j2 \\\r\n  X=1 ; c\n", "make \t-j2   X=1" },
		{ "[run]\ncommand = make \\\n# c\n", "make" },
		{ "[run]\ncommand = sh -c 'a \\\n; b # c' # d\n", "sh -c 'a ; b # c'" },
		{ "[run]\ncommand = a ; c \\\n# d \\\n", "a" },
		{ "[run]\ncommand = a" HASHES HASHES " \\\n b" HASHES "\n", "a" HASHES HASHES "  b" HASHES },
		{ "[run]\ncommand = \\\n make\\\n\n", "make" },
		{ "[run]\ncommand = \"a \\\n; b\" \\\n\n", "a ; b" },
		{ "[run]\ncommand = a \\", "a \\" },
		{ "[run]\ncommand = a\\b\n", "a\\b" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct config c;

		assert_int_equal(config_parse(cases[i].text, "c", &c, NULL), 0);
		assert_string_equal(c.run_command, cases[i].command);
		config_release(&c);
	}
}

#define NAME_38 "abcdefghijklmnopqrstuvwxyzabcdefghijkl"

/* Between the quotes of an interval's name everything is the name's; behind its ] a comment may stand. */
static void test_names(void **state)
{
	static const struct { const char *section, *name; } cases[] = {
		{ "[interval \"a=b\"]", "a=b" },
		{ "[interval \"a=b#c ;d\"]", "a=b#c ;d" },
		{ "[interval \"a ;b\"] ; \"c\"", "a ;b" },
		{ "[interval \"it's\"] # x = 'y", "it's" },
		{ "\xef\xbb\xbf  [interval \"a=1 #2\"]", "a=1 #2" },
		{ "[interval \"" NAME_38 "\"]", NAME_38 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *text = xasprintf("%s\nstart = f\nend = g\n", cases[i].section);
		_cleanup_(freep) char *written = NULL;
		struct config c, again;

		assert_int_equal(config_parse(text, "c", &c, NULL), 0);
		assert_int_equal(c.intervals.cnt, 1);
		assert_string_equal(c.intervals.items[0].name, cases[i].name);
		written = config_put_interval(text, &c.intervals.items[0]);
		assert_int_equal(config_parse(written, "c", &again, NULL), 0);
		assert_int_equal(again.intervals.cnt, 1);
		assert_string_equal(again.intervals.items[0].name, cases[i].name);
		config_release(&again);
		config_release(&c);
	}
}

static void test_mistakes(void **state)
{
	static const struct { const char *text, *expected; } cases[] = {
		{ "[iterate]\ntreshold = 1\n", "c:2: unknown key 'treshold'; did you mean 'threshold'?" },
		{ "[iterat]\nk = 1\n", "c:2: unknown section 'iterat'; did you mean 'iterate'?" },
		{ "[Iterate]\nk = 1\n", "c:2: unknown section 'Iterate'; did you mean 'iterate'?" },
		{ "[ITERATE]\nk = 1\n", "c:2: unknown section 'ITERATE'; did you mean 'iterate'?" },
		{ "[iterate]\nMAX-RUNS = 1\n", "c:2: unknown key 'MAX-RUNS'; did you mean 'max-runs'?" },
		{ "[sync \"mine\"]\nacquire = f(arg0)\n", "c:2: [sync] takes no name" },
		{ "[run]\ncommand = a \\\n b\ncomand = c\n", "c:4: unknown key 'comand'; did you mean 'command'?" },
		{ "[run]\ncommand = a \\\n \\\nb\nwhat is this\n", "c:5: expected [section] or key = value" },
		{ "[iterate]\nk = 0 \\\n\nthreshold = 2\n", "c:2: k wants a whole number from 1, not '0'" },
		{ "[iterate]\nk = 0\n", "c:2: k wants a whole number from 1, not '0'" },
		{ "[iterate]\nk = three\n", "c:2: k wants a whole number from 1, not 'three'" },
		{ "[iterate]\nthreshold = 5%\n", "c:2: threshold wants a fraction from 0 to 1, not '5%'" },
		{ "[interval]\nstart = f\n", "c:2: an interval has a name: [interval \"request\"]" },
		{ "[interval x\"request\"]\nstart = f\n", "c:2: an interval has a name: [interval \"request\"]" },
		{ "[interval \"" NAME_38 "m\"]\nstart = f\n",
		  "c:2: this name is too long: the line may have 49 characters between [ and ]" },
		{ "[interval \"r\"]\nstart = f\nstart = g\nend = h\n", "c:3: start is given twice" },
		{ "[run]\ncommand = a\vb\n", "c:2: a control character (0x0b) does not belong here" },
		{ "[run]\n\n  what is this\n", "c:3: expected [section] or key = value" },
		{ "[run\ncommand = x\n", "c:1: expected [section] or key = value" },
		{ "[run]\ncommand = x\n[build] " LONG ": make\n", "c:3: expected [section] or key = value" },
		{ "command = x\n", "c:1: 'command' is before any [section]" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct diag d = DIAG_INIT;
		struct config c;

		assert_true(config_parse(cases[i].text, "c", &c, &d) < 0);
		assert_string_equal(d.text, cases[i].expected);
		assert_int_equal(d.status, EXIT_USAGE);
	}
}

static void test_interval_without_end(void **state)
{
	struct diag d = DIAG_INIT;
	struct config c;

	(void)state;
	assert_true(config_parse("[interval \"r\"]\nstart = f\n", "c", &c, &d) < 0);
	assert_non_null(strstr(d.text, "[interval \"r\"] has no end"));
	assert_true(config_parse("[interval \"r\"]\nstart = @@\nend = f\n", "c", &c, &d) < 0);
	assert_non_null(strstr(d.text, "c:2: start = @@:"));
}

static void test_put_interval(void **state)
{
	struct interval_directive d = { .name = (char *)"request" };
	struct config c;
	char *text, *again;

	(void)state;
	assert_int_equal(location_parse("a.c:f@entry", &d.start, NULL), 0);
	assert_int_equal(location_parse("g", &d.end, NULL), 0);
	text = config_put_interval("# mine\n[interval \"request\"]\n  start = old\n  end = old\n[run]\n"
				   "command = x\n", &d);
	assert_string_equal(text, "# mine\n[interval \"request\"]\n    start  = a.c:f@entry\n"
			    "    end    = g\n[run]\ncommand = x\n");
	again = config_put_interval(text, &d);
	assert_string_equal(again, text);
	assert_int_equal(config_parse(text, "c", &c, NULL), 0);
	config_release(&c);
	free(text);
	free(again);
	text = config_put_interval("[run]\ncommand = x\n", &d);
	assert_string_equal(text, "[run]\ncommand = x\n\n[interval \"request\"]\n"
			    "    start  = a.c:f@entry\n    end    = g\n");
	free(text);
	/* All sections of that name go, comments between them stay. */
	text = config_put_interval("[interval \"request\"]\n  start = old\n\n  end = old\n; why\n"
				   "[run]\ncommand = x\n[interval \"request\"]\nkey = k\n", &d);
	assert_string_equal(text, "[interval \"request\"]\n    start  = a.c:f@entry\n"
			    "    end    = g\n\n; why\n[run]\ncommand = x\n");
	free(text);
	d.key = xstrdup("strcmp(arg0, \";\\t # \")");
	text = config_put_interval("", &d);
	assert_int_equal(config_parse(text, "c", &c, NULL), 0);
	assert_string_equal(c.intervals.items[0].key, d.key);
	config_release(&c);
	free(text);
	free(d.key);
	location_release(&d.start);
	location_release(&d.end);
}

/* The file that `vprof init` writes is accepted unchanged. */
static void test_template(void **state)
{
	struct diag d = DIAG_INIT;
	struct config c;

	(void)state;
	assert_int_equal(config_parse(config_template, "c", &c, &d), 0);
	config_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_example), cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_several_intervals_and_resumes), cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_comments_and_quotes),
		cmocka_unit_test(test_names), cmocka_unit_test(test_mistakes), cmocka_unit_test(test_interval_without_end),
		cmocka_unit_test(test_put_interval), cmocka_unit_test(test_template),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
