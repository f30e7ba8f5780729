/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * output_file.c - a file that the user names with -o.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/file.h"
#include "cmd/messages.h"
#include "cmd/output_file.h"
#include "project/config/locate.h"

static int fail_with(const struct output *o, int err, struct diag *reterr)
{
	return diag_set(reterr, EXIT_ENVIRONMENT, err, "cannot write '%s': %s", o->path, strerror(-err));
}

/* A pipe, or /dev/stdout: it cannot be replaced by a new file. */
static bool is_in_place(const char *path)
{
	struct stat st;

	return geteuid() != 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode));
}

static int open_beside(struct output *o, struct diag *reterr)
{
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	o->temporary = xasprintf("%s.tmp-XXXXXX", o->path);
	fd = mkostemp(o->temporary, O_CLOEXEC);
	if (fd < 0) {
		int r = fail_with(o, -errno, reterr);

		free(o->temporary);
		o->temporary = NULL;
		return r;
	}
	fchmod(fd, 0666 & ~mask);
	o->file = fdopen(fd, "w");
	return 0;
}

int output_open(struct output *o, struct diag *reterr)
{
	int r;

	if (!o->path) {
		o->file = stdout;
		return 0;
	}
	r = check_way(o->path, reterr);
	if (r < 0)
		return r;
	if (!is_in_place(o->path))
		return open_beside(o, reterr);
	o->file = fopen(o->path, "we");
	return o->file ? 0 : fail_with(o, -errno, reterr);
}

int output_finish(struct output *o, struct diag *reterr)
{
	bool bad = fflush(o->file) != 0 || ferror(o->file);

	if (!o->path)
		return 0;		/* finish_output() reports it */
	if (bad || (o->temporary && rename(o->temporary, o->path) < 0))
		return fail_with(o, errno ? -errno : -EIO, reterr);
	free(o->temporary);
	o->temporary = NULL;
	return 0;
}

void output_release(struct output *o)
{
	if (o->temporary)
		unlink(o->temporary);
	if (o->path && o->file)
		fclose(o->file);
	free(o->temporary);
}
