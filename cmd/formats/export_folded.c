/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_folded.c - `vprof export --format folded`: stacks for flame graphs, "request;handle;[lock wait] 619000".
 *
 * Values are positive integers; a warning counts the stacks whose value is below 0, as the format has no comments.  ';' separates
 * frames, so in a name it becomes ':'.
 */
#include <math.h>

#include "base/banned.h"
#include "base/str.h"
#include "base/text/utf8.h"
#include "cmd/formats/export_format.h"
#include "cmd/formats/pieces/stacks.h"
#include "cmd/messages.h"

static void put_frame(FILE *out, const char *name)
{
	_cleanup_(str_release) struct str clean = STR_INIT;

	utf8_add_line(&clean, name);
	for (const char *c = str_cstr(&clean); *c; c++)
		fputc(*c == ';' ? ':' : *c, out);
}

static int write_folded(FILE *out, const struct export_input *in)
{
	_cleanup_(tree_stacks_release) tree_stacks list = { NULL, 0, 0 };
	size_t below = 0;

	tree_stacks_read(in->findings, &list);
	for (size_t i = 0; i < list.cnt; i++) {
		const struct stack *s = &list.items[i];
		long long value = llround(s->value[in->metric]);

		below += value < 0;
		if (value <= 0)
			continue;
		for (size_t k = 0; k < s->frames.cnt; k++) {
			if (k)
				fputc(';', out);
			put_frame(out, s->frames.items[k].name);
		}
		fprintf(out, " %lld\n", value);
	}
	if (below)
		warn_line("stacks below 0, which offset others and are left out: %zu; the rest is more than the whole", below);
	return 0;
}

static const struct export_writer writer = { .write = write_folded };

const struct export_format export_folded = {
	.name = "folded", .writer = &writer, .takes_interval = true,
	.options = export_metric_options, .has_options = export_metric_given,
};
