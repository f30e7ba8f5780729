/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - a thread of the user's program, as the runtime knows it, and how it logs.
 *
 * A thread gets a slot (with a shadow stack) and a chunk when it first logs something, and gives
 * both back when it ends.  Only that first time allocates, locks, or makes a system
 * call.  A signal handler that interrupts a thread while it attaches or detaches finds busy
 * set, and logs nothing.
 *
 * Not recording is never an error: every function may find that there is no arena, no slot or no
 * chunk, and the program goes on.
 */
#ifndef RUNTIME_THREAD_H
#define RUNTIME_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include "runtime/found.h"
#include "runtime/process.h"
#include "runtime/stacks.h"
#include "runtime/waits/releasers.h"

/* A parked cursor: full in every chunk's memory, and inside none. */
#define PARKED ((char *)VPROF_CHUNK_BYTES)

struct thread_label {			/* an interval that the thread works on */
	uint64_t label, key;
	bool skipped;			/* its functions are not recorded: root-only, or chunks were short */
	bool is_early;			/* not begun yet; only this thread can begin it */
	uint32_t depth;			/* BEGINs inside the first that have no END yet */
	uint64_t lot;			/* its marks (trace/format.h); if early, the marks that it will have */
	uint64_t frame, stack;		/* 0, or of the first BEGIN: b of probe.h, and where the stack was */
};

struct thread_ids {			/* of the interval of that label that the thread begins next (ids.h) */
	uint64_t label, trace[2], span, parent;
	bool known;
};

struct thread_hold {			/* a home-made lock between ACQUIRE and ACQUIRED */
	struct awaited awaited;
	uint32_t written;		/* releasers_written() before start */
	uint64_t start;			/* 0: not announced to releasers, as nothing has blocked in it yet (hold.h) */
	uint64_t waker, woken;		/* waker of the last wait inside it, and when; 0: unknown */
	bool never_spins;		/* its function never spins */
};

struct thread_left {			/* for the callee with that key, by the innermost recorded call (call_sites.c) */
	unsigned long long call, callee;
	struct vprof_site *at;
};

struct thread {
	struct arena_slot *slot;	/* NULL: not attached */
	const struct arena_map *arena;	/* the arena of the slot; the process may have a new one by now */
	uint32_t slot_number;
	uint64_t taken_cnt;		/* chunks that it took so far */
	uint32_t chunk, previous;	/* previous is full and is handed over one chunk later: an interrupted
					 * probe may still write into it */
	uint64_t serial;		/* kept when the thread attaches again; 0: none yet */
	bool started;			/* its START is in the trace */
	uint64_t since;			/* ticks of its first record, or of a pause's end; calls that began
					 * earlier were closed */
	uint64_t closed_at;		/* when it stopped taking part in a pause of the recording */
	struct vprof_frame *found;	/* the innermost call that began before the thread took part
					 * (found.h); NULL: none */
	volatile int busy;
	unsigned int label_cnt, hold_cnt;
	uint64_t lot_cnt;		/* drawn by runtime/sampling.c */
	struct thread_ids ids;
	struct thread_label labels[THREAD_LABELS];	/* innermost last */
	struct thread_hold holds[THREAD_HOLDS];
	uint64_t slept_cnt;		/* how often the kernel thread gave up its CPU (runtime/waits/slept.c) */
	unsigned int left_cnt;		/* all so far, without those taken; the last few are kept */
	struct thread_left left[THREAD_LEFT];
};

extern __thread struct vprof_self vprof_self __attribute__((tls_model("initial-exec")));
extern __thread struct thread thread_self __attribute__((tls_model("initial-exec")));

/* Attaches the calling thread if need be; false: log nothing. */
bool thread_attach(void);

/* Its kernel number, in the innermost PID namespace. */
uint32_t thread_tid(void);

/* Logs the CPU time of the calling thread so far: when it begins and ends. */
void thread_log_account(void);

/* Tries to reopen a closed gate; true: it is open. */
bool thread_reopen(void);

/* Whether the thread is on the stack of its last call; mostly the address of our own frame decides it. */
static inline bool thread_is_here(void)
{
	unsigned long here = (unsigned long)__builtin_frame_address(0);

	return (here >= vprof_self.low && here < vprof_self.high) || stacks_find(here);
}

static inline bool thread_ready(void)
{
	if (!(vprof_self.gate || (process_is_invited() && thread_reopen())) || !thread_is_here() ||
	    !(thread_self.slot || thread_attach()))
		return false;
	if (thread_self.found)
		found_check();
	return true;
}

/* Closes the innermost open call. */
void thread_close_frame(void);

/* Lets no further interval begin: the recording is over, or paused. */
void thread_close_gate(void);

/* At the end of a thread: closes its frames, gives chunk and slot back. */
void thread_detach(void);

/*
 * For stacks.c: the stack that is current since now was left at left_at (0: never), its thread is kernel_tid, and all that was
 * open on it is over (is_stale); it is taken from us; an interval that goes on here; the address of the innermost open call, or 0.
 */
void thread_take_up(uint64_t left_at, uint64_t now, uint32_t kernel_tid, bool is_stale);
void thread_lose(void);
void thread_detach_stack(void);
void thread_inherit(const struct thread_label *label);
unsigned long thread_innermost(void);

/* Ends the calling thread's part in the recording (process_leave()). */
void thread_leave_recording(void);

/* Notes that calls since then (0: now) may be on another stack than assumed. */
void thread_doubt(uint64_t since);

/* In the child of a fork: drops the parent's state. */
void thread_forget(uint64_t serial);

/* A call of a probed function begins (returns 0: not recorded), or ends.  Frames that longjmp skipped
 * are closed.  address, caller: __builtin_frame_address(0), _return_address(0). */
unsigned long long thread_enter(unsigned int site, unsigned long address, unsigned long caller);

/* end: 0 if the clock was not read yet. */
void thread_leave(unsigned long long call, unsigned long long end);

/* Logs one event; words as TRACE_EVENTS says. */
void thread_log(enum trace_event kind, uint64_t ticks, const uint64_t *words);

#define THREAD_LOG(kind, ticks, ...) thread_log(kind, ticks, (const uint64_t[]){ __VA_ARGS__ })

#endif
