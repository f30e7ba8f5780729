/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * paths.c - where the files that belong to this vprof are.
 *
 * The program asks where it runs from: BUILD_DIR/vprof takes the runtime of the same build and
 * the tables of the sources it was built from.
 */
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "cmd/paths.h"

/* From the build: ABS_BUILD_DIR, ABS_SOURCE_DIR, PKGLIB_DIR, INCLUDE_DIR, PKGDATA_DIR. */
static int uninstalled(void)
{
	static int known = -1;

	if (known < 0) {
		_cleanup_(freep) char *self = path_self(), *dir = path_dir(self);
		_cleanup_(freep) char *build = path_real(ABS_BUILD_DIR);

		known = strcmp(dir, build) == 0;
	}
	return known;
}

const char *runtime_dir(void)
{
	return uninstalled() ? ABS_BUILD_DIR : PKGLIB_DIR;
}

const char *include_dir(void)
{
	return uninstalled() ? ABS_SOURCE_DIR "/annotations" : INCLUDE_DIR;
}

const char *data_files_dir(void)
{
	return uninstalled() ? ABS_SOURCE_DIR : PKGDATA_DIR;
}

char *preset_path(const char *name)
{
	_cleanup_(freep) char *examples = path_join(data_files_dir(), "examples");
	_cleanup_(freep) char *dir = path_join(examples, name);

	return path_join(dir, "vprof.conf");
}
