/* SPDX-License-Identifier: GPL-3.0-or-later */
/* upstreams.c - see upstreams.h. */
#include "trace/kernel/upstreams.h"

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "trace/peers.h"

struct naming {
	struct trace *t;
	const struct kernel_trace *k;
	struct map *peer_of;		/* by kernel_upstream.name, plus one: TID */
	uint64_t next_peer;
};

static const char *name_of(const struct kernel_trace *k, uint32_t name)
{
	const strings *list = name < EXCHANGE_PATH ? &k->upstream_names : &k->paths;
	size_t i = name < EXCHANGE_PATH ? name : name - EXCHANGE_PATH;

	return i < list->cnt ? list->items[i] : NULL;
}

static uint64_t first_free_peer(const struct trace *t)
{
	uint64_t next = TID_PEER(0);

	for (size_t i = 0; i < t->threads.cnt; i++)
		if (t->threads.items[i].kind == KIND_PEER && t->threads.items[i].tid >= next)
			next = t->threads.items[i].tid + 1;
	return next;
}

/* 0: its name is not known. */
static uint64_t peer_of(struct naming *n, uint32_t name)
{
	const char *text = name_of(n->k, name);
	uint64_t tid;

	if (!text)
		return 0;
	if (map_get(n->peer_of, name, &tid))
		return tid;
	tid = n->next_peer++;
	map_set(n->peer_of, name, tid);
	VEC_ADD(&n->t->threads, (struct thread_name){ .tid = tid, .name = arena_strdup(n->t->arena, text), .kind = KIND_PEER });
	return tid;
}

/* The thread's last wait that had begun by then; NULL: it was not for files. */
static const struct segment *wait_before(const struct trace *t, uint64_t tid, int64_t ns)
{
	const struct segment *s = t->segments.items;
	size_t i = partition_point(j, t->segments.cnt, s[j].tid < tid || (s[j].tid == tid && s[j].start_ns < ns));

	while (i > 0 && s[i - 1].tid == tid && (s[i - 1].state == STATE_RUNNING || s[i - 1].state == STATE_RUNNABLE))
		i--;
	return i > 0 && s[i - 1].tid == tid && s[i - 1].state == STATE_IO ? &s[i - 1] : NULL;
}

/* The wakeup that ended the wait; NULL: there is none. */
static struct wakeup *wakeup_of(const struct trace *t, const struct segment *wait, int64_t ns)
{
	struct wakeup *w = t->wakeups.items;
	size_t i = partition_point(j, t->wakeups.cnt, w[j].tid < wait->tid || (w[j].tid == wait->tid && w[j].time_ns <= ns));

	return i == 0 || w[i - 1].tid != wait->tid || w[i - 1].time_ns < wait->start_ns ? NULL : &w[i - 1];
}

static struct map *recorded_threads(const struct trace *t)
{
	struct map *recorded = map_new();

	for (size_t i = 0; i < t->segments.cnt; i++)
		if (i == 0 || t->segments.items[i].tid != t->segments.items[i - 1].tid)
			map_set(recorded, t->segments.items[i].tid, 1);
	return recorded;
}

/* A waker whose own time is known says more than the peer does. */
static uint64_t name_wait(struct naming *n, const struct kernel_upstream *u, struct kernel_threads *x, const struct map *recorded)
{
	const struct segment *wait = u->after_wait ? wait_before(n->t, kernel_thread_at(x, u->tid, u->ns), u->ns) : NULL;
	struct wakeup *w = wait ? wakeup_of(n->t, wait, u->ns) : NULL;
	uint64_t peer, unused;

	if (w && map_get(recorded, w->waker_tid, &unused))
		return 0;
	peer = w || u->connection ? peer_of(n, u->name) : 0;
	if (w && peer)
		w->waker_tid = peer;
	return peer;
}

uint64_t *upstreams_add(struct trace *t, const struct kernel_trace *k, struct kernel_threads *x)
{
	_cleanup_(map_freep) struct map *recorded = NULL, *peers = NULL;
	struct naming n = { .t = t, .k = k };
	uint64_t *ret;

	if (!k->upstreams.cnt)
		return NULL;
	ret = xcalloc(k->upstreams.cnt, sizeof(*ret));
	recorded = recorded_threads(t);
	n.peer_of = peers = map_new();
	n.next_peer = first_free_peer(t);
	for (size_t i = 0; i < k->upstreams.cnt; i++)
		ret[i] = name_wait(&n, &k->upstreams.items[i], x, recorded);
	trace_name_peers(t);
	return ret;
}
