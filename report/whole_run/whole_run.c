/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * whole_run.c - labels and lists of the views of a whole run.
 */
#include <inttypes.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/text/utf8.h"
#include "report/whole_run/whole_run.h"

json_t *json_whole(const char *name, const struct view_input *in)
{
	json_t *o = json_document(name), *warnings = json_array();
	const struct losses *l = &in->trace->losses;

	if (l->records) {
		_cleanup_(freep) char *text = xasprintf("%" PRIu64 " records were lost: times are "
			"too short, and wake-ups are missing", l->records);
		json_t *w = json_object();

		json_set(w, "code", json_text("losses"));
		json_set(w, "text", json_text(text));
		json_add(warnings, w);
	}
	json_set(o, "run", json_integer(in->run->number));
	json_set(o, "warnings", warnings);
	return o;
}

json_t *json_frames(const char *const *frames, size_t cnt)
{
	json_t *list = json_array();

	for (size_t i = 0; i < cnt; i++)
		json_add(list, json_text(frames[i]));
	return list;
}

json_t *json_line(uint32_t line)
{
	return line ? json_integer(line) : json_null();
}

void add_frame_names(struct str *to, const struct style *s, const char *const *frames, size_t cnt,
		     size_t most)
{
	if (cnt == 0)
		str_add(to, NO_FUNCTION);
	if (cnt > most)
		str_addf(to, "%s%s", glyphs_of(s)->ellipsis, glyphs_of(s)->then);
	for (size_t i = cnt > most ? cnt - most : 0; i < cnt; i++)
		str_addf(to, "%s%s", frames[i], i + 1 < cnt ? glyphs_of(s)->then : "");
}

void add_thread_label(struct str *to, const char *name, uint64_t tid)
{
	if (name)
		str_addf(to, "%s (%" PRIu64 ")", name, tid);
	else
		str_addf(to, "thread %" PRIu64, tid);
}

void add_source_place(struct str *to, const char *file, uint32_t line)
{
	if (file && line)
		str_addf(to, "%s:%" PRIu32, path_base(file), line);
	else if (file)
		str_add(to, path_base(file));
}

void add_folded(struct str *to, const char *const *frames, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		_cleanup_(str_release) struct str clean = STR_INIT;

		utf8_add_line(&clean, frames[i]);
		for (char *c = clean.data; c && *c; c++)
			if (*c == ';')
				*c = ':';
		str_addf(to, "%s%s", i ? ";" : "", str_cstr(&clean));
	}
}

size_t whole_rows_shown(const struct view_input *in, size_t cnt)
{
	return in->options.ranking.all || cnt <= WHOLE_ROWS_SHOWN ? cnt : WHOLE_ROWS_SHOWN;
}

void print_whole_rest(const struct style *s, size_t cnt, size_t shown, const char *what)
{
	if (cnt > shown)
		fprintf(s->out, "%s and %zu more %s%s (--all)\n", glyphs_of(s)->ellipsis, cnt - shown,
			what, plural(cnt - shown));
}

const char *text_part(char buf[TEXT_MAX], double part, double all)
{
	if (!(all > 0))
		return "";
	return text_percent_cell(buf, part / all);
}

void add_run_label(struct str *to, const struct run *run)
{
	str_addf(to, "run %u", run->number);
	if (run->name) {
		str_add(to, " (");
		utf8_add_line(to, run->name);
		str_addc(to, ')');
	}
}
