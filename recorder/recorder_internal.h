/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorder_internal.h - the recorder's own parts: the programs in the kernel (programs.c; packet_watch.h, when which), the thread that
 * takes the records out (recorder.c), the file (write.c, block_queue.h), names of devices (names.c).  Stacks: stacks.h,
 * unwind.h, images.h, symbols.h.
 */
#ifndef RECORDER_RECORDER_INTERNAL_H
#define RECORDER_RECORDER_INTERNAL_H

#include <stdbool.h>
#include "base/alloc.h"
#include "recorder/record_dedup.h"
#include "recorder/recorder.h"
#include "recorder/stacks/stacks.h"
#include "recorder/sockets/upstreams.h"
#include "trace/encode.h"
#include "trace/file.h"
#include "trace/kernel_format.h"

struct block_queue;
struct calls;
struct record_bpf;
struct segments;

/* programs.c */
/* ret_sample_cost_ns: measured if requests are wanted and samples, else 0.  calls: what to watch, found already; NULL: none. */
int programs_start(const struct recorder_options *o, struct calls *calls, struct record_bpf **ret, uint32_t *ret_sample_cost_ns,
		   struct diag *reterr);
int programs_segments(struct record_bpf *p, struct segments *ret);	/* where the records are; 0 or a negative errno */
void segments_unmap(struct segments *s);
/* For tests (VPROF_KERNEL_HOOKS): behave as on a kernel whose counters interrupts.bpf.h does not find (softirqs), without bpf_rdonly_cast
 * (helpers) or without tracepoints of the socket layer (no-sockets) or without uprobes (no-uprobes) or tracepoints of disks (no-disks), or as with a hundred thousand threads in the run (crowds). */
bool programs_must_use(const char *what);
/* The KNOWN_PLACES entries that the programs read; NULL: there are none. */
struct known_stack *programs_known_stacks(struct record_bpf *p);
void known_stacks_free(struct known_stack *all);	/* NULL is fine */
void known_stack_set(struct known_stack *where, const struct known_stack *what);
uint64_t programs_outside_packets(const struct record_bpf *p);	/* approximate number exchanged with other hosts */
/* Whether to watch each packet; else only those that a driver hands over (if that is enough). */
void programs_watch_packets(struct record_bpf *p, bool each);
/* Detaches all attached programs and stores which (a bit each); programs_go_on() attaches these again: 0 or a negative errno. */
void programs_rest(struct record_bpf *p, uint64_t *ret);
int programs_go_on(struct record_bpf *p, uint64_t which);
/* All programs are attached, and none is detached yet: only then do they look at exchanges.  Returns when that was. */
uint64_t programs_watch_exchanges(struct record_bpf *p, bool watch);
uint64_t programs_stop(struct record_bpf *p);	/* stops recording; returns when, on CLOCK_MONOTONIC */

/* sampler.c: samples of each CPU. */
struct bpf_program;
struct sampler;
int sampler_open(const struct bpf_program *program, unsigned int hz, struct sampler **ret);
/* The same of the calling thread alone. */
int sampler_open_own(const struct bpf_program *program, unsigned int hz, struct sampler **ret);
/* To be called often: now and then it draws the periods anew, so that what keeps time is not in step with them. */
void sampler_draw(struct sampler *s, uint64_t now_ns);	/* NULL is fine, here and below */
void sampler_rest(struct sampler *s, bool rest);
void sampler_close(struct sampler *s);

struct device {
	enum kernel_waker kind;
	uint32_t number;
};

/* write.c */
enum { WRITE_DEVICES_MAX = 256 };

struct writer {
	struct trace_file file;		/* the queue's from writer_begin() to writer_end() */
	struct block_queue *queue;	/* NULL: recording has not begun, or is over */
	struct encoder block;
	uint64_t before_ns;		/* of the record before, in this block */
	struct alike alike;
	uint64_t records;		/* of threads; no stacks */
	struct stacks *stacks;		/* NULL: not requested; belongs to the caller */
	enum exchange_use exchanges;	/* set before writer_begin(), like the next */
	uint32_t sample_cost_ns;	/* of the thread that a sample hits */
	const char *const *paths;	/* of Unix sockets, the caller's; set before writer_end() */
	size_t path_cnt;
	uint64_t exchange_cnt;		/* written so far */
	struct upstreams upstreams;
	uint64_t exchange_cost_ns;	/* that one takes; set before writer_end(), like the next */
	uint64_t unasked;		/* sends on accepted sockets that answer nothing; set before writer_end() */
	const struct calls *calls;	/* NULL: none; set before writer_end(), like the next */
	uint64_t calls_without_start;
	uint64_t watched_ns;		/* for how long exchanges were */
	uint64_t stack_records, unknown_stacks;
	struct unnamed_stacks unnamed;	/* at the end */
	struct device devices[WRITE_DEVICES_MAX];	/* devices that woke a thread */
	unsigned int device_cnt;
};

int writer_open(struct writer *w, const char *path);	/* 0 or a negative errno, here and below */
int writer_close(struct writer *w);
int writer_begin(struct writer *w, bool reduced, uint32_t sample_ns);	/* 0: no samples */
void writer_record(struct writer *w, const void *record, size_t len);	/* len: at least its size */
void writer_flush(struct writer *w);
void writer_end(struct writer *w, uint64_t start_ns, uint64_t end_ns, uint64_t lost);

/* names.c: "vda", "eth0", "timer", ...; false: it has no name any more. */
bool device_name(const struct device *d, char *ret, size_t size);

#endif
