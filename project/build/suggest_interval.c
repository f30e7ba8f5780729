/* SPDX-License-Identifier: GPL-3.0-or-later */
/* suggest_interval.c - see suggest_interval.h. */
#include "project/build/suggest_interval.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"

#define FAR UINT32_MAX

static const char *const reading[] = { "read", "recv", "recvfrom", "recvmsg", "readv", "SSL_read", "recvmmsg" };
static const char *const writing[] = { "write", "send", "sendto", "sendmsg", "writev", "SSL_write", "sendfile", "sendmmsg" };

struct reach {
	bool *own;			/* by function: its text has such a call */
	uint32_t *steps;		/* calls down to one that has; FAR: none */
};

struct file_text {			/* the last one that was read, without comments and literals */
	const char *path;
	char *text;
	const char *at;			/* where the line of the last function begins */
	uint32_t line;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The end of what begins at text: a comment, or a literal; text itself: neither. */
static char *after_unread(char *text, const char *before)
{
	char *end;

	if (text[0] == '/' && text[1] == '/')
		return text + strcspn(text, "\n");
	if (text[0] == '/' && text[1] == '*')
		return (end = strstr(text + 2, "*/")) ? end + 2 : text + strlen(text);
	if (text[0] != '"' && (text[0] != '\'' || (before && isdigit((unsigned char)*before))))	/* 1'000 is a number */
		return text;
	for (end = text + 1; *end && *end != *text && *end != '\n'; end++)
		if (*end == '\\' && end[1])
			end++;
	return *end == *text ? end + 1 : end;
}

/* Comments and literals become blanks; lines stay. */
static void blank_unread(char *text)
{
	for (char *at = text; *at;) {
		char *end = after_unread(at, at > text ? at - 1 : NULL);

		if (end == at)
			at++;
		for (; at < end; at++)
			if (*at != '\n')
				*at = ' ';
	}
}

/* NAME, then "(", and no word, "." or "->" before it: a member of that name is another function. */
static bool calls(const char *text, const char *end, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = text; (at = memmem(at, (size_t)(end - at), name, len)); at += len) {
		const char *after = at + len;

		if (at > text && (is_word(at[-1]) || at[-1] == '.' || at[-1] == '>'))
			continue;
		while (after < end && (*after == ' ' || *after == '\t'))
			after++;
		if (after < end && *after == '(')
			return true;
	}
	return false;
}

static bool calls_any(const char *text, const char *end, const char *const *names, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (calls(text, end, names[i]))
			return true;
	return false;
}

static const char *line_start(const char *text, uint32_t line)
{
	while (--line > 0 && text)
		text = (text = strchr(text, '\n')) ? text + 1 : NULL;
	return text;
}

static void read_text(struct file_text *file, const char *path)
{
	if (file->path && strcmp(file->path, path) == 0)
		return;
	free(file->text);
	if (file_read(path, &file->text, NULL) < 0)
		file->text = NULL;	/* it is gone: nothing is known of its functions */
	else
		blank_unread(file->text);
	*file = (struct file_text){ path, file->text, file->text, 1 };
}

/* Its lines; false: they are not there. */
static bool function_text(const struct project_function *f, struct file_text *file, const char **ret, const char **ret_end)
{
	const char *start;

	if (!f->file || !f->line || f->end_line < f->line)
		return false;
	read_text(file, f->file);
	if (!file->text)
		return false;
	start = f->line >= file->line ? line_start(file->at, f->line - file->line + 1) : line_start(file->text, f->line);
	if (!start)
		return false;
	file->at = start;
	file->line = f->line;
	*ret = start;
	*ret_end = line_start(start, f->end_line - f->line + 2);
	if (!*ret_end)
		*ret_end = start + strlen(start);
	return true;
}

static void look_into(const struct project_function *f, struct file_text *file, bool *ret_reads, bool *ret_writes)
{
	const char *start, *end;

	if (!function_text(f, file, &start, &end))
		return;
	*ret_reads = calls_any(start, end, reading, ARRAY_SIZE(reading));
	*ret_writes = calls_any(start, end, writing, ARRAY_SIZE(writing));
}

/* Steps down to the nearest of its own; calls through pointers count. */
static void spread(const struct project *p, struct reach *r)
{
	bool changed = true;

	r->steps = xcalloc(p->functions.cnt + 1, sizeof(*r->steps));
	for (size_t i = 0; i < p->functions.cnt; i++)
		r->steps[i] = r->own[i] ? 0 : FAR;
	while (changed) {
		changed = false;
		for (size_t i = 0; i < p->calls.cnt; i++) {
			const struct project_call *c = &p->calls.items[i];

			if (r->steps[c->callee] == FAR || r->steps[c->callee] + 1 >= r->steps[c->caller])
				continue;
			r->steps[c->caller] = r->steps[c->callee] + 1;
			changed = true;
		}
	}
}

static bool reaches_both(const struct reach *in, const struct reach *out, uint32_t f)
{
	return in->steps[f] != FAR && out->steps[f] != FAR;
}

/* The nearest function below f, itself first, that has such a call of its own. */
static uint32_t nearest(const struct project *p, const struct reach *r, uint32_t f)
{
	while (r->steps[f] > 0) {
		uint32_t next = f;

		for (size_t i = 0; i < p->calls.cnt; i++)
			if (p->calls.items[i].caller == f && r->steps[p->calls.items[i].callee] < r->steps[next])
				next = p->calls.items[i].callee;
		if (next == f)
			break;
		f = next;
	}
	return f;
}

static bool is_main(const struct project_function *f)
{
	return strcmp(f->name, "main") == 0;
}

/* A loop that serves many: what it calls is one request's, not it. */
static bool is_loop(const struct project_function *f, struct file_text *file)
{
	static const char *const polls[] = { "epoll_wait", "poll", "ppoll", "select", "accept", "accept4", "epoll_pwait" };
	const char *start, *end;

	return function_text(f, file, &start, &end) && calls_any(start, end, polls, ARRAY_SIZE(polls));
}

static void add(const struct project *p, const struct reach *in, const struct reach *out, uint32_t f, bool is_apart, uint32_t rank,
		suggestions *ret)
{
	uint32_t start = is_apart ? nearest(p, in, f) : f, end = is_apart ? nearest(p, out, f) : f;
	const struct project_function *from = &p->functions.items[start], *to = &p->functions.items[end];

	if (start == end)
		is_apart = false;
	if (is_main(from) || is_main(to))
		return;
	for (size_t i = 0; i < ret->cnt; i++)
		if (strcmp(ret->items[i].start, from->name) == 0 && strcmp(ret->items[i].end, to->name) == 0)
			return;
	VEC_ADD(ret, (struct suggestion){ from->name, to->name, from->file, from->line, is_apart, rank, 0,
					 in->steps[f] + out->steps[f] });
}

static int better(const void *pa, const void *pb)
{
	const struct suggestion *a = pa, *b = pb;

	if (a->needs_key != b->needs_key)
		return a->needs_key ? 1 : -1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->below != b->below)
		return a->below > b->below ? -1 : 1;
	if (a->height != b->height)
		return a->height < b->height ? -1 : 1;
	return strcmp(a->start, b->start);
}

static void find(const struct project *p, const struct reach *in, const struct reach *out, struct file_text *file, suggestions *ret)
{
	_cleanup_(freep) bool *above = xcalloc(p->functions.cnt + 1, sizeof(*above));

	for (size_t i = 0; i < p->calls.cnt; i++)
		if (p->calls.items[i].callee != p->calls.items[i].caller && reaches_both(in, out, p->calls.items[i].callee))
			above[p->calls.items[i].caller] = true;
	for (uint32_t f = 0; f < p->functions.cnt; f++) {
		const struct project_function *fn = &p->functions.items[f];

		if (above[f] || !reaches_both(in, out, f))
			continue;
		add(p, in, out, f, is_main(fn) || is_loop(fn, file), 2, ret);
	}
}

/* ---- what is called for one connection ---- */

struct served {
	const struct project *p;
	const struct reach *in, *out;
	bool *polls;			/* by function: its text polls or accepts */
	bool *has_caller;
};

static bool answers(const struct served *s, uint32_t f)
{
	return reaches_both(s->in, s->out, f) && !s->polls[f] && !is_main(&s->p->functions.items[f]);
}

/* Down while a single callee leads to both; what lies in a circle of calls has been passed. */
static uint32_t down_to_parts(const struct served *s, uint32_t f)
{
	for (size_t steps = 0; steps < s->p->functions.cnt; steps++) {
		uint32_t next = f;

		for (size_t i = 0; i < s->p->calls.cnt; i++) {
			const struct project_call *c = &s->p->calls.items[i];

			if (c->caller != f || c->callee == f || c->callee == next || !answers(s, c->callee))
				continue;
			if (next != f)
				return f;
			next = c->callee;
		}
		if (next == f || s->in->own[f] || s->out->own[f])
			return f;
		f = next;
	}
	return f;
}

static bool is_thread(const struct project_function *f)
{
	return f->address_taken && f->type && strcmp(f->type, "void *(void *)") == 0;
}

/* Its own text polls; or it is where a thread begins, and what it calls does, and nothing else. */
static bool serves_many(const struct served *s, uint32_t f)
{
	const struct project_function *fn = &s->p->functions.items[f];

	if (s->polls[f] || is_thread(fn))
		return true;
	for (size_t i = 0; is_main(fn) && i < s->p->calls.cnt; i++) {
		const struct project_call *c = &s->p->calls.items[i];

		if (c->caller == f && s->polls[c->callee] && !reaches_both(s->in, s->out, c->callee))
			return true;
	}
	return false;
}

/* Functions that calls from f lead to, direct ones. */
static size_t count_below(const struct project *p, uint32_t f)
{
	_cleanup_(freep) bool *seen = xcalloc(p->functions.cnt + 1, sizeof(*seen));
	size_t cnt = 0, before = SIZE_MAX;

	seen[f] = true;
	while (cnt != before) {
		before = cnt;
		for (size_t i = 0; i < p->calls.cnt; i++) {
			const struct project_call *c = &p->calls.items[i];

			if (!c->may && seen[c->caller] && !seen[c->callee]) {
				seen[c->callee] = true;
				cnt++;
			}
		}
	}
	return cnt;
}

static void add_served(const struct served *s, uint32_t f, uint32_t rank, suggestions *ret)
{
	uint32_t part = down_to_parts(s, f);
	size_t had = ret->cnt;

	add(s->p, s->in, s->out, part, false, rank, ret);
	if (ret->cnt > had && rank == 0)
		ret->items[had].below = count_below(s->p, part);
}

static void find_served(const struct served *s, suggestions *ret)
{
	for (uint32_t f = 0; f < s->p->functions.cnt; f++) {
		const struct project_function *fn = &s->p->functions.items[f];

		if (!s->has_caller[f] && fn->address_taken && fn->type && !is_thread(fn) && answers(s, f))
			add_served(s, f, 1, ret);
		for (size_t i = 0; serves_many(s, f) && i < s->p->calls.cnt; i++) {
			const struct project_call *c = &s->p->calls.items[i];

			if (c->caller == f && c->callee != f && !c->may && answers(s, c->callee))
				add_served(s, c->callee, 0, ret);
		}
	}
}

static void find_whole(const struct project *p, const struct reach *in, const struct reach *out, struct file_text *file, suggestions *ret)
{
	_cleanup_(freep) bool *polls = xcalloc(p->functions.cnt + 1, sizeof(*polls));
	_cleanup_(freep) bool *has_caller = xcalloc(p->functions.cnt + 1, sizeof(*has_caller));
	struct served s = { p, in, out, polls, has_caller };

	for (size_t i = 0; i < p->functions.cnt; i++)
		polls[i] = is_loop(&p->functions.items[i], file);
	for (size_t i = 0; i < p->calls.cnt; i++)
		if (p->calls.items[i].caller != p->calls.items[i].callee)
			has_caller[p->calls.items[i].callee] = true;
	find_served(&s, ret);
}

void suggest_intervals(const struct project *p, size_t most, suggestions *ret)
{
	struct reach in = { .own = xcalloc(p->functions.cnt + 1, sizeof(bool)) }, out = { .own = xcalloc(p->functions.cnt + 1, sizeof(bool)) };
	struct file_text file = { NULL, NULL, NULL, 0 };

	for (size_t i = 0; i < p->functions.cnt; i++)
		look_into(&p->functions.items[i], &file, &in.own[i], &out.own[i]);
	spread(p, &in);
	spread(p, &out);
	find_whole(p, &in, &out, &file, ret);
	find(p, &in, &out, &file, ret);
	if (ret->cnt > 1)
		qsort(ret->items, ret->cnt, sizeof(*ret->items), better);
	if (ret->cnt > most)
		ret->cnt = most;
	free(file.text);
	free(in.own);
	free(in.steps);
	free(out.own);
	free(out.steps);
}
