/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diag.c - an error on its way up.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/banned.h"
#include "base/diag.h"

int diag_set(struct diag *d, enum exit_status status, int err, const char *fmt, ...)
{
	if (d) {
		va_list ap;

		va_start(ap, fmt);
		vsnprintf(d->text, sizeof(d->text), fmt, ap);
		va_end(ap);
		d->remedy[0] = '\0';
		d->has_lines = false;
		d->status = status;
	}
	return err;
}

int diag_remedy(struct diag *d, int err, const char *fmt, ...)
{
	if (d) {
		va_list ap;

		va_start(ap, fmt);
		vsnprintf(d->remedy, sizeof(d->remedy), fmt, ap);
		va_end(ap);
	}
	return err;
}

int diag_lines(struct diag *d, int err, const char *lines)
{
	if (d) {
		size_t len = strlen(d->text);

		snprintf(d->text + len, sizeof(d->text) - len, "\n%s", lines);
		d->has_lines = true;
	}
	return err;
}
