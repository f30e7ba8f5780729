/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * main.c - the program vprof: a table of subcommands, and nothing about any of them.
 *
 *	vprof [-d DIR] [--no-pager] COMMAND [ARG...]
 *
 * Called by a compiler's name, through a link of the user's, it is the compiler launcher: `gcc -c a.c` is
 * `vprof cc gcc -c a.c`.  The links of `vprof build` lead to a program of their own (launcher.c).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "cmd/commands.h"
#include "cmd/ask/help_word.h"
#include "project/config/launch.h"
#include "project/config/locate.h"
#include "cmd/messages.h"
#include "cmd/pager.h"
#include "build-config.h"

static const struct {
	const char *group;
	const struct cmd *cmd;
} commands[] = {
#define X(group, name) { #group, &cmd_##name },
	COMMANDS(X)
#undef X
};

static void print_help(void)
{
	printf("usage: vprof [-d DIR] [--no-pager] COMMAND [ARG...]\n\n"
	       "vprof finds the functions, and the waits, that make the latency of a C or C++\n"
	       "server's requests unpredictable.  Try it:  vprof demo\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (i == 0 || strcmp(commands[i].group, commands[i - 1].group) != 0)
			printf("\n%s\n", commands[i].group);
		printf("  %-10s %s\n", commands[i].cmd->name, commands[i].cmd->summary);
	}
	printf("\n  -d DIR     data directory (default: vprof.data beside vprof.conf; or $VPROF_DIR)\n"
	       "  --no-pager print on the terminal itself, not through $VPROF_PAGER, $PAGER or less\n"
	       "\nvprof COMMAND --help tells more; so do man vprof and man vprof-COMMAND.  vprof help WORD explains a word\n"
	       "that vprof prints; vprof help words lists them.\n");
}

static const struct cmd *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].cmd->name, name) == 0)
			return commands[i].cmd;
	return NULL;
}

static int unknown_command(const char *name)
{
	const char *names[ARRAY_SIZE(commands)];

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i].cmd->name;

	const char *nearest = nearest_word(name, names, ARRAY_SIZE(commands));

	if (nearest)
		return fail_now(EXIT_USAGE, "vprof --help lists the commands",
				"unknown command '%s'; did you mean '%s'?", name, nearest);
	return fail_now(EXIT_USAGE, "vprof --help lists the commands", "unknown command '%s'", name);
}

static int unknown_topic(const char *name)
{
	_cleanup_(freep) char *words = help_words_list();

	return fail_now(EXIT_USAGE, words, "'%s' is neither a command nor a word that vprof explains; it explains", name);
}

static int run_help(const char *topic)
{
	const struct cmd *cmd = topic ? find_command(topic) : NULL;

	pager_start();
	if (topic && !cmd && strcmp(topic, "words") == 0) {
		help_words();
		return EXIT_DONE;
	}
	if (topic && !cmd)
		return help_word(topic) ? EXIT_DONE : unknown_topic(topic);
	if (cmd)
		options_print_help(cmd);
	else
		print_help();
	return EXIT_DONE;
}

/* "vprof help queue wait" */
static int run_help_on(int argc, char **argv)
{
	_cleanup_(str_release) struct str topic = STR_INIT;

	for (int i = 0; i < argc; i++)
		str_addf(&topic, "%s%s", i ? " " : "", argv[i]);
	return run_help(argc ? str_cstr(&topic) : NULL);
}

static int run_command(int argc, char **argv)
{
	if (argc == 0) {
		print_help();
		return EXIT_USAGE;
	}
	if (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h") || !strcmp(argv[0], "help"))
		return run_help_on(argc - 1, argv + 1);
	/* As perf and git have it. */
	if (!strcmp(argv[0], "--version") || !strcmp(argv[0], "-V") || !strcmp(argv[0], "version")) {
		printf("vprof %s\n", PACKAGE_VERSION);
		return EXIT_DONE;
	}

	const struct cmd *cmd = find_command(argv[0]);

	return cmd ? cmd->run(argc, argv) : unknown_command(argv[0]);
}

/* Takes the options before the command: "-d DIR", "-dDIR", "--no-pager"; returns the number of their words, or -1. */
static int take_globals(char **argv)
{
	int cnt = 0;

	for (char **word = argv + 1; *word; word = argv + 1 + cnt) {
		if (strcmp(*word, "--no-pager") == 0) {
			pager_off = true;
			cnt++;
		} else if (!starts_with(*word, "-d")) {
			break;
		} else if ((*word)[2]) {
			set_data_dir(*word + 2);
			cnt++;
		} else {
			if (!word[1] || !*word[1])
				return -1;
			set_data_dir(word[1]);
			cnt += 2;
		}
	}
	return cnt;
}

int main(int argc, char **argv)
{
	alloc_set_failure_handler(die_out_of_memory);
	messages_start();
	if (argc > 0 && launcher_name(argv[0]))
		return launch_as(argv);

	signal(SIGPIPE, SIG_IGN);
	int skip = take_globals(argv);

	if (skip < 0)
		return fail_now(EXIT_USAGE, NULL, "-d wants a directory: vprof -d DIR COMMAND");
	return pager_end(finish_output(run_command(argc - 1 - skip, argv + 1 + skip)));
}
