/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notices.c - formats a notice, and passes it to the handler.
 */
#include <stdarg.h>

#include "base/banned.h"
#include "project/notices.h"

static notice_fn *tell;

void notices_set_handler(notice_fn *handler)
{
	tell = handler;
}

static void tell_formatted(enum notice kind, const char *remedy, const char *fmt, va_list ap)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	if (!tell)
		return;
	str_vaddf(&text, fmt, ap);
	tell(kind, str_cstr(&text), remedy);
}

int fail_now(enum exit_status status, const char *remedy, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tell_formatted(NOTICE_ERROR, remedy, fmt, ap);
	va_end(ap);
	return status;
}

void warn_line(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tell_formatted(NOTICE_WARNING, NULL, fmt, ap);
	va_end(ap);
}

void note_line(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tell_formatted(NOTICE_NOTE, NULL, fmt, ap);
	va_end(ap);
}

void progress_line(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tell_formatted(NOTICE_PROGRESS, NULL, fmt, ap);
	va_end(ap);
}

void progress_done(void)
{
	if (tell)
		tell(NOTICE_PROGRESS_DONE, "", NULL);
}

void tell_verbatim(const char *text)
{
	if (tell)
		tell(NOTICE_VERBATIM, text, NULL);
}
