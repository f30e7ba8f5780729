/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.c - which functions carry a probe.
 *
 * The file is text, one entry a line, fields split by one tab, the name last because C++ names
 * hold blanks: "interval<TAB>/src/server.c<TAB>28<TAB>log_append".  A file name with a tab or a
 * newline cannot be written; such a function stays without a probe.
 */
#include <errno.h>
#include <string.h>
#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "base/str.h"
#include "instrumenter/plan/plan.h"

#define EARLY "early"
#define SITES "sites"
#define SITES_REACHED "sites-reached"

static const char plan_magic[] = "vprof-plan 1";

static const char *const level_names[] = {
	[PLAN_OFF] = "off", [PLAN_IN_INTERVALS] = "interval", [PLAN_ALWAYS] = "always",
	[PLAN_DORMANT] = "dormant",
};

uint64_t function_key(const char *real_path, uint32_t line, const char *name)
{
	uint64_t h = hash_str(0, real_path);

	h = hash_u64(h, line);
	h = hash_str(h, name);
	return h ? h : 1;		/* 0 means "no function" to the runtime */
}

struct plan *plan_new(void)
{
	return xcalloc(1, sizeof(struct plan));
}

static void entry_release(struct plan_entry *e)
{
	free(e->file);
	free(e->name);
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->entries.cnt; i++)
		entry_release(&p->entries.items[i]);
	for (size_t i = 0; i < p->early.cnt; i++)
		entry_release(&p->early.items[i]);
	for (size_t i = 0; i < p->sites.cnt; i++) {
		entry_release(&p->sites.items[i].caller);
		entry_release(&p->sites.items[i].callee);
	}
	VEC_RELEASE(&p->entries);
	VEC_RELEASE(&p->early);
	VEC_RELEASE(&p->sites);
	map_free(p->by_key);
	map_free(p->early_keys);
	free(p);
}

void plan_add(struct plan *p, enum plan_level level, const char *file, uint32_t line,
	      const char *name)
{
	struct plan_entry e = {
		.level = level, .file = xstrdup(file), .name = xstrdup(name), .line = line,
		.key = function_key(file, line, name),
	};

	VEC_ADD(&p->entries, e);
	if (!p->by_key)
		p->by_key = map_new();
	map_set(p->by_key, e.key, level);
}

/* In the file, work(int) is the `work` of that line: the parameters, and the "<>" of a specialisation before them,
 * are cut off. */
static char *name_in_file(uint64_t key, const char *file, uint32_t line, const char *shown)
{
	char *name = xstrdup(shown);

	for (size_t end = strlen(name); end && function_key(file, line, name) != key; end--)
		if (strchr("(<", name[end - 1]))
			name[end - 1] = '\0';
	if (function_key(file, line, name) == key)
		return name;
	free(name);
	return xstrdup(shown);
}

void plan_add_shown(struct plan *p, enum plan_level level, uint64_t key, const char *file, uint32_t line, const char *shown)
{
	_cleanup_(freep) char *name = name_in_file(key, file, line, shown);

	plan_add(p, level, file, line, name);
}

static void add_early(struct plan *p, const char *file, uint32_t line, const char *name)
{
	struct plan_entry e = { .file = xstrdup(file), .name = xstrdup(name), .line = line, .key = function_key(file, line, name) };

	VEC_ADD(&p->early, e);
	if (!p->early_keys)
		p->early_keys = map_new();
	map_set(p->early_keys, e.key, 1);
}

void plan_add_early(struct plan *p, uint64_t key, const char *file, uint32_t line, const char *shown)
{
	_cleanup_(freep) char *name = name_in_file(key, file, line, shown);

	add_early(p, file, line, name);
}

static struct plan_entry copy_of(const struct plan_entry *e)
{
	_cleanup_(freep) char *name = name_in_file(e->key, e->file, e->line, e->name);

	return (struct plan_entry){ .file = xstrdup(e->file), .name = xstrdup(name), .line = e->line, .key = function_key(e->file, e->line, name) };
}

void plan_add_sites(struct plan *p, const struct plan_entry *caller, const struct plan_entry *callee, bool is_reached)
{
	VEC_ADD(&p->sites, (struct plan_sites){ copy_of(caller), copy_of(callee), is_reached });
}

bool plan_tells_callers(const struct plan *p, uint64_t key)
{
	for (size_t i = 0; i < p->sites.cnt; i++)
		if (p->sites.items[i].callee.key == key)
			return true;
	return false;
}

bool plan_tells_calls(const struct plan *p, uint64_t key)
{
	for (size_t i = 0; i < p->sites.cnt; i++)
		if (p->sites.items[i].caller.key == key)
			return true;
	return false;
}

bool plan_is_early(const struct plan *p, uint64_t key)
{
	uint64_t found;

	return p->early_keys && map_get(p->early_keys, key, &found);
}

enum plan_level plan_level_of(const struct plan *p, uint64_t key)
{
	uint64_t level;

	if (plan_is_early(p, key))
		return PLAN_OFF;
	if (!p->by_key || !map_get(p->by_key, key, &level))
		return p->all;
	return (enum plan_level)level;
}

bool plan_is_aside(const struct plan *p, uint64_t key)
{
	return p->sampled || plan_level_of(p, key) == PLAN_DORMANT;
}

static bool level_parse(const char *s, enum plan_level *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(level_names); i++) {
		if (strcmp(s, level_names[i]) == 0) {
			*ret = (enum plan_level)i;
			return true;
		}
	}
	return false;
}

/* Cuts "FILE LINE NAME" off *line, at its tabs; key and name of what was cut. */
static bool parse_function(char **line, struct plan_entry *ret)
{
	char *number = strchr(*line, '\t'), *name = number ? strchr(number + 1, '\t') : NULL, *rest, *end;
	unsigned long body_line;

	if (!name)
		return false;
	rest = name + 1 + strcspn(name + 1, "\t");
	*number++ = *name++ = '\0';
	if (*rest)
		*rest++ = '\0';
	errno = 0;
	body_line = strtoul(number, &end, 10);
	if (errno || *end || end == number || body_line > UINT32_MAX || !**line || !*name)
		return false;
	*ret = (struct plan_entry){ .file = *line, .name = name, .line = (uint32_t)body_line, .key = function_key(*line, (uint32_t)body_line, name) };
	*line = rest;
	return true;
}

static bool parse_sites(struct plan *p, char *line, bool is_reached)
{
	struct plan_entry caller, callee;

	if (!parse_function(&line, &caller) || !parse_function(&line, &callee) || *line)
		return false;
	plan_add_sites(p, &caller, &callee, is_reached);
	return true;
}

static bool parse_entry(struct plan *p, char *line)
{
	char *file, *number, *name, *end;
	enum plan_level level;

	file = strchr(line, '\t');
	number = file ? strchr(file + 1, '\t') : NULL;
	name = number ? strchr(number + 1, '\t') : NULL;
	if (!name)
		return false;
	*file++ = *number++ = *name++ = '\0';
	errno = 0;
	unsigned long body_line = strtoul(number, &end, 10);

	if (errno || *end || end == number || body_line > UINT32_MAX || !*file || !*name)
		return false;
	if (strcmp(line, EARLY) == 0)
		add_early(p, file, (uint32_t)body_line, name);
	else if (level_parse(line, &level))
		plan_add(p, level, file, (uint32_t)body_line, name);
	else
		return false;
	return true;
}

static bool parse_plan_line(struct plan *p, char *line)
{
	if (starts_with(line, "all "))
		return level_parse(line + 4, &p->all);
	if (strcmp(line, "sampled") == 0) {
		p->sampled = true;
		return true;
	}
	if (starts_with(line, SITES "\t"))
		return parse_sites(p, line + strlen(SITES "\t"), false);
	if (starts_with(line, SITES_REACHED "\t"))
		return parse_sites(p, line + strlen(SITES_REACHED "\t"), true);
	return parse_entry(p, line);
}

int plan_read(const char *path, struct plan **ret, struct diag *reterr)
{
	_cleanup_(plan_freep) struct plan *p = plan_new();
	_cleanup_(freep) char *text = NULL;
	unsigned line_no = 0;
	int err = file_read(path, &text, NULL);

	if (err == -ENOENT) {
		*ret = TAKE_PTR(p);
		return 0;
	}
	if (err < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, err, "cannot read the plan '%s': %s", path,
				file_why(err));
	for (char *line = text, *next; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		line_no++;
		if (line_no == 1 ? strcmp(line, plan_magic) != 0 : !parse_plan_line(p, line))
			return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:%u: %s", path, line_no,
					line_no == 1 ? "this is not a plan of vprof" : "damaged line: "
					"LEVEL, FILE, LINE and NAME were expected, split by tabs");
	}
	if (line_no == 0)
		return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s: the plan is empty", path);
	*ret = TAKE_PTR(p);
	return 0;
}

static void write_entry(struct str *s, const char *level, const struct plan_entry *e)
{
	if (!strpbrk(e->file, "\t\n") && !strpbrk(e->name, "\n"))
		str_addf(s, "%s\t%s\t%u\t%s\n", level, e->file, e->line, e->name);
}

static bool can_be_written(const struct plan_entry *e)
{
	return !strpbrk(e->file, "\t\n") && !strpbrk(e->name, "\t\n");
}

static void write_sites(struct str *s, const struct plan_sites *x)
{
	if (can_be_written(&x->caller) && can_be_written(&x->callee))
		str_addf(s, "%s\t%s\t%u\t%s\t%s\t%u\t%s\n", x->is_reached ? SITES_REACHED : SITES, x->caller.file, x->caller.line, x->caller.name, x->callee.file,
			 x->callee.line, x->callee.name);
}

int plan_write(const char *path, const struct plan *p, struct diag *reterr)
{
	_cleanup_(str_release) struct str s = STR_INIT;

	str_addf(&s, "%s\n%s", plan_magic, p->sampled ? "sampled\n" : "");
	if (p->all != PLAN_OFF)
		str_addf(&s, "all %s\n", level_names[p->all]);
	for (size_t i = 0; i < p->entries.cnt; i++)
		write_entry(&s, level_names[p->entries.items[i].level], &p->entries.items[i]);
	for (size_t i = 0; i < p->early.cnt; i++)
		write_entry(&s, EARLY, &p->early.items[i]);
	for (size_t i = 0; i < p->sites.cnt; i++)
		write_sites(&s, &p->sites.items[i]);
	int err = file_write(path, s.data, s.len, 0644);

	return err < 0 ? diag_set(reterr, EXIT_ENVIRONMENT, err, "cannot write the plan '%s': %s", path,
				  strerror(-err)) : 0;
}
