/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * results_json.c - the head of a JSON document about results: run, interval, cost of recording, warnings.
 */
#include "base/banned.h"
#include "report/output.h"
#include "report/probing.h"

static json_t *interval_object(const struct interval_summary *iv)
{
	json_t *o = json_object(), *dropped = json_object();

	json_set(dropped, "open", json_u64(iv->dropped_open));
	json_set(dropped, "aborted", json_u64(iv->dropped_aborted));
	json_set(dropped, "bad_path", json_u64(iv->dropped_bad_path));
	json_set(dropped, "lost", json_u64(iv->dropped_lost));
	json_set(dropped, "nested", iv->has_pairing ? json_u64(iv->nested) : json_null());
	json_set(dropped, "unmatched_ends", iv->has_pairing ? json_u64(iv->unmatched_ends) : json_null());
	json_set(o, "name", json_text(iv->name && *iv->name ? iv->name : NULL));	/* "": the run has no kind of interval */
	json_set(o, "count", json_u64(iv->cnt));
	json_set(o, "dropped", dropped);
	json_set(o, "mean_ns", json_ns(iv->mean_ns));
	json_set(o, "variance_ns2", json_ns(iv->variance_ns2));
	json_set(o, "stddev_ns", json_ns(iv->stddev_ns));
	json_set(o, "p50_ns", json_integer(iv->p50_ns));
	json_set(o, "p90_ns", json_integer(iv->p90_ns));
	json_set(o, "p99_ns", json_integer(iv->p99_ns));
	json_set(o, "min_ns", json_integer(iv->min_ns));
	json_set(o, "max_ns", json_integer(iv->max_ns));
	return o;
}

json_t *json_results(const char *name, const struct view_input *in)
{
	json_t *o = json_document(name);

	json_set(o, "run", json_integer(in->run->number));
	json_set(o, "run_name", json_text(in->run->name));
	if (in->options.origin)
		json_set(o, "origin", json_text(in->options.origin));
	json_set(o, "interval", interval_object(&in->findings->interval));
	json_set(o, "instrumentation", probing_json(in->findings));
	json_set(o, "warnings", json_warnings(in->findings->warnings.items, in->findings->warnings.cnt));
	return o;
}
