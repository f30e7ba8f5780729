/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * doctor_project.c - vprof.conf, the data directory, what was built.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/file.h"
#include "cmd/doctor/doctor.h"
#include "instrumenter/products/product.h"
#include "project/config/config.h"
#include "project/config/locate.h"
#include "project/runs/project.h"
#include "report/style.h"
#include "store/store.h"

#define MIB ((uint64_t)1 << 20)
#define TRACE_MIB 1024			/* a trace of a long run is of this order */
#define TRACE_MIN_MIB 64

static void check_config(struct diagnosis *d)
{
	_cleanup_(config_release) struct config c = { 0 };
	struct diag diag = DIAG_INIT;

	if (!config_path())
		diagnosis_add(d, "vprof.conf", DIAGNOSIS_NOTE,
			      "vprof annotate --start FUNCTION --end FUNCTION, unless the sources have VPROF_BEGIN",
			      "there is none here or above, so no interval is defined");
	else if (project_config(&c, &diag) < 0)
		diagnosis_add(d, "vprof.conf", DIAGNOSIS_PROBLEM, diag.remedy[0] ? diag.remedy : NULL, "%s",
			      diag.text);
	else
		diagnosis_add(d, "vprof.conf", DIAGNOSIS_OK, NULL, "'%s': %zu interval%s", c.path,
			      c.intervals.cnt, c.intervals.cnt == 1 ? "" : "s");
}

/* The directory, or the existing one above it, in which it would be created. */
static char *existing(const char *dir)
{
	char *path = xstrdup(dir);

	while (!file_exists(path)) {
		char *above = path_dir(path);

		free(path);
		path = above;
	}
	return path;
}

static void check_room(struct diagnosis *d, const char *dir)
{
	struct statvfs fs;
	uint64_t free_mib;

	if (statvfs(dir, &fs) < 0)
		return;
	free_mib = (uint64_t)fs.f_bavail * fs.f_frsize / MIB;
	if (free_mib < TRACE_MIB)
		diagnosis_add(d, "disk", free_mib < TRACE_MIN_MIB ? DIAGNOSIS_PROBLEM : DIAGNOSIS_WARNING,
			      "vprof -d DIR, or VPROF_DIR, on a larger disk; or delete a vprof.data/runs/NNN",
			      "%llu MiB are free in '%s': a trace may end early", (unsigned long long)free_mib, dir);
	else
		diagnosis_add(d, "disk", DIAGNOSIS_OK, NULL, "%llu MiB are free in '%s'",
			      (unsigned long long)free_mib, dir);
}

/* False: further checks are pointless. */
static bool check_data(struct diagnosis *d, const char *dir)
{
	_cleanup_(store_closep) struct store *s = NULL;
	_cleanup_(freep) char *fix = xasprintf("chmod 0700 '%s'; chown -R $USER '%s', or vprof -d DIR", dir, dir);
	struct diag diag = DIAG_INIT;
	struct stat st;

	if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode) || access(dir, R_OK | W_OK | X_OK) < 0) {
		diagnosis_add(d, "data", DIAGNOSIS_PROBLEM, fix, "'%s' %s", dir,
			      S_ISDIR(st.st_mode) ? "cannot be written" : "is not a directory");
		return false;
	}
	int r = store_open(dir, false, &s, &diag);

	if (r < 0 && r != -ENOENT)
		diagnosis_add(d, "data", DIAGNOSIS_PROBLEM, diag.remedy[0] ? diag.remedy : NULL, "%s", diag.text);
	else if (st.st_mode & 077)
		diagnosis_add(d, "data", DIAGNOSIS_WARNING, fix,
			      "other users can read '%s', and so the parts of your program in it", dir);
	else
		diagnosis_add(d, "data", DIAGNOSIS_OK, NULL, "'%s'", dir);
	return true;
}

static void tell_functions(struct diagnosis *d, const units *list)
{
	size_t functions, probed;

	units_count(list, &functions, &probed);
	if (probed)
		diagnosis_add(d, "build", DIAGNOSIS_OK, NULL, "%zu unit%s, %zu function%s, %zu of them probed",
			      list->cnt, plural(list->cnt), functions, plural(functions), probed);
	else
		diagnosis_add(d, "build", DIAGNOSIS_WARNING, "vprof build --functions NAME,NAME; or vprof iterate",
			      "no function of %zu unit%s carries a probe", list->cnt, plural(list->cnt));
}

static void check_build(struct diagnosis *d)
{
	_cleanup_(freep) char *dir = build_dir();
	_cleanup_(units_release) units list = { NULL, 0, 0 };
	struct diag diag = DIAG_INIT;
	const struct unit *untouched = NULL;
	size_t cnt = 0, foreign;

	if (units_read(dir, &list, &diag) < 0) {
		diagnosis_add(d, "build", DIAGNOSIS_PROBLEM, diag.remedy[0] ? diag.remedy : "vprof build -- make, after make clean", "%s", diag.text);
		return;
	}
	if (list.cnt == 0) {
		diagnosis_add(d, "build", DIAGNOSIS_NOTE, "vprof build -- make", "nothing was built here yet");
		return;
	}
	tell_functions(d, &list);
	for (size_t i = 0; i < list.cnt; i++)
		if (list.items[i]->untouched && !cnt++)
			untouched = list.items[i];
	if (untouched)
		diagnosis_add(d, "build", DIAGNOSIS_WARNING, "vprof show coverage lists them",
			      "%zu unit%s compiled untouched: %s: %s", cnt, cnt == 1 ? " was" : "s were",
			      path_base(untouched->source), untouched->untouched);
	foreign = products_foreign_cnt(&list);
	if (foreign)
		diagnosis_add(d, "build", DIAGNOSIS_WARNING, "vprof build, which builds them again",
			      "%zu object%s compiled without vprof since: no probes in %s", foreign,
			      foreign == 1 ? " was" : "s were", foreign == 1 ? "it" : "them");
}

void doctor_project(struct diagnosis *d)
{
	const char *dir = data_dir();
	_cleanup_(freep) char *place = existing(dir);

	check_config(d);
	if (strcmp(place, dir) != 0) {
		if (access(place, W_OK) < 0)
			diagnosis_add(d, "data", DIAGNOSIS_PROBLEM, "vprof -d DIR, or VPROF_DIR, that can be written",
				      "'%s' cannot be made: '%s' cannot be written", dir, place);
		check_room(d, place);
		return;
	}
	if (!check_data(d, dir))
		return;
	check_room(d, dir);
	check_build(d);
}
