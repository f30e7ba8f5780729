/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notices.h - messages of project/ while it works.  It prints nothing: a handler in cmd/ does.
 */
#ifndef PROJECT_NOTICES_H
#define PROJECT_NOTICES_H

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "base/str.h"

enum notice {
	NOTICE_ERROR,
	NOTICE_WARNING,
	NOTICE_NOTE,
	NOTICE_PROGRESS,	/* the next one replaces it */
	NOTICE_PROGRESS_DONE,	/* the last one remains; has no text */
	NOTICE_VERBATIM,	/* printed unchanged: the output of a build */
};

/* remedy: of an error, or NULL.  Without a handler, notices are dropped. */
typedef void notice_fn(enum notice kind, const char *text, const char *remedy);
void notices_set_handler(notice_fn *handler);

/* Passes an error on, and returns the status.  remedy may be NULL. */
int fail_now(enum exit_status status, const char *remedy, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

void warn_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void note_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void progress_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void progress_done(void);
void tell_verbatim(const char *text);

#endif
