/* SPDX-License-Identifier: Apache-2.0 */
/*
 * early.c - an executable that was linked with the runtime attaches before its own code runs.
 *
 * Only libvprof.a has this.  libvprof.so is preloaded into whatever the recorded command starts,
 * shells and compilers included: there nothing is done until the first instrumented unit calls.
 */
#include "runtime/process.h"

static void __attribute__((constructor(101))) attach_early(void)
{
	process_attach();
}
