/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * doctor.h - what `vprof doctor` looks at, in three parts.  Each adds its answers, good or bad.
 */
#ifndef CMD_DOCTOR_DOCTOR_H
#define CMD_DOCTOR_DOCTOR_H

#include <sys/types.h>
#include "report/diagnosis.h"

/* This vprof, its parser, compilers, the clock, memory, what the kernel allows. */
void doctor_machine(struct diagnosis *d);

/* Builds and records a small program with every compiler found. */
void doctor_try(struct diagnosis *d);

/* vprof.conf, the data directory, what was built. */
void doctor_project(struct diagnosis *d);

/* What programs inherit from our environment: filters, limits, a clock that is off. */
void doctor_inherited(struct diagnosis *d);

/* A running process: can vprof record -p record it? */
void doctor_process(struct diagnosis *d, pid_t pid);

/* One program: can it be recorded? */
void doctor_program(struct diagnosis *d, const char *path);

#endif
