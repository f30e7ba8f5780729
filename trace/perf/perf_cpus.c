/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf_cpus.c - the waker of a thread, from the interrupts that the CPU is handling.
 *
 * perf says which thread an event came upon, also when an interrupt did the work:
 *
 *	burn 17 [001] 5.000010: irq:irq_handler_entry: irq=36 name=virtio1-req.0
 *	burn 17 [001] 5.000011: block:block_rq_complete: 254,0 R () 2048 + 8 [0]
 *	burn 17 [001] 5.000012: sched:sched_waking: comm=dd pid=40 ...
 *	burn 17 [001] 5.000014: irq:irq_handler_exit: irq=36 ret=handled
 *
 * Disk 254,0 woke dd, not burn.  A packet over the loopback device is received in a softirq of the sender's
 * own: there the waker is the thread.
 *
 * An exit may be missing: lost, or perf had begun to record entries but not exits yet.  A CPU that switches
 * threads is in no interrupt.
 */
#include <string.h>
#include "base/banned.h"
#include "base/map.h"
#include "trace/perf/perf_cpus.h"

enum {					/* softirqs, by number */
	SOFTIRQ_NONE = -1, SOFTIRQ_TIMER = 1, SOFTIRQ_NET_TX = 2, SOFTIRQ_NET_RX = 3,
	SOFTIRQ_BLOCK = 4, SOFTIRQ_HRTIMER = 8,
};
enum { IRQ_NONE = -1 };

/* Devices of unknown number, and names of network devices (their index is not printed). */
enum { ANY_DISK = UINT32_MAX >> 1, ANY_NIC = UINT32_MAX >> 1 };

struct cpu {
	int64_t irq;
	int softirq;
	unsigned int timers;		/* nested timer functions that are running */
	bool has_disk, has_nic;
	uint32_t disk, nic;
	struct perf_text irq_name, softirq_name;
};

static const struct cpu uninterrupted = { .irq = IRQ_NONE, .softirq = SOFTIRQ_NONE };

struct perf_cpus {
	struct kernel_trace *k;
	struct map *by_number;		/* cpu -> index into cpus, + 1 */
	VEC(struct cpu) cpus;
	struct names *nics;
	struct map *named;		/* kind << 32 | number -> 1 */
};

struct perf_cpus *perf_cpus_new(struct kernel_trace *k)
{
	struct perf_cpus *c = xcalloc(1, sizeof(*c));

	c->k = k;
	c->by_number = map_new();
	c->named = map_new();
	c->nics = names_new();
	return c;
}

void perf_cpus_free(struct perf_cpus *c)
{
	if (!c)
		return;
	map_free(c->by_number);
	map_free(c->named);
	names_free(c->nics);
	VEC_RELEASE(&c->cpus);
	free(c);
}

static struct cpu *cpu_of(struct perf_cpus *c, uint32_t number)
{
	uint64_t *slot = map_slot(c->by_number, number);

	if (!*slot) {
		VEC_ADD(&c->cpus, uninterrupted);
		*slot = c->cpus.cnt;
	}
	return &c->cpus.items[*slot - 1];
}

void perf_cpus_switched(struct perf_cpus *c, const struct perf_line *l)
{
	*cpu_of(c, l->cpu) = uninterrupted;
}

static void irq_entry(struct cpu *u, const struct perf_line *l)
{
	uint32_t number;

	u->has_disk = false;
	u->irq = perf_field_number(l, "irq", &number) ? number : 0;
	if (!perf_field(l, "name", &u->irq_name))
		u->irq_name = (struct perf_text){ "irq", 3 };
}

static void softirq_entry(struct cpu *u, const struct perf_line *l)
{
	uint32_t vector;
	struct perf_text action;

	u->has_disk = u->has_nic = false;
	u->softirq = perf_field_number(l, "vec", &vector) && vector < 64 ? (int)vector : 0;
	u->softirq_name = (struct perf_text){ "softirq", 7 };
	if (perf_field(l, "action", &action) && action.len > 1 && action.at[action.len - 1] == ']')
		u->softirq_name = (struct perf_text){ action.at, action.len - 1 };
}

/* "254,0 R () 2048 + 8 [0]" */
static void disk_done(struct cpu *u, const struct perf_line *l)
{
	struct perf_text t = l->text;
	uint64_t major, minor;

	if (!perf_take_number(&t, 4095, &major) || !t.len || *t.at != ',')
		return;
	t.at++;
	t.len--;
	if (!perf_take_number(&t, (1 << 20) - 1, &minor))
		return;
	u->has_disk = true;
	u->disk = (uint32_t)(major << 20 | minor);
}

static void received(struct perf_cpus *c, struct cpu *u, const struct perf_line *l)
{
	struct perf_text device;
	char name[32];

	if (!perf_field(l, "dev", &device) || device.len >= sizeof(name))
		return;
	memcpy(name, device.at, device.len);
	name[device.len] = '\0';
	u->has_nic = true;
	u->nic = names_add(c->nics, name);
}

bool perf_cpus_event(struct perf_cpus *c, const struct perf_line *l)
{
	struct cpu *u = cpu_of(c, l->cpu);
	struct perf_text e = l->event;

	if (perf_text_is(e, "irq_handler_entry")) {
		irq_entry(u, l);
	} else if (perf_text_is(e, "irq_handler_exit")) {
		u->irq = IRQ_NONE;
		u->has_disk = false;
	} else if (perf_text_is(e, "softirq_entry")) {
		softirq_entry(u, l);
	} else if (perf_text_is(e, "softirq_exit")) {
		u->softirq = SOFTIRQ_NONE;
		u->has_disk = u->has_nic = false;
	} else if (perf_text_is(e, "hrtimer_expire_entry") || perf_text_is(e, "timer_expire_entry") ||
		   perf_text_is(e, "local_timer_entry")) {
		u->timers++;
	} else if (perf_text_is(e, "hrtimer_expire_exit") || perf_text_is(e, "timer_expire_exit") ||
		   perf_text_is(e, "local_timer_exit")) {
		u->timers -= u->timers > 0;
	} else if (perf_text_is(e, "block_rq_complete")) {
		disk_done(u, l);
	} else if (perf_text_is(e, "netif_receive_skb")) {
		received(c, u, l);
	} else {
		return false;
	}
	return true;
}

static struct perf_waker device(struct perf_cpus *c, enum kernel_waker kind, uint32_t number,
				struct perf_text name)
{
	uint64_t *slot = map_slot(c->named, (uint64_t)kind << 32 | number);

	if (!*slot)
		VEC_ADD(&c->k->names, (struct kernel_name){ kind, number,
			arena_strndup(c->k->arena, name.at, name.len) });
	*slot = 1;
	return (struct perf_waker){ .kind = kind, .number = number };
}

static struct perf_waker disk(struct perf_cpus *c, uint32_t number)
{
	const char *name = arena_printf(c->k->arena, "disk %u,%u", number >> 20, number & ((1 << 20) - 1));

	return device(c, WAKER_DISK, number, (struct perf_text){ name, strlen(name) });
}

static struct perf_waker by_softirq(struct perf_cpus *c, struct cpu *u, const struct perf_line *l)
{
	const char *nic = u->has_nic ? names_get(c->nics, u->nic) : NULL;

	switch (u->softirq) {
	case SOFTIRQ_TIMER:
	case SOFTIRQ_HRTIMER:
		return device(c, WAKER_TIMER, 0, (struct perf_text){ "timer", 5 });
	case SOFTIRQ_BLOCK:
		return device(c, WAKER_DISK, ANY_DISK, (struct perf_text){ "disk", 4 });
	case SOFTIRQ_NET_TX:
	case SOFTIRQ_NET_RX:
		if (nic && strcmp(nic, "lo") != 0)
			return device(c, WAKER_NIC, u->nic, (struct perf_text){ nic, strlen(nic) });
		if (l->tid && (nic || u->irq == IRQ_NONE))
			return (struct perf_waker){ .kind = WAKER_TASK, .number = l->tid };
		return device(c, WAKER_NIC, ANY_NIC, (struct perf_text){ "network", 7 });
	default:
		return device(c, WAKER_SOFTIRQ, (uint32_t)u->softirq, u->softirq_name);
	}
}

struct perf_waker perf_cpus_waker(struct perf_cpus *c, const struct perf_line *l)
{
	struct cpu *u = cpu_of(c, l->cpu);

	if (u->timers)
		return device(c, WAKER_TIMER, 0, (struct perf_text){ "timer", 5 });
	if (u->has_disk && (u->softirq != SOFTIRQ_NONE || u->irq != IRQ_NONE))
		return disk(c, u->disk);
	if (u->softirq != SOFTIRQ_NONE)
		return by_softirq(c, u, l);
	if (u->irq != IRQ_NONE)
		return device(c, WAKER_IRQ, (uint32_t)u->irq, u->irq_name);
	return (struct perf_waker){ .kind = WAKER_TASK, .number = l->tid };
}
