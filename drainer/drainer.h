/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drainer.h - the process beside the program: owns the arena, empties full chunks, compresses
 * and writes them, keeps clock anchors, counts what was lost.
 *
 *	drainer_open()   creates the arena and the trace file, publishes the plan
 *	drainer_env()    what to put into the environment of the user's command
 *	drainer_run()    drains until that command has ended (and a moment longer)
 *	drainer_close()  drains the rest, also of threads that were killed, ends the file
 */
#ifndef DRAINER_DRAINER_H
#define DRAINER_DRAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/diag.h"
#include "runtime/shared/apart.h"

enum probe_level {
	PROBE_OFF = 0, PROBE_IN_INTERVALS = 1, PROBE_ALWAYS = 2,
	PROBE_AS_BUILT = 3,		/* as default: the program's own plan */
};

struct drainer_probe {			/* one function of the plan */
	uint64_t key;			/* as in struct vprof_site */
	uint8_t level;
};

struct drainer_alias {			/* events of mark belong to intervals of that name */
	const char *mark, *interval;
};

struct drainer;

struct drainer_options {
	const char *trace_path;		/* created; the directory exists */
	size_t arena_bytes;		/* 0: default */
	const char *arena_dir;		/* where programs find the arena; NULL: /dev/shm, or beside the trace */
	bool inherit_arena;		/* pass it as a descriptor: programs need not be able to open it by name */
	const struct drainer_probe *plan;	/* any order; NULL with cnt 0: default_level for all */
	size_t plan_cnt;
	uint8_t default_level;		/* of functions that are not in the plan */
	bool as_sampled;		/* PROBE_AS_BUILT: functions of level "always" by choice only are
					 * recorded inside intervals */
	uint64_t stranger_cnt;		/* programs known to have another vprof's probes */
	uint32_t sample_full, sample_of;	/* record about sample_full of sample_of intervals in full, by
					 * lot, the others root-only; 0, 0: all */
	uint64_t sample_seed;		/* 0: a random one */
	bool sample_by_trace;		/* not by lot, where an interval has a trace id */
	double budget;			/* the rate changes, so that probes take about this part of the intervals'
					 * time; 0: it does not */
	const struct drainer_alias *aliases;
	size_t alias_cnt;
	uint64_t keep_ns, keep_bytes;	/* keep only this much of the trace's end; 0, 0: all */
	const struct drainer_requests *requests;	/* NULL: no requests */
	uint64_t limit_bytes;		/* of the trace: recording ends when it is reached; 0: none */
	bool start_paused;
	uint64_t delay_ns;		/* ... and resumes after this time; 0: only on request */
	/* Before it resumes after a pause: notes the open calls in child, the command; or NULL. */
	void (*look)(void *arg, struct drainer *d, pid_t child);
	void *look_arg;
	/* Called now and then while no process takes part; or NULL. */
	void (*nobody)(void *arg, pid_t child, const char *arena_path);
	void *nobody_arg;
	const struct drainer_experiments *experiments;	/* NULL: none; kept */
	void (*turn)(void *arg, struct drainer *d);	/* called often during drainer_run(); or NULL.  Then drainer_cut() may be called. */
	void *turn_arg;
	bool notes_order;		/* log every taking and release of a lock, also those that no thread waits for; then, */
	/* when the program has ended: calls drainer_name_object() for the locks that it knows (experiments.h); or NULL. */
	void (*name_objects)(void *arg, struct drainer *d);
	void *name_arg;
	const pid_t *pids;		/* processes that are recorded whether they join or not, so that they
					 * do not count as other users of CPUs; the array is copied */
	size_t pid_cnt;
};

struct drainer_experiments;		/* experiments.h */

struct drainer_requests {		/* requests during drainer_run() */
	int fd;				/* readable: call take */
	void (*take)(void *arg, struct drainer *d);
	void *arg;
};

struct drainer_stats {
	uint64_t records, bytes_raw, bytes_written;
	uint64_t lost_records;
	uint64_t processes, threads;	/* that attached */
	uint64_t functions;		/* sites registered, by distinct key */
	uint64_t begins, ends;		/* interval events seen */
	uint64_t dropped_records;	/* lost records for which the file had no room */
	int disk_error;			/* ENOSPC, EDQUOT ...: writing stopped there; the run went on */
	bool limit_reached;		/* recording stopped there; the run went on */
	uint32_t apart_cnt[APART_CNT], apart_pid[APART_CNT];	/* processes that take part only partly or not
								 * at all: how many, and the pid of one */
};

int drainer_open(const struct drainer_options *o, struct drainer **ret, struct diag *reterr);

/* "NAME=value", lives as long as the drainer. */
const char *drainer_env(const struct drainer *d);
/* Called in the child that becomes the command: makes it inherit the arena's descriptor, if requested. */
void drainer_inherit(const struct drainer *d);
/* The path of the arena's file. */
const char *drainer_path(const struct drainer *d);

/* Drains until child has ended; *ret_wait_status as of waitpid(). */
int drainer_run(struct drainer *d, pid_t child, int *ret_wait_status, struct diag *reterr);

/* Writes the trace up to now, including records that are not in the file yet, as a new trace; recording continues. */
int drainer_snapshot(struct drainer *d, const char *path, struct diag *reterr);

/*
 * The same without the older parts of the trace, which becomes one in parts: the new trace has the parts from first_part on, and all
 * that the program still holds.  Intervals that began before these parts are cut.  *ret_next: the part that is written from now on.
 */
int drainer_cut(struct drainer *d, const char *path, uint32_t first_part, uint32_t *ret_next, struct diag *reterr);
uint64_t drainer_lost(const struct drainer *d);		/* records, up to now */
/* Processor time that others spent on the records of this recording; counts into the budget of --sample auto. */
void drainer_worked(struct drainer *d, uint64_t ns);

/*
 * A pause: no interval begins, open ones are cut (trace/read/replay.c), threads close their gates one by one.
 * The program notices nothing; the records of its threads are written.  False: already paused (or resumed), or
 * over.
 */
bool drainer_pause(struct drainer *d);
bool drainer_resume(struct drainer *d);

/* Invites a running process and its descendants to be recorded (runtime/shared/invitation.h); a process whose recording has no
 * drainer any more leaves that recording.  *ret_cnt: number of invited processes.  -ENOENT: none has the
 * runtime; -EBUSY: recorded already; -EPERM; -ESRCH. */
int drainer_invite(struct drainer *d, pid_t pid, unsigned *ret_cnt, struct diag *reterr);

struct drainer_opened {			/* a call that a thread is in before it is recorded */
	uint32_t pid, tid;		/* as the process itself sees them */
	uint64_t address, caller;	/* of its frame; address 0: only a name for the thread */
	uint64_t key;			/* of the function */
	const char *name, *file;
	uint32_t line;
	bool anyway;			/* even if it is not in the plan */
};

/* Before processes are invited, or resume: forgets the noted calls; notes a call, the outermost of each thread
 * first.  False: its probe is off, or the table is full. */
void drainer_forget_opened(struct drainer *d);
bool drainer_note_opened(struct drainer *d, const struct drainer_opened *o);

/* Appends the records in the arena of a killed recorder to its trace, after the last whole block, and removes the
 * arena.  ret: of the added records.  Without a message: -ENOENT, the arena does not exist any more; -EBUSY,
 * it has a drainer; -EBADMSG, one of the two is another kind of file. */
int drainer_recover(const char *arena_path, const char *trace_path, struct drainer_stats *ret, struct diag *reterr);

struct drainer_place {
	char *path;			/* of the program or library */
	uint64_t address;		/* address in that file */
};

enum { DRAINER_PLACES = 15 };

struct drainer_caller {			/* caller of a primitive that blocked (runtime/waits/code.h) */
	uint32_t number;		/* as in the trace */
	struct drainer_place places[DRAINER_PLACES];	/* its return address; then possible return addresses
							 * of its callers */
	unsigned int place_cnt;
};

/* Passes all callers known so far to take; before drainer_close(). */
void drainer_callers(const struct drainer *d, void (*take)(void *arg, const struct drainer_caller *c), void *arg);

/* Switches recording off in every process, drains what is left, frees d. */
int drainer_close(struct drainer *d, struct drainer_stats *ret, struct diag *reterr);

#endif
