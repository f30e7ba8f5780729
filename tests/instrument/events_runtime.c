/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * events_runtime.c - stands in for the runtime where a test wants to see the events themselves.
 *
 * Prints each event on one line: how many spans are open, kind, label, a, b.  The slow paths of a
 * probe are left undefined (weak): the stack and the chunk are large enough to do without.
 */
#include "runtime/probe_x86_64.h"
#include "runtime/probe.h"
#include <stdio.h>

static struct vprof_frame stack[64] __attribute__((aligned(4096)));
static char chunk[VPROF_CHUNK_BYTES] __attribute__((aligned(VPROF_CHUNK_BYTES)));

__thread struct vprof_self vprof_self;

static const char *const kinds[] = {
	"none", "BEGIN", "END", "RESUME", "PAUSE", "DROP", "LEAVE", "ENQUEUE", "DEQUEUE", "ACQUIRE",
	"ACQUIRED", "RELEASE", "SPIN_BEGIN", "SPIN_END", "FALSE_WAKEUP", "WORK",
};

long vprof_where(void)
{
	return (char *)&vprof_self - vprof_thread();
}

void vprof_register(struct vprof_site *sites, unsigned int cnt)
{
	stack[0].address = ~0UL;
	vprof_self.top = &stack[1];
	vprof_self.cursor = chunk;
	vprof_self.gate = 2;
	for (unsigned int i = 0; i < cnt; i++)
		sites[i].level = 2;
}

void vprof_unregister(struct vprof_site *sites, unsigned int cnt)
{
	(void)sites;
	(void)cnt;
}

void vprof_event(unsigned int kind, struct vprof_label *label, unsigned long long a,
		 unsigned long long b)
{
	if (!kind)		/* a vprof_later that was never filled in */
		return;
	printf("%d %s %s %lld %lld\n", (int)(vprof_self.top - &stack[1]), kinds[kind],
	       label ? label->name : "-", (long long)a, (long long)b);
}
