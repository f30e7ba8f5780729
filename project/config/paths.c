/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * paths.c - finds the files that belong to this vprof.
 *
 * It depends on where the program runs from: BUILD_DIR/vprof takes the runtime of the same build and the tables of
 * the sources it was built from.  An installed one may have been installed elsewhere than configured.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "project/config/paths.h"

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

/* "/home/u/inst" for "/home/u/inst/bin" if configured with /usr/local/bin; NULL: dir does not match. */
static char *moved_prefix(const char *dir, const char *configured, const char *prefix)
{
	const char *rest = configured + strlen(prefix);

	if (!starts_with(configured, prefix) || !ends_with(dir, rest))
		return NULL;
	return xstrndup(dir, strlen(dir) - strlen(rest));
}

/*
 * A directory of the installation.  `make install prefix=DIR` may install elsewhere than configured: then it is found
 * relative to the program, or to the launcher.  configured /usr/local/lib/vprof and /usr/local/bin, the program is
 * DIR/bin/vprof: DIR/lib/vprof.
 */
static const char *installed(const char *configured, char **cache)
{
	_cleanup_(freep) char *self = path_self(), *dir = path_dir(self), *prefix = path_dir(BIN_DIR), *ours = NULL;
	size_t len = strlen(prefix);

	if (*cache)
		return *cache;
	ours = moved_prefix(dir, BIN_DIR, prefix);
	if (!ours)
		ours = moved_prefix(dir, PKGLIB_DIR, prefix);
	if (ours && strcmp(ours, prefix) != 0 && starts_with(configured, prefix)) {
		_cleanup_(freep) char *moved = xasprintf("%s%s", ours, configured + len);

		if (file_exists(moved))
			return *cache = TAKE_PTR(moved);
	}
	return *cache = xstrdup(configured);
}

const char *runtime_dir(void)
{
	static char *dir;

	return uninstalled() ? ABS_BUILD_DIR : installed(PKGLIB_DIR, &dir);
}

const char *include_dir(void)
{
	static char *dir;

	return uninstalled() ? ABS_SOURCE_DIR "/annotations" : installed(INCLUDE_DIR, &dir);
}

const char *data_files_dir(void)
{
	static char *dir;

	return uninstalled() ? ABS_SOURCE_DIR : installed(PKGDATA_DIR, &dir);
}

char *preset_path(const char *name)
{
	_cleanup_(freep) char *examples = path_join(data_files_dir(), "examples");
	_cleanup_(freep) char *dir = path_join(examples, name);

	return path_join(dir, "vprof.conf");
}
