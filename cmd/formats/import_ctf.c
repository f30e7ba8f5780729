/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_ctf.c - `vprof import --from ctf`: a directory of the Common Trace Format, as LTTng and barectf write it, through babeltrace2.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/str.h"
#include "cmd/formats/import_format.h"
#include "cmd/formats/spans/ctf_text.h"

static int no_babeltrace(struct diag *reterr)
{
	diag_set(reterr, EXIT_ENVIRONMENT, -ENOENT, "CTF is read by the program babeltrace2, which is not here");
	return diag_remedy(reterr, -ENOENT, "apt-get install babeltrace2");
}

static int run_babeltrace(const char *path, struct str *ret, struct diag *reterr)
{
	_cleanup_(freep) char *real = path_real(path);
	_cleanup_(str_release) struct str errors = STR_INIT;
	struct stat st;
	int status;

	if (!real || stat(real, &st) < 0)
		return diag_set(reterr, EXIT_DATA, -ENOENT, "cannot read '%s': %s", path, strerror(errno ? errno : ENOENT));
	if (!S_ISDIR(st.st_mode))
		return diag_set(reterr, EXIT_DATA, -ENOTDIR, "'%s' is no directory, and a CTF trace is one", path);
	status = proc_run((char *[]){ (char *)"babeltrace2", (char *)"--no-delta", (char *)"--clock-seconds", (char *)"--color=never", real, NULL },
			  &(struct proc_options){ .out = ret, .err = &errors });
	if (status == -ENOENT)
		return no_babeltrace(reterr);
	if (status < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, status, "cannot run babeltrace2: %s", strerror(-status));
	if (status > 0)
		return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s: babeltrace2 cannot read it: %.*s", path,
				(int)strcspn(str_cstr(&errors), "\n"), str_cstr(&errors));
	return 0;
}

static int read_ctf(const char *const *paths, size_t cnt, struct trace **ret, struct diag *reterr)
{
	struct spans s;
	struct ctf *c = ctf_new(&s);
	int r = 0;

	spans_init(&s);
	for (size_t i = 0; r == 0 && i < cnt; i++) {
		_cleanup_(str_release) struct str text = STR_INIT;

		r = run_babeltrace(paths[i], &text, reterr);
		if (r == 0)
			ctf_read_text(c, text.data);
	}
	ctf_finish(c);
	if (r == 0)
		r = spans_to_trace(&s, ret, reterr);
	spans_release(&s);
	return r;
}

const struct import_format import_ctf = {
	.name = "ctf", .help = "a directory of the Common Trace Format, through babeltrace2", .read = read_ctf,
	.options = import_span_options, .has_options = import_span_options_given,
	.example = "vprof import --from ctf --interval NAME lttng-traces/session",
};
