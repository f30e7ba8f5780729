/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * commands.h - the subcommands, each in the file of its name.
 */
#ifndef CMD_COMMANDS_H
#define CMD_COMMANDS_H

#include "cmd/options.h"

extern const struct cmd cmd_analyze;
extern const struct cmd cmd_annotate;
extern const struct cmd cmd_build;
extern const struct cmd cmd_cc;
extern const struct cmd cmd_demo;
extern const struct cmd cmd_doctor;
extern const struct cmd cmd_export;
extern const struct cmd cmd_import;
extern const struct cmd cmd_init;
extern const struct cmd cmd_iterate;
extern const struct cmd cmd_merge;
extern const struct cmd cmd_record;
extern const struct cmd cmd_show;
extern const struct cmd cmd_sql;

#endif
