/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * style.c - numbers, bars and signs of the text views.
 *
 * A duration keeps three digits and takes the largest unit in which it is at least 1:
 * 2221000 ns -> 2.22 ms, 373900 -> 374 µs, 8.5 -> 8.5 ns.  A bar counts in eighths of a column:
 * 0.619 of 24 columns is 14 full blocks and 7/8 of one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/text/table.h"
#include "base/text/utf8.h"
#include "report/style.h"

#define WIDTH_DEFAULT 80
#define WIDTH_MIN 40
#define WIDTH_MAX 1000

static const struct glyphs signs_utf8 = {
	.answer = "▶", .then = " › ", .ellipsis = "…", .dot = " · ", .arrow = "→",
	.branch = "├─ ", .last_branch = "└─ ", .trunk = "│ ", .blank = "  ",
};

static const struct glyphs signs_ascii = {
	.answer = ">", .then = " > ", .ellipsis = "..", .dot = " | ", .arrow = "->",
	.branch = "|- ", .last_branch = "`- ", .trunk = "| ", .blank = "  ",
};

const struct glyphs *glyphs_for(bool utf8)
{
	return utf8 ? &signs_utf8 : &signs_ascii;
}

const struct glyphs *glyphs_of(const struct style *s)
{
	return glyphs_for(s->utf8);
}

static unsigned terminal_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	unsigned long width = 0;

	if (columns)
		width = strtoul(columns, NULL, 10);
	if (!width && ioctl(fd, TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	if (!width)
		width = WIDTH_DEFAULT;
	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : (unsigned)width;
}

void style_init(struct style *s, FILE *out, bool ascii)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	s->out = out;
	s->width = terminal_width(fileno(out));
	s->utf8 = !ascii && locale_is_utf8();
	s->colour = isatty(fileno(out)) && !(no_color && *no_color) && term &&
		    strcmp(term, "dumb") != 0;
}

const char *style_bold(const struct style *s)
{
	return s->colour ? "\033[1m" : "";
}

const char *style_wait(const struct style *s)
{
	return s->colour ? "\033[33m" : "";
}

const char *style_end(const struct style *s)
{
	return s->colour ? "\033[0m" : "";
}

/* Rounded to this number of decimals; zero has no sign: "0.0 %", not "-0.0 %". */
static double percent_of(double share, double unit)
{
	double percent = share * 100;

	return fabs(percent) < unit / 2 ? 0 : percent;
}

const char *text_percent_cell(char buf[TEXT_MAX], double share)
{
	if (isfinite(share))
		snprintf(buf, TEXT_MAX, "%.1f %%", percent_of(share, 0.1));
	else
		snprintf(buf, TEXT_MAX, "?");
	return buf;
}

/* Enough decimals to distinguish the ends of an interval, down to a hundredth of a point. */
static int ci95_decimals(const double ci95[2])
{
	double width = ci95[1] - ci95[0];

	return width < 0.002 ? 2 : width < 0.02 ? 1 : 0;
}

const char *text_ci95(char buf[TEXT_MAX], const double ci95[2])
{
	int decimals = ci95_decimals(ci95);
	double unit = pow(10, -decimals), low = percent_of(ci95[0], unit), high = percent_of(ci95[1], unit);

	if (isfinite(low) && isfinite(high))
		snprintf(buf, TEXT_MAX, "%.*f to %.*f", decimals, low, decimals, high);
	else
		snprintf(buf, TEXT_MAX, "?");
	return buf;
}

const char *text_plus_minus(char buf[TEXT_MAX], const double ci95[2], bool utf8)
{
	double points = (ci95[1] - ci95[0]) * 50;
	const char *sign = utf8 ? "±" : "+-";

	if (!isfinite(points))
		snprintf(buf, TEXT_MAX, "%s?", sign);
	else if (points < 0.95)		/* and never 0: that would be certainty */
		snprintf(buf, TEXT_MAX, "%s%.1f", sign, fmax(points, points > 0 ? 0.1 : 0));
	else
		snprintf(buf, TEXT_MAX, "%s%.0f", sign, ceil(points - 1e-9));
	return buf;
}

const char *plural(uint64_t cnt)
{
	return cnt == 1 ? "" : "s";
}

const char *text_percent(char buf[TEXT_MAX], double share)
{
	double percent = percent_of(share, 0.1);

	if (!isfinite(percent))
		snprintf(buf, TEXT_MAX, "?");
	else if (fabs(percent) < 9.95 && percent != round(percent))
		snprintf(buf, TEXT_MAX, "%.1f %%", percent);
	else
		snprintf(buf, TEXT_MAX, "%.0f %%", percent);
	return buf;
}

const double *ci95_to_show(bool known, const double ci95[2])
{
	return known && ci95[1] - ci95[0] > 1e-9 ? ci95 : NULL;
}

bool share_is_above_all(double share)
{
	return share >= 1.005;
}

const char *text_percent_with_ci95(char buf[TEXT_MAX], double share, const double *ci95)
{
	int decimals = ci95 ? ci95_decimals(ci95) : 0;

	if (!decimals || !isfinite(share))
		return text_percent(buf, share);
	snprintf(buf, TEXT_MAX, "%.*f %%", decimals, percent_of(share, pow(10, -decimals)));
	return buf;
}

void add_bar(struct str *to, double fraction, unsigned width, bool utf8)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	bool too_long = fraction > 1.0005;
	unsigned steps = utf8 ? 8 : 1, filled;

	if (!(fraction > 0))
		return;			/* zero, negative, not a number */
	if (fraction > 1)
		fraction = 1;
	filled = (unsigned)(fraction * width * steps + 0.5);
	if (filled == 0 && utf8)
		filled = 1;
	for (unsigned i = 0; i < filled / steps; i++) {
		if (too_long && i + 1 == width)
			str_add(to, utf8 ? "▶" : ">");
		else
			str_add(to, utf8 ? "█" : "#");
	}
	str_add(to, eighths[utf8 ? filled % 8 : 0]);
}

/* The URL of a file's line, for terminals; NULL: there is none. */
static char *url_of(const struct style *s, const char *file, uint32_t line)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-._~";
	_cleanup_(freep) char *path = s->colour ? realpath(file, NULL) : NULL;
	struct str url = STR_INIT;
	char host[256] = "";

	if (!path || gethostname(host, sizeof(host) - 1))
		return NULL;
	str_addf(&url, "file://%s", host);
	for (const char *c = path; *c; c++)
		str_addf(&url, strchr(plain, *c) ? "%c" : "%%%02X", (unsigned char)*c);
	if (line)
		str_addf(&url, "#%u", line);
	return str_take(&url);
}

void table_where(struct table *t, const struct style *s, const char *file, uint32_t line)
{
	_cleanup_(freep) char *url = file ? url_of(s, file, line) : NULL;

	if (file && line)
		table_cell(t, "%s:%u", file, line);
	else
		table_cell(t, "%s", file ? file : "");
	table_link(t, url);
}

void print_answer(const struct style *s, const char *sentence)
{
	_cleanup_(str_release) struct str clean = STR_INIT;

	utf8_add_line(&clean, sentence);
	fprintf(s->out, "%s%s %s%s\n", style_bold(s), glyphs_of(s)->answer, str_cstr(&clean),
		style_end(s));
}

void print_heading(const struct style *s, const struct view_input *in)
{
	const struct interval_summary *iv = &in->findings->interval;
	const char *dot = glyphs_of(s)->dot;
	_cleanup_(str_release) struct str line = STR_INIT;
	char a[TEXT_MAX], b[TEXT_MAX], c[TEXT_MAX], d[TEXT_MAX];

	utf8_add_line(&line, iv->name ? iv->name : "-");
	str_addf(&line, "%s%s interval%s%smean %s%ssd %s%sp99 %s%srun %u", dot,
		 text_cnt(a, iv->cnt), plural(iv->cnt), dot,
		 text_ns(b, iv->mean_ns, s->utf8), dot, text_ns(c, iv->stddev_ns, s->utf8), dot,
		 text_ns(d, (double)iv->p99_ns, s->utf8), dot, in->run->number);
	if (in->run->name) {
		str_add(&line, " (");
		utf8_add_line(&line, in->run->name);
		str_add(&line, ")");
	}
	if (in->options.origin) {
		str_addf(&line, "%sfrom ", dot);
		utf8_add_line(&line, in->options.origin);
	}
	fprintf(s->out, "%s\n", str_cstr(&line));
}
