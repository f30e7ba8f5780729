/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packet_watch.h - detaches the programs that look at each packet while all packets stay on the machine.
 *
 * Attaching a program to a tracepoint that has just lost its last one waits for all CPUs, up to two seconds where
 * these are busy, in which a server makes more records than there are places.  So a thread of its own does it.  The
 * thread that takes records out only passes the time now and then, and never waits:
 *
 *	0 s	all programs are attached
 *	1 s	none from outside and none to there: those of each packet are detached
 *	9 s	a device's driver has handed one over: they are attached again
 */
#ifndef RECORDER_PACKET_WATCH_H
#define RECORDER_PACKET_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct packet_watch;
struct record_bpf;

/* programs: attached; must outlive the watch.  0 or a negative errno. */
int packet_watch_new(struct record_bpf *programs, struct packet_watch **ret);
void packet_watch_free(struct packet_watch *w);	/* NULL is fine, here and below */

void packet_watch_look(struct packet_watch *w, uint64_t now_ns);

/* Detaches everything that is attached (rest), or attaches it again: 0 or a negative errno. */
int packet_watch_rest(struct packet_watch *w, bool rest);

#endif
