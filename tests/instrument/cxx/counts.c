/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * counts.c - stands in for the runtime: counts how often each probe is entered and left.
 *
 * With COUNTS=FILE it writes there, when the program ends, what does not agree: a body without a probe, a probe that was
 * entered more or less often than its body, one that was not left.  The last line is "N bodies, M calls".
 *
 * With COUNTS_FRAMES=no all stacks have one depth: for compilers that may inline a function without its probe.
 */
#include "runtime/shared/probe.h"
#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>

#define LINES 4096
#define SITES 4096

static unsigned here[LINES];
static char unleft[LINES];
static struct vprof_site *sites;
static unsigned site_cnt;
unsigned counts_entered[SITES], counts_left[SITES];

void counts_here(int line);
void counts_unleft(int line);
int counts_depth(void);

/* As in runtime/calls.c: rdx has the number of the site above its gate; what is returned comes back as r11. */
__asm__(".text\n.globl vprof_enter, vprof_leave, vprof_leave_void, vprof_enter_aside, vprof_leave_aside\n"
	"vprof_enter: vprof_enter_aside: mov %edx, %eax\nshr $8, %eax\nlea counts_entered(%rip), %r10\n"
	"incl (%r10, %rax, 4)\nret\n"
	"vprof_leave: vprof_leave_void: vprof_leave_aside: lea counts_left(%rip), %rdx\nincl (%rdx, %r11, 4)\nret\n");

/* Initialisers of variables may run before their unit has registered: their probes are dormant then. */
void counts_here(int line) { here[line] += sites != 0; }
void counts_unleft(int line) { unleft[line] = 1; }

static _Unwind_Reason_Code count(struct _Unwind_Context *c, void *arg)
{
	(void)c;
	++*(int *)arg;
	return _URC_NO_REASON;
}

int counts_depth(void)
{
	int n = 0;

	if (!getenv("COUNTS_FRAMES"))
		_Unwind_Backtrace(count, &n);
	return n;
}

static void check_line(FILE *f, unsigned line)
{
	unsigned entered = 0, left = 0, cnt = 0;

	for (unsigned i = 0; i < site_cnt; i++)
		if (sites[i].line == line) {
			entered += counts_entered[i + 1];
			left += counts_left[i + 1];
			cnt++;
		}
	if (!cnt)
		fprintf(f, "line %u: no probe\n", line);
	else if (entered != here[line])
		fprintf(f, "line %u: called %u times, probe entered %u times\n", line, here[line], entered);
	else if (left != entered && !unleft[line])
		fprintf(f, "line %u: entered %u times, left %u times\n", line, entered, left);
}

static void tell(void)
{
	const char *path = getenv("COUNTS");
	FILE *f = path ? fopen(path, "w") : NULL;
	unsigned bodies = 0, calls = 0;

	if (!f)
		return;
	for (unsigned i = 0; i < LINES; i++)
		if (here[i]) {
			check_line(f, i);
			bodies++;
			calls += here[i];
		}
	fprintf(f, "%u bodies, %u calls\n", bodies, calls);
	fclose(f);
}

void vprof_register(struct vprof_site *s, struct vprof_site *end, const char *note)
{
	(void)note;
	sites = s;
	site_cnt = (unsigned)(end - s);
	for (unsigned i = 0; i < site_cnt && i + 1 < SITES; i++) {
		sites[i].gate = 1;
		sites[i].fid[0] = (unsigned char)(i + 1);
		sites[i].fid[1] = (unsigned char)((i + 1) >> 8);
	}
	atexit(tell);
}

void vprof_unregister(struct vprof_site *s, struct vprof_site *end)
{
	(void)s;
	(void)end;
}

void vprof_event(unsigned int kind, struct vprof_label *label, unsigned long long a, unsigned long long b)
{
	(void)kind;
	(void)label;
	(void)a;
	(void)b;
}
