/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_classes.h - what a thread waits for: the one table of it.
 *
 *	X(LOCK, "lock")		WAIT_LOCK in a trace (format.h), STATE_LOCK of a segment (model.h), CLASS_LOCK and class=lock of a
 *				primitive (annotations/primitives.h)
 *
 * A new class is a row at the end: the numbers, from 1, are in traces and in instrumented code.
 */
#ifndef TRACE_WAIT_CLASSES_H
#define TRACE_WAIT_CLASSES_H

#define WAIT_CLASSES(X)		\
	X(LOCK,  "lock")	\
	X(COND,  "cond")	\
	X(IO,    "io")		\
	X(QUEUE, "queue")	\
	X(JOIN,  "join")	\
	X(SLEEP, "sleep")

#endif
