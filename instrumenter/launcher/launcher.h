/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * launcher.h - `vprof cc COMPILER ARG...`: instrument one unit, compile it, link with the runtime.
 *
 * What is not a compile or link of C or C++ (conftest probes of the compiler, -E, -S of assembler,
 * -v, --version ...) is passed through byte for byte.  When anything on our side fails, the unit is
 * compiled untouched and its scan record says why: the build never fails because of us.
 *
 * Linking (DIR is runtime_dir).  An object links by itself, with anything: the references to the
 * runtime are weak, the primitives' forwarders are in the object (sync.c).  What a program finds:
 *	an executable that we link (also -static, -static-pie, -no-pie): the runtime, by
 *		-Wl,-u,vprof_anchor -Wl,--dynamic-list=DIR/libvprof.list DIR/libvprof.a -lpthread
 *		at the end of the line.  The list exports the runtime's vprof_ symbols, so that shared
 *		objects find it.  GNU ld, gold, lld and mold know the option; -static ignores it.
 *	an executable linked without us (cmake's launchers stand before compilers only), or a
 *		program that loads an instrumented shared object: DIR/libvprof.so, which `vprof
 *		record` preloads; otherwise none, and everything is dormant.
 *	-shared, -r, -nostdlib, -nostartfiles: nothing is added.
 *
 * What goes before the unit's text: runtime/shared/probe.h, which describes the probes, then
 * runtime/shared/probe_x86_64.h (other machines: runtime/shared/probe_generic.h); between line markers of a system header.
 * A key that is not given is the calling thread: ~0ULL.
 *
 * The runtime's own wrappers (vprof_w_NAME, the prototype of NAME): see runtime/wrappers/wrappers.h.
 */
#ifndef INSTRUMENTER_LAUNCHER_LAUNCHER_H
#define INSTRUMENTER_LAUNCHER_LAUNCHER_H

#include "base/proc.h"
#include "instrumenter/plan/compile_options.h"
#include "instrumenter/scan/scan.h"

/* Runs compiler argv[0] argv[1]...; returns the exit status to end with. */
int launcher_run(char *const *argv, const struct launcher_options *o);

/* Prints one line to standard error, in one write, because other compiles write at the same time; names in it are
 * made harmless. */
void launcher_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* vprof build, after a change of plan: re-runs the recorded commands of the units whose probes
 * would change, jobs at a time.  progress(done, total, arg) is called as they end, may be NULL.
 * A unit whose source is gone is left to the build: its object and record are removed.
 * Returns how many objects were compiled again or removed, or a negative errno (a failed compile:
 * reterr holds the compiler's own output). */
int rebuild_changed(const units *list, const struct launcher_options *o, unsigned jobs,
		    void (*progress)(unsigned done, unsigned total, void *arg), void *arg,
		    struct diag *reterr);

#endif
