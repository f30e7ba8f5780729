/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probe_form.c - see probe_form.h. */
#include <string.h>
#include "base/banned.h"
#include "base/map.h"
#include "instrumenter/insert/probe_form.h"

#define FORM_VERSION 4		/* raise this when the text that instrument.c emits around the probes changes */

static const char declarations[] =
#include "instrumenter/insert/probe.inc"
;

static const char inline_text[] =
#if defined(__x86_64__)
#include "instrumenter/insert/probe_x86_64.inc"
#else
#include "instrumenter/insert/probe_generic.inc"
#endif
;

#if defined(__x86_64__)
static const char clang_text[] =
#include "instrumenter/insert/probe_clang_x86_64.inc"
;

static const char called_text[] =
#include "instrumenter/insert/probe_called_x86_64.inc"
;

static const char aside_text[] =
#include "instrumenter/insert/probe_aside_x86_64.inc"
;
#else
static const char clang_text[] = "", called_text[] = "", aside_text[] = "";
#endif

static const char constant_text[] =
#include "instrumenter/insert/probe_constant.inc"
;

static const char sites_text[] =
#include "instrumenter/insert/probe_sites.inc"
;

static const char tail_text[] =
#include "instrumenter/insert/probe_tail.inc"
;

/* clang's preprocessor writes a blank where gcc's writes a hyphen. */
bool probe_form_is_clang(const char *text, size_t len)
{
	static const char marker[] = "\"<command line>\"";
	enum { FAR_ENOUGH = 16384 };

	return memmem(text, len < FAR_ENOUGH ? len : FAR_ENOUGH, marker, strlen(marker)) != NULL;
}

struct probe_form probe_form_of(const char *text, size_t len, const char *const *argv)
{
	bool is_clang = *clang_text && probe_form_is_clang(text, len), unoptimized = true, lto = false, intel = false;

	for (size_t i = 0; argv && argv[i]; i++) {
		if (starts_with(argv[i], "-O"))
			unoptimized = strcmp(argv[i], "-O0") == 0;
		else if (starts_with(argv[i], "-flto"))
			lto = true;	/* LTO may move a function away from labels that asm statements of its unit
					 * define */
		else if (strcmp(argv[i], "-masm=intel") == 0)
			intel = true;	/* newer clangs take it for asm statements outside of functions, too */
	}
	return (struct probe_form){
		.is_clang = is_clang,
		.is_called = *called_text && unoptimized && !lto && !intel,
	};
}

bool probe_form_has_aside(const struct probe_form *form)
{
	return *aside_text && !form->is_called;
}

void probe_form_span(const struct probe_form *form, enum probe_kind kind, size_t site, bool is_told, struct str *ret)
{
	static const char *const out[] = { "", "_void", "_tail", "_constant", "_aside" };
	static const char *const in[] = { "", "", "", "_constant", "_aside" };
	bool called = form->is_called && (kind == PROBE_PLAIN || kind == PROBE_VOID || kind == PROBE_TAIL);

	str_addf(ret, " struct vprof_span vprof_span_ __attribute__((cleanup(vprof_out%s), unused)) = vprof_in%s(%s&vprof_function_%zu%s%s);",
		 called ? "_called" : out[kind], called ? "_called" : in[kind], is_told ? "vprof_called(" : "", site,
		 is_told ? ")" : "", called ? ", __builtin_frame_address(0)" : "");
}

void probe_form_add_texts(const struct probe_form *form, bool constant, bool tail, bool aside, bool sites, struct str *ret)
{
	str_add(ret, declarations);
	str_add(ret, form->is_called ? called_text : form->is_clang ? clang_text : inline_text);
	if (aside)
		str_add(ret, aside_text);
	if (tail && !form->is_called)
		str_add(ret, tail_text);
	if (constant)
		str_add(ret, constant_text);
	if (sites)
		str_add(ret, sites_text);
}

uint64_t probe_form_version(void)
{
	const char *const texts[] = { declarations, inline_text, clang_text, called_text, aside_text, constant_text, tail_text, sites_text };
	uint64_t h = 0;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		h = hash_str(h, texts[i]);
	return hash_u64(h, FORM_VERSION);
}
