/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cause_words.c - words how a cause acts.
 *
 *	parse		"it runs"
 *	flush_log	"log_append › lock wait (server.c:28) because of flush_log, which sleeps"
 *	save		"mostly, queue wait because of save, which waits for input or output (the disk)"
 *	10.0.0.7:5432	"fetch › io wait (proxy.c:88) for it", "a request waits for it, put aside in connect_server, taken up in wait_for_response"
 */
#include "report/words/cause_words.h"

#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/text/label.h"
#include "report/style.h"
#include "report/words/because.h"
#include "report/words/sentence.h"

char *cause_label(const struct summed_cause *c)
{
	if (!c->known)
		return xstrdup("unknown");
	if (c->peer)
		return xstrdup(c->peer);
	if (c->function)
		return xstrdup(c->function);
	if (c->how == HOW_RUNQUEUE)
		return xstrdup("waiting for a CPU");
	if (c->device)
		return strcmp(c->device, "timer") ? xasprintf("the %s", c->device) : xstrdup("a time-out");
	return xstrdup(wait_text(c->wait));
}

void add_place(struct str *to, const char *file, uint32_t line)
{
	if (file && line)
		str_addf(to, " (%s:%u)", file, line);
	else if (file)
		str_addf(to, " (%s)", file);
}

char *cause_state(const struct summed_cause *c)
{
	if (c->known && c->function && c->how == HOW_RUNQUEUE)
		return xstrdup("waiting for a CPU");
	if (!c->known || c->how == HOW_RUNQUEUE || !c->function || c->peer)
		return xstrdup("");
	if (c->is_mixed)
		return xstrdup("running and waiting");
	if (!c->is_wait)
		return xstrdup("running time");
	if (c->device && strcmp(c->device, "timer"))
		return xasprintf("%s for the %s", wait_text(c->wait), c->device);
	return xstrdup(wait_text(c->wait));
}

static bool acts_by_itself(const struct summed_cause *c)
{
	return !c->has_waiter || c->how == HOW_RUNQUEUE ||
	       (c->known && !c->peer && c->function && c->waiter && strcmp(c->function, c->waiter) == 0 && c->is_wait && c->wait == c->waited &&
		c->how != HOW_QUEUE);
}

char *cause_through(const struct summed_cause *c)
{
	if (acts_by_itself(c) && c->known)
		return xstrdup("");
	if (!c->has_waiter)
		return xstrdup("no probed function");
	return c->waiter ? xasprintf("%s in %s", wait_text(c->waited), c->waiter) : xstrdup(wait_text(c->waited));
}

bool cause_is_parked(const struct summed_cause *c)
{
	return c->known && c->how == HOW_QUEUE && c->waited == STATE_QUEUE && c->is_wait && c->wait == STATE_IO && !c->peer && !c->device;
}

/* What the function did during the wait: "sleeps". */
static void add_doing(struct str *to, const struct summed_cause *c)
{
	static const char *const texts[STATE_CNT] = {
		[STATE_LOCK] = "waits for a lock", [STATE_COND] = "waits for a signal of another thread",
		[STATE_IO] = "waits for input or output", [STATE_QUEUE] = "waits in a queue",
		[STATE_JOIN] = "waits for a thread or process to end", [STATE_SLEEP] = "sleeps",
	};

	if (c->is_mixed)
		str_add(to, "runs and waits");
	else if (!c->is_wait)
		str_add(to, "runs");
	else
		str_add(to, texts[c->wait] ? texts[c->wait] : "is off the CPU");
	if (c->is_wait && c->device && strcmp(c->device, "timer"))
		str_addf(to, " (the %s)", c->device);
}

static void add_name(struct str *to, const char *function, bool utf8)
{
	label_add_readable(to, function, NAME_READABLE, glyphs_for(utf8)->ellipsis);
}

static void add_waiter(struct str *to, const struct summed_cause *c, bool utf8)
{
	if (!c->waiter) {
		str_add(to, "a request waits");
		return;
	}
	add_name(to, c->waiter, utf8);
	add_place(to, c->waiter_file, c->waiter_line);
	str_add(to, " waits");
}

/* The queue wait in which requests wait for it, if it is known between which functions they lie there. */
static const struct node *known_queue(const struct findings *f, const struct summed_cause *c)
{
	for (size_t i = 0; i < c->places.cnt; i++) {
		const struct node *n = &f->nodes.items[c->places.items[i]];

		while (n->kind == NODE_BLAME && n->parent != NODE_NONE)
			n = &f->nodes.items[n->parent];
		if (n->kind == NODE_WAIT && n->put_aside && n->taken_up)
			return n;
	}
	return NULL;
}

static void add_between(struct str *to, const struct node *queue, bool utf8)
{
	str_add(to, "put aside in ");
	add_name(to, queue->put_aside, utf8);
	str_add(to, ", taken up in ");
	add_name(to, queue->taken_up, utf8);
}

/* "log_append › lock wait (server.c:28) because of flush_log, which sleeps" */
static void add_effect(struct str *to, const struct findings *f, const struct summed_cause *c, bool utf8)
{
	const struct node *queue = c->waited == STATE_QUEUE ? known_queue(f, c) : NULL;

	if (c->waiter && c->waited != STATE_QUEUE) {
		add_name(to, c->waiter, utf8);
		str_add(to, glyphs_for(utf8)->then);
	}
	str_add(to, wait_text(c->waited));
	if (c->waiter && c->waited != STATE_QUEUE)
		add_place(to, c->waiter_file, c->waiter_line);
	if (queue) {
		str_add(to, " (");
		add_between(to, queue, utf8);
		str_add(to, ")");
	}
	str_add(to, " because of ");
	add_name(to, c->function, utf8);
	str_add(to, ", which ");
	add_doing(to, c);
}

/* "fetch › io wait (proxy.c:88) for it" */
static void add_waiting(struct str *to, const struct findings *f, const struct summed_cause *c, bool utf8)
{
	const struct node *queue = c->waited == STATE_QUEUE ? known_queue(f, c) : NULL;

	str_add(to, c->waiter_share >= NEARLY_ALL * c->share ? ": " : ": mostly, ");
	if (queue) {
		str_add(to, "a request waits for it, ");
		add_between(to, queue, utf8);
	} else if (c->waiter) {
		add_name(to, c->waiter, utf8);
		str_addf(to, "%s%s for it", glyphs_for(utf8)->then, wait_text(c->waited));
	} else {
		str_add(to, "a request waits for it");
	}
}

void cause_add_how(struct str *to, const struct findings *f, const struct summed_cause *c, bool utf8)
{
	bool by_itself = acts_by_itself(c);

	if (c->peer) {
		add_waiting(to, f, c, utf8);
		return;
	}
	if (c->known && c->function && c->how == HOW_RUNQUEUE)
		str_add(to, ", most of it waiting for a CPU");
	if (!c->known || c->how == HOW_RUNQUEUE || !c->function)
		return;
	str_add(to, by_itself || c->waiter_share >= NEARLY_ALL * c->share ? ": " : ": mostly, ");
	if (!by_itself) {
		add_effect(to, f, c, utf8);
		return;
	}
	str_add(to, "it ");
	add_doing(to, c);
	if (c->is_wait && !c->is_mixed && c->wait != STATE_SLEEP) {
		str_add(to, " (");
		add_name(to, c->function, utf8);
		str_addf(to, "%s%s)", glyphs_for(utf8)->then, wait_text(c->wait));
	}
}

/* If the kernel's side was recorded, it has no more to say. */
static const char *tells_more(const struct findings *f)
{
	return f->cpu.is_known && f->cpu.is_exact ? "the kernel's side does not say, either" : "vprof record --kernel tells more";
}

void cause_add_why_unknown(struct str *to, const struct findings *f, const struct summed_cause *c, bool utf8)
{
	if (!c->has_waiter) {
		str_addf(to, "mostly, it runs %s; %s", in_no_function(f), would_name(f));
		return;
	}
	str_add(to, "mostly, ");
	if (c->waited == STATE_PARKED && !c->is_wait) {
		str_add(to, "no thread here has the request (parked): a process behind it, a timer or the client has it; look at that, too");
		return;
	}
	add_waiter(to, c, utf8);
	str_addf(to, " (%s), and ", wait_text(c->waited));
	if (c->waited == STATE_OTHER)
		str_addf(to, "why it is off the CPU is not recorded; %s", tells_more(f));
	else if (c->is_wait && c->wait == STATE_OTHER)
		str_addf(to, "the thread that it waits for was not recorded; %s", tells_more(f));
	else if (c->waited == STATE_QUEUE || c->waited == STATE_ARRIVED || c->waited == STATE_HANDED_OVER)
		str_addf(to, "its thread was %s meanwhile%s%s; %s", in_no_function(f), c->is_wait ? ", in " : "",
			 c->is_wait ? wait_text(c->wait) : "", would_name(f));
	else if (c->is_wait || !lacks_wakers(f))
		str_addf(to, "the thread that ended the wait was %s; %s", in_no_function(f), would_name(f));
	else if (c->waited == STATE_LOCK || c->waited == STATE_COND || c->waited == STATE_JOIN)
		str_addf(to, "which thread ended the wait is not recorded; list what lets go under [sync] release, or vprof build "
			 "--functions all");
	else
		str_addf(to, "what ended the wait is not recorded; %s", tells_more(f));
}
