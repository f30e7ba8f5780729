/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packet_watch.c - requests are set under a lock that the thread holds while it attaches; a caller that finds it
 * taken repeats the request the next time.
 */
#include "recorder/packet_watch.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include "base/banned.h"
#include "recorder/background.h"
#include "recorder/recorder_internal.h"

enum { QUIET_NS = 1000000000 };

struct packet_watch {
	struct record_bpf *programs;
	uint64_t packets, last_ns;	/* exchanged with other hosts; since when there are no more; 0: not read yet */
	bool told_each;			/* the last request: whether to look at each packet */
	pthread_t thread;
	pthread_mutex_t lock;		/* protects everything below, and what is attached */
	pthread_cond_t changed;
	bool each, each_is_attached;
	bool rests, stop;
	uint64_t resting;		/* the programs attached before the rest */
};

static void *attach_what_is_wanted(void *context)
{
	struct packet_watch *w = context;

	pthread_mutex_lock(&w->lock);
	while (!w->stop) {
		if (w->rests || w->each == w->each_is_attached) {
			pthread_cond_wait(&w->changed, &w->lock);
			continue;
		}
		programs_watch_packets(w->programs, w->each);
		w->each_is_attached = w->each;
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

int packet_watch_new(struct record_bpf *programs, struct packet_watch **ret)
{
	struct packet_watch *w = calloc(1, sizeof(*w));
	int e;

	if (!w)
		return -ENOMEM;
	w->programs = programs;
	w->told_each = w->each = w->each_is_attached = true;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	e = background_start(&w->thread, attach_what_is_wanted, w);
	if (e)
		free(w);
	else
		*ret = w;
	return e;
}

void packet_watch_free(struct packet_watch *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	free(w);
}

void packet_watch_look(struct packet_watch *w, uint64_t now_ns)
{
	uint64_t packets = w ? programs_outside_packets(w->programs) : 0;
	bool each;

	if (!w)
		return;
	if (packets != w->packets || !w->last_ns) {
		w->packets = packets;
		w->last_ns = now_ns;
	}
	each = now_ns - w->last_ns <= QUIET_NS;
	if (each == w->told_each || pthread_mutex_trylock(&w->lock) != 0)
		return;
	w->told_each = w->each = each;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

int packet_watch_rest(struct packet_watch *w, bool rest)
{
	int e = 0;

	if (!w)
		return 0;
	pthread_mutex_lock(&w->lock);
	if (w->rests != rest) {
		w->rests = rest;
		if (rest)
			programs_rest(w->programs, &w->resting);
		else
			e = programs_go_on(w->programs, w->resting);
		pthread_cond_signal(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	return e;
}
