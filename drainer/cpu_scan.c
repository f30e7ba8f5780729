/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_scan.c - what two scans of the processes differ by.
 *
 *	scan	make (its children)	cc1		charged
 *	1	5 (100)			40
 *	2	6 (155)			gone		make 1, and of 55 that its children took 40 were cc1's before: 15 to
 *						who its children are, cc1
 *
 * A process whose parent ended first is reaped by another ancestor.  Time that no name explains is limited to
 * the busy time of the CPUs that is not otherwise accounted for: a larger value is reduced, not reported.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "drainer/cpu_users.h"

enum { LEVELS = 16, KTHREADD = 2 };

bool cpu_process_parse(const char *text, struct cpu_process *ret)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	unsigned long long v[36] = { 0 };
	size_t len;
	char *at;

	if (!open || !close || close < open || close[1] != ' ' || !close[2])
		return false;
	*ret = (struct cpu_process){ .pid = (uint32_t)strtoul(text, NULL, 10) };
	at = (char *)close + 3;		/* after the state; v[0] is field 4 */
	for (size_t i = 0; i < 36; i++) {	/* the last one: only kernels that report the CPU have it */
		char *end;

		v[i] = strtoull(at, &end, 10);
		if (end == at && i < 19)
			return false;
		at = end;
	}
	ret->parent = (uint32_t)v[0];
	ret->own = v[10] + v[11];
	ret->reaped = v[12] + v[13];
	ret->began = v[18];
	ret->cpu = (uint32_t)v[35];
	len = (size_t)(close - open - 1);
	if (ret->pid == KTHREADD || ret->parent == KTHREADD) {
		const char *slash = memchr(open + 1, '/', len);

		len = slash ? (size_t)(slash - open - 1) : len;
	}
	len = len < CPU_COMM_MAX ? len : CPU_COMM_MAX - 1;
	memcpy(ret->comm, open + 1, len);
	return ret->pid > 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct cpu_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct cpu_process *find(const cpu_processes *list, uint32_t pid)
{
	struct cpu_process key = { .pid = pid };

	return list->cnt ? bsearch(&key, list->items, list->cnt, sizeof(key), by_pid) : NULL;
}

static struct cpu_process *find_same(const cpu_processes *list, const struct cpu_process *p)
{
	struct cpu_process *q = find(list, p->pid);

	return q && q->began == p->began ? q : NULL;
}

static void compare_each(const cpu_processes *before, cpu_processes *now)
{
	for (size_t i = 0; i < now->cnt; i++) {
		struct cpu_process *p = &now->items[i];
		const struct cpu_process *old = find_same(before, p);

		p->is_new = !old;
		p->own_more = p->own;
		p->reaped_more = p->reaped;
		if (!old)
			continue;
		p->own_more = p->own > old->own ? p->own - old->own : 0;
		p->reaped_more = p->reaped > old->reaped ? p->reaped - old->reaped : 0;
		p->is_recorded |= old->is_recorded;
		p->has_child = old->has_child;
		p->child_left_out = old->child_left_out;
		memcpy(p->child_comm, old->child_comm, sizeof(p->child_comm));
	}
}

/* Time that was charged to a process while it existed is not charged again to the process that reaped it. */
static void leave_out_known(const cpu_processes *before, cpu_processes *now)
{
	for (size_t i = 0; i < before->cnt; i++) {
		const struct cpu_process *gone = &before->items[i], *up = gone;
		struct cpu_process *waiter = NULL;
		uint64_t known = gone->own + gone->reaped;

		if (find_same(now, gone))
			continue;
		for (unsigned level = 0; !waiter && up && level < LEVELS; level++) {
			const struct cpu_process *parent = find(before, up->parent);

			waiter = parent ? find_same(now, parent) : NULL;
			up = parent;
		}
		if (waiter)
			waiter->reaped_more -= known < waiter->reaped_more ? known : waiter->reaped_more;
	}
}

static void note_children(cpu_processes *now)
{
	for (size_t i = 0; i < now->cnt; i++) {
		const struct cpu_process *child = &now->items[i];
		struct cpu_process *up = child->is_new ? find(now, child->parent) : NULL;

		for (unsigned level = 0; up && level < LEVELS; level++) {
			up->has_child = true;
			up->child_left_out = child->is_recorded || child->is_elsewhere;
			memcpy(up->child_comm, child->comm, sizeof(up->child_comm));
			up = find(now, up->parent);
		}
	}
}

static void charge(struct cpu_charges *c, const char *comm, uint64_t ticks)
{
	c->known += ticks;
	if (!comm || !ticks)
		return;
	for (size_t i = 0; i < c->users.cnt; i++)
		if (!strcmp(c->users.items[i].comm, comm)) {
			c->users.items[i].ticks += ticks;
			return;
		}

	struct cpu_taker *u = VEC_EXTEND(&c->users);

	snprintf(u->comm, sizeof(u->comm), "%s", comm);
	u->ticks = ticks;
}

/* NULL: nothing is charged. */
static const char *name_of_children(const struct cpu_process *p, uint32_t self)
{
	if (p->pid == self)
		return NULL;		/* a recorded process was the last to end */
	if (p->has_child)
		return p->child_left_out ? NULL : p->child_comm;
	return p->is_recorded || p->is_elsewhere ? NULL : p->comm;
}

void cpu_scan_compare(cpu_processes *before, cpu_processes *now, uint32_t self, uint64_t budget, struct cpu_charges *ret)
{
	uint64_t seen = 0, unseen = 0, allowed;

	compare_each(before, now);
	leave_out_known(before, now);
	note_children(now);
	for (size_t i = 0; i < now->cnt; i++) {
		seen += now->items[i].own_more;
		unseen += now->items[i].reaped_more;
	}
	allowed = budget > seen ? budget - seen : 0;
	allowed = unseen < allowed ? unseen : allowed;
	for (size_t i = 0; i < now->cnt; i++) {
		const struct cpu_process *p = &now->items[i];

		charge(ret, p->is_recorded || p->is_elsewhere || p->pid == self ? NULL : p->comm, p->own_more);
		if (unseen)
			charge(ret, name_of_children(p, self),
			       (uint64_t)((double)p->reaped_more * (double)allowed / (double)unseen));
	}
}

void cpu_charges_release(struct cpu_charges *c)
{
	VEC_RELEASE(&c->users);
}
