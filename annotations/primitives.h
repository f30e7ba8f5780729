/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * primitives.h - which functions block, wake, hand over a task: the *.sync tables and [sync].
 *
 *	acquire = apr_thread_mutex_lock(arg0)		may block; the object is arg0
 *	acquire = os_event_wait_low(arg0, class=cond)	may block, but not for a lock
 *	acquire = LWLockAcquire(arg0, spins=no)		blocks in calls that vprof knows, and nowhere else
 *	acquire = s_lock(arg0, takes=ppip)		one that takes a pointer, a pointer, an integer, a pointer
 *	release = apr_thread_mutex_unlock(arg0)		may wake a thread that waits for arg0
 *	enqueue = queue_push(queue=arg0, task=arg1)
 *	dequeue = queue_pop(queue=arg0, task=ret)
 *
 * A .sync table has one such line each (same syntax), '#' comments, and "builtin NAME ROLE" lines for the names that
 * the runtime wraps itself as vprof_w_NAME.  Its names are complete: s_lock is not Latch::s_lock; they are of C, or
 * extern "C", except after a line "language c++".  In [sync] s_lock is any. Expressions are C, with argN and ret as
 * short forms.
 */
#ifndef ANNOTATIONS_PRIMITIVES_H
#define ANNOTATIONS_PRIMITIVES_H

#include <stdbool.h>
#include "base/alloc.h"
#include "base/diag.h"
#include "trace/wait_classes.h"

enum primitive_role {
	ROLE_ACQUIRE, ROLE_RELEASE, ROLE_ENQUEUE, ROLE_DEQUEUE,
	ROLE_OTHER			/* builtin that neither waits for nor wakes a thread: sleep */
};

/* The class of a wait; the numbers are those in a trace. */
enum primitive_class {
	CLASS_NONE,			/* not said: a lock */
#define X(id, name) CLASS_##id,
	WAIT_CLASSES(X)
#undef X
	CLASS_CNT
};

struct primitive {
	enum primitive_role role;
	enum primitive_class class;	/* acquire */
	bool never_spins;		/* acquire */
	bool builtin;			/* the runtime has vprof_w_NAME */
	char *name;
	char *object;			/* acquire, release: expression; enqueue, dequeue: the queue */
	char *task;			/* enqueue, dequeue */
	char *takes;			/* a letter a parameter: p pointer, i integer, r reference, s structure, '.'
					 * any; '*' at the end: perhaps more.  NULL: not given */
	bool of_table;			/* its name is the whole name */
	bool is_cxx;			/* of_table: no C function */
};

typedef VEC(struct primitive) primitives;

/* One value of [sync], e.g. role ROLE_ACQUIRE and text "lock_it(arg0)".  EXIT_USAGE. */
int primitive_parse(enum primitive_role role, const char *text, struct primitive *ret,
		    struct diag *reterr);
void primitive_release(struct primitive *p);
void primitives_release(primitives *list);

/* Appends the lines of a .sync file. */
int primitives_read(const char *path, primitives *list, struct diag *reterr);

/* Whether it takes these cnt parameters, given as those letters; '?' is unknown. */
bool primitive_takes(const struct primitive *p, const char *kinds, size_t cnt);

/* Whether an earlier entry of the list stands for the same function. */
bool primitive_is_hidden(const primitives *list, size_t i);

/* The first of that name, or NULL.  A later list entry does not hide an earlier one: put the
 * user's own first. */
const struct primitive *primitives_find(const primitives *list, const char *name);

#endif
