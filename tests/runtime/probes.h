/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probes.h - what the instrumenter would have written into the test programs, by hand.
 *
 *	FUNCTION(work, VPROF_ALWAYS)	a site; the tests' key of a function is the hash of its name
 *	PROBE(work);			first in its body
 *	PROBE_VOID(work);		the same where it returns nothing
 *	PROBE_ASIDE(work);		the same, for few recorded calls
 */
#ifndef TESTS_RUNTIME_PROBES_H
#define TESTS_RUNTIME_PROBES_H

#include "runtime/shared/clock.h"
#include "runtime/shared/site.h"
#include "runtime/wrappers/wrappers.h"

#if defined(__x86_64__) && !defined(VPROF_PORTABLE)
#include "runtime/shared/probe_aside_x86_64.h"

#define PROBE_ASIDE(name)							\
	struct vprof_span vprof_span_ __attribute__((cleanup(vprof_out_aside), unused)) = \
		vprof_in_aside(&vprof_sites[SITE_##name])
#endif

#define PROBED_FUNCTIONS(X) \
	X(root) X(outer) X(inner) X(leaf) X(jumper) X(landed) X(holder) X(waiter) X(handler) \
	X(worker) X(child) X(deep)

enum {
#define X(name) SITE_##name,
	PROBED_FUNCTIONS(X)
#undef X
	SITE_CNT
};

#define SITE_KEY(site) (1000ULL + (site))

static struct vprof_site vprof_sites[SITE_CNT] = {
#define X(name) { 0, { 0 }, 10 + SITE_##name, 0, SITE_KEY(SITE_##name), #name, "target.c" },
	PROBED_FUNCTIONS(X)
#undef X
};

static void __attribute__((constructor)) vprof_unit_in(void)
{
	if (vprof_register)
		vprof_register(vprof_sites, vprof_sites + SITE_CNT, 0);
}

static void __attribute__((destructor)) vprof_unit_out(void)
{
	if (vprof_unregister)
		vprof_unregister(vprof_sites, vprof_sites + SITE_CNT);
}

#define PROBE(name)								\
	struct vprof_span vprof_span_ __attribute__((cleanup(vprof_out), unused)) = \
		vprof_in(&vprof_sites[SITE_##name])

#define PROBE_VOID(name)							\
	struct vprof_span vprof_span_ __attribute__((cleanup(vprof_out_void), unused)) = \
		vprof_in(&vprof_sites[SITE_##name])

static struct vprof_label vprof_labels[] __attribute__((unused)) = { { "request", 0 }, { "query", 0 }, { "rows", 0 } };

#define REQUEST (&vprof_labels[0])
#define QUERY (&vprof_labels[1])
#define ROWS (&vprof_labels[2])

#define EVENT(kind, label, a, b)						\
	do {									\
		if (vprof_event)						\
			vprof_event(VPROF_KIND_##kind, label, a, b);		\
	} while (0)

#endif
