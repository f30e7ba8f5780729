/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * because.c - words the blames of a wait: at most two, the largest first; all unknown blames count as one.
 *
 *	unknown › sleep wait .50, unknown .20, flush .25	because of unknown (70 %: ...) and flush (25 %)
 *	flush .04, flush › lock wait .05, flush › io wait .04	because of flush (13 %)
 *	.01 each of 60 functions				because of 60 functions (60 % together), flush first (1 %)
 */
#include "report/words/because.h"

#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/text/label.h"
#include "report/style.h"
#include "report/words/sentence.h"

#define MOST 2
#define MANY_LEAST 0.5			/* of the wait's share, if many functions, each below LEAST, explain it together */
#define LEAST 0.1			/* of the wait's share: the sentence leaves out a smaller blame */

static void add_name_of(struct str *to, const char *function)
{
	size_t peer_len = findings_peer_len(function);

	if (!function)
		str_add(to, "unknown");
	else if (peer_len)
		str_addn(to, function + 1, peer_len);
	else if (!strcmp(function, "(kernel)"))
		str_add(to, "the kernel");
	else
		str_add(to, strcmp(function, "(timer)") ? function : "its own time-out");
}

static bool is_timer(const char *device)
{
	return device && !strcmp(device, "timer");
}

/* Adds " for the disk".  Nothing for a sleep that its timer ends: that is the normal case. */
static void add_device(struct str *to, const char *device, enum trace_state wait)
{
	if (device && !is_timer(device))
		str_addf(to, " for the %s", device);
	else if (device && wait != STATE_SLEEP)
		str_add(to, " until its time-out");
}

char *because_label(const struct because *b, bool utf8)
{
	struct str s = STR_INIT;

	add_name_of(&s, b->function);
	if (b->is_wait) {
		str_addf(&s, "%s%s", glyphs_for(utf8)->then, wait_text(b->wait));
		add_device(&s, b->device, b->wait);
	}
	return str_take(&s);
}

char *blame_label_short(const struct node *n)
{
	struct str s = STR_INIT;

	str_add(&s, "by ");
	add_name_of(&s, n->function);
	return str_take(&s);
}

char *blame_label(const struct node *n)
{
	_cleanup_(freep) char *who = blame_label_short(n);

	if (!n->is_wait)
		return TAKE_PTR(who);
	if (!n->device || (is_timer(n->device) && n->wait == STATE_SLEEP))
		return xasprintf("%s (%s)", who, trace_state_name(n->wait));
	return xasprintf("%s (%s, %s)", who, trace_state_name(n->wait), is_timer(n->device) ? "timed out" : n->device);
}

bool lacks_wakers(const struct findings *f)
{
	for (size_t i = 0; i < f->warnings.cnt; i++)
		if (!strcmp(f->warnings.items[i].code, "no-waker"))
			return true;
	return false;
}

const char *in_no_function(const struct findings *f)
{
	return f->look.is_one ? "in no function that has a name" : "in no probed function";
}

/* In root-only intervals no function is recorded, even if it has a probe. */
const char *would_name(const struct findings *f)
{
	if (f->look.is_one)
		return "debugging symbols of the program, or a longer look, would name it";
	return f->probing.root_only_cnt ? "vprof record without --sample, or vprof build --functions all, would name it"
					: "vprof build --functions all would name it";
}

/* The waker was in no known function, or the waker itself is not known; the remedies differ. */
static void add_why_nobody(struct str *to, const struct findings *all, const struct factor *f)
{
	bool is_lock = f->wait == STATE_LOCK || f->wait == STATE_COND || f->wait == STATE_JOIN;
	const char *in_full = all->probing.root_only_cnt ? "vprof record without --sample, " : "";

	if (is_lock && !lacks_wakers(all))
		str_addf(to, "the thread that ended the wait was %s; %s", in_no_function(all), would_name(all));
	else if (is_lock)
		str_addf(to, "the thread that ended the wait is not recorded, or was in no probed function, or the lock changed hands more than 64 times "
			     "in one wait; list what lets go under [sync] release, %sor vprof build --functions all", in_full);
	else
		str_addf(to, "the thread that ended the wait is not recorded, or was in no probed function; vprof record --kernel, %sor vprof build "
			     "--functions all, would name it", in_full);
}

/* Adds why it is unknown, and what would name it. */
static void add_why(struct str *to, const struct findings *all, const struct factor *f, const struct because *b)
{
	if (!b->is_wait && f->wait == STATE_QUEUE)
		str_addf(to, "its thread was %s; %s", in_no_function(all), would_name(all));
	else if (!b->is_wait)
		add_why_nobody(to, all, f);
	else if (b->wait == STATE_OTHER)
		str_add(to, "its thread was not recorded at that time; vprof record --kernel tells more");
	else
		str_addf(to, "its thread was %s, in %s; %s", in_no_function(all), wait_text(b->wait), would_name(all));
}

static bool is_same_function(const struct because *a, const struct because *b)
{
	if (!a->function || !b->function)
		return !a->function && !b->function;
	return strcmp(a->function, b->function) == 0 && strcmp(a->file ? a->file : "", b->file ? b->file : "") == 0;
}

static int by_share(const void *pa, const void *pb)
{
	const struct because *a = pa, *b = pb;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	if (!a->function || !b->function)
		return !b->function - !a->function;
	return strcmp(a->function, b->function);
}

/* The blames are sorted, so the first one of a function is its largest. */
size_t because_by_function(const struct factor *f, struct because **ret)
{
	struct because *list = xcalloc(f->because_of.cnt + 1, sizeof(*list));
	_cleanup_(freep) double *largest = xcalloc(f->because_of.cnt + 1, sizeof(*largest));
	size_t cnt = 0;

	for (size_t i = 0; i < f->because_of.cnt; i++) {
		const struct because *b = &f->because_of.items[i];
		size_t k = 0;

		while (k < cnt && !is_same_function(&list[k], b))
			k++;
		if (k == cnt) {
			list[cnt++] = *b;
			largest[k] = b->share;
		} else {
			list[k].share += b->share;
		}
	}
	for (size_t k = 0; k < cnt; k++)
		if (list[k].function && largest[k] < NEARLY_ALL * list[k].share) {
			list[k].is_wait = false;
			list[k].device = NULL;
		}
	if (cnt > 1)
		qsort(list, cnt, sizeof(*list), by_share);
	*ret = list;
	return cnt;
}

static void add_one(struct str *to, const struct findings *all, const struct factor *f, size_t at, const struct because *b,
		    bool utf8)
{
	char percent[TEXT_MAX];

	str_add(to, at ? " and " : "; because of ");
	if (!b->function) {
		str_addf(to, "unknown (%s", text_percent(percent, b->share));
		if (!at) {
			str_add(to, ": ");
			add_why(to, all, f, b);
		}
		str_addc(to, ')');
		return;
	}
	_cleanup_(freep) char *label = because_label(b, utf8);

	label_add_readable(to, label, NAME_READABLE, glyphs_for(utf8)->ellipsis);
	str_addf(to, " (%s)", text_percent(percent, b->share));
}

/* A sleep that its own timeout ends needs no words. */
static bool goes_without_saying(const struct factor *f, const struct because *b)
{
	return f->is_wait && f->wait == STATE_SLEEP && b->function && !strcmp(b->function, "(timer)");
}

/* No single function is above LEAST: adds their number, and the first of them. */
static void add_many(struct str *to, const struct factor *f, const struct because *list, size_t cnt, bool utf8)
{
	_cleanup_(str_release) struct str name = STR_INIT;
	char percent[TEXT_MAX];
	double known = 0;
	size_t named = 0, first = cnt;

	for (size_t i = 0; i < cnt; i++) {
		if (!list[i].function || goes_without_saying(f, &list[i]) || !(list[i].share > 0))
			continue;
		first = first == cnt ? i : first;
		known += list[i].share;
		named++;
	}
	if (named < 2 || known < MANY_LEAST * f->share)
		return;
	str_addf(to, "; because of %zu functions (%s together), ", named, text_percent(percent, known));
	add_name_of(&name, list[first].function);
	label_add_readable(to, str_cstr(&name), NAME_READABLE, glyphs_for(utf8)->ellipsis);
	str_addf(to, " first (%s)", text_percent(percent, list[first].share));
}

void because_add(struct str *to, const struct findings *all, const struct factor *f, bool utf8)
{
	_cleanup_(freep) struct because *list = NULL;
	size_t cnt = because_by_function(f, &list), named = 0;
	double least = f->share * LEAST;

	for (size_t i = 0; i < cnt && named < MOST; i++)
		if (list[i].share >= least && !goes_without_saying(f, &list[i]))
			add_one(to, all, f, named++, &list[i], utf8);
	if (!named)
		add_many(to, f, list, cnt, utf8);
}
