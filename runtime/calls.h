/* SPDX-License-Identifier: Apache-2.0 */
/* calls.h - vprof_enter() and vprof_leave() are called by probes only; see runtime/shared/probe_x86_64.h. */
#ifndef RUNTIME_CALLS_H
#define RUNTIME_CALLS_H

/* Before the first site gets a level. */
void calls_prepare(void);

#endif
