/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * doctor.c - `vprof doctor [PROGRAM...]`: what this machine and build can and cannot do, with the fix for each.
 *
 * Nothing is changed: what it builds for a trial is in a directory of its own, which it removes.
 */
#include <string.h>

#include "base/banned.h"
#include "cmd/commands.h"
#include "cmd/doctor/doctor.h"
#include "cmd/messages.h"

static const char *arg_format = "text";
static bool arg_quick;
static unsigned arg_pid;

static void print(const struct diagnosis *d)
{
	struct style style;

	if (strcmp(arg_format, "json") == 0) {
		json_t *document = diagnosis_json(d);

		report_write_json(stdout, document);
		json_decref(document);
		return;
	}
	style_init(&style, stdout, false);
	diagnosis_text(&style, d);
}

static int doctor_run(int argc, char **argv)
{
	_cleanup_(diagnosis_release) struct diagnosis d = { { NULL, 0, 0 } };
	_cleanup_(args_release) struct args programs = ARGS_INIT;
	int status;

	if (options_parse(argc, argv, &cmd_doctor, &programs, &status))
		return status;
	if (strcmp(arg_format, "text") && strcmp(arg_format, "json"))
		return fail_now(EXIT_USAGE, NULL, "doctor: --format is text or json, not '%s'", arg_format);
	doctor_machine(&d);
	if (!arg_quick)
		doctor_try(&d);
	doctor_project(&d);
	doctor_inherited(&d);
	if (arg_pid)
		doctor_process(&d, (pid_t)arg_pid);
	for (size_t i = 0; i < programs.cnt; i++)
		doctor_program(&d, programs.items[i]);
	print(&d);
	return diagnosis_cnt(&d, DIAGNOSIS_PROBLEM) ? EXIT_ENVIRONMENT : EXIT_DONE;
}

static const struct option_desc doctor_options[] = {
	{ 0, "quick", NULL, OPT_FLAG, &arg_quick, "skip building and recording a small program with each compiler" },
	{ 'p', "pid", "PID", OPT_COUNT, &arg_pid, "check a running process: its filters, limits and namespaces, and their effect" },
	{ 0, "format", "FORMAT", OPT_STR, &arg_format, "text (default) or json" },
	OPT_END
};
static const char *const doctor_examples[] = {
	"vprof doctor", "vprof doctor ./server", "vprof doctor --format json", NULL
};
const struct cmd cmd_doctor = {
	.name = "doctor", .synopsis = "[PROGRAM...]",
	.summary = "what this machine and build can and cannot do, with the fix for each",
	.options = doctor_options, .run = doctor_run, .examples = doctor_examples,
};
