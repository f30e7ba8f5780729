/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * completion.c - `vprof completion bash|zsh|fish`: what a shell needs to complete vprof's command lines, from the tables of options.
 *
 * Runs, functions and intervals are asked for when the user presses Tab, of the data directory that is there.
 */
#include <stdio.h>
#include <string.h>

#include "base/banned.h"
#include "base/str.h"
#include "cmd/commands.h"
#include "cmd/messages.h"
#include "report/report.h"

static const struct cmd *const commands[] = {
#define X(group, name) &cmd_##name,
	COMMANDS(X)
#undef X
};

/* The kinds of words, by the names that the help gives them. */
enum words { WORDS_FILES, WORDS_RUNS, WORDS_FUNCTIONS, WORDS_INTERVALS };

static enum words words_of(const struct option_desc *o)
{
	if (strstr(o->arg_name, "RUN"))
		return WORDS_RUNS;
	if (strstr(o->arg_name, "FUNC") || strcmp(o->arg_name, "LOC") == 0 || strcmp(o->arg_name, "PLACE") == 0 ||
	    strcmp(o->long_name, "functions") == 0)
		return WORDS_FUNCTIONS;
	return strcmp(o->long_name, "interval") == 0 ? WORDS_INTERVALS : WORDS_FILES;
}

/* Commands whose words are runs. */
static bool takes_runs(const struct cmd *c)
{
	return strstr(c->synopsis, "RUN") || strstr(c->synopsis, "BASE");
}

/* Runs by number and name, groups by name; functions; kinds of intervals: a line each. */
#define ASK_RUNS "vprof show runs --format csv 2>/dev/null | awk -F, 'NR > 1 { print $1; if ($2 != \"\" && $2 !~ /^\"/) { print $2;" \
	" if (sub(/[.][1-9][0-9]*$/, \"\", $2) && !seen[$2]++) print $2 } }'"
#define ASK_FUNCTIONS "vprof sql 'SELECT DISTINCT name FROM function ORDER BY name' --format csv 2>/dev/null | sed 1d"
#define ASK_INTERVALS "vprof sql 'SELECT DISTINCT interval FROM finding WHERE interval IS NOT NULL' --format csv 2>/dev/null | sed 1d"

static const char shared[] =
	"_vprof_runs() { " ASK_RUNS "; }\n"
	"_vprof_functions() { " ASK_FUNCTIONS "; }\n"
	"_vprof_intervals() { " ASK_INTERVALS "; }\n";

static const char *const askers[] = {
	[WORDS_RUNS] = "_vprof_runs", [WORDS_FUNCTIONS] = "_vprof_functions", [WORDS_INTERVALS] = "_vprof_intervals",
};

static void put_commands(const char *before)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		printf("%s%s", i ? before : "", commands[i]->name);
}

/* source is no row of the table: it has no run and no formats. */
static void put_views(void)
{
	for (size_t i = 0; i < report_view_cnt; i++)
		printf("%s ", report_views[i]->name);
	printf("source");
}

/* The next word is the option's value. */
static bool takes_word(const struct option_desc *o)
{
	return o->type != OPT_FLAG && o->type != OPT_OPTIONAL;
}

/* ---- bash ---- */

/* "show:--format|show:-k) ...": steps over the value, also where bash has split --format=json. */
static void put_bash_values(const struct cmd *c)
{
	bool any = false;

	for (const struct option_desc *o = cmd_options(c); o && o->help; o++) {
		if (!takes_word(o))
			continue;
		printf("%s", any ? "|" : "\t\t");
		any = true;
		if (o->long_name)
			printf("%s:--%s", c->name, o->long_name);
		if (o->short_name)
			printf("%s%s:-%c", o->long_name ? "|" : "", c->name, o->short_name);
	}
	if (any)
		printf(") ((i++)); [ \"${COMP_WORDS[i]}\" != = ] || ((i++));;\n");
}

static void put_bash_command(const struct cmd *c)
{
	const struct option_desc *o = cmd_options(c);

	printf("\t%s)\n\t\toptions='--help", c->name);
	for (const struct option_desc *x = o; x && x->help; x++)
		if (x->long_name)
			printf(" --%s", x->long_name);
	printf("'\n\t\tcase $prev in\n");
	for (const struct option_desc *x = o; x && x->help; x++) {
		if (!x->long_name || !takes_word(x))
			continue;
		printf("\t\t--%s", x->long_name);
		if (x->short_name)
			printf("|-%c", x->short_name);
		if (words_of(x) == WORDS_FILES)
			printf(") values=files;;\n");
		else
			printf(") values=$(%s);;\n", askers[words_of(x)]);
	}
	printf("\t\tesac\n");
	if (strcmp(c->name, "show") == 0) {
		printf("\t\twords='");
		put_views();
		printf("'\n\t\tcase $word in '') ;; source) words=$(_vprof_functions);; *) words=$(_vprof_runs);; esac;;\n");
	} else {
		printf("\t\twords=%s;;\n", takes_runs(c) ? "$(_vprof_runs)" : "");
	}
}

static void put_bash(void)
{
	printf("# bash: source this, or put it into the directory of bash-completion\n%s", shared);
	printf("_vprof() {\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= word= options= values= words= i\n"
	       "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	       "\t\tcase $command:${COMP_WORDS[i]} in\n"
	       "\t\t*:--) compopt -o default; COMPREPLY=($(compgen -c -- \"$cur\")); return;;\n"
	       "\t\t*:-d) ((i++));;\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		put_bash_values(commands[i]);
	printf("\t\t*:-*) ;;\n"
	       "\t\t*) if [ -z \"$command\" ]; then command=${COMP_WORDS[i]}; elif [ -z \"$word\" ]; then word=${COMP_WORDS[i]}; fi;;\n"
	       "\t\tesac\n\tdone\n"
	       "\t[ \"$prev\" != = ] || prev=${COMP_WORDS[COMP_CWORD-2]}\n"
	       "\t[ \"$prev\" != -d ] || { COMPREPLY=($(compgen -d -- \"$cur\")); return; }\n"
	       "\tcase $command in\n\t'') words='help ");
	put_commands(" ");
	printf("'; options='--help --no-pager --version';;\n\thelp) words='");
	put_commands(" ");
	printf("';;\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		put_bash_command(commands[i]);
	printf("\tesac\n"
	       "\tlocal IFS=$' \\t\\n'\n"
	       "\tif [ \"$values\" = files ]; then compopt -o default; COMPREPLY=($(compgen -f -- \"$cur\")); return; fi\n"
	       "\t[[ $cur != -* ]] || words=$options\n"
	       "\t[ -z \"$values\" ] || { words=$values; IFS=$'\\n'; }\n"
	       "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	       "}\ncomplete -F _vprof vprof\n");
}

/* ---- zsh ---- */

/* Inside '...[...]' of _arguments: what would end it. */
static void put_zsh_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			printf("'\\''");
		else if (strchr("[]:\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void put_zsh_option(const struct option_desc *o)
{
	static const char *const actions[] = {
		[WORDS_FILES] = "_files", [WORDS_RUNS] = "_vprof_of_runs", [WORDS_FUNCTIONS] = "_vprof_of_functions",
		[WORDS_INTERVALS] = "_vprof_of_intervals",
	};

	if (!o->long_name)
		return;
	printf(" \\\n\t\t\t'%s--%s%s[", o->type == OPT_STRS ? "*" : "", o->long_name, o->type == OPT_FLAG ? "" :
	       o->type == OPT_OPTIONAL ? "=-" : "=");
	put_zsh_text(o->help);
	putchar(']');
	if (o->type != OPT_FLAG) {
		printf(o->type == OPT_OPTIONAL ? "::" : ":");
		put_zsh_text(o->arg_name);
		printf(":%s", o->type == OPT_OPTIONAL ? "" : actions[words_of(o)]);
	}
	putchar('\'');
}

static void put_zsh(void)
{
	printf("#compdef vprof\n# zsh: put it as _vprof into a directory of $fpath\n%s", shared);
	printf("_vprof_of_runs() { local -a list; list=(${(f)\"$(_vprof_runs)\"}); compadd -a list; }\n"
	       "_vprof_of_functions() { local -a list; list=(${(f)\"$(_vprof_functions)\"}); compadd -a list; }\n"
	       "_vprof_of_intervals() { local -a list; list=(${(f)\"$(_vprof_intervals)\"}); compadd -a list; }\n"
	       "_vprof_of_view() { if (( ${words[(I)source]} )); then _vprof_of_functions; else _vprof_of_runs; fi; }\n"
	       "_vprof() {\n\tlocal state line\n\t_arguments -C '-d[data directory]:directory:_files -/' '--help' '--no-pager' '--version' "
	       "'1:command:(help ");
	put_commands(" ");
	printf(")' '*::argument:->rest'\n\t[[ $state = rest ]] || return\n\tcase $line[1] in\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct cmd *c = commands[i];

		printf("\t%s)\n\t\t_arguments", c->name);
		for (const struct option_desc *o = cmd_options(c); o && o->help; o++)
			put_zsh_option(o);
		if (strcmp(c->name, "show") == 0) {
			printf(" \\\n\t\t\t'1:view:(");
			put_views();
			printf(")' '2:run:_vprof_of_view'");
		} else {
			printf(" \\\n\t\t\t'*:word:%s'", takes_runs(c) ? "_vprof_of_runs" : "_files");
		}
		printf(";;\n");
	}
	printf("\tesac\n}\n_vprof \"$@\"\n");
}

/* ---- fish ---- */

static void put_fish_text(const char *text)
{
	for (; *text; text++)
		printf(strchr("'\\", *text) ? "\\%c" : "%c", *text);
}

static void put_fish_option(const struct cmd *c, const struct option_desc *o)
{
	static const char *const lists[] = {
		[WORDS_RUNS] = "(__vprof_runs)", [WORDS_FUNCTIONS] = "(__vprof_functions)", [WORDS_INTERVALS] = "(__vprof_intervals)",
	};

	printf("complete -c vprof -n '__fish_seen_subcommand_from %s'", c->name);
	if (o->short_name)
		printf(" -s %c", o->short_name);
	if (o->long_name)
		printf(" -l %s", o->long_name);
	if (takes_word(o)) {
		printf(" -r");
		if (o->long_name && words_of(o) != WORDS_FILES)
			printf(" -f -a '%s'", lists[words_of(o)]);
	}
	printf(" -d '");
	put_fish_text(o->help);
	printf("'\n");
}

static void put_fish(void)
{
	printf("# fish: put it as vprof.fish into ~/.config/fish/completions\n"
	       "function __vprof_runs\n\t" ASK_RUNS "\nend\n"
	       "function __vprof_functions\n\t" ASK_FUNCTIONS "\nend\n"
	       "function __vprof_intervals\n\t" ASK_INTERVALS "\nend\n");
	printf("complete -c vprof -n __fish_use_subcommand -s d -r -f -a '(__fish_complete_directories)' -d 'data directory'\n"
	       "complete -c vprof -n __fish_use_subcommand -l no-pager -d 'print on the terminal itself'\n"
	       "complete -c vprof -n __fish_use_subcommand -l version -d 'print the version'\n"
	       "complete -c vprof -l help -d 'print what the command takes'\n"
	       "complete -c vprof -n __fish_use_subcommand -f -a help -d 'explain a command, or a word that vprof prints'\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		printf("complete -c vprof -n __fish_use_subcommand -f -a %s -d '", commands[i]->name);
		put_fish_text(commands[i]->summary);
		printf("'\n");
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct cmd *c = commands[i];

		for (const struct option_desc *o = cmd_options(c); o && o->help; o++)
			put_fish_option(c, o);
		if (takes_runs(c))
			printf("complete -c vprof -n '__fish_seen_subcommand_from %s' -f -a '(__vprof_runs)'\n", c->name);
	}
	printf("complete -c vprof -n '__fish_seen_subcommand_from show' -f -a '");
	put_views();
	printf("'\ncomplete -c vprof -n '__fish_seen_subcommand_from source' -f -a '(__vprof_functions)'\n");
}

/* ---- the command ---- */

static int completion_run(int argc, char **argv)
{
	static const struct {
		const char *shell;
		void (*put)(void);
	} shells[] = { { "bash", put_bash }, { "zsh", put_zsh }, { "fish", put_fish } };
	_cleanup_(args_release) struct args words = ARGS_INIT;
	int status;

	if (options_parse(argc, argv, &cmd_completion, &words, &status))
		return status;
	for (size_t i = 0; words.cnt == 1 && i < ARRAY_SIZE(shells); i++)
		if (strcmp(words.items[0], shells[i].shell) == 0) {
			shells[i].put();
			return EXIT_DONE;
		}
	return fail_now(EXIT_USAGE, "vprof completion bash > ~/.local/share/bash-completion/completions/vprof",
			"completion: which shell? bash, zsh or fish");
}

static const struct option_desc completion_options[] = { OPT_END };
static const char *const completion_examples[] = {
	"vprof completion bash > ~/.local/share/bash-completion/completions/vprof", "vprof completion zsh > ~/.zfunc/_vprof",
	"vprof completion fish > ~/.config/fish/completions/vprof.fish", NULL
};
const struct cmd cmd_completion = {
	.name = "completion", .synopsis = "bash|zsh|fish",
	.summary = "print what a shell needs to complete vprof's command lines",
	.options = completion_options, .run = completion_run, .examples = completion_examples, .needs_no_config = true,
};
