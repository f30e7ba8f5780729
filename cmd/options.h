/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * options.h - a subcommand's options are a table that parses and prints its own help.
 *
 *	static bool arg_paper;
 *	static const struct option_desc options[] = {
 *		{ 0, "paper", NULL, OPT_FLAG, &arg_paper, "rank as the paper's Algorithm 1 does" },
 *		OPT_END
 *	};
 *
 * "-k 3", "-k3", "--k 3" and "--k=3" mean the same.  Options and words may mix; "--" ends both, the words after it are
 * the user's command, or, for a vprof command that runs none, more words.  An option with an optional value takes it only after "=": "--kernel=auto".
 */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include "base/alloc.h"
#include "base/option.h"
#include "base/proc.h"
#include "base/str.h"

struct cmd {
	const char *name, *synopsis, *summary;
	const struct option_desc *options;	/* ends in OPT_END; NULL: the command reads its own words */
	const struct option_desc *(*all_options)(void);		/* replaces options if they consist of several tables */
	int (*run)(int argc, char **argv);	/* argv[0] is the command's name; returns the exit status */
	void (*print_words)(void);		/* for the help: lists what its first word can be; NULL: nothing to list */
	const char *const *examples;		/* ends in NULL; NULL: none */
	bool needs_no_config;			/* $VPROF_CONF may name no file: the command makes it, or does without */
};

/* Its options, from either member, or NULL. */
const struct option_desc *cmd_options(const struct cmd *cmd);

/* One table of several. */
typedef VEC(struct option_desc) option_table;
void option_table_add(option_table *table, const struct option_desc *rows);	/* up to OPT_END; NULL: none */
const struct option_desc *option_table_end(option_table *table);

/* Adds one of cnt words, and a note about it or NULL, to an option's help: "tuples (the default), or perf". */
void option_help_add(struct str *help, size_t i, size_t cnt, const char *word, const char *note);

/*
 * Parses argv[1..] by cmd_options(cmd).  Words go to positional; what follows "--" is returned in
 * *ret_command (NULL if there was no "--"), or goes to positional, too, where ret_command is NULL.  Either may
 * be NULL if the command takes none.  Returns 0 to go on; or 1 when the process is done, with the status to end with in
 * *ret_status (help was printed, or a usage error).
 */
int options_parse_command(int argc, char **argv, const struct cmd *cmd, struct args *positional,
			  char *const **ret_command, int *ret_status);

/* The same for commands that take no user's command. */
int options_parse(int argc, char **argv, const struct cmd *cmd, struct args *positional,
		  int *ret_status);

void options_print_help(const struct cmd *cmd);

#endif
