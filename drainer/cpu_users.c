/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_users.c - scans of /proc in the drainer's turns, and what is written of them.
 *
 * Each block covers one period, of a second or more, so that a trace of which only the end was kept has the
 * end's.  Periods leave no gap, and the reader adds them up (trace/raw/cpu_use.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "drainer/cpu_users.h"
#include "drainer/drain.h"
#include "drainer/usage.h"

enum {
	CPU_USERS_COST_SHARE = 500,
	EACH_TURN = 64,			/* processes read in a turn */
	PAUSE_NS = 100000000,		/* between scans, at least */
	PERIOD_NS = 1000000000,
	PERIOD_MAX_S = 10,
	PERIOD_GROWS = 100,		/* a period grows to this part of the recording's length */
	NAMES_MAX = 16,			/* named processes of one period; the rest is summed */
	AFFINITY_MAX = 256,		/* threads */
};

static void forget(struct cpu_users *u)
{
	if (u->scan)
		closedir(u->scan);
	u->scan = NULL;
	u->has_before = false;
}

void cpu_users_release(struct cpu_users *u)
{
	forget(u);
	VEC_RELEASE(&u->before);
	VEC_RELEASE(&u->found);
	cpu_charges_release(&u->charges);
}

/* ---- a scan ---- */

static bool read_process(const struct cpu_users *u, const char *pid, struct cpu_process *ret)
{
	char path[300], text[1024];
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/stat", pid);
	fd = openat(dirfd(u->scan), path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return cpu_process_parse(text, ret);
}

/* false: no processes are left. */
static bool scan_some(struct cpu_users *u, unsigned cnt)
{
	while (cnt) {
		const struct dirent *e = readdir(u->scan);
		struct cpu_process p;

		if (!e)
			return false;
		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		if (read_process(u, e->d_name, &p))
			VEC_ADD(&u->found, p);
		cnt--;
	}
	return true;
}

static int by_pid(const void *a, const void *b)
{
	const struct cpu_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct cpu_process *find(cpu_processes *list, uint32_t pid)
{
	struct cpu_process key = { .pid = pid };

	return list->cnt ? bsearch(&key, list->items, list->cnt, sizeof(key), by_pid) : NULL;
}

static void mark(struct cpu_users *u, uint32_t pid)
{
	struct cpu_process *p = find(&u->found, pid);
	const struct cpu_process *old = p ? find(&u->before, pid) : NULL;

	if (!p || p->is_recorded)
		return;
	p->is_recorded = true;
	if (!old || !old->is_recorded)
		cpu_limits_note(u, pid);
}

static bool is_below(struct cpu_users *u, const struct cpu_process *p, uint32_t pid)
{
	for (unsigned level = 0; p && level < 16; level++) {
		if (p->pid == pid)
			return true;
		p = find(&u->found, p->parent);
	}
	return false;
}

static void mark_below(struct cpu_users *u, uint32_t pid)
{
	for (size_t i = 0; i < u->found.cnt; i++)
		if (is_below(u, &u->found.items[i], pid))
			mark(u, u->found.items[i].pid);
}

/* The recorded ones: those that have a thread in the arena.  If there are none, only the kernel's side is
 * recorded: the command and its descendants, or the given processes and theirs, as the server that forks for each connection. */
static void mark_recorded(struct drainer *d)
{
	struct cpu_users *u = &d->cpu_users;
	uint64_t cnt = d->arena.control->thread_cnt;
	uint32_t last = 0;

	for (uint64_t i = 1; i <= cnt && i < ARENA_SLOTS; i++) {
		const struct arena_slot *slot = &d->arena.slots[i];

		if (!__atomic_load_n(&slot->used, __ATOMIC_ACQUIRE) || slot->pid == last ||
		    slot->pid_namespace != d->accounts.pid_namespace)
			continue;
		last = slot->pid;
		mark(u, last);
	}
	for (size_t i = 0; i < d->watched_cnt; i++)
		mark_below(u, (uint32_t)d->watched[i]);
	if (__atomic_load_n(&d->arena.control->process_cnt, __ATOMIC_RELAXED) || !d->child || d->watched_cnt)
		return;
	mark_below(u, (uint32_t)d->child);
}

static void note_allowed(struct drainer *d)
{
	uint64_t cnt = d->arena.control->thread_cnt;
	cpu_set_t all, one;
	unsigned asked = 0;

	CPU_ZERO(&all);
	for (uint64_t i = 1; i <= cnt && i < ARENA_SLOTS && asked < AFFINITY_MAX; i++) {
		const struct arena_slot *slot = &d->arena.slots[i];

		if (!__atomic_load_n(&slot->used, __ATOMIC_ACQUIRE) || slot->pid_namespace != d->accounts.pid_namespace)
			continue;
		asked++;
		if (!sched_getaffinity((pid_t)slot->tid, sizeof(one), &one))
			CPU_OR(&all, &all, &one);
	}
	for (size_t i = 0; i < d->watched_cnt; i++)
		if (!sched_getaffinity(d->watched[i], sizeof(one), &one))
			CPU_OR(&all, &all, &one);
	if (!asked && !d->watched_cnt && d->child && !sched_getaffinity(d->child, sizeof(one), &one))
		all = one;
	if (CPU_COUNT(&all)) {
		d->cpu_users.allowed = all;
		d->cpu_users.allowed_cnt = (uint32_t)CPU_COUNT(&all);
	}
}

static void mark_elsewhere(struct cpu_users *u)
{
	for (size_t i = 0; u->allowed_cnt && i < u->found.cnt; i++)
		u->found.items[i].is_elsewhere = !CPU_ISSET(u->found.items[i].cpu, &u->allowed);
}

static void add_machine(struct cpu_users *u, const struct cpu_machine *now, uint64_t ns)
{
	u->period_ns += ns;
	u->busy += now->busy > u->machine.busy ? now->busy - u->machine.busy : 0;
	u->stolen += now->stolen > u->machine.stolen ? now->stolen - u->machine.stolen : 0;
	u->stalled_us += now->stalled_us > u->machine.stalled_us ? now->stalled_us - u->machine.stalled_us : 0;
	u->running += (double)now->running * (double)ns;
	u->throttled_ns += cpu_limits_take(u);
}

static void end_scan(struct drainer *d, uint64_t now_ns)
{
	struct cpu_users *u = &d->cpu_users;
	struct cpu_machine now;
	cpu_processes old;

	closedir(u->scan);
	u->scan = NULL;
	if (!cpu_machine_read(&now)) {
		u->next_ns = UINT64_MAX;
		return;
	}
	if (u->found.cnt)
		qsort(u->found.items, u->found.cnt, sizeof(*u->found.items), by_pid);
	mark_recorded(d);
	note_allowed(d);
	mark_elsewhere(u);
	if (u->has_before) {
		uint64_t busy = now.busy > u->machine.busy ? now.busy - u->machine.busy : 0;

		cpu_scan_compare(&u->before, &u->found, (uint32_t)getpid(), busy, &u->charges);
		add_machine(u, &now, now_ns - u->scanned_ns);
	} else {
		cpu_limits_take(u);
	}
	old = u->before;
	u->before = u->found;
	u->found = old;
	u->has_before = true;
	u->machine = now;
	u->scanned_ns = now_ns;
}

static bool begin_scan(struct cpu_users *u)
{
	u->scan = opendir("/proc");
	u->found.cnt = 0;
	u->cost_ns = 0;
	return u->scan;
}

void cpu_users_turn(struct drainer *d, uint64_t now_ns)
{
	struct cpu_users *u = &d->cpu_users;
	uint64_t began_ns, rest_ns;

	if (__atomic_load_n(&d->arena.control->recording, __ATOMIC_RELAXED) != RECORDING_ON) {
		forget(u);
		return;
	}
	if (!u->began_ns)
		u->began_ns = u->written_ns = now_ns;
	if (!u->scan && (now_ns < u->next_ns || !begin_scan(u)))
		return;
	began_ns = usage_own_ns();
	if (!scan_some(u, EACH_TURN)) {
		end_scan(d, now_ns);
		rest_ns = (u->cost_ns + usage_own_ns() - began_ns) * CPU_USERS_COST_SHARE;
		if (u->next_ns != UINT64_MAX)
			u->next_ns = now_ns + (rest_ns > PAUSE_NS ? rest_ns : PAUSE_NS);
		return;
	}
	u->cost_ns += usage_own_ns() - began_ns;
}

/* ---- what is written ---- */

static int by_ticks(const void *a, const void *b)
{
	const struct cpu_taker *x = a, *y = b;

	if (x->ticks != y->ticks)
		return x->ticks > y->ticks ? -1 : 1;
	return strcmp(x->comm, y->comm);
}

static void put_users(struct encoder *e, struct cpu_charges *c, uint64_t tick_ns)
{
	uint64_t rest = 0;
	size_t cnt = c->users.cnt < NAMES_MAX ? c->users.cnt : NAMES_MAX;

	if (c->users.cnt)
		qsort(c->users.items, c->users.cnt, sizeof(*c->users.items), by_ticks);
	for (size_t i = cnt; i < c->users.cnt; i++)
		rest += c->users.items[i].ticks;
	encode_varint(e, cnt + (rest > 0));
	for (size_t i = 0; i < cnt; i++) {
		encode_varint(e, c->users.items[i].ticks * tick_ns);
		encode_text(e, c->users.items[i].comm, strlen(c->users.items[i].comm));
	}
	if (rest) {
		encode_varint(e, rest * tick_ns);
		encode_text(e, "", 0);
	}
}

static void write_period(struct drainer *d)
{
	struct cpu_users *u = &d->cpu_users;
	uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	struct encoder *e = &d->table;

	e->len = 0;
	encode_varint(e, u->period_ns);
	encode_varint(e, u->machine.cpu_cnt);
	encode_varint(e, u->allowed_cnt);
	encode_varint(e, (uint64_t)(u->running / (double)u->period_ns * 1000));
	encode_varint(e, u->machine.has_stalled);
	encode_varint(e, u->stalled_us * 1000);
	encode_varint(e, u->throttled_ns);
	encode_varint(e, u->busy * tick_ns);
	encode_varint(e, u->charges.known * tick_ns);
	encode_varint(e, u->stolen * tick_ns);
	put_users(e, &u->charges, tick_ns);
	trace_file_block(&d->file, BLOCK_CPU_USE, e->data, e->len);
	e->len = 0;
	u->period_ns = u->busy = u->stolen = u->stalled_us = u->throttled_ns = 0;
	u->running = 0;
	u->charges.known = 0;
	u->charges.users.cnt = 0;
}

void cpu_users_flush(struct drainer *d, uint64_t now_ns)
{
	struct cpu_users *u = &d->cpu_users;
	uint64_t due_ns = PERIOD_NS + (now_ns - u->began_ns) / PERIOD_GROWS;

	if (due_ns > PERIOD_MAX_S * (uint64_t)PERIOD_NS)
		due_ns = PERIOD_MAX_S * (uint64_t)PERIOD_NS;
	if (!u->period_ns || now_ns - u->written_ns < due_ns)
		return;
	write_period(d);
	u->written_ns = now_ns;
}

void cpu_users_end(struct drainer *d, uint64_t now_ns)
{
	struct cpu_users *u = &d->cpu_users;

	if (u->has_before && u->next_ns != UINT64_MAX) {
		if (u->scan)
			closedir(u->scan);
		if (begin_scan(u)) {
			while (scan_some(u, EACH_TURN))
				;
			end_scan(d, now_ns);
		}
	}
	if (u->period_ns)
		write_period(d);
	forget(u);
}
