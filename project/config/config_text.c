/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * config_text.c - vprof.conf as text.
 *
 * Example: putting "request" (start a, end b) into
 *	# mine
 *	[interval "request"]
 *	    start = old
 *	[run]
 * gives
 *	# mine
 *	[interval "request"]
 *	    start = a
 *	    end   = b
 *	[run]
 */
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "project/config/config_text.h"

const char config_template[] =
	"# vprof.conf - what vprof measures.  man vprof.conf explains every key.\n"
	"\n"
	"# One unit of work as your users see it.  A place is a FUNCTION (its entry for start, its\n"
	"# return for end), FUNCTION@entry, FUNCTION@return, FILE:FUNCTION, FILE:LINE or mark:NAME.\n"
	"#\n"
	"# [interval \"request\"]\n"
	"#     start  = enqueue_request@entry\n"
	"#     end    = send_reply@return\n"
	"#     resume = handle_request@entry     ; another thread starts to work on it (may repeat)\n"
	"#     key    = arg0->id                 ; what tells two of them apart; default: the thread\n"
	"#     trace  = arg0->traceparent        ; W3C's, of requests that cross hosts (vprof stitch)\n"
	"\n"
	"# pthread, semaphore and sleep functions are known.  Your own locks and queues:\n"
	"#\n"
	"# [sync]\n"
	"#     acquire = my_lock(arg0)\n"
	"#     release = my_unlock(arg0)\n"
	"#     enqueue = queue_push(queue=arg0, task=arg1)\n"
	"#     dequeue = queue_pop(queue=arg0, task=ret)\n"
	"\n"
	"# [build]\n"
	"#     command = make -j2\n"
	"\n"
	"# A command that puts load on the program, and ends.\n"
	"# [run]\n"
	"#     command = ./bench.sh\n";

/* One line; the value is quoted if it would be read differently: strcmp(arg0, "a;b"). */
static void add_setting(struct str *s, const char *name, const char *value)
{
	bool quoted = strpbrk(value, "#;\"'") != NULL;

	str_addf(s, "    %-6s = %s", name, quoted ? "\"" : "");
	for (; *value; value++) {
		if (quoted && (*value == '"' || *value == '\\'))
			str_addc(s, '\\');
		str_addc(s, *value);
	}
	str_add(s, quoted ? "\"\n" : "\n");
}

char *config_interval_text(const struct interval_directive *d)
{
	struct str s = STR_INIT;
	_cleanup_(freep) char *start = location_text(&d->start), *end = location_text(&d->end);

	str_addf(&s, "[interval \"%s\"]\n", d->name);
	add_setting(&s, "start", start);
	add_setting(&s, "end", end);
	for (size_t i = 0; i < d->resumes.cnt; i++) {
		_cleanup_(freep) char *resume = location_text(&d->resumes.items[i]);

		add_setting(&s, "resume", resume);
	}
	if (d->key)
		add_setting(&s, "key", d->key);
	if (d->trace)
		add_setting(&s, "trace", d->trace);
	if (d->span)
		add_setting(&s, "span", d->span);
	if (d->parent)
		add_setting(&s, "parent", d->parent);
	if (d->inner)
		add_setting(&s, "nested", "inner");
	return str_take(&s);
}

/* Does the line at s open [interval "name"]? */
static bool opens_interval(const char *s, const char *name)
{
	s += starts_with(s, "\xef\xbb\xbf") ? 3 : 0;	/* what some editors begin a file with */
	s += strspn(s, " \t");
	if (*s++ != '[')
		return false;
	s += strspn(s, " \t");
	if (!starts_with(s, "interval"))
		return false;
	s += strlen("interval");
	s += strspn(s, " \t");
	size_t len = strlen(name);

	return *s == '"' && strncmp(s + 1, name, len) == 0 && s[1 + len] == '"';
}

static const char *next_line(const char *s)
{
	s += strcspn(s, "\n");
	return *s ? s + 1 : s;
}

static bool is_setting(const char *line)
{
	line += strspn(line, " \t\r");
	return *line && *line != '\n' && *line != '#' && *line != ';';
}

/* Appends the text after the section that opens at line, without its settings; a second section of the same interval
 * further on is dropped.  Comments that no blank line separates go with it. */
static void add_rest(struct str *s, const char *line, const char *name)
{
	bool own = true, dropping = true;

	for (line = next_line(line); *line; line = next_line(line)) {
		bool opens = line[strspn(line, " \t")] == '[';

		if (opens) {
			own = dropping = opens_interval(line, name);
			if (own)
				continue;
		}
		dropping = dropping && *line != '#' && *line != '\n';
		if (!dropping && !(own && is_setting(line)))
			str_addn(s, line, (size_t)(next_line(line) - line));
	}
}

char *config_put_interval(const char *text, const struct interval_directive *d)
{
	_cleanup_(freep) char *section = config_interval_text(d);
	struct str s = STR_INIT;
	const char *line = text;

	while (*line && !opens_interval(line, d->name))
		line = next_line(line);
	str_addn(&s, text, (size_t)(line - text));
	if (!*line && s.len)
		str_add(&s, s.data[s.len - 1] == '\n' ? "\n" : "\n\n");
	str_add(&s, section);
	if (*line)
		add_rest(&s, line, d->name);
	return str_take(&s);
}
