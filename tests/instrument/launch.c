/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * launch.c - the instrumenter's launcher as a program of its own, for tests.
 *
 *	launch -b BUILD_DIR [-p PLAN] [-t SYNC_TABLE]... [-y ROLE=PRIMITIVE]...
 *	       [-n NAME -s LOC -e LOC [-r LOC]... [-k KEY]]... [-R RUNTIME_DIR] [-I INCLUDE_DIR]
 *	       [-v] -- COMPILER ARG...
 *	launch -b BUILD_DIR ... -B		rebuild what the plan changes
 *	launch -b BUILD_DIR -l			list the functions: NAME LINE probed|plain|REASON
 *	launch -b BUILD_DIR -c			list the calls: CALLER CALLEE-OR-TYPE LINE
 *	launch -b BUILD_DIR -P			list the places, and why units are untouched
 *	launch -b BUILD_DIR -o			list the objects of units without places
 *
 * PLAN "all" is every function; "none" or no -p is none.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/banned.h"
#include "instrumenter/launcher/launcher.h"

struct settings {
	struct launcher_options o;
	primitives sync;
	VEC(struct interval_directive) intervals;
	struct plan *plan;
	char action;			/* of B l c P o; 0: launch */
};

static void check(int err, const struct diag *d)
{
	if (err >= 0)
		return;
	fprintf(stderr, "launch: %s\n%s\n", d->text, d->remedy);
	exit(d->status);
}

static void add_sync(struct settings *s, const char *text, struct diag *d)
{
	static const char *const roles[] = { "acquire=", "release=", "enqueue=", "dequeue=" };
	struct primitive p;

	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		if (!starts_with(text, roles[i]))
			continue;
		check(primitive_parse((enum primitive_role)i, text + strlen(roles[i]), &p, d), d);
		VEC_ADD(&s->sync, p);
	}
}

static void read_plan(struct settings *s, const char *arg, struct diag *d)
{
	if (strcmp(arg, "all") == 0) {
		s->plan = plan_new();
		s->plan->all = PLAN_ALWAYS;
	} else if (strcmp(arg, "none") != 0) {
		check(plan_read(arg, &s->plan, d), d);
	}
}

static void set_option(struct settings *s, int c, char *arg, struct diag *d)
{
	struct interval_directive *i = s->intervals.cnt ?
				       &s->intervals.items[s->intervals.cnt - 1] : NULL;

	switch (c) {
	case 'b': s->o.build_dir = arg; break;
	case 'p': read_plan(s, arg, d); break;
	case 't': check(primitives_read(arg, &s->sync, d), d); break;
	case 'y': add_sync(s, arg, d); break;
	case 'n': VEC_EXTEND(&s->intervals)->name = arg; break;
	case 's': check(location_parse(arg, &i->start, d), d); break;
	case 'e': check(location_parse(arg, &i->end, d), d); break;
	case 'r': check(location_parse(arg, VEC_EXTEND(&i->resumes), d), d); break;
	case 'k': i->key = arg; break;
	case 'R': s->o.runtime_dir = arg; break;
	case 'I': s->o.include_dir = arg; break;
	case 'v': s->o.verbose = true; break;
	case '?': exit(2);
	default: s->action = (char)c;
	}
}

static void list(const struct settings *s, struct diag *d)
{
	units all = { NULL, 0, 0 };

	check(units_read(s->o.build_dir, &all, d), d);
	for (size_t i = 0; i < all.cnt; i++) {
		const struct unit *u = all.items[i];

		if (s->action == 'o' && !u->places.cnt)
			printf("%s\n", u->object);
		if (s->action == 'P' && u->untouched)
			printf("untouched %s: %s\n", u->source, u->untouched);
		for (size_t p = 0; s->action == 'P' && p < u->places.cnt; p++) {
			const struct scan_place *place = &u->places.items[p];

			printf("%s %s %s: %s\n", place->interval ? place->interval : "-", place->role,
			       place->location, place->problem ? place->problem : "in place");
		}
		for (size_t f = 0; s->action == 'l' && f < u->functions.cnt; f++) {
			const struct scan_function *fn = &u->functions.items[f];

			printf("%s %u %s\n", fn->name, fn->line, fn->skipped ? fn->skipped :
			       fn->probed ? "probed" : "plain");
		}
		for (size_t c = 0; s->action == 'c' && c < u->calls.cnt; c++) {
			const struct scan_call *call = &u->calls.items[c];

			printf("%s %s %u\n", u->functions.items[call->caller].name,
			       call->callee ? call->callee : call->type, call->line);
		}
	}
	units_release(&all);
}

static int rebuild(const struct settings *s, struct diag *d)
{
	units all = { NULL, 0, 0 };
	int cnt;

	check(units_read(s->o.build_dir, &all, d), d);
	cnt = rebuild_changed(&all, &s->o, 2, NULL, NULL, d);
	check(cnt, d);
	printf("%d of %zu\n", cnt, all.cnt);
	units_release(&all);
	return 0;
}

int main(int argc, char **argv)
{
	struct settings s = { .action = 0 };
	struct diag d = DIAG_INIT;
	int c, status = 0;

	while ((c = getopt(argc, argv, "+b:p:t:y:n:s:e:r:k:R:I:vBlcPo")) != -1)
		set_option(&s, c, optarg, &d);
	s.o.plan = s.plan;
	s.o.sync = &s.sync;
	s.o.intervals = s.intervals.items;
	s.o.interval_cnt = s.intervals.cnt;
	if (s.action == 'B')
		status = rebuild(&s, &d);
	else if (s.action)
		list(&s, &d);
	else if (optind < argc)
		status = launcher_run(argv + optind, &s.o);
	plan_free(s.plan);
	primitives_release(&s.sync);
	for (size_t i = 0; i < s.intervals.cnt; i++) {
		s.intervals.items[i].name = s.intervals.items[i].key = NULL;	/* argv's */
		interval_directive_release(&s.intervals.items[i]);
	}
	VEC_RELEASE(&s.intervals);
	return status;
}
