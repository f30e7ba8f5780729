/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unit_cache.c - reuses what the last compile of a unit found out.
 *
 * Files count as unchanged while their size and time are, like make and ccache take it; a new header that hides
 * another one on the search path is noticed when a file of the unit changes.  That concerns the scan alone: what is
 * compiled is always the user's files as they are.
 */
#include <string.h>
#include <sys/stat.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/map.h"
#include "instrumenter/insert/redirect_object.h"
#include "instrumenter/insert/unit_cache.h"
#include "instrumenter/scan/scan_part.h"

#define CLOCK_STEP_NS 20000000		/* file times may be behind the clock by a tick of the kernel's */

uint64_t known_text_hash(const char *text, size_t len, enum language language, const char *standard)
{
	uint64_t h = hash_bytes(hash_u64(0, language), text, len);

	h = hash_str(h, standard ? standard : "");
	return h ? h : 1;
}

/* Whether the same functions may run before relocation: another unit's resolver may call one of them now. */
static bool early_agrees(const struct unit *before, const struct plan *plan)
{
	for (size_t i = 0; plan && i < before->functions.cnt; i++) {
		const struct scan_function *f = &before->functions.items[i];
		bool said = f->skipped && strcmp(f->skipped, EARLY_ELSEWHERE) == 0;

		if (plan_is_early(plan, f->key) ? !f->skipped : said)
			return false;
	}
	return true;
}

/* The record does not have the places of calls. */
static bool needs_calls(const struct unit *before, const struct plan *plan)
{
	for (size_t i = 0; plan && plan->sites.cnt && i < before->functions.cnt; i++)
		if (plan_tells_calls(plan, before->functions.items[i].key))
			return true;
	return false;
}

static bool is_usable(const struct unit *before, const struct launcher_options *o)
{
	return before && early_agrees(before, o->plan) && before->known.text && !before->known.has_events && !before->untouched &&
	       before->known.settings == settings_of(o) && !needs_calls(before, o->plan);
}

/* A damaged record may contain anything. */
static bool places_are_in(const struct unit *before, size_t len)
{
	for (size_t i = 0; i < before->functions.cnt; i++)
		if (before->functions.items[i].body >= len)
			return false;
	for (size_t i = 0; i < before->known.tails.cnt; i++)
		if (before->known.tails.items[i].end > len)
			return false;
	return true;
}

bool known_text(const struct unit *before, uint64_t text_hash, size_t len,
		const struct launcher_options *o)
{
	return is_usable(before, o) && before->known.text == text_hash && places_are_in(before, len);
}

static bool same_words(const char *const *a, const char *const *b)
{
	while (*a && *b && strcmp(*a, *b) == 0) {
		a++;
		b++;
	}
	return !*a && !*b;
}

static bool stat_input(const char *path, struct scan_input *ret)
{
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	*ret = (struct scan_input){
		path, (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec,
		(uint64_t)st.st_size,
	};
	return true;
}

static bool same_inputs(const struct scan_input *inputs, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		struct scan_input now;

		if (!stat_input(inputs[i].path, &now) || now.ns != inputs[i].ns ||
		    now.bytes != inputs[i].bytes)
			return false;
	}
	return cnt != 0;
}

static bool takes_probes(const struct unit *u, const struct plan *plan)
{
	for (size_t i = 0; plan && i < u->functions.cnt; i++)
		if (!u->functions.items[i].skipped &&
		    plan_level_of(plan, u->functions.items[i].key) != PLAN_OFF)
			return true;
	return false;
}

bool known_redirected(const struct unit *u, const char *pragmas, const struct launcher_options *o, struct args *ret)
{
	static const char start[] = "#pragma redefine_extname ";
	const char *line = pragmas;

	for (; starts_with(line, start); line += strcspn(line, "\n") + 1) {
		const char *name = line + strlen(start);
		const struct primitive *p;

		args_addf(ret, "%.*s", (int)strcspn(name, " "), name);
		p = primitives_find(o->sync, ret->items[ret->cnt - 1]);
		if (!p || !p->builtin)
			return false;
	}
	return !*line && (!ret->cnt || object_is_redirectable(u->argv));
}

bool known_plain(const struct unit *before, const struct unit *now, const struct launcher_options *o)
{
	_cleanup_(args_release) struct args redirected = ARGS_INIT;

	return is_usable(before, o) && !takes_probes(before, o->plan) &&
	       known_redirected(before, before->known.pragmas, o, &redirected) &&
	       strcmp(before->directory, now->directory) == 0 &&
	       strcmp(before->source, now->source) == 0 && same_words(before->argv, now->argv) &&
	       same_words(before->environment, now->environment) &&
	       same_inputs(before->known.inputs.items, before->known.inputs.cnt);
}

/* --- by the head of the record alone -------------------------------------------------------- */

static uint64_t hash_words(uint64_t h, const char *const *words)
{
	for (; *words; words++)
		h = hash_str(hash_u64(h, strlen(*words)), *words);
	return hash_u64(h, 0);
}

/* A hash of the command and the settings, which must be equal for the object to be equal. */
static uint64_t identity(const struct unit *u, const struct launcher_options *o)
{
	const char *const places[] = { u->object, u->source, u->directory, NULL };
	uint64_t h = hash_words(settings_of(o), places);

	h = hash_words(hash_words(h, u->argv), u->environment);
	return h ? h : 1;
}

void known_note_plain(struct unit *u, const struct args *redirected, const struct launcher_options *o)
{
	_cleanup_(str_release) struct str names = STR_INIT;

	for (size_t i = 0; i < redirected->cnt; i++)
		str_addf(&names, " %s", redirected->items[i]);
	u->known.plain = is_usable(u, o) && u->known.inputs.cnt ? identity(u, o) : 0;
	u->known.redirected = arena_strdup(u->arena, str_cstr(&names));
}

/* Takes all of them: whether the object can be edited depends on the settings, which are equal. */
static void take_names(const char *words, struct args *ret)
{
	while (*words) {
		size_t len = strcspn(++words, " ");

		args_addf(ret, "%.*s", (int)len, words);
		words += len;
	}
}

/* Whether a function of one of the record's parts is to have a probe. */
static bool takes_probe_in_parts(const struct scan_head *head, const struct plan *plan)
{
	_cleanup_(map_freep) struct map *files = map_new();
	uint64_t there;

	if (plan->all != PLAN_OFF)
		return head->parts.cnt != 0;
	for (size_t i = 0; i < plan->entries.cnt; i++)
		if (plan->entries.items[i].level != PLAN_OFF)
			map_set(files, hash_str(0, plan->entries.items[i].file), 1);
	for (size_t i = 0; i < head->parts.cnt; i++)
		if (map_get(files, hash_str(0, head->parts.items[i].file), &there))
			return true;
	return false;
}

/* False also if only the whole record can decide it. */
static bool takes_no_probe(const struct scan_head *head, const struct plan *plan)
{
	for (size_t i = 0; plan && i < head->keys.cnt; i++)
		if (plan_level_of(plan, head->keys.items[i]) != PLAN_OFF)
			return false;
	return !plan || !takes_probe_in_parts(head, plan);
}

bool known_unchanged(const struct unit *now, const struct launcher_options *o, struct args *ret_redirected,
		     struct known_record *ret)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	_cleanup_(scan_head_release) struct scan_head head = { .len = 0 };

	ret->path = unit_path(o->build_dir, now->object, ".scan");
	if (file_read(ret->path, &ret->text, &ret->len) < 0 ||
	    scan_head_read(ret->text, ret->len, arena, &head) || !head.plain ||
	    head.plain != identity(now, o) || !takes_no_probe(&head, o->plan) || !parts_are_there(o->build_dir, &head.parts) ||
	    !same_inputs(head.inputs.items, head.inputs.cnt))
		return false;
	take_names(head.redirected, ret_redirected);
	return true;
}

void known_record_keep(struct known_record *r, uint64_t ns, uint64_t bytes)
{
	scan_head_stamp(r->text, ns, bytes);
	file_write(r->path, r->text, r->len, 0600);
}

void known_record_release(struct known_record *r)
{
	free(r->path);
	free(r->text);
}

/* --- what the next compile may go by --------------------------------------------------------- */

/* A file that is only read for its macros leaves no trace in the text. */
static bool reads_macros(const struct unit *u)
{
	for (const char **word = u->argv; *word; word++)
		if (strstr(*word, "-imacros"))
			return true;
	return false;
}

static bool note_input(struct unit *u, const char *path, uint64_t since_ns)
{
	struct scan_input input;

	if (!stat_input(path, &input))
		return true;			/* "<built-in>"; the grammar of a generated source */
	if (strchr(path, '\n'))
		return false;			/* one line of the record each */
	input.path = arena_strdup(u->arena, path);
	VEC_ADD(&u->known.inputs, input);
	return input.ns + CLOCK_STEP_NS < since_ns;
}

static void note_inputs(const struct instrumenting *in, uint64_t since_ns)
{
	struct unit *u = in->unit;
	_cleanup_(freep) char *compiler = path_which(u->argv[0], NULL);
	bool sure = !reads_macros(u) && note_input(u, compiler ? compiler : u->argv[0], since_ns);

	for (size_t i = 0; sure && i < lines_file_cnt(in->lines); i++)
		sure = note_input(u, lines_file(in->lines, i), since_ns);
	if (!sure)
		u->known.inputs.cnt = 0;
}

void known_note(const struct instrumenting *in, uint64_t text_hash, uint64_t since_ns)
{
	struct unit *u = in->unit;

	u->known.text = text_hash;
	u->known.settings = settings_of(in->o);
	u->known.has_events = in->event_cnt != 0;
	for (size_t i = 0; i < in->tails.cnt; i++)
		VEC_ADD(&u->known.tails, in->tails.items[i]);
	u->known.pragmas = arena_strdup(u->arena, str_cstr(&in->pragmas));
	u->known.wrappers = arena_strdup(u->arena, str_cstr(&in->wrappers));
	note_inputs(in, since_ns);
}
