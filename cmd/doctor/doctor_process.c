/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * doctor_process.c - the restrictions of a process: filter, limits, clock, namespaces; and their consequences.
 *
 * Restrictions that a program would inherit are read from our own process.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"
#include "cmd/doctor/doctor.h"
#include "project/record/reach.h"

enum { ARENA_MIB = 300, SMALL_PART = 16 };	/* the same values as in runtime/rules/limits.c */

static const char name[] = "rules";

static void check_filter(struct diagnosis *d, pid_t pid, const char *whose)
{
	_cleanup_(str_release) struct str mode = STR_INIT, cnt = STR_INIT;

	if (!reach_line(pid, "status", "Seccomp:", &mode) || !strcmp(str_cstr(&mode), "0"))
		return;
	reach_line(pid, "status", "Seccomp_filters:", &cnt);
	if (pid == getpid())
		diagnosis_add(d, name, DIAGNOSIS_NOTE, "vprof-record(1), SECCOMP, has the list of the runtime's system calls",
			      "%s is under %s system call filter(s), which programs inherit: the runtime then makes only the calls "
			      "that a loader makes; names of threads, and the wakers of waits for files, are missing", whose,
			      cnt.len ? str_cstr(&cnt) : "some");
	else
		diagnosis_add(d, name, DIAGNOSIS_WARNING, "start it under vprof record: then the runtime tests the filter before it "
			      "is in force",
			      "%s is under %s system call filter(s): vprof record -p attaches to it only if it was started under "
			      "them, or the runtime saw them being installed", whose, cnt.len ? str_cstr(&cnt) : "some");
}

/* The soft limit in "Max address space  67108864  67108864  bytes". */
static void check_limit(struct diagnosis *d, pid_t pid, const char *whose)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	uint64_t soft, mib;
	char *end;

	if (!reach_line(pid, "limits", "Max address space", &line))
		return;
	soft = strtoull(str_cstr(&line), &end, 10);
	if (end == str_cstr(&line))
		return;			/* unlimited */
	mib = soft >> 20;
	if (mib >= (uint64_t)ARENA_MIB * SMALL_PART)
		return;
	diagnosis_add(d, name, DIAGNOSIS_WARNING, "raise its hard limit (ulimit -Hv), or the limit to 16 times that; vprof record --buffer 16 takes the least",
		      "%s has %" PRIu64 " MiB of address space, and the recording buffer takes about %d: it is recorded only if "
		      "its hard limit may be raised by as much", whose, mib, ARENA_MIB);
}

static void check_clock(struct diagnosis *d)
{
#ifdef PR_GET_TSC
	int mode = PR_TSC_ENABLE;

	if (prctl(PR_GET_TSC, &mode) == 0 && mode == PR_TSC_SIGSEGV)
		diagnosis_add(d, name, DIAGNOSIS_PROBLEM, "start vprof without PR_SET_TSC",
			      "the time stamp counter is switched off here, and programs inherit that: they cannot be recorded");
#endif
}

static bool is_other(pid_t pid, const char *namespace)
{
	char path[64];
	struct stat ours, theirs;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", namespace);
	if (stat(path, &ours) != 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, namespace);
	return stat(path, &theirs) == 0 && theirs.st_ino != ours.st_ino;
}

static void check_namespaces(struct diagnosis *d, pid_t pid, const char *whose)
{
	char path[64];
	struct stat ours, theirs;

	snprintf(path, sizeof(path), "/proc/%d/root/dev/shm", (int)pid);
	if (stat("/dev/shm", &ours) == 0 && (stat(path, &theirs) != 0 || theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino))
		diagnosis_add(d, name, DIAGNOSIS_WARNING, "vprof record --arena DIR, a directory that both see by the same name",
			      "%s has another /dev/shm, or none, so it does not see the recording buffer there", whose);
	if (is_other(pid, "pid"))
		diagnosis_add(d, name, DIAGNOSIS_NOTE, NULL,
			      "%s is in another PID namespace: numbers of processes and threads are those of that one", whose);
	if (is_other(pid, "time"))
		diagnosis_add(d, name, DIAGNOSIS_NOTE, NULL,
			      "%s is in another time namespace, which makes no difference: times are the processor's", whose);
}

void doctor_inherited(struct diagnosis *d)
{
	check_filter(d, getpid(), "this shell");
	check_limit(d, getpid(), "this shell");
	check_clock(d);
}

void doctor_process(struct diagnosis *d, pid_t pid)
{
	_cleanup_(str_release) struct str exe = STR_INIT;
	char whose[64], path[64];
	enum reach reach;

	snprintf(whose, sizeof(whose), "process %d", (int)pid);
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (access(path, F_OK) != 0) {
		diagnosis_add(d, name, DIAGNOSIS_PROBLEM, NULL, "there is no process %d", (int)pid);
		return;
	}
	reach = reach_ask(pid, NULL, &exe);
	if (!exe.len)
		diagnosis_add(d, name, DIAGNOSIS_PROBLEM, "become its user, or root", "%s may not be looked at", whose);
	else if (reach == REACH_NO_PROBES)
		diagnosis_add(d, name, DIAGNOSIS_PROBLEM, reach_remedy(reach), "%s runs '%s': %s", whose, str_cstr(&exe),
			      reach_text(reach));
	else
		diagnosis_add(d, name, DIAGNOSIS_OK, NULL, "%s runs '%s', which holds probes; whether its time stamp counter is "
			      "switched off cannot be seen from outside", whose, str_cstr(&exe));
	check_filter(d, pid, whose);
	check_limit(d, pid, whose);
	check_namespaces(d, pid, whose);
}
