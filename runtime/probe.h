/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - the declarations that instrumented source relies on.
 *
 * The instrumenter puts this text (embedded in the program vprof, comments removed or not) at
 * the top of every unit it edits, AFTER preprocessing: so there is no #include and no #define
 * in it, it is valid C (gnu89 up) and C++, and all it declares begins with vprof_.  The runtime
 * includes the same file, so both sides always agree.
 *
 * What the instrumenter emits, and nothing else (the fixed interface):
 *
 *	static struct vprof_site vprof_sites[2] = {
 *		{ 0, 0, 0, 28, 0x1234ULL, "log_append", "server.c" }, ... };
 *	static void __attribute__((constructor)) vprof_unit_in(void)
 *		{ if (vprof_register) { vprof_offset = vprof_where(); vprof_register(vprof_sites, 2); } }
 *	static void __attribute__((destructor)) vprof_unit_out(void)
 *		{ if (vprof_unregister) vprof_unregister(vprof_sites, 2); }
 *	static struct vprof_label vprof_labels[1] = { { "request", 0 } };
 *
 *	in a probed function, right after its '{':
 *		struct vprof_span vprof_span_ __attribute__((cleanup(vprof_out), unused)) =
 *			vprof_in(&vprof_sites[0]);
 *	an event at this place (interval, queue, lock):
 *		if (vprof_event) vprof_event(KIND, &vprof_labels[0], a, b);
 *	an event when the scope is left (a LOC at @return, ACQUIRED after an acquire):
 *		struct vprof_later vprof_later_0 __attribute__((cleanup(vprof_later_out), unused)) =
 *			{ KIND, &vprof_labels[0], a, b };
 *
 * This text needs vprof_ticks(), vprof_thread() and vprof_take() before it: embed
 * runtime/probe_x86_64.h (or, on other machines, runtime/probe_generic.h) and then this file, best
 * between line markers that call it a system header, so that the user's warning flags do not look
 * into it:
 *	# 1 "vprof-probe.h" 1 3
 *	...
 *	# 1 "unit.c" 2
 *
 * Every reference to the runtime is weak or guarded by level: an object linked without it runs
 * at dormant cost (one load and one branch a call).  No name contains "exit" or "abort": some
 * projects' builds search their libraries' undefined symbols for those words.
 */

/* One probed function of one unit.  key = hash of (real path, line of the body, name): equal in
 * every unit that compiles the same function.  level, flags and fid belong to the runtime. */
struct vprof_site {
	unsigned char level;		/* 0 dormant, 1 inside intervals, 2 always */
	unsigned char flags;
	unsigned short fid;		/* number of the function in this run; 0: none */
	unsigned int line;
	unsigned long long key;
	const char *name;
	const char *file;
};

/* A name that events carry: of an interval, or of a kind of work. id belongs to the runtime. */
struct vprof_label {
	const char *name;
	unsigned long long id;
};

/* Kinds of events.  a and b: what each means stands beside it. */
enum vprof_kind {
	VPROF_KIND_BEGIN = 1,		/* label, a = key: interval created, this thread works on it */
	VPROF_KIND_END,			/* label, a = key: complete */
	VPROF_KIND_RESUME,		/* label, a = key: this thread works on it from here on */
	VPROF_KIND_PAUSE,		/* ... and on no interval any longer */
	VPROF_KIND_DROP,		/* label, a = key: VPROF_ABORT, will not complete */
	VPROF_KIND_LEAVE,		/* label, a = key: PAUSE, if this thread still works on exactly that
					 * interval: end of the function that began or resumed it */
	VPROF_KIND_ENQUEUE,		/* a = queue, b = task */
	VPROF_KIND_DEQUEUE,		/* a = queue, b = task */
	VPROF_KIND_ACQUIRE,		/* a = object: may block from here ... */
	VPROF_KIND_ACQUIRED,		/* a = object: ... to here; b = enum wait_class, 0 for a lock */
	VPROF_KIND_RELEASE,		/* a = object: may wake who waits for it; before the real release */
	VPROF_KIND_SPIN_BEGIN,		/* a = object: busy waiting counts as waiting */
	VPROF_KIND_SPIN_END,
	VPROF_KIND_FALSE_WAKEUP,	/* the wake-up just received did not satisfy the condition */
	VPROF_KIND_WORK			/* label, a = value: amount of inherent work */
};

struct vprof_later {
	unsigned int kind;
	struct vprof_label *label;
	unsigned long long a, b;
};

/* A key of ~0ULL stands for the calling thread: what an interval without a key in vprof.conf has. */

enum vprof_sizes {
	VPROF_CHUNK_BYTES = 16384,	/* a chunk of records, aligned to its size */
	VPROF_CHUNK_LIMIT = 15360,	/* records begin below this offset; behind it is room for one
					 * that is long, and for signal handlers that overtake us */
	VPROF_STACK_BYTES = 4096	/* a shadow stack, aligned to its size */
};

/* An open invocation, in the shadow stack of its thread.  The stacks are in memory that outlives
 * the process, so the frames that were open when it was killed are known. */
struct vprof_frame {
	unsigned long long start;	/* ticks; 0: not open, or not quite */
	unsigned long address;		/* of the machine's frame: longjmp leaves ours behind ... */
	unsigned long caller;		/* ... and this tells a sibling of it from an inlined callee */
	unsigned long fid;
};

/* What a probe keeps on the machine's stack; frame is NULL if the call is not recorded. */
struct vprof_span {
	struct vprof_frame *frame;
	unsigned long long start;
};

/* What a thread's probes look at.  A thread that was never seen has top NULL: full. */
struct vprof_self {
	struct vprof_frame *top;	/* next free frame; at a multiple of VPROF_STACK_BYTES: full */
	char *cursor;			/* next record; offset in its chunk >= VPROF_CHUNK_LIMIT: full */
	unsigned int gate;		/* 0 off, 1 recording, 2 inside an interval */
};

/*
 * Where struct vprof_self is, from vprof_thread(): the same in every thread.  Asked for by each unit
 * before it registers; one variable for all units that are linked together.  A weak thread-local variable would do, but linkers settle such a reference
 * in an executable when they link, even if a library that is loaded later has the variable.
 */
long vprof_offset __attribute__((weak, visibility("hidden")));
/* The asm names keep C++ from mangling them. */
extern long vprof_where(void) __asm__("vprof_where") __attribute__((weak, visibility("default")));

extern void vprof_register(struct vprof_site *sites, unsigned int cnt) __asm__("vprof_register")
	__attribute__((weak, visibility("default")));
extern void vprof_unregister(struct vprof_site *sites, unsigned int cnt) __asm__("vprof_unregister")
	__attribute__((weak, visibility("default")));
extern void vprof_event(unsigned int kind, struct vprof_label *label, unsigned long long a,
			unsigned long long b) __asm__("vprof_event")
	__attribute__((weak, visibility("default")));

/* The rare cases: first call of a thread, full stack, frames left behind (does all that vprof_in()
 * has to do, so that nothing is kept in registers for it); full chunk, frames left behind. */
extern struct vprof_span vprof_in_slow(struct vprof_site *site, unsigned long address,
				       unsigned long caller)
	__asm__("vprof_in_slow") __attribute__((weak, cold, visibility("default")));
extern void vprof_out_slow(struct vprof_span *span, unsigned long long end)
	__asm__("vprof_out_slow") __attribute__((weak, cold, visibility("default")));

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
struct vprof_self *vprof_me(void)
{
	return (struct vprof_self *)(void *)(vprof_thread() + vprof_offset);
}

/*
 * The frame's address is stored before the frame counts (a signal handler's probes look at it)
 * and everything again afterwards (they may have used the same place in between).
 */
extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
struct vprof_span vprof_in(struct vprof_site *site)
{
	struct vprof_span span;
	struct vprof_self *self;
	struct vprof_frame *frame;
	unsigned long address, caller;

	span.frame = 0;
	span.start = 0;
	if (__builtin_expect(site->level != 0, 0)) {
		self = vprof_me();
		if (site->level + self->gate < 3)
			return span;
		frame = self->top;
		address = (unsigned long)__builtin_frame_address(0);
		caller = (unsigned long)__builtin_return_address(0);
		if (__builtin_expect(((unsigned long)frame & (VPROF_STACK_BYTES - 1)) == 0 ||
				     frame[-1].address < address + (frame[-1].caller != caller), 0))
			return vprof_in_slow(site, address, caller);
		frame->address = address;
		__asm__ __volatile__("" : : : "memory");
		self->top = frame + 1;
		__asm__ __volatile__("" : : : "memory");
		frame->address = address;
		frame->caller = caller;
		frame->fid = site->fid;
		span.frame = frame;
		span.start = vprof_ticks();
		frame->start = span.start;
	}
	return span;
}

/* A record is two words: start, then length << 16 | fid.  The first is written last: a record
 * that a killed thread left half made reads as none. */
extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_out(struct vprof_span *span)
{
	struct vprof_frame *frame = span->frame;
	struct vprof_self *self;
	unsigned long long end, length, *record;

	if (__builtin_expect(frame != 0, 0)) {
		end = vprof_ticks();
		self = vprof_me();
		if (__builtin_expect(self->top != frame + 1 || frame->start != span->start, 0)) {
			vprof_out_slow(span, end);
			return;
		}
		length = end - span->start;
		record = (unsigned long long *)vprof_take(&self->cursor, 16);
		if (__builtin_expect(((unsigned long)record & (VPROF_CHUNK_BYTES - 1)) >=
				     VPROF_CHUNK_LIMIT || (length >> 48) != 0, 0)) {
			vprof_out_slow(span, end);
			return;
		}
		record[1] = length << 16 | frame->fid;
		__asm__ __volatile__("" : : : "memory");
		record[0] = span->start;
		__asm__ __volatile__("" : : : "memory");
		frame->start = 0;
		self->top = frame;
	}
}

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_later_out(struct vprof_later *later)
{
	if (vprof_event)
		vprof_event(later->kind, later->label, later->a, later->b);
}
