/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causal_machine.c - threads, locks, a barrier and queues, stepped one after the other; and the rules by which a thread is
 * held up.  The product's own runtime/shared/shift.c keeps the shifts.
 */
#include <string.h>
#include "runtime/shared/shift.h"
#include "tests/oracle/causal_machine.h"

enum {
	TICK_NS = 1000000,		/* of CPU time */
	WAKE_NS = 20000,		/* from a release until the woken thread runs */
	GRAIN_NS = 40000,		/* durations: a quarter of it is a step */
	QUEUE_ROOM = 4, WARM_UP = 6, ITERATIONS = 40,
	STEPS_MAX = 100000,
	AHEAD_NS = 777,			/* the clock of the table */
};

const struct machine_rules machine_ours = { true, true, true, true, true, true, true, false };
const struct machine_rules machine_table = { true, true, true, true, true, true, true, true };
const struct machine_rules machine_coz = { .settles_first = true, .credits = true };
const struct machine_rules machine_bcoz = { .counts_io = true, .settles_first = true, .credits = true };

struct thread {
	uint32_t pc, iteration;
	uint64_t left_ns, took_ns, cpu_ns;
	bool started, blocked, paying;
	uint64_t blocked_at, runs_at, woken_at, woken_max;
	uint64_t pay_ns;		/* not until_gone: the pause still to be paid */
	uint64_t v_first, v_last;	/* virtual times of the end of the warm-up, and of the last iteration */
};

struct machine {
	const struct machine_program *p;
	const struct machine_rules *rules;	/* NULL: really faster */
	uint32_t function, speed;
	uint64_t now;
	struct thread threads[MACHINE_THREADS];
	uint32_t holder[MACHINE_LOCKS];	/* thread + 1 */
	uint32_t queued[MACHINE_QUEUES], arrived;
	struct shift shifts[MACHINE_THREADS];
	struct shift_all all;
	struct shift_table table;
	struct device_wait waits[MACHINE_THREADS + 1];	/* a thread's is one behind it */
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static uint32_t below(uint64_t *state, uint32_t cnt)
{
	*state += 0x9e3779b97f4a7c15ULL;
	return (uint32_t)(mix(*state) % cnt);
}

static void add_op(struct machine_program *p, uint32_t thread, enum machine_op_kind kind, uint32_t what, uint32_t ns)
{
	p->ops[thread][p->op_cnt[thread]++] = (struct machine_op){ kind, what, ns };
}

static void add_work(struct machine_program *p, uint32_t thread, uint64_t *state)
{
	uint32_t tenth = 1 + below(state, 10), ns = below(state, 3) ? tenth * 100000 : tenth * 300000;

	add_op(p, thread, below(state, 3) ? OP_CPU : OP_IO, below(state, MACHINE_FUNCTIONS), ns);
}

static void random_locks(struct machine_program *p, uint64_t *state)
{
	for (uint32_t t = 0; t < p->thread_cnt; t++) {
		uint32_t lock = below(state, MACHINE_LOCKS);

		add_work(p, t, state);
		add_op(p, t, OP_LOCK, lock, 0);
		add_work(p, t, state);
		add_op(p, t, OP_UNLOCK, lock, 0);
		if (below(state, 2))
			add_work(p, t, state);
	}
}

static void random_barrier(struct machine_program *p, uint64_t *state)
{
	for (uint32_t t = 0; t < p->thread_cnt; t++) {
		for (uint32_t i = 0; i <= below(state, 3); i++)
			add_work(p, t, state);
		add_op(p, t, OP_BARRIER, 0, 0);
	}
}

static void random_pipeline(struct machine_program *p, uint64_t *state)
{
	for (uint32_t t = 0; t < p->thread_cnt; t++) {
		if (t)
			add_op(p, t, OP_POP, t - 1, 0);
		for (uint32_t i = 0; i <= below(state, 2); i++)
			add_work(p, t, state);
		if (t + 1 < p->thread_cnt)
			add_op(p, t, OP_PUSH, t, 0);
	}
	p->observed = p->thread_cnt - 1;
}

void machine_random(struct machine_program *ret, uint64_t seed)
{
	uint64_t state = seed;

	memset(ret, 0, sizeof(*ret));
	ret->seed = seed;
	ret->thread_cnt = 2 + below(&state, MACHINE_THREADS - 1);
	switch (below(&state, 3)) {
	case 0:
		random_locks(ret, &state);
		break;
	case 1:
		random_barrier(ret, &state);
		break;
	default:
		random_pipeline(ret, &state);
	}
	for (uint32_t t = 0; t < ret->thread_cnt; t++)
		add_op(ret, t, OP_CPU, MACHINE_FUNCTIONS, 3 * GRAIN_NS);
}

/* ---- shifts ---- */

static uint64_t max_shift(const struct machine *m)
{
	return shift_max(&m->table, m->now);
}

/* A hook: what the table says is added. */
static void note_waits(struct machine *m, uint32_t t)
{
	if (m->rules && m->rules->by_table)
		shift_waited(&m->all, &m->shifts[t], m->waits);
}

static bool owes(const struct machine *m, uint32_t t)
{
	return m->rules && shift_ns(&m->all, &m->shifts[t], m->now) < max_shift(m);
}

static void begin_to_pay(struct machine *m, uint32_t t)
{
	struct thread *th = &m->threads[t];

	if (!owes(m, t))
		return;
	th->paying = true;
	th->pay_ns = max_shift(m) - shift_ns(&m->all, &m->shifts[t], m->now);
}

/* Whether this step is spent on it. */
static bool pay(struct machine *m, uint32_t t)
{
	struct thread *th = &m->threads[t];

	if (!th->paying)
		return false;
	if (m->rules->until_gone ? !owes(m, t) : th->pay_ns < STEP_NS / 2) {
		th->paying = false;
		return false;
	}
	shift_paid(&m->shifts[t], STEP_NS);
	th->pay_ns -= th->pay_ns < STEP_NS ? th->pay_ns : STEP_NS;
	return true;
}

static bool is_faster(const struct machine *m, uint32_t t, const struct machine_op *op)
{
	return m->function < MACHINE_LOCK ? op->what == m->function : m->holder[m->function - MACHINE_LOCK] == t + 1;
}

static bool is_target(const struct machine *m, uint32_t t, const struct machine_op *op)
{
	return m->rules && is_faster(m, t, op) && (op->kind == OP_CPU || m->rules->counts_io);
}

static void tick(struct machine *m, uint32_t t, const struct machine_op *op)
{
	struct shift *s = &m->shifts[t];

	if (!m->rules)
		return;
	note_waits(m, t);
	if (s->since)
		shift_believe(s, m->now + 3 * TICK_NS);
	else if (is_target(m, t, op) && !m->rules->counts_live)
		shift_end(&m->all, s, TICK_NS);
	begin_to_pay(m, t);
}

/* ---- operations ---- */

static uint64_t duration(const struct machine *m, uint32_t t, const struct machine_op *op)
{
	const struct thread *th = &m->threads[t];
	uint64_t draw = mix(m->p->seed ^ mix((uint64_t)t << 48 | (uint64_t)th->pc << 32 | th->iteration));
	uint64_t ns = (uint64_t)op->ns * (700 + draw % 601) / 1000;

	ns = (ns + GRAIN_NS / 2) / GRAIN_NS * GRAIN_NS;
	if (!m->rules && is_faster(m, t, op))
		ns = ns * (SHIFT_WHOLE - m->speed) / SHIFT_WHOLE;
	return ns;
}

static void next_op(struct machine *m, uint32_t t)
{
	struct thread *th = &m->threads[t];
	uint64_t v;

	if (++th->pc < m->p->op_cnt[t])
		return;
	th->pc = 0;
	th->iteration++;
	note_waits(m, t);
	v = m->now - (m->rules ? shift_ns(&m->all, &m->shifts[t], m->now) : 0);
	if (th->iteration == WARM_UP)
		th->v_first = v;
	th->v_last = v;
}

static void block(struct machine *m, uint32_t t)
{
	m->threads[t].blocked = true;
	m->threads[t].blocked_at = m->now;
}

/* A thread that waits at such an operation; the one that waits longest. */
static uint32_t find_waiter(const struct machine *m, enum machine_op_kind kind, uint32_t what)
{
	uint32_t best = MACHINE_THREADS;

	for (uint32_t t = 0; t < m->p->thread_cnt; t++) {
		const struct thread *th = &m->threads[t];
		const struct machine_op *op = &m->p->ops[t][th->pc];

		if (th->blocked && op->kind == kind && op->what == what &&
		    (best == MACHINE_THREADS || th->blocked_at < m->threads[best].blocked_at))
			best = t;
	}
	return best;
}

static void wake(struct machine *m, uint32_t t)
{
	struct thread *th = &m->threads[t];

	th->blocked = false;
	th->woken_at = m->now;
	th->woken_max = m->rules ? max_shift(m) : 0;
	th->runs_at = m->now + WAKE_NS;
}

/* Woken, and on its CPU again: its operation is done. */
static void resume(struct machine *m, uint32_t t)
{
	struct thread *th = &m->threads[t];

	th->runs_at = 0;
	if (m->rules && m->rules->credits) {
		if (m->rules->at_release)
			shift_woken(&m->shifts[t], th->blocked_at, th->woken_at, th->woken_max);
		else
			shift_woken(&m->shifts[t], 0, m->now, max_shift(m));
	}
	next_op(m, t);
}

static void barrier(struct machine *m, uint32_t t)
{
	if (++m->arrived < m->p->thread_cnt) {
		block(m, t);
		return;
	}
	m->arrived = 0;
	for (uint32_t i = 0; i < m->p->thread_cnt; i++)
		if (i != t && m->threads[i].blocked)
			wake(m, i);
	next_op(m, t);
}

static void push(struct machine *m, uint32_t t, uint32_t queue)
{
	uint32_t waiter;

	if (m->queued[queue] == QUEUE_ROOM) {
		block(m, t);
		return;
	}
	waiter = find_waiter(m, OP_POP, queue);
	if (waiter < MACHINE_THREADS)
		wake(m, waiter);
	else
		m->queued[queue]++;
	next_op(m, t);
}

static void pop(struct machine *m, uint32_t t, uint32_t queue)
{
	uint32_t waiter;

	if (!m->queued[queue]) {
		block(m, t);
		return;
	}
	waiter = find_waiter(m, OP_PUSH, queue);
	if (waiter < MACHINE_THREADS)
		wake(m, waiter);
	else
		m->queued[queue]--;
	next_op(m, t);
}

static void unlock(struct machine *m, uint32_t t, uint32_t lock)
{
	uint32_t waiter = find_waiter(m, OP_LOCK, lock);

	m->holder[lock] = waiter < MACHINE_THREADS ? waiter + 1 : 0;
	if (waiter < MACHINE_THREADS)
		wake(m, waiter);
	next_op(m, t);
}

/* Takes no time.  False: the thread has to pay first. */
static bool synchronise(struct machine *m, uint32_t t, const struct machine_op *op)
{
	note_waits(m, t);
	if (m->rules && (op->kind == OP_LOCK ? m->rules->settles_to_lock : m->rules->settles_first) && owes(m, t)) {
		begin_to_pay(m, t);
		return false;
	}
	if (op->kind == OP_UNLOCK) {
		unlock(m, t, op->what);
	} else if (op->kind == OP_BARRIER) {
		barrier(m, t);
	} else if (op->kind == OP_PUSH) {
		push(m, t, op->what);
	} else if (op->kind == OP_POP) {
		pop(m, t, op->what);
	} else if (m->holder[op->what]) {
		block(m, t);
	} else {
		m->holder[op->what] = t + 1;
		next_op(m, t);
	}
	return true;
}

static void begin_work(struct machine *m, uint32_t t, const struct machine_op *op)
{
	struct thread *th = &m->threads[t];

	th->started = true;
	th->left_ns = duration(m, t, op);
	th->took_ns = 0;
	if (is_target(m, t, op) && m->rules->by_table && op->kind == OP_IO)
		m->waits[t + 1].since = m->now + AHEAD_NS;
	else if (is_target(m, t, op) && m->rules->counts_live)
		shift_begin(&m->shifts[t], m->now, op->kind == OP_IO ? UINT64_MAX : m->now + 3 * TICK_NS);
}

static void end_work(struct machine *m, uint32_t t, const struct machine_op *op)
{
	struct thread *th = &m->threads[t];

	th->started = false;
	if (m->waits[t + 1].since) {
		m->waits[t + 1].since = 0;
		m->waits[t + 1].total += th->took_ns;
	} else if (is_target(m, t, op)) {
		if (m->rules->counts_live)
			shift_end(&m->all, &m->shifts[t], th->took_ns);
		else if (op->kind == OP_IO)
			shift_end(&m->all, &m->shifts[t], th->took_ns / TICK_NS * TICK_NS);
	}
	next_op(m, t);
	if (op->kind == OP_IO && m->rules && !m->rules->by_table)
		begin_to_pay(m, t);
}

/* Whether it took the step. */
static bool work(struct machine *m, uint32_t t, const struct machine_op *op)
{
	struct thread *th = &m->threads[t];

	if (!th->started)
		begin_work(m, t, op);
	if (th->left_ns < STEP_NS) {
		end_work(m, t, op);
		return false;
	}
	th->left_ns -= STEP_NS;
	th->took_ns += STEP_NS;
	if (op->kind == OP_CPU && (th->cpu_ns += STEP_NS) % TICK_NS == 0)
		tick(m, t, op);
	return true;
}

/* Operations until one takes time.  A program without any takes the step as well. */
static void step(struct machine *m, uint32_t t)
{
	struct thread *th = &m->threads[t];

	for (uint32_t i = 0; i < 2 * MACHINE_OPS; i++) {
		const struct machine_op *op = &m->p->ops[t][th->pc];

		if (th->blocked || th->runs_at > m->now)
			return;
		if (th->runs_at) {
			resume(m, t);
			continue;
		}
		if (pay(m, t))
			return;
		if (op->kind == OP_CPU || op->kind == OP_IO) {
			if (work(m, t, op))
				return;
		} else {
			synchronise(m, t, op);
		}
	}
}

double machine_run(const struct machine_program *p, uint32_t function, uint32_t speed, const struct machine_rules *rules)
{
	struct machine m = { .p = p, .rules = rules, .function = function, .speed = speed, .now = STEP_NS,
		.all = { .block = 1, .speed = speed } };
	const struct thread *observed = &m.threads[p->observed];

	m.table = (struct shift_table){ &m.all, (char *)m.shifts, p->thread_cnt, sizeof(m.shifts[0]), m.waits, AHEAD_NS };
	for (uint32_t t = 0; t < p->thread_cnt; t++) {
		shift_join(&m.all, &m.shifts[t]);
		m.shifts[t].wait = t + 1;
	}
	for (uint32_t i = 0; i < STEPS_MAX && observed->iteration < WARM_UP + ITERATIONS; i++) {
		for (uint32_t t = 0; t < p->thread_cnt; t++)
			step(&m, t);
		m.now += STEP_NS;
	}
	return (double)(int64_t)(observed->v_last - observed->v_first) /
	       (observed->iteration > WARM_UP ? observed->iteration - WARM_UP : 1);
}
