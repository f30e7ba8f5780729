/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * launcher_say.c - the launcher's messages, a line each.
 */
#include <stdarg.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "base/text/utf8.h"
#include "instrumenter/launcher/launcher.h"

void launcher_say(const char *fmt, ...)
{
	_cleanup_(str_release) struct str text = STR_INIT, line = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	utf8_add_line(&line, str_cstr(&text));
	str_addc(&line, '\n');
	(void)!write(STDERR_FILENO, line.data, line.len);
}
