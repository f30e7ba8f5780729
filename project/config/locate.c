/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locate.c - finds the project, and sets the environment of the programs that it runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/ours.h"
#include "project/config/locate.h"
#include "project/config/paths.h"

/* The path of name in the nearest directory upward that has it, or NULL. */
static char *find_upward(const char *name)
{
	_cleanup_(freep) char *dir = path_real(".");

	for (;;) {
		char *path = path_join(dir, name);

		if (file_exists(path))
			return path;
		free(path);
		if (strcmp(dir, "/") == 0)
			return NULL;

		char *parent = path_dir(dir);

		free(dir);
		dir = parent;
	}
}

/*
 * Resolves links, unless another user could have made one of them and so choose where we write: then the path is used
 * as given, and opening it fails or only reads (base/ours.h).
 */
static char *real_if_ours(const char *path)
{
	_cleanup_(freep) char *here = path_real("."), *why = NULL;
	int fd = ours_open(path, false, &why);

	if (fd >= 0)
		close(fd);
	return why ? path_join(here, path) : path_real(path);
}

static bool config_given;		/* given by the user, who trusts it */

const char *config_path(void)
{
	static char *path;
	static bool known;
	const char *given = getenv("VPROF_CONF");

	if (!known) {
		config_given = given && *given;
		path = config_given ? real_if_ours(given) : find_upward("vprof.conf");
		known = true;
	}
	return path;
}

/* 0, unless another user could have put it there and so run commands as us. */
static int check_owner(const char *path, int fd, struct diag *reterr)
{
	_cleanup_(freep) char *here = path_real("."), *dir = path_dir(path), *why = NULL;
	struct stat st;
	int way;

	if (strcmp(here, dir) == 0)
		return 0;
	if (fstat(fd, &st) < 0)
		return diag_set(reterr, EXIT_USAGE, -errno, "cannot read '%s': %s", path, strerror(errno));
	if (!(st.st_uid == 0 || user_is_us(st.st_uid)))
		why = xstrdup("belongs to another user");
	else if (st.st_mode & S_IWOTH)
		why = xstrdup("may be written by every user");
	if (!why) {
		way = ours_open(dir, false, &why);
		if (way >= 0)
			close(way);
	}
	if (!why)
		return 0;
	diag_set(reterr, EXIT_ENVIRONMENT, -EPERM, "'%s', found above this directory, %s%s", path,
		 strchr(why, '\'') ? "is not safe: " : "", why);
	return diag_remedy(reterr, -EPERM, "export VPROF_CONF='%s' if its commands may run as you", path);
}

int config_open(struct diag *reterr)
{
	const char *path = config_path();
	int fd, r;

	if (!path)
		return -ENOENT;
	fd = config_given ? open(path, O_RDONLY | O_CLOEXEC) : file_open_plain(path, O_RDONLY);
	r = fd >= 0 ? 0 : config_given ? -errno : fd;
	if (r < 0)
		return diag_set(reterr, EXIT_USAGE, r, "cannot read '%s': %s", path, file_why(r));
	if (!config_given)
		r = check_owner(path, fd, reterr);
	if (r < 0)
		close(fd);
	return r < 0 ? r : fd;
}

int config_check(struct diag *reterr)
{
	const char *given = getenv("VPROF_CONF");
	struct stat st;
	int r = 0;

	if (!given || !*given)
		return 0;
	if (stat(given, &st) < 0)
		r = -errno;
	else if (S_ISDIR(st.st_mode))
		r = -EISDIR;
	if (r == 0)
		return 0;
	diag_set(reterr, EXIT_USAGE, r, "cannot read '%s', which VPROF_CONF names: %s", given, strerror(-r));
	return diag_remedy(reterr, r, "unset VPROF_CONF; vprof looks for vprof.conf from the current directory upward");
}

int check_way(const char *path, struct diag *reterr)
{
	_cleanup_(freep) char *dir = path_dir(path), *why = NULL;
	int fd = ours_open(dir, false, &why);

	if (fd >= 0)
		close(fd);
	if (!why)
		return 0;
	diag_set(reterr, EXIT_ENVIRONMENT, -EPERM, "root does not write '%s': %s", path, why);
	return diag_remedy(reterr, -EPERM, "run vprof as the owner of the directory, or write elsewhere");
}

static char *given_data_dir;

void set_data_dir(const char *dir)
{
	free(given_data_dir);
	given_data_dir = dir ? real_if_ours(dir) : NULL;
}

const char *data_dir(void)
{
	static char *found;
	const char *from_environment = getenv("VPROF_DIR");

	if (given_data_dir)
		return given_data_dir;
	if (found)
		return found;
	if (from_environment && *from_environment) {
		found = real_if_ours(from_environment);
	} else if (config_path()) {
		_cleanup_(freep) char *dir = path_dir(config_path());

		found = path_join(dir, "vprof.data");
	} else {
		found = find_upward("vprof.data");
		if (!found)
			found = path_real("vprof.data");
	}
	return found;
}

void environment_append(const char *name, const char *word)
{
	const char *old = getenv(name);
	_cleanup_(freep) char *list = xasprintf("%s%s%s", old ? old : "", old && *old ? ":" : "", word);

	setenv(name, list, 1);
}

/* ld.so complains about a missing file, and splits the list at blanks and colons. */
bool preload(const char *library)
{
	_cleanup_(freep) char *path = path_join(runtime_dir(), library);

	if (strpbrk(path, " \t\n:$") || access(path, R_OK) < 0)
		return false;
	environment_append("LD_PRELOAD", path);
	environment_append("ASAN_OPTIONS", "verify_asan_link_order=0");
	return true;
}
