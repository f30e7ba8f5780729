/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request_frames.c - functions of stacks: those that the program's own waits are in, and samples.
 *
 *	_start;main;serve;__libc_start_call_main;append;pthread_mutex_lock;__lll_lock_wait
 *	-> main > serve > append > pthread_mutex_lock
 *
 * Frames above main, or above a thread's function, are left out; so are functions of system libraries, except the first
 * that the innermost function of the program's called, which says what it waited for; and functions without a name.
 *
 * The function that reads requests is found by itself: the outermost one of the stacks that end in a read which is in none of
 * the stacks in which threads wait for requests.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/map.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/str.h"
#include "trace/kernel/kernel_merging.h"
#include "trace/kernel/requests.h"

enum { FRAMES_MAX = 512 };

#define STRAYS 20			/* a request that was under way when the recording began is not known either, and waits rarely */

struct frame {
	uint32_t name;			/* number in maker.names */
	bool is_system;
};

struct text {				/* a stack's, taken apart */
	struct frame frames[FRAMES_MAX];	/* outermost first */
	size_t cnt;
};

struct maker {
	struct trace *t;
	const struct kernel_trace *k;
	struct request_frames *f;
	struct names *names;
	struct map *system;		/* number of a name that is of a system library's */
	struct map *function_of;	/* number of a name -> function plus one */
	struct map *chain_of;		/* parent << 32 | function -> chain */
	struct map *idle_names;		/* by number of a name */
	struct map *receivers;		/* kernel tids */
	uint64_t *idle_cnt;		/* by text: waits of threads that have no request */
	uint64_t most_idle_cnt;		/* of one text */
	const char *start;		/* KERNEL_CALLS: the function that begins intervals; NULL: they are requests */
	struct text text;
};

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes the escapes of the text form; bytes that might harm a terminal stay escaped. */
static void add_name(struct str *to, const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int high = name[i] == '%' && i + 2 < len ? hex(name[i + 1]) : -1, low = high < 0 ? -1 : hex(name[i + 2]);
		char c = low < 0 ? '\0' : (char)(high << 4 | low);

		if (low >= 0 && c >= ' ' && c != 0x7f) {
			str_addc(to, c);
			i += 2;
		} else {
			str_addc(to, name[i]);
		}
	}
}

static uint32_t number_of(struct maker *m, const char *name, size_t len)
{
	_cleanup_(str_release) struct str s = STR_INIT;

	add_name(&s, name, len);
	return names_add(m->names, str_cstr(&s));
}

static bool is_named(const char *frame, size_t len)
{
	return len && frame[0] != '[' && !(len > 4 && memcmp(frame + len - 4, "_[k]", 4) == 0);
}

static bool is_system(const struct maker *m, uint32_t name)
{
	uint64_t unused;

	return map_get(m->system, name, &unused) || starts_with(names_get(m->names, name), "__vdso_");
}

static void take_apart(struct maker *m, const char *text)
{
	m->text.cnt = 0;
	while (*text && m->text.cnt < FRAMES_MAX) {
		size_t len = strcspn(text, ";"), name = strcspn(text, ";@");

		if (is_named(text, name)) {
			struct frame f = { number_of(m, text, name), false };

			f.is_system = is_system(m, f.name);
			m->text.frames[m->text.cnt++] = f;
		}
		text += len + (text[len] == ';');
	}
}

static bool is_called(const struct maker *m, const struct frame *f, const char *name)
{
	return strcmp(names_get(m->names, f->name), name) == 0;
}

/* The first frame of the program's own: main, or a thread's function; or where intervals begin. */
static size_t first_own(const struct maker *m)
{
	size_t i;

	for (i = 0; i < m->text.cnt && m->start; i++)
		if (is_called(m, &m->text.frames[i], m->start))
			return i;
	for (i = 0; i < m->text.cnt; i++)
		if (is_called(m, &m->text.frames[i], "main"))
			return i;
	for (i = 0; i < m->text.cnt && (m->text.frames[i].is_system || is_called(m, &m->text.frames[i], "_start")); i++)
		;
	return i;
}

static uint32_t function_of(struct maker *m, uint32_t name)
{
	uint64_t *slot = map_slot(m->function_of, name);

	if (!*slot) {
		VEC_ADD(&m->t->functions, (struct function){ .name = arena_strdup(m->t->arena, names_get(m->names, name)),
							     .probed = true, .is_system = is_system(m, name) });
		*slot = m->t->functions.cnt;
	}
	return (uint32_t)*slot - 1;
}

static uint32_t chain_of(struct maker *m, uint32_t parent, uint32_t name)
{
	uint32_t function = function_of(m, name);
	uint64_t *slot = map_slot(m->chain_of, (uint64_t)parent << 32 | function);

	if (!*slot) {
		*slot = m->t->chains.cnt;
		VEC_ADD(&m->t->chains, (struct chain){ parent, function });
	}
	return (uint32_t)*slot;
}

static size_t last_own(const struct maker *m, size_t first)
{
	size_t last = SIZE_MAX;

	for (size_t i = first; i < m->text.cnt; i++)
		if (!m->text.frames[i].is_system)
			last = i;
	return last;
}

static void find_chains(struct maker *m, struct stack_reading *ret)
{
	size_t first = first_own(m), last = last_own(m, first);

	ret->chain = ret->own_chain = 0;
	for (size_t i = first; i < m->text.cnt && last != SIZE_MAX && i <= last + 1; i++) {
		if (m->text.frames[i].is_system && i != last + 1)
			continue;
		ret->chain = chain_of(m, ret->chain, m->text.frames[i].name);
		if (!m->text.frames[i].is_system)
			ret->own_chain = ret->chain;
	}
}

static const char *const reads[] = { "read", "__read", "recv", "__recv", "recvfrom", "__recvfrom", "recvmsg", "__recvmsg", "readv", "__readv",
				     "__libc_recv", "__libc_read", "__libc_recvmsg", NULL };
static const char *const writes[] = { "write", "__write", "send", "__send", "sendto", "__sendto", "sendmsg", "__sendmsg", "writev", "__writev",
				      "sendfile", "sendfile64", "__libc_send", "__libc_write", "__libc_sendmsg", NULL };

static bool ends_in(const struct maker *m, const char *const *calls)
{
	for (size_t i = m->text.cnt; i-- > 0 && m->text.frames[i].is_system; )
		for (const char *const *call = calls; *call; call++)
			if (is_called(m, &m->text.frames[i], *call))
				return true;
	return false;
}

/* read, recv, poll, select, accept, epoll: the calls in which a thread without a request waits. */
static bool waits_for_requests(const struct kernel_off *o)
{
	static const int calls[] = { 0, 7, 19, 23, 43, 45, 47, 232, 270, 271, 281, 288, 299, 441 };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (o->syscall == calls[i])
			return o->state && !(o->flags & (OFF_PREEMPTED | OFF_NEW | OFF_IOWAIT));
	return false;
}

/* ---- when threads have no request ---- */

struct busy {
	uint32_t tid;			/* the kernel's */
	int64_t from_ns, to_ns;
};
typedef VEC(struct busy) busy_times;

static int by_tid(const void *a, const void *b)
{
	const struct busy *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static int64_t tid_key(const void *item, unsigned int rank)
{
	const struct busy *x = item;

	return rank ? x->from_ns : (int64_t)x->tid;
}

/* Joined where they touch. */
static void find_busy(struct maker *m, const struct request_owner *owners, busy_times *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->k->exchanges.cnt; i++) {
		const struct kernel_exchange *x = &m->k->exchanges.items[i];

		map_set(m->receivers, x->receiver, 1);
		VEC_ADD(ret, (struct busy){ x->sender, owners[i].from_ns, x->last_send_ns });
		VEC_ADD(ret, (struct busy){ x->receiver, x->first_read_ns, x->last_read_ns });
	}
	sort_items(ret->items, ret->cnt, sizeof(*ret->items), tid_key, 2, by_tid);
	for (size_t i = 0; i < ret->cnt; i++) {
		struct busy b = ret->items[i], *before = kept ? &ret->items[kept - 1] : NULL;

		if (before && before->tid == b.tid && before->to_ns >= b.from_ns)
			before->to_ns = b.to_ns > before->to_ns ? b.to_ns : before->to_ns;
		else
			ret->items[kept++] = b;
	}
	ret->cnt = kept;
}

/* Or may be: a request that is not answered when the recording ends is not known. */
static bool is_busy(const busy_times *all, uint32_t tid, int64_t ns)
{
	const struct busy *b = all->items;
	size_t after = partition_point(i, all->cnt, b[i].tid < tid || (b[i].tid == tid && b[i].from_ns <= ns));

	bool is_last = after == all->cnt || b[after].tid != tid;

	return is_last || (after && b[after - 1].tid == tid && b[after - 1].to_ns >= ns);
}

/* ---- invocations ---- */

static void add_invocations(struct maker *m, uint64_t tid, int64_t start_ns, int64_t end_ns, uint32_t chain)
{
	uint32_t path[FRAMES_MAX];
	size_t depth = 0;

	for (; chain && depth < FRAMES_MAX; chain = m->t->chains.items[chain].parent)
		path[depth++] = m->t->chains.items[chain].function;
	while (depth-- > 0)
		VEC_ADD(&m->t->invocations, (struct invocation){ tid, SID_NONE, path[depth], CALL_SITE_NONE, start_ns, end_ns,
								 (uint32_t)m->t->invocations.cnt });
}

/* A thread that waited for requests and has one now waits for a CPU: the function in which it was idle has no part in that. */
static int64_t until_woken(const struct kernel_off *o)
{
	if (!kernel_blocked(o) || !(o->flags & OFF_WOKEN))
		return o->in_ns;
	return o->woken_ns > o->out_ns ? o->woken_ns : o->out_ns;
}

static void add_stack(struct maker *m, const struct kernel_threads *x, const struct kernel_stack *s, const struct kernel_off *o)
{
	const struct kernel_part *part = kernel_part_at(x, s->tid, s->ns);
	const struct stack_reading *text = &m->f->texts[s->stack];
	/* A thread that could have run waits for a CPU, in whatever function. */
	uint32_t chain = s->reason == STACK_SAMPLE || (o && !kernel_blocked(o)) ? text->own_chain : text->chain;

	if (!part)
		return;
	if (s->reason == STACK_SAMPLE)
		VEC_ADD(&m->t->samples, (struct stack_sample){ part->tid, s->ns, chain });
	else if (s->reason == STACK_OUT && o && chain)
		add_invocations(m, part->tid, o->out_ns, text->is_idle ? until_woken(o) : o->in_ns, chain);
}

/* ---- texts ---- */

static const struct kernel_off *off_of(const struct kernel_trace *k, const struct kernel_stack *s)
{
	const struct kernel_off *o = k->offs.items;
	size_t i = partition_point(j, k->offs.cnt, o[j].tid < s->tid || (o[j].tid == s->tid && o[j].out_ns < s->ns));

	return s->reason == STACK_OUT && i < k->offs.cnt && o[i].tid == s->tid && o[i].out_ns == s->ns ? &o[i] : NULL;
}

static void count_waits(struct maker *m, const busy_times *busy)
{
	for (size_t i = 0; i < m->k->stacks.cnt; i++) {
		const struct kernel_stack *s = &m->k->stacks.items[i];
		const struct kernel_off *o = off_of(m->k, s);

		if (o && waits_for_requests(o) && !is_busy(busy, s->tid, s->ns))
			m->idle_cnt[s->stack]++;
		if (m->idle_cnt[s->stack] > m->most_idle_cnt)
			m->most_idle_cnt = m->idle_cnt[s->stack];
	}
}

static void note_idle(struct maker *m, size_t text)
{
	bool is_idle = m->idle_cnt[text] && m->idle_cnt[text] >= m->most_idle_cnt / STRAYS;

	m->f->texts[text].is_idle = is_idle;
	for (size_t i = 0; is_idle && i < m->text.cnt; i++)
		if (!m->text.frames[i].is_system)
			map_set(m->idle_names, m->text.frames[i].name, 1);
}

struct vote {
	uint32_t name;
	uint64_t cnt;
};

static bool is_more(uint64_t key, uint64_t value, void *arg)
{
	struct vote *best = arg;

	if (value > best->cnt || (value == best->cnt && (uint32_t)key < best->name))
		*best = (struct vote){ (uint32_t)key, value };
	return true;
}

/* The outermost function of a stack that is in none of those in which threads wait for requests; UINT32_MAX: there is none. */
static uint32_t first_busy(const struct maker *m)
{
	uint64_t unused;

	for (size_t i = first_own(m); i < m->text.cnt; i++)
		if (!m->text.frames[i].is_system && !map_get(m->idle_names, m->text.frames[i].name, &unused))
			return m->text.frames[i].name;
	return UINT32_MAX;
}

static uint32_t innermost_own(const struct maker *m)
{
	size_t last = last_own(m, first_own(m));

	return last == SIZE_MAX ? UINT32_MAX : m->text.frames[last].name;
}

/* The function, by that rule, of most stacks that end in such a call: its number; UINT32_MAX: none.  cnt: stacks by text. */
static uint32_t most_ending_in(struct maker *m, const char *const *calls, const uint64_t *cnt, uint32_t (*function_in)(const struct maker *m))
{
	_cleanup_(map_freep) struct map *votes = map_new();
	struct vote best = { UINT32_MAX, 0 };

	for (size_t i = 0; i < m->k->texts.cnt; i++) {
		uint32_t name;

		if (!cnt[i])
			continue;
		take_apart(m, m->k->texts.items[i]);
		if (!ends_in(m, calls) || (function_in == first_busy && m->f->texts[i].is_idle))
			continue;
		name = function_in(m);
		if (name != UINT32_MAX)
			*map_slot(votes, name) += cnt[i];
	}
	map_each(votes, is_more, &best);
	return best.cnt ? best.name : UINT32_MAX;
}

/* If each connection has a thread, that thread waits in the function that reads. */
static uint32_t where_it_calls(struct maker *m, const char *const *calls, const uint64_t *cnt)
{
	uint32_t name = most_ending_in(m, calls, cnt, first_busy);

	return name != UINT32_MAX ? name : most_ending_in(m, calls, cnt, innermost_own);
}

static const char *name_of(const struct maker *m, uint32_t number)
{
	return number == UINT32_MAX ? NULL : arena_strdup(m->t->arena, names_get(m->names, number));
}

/* KERNEL_CALLS.  Waits below the function that begins an interval are not idle. */
static void take_calls(struct maker *m)
{
	const strings *calls = &m->k->calls;

	m->t->look.reader = m->start ? arena_strdup(m->t->arena, m->start) : NULL;
	m->t->look.writer = calls->cnt > 2 ? arena_strdup(m->t->arena, calls->items[2]) : NULL;
	for (size_t i = 0; i < m->k->texts.cnt; i++) {
		take_apart(m, m->k->texts.items[i]);
		for (size_t j = 0; j < m->text.cnt; j++)
			if (m->start && is_called(m, &m->text.frames[j], m->start))
				m->f->texts[i].is_idle = false;
	}
}

static void find_reader(struct maker *m)
{
	_cleanup_(freep) uint64_t *cnt = xcalloc(m->k->texts.cnt + 1, sizeof(*cnt));
	uint32_t reader;
	uint64_t unused;

	for (size_t i = 0; i < m->k->stacks.cnt; i++)
		if (map_get(m->receivers, m->k->stacks.items[i].tid, &unused))
			cnt[m->k->stacks.items[i].stack]++;
	reader = most_ending_in(m, reads, cnt, first_busy);
	m->f->knows_reader = reader != UINT32_MAX;
	m->t->look.reader = name_of(m, where_it_calls(m, reads, cnt));
	m->t->look.writer = name_of(m, where_it_calls(m, writes, cnt));
	for (size_t i = 0; m->f->knows_reader && i < m->k->texts.cnt; i++) {
		take_apart(m, m->k->texts.items[i]);
		for (size_t j = 0; j < m->text.cnt; j++)
			m->f->texts[i].reads |= m->text.frames[j].name == reader;
	}
}

/* In "main;serve;[libfoo.so];read" it is "[libfoo.so]", for read is of a system library; SIZE_MAX: the innermost has a name. */
static size_t unnamed_innermost(struct maker *m, const char *text)
{
	size_t unnamed = SIZE_MAX, at = 0;

	while (text[at]) {
		size_t len = strcspn(text + at, ";"), name = strcspn(text + at, ";@");
		bool has_none = text[at] == '[' && !starts_with(text + at, "[deeper]") && !starts_with(text + at, "[unknown]");

		if (has_none || !is_system(m, number_of(m, text + at, name)))
			unnamed = has_none ? at : SIZE_MAX;
		at += len + (text[at + len] == ';');
	}
	return unnamed;
}

/* Counts stacks of threads that have a request, and those without a name. */
static void count_unnamed(struct maker *m, const busy_times *busy)
{
	_cleanup_(map_freep) struct map *files = map_new();
	_cleanup_(freep) size_t *of_text = xcalloc(m->k->texts.cnt + 1, sizeof(*of_text));
	struct vote most = { UINT32_MAX, 0 };

	for (size_t i = 0; i < m->k->texts.cnt; i++)
		of_text[i] = unnamed_innermost(m, m->k->texts.items[i]);
	for (size_t i = 0; i < m->k->stacks.cnt; i++) {
		const struct kernel_stack *s = &m->k->stacks.items[i];
		size_t unnamed = of_text[s->stack];

		if (s->reason == STACK_WAKER || !is_busy(busy, s->tid, s->ns))
			continue;
		m->t->look.stacks++;
		m->t->look.unnamed_stacks += unnamed != SIZE_MAX;
		if (unnamed != SIZE_MAX) {
			const char *file = m->k->texts.items[s->stack] + unnamed;

			(*map_slot(files, number_of(m, file, strcspn(file, ";@"))))++;
		}
	}
	map_each(files, is_more, &most);
	m->t->look.unnamed_file = name_of(m, most.name);
}

/* In what threads wait for requests. */
static void mark_loops(struct maker *m)
{
	for (size_t i = 0; i < m->k->texts.cnt; i++)
		for (uint32_t c = m->f->texts[i].is_idle ? m->f->texts[i].own_chain : 0; c; c = m->t->chains.items[c].parent)
			m->t->functions.items[m->t->chains.items[c].function].is_loop = true;
}

static void read_texts(struct maker *m, const busy_times *busy)
{
	for (size_t i = 0; i < m->k->system.cnt; i++)
		map_set(m->system, number_of(m, m->k->system.items[i], strlen(m->k->system.items[i])), 1);
	VEC_ADD(&m->t->chains, (struct chain){ 0, FUNCTION_NONE });
	count_waits(m, busy);
	for (size_t i = 0; i < m->k->texts.cnt; i++) {
		take_apart(m, m->k->texts.items[i]);
		find_chains(m, &m->f->texts[i]);
		note_idle(m, i);
	}
	if (m->k->calls.cnt)
		take_calls(m);
	else
		find_reader(m);
	mark_loops(m);
	count_unnamed(m, busy);
}

static void maker_release(struct maker *m)
{
	names_free(m->names);
	map_free(m->system);
	map_free(m->function_of);
	map_free(m->chain_of);
	map_free(m->idle_names);
	map_free(m->receivers);
	free(m->idle_cnt);
}

void request_frames_add(struct request_frames *f, struct trace *t, const struct kernel_trace *k, const struct kernel_threads *x,
			const struct request_owner *owners)
{
	_cleanup_(maker_release) struct maker m = {
		.t = t, .k = k, .f = f, .names = names_new(), .system = map_new(), .function_of = map_new(), .chain_of = map_new(),
		.idle_names = map_new(), .receivers = map_new(),
		.idle_cnt = xcalloc(k->texts.cnt + 1, sizeof(uint64_t)), .start = k->calls.cnt > 1 ? k->calls.items[1] : NULL,
	};
	busy_times busy = { NULL, 0, 0 };

	f->texts = xcalloc(k->texts.cnt + 1, sizeof(*f->texts));
	find_busy(&m, owners, &busy);
	read_texts(&m, &busy);
	for (size_t i = 0; i < k->stacks.cnt; i++)
		add_stack(&m, x, &k->stacks.items[i], off_of(k, &k->stacks.items[i]));
	VEC_RELEASE(&busy);
}

void request_frames_release(struct request_frames *f)
{
	free(f->texts);
	f->texts = NULL;
}
