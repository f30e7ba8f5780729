/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * commands.h - the subcommands, in the order of `vprof --help`: the one list of them.
 *
 *	X(start, demo)		cmd/demo/demo.c defines cmd_demo; the help names it under "start"
 */
#ifndef CMD_COMMANDS_H
#define CMD_COMMANDS_H

#include "cmd/options.h"

#define COMMANDS(X)		\
	X(start, demo)		\
	X(start, init)		\
	X(start, annotate)	\
	X(start, doctor)	\
	X(measure, look)	\
	X(measure, iterate)	\
	X(measure, build)	\
	X(measure, record)	\
	X(measure, analyze)	\
	X(measure, causal)	\
	X(measure, merge)	\
	X(measure, stitch)	\
	X(measure, check)	\
	X(measure, cc)		\
	X(look, show)		\
	X(look, report)		\
	X(look, sql)		\
	X(decide, diff)		\
	X(exchange, import)	\
	X(exchange, export)	\
	X(help, completion)

#define X(group, name) extern const struct cmd cmd_##name;
COMMANDS(X)
#undef X

#endif
