/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * options.c - parse a command line by the subcommand's table, and print the table as help.
 *
 * A wrong option is answered with the nearest right one, never with the whole help:
 *	vprof: error: show: unknown option '--papper'; did you mean '--paper'?
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "cmd/messages.h"
#include "cmd/options.h"
#include "project/config/locate.h"

struct parser {
	const struct cmd *cmd;
	char **argv;
	int argc, at;			/* argv[at] is the next word */
	int status;
};

const struct option_desc *cmd_options(const struct cmd *cmd)
{
	return cmd->all_options ? cmd->all_options() : cmd->options;
}

void option_table_add(option_table *table, const struct option_desc *rows)
{
	for (; rows && rows->help; rows++)
		VEC_ADD(table, *rows);
}

const struct option_desc *option_table_end(option_table *table)
{
	VEC_ADD(table, (struct option_desc)OPT_END);
	return table->items;
}

static int usage(struct parser *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int usage(struct parser *p, const char *fmt, ...)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	struct diag d = DIAG_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	diag_set(&d, EXIT_USAGE, -EINVAL, "%s: %s", p->cmd->name, str_cstr(&text));
	diag_remedy(&d, -EINVAL, "vprof %s --help", p->cmd->name);
	p->status = fail(&d);
	return 1;
}

/* "vprof record ./server": the command stands behind "--". */
static int no_argument(struct parser *p, const char *word, bool takes_command)
{
	struct diag d = DIAG_INIT;

	if (!takes_command)
		return usage(p, "takes no argument '%s'", word);
	diag_set(&d, EXIT_USAGE, -EINVAL, "%s: takes no argument '%s'; a command stands after '--'", p->cmd->name, word);
	diag_remedy(&d, -EINVAL, "vprof %s -- %s", p->cmd->name, word);
	p->status = fail(&d);
	return 1;
}

static const struct option_desc *find_long(const struct cmd *cmd, const char *name, size_t len)
{
	for (const struct option_desc *o = cmd_options(cmd); o->help; o++)
		if (o->long_name && strlen(o->long_name) == len && !strncmp(o->long_name, name, len))
			return o;
	return NULL;
}

static const struct option_desc *find_short(const struct cmd *cmd, char name)
{
	for (const struct option_desc *o = cmd_options(cmd); o->help; o++)
		if (o->short_name && o->short_name == name)
			return o;
	return NULL;
}

static int unknown_long(struct parser *p, const char *word, size_t len)
{
	_cleanup_(freep) char *name = xstrndup(word, len);
	const char *names[64];
	size_t cnt = 0;

	for (const struct option_desc *o = cmd_options(p->cmd); o->help && cnt < ARRAY_SIZE(names); o++)
		if (o->long_name)
			names[cnt++] = o->long_name;

	const char *nearest = nearest_word(name, names, cnt);

	if (nearest)
		return usage(p, "unknown option '--%s'; did you mean '--%s'?", name, nearest);
	return usage(p, "unknown option '--%s'", name);
}

static int store_number(struct parser *p, const struct option_desc *o, const char *name,
			const char *value)
{
	bool from_1 = o->type == OPT_COUNT;
	char *end;

	errno = 0;
	if (o->type == OPT_DOUBLE) {
		double number = strtod(value, &end);

		/* Not "nan", "inf", "0x1p-3" or " 1", which strtod() takes as well. */
		if (errno || end == value || *end || value[strspn(value, "0123456789+-.eE")])
			return usage(p, "%s wants a number, not '%s'", name, value);
		*(double *)o->target = number;
		return 0;
	}

	unsigned long number = strtoul(value, &end, 10);

	if (errno || end == value || *end || value[strspn(value, "0123456789")] || number > 0xffffffffUL || number < from_1)
		return usage(p, "%s wants a whole number%s, not '%s'", name, from_1 ? " from 1" : "", value);
	*(unsigned *)o->target = (unsigned)number;
	return 0;
}

static int store(struct parser *p, const struct option_desc *o, const char *name, const char *value)
{
	switch (o->type) {
	case OPT_FLAG:
		*(bool *)o->target = true;
		return 0;
	case OPT_STR:
	case OPT_OPTIONAL:
		*(const char **)o->target = value;
		return 0;
	case OPT_STRS:
		args_add(o->target, value);
		return 0;
	case OPT_UINT:
	case OPT_COUNT:
	case OPT_DOUBLE:
		return store_number(p, o, name, value);
	}
	return 0;
}

static int parse_long(struct parser *p)
{
	const char *word = p->argv[p->at++];
	size_t len = strcspn(word + 2, "=");
	const struct option_desc *o = find_long(p->cmd, word + 2, len);
	const char *value = word[2 + len] == '=' ? word + 2 + len + 1 : NULL;
	_cleanup_(freep) char *name = xstrndup(word, len + 2);

	if (!o)
		return unknown_long(p, word + 2, len);
	if (o->type == OPT_FLAG && value)
		return usage(p, "%s takes no value", name);
	if (o->type == OPT_OPTIONAL && !value)
		value = "";
	if (o->type != OPT_FLAG && !value) {
		if (p->at == p->argc)
			return usage(p, "%s wants a value: %s %s", name, name, o->arg_name);
		value = p->argv[p->at++];
	}
	return store(p, o, name, value);
}

static int parse_short(struct parser *p)
{
	const char *word = p->argv[p->at++];

	for (const char *c = word + 1; *c; c++) {
		const struct option_desc *o = find_short(p->cmd, *c);
		char name[3] = { '-', *c, '\0' };

		if (!o)
			return usage(p, "unknown option '-%c'", *c);
		if (o->type == OPT_FLAG) {
			store(p, o, name, NULL);
			continue;
		}

		const char *value = c[1] ? c + 1 : p->at < p->argc ? p->argv[p->at++] : NULL;

		if (!value)
			return usage(p, "%s wants a value: %s %s", name, name, o->arg_name);
		return store(p, o, name, value);
	}
	return 0;
}

/* "-d DIR" after the command means the same as before it, unless the command has a -d. */
static bool is_data_dir(const struct parser *p, const char *word)
{
	return starts_with(word, "-d") && !find_short(p->cmd, 'd');
}

static int parse_data_dir(struct parser *p)
{
	const char *word = p->argv[p->at++];

	const char *dir = word[2] ? word + 2 : p->at < p->argc ? p->argv[p->at++] : "";

	if (!*dir)
		return usage(p, "-d wants a directory: -d DIR");
	set_data_dir(dir);
	return 0;
}

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* Of a command that runs none, "--" ends the options: import --from tuples -- -old.tuples. */
static int take_rest(struct parser *p, struct args *positional)
{
	if (!positional)
		return usage(p, "takes no command after '--'");
	while (++p->at < p->argc)
		args_add(positional, p->argv[p->at]);
	return 0;
}

int options_parse_command(int argc, char **argv, const struct cmd *cmd, struct args *positional,
			  char *const **ret_command, int *ret_status)
{
	struct parser p = { cmd, argv, argc, 1, 0 };
	struct diag diag = DIAG_INIT;
	int done = 0;

	while (!done && p.at < argc) {
		const char *word = argv[p.at];

		if (strcmp(word, "--") == 0) {
			if (ret_command)
				*ret_command = &argv[p.at + 1];
			else
				done = take_rest(&p, positional);
			break;
		}
		if (is_help(word)) {
			options_print_help(cmd);
			p.status = EXIT_DONE;
			done = 1;
		} else if (starts_with(word, "--")) {
			done = parse_long(&p);
		} else if (is_data_dir(&p, word)) {
			done = parse_data_dir(&p);
		} else if (word[0] == '-' && word[1]) {
			done = parse_short(&p);
		} else if (positional) {
			args_add(positional, word);
			p.at++;
		} else {
			done = no_argument(&p, word, ret_command != NULL);
		}
	}
	if (!done && !cmd->needs_no_config && config_check(&diag) < 0) {
		p.status = fail(&diag);
		done = -1;
	}
	*ret_status = p.status;
	return done;
}

int options_parse(int argc, char **argv, const struct cmd *cmd, struct args *positional,
		  int *ret_status)
{
	return options_parse_command(argc, argv, cmd, positional, NULL, ret_status);
}

void option_help_add(struct str *help, size_t i, size_t cnt, const char *word, const char *note)
{
	str_addf(help, "%s%s", i == 0 ? "" : i + 1 < cnt ? ", " : ", or ", word);
	if (note)
		str_addf(help, " (%s)", note);
}

static void print_option(const struct option_desc *o)
{
	_cleanup_(str_release) struct str left = STR_INIT;

	if (o->short_name)
		str_addf(&left, "-%c%s", o->short_name, o->long_name ? ", " : "");
	else
		str_add(&left, "    ");
	if (o->long_name)
		str_addf(&left, "--%s", o->long_name);
	if (o->arg_name)
		str_addf(&left, o->type == OPT_OPTIONAL ? "[=%s]" : " %s", o->arg_name);
	printf("  %-28s %s\n", str_cstr(&left), o->help);
}

void options_print_help(const struct cmd *cmd)
{
	const struct option_desc *options = cmd_options(cmd);

	printf("usage: vprof %s %s\n\n%s\n", cmd->name, cmd->synopsis, cmd->summary);
	if (cmd->print_words)
		cmd->print_words();
	if (options && options->help) {
		printf("\noptions:\n");
		for (const struct option_desc *o = options; o->help; o++)
			print_option(o);
	}
	if (cmd->examples) {
		printf("\nexamples:\n");
		for (const char *const *e = cmd->examples; *e; e++)
			printf("  %s\n", *e);
	}
	printf("\nmore: man vprof-%s\n", cmd->name);
}
