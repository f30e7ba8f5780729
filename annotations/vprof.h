/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprof.h - tell vprof about your program: intervals, task queues, home-made locks.
 *
 * C99 and C++11, nothing to link.  Built by `vprof build` and run by `vprof record`, the macros log; anywhere else
 * they only test a weak symbol; -DVPROF_DISABLE removes them.
 *
 *	void handle(struct request *r)
 *	{
 *		VPROF_BEGIN("request", r);		this thread works on it
 *		...
 *		VPROF_ENQUEUE(&queue, r);		another thread goes on with it
 *		VPROF_PAUSE();
 *	}
 *	void worker(void)
 *	{
 *		VPROF_DEQUEUE(&queue, r);
 *		VPROF_RESUME("request", r);
 *		...
 *		VPROF_END("request", r);		complete: its latency is known
 *	}
 *
 * A request that comes from another service, and one that goes to another:
 *
 *	VPROF_TRACE(header, span);	header: the text of the traceparent received; span: the number of our own span, or 0
 *	VPROF_BEGIN("request", r);
 *	VPROF_CALL(child);		the span that the traceparent we send has
 *
 * Both spans are integers, or text: 16 hexadecimal digits, or a traceparent.
 *
 * name is a string literal.  key is any integer or pointer that tells intervals of one name apart while they are
 * open; queue, task and obj are integers or pointers, too, compared by value.
 */
#ifndef VPROF_H
#define VPROF_H

#ifdef VPROF_DISABLE

/* Does not evaluate the value, but uses it: avoids warnings about variables that only a macro reads. */
#define VPROF_IGNORE_(value) (0 ? (void)(value) : (void)0)

#define VPROF_BEGIN(name, key) VPROF_IGNORE_(key)
#define VPROF_END(name, key) VPROF_IGNORE_(key)
#define VPROF_RESUME(name, key) VPROF_IGNORE_(key)
#define VPROF_PAUSE() ((void)0)
#define VPROF_ABORT(name, key) VPROF_IGNORE_(key)
#define VPROF_ENQUEUE(queue, task) do { VPROF_IGNORE_(queue); VPROF_IGNORE_(task); } while (0)
#define VPROF_DEQUEUE(queue, task) do { VPROF_IGNORE_(queue); VPROF_IGNORE_(task); } while (0)
#define VPROF_ACQUIRE(obj) VPROF_IGNORE_(obj)
#define VPROF_ACQUIRED(obj) VPROF_IGNORE_(obj)
#define VPROF_RELEASE(obj) VPROF_IGNORE_(obj)
#define VPROF_SPIN_BEGIN(obj) VPROF_IGNORE_(obj)
#define VPROF_SPIN_END(obj) VPROF_IGNORE_(obj)
#define VPROF_FALSE_WAKEUP() ((void)0)
#define VPROF_WORK(name, value) VPROF_IGNORE_(value)
#define VPROF_TRACE(trace, span) do { VPROF_IGNORE_(trace); VPROF_IGNORE_(span); } while (0)
#define VPROF_CALL(span) VPROF_IGNORE_(span)
#define VPROF_SCOPE(name) ((void)0)

#else

/*
 * What follows mirrors runtime/shared/probe.h under names of its own, so that both can be in one unit,
 * and with asm names, so that it may be included inside extern "C" or outside.
 */
struct vprof_mark_label {
	const char *name;
	unsigned long long id;
};

struct vprof_mark_site {
	unsigned char level;
	unsigned char fid[3];
	unsigned int line;
	unsigned long long key;
	const char *name;
	const char *file;
	unsigned int known;
};

struct vprof_mark_span {
	unsigned long long call;
};

extern void vprof_mark(unsigned int kind, struct vprof_mark_label *label, unsigned long long a,
		       unsigned long long b)
	__asm__("vprof_event") __attribute__((__weak__, __visibility__("default")));
extern void vprof_mark_scope_in(struct vprof_mark_site *site, struct vprof_mark_span *span,
				void *address, void *caller)
	__asm__("vprof_scope_in_2") __attribute__((__weak__, __visibility__("default")));
extern void vprof_mark_scope_out(struct vprof_mark_span *span)
	__asm__("vprof_scope_out") __attribute__((__weak__, __visibility__("default")));

/* Entered and left as one: the span is empty unless the runtime filled it. */
static __inline__ __attribute__((__unused__)) void vprof_mark_leave_(struct vprof_mark_span *span)
{
	if (span->call)
		vprof_mark_scope_out(span);
}

static __inline__ __attribute__((__unused__, __always_inline__)) struct vprof_mark_span
vprof_mark_enter_(struct vprof_mark_site *site, void *address, void *caller)
{
	struct vprof_mark_span span = { 0 };

	if (vprof_mark_scope_in)
		vprof_mark_scope_in(site, &span, address, caller);
	return span;
}

/*
 * Any integer or pointer as a number, and no label.  In C++ neither by a cast in the style of C nor by 0, for units with
 * -Wold-style-cast or -Wzero-as-null-pointer-constant.
 */
#ifdef __cplusplus
typedef unsigned long long vprof_mark_word;
#define VPROF_WORD_(value) (vprof_mark_word(value))
#else
#define VPROF_WORD_(value) ((unsigned long long)(value))
#endif
#if defined(__cplusplus) && __cplusplus >= 201103L
#define VPROF_NO_LABEL_ nullptr
#else
#define VPROF_NO_LABEL_ 0
#endif

/* Kinds as in enum vprof_kind of runtime/shared/probe.h. */
#define VPROF_MARK_(kind, a, b)								\
	do {										\
		if (vprof_mark)								\
			vprof_mark(kind, VPROF_NO_LABEL_, VPROF_WORD_(a), VPROF_WORD_(b));	\
	} while (0)
#define VPROF_MARK_NAMED_(kind, name, a)						\
	do {										\
		static struct vprof_mark_label vprof_label_ = { "" name, 0 };		\
		if (vprof_mark)								\
			vprof_mark(kind, &vprof_label_, VPROF_WORD_(a), 0);		\
	} while (0)

#define VPROF_BEGIN(name, key) VPROF_MARK_NAMED_(1, name, key)
#define VPROF_END(name, key) VPROF_MARK_NAMED_(2, name, key)
#define VPROF_RESUME(name, key) VPROF_MARK_NAMED_(3, name, key)
#define VPROF_PAUSE() VPROF_MARK_(4, 0, 0)
#define VPROF_ABORT(name, key) VPROF_MARK_NAMED_(5, name, key)
#define VPROF_ENQUEUE(queue, task) VPROF_MARK_(7, queue, task)
#define VPROF_DEQUEUE(queue, task) VPROF_MARK_(8, queue, task)
#define VPROF_ACQUIRE(obj) VPROF_MARK_(9, obj, 0)
#define VPROF_ACQUIRED(obj) VPROF_MARK_(10, obj, 0)
#define VPROF_RELEASE(obj) VPROF_MARK_(11, obj, 0)
#define VPROF_SPIN_BEGIN(obj) VPROF_MARK_(12, obj, 0)
#define VPROF_SPIN_END(obj) VPROF_MARK_(13, obj, 0)
#define VPROF_FALSE_WAKEUP() VPROF_MARK_(14, 0, 0)
#define VPROF_WORK(name, value) VPROF_MARK_NAMED_(15, name, value)
#define VPROF_TRACE(trace, span)							\
	do {										\
		VPROF_MARK_(18, trace, __builtin_classify_type(trace));			\
		VPROF_MARK_(19, span, __builtin_classify_type(span));			\
	} while (0)
#define VPROF_CALL(span) VPROF_MARK_(21, span, __builtin_classify_type(span))

/* Ends with the block around it; several may be on one line. */
#define VPROF_SCOPE(name) VPROF_SCOPE_(name, __COUNTER__)
#define VPROF_SCOPE_(name, number) VPROF_SCOPE_NUMBERED_(name, number)
#define VPROF_SCOPE_NUMBERED_(name, number)						\
	static struct vprof_mark_site vprof_site_##number =				\
		{ 0, { 0 }, __LINE__, 0, "" name, __FILE__, 0 };			\
	struct vprof_mark_span vprof_scope_##number					\
		__attribute__((__cleanup__(vprof_mark_leave_), __unused__)) =		\
		vprof_mark_enter_(&vprof_site_##number, __builtin_frame_address(0),	\
				  __builtin_return_address(0))

#endif
#endif
