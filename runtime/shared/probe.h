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
 *	static const char vprof_note[] = "...";		(of the build: instrumenter/insert/unit_note.h)
 *	static struct vprof_site vprof_function_0 __attribute__((section("vprof_sites_1a2b"), aligned(8))) =
 *		{ 0, { 0 }, 28, 'i', 0x1234ULL, "log_append", "server.c" };
 *	...		(sites of functions that the compiler leaves out of the object are left out as well)
 *	extern struct vprof_site vprof_sites[] __asm__("__start_vprof_sites_1a2b")
 *		__attribute__((weak, visibility("hidden"))), vprof_sites_end[] ...;	(which the linker defines)
 *	static void __attribute__((constructor(65534), no_instrument_function)) vprof_unit_in(void)
 *		{ if (vprof_register) vprof_register(vprof_sites, vprof_sites_end, vprof_note); }
 *	static void __attribute__((destructor, no_instrument_function)) vprof_unit_out(void)
 *		{ if (vprof_unregister) vprof_unregister(vprof_sites, vprof_sites_end); }
 *	static struct vprof_label vprof_labels[1] = { { "request", 0 } };
 *
 *	in a probed function, right after its '{':
 *		struct vprof_span vprof_span_ __attribute__((cleanup(vprof_out), unused)) =
 *			vprof_in(&vprof_function_0);
 *	(vprof_out_void, where it returns nothing)
 *	calls from several places that are told apart, and who is called by them: probe_sites.h
 *	an event at this place (interval, queue, lock):
 *		if (vprof_event) vprof_event(KIND, &vprof_labels[0], a, b);
 *	an event when the scope is left (a LOC at @return, ACQUIRED after an acquire):
 *		struct vprof_later vprof_later_0 __attribute__((cleanup(vprof_later_out), unused)) =
 *			{ KIND, &vprof_labels[0], a, b };
 *
 * After this text comes the machine's: runtime/shared/probe_x86_64.h (or, elsewhere, runtime/shared/probe_generic.h) has vprof_in(),
 * vprof_out() and vprof_out_void(); runtime/shared/probe_aside_x86_64.h the first two, ending in _aside, for calls that are mostly
 * not recorded.  For clang it is probe_clang_x86_64.h, or, without optimization, probe_called_x86_64.h.  Best between line
 * markers that call both a system header, so that the user's warning flags do not look into them:
 *	# 1 "vprof-probe.h" 1 3
 *	...
 *	# 1 "unit.c" 2
 *
 * A probe is compiled with every function of the user's, so it is as little as can be: is the gate
 * zero?  If not, the runtime's vprof_enter() and vprof_leave() do the rest.  Written out in each
 * function, what they do made a unit's compile twice as long.
 *
 * Every reference to the runtime is weak or guarded by gate: an object linked without it runs
 * at dormant cost (one load and one branch a call).  No name contains "exit" or "abort": some
 * projects' builds search their libraries' undefined symbols for those words.
 */

/* One probed function of one unit.  key = hash of (real path, line of the body, name): equal in
 * every unit that compiles the same function.  gate and fid belong to the runtime. */
struct vprof_site {
	unsigned char gate;		/* of its thread, that opens it: 0 none (dormant), 1 always, 2 inside intervals */
	unsigned char fid[3];		/* number of the function in this run, low byte first; 0: none */
	unsigned int line : 24;		/* 2^24 - 1: or a later one */
	unsigned int level : 8;		/* what the build says of it, a letter (instrumenter/insert/unit_note.h) */
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
	VPROF_KIND_BEGIN = 1,		/* label, a = key: interval created, this thread works on it; b: 0, or the
					 * address of the vprof_later that ends it */
	VPROF_KIND_END,			/* label, a = key: complete; b: 0, or the address of this vprof_later */
	VPROF_KIND_RESUME,		/* label, a = key: this thread works on it from here on */
	VPROF_KIND_PAUSE,		/* ... and on no interval any longer */
	VPROF_KIND_DROP,		/* label, a = key: VPROF_ABORT, will not complete */
	VPROF_KIND_LEAVE,		/* label, a = key: PAUSE, if this thread still works on exactly that
					 * interval: end of the function that began or resumed it */
	VPROF_KIND_ENQUEUE,		/* a = queue, b = task */
	VPROF_KIND_DEQUEUE,		/* a = queue, b = task */
	VPROF_KIND_ACQUIRE,		/* a = object: may block from here, b & VPROF_NEVER_SPINS: but only in
					 * calls that the runtime knows ... */
	VPROF_KIND_ACQUIRED,		/* a = object: ... to here; b = enum wait_class, 0 for a lock */
	VPROF_KIND_RELEASE,		/* a = object: may wake a thread that waits for it; before the real release */
	VPROF_KIND_SPIN_BEGIN,		/* a = object: busy waiting counts as waiting */
	VPROF_KIND_SPIN_END,
	VPROF_KIND_FALSE_WAKEUP,	/* the wake-up just received did not satisfy the condition */
	VPROF_KIND_WORK,		/* label, a = value: amount of inherent work */
	VPROF_KIND_FINISH,		/* label, a = key: a function begins that ends the interval as it returns:
					 * RESUME, if this thread does not work on it yet */
	VPROF_KIND_HANDED,		/* label, a = key: the function that began it returns, another one ends it */
	VPROF_KIND_TRACE,		/* label, a = id of the trace to which the next interval of this name belongs that this
					 * thread begins; b: what a is, as __builtin_classify_type() has it (runtime/ids.h) */
	VPROF_KIND_SPAN,		/* ... its own span, likewise */
	VPROF_KIND_PARENT,		/* ... its parent's span */
	VPROF_KIND_CALL			/* a = span of a call of another service, which this thread makes now; b: as above */
};

enum { VPROF_NEVER_SPINS = 16 };

struct vprof_later {
	unsigned int kind;
	struct vprof_label *label;
	unsigned long long a, b;
};

/* A key of ~0ULL stands for the calling thread: what an interval without a key in vprof.conf has. */

/* What a probe keeps on the machine's stack: the invocation, as vprof_leave() finds it again; 0 if it
 * is not recorded. */
struct vprof_span {
	unsigned long long call;
};

/*
 * The asm names keep C++ from mangling them.  That of vprof_register ends in the number of what probes and runtime
 * expect of each other: an object of another one finds nobody to register with, so its probes stay dormant.  Who
 * raises it does so in cmd/doctor/doctor_program.c as well (tests/e2e/doctor.sh fails otherwise).
 */
extern void vprof_register(struct vprof_site *sites, struct vprof_site *end, const char *note) __asm__("vprof_register_5")
	__attribute__((weak, visibility("default")));
extern void vprof_unregister(struct vprof_site *sites, struct vprof_site *end) __asm__("vprof_unregister_5")
	__attribute__((weak, visibility("default")));
extern void vprof_event(unsigned int kind, struct vprof_label *label, unsigned long long a,
			unsigned long long b) __asm__("vprof_event")
	__attribute__((weak, visibility("default")));

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_later_out(struct vprof_later *later)
{
	if (vprof_event)
		vprof_event(later->kind, later->label, later->a, later->b);
}
