/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands.c - keeps the options' values, calls the command, restores them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "cmd/messages.h"
#include "tests/fuzz/commands.h"

enum { OPTIONS_MAX = 32 };

FILE *fuzz_nowhere(void)
{
	static FILE *nowhere;

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	if (!nowhere) {
		perror("/dev/null");
		exit(99);
	}
	return nowhere;
}

union value {
	bool flag;
	const char *text;
	unsigned int number;
	double real;
	struct args list;
};

static void copy_value(const struct option_desc *o, union value *kept, bool restore)
{
	size_t len = o->type == OPT_FLAG ? sizeof(bool) : o->type == OPT_UINT || o->type == OPT_COUNT ? sizeof(unsigned int) :
		     o->type == OPT_DOUBLE ? sizeof(double) : o->type == OPT_STRS ? sizeof(struct args) : sizeof(const char *);

	if (restore)
		memcpy(o->target, kept, len);
	else
		memcpy(kept, o->target, len);
}

int fuzz_run(const struct cmd *cmd, const char *const *words)
{
	union value kept[OPTIONS_MAX];
	char *argv[16] = { (char *)(uintptr_t)cmd->name };
	FILE *out = stdout, *err = stderr;
	const struct option_desc *options = cmd_options(cmd);
	int argc = 1, status;

	for (size_t i = 0; options[i].help; i++)
		copy_value(&options[i], &kept[i], false);
	while (*words)
		argv[argc++] = (char *)(uintptr_t)*words++;
	fflush(stdout);
	messages_start();
	stdout = stderr = fuzz_nowhere();
	status = cmd->run(argc, argv);
	fflush(fuzz_nowhere());
	stdout = out;
	stderr = err;
	for (size_t i = 0; options[i].help; i++)
		copy_value(&options[i], &kept[i], true);
	return status;
}
