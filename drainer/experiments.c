/* SPDX-License-Identifier: Apache-2.0 */
/*
 * experiments.c - see experiments.h.
 *
 * Each chunk has a mark up to which it was read.  An incomplete record ends a reading; in a full chunk it is
 * a hole, and others follow.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "drainer/drain.h"
#include "drainer/experiments.h"

enum {
	RELEASES_MIN = 20,		/* of a lock, to say in which order it goes round */
	WAITS_FD = 110,			/* or the next free one: out of the range that scripts use */
};

static struct arena_experiment *experiment(const struct drainer *d)
{
	return &d->arena.control->experiment;
}

static void put_keys(struct drainer *d, const struct drainer_experiments *x)
{
	struct arena_experiment *e = experiment(d);

	for (size_t i = 0; i < x->target_cnt; i++)
		for (size_t k = 0; k < x->targets[i].key_cnt && e->key_cnt < EXPERIMENT_KEYS; k++)
			e->keys[e->key_cnt++] = (struct experiment_key){ x->targets[i].keys[k], (uint32_t)i, 0 };
}

uint32_t drainer_modules(const struct drainer *d, uint32_t next, void (*take)(void *arg, const struct drainer_module *m), void *arg)
{
	uint32_t cnt = __atomic_load_n(&d->arena.control->module_cnt, __ATOMIC_ACQUIRE);

	for (next = next ? next : 1; next <= cnt && next < ARENA_MODULES; next++) {
		const struct arena_module *m = &d->arena.modules[next];
		uint32_t at = m->name % ARENA_TEXT_BYTES;

		if (!__atomic_load_n(&m->ready, __ATOMIC_ACQUIRE))
			break;
		if (m->name && memchr(d->arena.text + at, '\0', ARENA_TEXT_BYTES - at))
			take(arg, &(struct drainer_module){ d->arena.text + at, m->base, m->program });
	}
	return next;
}

bool drainer_add_lock(struct drainer *d, uint32_t target, uint32_t program, uint64_t start, uint64_t end)
{
	struct arena_experiment *e = experiment(d);
	uint32_t cnt = e->lock_cnt;

	if (cnt >= EXPERIMENT_LOCKS)
		return false;
	e->locks[cnt] = (struct experiment_lock){ start, end, program, target };
	__atomic_store_n(&e->lock_cnt, cnt + 1, __ATOMIC_RELEASE);
	return true;
}

int drainer_use_waits(struct drainer *d, const struct drainer_waits *w)
{
	struct arena_experiment *e = experiment(d);
	int fd = fcntl(w->fd, F_DUPFD_CLOEXEC, WAITS_FD);

	if (fd < 0)
		return -errno;
	d->waits = *w;
	d->waits.fd = fd;
	d->arena.waits = w->table;
	e->waits_fd = (uint32_t)fd;
	__atomic_store_n(&e->waits_number, w->number, __ATOMIC_RELEASE);
	return 0;
}

/* Which waits in the table a target of that kind asks for. */
static uint32_t awaited_by(const struct drainer_target *t)
{
	switch (t->kind) {
	case EXPERIMENT_DEVICE:
		return t->disk;
	case EXPERIMENT_FUNCTION:
	case EXPERIMENT_IO:
	case EXPERIMENT_LOCK:
		return DEVICE_WAIT_ANY;
	case EXPERIMENT_BODY:
	case EXPERIMENT_PC:
		break;
	}
	return DEVICE_WAIT_NONE;
}

void experiments_open(struct drainer *d, const struct drainer_experiments *x)
{
	struct arena_control *c = d->arena.control;

	d->experiments = x;
	if (!x)
		return;
	d->looked = xcalloc(d->arena.chunk_cnt + 1, sizeof(*d->looked));
	if (x->only_watches)
		return;
	put_keys(d, x);
	experiment(d)->virtual_clock = x->virtual_clock;
	d->own_serial = __atomic_add_fetch(&c->serial_cnt, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&experiment(d)->wanted, 1, __ATOMIC_RELEASE);
}

void experiments_turn(struct drainer *d, uint64_t now_ns)
{
	if (d->experiments)
		d->experiments->turn(d->experiments->arg, d, now_ns);
}

/* From the first anchor, which is some tenths of a second old.  The table's clock is CLOCK_MONOTONIC; how far it is ahead is said anew for
 * each block, because the two drift. */
static void set_clock(struct drainer *d)
{
	const struct drain_anchor *first = &d->anchors.items[0];
	struct timespec t;
	uint64_t ticks, mono;

	clock_gettime(CLOCK_MONOTONIC, &t);
	ticks = clock_ticks();
	mono = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	if (!experiment(d)->ns_per_tick && ticks > first->ticks && mono > first->mono)
		__atomic_store_n(&experiment(d)->ns_per_tick,
				 (uint64_t)(((unsigned __int128)(mono - first->mono) << 32) / (ticks - first->ticks)), __ATOMIC_RELEASE);
	__atomic_store_n(&experiment(d)->waits_ahead, mono - arena_experiment_ns(&d->arena, ticks), __ATOMIC_RELAXED);
}

double drainer_ns_per_tick(const struct drainer *d)
{
	const struct drain_anchor *first = d->anchors.items, *last = first + d->anchors.cnt - 1;

	return d->anchors.cnt > 1 && last->ticks > first->ticks ? (double)(last->mono - first->mono) / (double)(last->ticks - first->ticks) : 0;
}

static uint64_t now_ns(const struct drainer *d)
{
	return arena_experiment_ns(&d->arena, clock_ticks());
}

static uint64_t max_now(const struct drainer *d)
{
	struct shift_table table = arena_shifts(&d->arena);

	return experiment(d)->ns_per_tick ? shift_max(&table, now_ns(d)) : 0;
}

static void tell_phase(struct drainer *d, enum block_phase phase)
{
	const struct drainer_block *b = &d->block;
	uint64_t ticks = clock_ticks();
	uint64_t words[] = { (uint64_t)b->number << 8 | phase,
			     block_what(b->speed ? b->target : BLOCK_NO_TARGET, b->speed, b->round), max_now(d) };

	drain_event(d, d->own_serial, 0, 0, EVENT_BLOCK, ticks, words);
	d->experiments->take(d->experiments->arg, d->own_serial, EVENT_BLOCK, ticks, words);
}

void drainer_block_set(struct drainer *d, const struct drainer_block *b)
{
	struct arena_experiment *e = experiment(d);
	const struct drainer_target *t = &d->experiments->targets[b->target];
	uint64_t max;

	set_clock(d);
	max = max_now(d);
	d->block = *b;
	__atomic_store_n(&e->all.block, 0, __ATOMIC_RELEASE);
	if (d->waits.table) {
		d->waits.await(d->waits.arg, awaited_by(t));
		__atomic_store_n(&e->waits_count, awaited_by(t) != DEVICE_WAIT_NONE, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&e->target, b->target, __ATOMIC_RELAXED);
	__atomic_store_n(&e->kind, t->kind, __ATOMIC_RELAXED);
	__atomic_store_n(&e->has_keys, t->key_cnt > 0, __ATOMIC_RELAXED);
	__atomic_store_n(&e->all.speed, b->speed, __ATOMIC_RELAXED);
	__atomic_store_n(&e->all.base, max, __ATOMIC_RELAXED);
	__atomic_store_n(&e->all.max, max, __ATOMIC_RELAXED);
	__atomic_store_n(&e->deadline, now_ns(d) + b->most_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&e->all.block, b->number, __ATOMIC_RELEASE);
	tell_phase(d, BLOCK_SET);
}

void drainer_block_phase(struct drainer *d, enum block_phase phase)
{
	tell_phase(d, phase);
}

void drainer_blocks_end(struct drainer *d)
{
	struct arena_experiment *e = experiment(d);
	uint64_t max = max_now(d);

	__atomic_store_n(&e->all.base, max, __ATOMIC_RELAXED);
	__atomic_store_n(&e->all.max, max, __ATOMIC_RELAXED);
	__atomic_store_n(&e->all.block, 0, __ATOMIC_RELEASE);
	if (d->waits.table)
		d->waits.await(d->waits.arg, DEVICE_WAIT_NONE);
}

void drainer_set_currency(struct drainer *d, enum experiment_currency currency)
{
	__atomic_store_n(&experiment(d)->currency, currency, __ATOMIC_RELAXED);
}

static const char *function_name(const struct drainer *d, uint32_t fid)
{
	uint32_t at;

	if (!fid || fid >= ARENA_FUNCTIONS || !__atomic_load_n(&d->arena.functions[fid].ready, __ATOMIC_ACQUIRE))
		return NULL;
	at = d->arena.functions[fid].name % ARENA_TEXT_BYTES;
	return memchr(d->arena.text + at, '\0', ARENA_TEXT_BYTES - at) ? d->arena.text + at : NULL;
}

static void find_unfair(const struct drainer *d, struct drainer_experiment_state *ret)
{
	for (uint32_t i = 0; i < EXPERIMENT_ORDERS; i++) {
		const struct experiment_order *o = &experiment(d)->orders[i];
		double share = o->release_cnt >= RELEASES_MIN ? (double)o->again_cnt / o->release_cnt : 0;

		if (share <= ret->unfair_share)
			continue;
		ret->unfair_share = share;
		ret->unfair_function = function_name(d, o->fid);
	}
}

struct drainer_experiment_state drainer_experiment_state(const struct drainer *d)
{
	const struct arena_experiment *e = experiment(d);
	struct drainer_experiment_state ret = {
		.hit_cnt = e->hit_cnt, .outside_cnt = e->outside_cnt, .tick_cnt = e->tick_cnt, .ticks_error = e->ticks_error,
		.ticks_refused = e->ticks_refused, .locks_lost = e->locks_lost, .signal_taken = e->signal_taken,
		.ns_per_tick = (double)e->ns_per_tick / 4294967296.0, .until_cnt = e->until_cnt, .blind_cnt = e->blind_cnt,
		.real_clock_cnt = e->real_clock_cnt,
	};

	find_unfair(d, &ret);
	return ret;
}

struct drainer_cpu drainer_cpu(const struct drainer *d)
{
	struct drainer_cpu ret = { .cpu_cnt = 0 };
	struct cpu_machine machine;
	long hz = sysconf(_SC_CLK_TCK);

	for (size_t i = 0; i < d->accounts.threads.cnt; i++) {
		const struct account_thread *t = &d->accounts.threads.items[i];

		if (t->serial) {
			ret.run_ns += t->last.run_ns;
			ret.delay_ns += t->last.delay_ns;
		}
	}
	if (hz > 0 && cpu_machine_read(&machine)) {
		ret.busy_ns = machine.busy * (uint64_t)(1000000000 / hz);
		ret.cpu_cnt = d->cpu_users.allowed_cnt ? d->cpu_users.allowed_cnt : machine.cpu_cnt;
	}
	return ret;
}

uint64_t drainer_interval(const struct drainer *d, uint64_t label)
{
	uint64_t of = label && label < ARENA_LABELS ? d->arena.labels[label].interval : 0;

	return of ? of : label;
}

const char *drainer_label_name(const struct drainer *d, uint64_t label)
{
	uint32_t at;

	if (!label || label >= ARENA_LABELS || !__atomic_load_n(&d->arena.labels[label].ready, __ATOMIC_ACQUIRE))
		return NULL;
	at = d->arena.labels[label].name % ARENA_TEXT_BYTES;
	return memchr(d->arena.text + at, '\0', ARENA_TEXT_BYTES - at) ? d->arena.text + at : NULL;
}

/* Anything can stand in the arena, which the program writes; a process that has it mapped takes part.  On some file systems
 * the device in maps is not that of stat(). */
static bool maps_arena(uint32_t pid, const char *name, uint64_t inode)
{
	char path[64], line[4352];
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	maps = fopen(path, "re");
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		uint64_t of = 0;

		found = sscanf(line, "%*x-%*x %*s %*x %*x:%*x %" SCNu64, &of) == 1 && of == inode && strstr(line, name);
	}
	if (maps)
		fclose(maps);
	return found;
}

/* A process has the threads of several slots, mostly beside each other. */
void drainer_kill(const struct drainer *d, int number)
{
	const char *name = strrchr(d->arena_path, '/');
	uint32_t last = 0;
	struct stat arena;

	if (!name || fstat(d->arena_fd, &arena))
		return;
	for (uint32_t i = 1; i <= ARENA_SLOTS && i <= experiment(d)->top; i++) {
		const struct arena_slot *slot = &d->arena.slots[i];
		uint32_t pid = slot->pid;

		if (!__atomic_load_n(&slot->used, __ATOMIC_ACQUIRE) || slot->pid_namespace != d->accounts.pid_namespace || pid <= 1 ||
		    pid > INT32_MAX || pid == last || pid == (uint32_t)getpid())
			continue;
		last = pid;
		if (maps_arena(pid, name, arena.st_ino))
			kill((pid_t)pid, number);
	}
}

void drainer_kill_child(const struct drainer *d, int number)
{
	if (d->child > 0)
		kill(d->child, number);
}

/* ---- what threads log ---- */

static bool is_wanted(unsigned int kind)
{
	return kind == EVENT_BEGIN || kind == EVENT_END || kind == EVENT_DROP || kind == EVENT_SHIFT;
}

/* The length in words of the record there; 0: it is not complete. */
static size_t record_at(const uint64_t *word, size_t left, uint64_t *ret_first, unsigned int *ret_kind)
{
	uint64_t first = __atomic_load_n(&word[0], __ATOMIC_ACQUIRE), second = __atomic_load_n(&word[1], __ATOMIC_RELAXED);
	uint64_t kind = second & 0xff ? EVENT_NONE : second >> 8;
	size_t len = kind && kind < EVENT_CNT ? 2 + (event_words((unsigned int)kind) + 1) / 2 * 2 : 2;

	*ret_first = first;
	*ret_kind = kind < EVENT_CNT ? (unsigned int)kind : EVENT_NONE;
	return first && len <= left ? len : 0;
}

void experiments_chunk(struct drainer *d, uint32_t number, bool is_full)
{
	const struct arena_chunk *chunk = arena_chunk(&d->arena, number);
	const uint64_t *words = (const uint64_t *)(const void *)chunk;
	size_t at, end = VPROF_CHUNK_BYTES / sizeof(*words);

	if (!d->experiments || !d->looked)
		return;
	at = d->looked[number] ? d->looked[number] : sizeof(*chunk) / sizeof(*words);
	while (end - at >= 2) {
		unsigned int kind;
		uint64_t ticks;
		size_t len = record_at(words + at, end - at, &ticks, &kind);

		if (!len && !is_full)
			break;
		if (len && is_wanted(kind))
			d->experiments->take(d->experiments->arg, chunk->serial, (enum trace_event)kind, ticks, words + at + 2);
		at += len ? len : 2;
	}
	d->looked[number] = (uint16_t)at;
}

void experiments_recycled(struct drainer *d, uint32_t number)
{
	if (d->looked)
		d->looked[number] = 0;
}

/* Full ones first: what is in them is older. */
void drainer_look(struct drainer *d)
{
	drain_full(d);
	for (uint32_t i = 1; i <= d->arena.chunk_cnt; i++)
		if (__atomic_load_n(&arena_chunk(&d->arena, i)->state, __ATOMIC_ACQUIRE) == CHUNK_OWNED)
			experiments_chunk(d, i, false);
}
