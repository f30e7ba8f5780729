/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * config.c - vprof.conf: inih splits it into (section, key, value), the table below knows the rest.
 *
 * inih takes an indented line for the continuation of the one before and cuts lines at 200
 * characters.  People indent keys and write long commands, so we hand it the lines ourselves:
 * leading blanks removed, and a long line in pieces, each but the first indented.
 *
 *	"    start = a@entry\n"      ->  "start = a@entry\n"
 *	"command = <300 letters>\n"  ->  "command = <letters 1-140>\n", " <letters 141-...>\n"
 */
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/str.h"
#include "project/config/config.h"
#include "project/config/config_comments.h"

#define PIECE_CHARS 140			/* of a line, well below inih's limit */
#define SECTION_CHARS 49		/* inih keeps no more of what is between [ and ] */

struct reader {
	struct config *config;
	const char *at;			/* the rest of the text */
	const char *path;
	unsigned line, joined;		/* joined: further lines that this one goes on in */
	bool in_line, continued;	/* of the piece handed out last: more follows; it is not the first */
	struct str value;		/* pieces of one value so far */
	char *section, *name;		/* what value belongs to; NULL: nothing pending */
	unsigned value_line, error_line;
	struct diag *reterr;
	VEC(unsigned) line_of_piece;	/* inih counts pieces, people count lines */
	int error;
};

static int mistake(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int mistake(struct reader *r, const char *fmt, ...)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	va_list ap;

	if (r->error)
		return r->error;
	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	r->error_line = r->value_line;
	r->error = diag_set(r->reterr, EXIT_USAGE, -EINVAL, "%s:%u: %s", r->path, r->value_line,
			    str_cstr(&text));
	return diag_remedy(r->reterr, r->error, "man vprof.conf");
}

/* A value that its own parser refused, with that parser's remedy. */
static int mistake_in(struct reader *r, const char *value, const struct diag *d)
{
	mistake(r, "%s = %s: %s", r->name, value, d->text);
	return d->remedy[0] ? diag_remedy(r->reterr, r->error, "%s", d->remedy) : r->error;
}

/* ---- keys: one row each ---- */

static int set_location(struct reader *r, struct location *target, const char *value)
{
	struct diag d = DIAG_INIT;

	if (target->place != PLACE_DEFAULT || target->function)
		return mistake(r, "%s is given twice", r->name);
	if (location_parse(value, target, &d) < 0)
		return mistake_in(r, value, &d);
	return 0;
}

static int set_start(struct reader *r, struct interval_directive *i, const char *value)
{
	return set_location(r, &i->start, value);
}

static int set_end(struct reader *r, struct interval_directive *i, const char *value)
{
	return set_location(r, &i->end, value);
}

static int set_resume(struct reader *r, struct interval_directive *i, const char *value)
{
	return set_location(r, VEC_EXTEND(&i->resumes), value);
}

static int set_key(struct reader *r, struct interval_directive *i, const char *value)
{
	(void)r;
	free(i->key);
	i->key = xstrdup(value);
	return 0;
}

static int set_trace(struct reader *r, struct interval_directive *i, const char *value)
{
	(void)r;
	free(i->trace);
	i->trace = xstrdup(value);
	return 0;
}

static int set_span(struct reader *r, struct interval_directive *i, const char *value)
{
	(void)r;
	free(i->span);
	i->span = xstrdup(value);
	return 0;
}

static int set_parent(struct reader *r, struct interval_directive *i, const char *value)
{
	(void)r;
	free(i->parent);
	i->parent = xstrdup(value);
	return 0;
}

static int set_nested(struct reader *r, struct interval_directive *i, const char *value)
{
	i->inner = strcmp(value, "inner") == 0;
	if (!i->inner && strcmp(value, "outer") != 0)
		return mistake(r, "nested wants outer or inner, not '%s'", value);
	return 0;
}

static int add_primitive(struct reader *r, enum primitive_role role, const char *value)
{
	struct primitive p = { 0 };
	struct diag d = DIAG_INIT;

	if (primitive_parse(role, value, &p, &d) < 0)
		return mistake_in(r, value, &d);
	VEC_ADD(&r->config->sync, p);
	return 0;
}

static int set_acquire(struct reader *r, struct interval_directive *i, const char *value)
{
	(void)i;
	return add_primitive(r, ROLE_ACQUIRE, value);
}

static int set_release(struct reader *r, struct interval_directive *i, const char *value)
{
	(void)i;
	return add_primitive(r, ROLE_RELEASE, value);
}

static int set_enqueue(struct reader *r, struct interval_directive *i, const char *value)
{
	(void)i;
	return add_primitive(r, ROLE_ENQUEUE, value);
}

static int set_dequeue(struct reader *r, struct interval_directive *i, const char *value)
{
	(void)i;
	return add_primitive(r, ROLE_DEQUEUE, value);
}

static int set_build_command(struct reader *r, struct interval_directive *i, const char *value)
{
	(void)i;
	free(r->config->build_command);
	r->config->build_command = xstrdup(value);
	return 0;
}

static int set_run_command(struct reader *r, struct interval_directive *i, const char *value)
{
	(void)i;
	free(r->config->run_command);
	r->config->run_command = xstrdup(value);
	return 0;
}

/* As in git's files, an empty value drops the values before it, also the built-in ones. */
static int set_leave_out(struct reader *r, struct interval_directive *i, const char *value)
{
	struct config *c = r->config;

	(void)i;
	if (*value) {
		VEC_ADD(&c->leave_out, xstrdup(value));
		return 0;
	}
	while (c->leave_out.cnt > 0)
		free(c->leave_out.items[--c->leave_out.cnt]);
	c->leave_out_no_return = false;
	return 0;
}

static int set_count(struct reader *r, unsigned *target, const char *value)
{
	char *end;
	unsigned long number = strtoul(value, &end, 10);

	if (end == value || *end || number < 1 || number > 1000000)
		return mistake(r, "%s wants a whole number from 1, not '%s'", r->name, value);
	*target = (unsigned)number;
	return 0;
}

static int set_fraction(struct reader *r, double *target, const char *value)
{
	char *end;
	double number = strtod(value, &end);

	if (end == value || *end || !(number >= 0 && number <= 1))
		return mistake(r, "%s wants a fraction from 0 to 1, not '%s'", r->name, value);
	*target = number;
	return 0;
}

static int set_k(struct reader *r, struct interval_directive *i, const char *value)
{
	(void)i;
	return set_count(r, &r->config->k, value);
}

static int set_max_runs(struct reader *r, struct interval_directive *i, const char *value)
{
	(void)i;
	return set_count(r, &r->config->max_runs, value);
}

static int set_threshold(struct reader *r, struct interval_directive *i, const char *value)
{
	(void)i;
	r->config->threshold_given = true;
	return set_fraction(r, &r->config->threshold, value);
}

static int set_overhead(struct reader *r, struct interval_directive *i, const char *value)
{
	(void)i;
	return set_fraction(r, &r->config->overhead, value);
}

/* "" or "=0.1" */
static bool sample_parse_auto(const char *text, struct sample *ret)
{
	double budget = 0;
	char *end;

	if (*text) {
		budget = strtod(text + 1, &end);
		if (end == text + 1 || *end || !(budget > 0 && budget <= 1))
			return false;
	}
	*ret = (struct sample){ 15, 16, true, budget };
	return true;
}

bool sample_parse(const char *text, struct sample *ret)
{
	unsigned long full = 1, of;
	char *end;

	if (!strncmp(text, "auto", 4) && (!text[4] || text[4] == '='))
		return sample_parse_auto(text + 4, ret);
	if (*text < '0' || *text > '9')
		return false;
	of = strtoul(text, &end, 10);
	if (*end == '/' && end[1] >= '0' && end[1] <= '9') {
		full = of;
		of = strtoul(end + 1, &end, 10);
	}
	if (*end || full < 1 || full > of || of > 1000000000)
		return false;
	*ret = (struct sample){ (unsigned)full, (unsigned)of, false, 0 };
	return true;
}

bool sample_is_rare(const struct sample *s)
{
	return s->automatic || (s->full < s->of && s->full <= s->of / 8);
}

static int set_sample(struct reader *r, struct interval_directive *i, const char *value)
{
	(void)i;
	if (!sample_parse(value, &r->config->sample))
		return mistake(r, "sample wants a part of the intervals like 1/10, auto, or auto=0.1, not '%s'", value);
	return 0;
}

static const struct {
	const char *section, *name;
	int (*set)(struct reader *r, struct interval_directive *i, const char *value);
} keys[] = {
	{ "interval", "start", set_start },
	{ "interval", "end", set_end },
	{ "interval", "resume", set_resume },
	{ "interval", "key", set_key },
	{ "interval", "trace", set_trace },
	{ "interval", "span", set_span },
	{ "interval", "parent", set_parent },
	{ "interval", "nested", set_nested },
	{ "sync", "acquire", set_acquire },
	{ "sync", "release", set_release },
	{ "sync", "enqueue", set_enqueue },
	{ "sync", "dequeue", set_dequeue },
	{ "build", "command", set_build_command },
	{ "run", "command", set_run_command },
	{ "callgraph", "leave-out", set_leave_out },
	{ "record", "sample", set_sample },
	{ "iterate", "k", set_k },
	{ "iterate", "threshold", set_threshold },
	{ "iterate", "overhead", set_overhead },
	{ "iterate", "max-runs", set_max_runs },
};

static int unknown(struct reader *r, const char *what, const char *word, const char *section)
{
	_cleanup_(str_release) struct str list = STR_INIT;
	const char *names[ARRAY_SIZE(keys)], *nearest;
	size_t cnt = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *name = section ? keys[i].name : keys[i].section;

		if ((section && strcmp(keys[i].section, section) != 0) || (cnt && strcmp(names[cnt - 1], name) == 0))
			continue;
		str_addf(&list, "%s%s", cnt ? ", " : "", name);
		names[cnt++] = name;
	}
	nearest = nearest_word(word, names, cnt);
	if (nearest)
		return mistake(r, "unknown %s '%s'; did you mean '%s'?", what, word, nearest);
	mistake(r, "unknown %s '%s'", what, word);
	return diag_remedy(r->reterr, r->error, "%s%s%s has %s: %s; man vprof.conf", section ? "[" : "", section ? section : "vprof.conf",
			   section ? "]" : "", section ? cnt == 1 ? "the key" : "the keys" : "the sections", str_cstr(&list));
}

/* 'interval "request"' -> the directive of that name, made on first sight. */
static struct interval_directive *find_interval(struct reader *r, const char *section)
{
	const char *behind = section + strlen("interval");
	const char *quote = behind + strspn(behind, " \t");
	const char *end = *quote == '"' ? strchr(quote + 1, '"') : NULL;

	if (!end && strlen(section) >= SECTION_CHARS) {
		mistake(r, "this name is too long: the line may have %d characters between [ and ]", SECTION_CHARS);
		return NULL;
	}
	if (!end || end == quote + 1 || end[1]) {
		mistake(r, "an interval has a name: [interval \"request\"]");
		return NULL;
	}

	_cleanup_(freep) char *name = xstrndup(quote + 1, (size_t)(end - quote - 1));

	for (size_t i = 0; i < r->config->intervals.cnt; i++)
		if (strcmp(r->config->intervals.items[i].name, name) == 0)
			return &r->config->intervals.items[i];

	struct interval_directive *d = VEC_EXTEND(&r->config->intervals);

	d->name = TAKE_PTR(name);
	return d;
}

/* Stores the value that is complete now. */
static void finish_value(struct reader *r)
{
	struct interval_directive *interval = NULL;

	if (!r->name || r->error)
		return;

	size_t len = strcspn(r->section, " \t\"");
	_cleanup_(freep) char *section = xstrndup(r->section, len);
	bool section_known = false;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(keys[i].section, section) != 0)
			continue;
		section_known = true;
		if (strcmp(keys[i].name, r->name) != 0)
			continue;
		if (strcmp(section, "interval") == 0 && !(interval = find_interval(r, r->section)))
			return;
		if (!interval && r->section[len + strspn(r->section + len, " \t")]) {
			mistake(r, "[%s] takes no name", section);
			return;
		}

		_cleanup_(freep) char *value = config_value(str_cstr(&r->value));

		keys[i].set(r, interval, value);
		return;
	}
	if (!*section)
		mistake(r, "'%s' is before any [section]", r->name);
	else if (section_known)
		unknown(r, "key", r->name, section);
	else
		unknown(r, "section", section, NULL);
}

/* ---- inih ---- */

static int handle(void *user, const char *section, const char *name, const char *value)
{
	struct reader *r = user;

	/* The rest of a long line that did not begin as a setting: a section's name without an end. */
	if (r->continued && r->value_line != r->line)
		return 0;
	if (!r->continued) {
		finish_value(r);
		free(r->section);
		free(r->name);
		r->section = config_section(section);
		r->name = xstrdup(name);
		str_reset(&r->value);
		r->value_line = r->line;
	}
	str_add(&r->value, value);
	return 1;
}

/* Where to cut a line of len characters: both neighbours stay as they are for inih. */
static size_t piece_length(const char *s, size_t len)
{
	if (len <= PIECE_CHARS)
		return len;
	for (size_t cut = PIECE_CHARS; cut > PIECE_CHARS / 2; cut--)
		if (!isspace((unsigned char)s[cut - 1]) && !isspace((unsigned char)s[cut]) &&
		    s[cut] != ';' && s[cut] != '#')
			return cut;
	return PIECE_CHARS;
}

/* Like fgets; see the top of the file. */
static char *next_line(char *buffer, int size, void *stream)
{
	struct reader *r = stream;
	size_t used = 0;

	if (!*r->at || size < PIECE_CHARS + 3)
		return NULL;
	r->continued = r->in_line;
	if (r->in_line) {
		buffer[used++] = ' ';
	} else {
		r->line += 1 + r->joined;
		r->joined = 0;
		r->at += strspn(r->at, " \t");
	}

	size_t line_len = strcspn(r->at, "\n");
	size_t len = piece_length(r->at, line_len);

	memcpy(buffer + used, r->at, len);
	for (size_t i = 0; i < len; i++)
		r->joined += r->at[i] == JOINED_LINES;
	used += len;
	buffer[used++] = '\n';
	buffer[used] = '\0';
	VEC_ADD(&r->line_of_piece, r->line);
	r->at += len;
	r->in_line = len < line_len;
	if (!r->in_line && *r->at == '\n')
		r->at++;
	return buffer;
}

static int check_intervals(struct reader *r)
{
	for (size_t i = 0; i < r->config->intervals.cnt; i++) {
		const struct interval_directive *d = &r->config->intervals.items[i];
		const struct location *ends[] = { &d->start, &d->end };

		for (size_t e = 0; e < ARRAY_SIZE(ends); e++)
			if (ends[e]->place == PLACE_DEFAULT && !ends[e]->function)
				return mistake(r, "[interval \"%s\"] has no %s", d->name,
					       e ? "end" : "start");
	}
	return 0;
}

static void set_defaults(struct config *c)
{
	*c = (struct config){ .k = 3, .max_runs = 12, .threshold = 0.05, .overhead = 0.05,
			      .leave_out_no_return = true };
}

/* Control characters do not occur in text: the file is damaged, or is something else. */
static int check_text(const char *text, size_t len, const char *path, struct diag *reterr)
{
	uint32_t line = 1;

	for (const char *s = text; s < text + len; s++) {
		if (*s == '\n')
			line++;
		else if (iscntrl((unsigned char)*s) && *s != '\t' && !(*s == '\r' && s[1] == '\n'))
			return diag_set(reterr, EXIT_USAGE, -EINVAL,
					"%s:%u: a control character (0x%02x) does not belong here", path,
					line, (unsigned char)*s);
	}
	return 0;
}

int config_parse(const char *text, const char *path, struct config *ret, struct diag *reterr)
{
	_cleanup_(config_release) struct config c = { 0 };
	_cleanup_(freep) char *masked = config_without_comments(text);
	struct reader r = { .config = &c, .at = masked, .path = path, .reterr = reterr };
	int err = check_text(text, strlen(text), path, reterr);

	if (err)
		return err;
	set_defaults(&c);
	c.path = xstrdup(path);

	int bad_line = ini_parse_stream(next_line, &r, handle, &r);

	r.continued = false;
	finish_value(&r);
	if (bad_line > 0 && (!r.error || r.line_of_piece.items[bad_line - 1] < r.error_line)) {
		r.value_line = r.line_of_piece.items[bad_line - 1];
		r.error = 0;
		mistake(&r, "expected [section] or key = value");
	}
	if (!r.error)
		check_intervals(&r);
	str_release(&r.value);
	VEC_RELEASE(&r.line_of_piece);
	free(r.section);
	free(r.name);
	if (r.error)
		return r.error;
	*ret = c;
	memset(&c, 0, sizeof(c));
	return 0;
}

int config_read(int fd, const char *path, struct config *ret, struct diag *reterr)
{
	_cleanup_(freep) char *text = NULL;
	size_t len = 0;
	int r;

	if (fd < 0) {
		set_defaults(ret);
		return 0;
	}
	r = file_read_open(fd, &text, &len);
	if (r < 0)
		return diag_set(reterr, EXIT_USAGE, r, "cannot read '%s': %s", path, strerror(-r));
	r = check_text(text, len, path, reterr);	/* a byte 0 would end it */
	return r < 0 ? r : config_parse(text, path, ret, reterr);
}

void config_release(struct config *c)
{
	for (size_t i = 0; i < c->intervals.cnt; i++)
		interval_directive_release(&c->intervals.items[i]);
	VEC_RELEASE(&c->intervals);
	primitives_release(&c->sync);
	for (size_t i = 0; i < c->leave_out.cnt; i++)
		free(c->leave_out.items[i]);
	VEC_RELEASE(&c->leave_out);
	free(c->path);
	free(c->build_command);
	free(c->run_command);
	memset(c, 0, sizeof(*c));
}
