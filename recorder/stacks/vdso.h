/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vdso.h - the code that the kernel itself maps into each process (clock_gettime and the like), as a file.
 */
#ifndef RECORDER_STACKS_VDSO_H
#define RECORDER_STACKS_VDSO_H

#define VDSO_NAME "[vdso]"		/* what /proc/PID/maps and perf's records of mmap call it */

/* A path to open it: a copy of this process's, which all 64-bit processes of a kernel share; made at the first call.
 * NULL: there is none.  For one thread at a time. */
const char *vdso_path(void);

#endif
