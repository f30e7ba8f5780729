/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrivals.h - intervals of probes begin as their requests arrive in the socket (record --from-arrival).
 *
 *	T polls; A's request arrives at 10, while T saves; T reads it at 40, handle() begins its interval at 42
 *	-> the interval begins at 10; creation T 10 -> T 40 (in the socket), and T's 40..42, which was nobody's, is its
 *
 * Which read an interval is about, its thread says, by order (reads: first ones of exchanges, or since when the thread has what
 * another one read; begins: of intervals of one name):
 *
 *	read, begin			that read
 *	read P, read Q, begin		Q: the last one that is not answered yet; of P there was no interval
 *	read A, read B, begin, begin	one by one
 *	read, begin, begin, begin	the first: the others came in the same bytes, and when is not known
 *	read, read, read, begin, begin	not known
 *	begin, read, end		the interval's own, if it had none before
 *
 * While the thread works for another interval between the two, this one still waits in the socket, or to be taken up.
 *
 * An interval whose read is not known, or whose arrival was not seen, stays unchanged: its begun_ns stays 0.
 */
#ifndef TRACE_KERNEL_ARRIVALS_H
#define TRACE_KERNEL_ARRIVALS_H

#include "trace/kernel/kernel_threads.h"

/* After kernel_merge_threads(); sorts t, but leaves it unsorted.  k->for_arrivals. */
void arrivals_add(struct trace *t, const struct kernel_trace *k, struct kernel_threads *x);

#endif
