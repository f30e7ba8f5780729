/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * doctor_machine.c - this vprof, its parser, compilers, the clock, memory, what the kernel allows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/str.h"
#include "cmd/doctor/doctor.h"
#include "instrumenter/parse/parse.h"
#include "instrumenter/text/lines.h"
#include "project/config/config.h"
#include "project/config/paths.h"
#include "project/runs/project.h"
#include "recorder/recorder.h"

#define MIB ((uint64_t)1 << 20)
#define ARENA_MIB 256			/* the memory that record takes by default, and a little more */

/* "1\n" of a file of /proc or /sys, without the line's end; NULL: it is not there. */
static char *kernel_says(const char *path)
{
	char *text;

	if (file_read(path, &text, NULL) < 0)
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* ---- vprof ---- */

static void check_installation(struct diagnosis *d)
{
	static const char *const runtime_files[] = {
		"libvprof.a", "libvprof.list", "libvprof.so", "libvprof-exec.so", "vprof-launcher",
	};
	_cleanup_(freep) char *header = path_join(include_dir(), "vprof.h");
	_cleanup_(config_release) struct config none = { 0 };
	_cleanup_(primitives_release) primitives tables = { NULL, 0, 0 };
	_cleanup_(freep) char *missing = file_exists(header) ? NULL : xstrdup(header);
	struct diag diag = DIAG_INIT;

	for (size_t i = 0; !missing && i < ARRAY_SIZE(runtime_files); i++) {
		_cleanup_(freep) char *path = path_join(runtime_dir(), runtime_files[i]);

		if (access(path, R_OK) < 0)
			missing = TAKE_PTR(path);
	}
	if (missing)
		diagnosis_add(d, "vprof", DIAGNOSIS_PROBLEM,
			      "make install; or run vprof from the directory it was built in",
			      "'%s' is not there: this vprof is installed incompletely", missing);
	else if (read_primitives(&none, &tables, &diag) < 0)
		diagnosis_add(d, "vprof", DIAGNOSIS_PROBLEM, "make install, as a whole", "%s", diag.text);
	else
		diagnosis_add(d, "vprof", DIAGNOSIS_OK, NULL, "runtime in '%s', %zu primitives known",
			      runtime_dir(), tables.cnt);
}

/* There is another program named vprof, a profiler for Python. */
static void check_search_path(struct diagnosis *d)
{
	_cleanup_(freep) char *found = path_which("vprof", NULL), *self = path_self();
	_cleanup_(freep) char *real = found ? path_real(found) : NULL, *here = path_dir(self);
	_cleanup_(freep) char *fix = NULL;

	if (!real || strcmp(real, self) == 0)
		return;
	fix = xasprintf("PATH=%s:$PATH, and hash -r in shells that are open", here);
	diagnosis_add(d, "PATH", DIAGNOSIS_WARNING, fix,
		      "'vprof' alone means '%s', another program; this one is '%s'", found, self);
}

/* ---- parser and compilers ---- */

static void check_parser(struct diagnosis *d)
{
	static const char text[] = "# 1 \"doctor.c\"\nint f(int x) { return x; }\n";
	_cleanup_(freep) char *version = parser_version();
	_cleanup_(lines_freep) struct lines *lines = lines_new(text, strlen(text), "/", NULL);
	struct parse_input in = {
		.path = "/doctor.i", .text = text, .len = strlen(text), .language = LANG_C, .lines = lines,
	};
	_cleanup_(parsed_freep) struct parsed *parsed = parse_text(&in);

	if (!parsed || parsed->functions.cnt != 1)
		diagnosis_add(d, "libclang", DIAGNOSIS_PROBLEM,
			      "apt-get install --reinstall libclang1-14 libllvm14; is LD_LIBRARY_PATH or "
			      "LD_PRELOAD set to another LLVM?",
			      "libclang (%s) does not parse a function of one line: nothing can be instrumented",
			      version);
	else
		diagnosis_add(d, "libclang", DIAGNOSIS_OK, NULL, "%s", version);
}

static void check_compilers(struct diagnosis *d)
{
	static const char *const names[] = { "cc", "gcc", "clang", "c++", "g++", "clang++" };
	_cleanup_(str_release) struct str list = STR_INIT;
	bool c = false;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(freep) char *path = path_which(names[i], NULL);

		if (!path)
			continue;
		c |= i < 3;
		str_addf(&list, "%s%s", list.len ? ", " : "", path);
	}
	if (c)
		diagnosis_add(d, "compilers", DIAGNOSIS_OK, NULL, "%s", list.data);
	else
		diagnosis_add(d, "compilers", DIAGNOSIS_PROBLEM, "apt-get install gcc g++",
			      "no cc, gcc or clang on PATH");
}

/* ---- the clock ---- */

static void check_clock(struct diagnosis *d)
{
#if defined(__x86_64__)
	static const char place[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	_cleanup_(freep) char *source = kernel_says(place), *cpu = NULL;
	bool steady = file_read("/proc/cpuinfo", &cpu, NULL) < 0 ||
		      (strstr(cpu, "constant_tsc") && strstr(cpu, "nonstop_tsc"));

	if (!steady)
		diagnosis_add(d, "clock", DIAGNOSIS_WARNING,
			      "hold the frequency (cpupower frequency-set -g performance); on a virtual machine pass the "
			      "host's CPU flags through",
			      "the processor's time stamp counter is not invariant: times drift with its frequency");
	else if (source && strcmp(source, "tsc") != 0 && !strstr(source, "kvm") && !strstr(source, "hyperv"))
		diagnosis_add(d, "clock", DIAGNOSIS_WARNING,
			      "dmesg | grep -i tsc says why; compare threads' times with care",
			      "the kernel uses '%s' and not the time stamp counter that probes read", source);
	else
		diagnosis_add(d, "clock", DIAGNOSIS_OK, NULL, "invariant time stamp counter%s%s",
			      source ? ", the kernel's clock is " : "", source ? source : "");
#else
	diagnosis_add(d, "clock", DIAGNOSIS_NOTE, NULL, "probes call clock_gettime here: each costs more than on x86-64");
#endif
}

/* ---- memory ---- */

static void check_memory(struct diagnosis *d)
{
	struct statvfs fs;
	bool there = statvfs("/dev/shm", &fs) == 0 && access("/dev/shm", W_OK) == 0;
	uint64_t free_mib = there ? (uint64_t)fs.f_bavail * fs.f_frsize / MIB : 0;

	if (free_mib >= ARENA_MIB)
		diagnosis_add(d, "memory", DIAGNOSIS_OK, NULL, "/dev/shm has room for records (%llu MiB)",
			      (unsigned long long)free_mib);
	else
		diagnosis_add(d, "memory", DIAGNOSIS_WARNING,
			      "mount -o remount,size=1G /dev/shm; docker run --shm-size=1g; or vprof record --buffer MIB",
			      "/dev/shm %s: records wait in a file beside the trace, which is slower",
			      there ? "has less than 256 MiB free" : "cannot be written");
}

/* ---- the kernel ---- */

/* The permissions for record --kernel; recording without it needs none. */
static bool check_kernel(struct diagnosis *d)
{
	struct diag diag = DIAG_INIT;
	bool may = recorder_try(&diag) == 0;

	if (may)
		diagnosis_add(d, "kernel", DIAGNOSIS_OK, NULL, "vprof record --kernel is permitted here");
	else
		diagnosis_add(d, "kernel", DIAGNOSIS_NOTE, *diag.remedy ? diag.remedy : NULL,
			      "recording needs no privilege; for vprof record --kernel: %s", diag.text);
	return may;
}

/* Whether vprof look sees requests. */
static void check_requests(struct diagnosis *d)
{
	struct diag diag = DIAG_INIT;

	if (recorder_try_requests(&diag) == 0)
		diagnosis_add(d, "requests", DIAGNOSIS_OK, NULL, "vprof look sees requests on sockets here");
	else
		diagnosis_add(d, "requests", DIAGNOSIS_NOTE, *diag.remedy ? diag.remedy : NULL, "for vprof look: %s", diag.text);
}

/* Whether it sees what lies between two functions. */
static void check_calls(struct diagnosis *d)
{
	struct diag diag = DIAG_INIT;

	if (recorder_try_calls(&diag) == 0)
		diagnosis_add(d, "calls", DIAGNOSIS_OK, NULL, "vprof look --start FUNCTION --end FUNCTION works here");
	else
		diagnosis_add(d, "calls", DIAGNOSIS_NOTE, diag.remedy, "for vprof look --start: %s", diag.text);
}

void doctor_machine(struct diagnosis *d)
{
	check_installation(d);
	check_search_path(d);
	check_parser(d);
	check_compilers(d);
	check_clock(d);
	check_memory(d);
	if (check_kernel(d)) {
		check_requests(d);
		check_calls(d);
	}
}
