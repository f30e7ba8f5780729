/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * messages.c - prints the notices.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/text/utf8.h"
#include "cmd/messages.h"

static bool progress_shown, progress_off;

/* Prints names and texts from foreign files: without control characters or line breaks. */
static void print_clean(const char *before, const char *text, bool has_lines)
{
	_cleanup_(str_release) struct str clean = STR_INIT;

	(has_lines ? utf8_add_clean : utf8_add_line)(&clean, text);
	fprintf(stderr, "%s%s\n", before, str_cstr(&clean));
}

static void print_error(const char *text, bool has_lines, const char *remedy)
{
	print_clean("vprof: error: ", text, has_lines);
	if (remedy)
		print_clean("  → ", remedy, false);
}

static void clear_progress(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

static void print_progress(const char *text)
{
	_cleanup_(str_release) struct str clean = STR_INIT;

	if (progress_off || !isatty(STDERR_FILENO))
		return;
	utf8_add_line(&clean, text);
	/* The program that is recorded may write to the same terminal: over this line, not behind it. */
	fprintf(stderr, "\r\033[Kvprof: %s\r", str_cstr(&clean));
	fflush(stderr);
	progress_shown = true;
}

static void print_notice(enum notice kind, const char *text, const char *remedy)
{
	if (kind == NOTICE_PROGRESS) {
		print_progress(text);
		return;
	}
	if (kind != NOTICE_VERBATIM)
		clear_progress();
	if (kind == NOTICE_ERROR)
		print_error(text, false, remedy);
	else if (kind == NOTICE_WARNING)
		print_clean("vprof: warning: ", text, false);
	else if (kind == NOTICE_NOTE)
		print_clean("vprof: ", text, false);
	else if (kind == NOTICE_VERBATIM)
		fputs(text, stderr);
}

/* Closed again in the programs that this one starts: they find what they would find without it. */
static void take_closed_streams(void)
{
	static const int modes[] = { [STDIN_FILENO] = O_RDONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_WRONLY };

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[fd] | O_CLOEXEC) < 0)
			return;
}

void messages_start(void)
{
	take_closed_streams();
	notices_set_handler(print_notice);
}

int fail(const struct diag *d)
{
	clear_progress();
	print_error(d->text[0] ? d->text : "something failed without saying why", d->has_lines, d->remedy[0] ? d->remedy : NULL);
	return d->status;
}

void progress_quiet(bool quiet)
{
	progress_off = quiet;
}

void die_out_of_memory(size_t wanted_bytes)
{
	fprintf(stderr, "vprof: error: out of memory (%zu more bytes were needed)\n", wanted_bytes);
	_exit(EXIT_ENVIRONMENT);
}

int finish_output(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno == EPIPE)
		return status;
	return fail_now(EXIT_ENVIRONMENT, NULL, "cannot write the result: %s", strerror(errno));
}
