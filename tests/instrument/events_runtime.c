/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * events_runtime.c - stands in for the runtime where a test wants to see the events themselves.
 *
 * Prints each event on one line: how many spans are open, kind, label, a, b.  The address that BEGIN and END of one
 * call have in common is "frame" for the BEGIN, and for an END that has the last BEGIN's.
 */
#include "runtime/shared/probe.h"
#include <stdio.h>

static int depth __attribute__((used));

/* As in runtime/calls.c. */
__asm__(".text\n.globl vprof_enter, vprof_leave, vprof_leave_void, vprof_enter_aside, vprof_leave_aside\n"
	"vprof_enter: vprof_enter_aside: incl depth(%rip)\nmov $1, %eax\nret\n"
	"vprof_leave: vprof_leave_void: vprof_leave_aside: decl depth(%rip)\nret\n");

static const char *const kinds[] = {
	"none", "BEGIN", "END", "RESUME", "PAUSE", "DROP", "LEAVE", "ENQUEUE", "DEQUEUE", "ACQUIRE",
	"ACQUIRED", "RELEASE", "SPIN_BEGIN", "SPIN_END", "FALSE_WAKEUP", "WORK",
	"FINISH", "HANDED",
};

void vprof_register(struct vprof_site *sites, struct vprof_site *end, const char *note)
{
	(void)note;
	for (; sites < end; sites++)
		sites->gate = 1;
}

void vprof_unregister(struct vprof_site *sites, struct vprof_site *end)
{
	(void)sites;
	(void)end;
}

void vprof_event(unsigned int kind, struct vprof_label *label, unsigned long long a,
		 unsigned long long b)
{
	static unsigned long long frame;

	if (!kind)		/* a vprof_later that was never filled in */
		return;
	printf("%d %s %s %lld ", depth, kinds[kind], label ? label->name : "-", (long long)a);
	if (kind == VPROF_KIND_BEGIN)
		frame = b;
	if (kind <= VPROF_KIND_END && b && b == frame)
		puts("frame");
	else
		printf("%lld\n", (long long)b);
}
