/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * demo.c - `vprof demo`: an example with a known culprit, built, iterated and explained with the commands that the
 * user will use later.
 *
 *	$ vprof build -- make
 *	$ vprof iterate -- ./logserver
 *	$ vprof show variance-tree
 *
 * demo_causal.c has the example of causal experiments.
 *
 * With --check, exit 0 means that the planted cause was named first.
 */
#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "cmd/commands.h"
#include "cmd/demo/demo.h"
#include "cmd/messages.h"
#include "project/config/locate.h"
#include "project/config/paths.h"
#include "report/output.h"

#define DEFAULT_EXAMPLE "logserver"
#define ANSWER_FILE "demo.ini"
#define MARK_FILE ".vprof-demo"		/* in a directory that a demo made: another one may write over its files */

static bool arg_list, arg_check;
static const char *arg_format = "text", *arg_dir;

static void answer_release(struct demo_answer *a)
{
	free(a->summary);
	free(a->question);
	free(a->function);
	free(a->wait);
	free(a->because_of);
	free(a->beside);
	free(a->faster);
	free(a->also);
}

static int take_answer(void *user, const char *section, const char *name, const char *value)
{
	struct demo_answer *a = user;
	const struct { const char *name; char **target; } keys[] = {
		{ "summary", &a->summary }, { "question", &a->question }, { "function", &a->function },
		{ "wait", &a->wait }, { "because-of", &a->because_of },
		{ "beside", &a->beside }, { "faster", &a->faster }, { "also", &a->also },
	};

	(void)section;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcmp(keys[i].name, name) == 0) {
			free(*keys[i].target);
			*keys[i].target = xstrdup(value);
		}
	return 1;
}

/* false: no such example. */
static bool read_answer(const char *example_dir, struct demo_answer *ret)
{
	_cleanup_(freep) char *path = path_join(example_dir, ANSWER_FILE);

	memset(ret, 0, sizeof(*ret));
	return ini_parse(path, take_answer, ret) == 0 && ret->summary &&
	       (ret->function || (ret->beside && ret->faster && ret->also));
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void print_list(json_t *list)
{
	json_t *o = json_document("demos");

	json_set(o, "warnings", json_array());
	json_set(o, "demos", json_incref(list));
	report_write_json(stdout, o);
	json_decref(o);
}

static void add_example(json_t *list, const char *name, const char *summary)
{
	json_t *o = json_object();

	json_set(o, "name", json_text(name));
	json_set(o, "summary", json_text(summary));
	json_add(list, o);
}

static int list_examples(const char *examples_dir, bool json)
{
	_cleanup_(json_decrefp) json_t *list = json_array();
	struct dirent **entries;
	int cnt = scandir(examples_dir, &entries, NULL, by_name);

	for (int i = 0; i < cnt; i++) {
		_cleanup_(freep) char *dir = path_join(examples_dir, entries[i]->d_name);
		_cleanup_(answer_release) struct demo_answer a;

		if (!read_answer(dir, &a))
			;
		else if (json)
			add_example(list, entries[i]->d_name, a.summary);
		else
			printf("%-12s %s\n", entries[i]->d_name, a.summary);
		free(entries[i]);
	}
	if (cnt >= 0)
		free(entries);
	if (json)
		print_list(list);
	return EXIT_DONE;
}

static int is_entry(const struct dirent *e)
{
	return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

static bool same_makefile(const char *one, const char *other)
{
	_cleanup_(freep) char *a_path = path_join(one, "Makefile"), *b_path = path_join(other, "Makefile"), *a = NULL, *b = NULL;

	return file_read(a_path, &a, NULL) == 0 && file_read(b_path, &b, NULL) == 0 && strcmp(a, b) == 0;
}

/* New, empty, or made by a demo: an example has a Makefile and a vprof.conf, as a project of the user's has. */
static int take_directory(const char *example, const char *dir, struct diag *reterr)
{
	_cleanup_(freep) char *mark = path_join(dir, MARK_FILE);
	struct dirent **entries = NULL;
	int cnt = scandir(dir, &entries, is_entry, by_name), r;

	for (int i = 0; i < cnt; i++)
		free(entries[i]);
	free(entries);
	if (cnt > 0 && !file_exists(mark) && !same_makefile(example, dir)) {
		diag_set(reterr, EXIT_USAGE, -EEXIST, "demo: '%s' has files in it that no demo made: it is left as it is", dir);
		return diag_remedy(reterr, -EEXIST, "vprof demo -C DIR, with the name of a new directory");
	}
	r = make_dirs(dir, 0755);
	if (r == 0)
		r = file_write(mark, "", 0, 0644);
	return r < 0 ? diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot write to '%s': %s", dir, strerror(-r)) : 0;
}

static int copy_example(const char *from, const char *to, struct diag *reterr)
{
	struct dirent **entries;
	int r = check_way(to, reterr), cnt = 0;

	if (r == 0)
		r = take_directory(from, to, reterr);
	if (r < 0)
		return r;
	cnt = scandir(from, &entries, NULL, by_name);
	for (int i = 0; i < cnt; i++) {
		_cleanup_(freep) char *source = path_join(from, entries[i]->d_name);
		_cleanup_(freep) char *target = path_join(to, entries[i]->d_name);

		if (r == 0 && entries[i]->d_type != DT_DIR && strcmp(entries[i]->d_name, ANSWER_FILE))
			r = copy_file(source, target);
		free(entries[i]);
	}
	if (cnt > 0)
		free(entries);
	if (r < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot copy '%s' to '%s': %s", from, to,
				strerror(-r));
	return 0;
}

static const char *text_of(json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

/* Is the first factor the planted one, because of the planted waker? */
static bool culprit_found(const char *factors_json, const struct demo_answer *a, struct str *ret_why)
{
	json_t *root = json_loads(factors_json, 0, NULL);
	json_t *first = json_array_get(json_object_get(root, "factors"), 0);
	json_t *because = json_array_get(json_object_get(first, "because_of"), 0);
	bool found = first && strcmp(text_of(first, "function"), a->function) == 0 &&
		     (!a->wait || strcmp(text_of(first, "wait"), a->wait) == 0) &&
		     (!a->because_of || strcmp(text_of(because, "function"), a->because_of) == 0);

	str_addf(ret_why, "first factor: %s, wait: %s, because of: %s, share: %.2f",
		 *text_of(first, "function") ? text_of(first, "function") : "none",
		 *text_of(first, "wait") ? text_of(first, "wait") : "none",
		 *text_of(because, "function") ? text_of(because, "function") : "unknown",
		 json_number_value(json_object_get(first, "share")));
	json_decref(root);
	return found;
}

static int verdict(const char *dir, const struct demo_answer *a)
{
	static const char *const words[] = { "show", "factors", "--format", "json", NULL };
	_cleanup_(str_release) struct str json = STR_INIT, why = STR_INIT;
	int status = demo_step(dir, true, &json, words);

	if (status)
		return status;
	if (strcmp(arg_format, "json") == 0)
		fputs(str_cstr(&json), stdout);
	bool found = culprit_found(str_cstr(&json), a, &why);

	if (!arg_check)
		return EXIT_DONE;
	note_line("demo --check %s: %s", found ? "passed" : "FAILED", str_cstr(&why));
	return found ? EXIT_DONE : EXIT_CHECK_FAILED;
}

/* Prints the answer again as the last line. */
static int last_word(const char *dir)
{
	static const char *const words[] = { "show", "summary", NULL };
	_cleanup_(str_release) struct str out = STR_INIT;
	int status = demo_step(dir, true, &out, words);

	if (status == EXIT_DONE)
		printf("\nAll of it is in %s: the program, its vprof.conf, and the data.\n"
		       "next: in there,  vprof show critical-path --slowest 1\n\n%.*s\n", dir,
		       (int)strcspn(str_cstr(&out), "\n"), str_cstr(&out));
	return status;
}

static int run_demo(const char *dir, const struct demo_answer *a)
{
	static const char *const build[] = { "build", "--", "make", NULL };
	static const char *const iterate[] = { "iterate", "--", "./logserver", NULL };
	static const char *const tree[] = { "show", "variance-tree", NULL };
	static const char *const factors[] = { "show", "factors", NULL };
	static const char *const *const steps[] = { build, iterate, tree, factors };
	bool quiet = arg_check || strcmp(arg_format, "text") != 0;

	for (size_t i = 0; i < (quiet ? 2 : ARRAY_SIZE(steps)); i++) {
		int status = demo_step(dir, quiet, NULL, steps[i]);

		if (status)
			return status;
	}
	return quiet ? verdict(dir, a) : last_word(dir);
}

/* Cleans first, so that what an earlier demo built is built again. */
static int run_any(const char *dir, const struct demo_answer *a)
{
	char *const clean[] = { (char *)"make", (char *)"clean", NULL };
	const struct proc_options silent = { .dir = dir, .quiet = true };

	proc_run(clean, &silent);
	return a->faster ? demo_causal(dir, a, arg_check, strcmp(arg_format, "json") == 0) : run_demo(dir, a);
}

static int demo_run(int argc, char **argv)
{
	_cleanup_(args_release) struct args words = ARGS_INIT;
	_cleanup_(answer_release) struct demo_answer answer = { 0 };
	_cleanup_(freep) char *examples = path_join(data_files_dir(), "examples"), *from = NULL;
	_cleanup_(freep) char *to = NULL;
	struct diag diag = DIAG_INIT;
	int status;

	if (options_parse(argc, argv, &cmd_demo, &words, &status))
		return status;
	if (strcmp(arg_format, "text") && strcmp(arg_format, "json"))
		return fail_now(EXIT_USAGE, NULL, "demo: --format is text or json");
	if (arg_list)
		return list_examples(examples, strcmp(arg_format, "json") == 0);

	const char *name = words.cnt ? words.items[0] : DEFAULT_EXAMPLE;

	from = path_join(examples, name);
	if (words.cnt > 1 || !read_answer(from, &answer))
		return fail_now(EXIT_USAGE, "vprof demo --list", "there is no demo '%s'", name);
	to = path_real(arg_dir ? arg_dir : "vprof-demo");
	if (copy_example(from, to, &diag) < 0)
		return fail(&diag);
	unsetenv("VPROF_DIR");
	unsetenv("VPROF_CONF");
	if (strcmp(arg_format, "text") == 0 && !arg_check)
		printf("The demo '%s' is in %s.  %s\n", name, to,
		       answer.question ? answer.question : "Most of its requests are quick, some are not: why?");
	return run_any(to, &answer);
}

static const struct option_desc demo_options[] = {
	{ 0, "list", NULL, OPT_FLAG, &arg_list, "list the examples" },
	{ 0, "check", NULL, OPT_FLAG, &arg_check, "print only whether vprof named the planted cause first" },
	{ 0, "format", "FORMAT", OPT_STR, &arg_format, "text (default) or json (the factors, or the experiments)" },
	{ 'C', "directory", "DIR", OPT_STR, &arg_dir, "work in DIR (default: vprof-demo)" },
	OPT_END
};
static const char *const demo_examples[] = { "vprof demo", "vprof demo --check", "vprof demo causal", NULL };
const struct cmd cmd_demo = {
	.name = "demo", .synopsis = "[NAME] [--list] [--check]",
	.summary = "build, run and explain an example with a known culprit",
	.options = demo_options, .run = demo_run, .examples = demo_examples, .needs_no_config = true,
};
