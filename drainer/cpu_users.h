/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_users.h - which other processes used the CPUs during the recording.
 *
 * The drainer reads this from /proc, without privileges.  A scan reads the CPU time of every process, a few
 * in each turn; all scans together take at most one part in CPU_USERS_COST_SHARE of a CPU.  The difference between two scans
 * is charged to the processes' names, except for the recorded processes, vprof itself, and processes on CPUs that the
 * recorded threads may not use.
 *
 * A process that begins and ends between two scans counts in its parent's time of reaped children
 * (cpu_scan.c).  Hidden processes appear in /proc/stat alone.
 */
#ifndef DRAINER_CPU_USERS_H
#define DRAINER_CPU_USERS_H

#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/alloc.h"

struct drainer;

enum { CPU_COMM_MAX = 16, CPU_LIMITS_MAX = 16 };

struct cpu_process {
	uint32_t pid, parent;
	uint64_t began;			/* with pid: which process it is */
	uint64_t own, reaped;		/* ticks: its own, and those of its children that it waited for */
	uint64_t own_more, reaped_more;	/* since the scan before; reaped_more without time already seen in the
					 * children */
	uint32_t cpu;			/* where it ran last */
	bool is_recorded, is_new;
	bool is_elsewhere;		/* on a CPU that the recorded threads may not use: does not count */
	bool has_child, child_left_out;	/* what its children are like: the last new one below it */
	char comm[CPU_COMM_MAX], child_comm[CPU_COMM_MAX];
};

typedef VEC(struct cpu_process) cpu_processes;

struct cpu_taker {
	char comm[CPU_COMM_MAX];
	uint64_t ticks;
};

struct cpu_charges {			/* ticks of one period, or more */
	VEC(struct cpu_taker) users;
	uint64_t known;			/* of all visible processes, the recorded ones too */
};

/* cpu_scan.c: what the processes took between two scans, both in order of pid.  budget: all that the CPUs were busy.  self:
 * vprof's pid. */
void cpu_scan_compare(cpu_processes *before, cpu_processes *now, uint32_t self, uint64_t budget, struct cpu_charges *ret);
void cpu_charges_release(struct cpu_charges *c);

/* text: of /proc/PID/stat.  A name of the kernel's threads ends before its '/'. */
bool cpu_process_parse(const char *text, struct cpu_process *ret);

struct cpu_machine {			/* totals since the machine began */
	uint64_t busy, stolen;		/* ticks */
	uint64_t stalled_us;		/* some thread waited for a CPU; has_stalled: the kernel reports it */
	uint32_t cpu_cnt, running;	/* now; running: threads that run or are ready to, without us */
	bool has_stalled;
};

struct cpu_limit {			/* of a control group */
	char path[512];			/* of its cpu.stat */
	uint64_t last_ns;		/* how long it was throttled */
};

/* cpu_machine.c */
bool cpu_machine_read(struct cpu_machine *ret);
bool cpu_machine_parse(char *stat, struct cpu_machine *ret);
uint64_t cpu_throttled_parse(const char *text);	/* ns, of a cpu.stat of either version */

struct cpu_users {
	DIR *scan;			/* under way, or NULL */
	cpu_processes before, found;
	bool has_before;
	uint64_t began_ns, next_ns, scanned_ns, cost_ns, written_ns;
	cpu_set_t allowed;		/* CPUs that the recorded threads may run on, all together */
	uint32_t allowed_cnt;		/* 0: not known */
	struct cpu_machine machine;	/* at the scan before */
	struct cpu_limit limits[CPU_LIMITS_MAX];
	uint32_t limit_cnt;
	/* The period that is written next. */
	struct cpu_charges charges;
	uint64_t period_ns, busy, stolen, stalled_us, throttled_ns;
	double running;			/* summed over time, in ns */
};

void cpu_limits_note(struct cpu_users *u, uint32_t pid);	/* notes the control groups of the process */
uint64_t cpu_limits_take(struct cpu_users *u);	/* time throttled since the last call, of the group that was
						 * throttled longest */

void cpu_users_turn(struct drainer *d, uint64_t now_ns);	/* scans a few processes, if it is time */
void cpu_users_end(struct drainer *d, uint64_t now_ns);	/* makes a last scan; writes everything */
void cpu_users_flush(struct drainer *d, uint64_t now_ns);	/* writes the collected periods into the file,
								 * if it is time */
void cpu_users_release(struct cpu_users *u);

#endif
