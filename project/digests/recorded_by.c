/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorded_by.c - the origin of a recording: machine, boot, host name, container and program.
 *
 * The file may be another user's, so only well-formed lines count.
 */
#include "project/digests/recorded_by.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/elf.h"
#include "base/file.h"
#include "project/notices.h"

enum { ID_DIGITS = 64, NAME_BYTES = 255 };

/* ---- this machine ---- */

/* Adds a line of hex digits, without its dashes. */
static void add_id(struct str *s, const char *key, const char *path)
{
	_cleanup_(freep) char *text = NULL;
	size_t len, cnt = 0;

	if (file_read(path, &text, &len) < 0)
		return;
	str_addf(s, "%s ", key);
	for (size_t i = 0; i < len && cnt < ID_DIGITS; i++)
		if (isxdigit((unsigned char)text[i])) {
			str_addc(s, text[i]);
			cnt++;
		}
	str_addc(s, '\n');
}

static size_t hex_digits(const char *text)
{
	return strspn(text, "0123456789abcdef");
}

/* Container managers put 64 hex digits into the name of the control group; adds the first 12, which they display. */
static void add_container(struct str *s)
{
	_cleanup_(freep) char *text = NULL;
	size_t len;

	if (file_read("/proc/self/cgroup", &text, &len) < 0)
		return;
	for (const char *at = text; *at; at += hex_digits(at) ? hex_digits(at) : 1)
		if (hex_digits(at) == 64) {
			str_addf(s, "container %.12s\n", at);
			return;
		}
}

/* .note.gnu.build-id: sizes of name and contents, a type, "GNU", then the id. */
static void add_build(struct str *s, const char *program)
{
	_cleanup_(elf_closep) struct elf *e = NULL;
	_cleanup_(freep) char *path = !program ? NULL : strchr(program, '/') ? xstrdup(program) : path_which(program, NULL);
	const unsigned char *note;
	uint32_t sizes[3];
	size_t bytes;

	if (!path || elf_open(path, &e) < 0)
		return;
	note = (const unsigned char *)elf_section(e, ".note.gnu.build-id", &bytes);
	if (!note || bytes < sizeof(sizes) + 4)
		return;
	memcpy(sizes, note, sizeof(sizes));
	if (sizes[0] != 4 || sizes[1] > ID_DIGITS / 2 || bytes < sizeof(sizes) + 4 + sizes[1])
		return;
	str_add(s, "build ");
	for (size_t i = 0; i < sizes[1]; i++)
		str_addf(s, "%02x", note[sizeof(sizes) + 4 + i]);
	str_addc(s, '\n');
}

static int64_t clock_difference(void)
{
	struct timespec real, monotonic;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	return ((int64_t)real.tv_sec - monotonic.tv_sec) * 1000000000 + real.tv_nsec - monotonic.tv_nsec;
}

void recorded_by_keep(const char *dir, const char *program)
{
	_cleanup_(str_release) struct str s = STR_INIT;
	_cleanup_(freep) char *path = path_join(dir, RECORDED_BY_FILE);
	char host[NAME_BYTES + 1] = "";
	int r;

	add_id(&s, "machine", "/etc/machine-id");
	add_id(&s, "boot", "/proc/sys/kernel/random/boot_id");
	if (gethostname(host, sizeof(host) - 1) == 0)
		str_addf(&s, "host %s\n", host);
	add_container(&s);
	add_build(&s, program);
	str_addf(&s, "clock %" PRId64 "\n", clock_difference());
	r = file_write(path, str_cstr(&s), s.len, 0600);
	if (r < 0)
		warn_line("digests of this run will not say which host recorded it: cannot write '%s': %s", path, strerror(-r));
}

/* ---- a recording ---- */

char *recorded_by_path(const char *trace_path)
{
	_cleanup_(freep) char *dir = path_dir(trace_path);
	const char *name = path_base(trace_path);

	if (strncmp(name, "part-", 5) == 0)
		return xasprintf("%s/%.*s.%s", dir, (int)strcspn(name, "."), name, RECORDED_BY_FILE);
	return path_join(dir, RECORDED_BY_FILE);
}

static bool is_id(const char *text)
{
	return strlen(text) <= ID_DIGITS && text[strspn(text, "0123456789abcdefABCDEF")] == '\0';
}

static bool is_name(const char *text)
{
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("-._:", *c))
			return false;
	return strlen(text) <= NAME_BYTES;
}

static void take_line(struct summed_source *s, struct arena *arena, const char *key, const char *value)
{
	if (strcmp(key, "clock") == 0)
		s->clock_ns = strtoll(value, NULL, 10);
	else if (strcmp(key, "machine") == 0 && is_id(value))
		s->machine = arena_strdup(arena, value);
	else if (strcmp(key, "boot") == 0 && is_id(value))
		s->boot = arena_strdup(arena, value);
	else if (strcmp(key, "build") == 0 && is_id(value))
		s->build = arena_strdup(arena, value);
	else if (strcmp(key, "host") == 0 && is_name(value))
		s->host = arena_strdup(arena, value);
	else if (strcmp(key, "container") == 0 && is_name(value))
		s->container = arena_strdup(arena, value);
}

void recorded_by_read(const char *trace_path, struct arena *arena, struct summed_source *ret)
{
	_cleanup_(freep) char *path = recorded_by_path(trace_path), *text = NULL;
	size_t len;
	char *save = NULL;

	*ret = (struct summed_source){ .machine = "", .boot = "", .host = "", .container = "", .build = "", .run = "" };
	if (file_read(path, &text, &len) < 0)
		return;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *blank = strchr(line, ' ');

		if (!blank)
			continue;
		*blank = '\0';
		take_line(ret, arena, line, blank + 1);
	}
}
