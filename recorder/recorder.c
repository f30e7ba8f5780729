/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorder.c - opens, takes records and stacks out of the kernel's memory until the run has ended, closes.
 *
 * Waking up takes a CPU from another thread, perhaps of the measured server.  So it looks every 10 ms only if there
 * is much to take, and up to every 50 ms if there is little; and it is a batch job (background.h).  It never waits
 * for the disk: another thread does that (block_queue.h).  Handling many stacks at once also takes less time for
 * each, because their tables have to be loaded into the CPU's caches each time; but until then the kernel copies
 * stacks that it could have recognised.
 *
 *	65,536 places a CPU, 600 records of one CPU in 50 ms	again after 50 ms
 *	2,100 in 50 ms						after 10 ms
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/banned.h"
#include "recorder/background.h"
#include "recorder/calls.h"
#include "recorder/device_waits.h"
#include "recorder/sockets/exchanges.h"
#include "recorder/packet_watch.h"
#include "recorder/recorder_internal.h"
#include "recorder/bpf/record.h"
#include "recorder/bpf/record.skel.h"
#include "recorder/segments.h"
#include "recorder/reduced.h"
#include "recorder/stacks/stacks.h"

enum {
	PAUSE_MIN_NS = 10000000,
	PAUSE_MAX_NS = 50000000,
	RECORD_NS = 1000,		/* least time between two records of one CPU */
	MANY_SHARE = 32,		/* a share of a CPU's places, and of the ring of stacks */
	MANY_STACKS_TOLD = 20,
	STACKS_AT_ONCE = 1000,
};

struct recorder {
	struct record_bpf *programs;
	struct segments segments;
	struct device_waits device_waits;
	struct ring_buffer *stack_ring;	/* NULL without stacks */
	struct reduced *reduced;	/* replaces the two above */
	struct writer writer;
	struct stacks *stacks;		/* NULL: none */
	struct known_stack *known_stacks;	/* shared with the kernel; NULL: none, each stack is copied */
	int stacks_left;		/* number still to be taken this time */
	size_t stack_bytes, stacks_told;	/* bytes taken; number passed to the kernel, this time */
	bool is_busy;			/* there was much to take this time */
	struct sampler *sampler;	/* NULL: none */
	struct packet_watch *packet_watch;	/* NULL: none */
	struct exchange_cost exchange_cost;
	struct calls *calls;		/* NULL: none */
	uint64_t watched_from_ns;	/* exchanges */
	pthread_t thread;
	int stop;
	uint64_t start_ns;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void take(void *context, const void *record, size_t len)
{
	writer_record(context, record, len);
}

static int take_stack(void *context, void *record, size_t len)
{
	struct recorder *r = context;
	struct known_stack known;
	unsigned int place;

	writer_record(&r->writer, record, len);
	r->stack_bytes += len;
	if (r->known_stacks && stacks_known(r->stacks, record, now_ns(), &place, &known)) {
		known_stack_set(&r->known_stacks[place], &known);
		r->stacks_told++;
	}
	return --r->stacks_left ? 0 : -EAGAIN;
}

/* Unwinding is slow: takes only a limited number at once, so that the other ring does not fill up meanwhile.  True:
 * there are more. */
static bool empty(struct recorder *r, bool last)
{
	bool more;

	if (r->reduced) {
		reduced_drain(r->reduced, &r->writer, last);
		return false;
	}
	r->is_busy = segments_most(&r->segments) > r->segments.places_per_cpu / MANY_SHARE;
	segments_take(&r->segments, last ? UINT64_MAX : now_ns(), take, &r->writer);
	if (!r->stack_ring)
		return false;
	stacks_read(r->stacks);
	r->stacks_left = STACKS_AT_ONCE;
	r->stack_bytes = r->stacks_told = 0;
	more = ring_buffer__consume(r->stack_ring) == -EAGAIN;
	r->is_busy = r->is_busy || r->stacks_told > MANY_STACKS_TOLD ||
		     r->stack_bytes > bpf_map__max_entries(r->programs->maps.stack_records) / MANY_SHARE;
	return more;
}

/* As often as ever if there is little room for records, or an unknown amount. */
static long next_pause_ns(const struct recorder *r, long pause_ns)
{
	long longest_ns = r->reduced ? PAUSE_MIN_NS : (long)r->segments.places_per_cpu * RECORD_NS;

	if (r->is_busy || longest_ns <= PAUSE_MIN_NS)
		return PAUSE_MIN_NS;
	if (longest_ns > PAUSE_MAX_NS)
		longest_ns = PAUSE_MAX_NS;
	pause_ns += pause_ns / 4;
	return pause_ns < longest_ns ? pause_ns : longest_ns;
}

int recorder_rest(struct recorder *r, int rest)
{
	sampler_rest(r->sampler, rest);
	return packet_watch_rest(r->packet_watch, rest);
}

static void *empty_until_the_end(void *context)
{
	struct recorder *r = context;
	long pause_ns = PAUSE_MIN_NS;

	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
		packet_watch_look(r->packet_watch, now_ns());
		sampler_draw(r->sampler, now_ns());
		if (!r->reduced)
			exchange_cost_look(&r->exchange_cost, r->programs, now_ns(), r->writer.exchange_cnt);
		if (empty(r, false))
			continue;
		pause_ns = next_pause_ns(r, pause_ns);
		nanosleep(&(struct timespec){ 0, pause_ns }, NULL);
	}
	return NULL;
}

static void recorder_free(struct recorder *r)
{
	device_waits_close(&r->device_waits);
	packet_watch_free(r->packet_watch);
	if (r->calls)
		calls_detach(r->calls);
	if (r->calls)
		calls_release(r->calls);
	free(r->calls);
	segments_unmap(&r->segments);
	ring_buffer__free(r->stack_ring);
	reduced_close(r->reduced);
	sampler_close(r->sampler);
	known_stacks_free(r->known_stacks);
	record_bpf__destroy(r->programs);
	stacks_free(r->stacks);
	writer_close(&r->writer);
	free(r);
}

static int start_threads(struct recorder *r)
{
	int e = r->reduced ? 0 : packet_watch_new(r->programs, &r->packet_watch);

	return e ? e : background_start(&r->thread, empty_until_the_end, r);
}

static int find_calls(struct recorder *r, const struct recorder_options *o, struct diag *reterr)
{
	if (!o->calls.start)
		return 0;
	r->calls = calloc(1, sizeof(*r->calls));
	if (!r->calls)
		return diag_set(reterr, EXIT_ENVIRONMENT, -ENOMEM, "out of memory");
	return calls_find(r->calls, &o->calls, o->pid, reterr);
}

static int start(struct recorder *r, const struct recorder_options *o, struct diag *reterr)
{
	uint32_t sample_cost_ns;
	int e = find_calls(r, o, reterr);

	if (!e)
		e = programs_start(o, r->calls, &r->programs, &sample_cost_ns, reterr);
	if (e == -EPERM && o->or_reduced && !o->pid && reduced_open(&r->reduced) == 0)
		e = 0;
	if (e)
		return e;
	e = writer_open(&r->writer, o->path);
	if (e)
		return diag_set(reterr, EXIT_ENVIRONMENT, e, "cannot write the kernel's trace '%s': %s",
				o->path, strerror(-e));
	r->writer.file.limit = o->limit_bytes;
	r->writer.exchanges = !o->exchanges || r->reduced ? EXCHANGES_OFF : o->for_arrivals ? EXCHANGES_ARRIVALS : EXCHANGES_REQUESTS;
	r->writer.sample_cost_ns = sample_cost_ns;
	e = writer_begin(&r->writer, r->reduced != NULL,
			 o->samples_hz && !r->reduced ? 1000000000 / o->samples_hz : 0);
	if (!e && !r->reduced)
		e = programs_segments(r->programs, &r->segments);
	if (!r->reduced && (o->user_stacks || o->kernel_stacks))
		r->writer.stacks = r->stacks = stacks_new();
	if (!e && r->stacks) {
		r->stack_ring = ring_buffer__new(bpf_map__fd(r->programs->maps.stack_records), take_stack, r, NULL);
		e = r->stack_ring ? 0 : -errno;
		r->known_stacks = programs_known_stacks(r->programs);
	}
	if (!e && r->stacks && o->samples_hz)
		e = sampler_open(r->programs->progs.on_sample, o->samples_hz, &r->sampler);
	if (!e)
		e = start_threads(r);
	if (!e && !r->reduced)
		r->watched_from_ns = programs_watch_exchanges(r->programs, true);
	return e ? diag_set(reterr, EXIT_ENVIRONMENT, e, "cannot start the kernel recorder: %s",
			    strerror(-e)) : 0;
}

int recorder_open(const struct recorder_options *o, struct recorder **ret, struct diag *reterr)
{
	struct recorder *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return diag_set(reterr, EXIT_ENVIRONMENT, -ENOMEM, "out of memory");
	if (o->pid)			/* somebody uses it, while we load, and after the recording */
		background_short_slices();
	r->writer.file.fd = -1;
	r->start_ns = now_ns();
	e = start(r, o, reterr);
	if (e) {
		recorder_free(r);
		return e;
	}
	*ret = r;
	return 0;
}

int recorder_device_waits(struct recorder *r, const struct device_wait **ret, int *ret_fd, uint64_t *ret_number)
{
	int e = r->device_waits.table ? 0 : device_waits_open(r->programs, &r->device_waits);

	if (e)
		return e;
	*ret = r->device_waits.table;
	*ret_fd = r->device_waits.fd;
	*ret_number = r->device_waits.number;
	return 0;
}

void recorder_await(struct recorder *r, uint32_t disk)
{
	device_waits_await(r->programs, disk);
}

int recorder_is_reduced(const struct recorder *r)
{
	return r->reduced != NULL;
}

void recorder_end_exchanges(struct recorder *r)
{
	if (!r->reduced && !r->writer.watched_ns)
		r->writer.watched_ns = programs_watch_exchanges(r->programs, false) - r->watched_from_ns;
}

int recorder_close(struct recorder *r, struct recorder_stats *ret, struct diag *reterr)
{
	struct exchange_path_texts paths;
	uint64_t end_ns, lost;
	int e;

	recorder_end_exchanges(r);
	__atomic_store_n(&r->stop, 1, __ATOMIC_RELEASE);
	pthread_join(r->thread, NULL);
	sampler_close(r->sampler);		/* that thread used it */
	r->sampler = NULL;
	packet_watch_free(r->packet_watch);	/* first, since it attaches programs, too */
	r->packet_watch = NULL;
	if (r->calls)
		calls_detach(r->calls);
	end_ns = r->reduced ? now_ns() : programs_stop(r->programs);
	while (empty(r, true))
		;
	lost = r->reduced ? reduced_lost(r->reduced) : r->programs->bss->lost_records + r->segments.overwritten;
	if (!r->reduced)
		exchanges_end(r->programs, &r->writer);
	if (!r->reduced)
		r->writer.path_cnt = exchanges_paths(r->programs, &paths);
	r->writer.paths = paths.items;
	exchange_cost_end(&r->exchange_cost);
	r->writer.exchange_cost_ns = r->exchange_cost.cost_ns;
	r->writer.unasked = r->reduced ? 0 : r->programs->bss->unasked;
	r->writer.calls = r->calls;
	r->writer.calls_without_start = r->reduced ? 0 : r->programs->bss->calls_without_start;
	writer_end(&r->writer, r->start_ns, end_ns, lost);
	if (ret)
		*ret = (struct recorder_stats){
			.records = r->writer.records, .lost_records = lost,
			.stacks = r->writer.stack_records, .unknown_stacks = r->writer.unknown_stacks,
			.lost_stacks = r->reduced ? 0 : r->programs->bss->lost_stacks,
			.datagrams = r->reduced ? 0 : r->programs->bss->datagrams,
			.asked_others = r->reduced ? 0 : r->programs->bss->asked_others,
			.unasked = r->reduced ? 0 : r->programs->bss->unasked,
			.calls_without_start = r->writer.calls_without_start,
			.bytes_written = r->writer.file.bytes, .full = r->writer.file.full,
			.disk_error = r->writer.file.error,
			.unnamed_stacks = r->writer.unnamed.cnt, .numbered_stacks = r->writer.unnamed.of,
		};
	if (ret)
		memcpy(ret->unnamed_file, r->writer.unnamed.file, sizeof(ret->unnamed_file));
	e = writer_close(&r->writer);
	recorder_free(r);
	return e ? diag_set(reterr, EXIT_ENVIRONMENT, e, "cannot finish the kernel's trace: %s",
			    strerror(-e)) : 0;
}
