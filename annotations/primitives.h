/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * primitives.h - which functions block, wake, hand over a task: the *.sync tables and [sync].
 *
 *	acquire = apr_thread_mutex_lock(arg0)		may block; the object is arg0
 *	acquire = os_event_wait_low(arg0, class=cond)	may block, but not for a lock
 *	acquire = LWLockAcquire(arg0, spins=no)		blocks in calls that vprof knows, and nowhere else
 *	release = apr_thread_mutex_unlock(arg0)		may wake who waits for arg0
 *	enqueue = queue_push(queue=arg0, task=arg1)
 *	dequeue = queue_pop(queue=arg0, task=ret)
 *
 * A .sync table has one such line each (same syntax), '#' comments, and "builtin NAME ROLE" lines
 * for the names that the runtime wraps itself as vprof_w_NAME.
 * Expressions are C, with argN and ret as short forms.
 */
#ifndef ANNOTATIONS_PRIMITIVES_H
#define ANNOTATIONS_PRIMITIVES_H

#include <stdbool.h>
#include "base/alloc.h"
#include "base/diag.h"

enum primitive_role {
	ROLE_ACQUIRE, ROLE_RELEASE, ROLE_ENQUEUE, ROLE_DEQUEUE,
	ROLE_OTHER			/* builtin that neither waits for nor wakes a thread: sleep */
};

/* What a thread waits for.  The numbers are those of enum wait_class in trace/format.h; 0 is a lock. */
enum primitive_class {
	CLASS_LOCK = 0, CLASS_COND = 2, CLASS_IO = 3, CLASS_JOIN = 5, CLASS_SLEEP = 6
};

struct primitive {
	enum primitive_role role;
	enum primitive_class class;	/* acquire */
	bool never_spins;		/* acquire */
	bool builtin;			/* the runtime has vprof_w_NAME */
	char *name;
	char *object;			/* acquire, release: expression; enqueue, dequeue: the queue */
	char *task;			/* enqueue, dequeue */
};

typedef VEC(struct primitive) primitives;

/* One value of [sync], e.g. role ROLE_ACQUIRE and text "lock_it(arg0)".  EXIT_USAGE. */
int primitive_parse(enum primitive_role role, const char *text, struct primitive *ret,
		    struct diag *reterr);
void primitive_release(struct primitive *p);
void primitives_release(primitives *list);

/* Appends the lines of a .sync file. */
int primitives_read(const char *path, primitives *list, struct diag *reterr);

/* The first of that name, or NULL.  A later list entry does not hide an earlier one: put the
 * user's own first. */
const struct primitive *primitives_find(const primitives *list, const char *name);

#endif
