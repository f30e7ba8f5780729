/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * common.c - what every subcommand says and where it finds the project.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/ours.h"
#include "base/utf8.h"
#include "cmd/common.h"
#include "cmd/paths.h"

static bool progress_shown, progress_off;

/* With names and texts that somebody else wrote: no control characters of theirs reach the terminal, nor a line of theirs. */
static void print_clean(const char *before, const char *text, bool has_lines)
{
	_cleanup_(str_release) struct str clean = STR_INIT;

	(has_lines ? utf8_add_clean : utf8_add_line)(&clean, text);
	fprintf(stderr, "%s%s\n", before, str_cstr(&clean));
}

static void say(const char *kind, const char *fmt, va_list ap)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	progress_done();
	str_add(&text, kind);
	str_vaddf(&text, fmt, ap);
	print_clean("vprof: ", str_cstr(&text), false);
}

int fail(const struct diag *d)
{
	progress_done();
	print_clean("vprof: error: ", d->text[0] ? d->text : "something failed without saying why", d->has_lines);
	if (d->remedy[0])
		print_clean("  → ", d->remedy, false);
	return d->status;
}

int fail_now(enum exit_status status, const char *remedy, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("error: ", fmt, ap);
	va_end(ap);
	if (remedy)
		print_clean("  → ", remedy, false);
	return status;
}

void die_out_of_memory(size_t wanted_bytes)
{
	fprintf(stderr, "vprof: error: out of memory (%zu more bytes were needed)\n", wanted_bytes);
	_exit(EXIT_ENVIRONMENT);
}

void warn_line(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("warning: ", fmt, ap);
	va_end(ap);
}

void note_line(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("", fmt, ap);
	va_end(ap);
}

void progress_line(const char *fmt, ...)
{
	_cleanup_(str_release) struct str text = STR_INIT, clean = STR_INIT;
	va_list ap;

	if (progress_off || !isatty(STDERR_FILENO))
		return;
	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	utf8_add_line(&clean, str_cstr(&text));
	fprintf(stderr, "\r\033[Kvprof: %s", str_cstr(&clean));
	fflush(stderr);
	progress_shown = true;
}

void progress_quiet(bool quiet)
{
	progress_off = quiet;
}

void progress_done(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

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
 * Without links, unless another user could have put one of them there, who would choose where we write: then as it was given, and
 * what opens it refuses or only looks (base/ours.h).
 */
static char *real_if_ours(const char *path)
{
	_cleanup_(freep) char *here = path_real("."), *why = NULL;
	int fd = ours_open(path, false, &why);

	if (fd >= 0)
		close(fd);
	return why ? path_join(here, path) : path_real(path);
}

static bool config_given;		/* by the user, who trusts it */

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

/* 0: whoever could have put it there may have commands run as us. */
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
	return diag_remedy(reterr, -EPERM, "export VPROF_CONF='%s' if what it says may run as you", path);
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

int check_way(const char *path, struct diag *reterr)
{
	_cleanup_(freep) char *dir = path_dir(path), *why = NULL;
	int fd = ours_open(dir, false, &why);

	if (fd >= 0)
		close(fd);
	if (!why)
		return 0;
	diag_set(reterr, EXIT_ENVIRONMENT, -EPERM, "root does not write '%s': %s", path, why);
	return diag_remedy(reterr, -EPERM, "run vprof as the user whose directory it is, or write elsewhere");
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

/* ld.so complains of a file that is not there, and splits the list at blanks and colons. */
bool preload(const char *library)
{
	_cleanup_(freep) char *path = path_join(runtime_dir(), library);

	if (strpbrk(path, " \t\n:$") || access(path, R_OK) < 0)
		return false;
	environment_append("LD_PRELOAD", path);
	environment_append("ASAN_OPTIONS", "verify_asan_link_order=0");
	return true;
}

int finish_output(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno == EPIPE)
		return status;
	return fail_now(EXIT_ENVIRONMENT, NULL, "cannot write the result: %s", strerror(errno));
}
