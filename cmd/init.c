/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * init.c - `vprof init`: a commented vprof.conf to start from.  Never overwrites one.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "cmd/commands.h"
#include "cmd/messages.h"
#include "project/config/config_text.h"
#include "project/config/locate.h"
#include "project/config/paths.h"

static const char *arg_preset;

/* "logserver, memcached": every directory of examples/ that has a vprof.conf. */
static char *list_presets(void)
{
	_cleanup_(freep) char *dir = path_join(data_files_dir(), "examples");
	struct str s = STR_INIT;
	struct dirent **entries;
	int cnt = scandir(dir, &entries, NULL, alphasort);

	for (int i = 0; i < cnt; i++) {
		_cleanup_(freep) struct dirent *e = entries[i];
		_cleanup_(freep) char *path = preset_path(e->d_name);

		if (e->d_name[0] != '.' && file_exists(path))
			str_addf(&s, "%s%s", s.len ? ", " : "", e->d_name);
	}
	if (cnt >= 0)
		free(entries);
	return str_take(&s);
}

static int init_run(int argc, char **argv)
{
	_cleanup_(freep) char *preset = NULL;
	const char *text = config_template;
	struct diag diag = DIAG_INIT;
	int status;

	if (options_parse(argc, argv, &cmd_init, NULL, &status))
		return status;
	if (file_exists("vprof.conf"))
		return fail_now(EXIT_USAGE, "edit it, or move it away first",
				"vprof.conf exists already and is left as it is");
	if (arg_preset) {
		_cleanup_(freep) char *path = preset_path(arg_preset), *presets = list_presets();

		if (strchr(arg_preset, '/') || file_read(path, &preset, NULL) < 0)
			return fail_now(EXIT_USAGE, NULL, "there is no preset '%s'; there are: %s",
					arg_preset, *presets ? presets : "none");
		text = preset;
	}

	if (check_way("vprof.conf", &diag) < 0)
		return fail(&diag);

	int r = file_write("vprof.conf", text, strlen(text), 0644);

	if (r < 0)
		return fail_now(EXIT_ENVIRONMENT, NULL, "cannot write vprof.conf: %s", strerror(-r));
	note_line("wrote vprof.conf");
	note_line(arg_preset ? "next: vprof build -- make" : "next: name the interval, e.g.  vprof annotate"
		  " --start handle_request --end handle_request");
	return EXIT_DONE;
}

static const struct option_desc init_options[] = {
	{ 0, "preset", "NAME", OPT_STR, &arg_preset, "start from the settings for a known server, e.g. postgresql" },
	OPT_END
};
static const char *const init_examples[] = { "vprof init", "vprof init --preset memcached", NULL };
const struct cmd cmd_init = {
	.name = "init", .synopsis = "[--preset NAME]",
	.summary = "write a commented vprof.conf to start from",
	.options = init_options, .run = init_run, .examples = init_examples, .needs_no_config = true,
};
