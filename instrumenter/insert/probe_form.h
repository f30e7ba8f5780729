/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probe_form.h - the text of a probe, for the compiler and the options at hand.
 *
 *	struct probe_form form = probe_form_of(text, len, argv);
 *	struct str span = STR_INIT;
 *	probe_form_span(&form, PROBE_VOID, 7, &span);	" struct vprof_span vprof_span_ ... = vprof_in(&vprof_function_7);"
 *
 * The texts that declare the probes are the headers runtime/shared/probe_*.h, embedded in the program.
 */
#ifndef INSTRUMENTER_INSERT_PROBE_FORM_H
#define INSTRUMENTER_INSERT_PROBE_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/str.h"

/* All false: probe_x86_64.h, on other machines probe_generic.h. */
struct probe_form {
	bool is_clang;		/* probe_clang_x86_64.h */
	bool is_called;		/* probe_called_x86_64.h: without optimization */
};

/* The kind of a function's probe. */
enum probe_kind {
	PROBE_PLAIN,
	PROBE_VOID,		/* the function returns nothing */
	PROBE_TAIL,		/* it ends its span before a call in tail position: probe_tail.h */
	PROBE_CONSTANT,		/* the compiler may compute it: probe_constant.h */
	PROBE_ASIDE		/* its calls are mostly not recorded: probe_aside_x86_64.h */
};

/* Whether clang preprocessed the text, whatever name the compiler was called by. */
bool probe_form_is_clang(const char *text, size_t len);

/* argv: the user's command, NULL at its end. */
struct probe_form probe_form_of(const char *text, size_t len, const char *const *argv);

/* False: this form, or this machine, uses plain probes instead. */
bool probe_form_has_aside(const struct probe_form *form);

/* The declaration of a probe's span, for the unit's site number n; is_told: it takes the site of the place that it is called from
 * (probe_sites.h). */
void probe_form_span(const struct probe_form *form, enum probe_kind kind, size_t site, bool is_told, struct str *ret);

/* Adds the declarations for the top of a unit.  constant, tail, aside, sites: the unit has such probes. */
void probe_form_add_texts(const struct probe_form *form, bool constant, bool tail, bool aside, bool sites, struct str *ret);

/* A number that differs between two vprof programs whose probes differ. */
uint64_t probe_form_version(void);

#endif
