/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * demo_causal.c - `vprof demo causal`: what would be gained by the largest function, and by what a lock's holder does?
 *
 *	$ vprof build --functions all -- make
 *	$ vprof record -- ./server 600
 *	$ vprof causal --target checksum --target lock:log_append --target sync_log --for 30s -- ./server
 *
 * With --check, exit 0 means: at half of its time, less is gained by the largest function than by the planted cause, of which a gain
 * is certain.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"
#include "cmd/commands.h"
#include "cmd/demo/demo.h"
#include "cmd/messages.h"

#define HALF 0.5

/* The target's experiment with half of its time; NULL: there was none. */
static json_t *median_of(json_t *experiments, const char *target)
{
	size_t i;
	json_t *x;

	json_array_foreach(experiments, i, x) {
		const char *name = json_string_value(json_object_get(x, "target"));

		if (name && strcmp(name, target) == 0 && json_number_value(json_object_get(x, "speedup")) == HALF)
			return json_object_get(json_object_get(x, "metrics"), "p50");
	}
	return NULL;
}

static double gain_of(json_t *metric)
{
	return json_number_value(json_object_get(metric, "gain"));
}

static bool is_found(json_t *root, const struct demo_answer *a, struct str *ret_why)
{
	json_t *experiments = json_object_get(root, "experiments");
	json_t *beside = median_of(experiments, a->beside), *faster = median_of(experiments, a->faster);
	double low = json_number_value(json_array_get(json_object_get(faster, "ci95"), 0));

	if (!beside || !faster) {
		str_addf(ret_why, "%s was not measured", beside ? a->faster : a->beside);
		return false;
	}
	str_addf(ret_why, "half of %s gains %.0f %% of the median, half of %s %.0f %%", a->beside, 100 * gain_of(beside), a->faster,
		 100 * gain_of(faster));
	return low > 0 && gain_of(faster) > gain_of(beside);
}

static int verdict(const char *dir, const struct demo_answer *a, bool check, bool json)
{
	static const char *const words[] = { "show", "causal", "--format", "json", NULL };
	_cleanup_(str_release) struct str out = STR_INIT, why = STR_INIT;
	int status = demo_step(dir, true, &out, words);
	json_t *root;
	bool found;

	if (status)
		return status;
	if (json)
		fputs(str_cstr(&out), stdout);
	root = json_loads(str_cstr(&out), 0, NULL);
	found = is_found(root, a, &why);
	json_decref(root);
	if (!check)
		return EXIT_DONE;
	note_line("demo --check %s: %s", found ? "passed" : "FAILED", str_cstr(&why));
	return found ? EXIT_DONE : EXIT_CHECK_FAILED;
}

int demo_causal(const char *dir, const struct demo_answer *a, bool check, bool json)
{
	const char *const build[] = { "build", "--functions", "all", "--", "make", NULL };
	const char *const record[] = { "record", "--", "./server", "600", NULL };
	const char *const causal[] = { "causal", "--target", a->beside, "--target", a->faster, "--target", a->also, "--for", "30s", "--",
		"./server", NULL };
	const char *const *const steps[] = { build, record, causal };
	bool quiet = check || json;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		int status = demo_step(dir, quiet, NULL, steps[i]);

		if (status)
			return status;
	}
	if (quiet)
		return verdict(dir, a, check, json);
	printf("\nAll of it is in %s: the program, its vprof.conf, and the data.\n"
	       "next: in there,  vprof show causal --target %s; vprof show causal --format svg >gains.svg\n", dir, a->faster);
	return EXIT_DONE;
}
