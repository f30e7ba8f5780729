/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_stream_kernel.c - a trace with the kernel's side of it, in windows: each finds what is found in all of it.
 *
 * Random programs (random_program.h), and what a kernel may have seen of them: most waits were off the CPU, from a
 * little before or after to a little after or before; threads were preempted, blocked where the runtime knows
 * nothing, spun, were woken in vain; records are missing, numbers are given out again; there are threads that only the
 * kernel knows, and devices.  Compared are findings, and for each interval of a window what all threads did meanwhile.
 */
#include "tests/unit/trace/random_program.h"

#include "analysis/analyze.h"
#include "tests/unit/same_findings.h"
#include "trace/windows/stream.h"
#include "base/banned.h"

enum { TRACES = 1500, DISK = 254 << 20, NIC = 2 };

/* ---- what the kernel saw ---- */

static void add_off(struct kernel_trace *k, uint32_t tid, int64_t out_ns, int64_t in_ns, bool is_blocked)
{
	static const int calls[] = { 0, 1, 17, 35, 61, 202, -1 };
	static const uint32_t tasks[] = { 0, 11, 12, 13, 14, 40, 41, 77 };
	struct kernel_off *o;

	if (out_ns < 1 || in_ns <= out_ns)
		return;
	o = VEC_EXTEND(&k->offs);
	*o = (struct kernel_off){ .tid = tid, .pid = tid == 14 ? 20 : 10, .out_ns = out_ns, .in_ns = in_ns, .syscall = -1,
				  .after_loss = random_below(&r, 40) == 0, .flags = OFF_PREEMPTED };
	if (!is_blocked)
		return;
	o->state = random_below(&r, 5) ? KERNEL_STATE_INTERRUPTIBLE : KERNEL_STATE_UNINTERRUPTIBLE;
	o->flags = (random_below(&r, 6) ? OFF_WOKEN : 0) | (random_below(&r, 8) ? 0 : OFF_IOWAIT) |
		   (random_below(&r, 3) ? OFF_TASK_WAKER : 0);
	o->woken_ns = in_ns - random_below(&r, (uint32_t)(in_ns - out_ns));
	o->syscall = calls[random_below(&r, 7)];
	o->argument[2] = 10 + random_below(&r, 6);
	if (random_below(&r, 3)) {
		o->waker = tasks[random_below(&r, 8)];
		return;
	}
	o->waker_kind = (enum kernel_waker)(1 + random_below(&r, WAKER_KIND_CNT - 1));
	o->waker = o->waker_kind == WAKER_DISK ? DISK : o->waker_kind == WAKER_NIC ? NIC : 0;
}

static void see_wait(struct kernel_trace *k, const struct segment *s, bool is_exact)
{
	int64_t start_ns = s->start_ns, end_ns = s->end_ns, middle_ns = start_ns + (end_ns - start_ns) / 2;
	uint32_t tid = (uint32_t)s->tid;

	switch (random_below(&r, 8)) {
	case 0:					/* it spun */
		break;
	case 1:
		add_off(k, tid, start_ns, start_ns + 2, random_below(&r, 2));
		break;
	case 2:
		add_off(k, tid, start_ns + 1, middle_ns, random_below(&r, 3));
		add_off(k, tid, middle_ns + 1, end_ns, true);
		break;
	default:
		add_off(k, tid, start_ns + (is_exact ? 1 : (int64_t)random_below(&r, 5) - 2),
			end_ns + (is_exact ? -1 : (int64_t)random_below(&r, 6) - 3), true);
	}
}

static void see_thread(struct kernel_trace *k, const struct trace *t, bool is_exact)
{
	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *s = &t->segments.items[i];

		if (s->state != STATE_RUNNING)
			see_wait(k, s, is_exact);
		else if (random_below(&r, 4) == 0)
			add_off(k, (uint32_t)s->tid, s->start_ns + random_below(&r, 5), s->start_ns + 3 + random_below(&r, 20),
				random_below(&r, 2));
	}
}

static void add_life(struct kernel_trace *k, enum kernel_record_kind kind, uint32_t tid, int64_t ns)
{
	VEC_ADD(&k->lives, (struct kernel_life){ kind, tid, tid == 14 ? 20 : 10, kind == KERNEL_SEEN, ns, "thread" });
}

static void add_lives(struct kernel_trace *k, uint32_t tid, bool is_reused)
{
	int64_t now_ns = k->start_ns + random_below(&r, 30);

	if (random_below(&r, 8) == 0)
		return;				/* lost */
	add_life(k, random_below(&r, 2) ? KERNEL_SEEN : KERNEL_FORK, tid, now_ns);
	while (is_reused && random_below(&r, 2)) {
		now_ns += 20 + random_below(&r, 300);
		add_life(k, KERNEL_EXIT, tid, now_ns);
		now_ns += random_below(&r, 40);
		add_life(k, KERNEL_FORK, tid, now_ns);
	}
}

static void add_requests(struct kernel_trace *k, enum kernel_waker kind, uint32_t device)
{
	for (int64_t ns = k->start_ns + 5; ns < k->end_ns; ns += random_below(&r, 60))
		VEC_ADD(&k->requests, (struct kernel_request){ kind, device, random_below(&r, 2) ? 11 + random_below(&r, 4) : 0,
							       ns, ns + 1 + random_below(&r, 40) });
}

static void make_kernel(struct kernel_trace *k, const struct trace *t, unsigned int seed)
{
	int64_t last_ns = 0;

	r.state = 77 * seed;
	*k = (struct kernel_trace){ .arena = arena_new(), .start_ns = random_below(&r, 40), .lost = seed % 3 };
	for (size_t i = 0; i < t->segments.cnt; i++)
		last_ns = t->segments.items[i].end_ns > last_ns ? t->segments.items[i].end_ns : last_ns;
	k->end_ns = last_ns + random_below(&r, 90) - (last_ns > 60 && seed % 4 == 0 ? 50 : 0);
	see_thread(k, t, seed % 5 == 0);
	for (uint32_t tid = 11; tid < 15; tid++)
		add_lives(k, tid, seed % 9 == 0);
	for (uint32_t tid = 40; tid < 42; tid++) {
		add_lives(k, tid, true);
		for (int64_t ns = k->start_ns; ns < k->end_ns; ns += random_below(&r, 90))
			add_off(k, tid, ns, ns + random_below(&r, 60), random_below(&r, 4));
	}
	VEC_ADD(&k->lives, (struct kernel_life){ KERNEL_SEEN, 77, 99, 0, k->start_ns, "other" });
	if (seed % 3)
		add_requests(k, WAKER_DISK, DISK);
	if (seed % 2)
		add_requests(k, WAKER_NIC, NIC);
	VEC_ADD(&k->names, (struct kernel_name){ WAKER_DISK, DISK, "vda" });
	kernel_sort(k);
}

/* ---- what is compared ---- */

static const struct wakeup *latest_wakeup(const struct trace *t, const struct segment *s, int64_t until_ns)
{
	const struct wakeup *ret = NULL;

	for (size_t i = 0; i < t->wakeups.cnt; i++) {
		const struct wakeup *w = &t->wakeups.items[i];

		if (w->tid == s->tid && w->time_ns > s->start_ns && w->time_ns <= s->end_ns && w->time_ns <= until_ns)
			ret = w;
	}
	return ret;
}

/* The thread's segment at that moment, or NULL. */
static const struct segment *segment_at(const struct trace *t, uint64_t tid, int64_t ns)
{
	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *s = &t->segments.items[i];

		if (s->tid == tid && s->start_ns < ns && s->end_ns >= ns)
			return s;
	}
	return NULL;
}

static const char *text_of(const struct segment *s)
{
	static char texts[2][100];
	static int at;

	at = !at;
	if (!s)
		return "nothing";
	snprintf(texts[at], sizeof(texts[at]), "%s %jd..%jd for %jd", trace_state_name(s->state), (intmax_t)s->start_ns,
		 (intmax_t)s->end_ns, (intmax_t)s->sid);
	return texts[at];
}

static void same_moment(const struct trace *whole, const struct trace *window, const struct interval *iv, uint64_t tid,
			int64_t ns)
{
	const struct segment *a = segment_at(whole, tid, ns), *b = segment_at(window, tid, ns);
	const struct wakeup *x, *y;

	/* Devices have what they did once somebody has waited for them. */
	if (!b && tid >> 48)
		return;
	if (!a && !b)
		return;
	if (!a != !b || a->state != b->state || (a->sid == iv->sid) != (b->sid == iv->sid))
		fail_msg("thread %ju at %jd: %s, in its window %s", (uintmax_t)tid, (intmax_t)ns, text_of(a), text_of(b));
	if (a->state == STATE_RUNNING || a->state == STATE_QUEUE || a->state == STATE_RUNNABLE)
		return;
	x = latest_wakeup(whole, a, ns);
	y = latest_wakeup(window, b, ns);
	assert_true(!x == !y);
	if (x && (x->time_ns != y->time_ns || x->waker_tid != y->waker_tid))
		fail_msg("thread %ju at %jd: woken at %jd, %jd", (uintmax_t)tid, (intmax_t)ns, (intmax_t)x->time_ns,
			 (intmax_t)y->time_ns);
}

static void same_times(const struct trace *whole, const struct trace *window)
{
	for (size_t i = 0; i < window->intervals.cnt; i++) {
		const struct interval *iv = &window->intervals.items[i];

		if (iv->status != INTERVAL_COMPLETED)
			continue;
		for (size_t j = 0; j < whole->threads.cnt; j++)
			for (int64_t ns = iv->start_ns + 1; ns <= iv->end_ns; ns += 1 + (iv->end_ns - iv->start_ns) / 8)
				same_moment(whole, window, iv, whole->threads.items[j].tid, ns);
	}
}

static void same(struct trace *whole, const struct trace *names, struct analyzer *a)
{
	assert_memory_equal(&whole->losses, &names->losses, sizeof(whole->losses));
	assert_int_equal(whole->threads.cnt, names->threads.cnt);
	for (size_t i = 0; i < whole->threads.cnt; i++)
		assert_true(whole->threads.items[i].tid == names->threads.items[i].tid &&
			    whole->threads.items[i].kind == names->threads.items[i].kind);
	for (size_t i = 0; i < whole->interval_names.cnt; i++) {
		_cleanup_(findings_freep) struct findings *x = NULL, *y = NULL;
		struct analyze_options o = { .interval = whole->interval_names.items[i], .quantile = .6 };

		assert_int_equal(analyze(whole, &o, &x), 0);
		assert_int_equal(analyzer_finish(a, names, &o, &y), 0);
		x->clamped = y->clamped = 0;
		same_findings(x, y);
	}
}

/* The number of windows; 0: it is not fit for them. */
static size_t compare(unsigned int seed)
{
	_cleanup_(trace_freep) struct trace *whole = NULL;
	_cleanup_(trace_stream_closep) struct trace_stream *s = NULL;
	_cleanup_(analyzer_freep) struct analyzer *a = analyzer_new();
	struct trace_window w = { .t = NULL };
	struct kernel_trace k, k2;
	struct diag diag = DIAG_INIT;
	size_t windows = 0;
	int e;

	with_stacks = seed % 8 == 0;	/* whose a time off the CPU is depends on the whole run then */
	write_program(seed);
	write_chunks(seed);
	whole = read_trace(NULL);
	make_kernel(&k, whole, seed);
	make_kernel(&k2, whole, seed);
	kernel_merge(whole, &k2);
	kernel_release(&k2);
	trace_stream_records = 1 + seed % 50;
	e = trace_stream_open(path, NULL, &s, &diag);
	if (e > 0)
		e = trace_stream_kernel(s, &k);
	while (e > 0 && (e = trace_stream_next(s, &w, &diag)) > 0) {
		if (!with_takings)	/* doc/design/locks.md, the known limit: at moments to which no walk comes */
			same_times(whole, w.t);
		analyzer_add(a, &(struct analysis_window){ w.t, w.before_ns, w.until_ns });
		windows++;
	}
	assert_true(e == 0 || e == TRACE_STREAM_UNFIT);
	if (e == 0)
		same(whole, trace_stream_names(s), a);
	kernel_release(&k);
	trace_window_release(&w);
	unlink(path);
	return e == 0 ? windows : 0;
}

static void test_random_kernels(void **state)
{
	size_t fit = 0, windows = 0;

	(void)state;
	for (unsigned int seed = 1; seed <= TRACES; seed++) {
		size_t cnt = compare(seed);

		fit += cnt > 0;
		windows += cnt;
	}
	print_message("%zu of %d fit, %zu windows\n", fit, TRACES, windows);
	assert_true(fit > TRACES / 2);
	assert_true(windows > 4 * fit);
	VEC_RELEASE(&chunks);
}

static void test_random_takings(void **state)
{
	size_t windows = 0;

	(void)state;
	with_takings = true;
	for (unsigned int seed = 1; seed <= TRACES / 3; seed++)
		windows += compare(seed);
	with_takings = false;
	assert_true(windows > TRACES);
	VEC_RELEASE(&chunks);
}

/* The runtime's waits of thread 11, and the times off the CPU; the window's first end is at 40. */
static void see_end(const uint64_t lock[], int64_t out_ns, int64_t in_ns, uint64_t release, int64_t expected_end_ns)
{
	_cleanup_(trace_stream_closep) struct trace_stream *s = NULL;
	struct trace_window w = { .t = NULL };
	struct kernel_trace k = { .arena = arena_new(), .start_ns = 1, .end_ns = 200 };
	struct diag diag = DIAG_INIT;

	begin_program(1);
	event(&actors[1], EVENT_RELEASE, 15, (const uint64_t[]){ 3 });
	event(&actors[1], EVENT_RELEASE, 40, (const uint64_t[]){ 3 });
	end_chunk(1);
	event(&actors[0], EVENT_WAIT, lock[0], &lock[1]);
	end_chunk(0);
	event(&actors[1], EVENT_RELEASE, release, (const uint64_t[]){ 7 });
	end_chunk(1);
	event(&actors[1], EVENT_RELEASE, 100, (const uint64_t[]){ 7 });
	end_chunk(1);
	write_chunks(0);
	end_trace(0, 0);
	trace_file_close(&file);
	add_life(&k, KERNEL_SEEN, 11, 5);
	VEC_ADD(&k.offs, (struct kernel_off){ .tid = 11, .pid = 10, .out_ns = out_ns, .in_ns = in_ns, .woken_ns = in_ns,
		.flags = OFF_WOKEN, .state = KERNEL_STATE_INTERRUPTIBLE, .syscall = 202, .waker = 12 });
	add_life(&k, KERNEL_SEEN, 12, 5);
	kernel_sort(&k);
	trace_stream_records = 1;
	assert_int_equal(trace_stream_open(path, NULL, &s, &diag), 1);
	assert_int_equal(trace_stream_kernel(s, &k), 1);
	assert_int_equal(trace_stream_next(s, &w, &diag), 1);
	assert_int_equal(w.until_ns, expected_end_ns);
	trace_window_release(&w);
	unlink(path);
	VEC_RELEASE(&chunks);
}

/* The examples of stream_kernel.c: where a window may not end. */
static void test_ends(void **state)
{
	(void)state;
	/* Off when the window ends, and a wait begins before it is back. */
	see_end((const uint64_t[]){ 42, 79, WAIT_LOCK, 7, 0, 0 }, 39, 80, 90, 42);
	see_end((const uint64_t[]){ 42, 79, WAIT_LOCK, 7, 0, 0 }, 43, 80, 90, 40);
	/* It was off and is not any more, and others let go of the lock later. */
	see_end((const uint64_t[]){ 20, 60, WAIT_LOCK, 7, waker_serial(2), 59 }, 21, 35, 45, 59);
	see_end((const uint64_t[]){ 20, 60, WAIT_LOCK, 7, waker_serial(2), 59 }, 21, 58, 45, 40);
	see_end((const uint64_t[]){ 20, 60, WAIT_COND, 7, waker_serial(2), 59 }, 21, 35, 45, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_kernels), cmocka_unit_test(test_random_takings),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
