/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * doctor_program.c - can this program be recorded?
 *
 * A probe finds the runtime in three ways (doc/design/linking.md): it is linked in, record preloads it, or not at
 * all.  The last happens where the link did not go through vprof and settled the weak references for good: -static,
 * and -no-pie with code that is not position independent.  Then the objects' vprof_unit_in() exists, but nothing
 * refers to vprof_register.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/banned.h"
#include "base/elf.h"
#include "base/file.h"
#include "base/str.h"
#include "cmd/doctor/doctor.h"
#include "instrumenter/insert/unit_note.h"
#include "project/record/reach.h"

#define LINK_FIX "link it through vprof as well: vprof build -- make   (cmake without vprof build: " \
		 "-DCMAKE_C_LINKER_LAUNCHER=\"vprof;cc\", the same with CXX)"
#define BUILD_FIX "vprof build -- make, after make clean or its like; then the program that it made, not an installed one"

static const char name[] = "program";

static void not_elf(struct diagnosis *d, const char *path, int err)
{
	_cleanup_(freep) char *text = NULL;

	if (err == -ENOEXEC && file_read(path, &text, NULL) == 0 && starts_with(text, "#!"))
		diagnosis_add(d, name, DIAGNOSIS_NOTE, "vprof doctor the program that it starts   (libtool keeps that in .libs/)",
			      "'%s' is a script", path);
	else if (err == -ENOEXEC)
		diagnosis_add(d, name, DIAGNOSIS_PROBLEM, "name the program that serves the requests",
			      "'%s' is not a program", path);
	else if (err == -ENOTSUP)
		diagnosis_add(d, name, DIAGNOSIS_PROBLEM,
			      "build for this machine: compilers for others are passed through",
			      "'%s' is a program of another machine; the runtime is for this one", path);
	else
		diagnosis_add(d, name, DIAGNOSIS_PROBLEM, NULL, "'%s' cannot be read: %s", path,
			      strerror(-err));
}

/*
 * Can probes find the runtime, and are there any?  Probes of another interface version (runtime/shared/probe.h) ask
 * for a symbol that our runtime lacks: vprof_register, or one with another number.
 */
static void check_link(struct diagnosis *d, const char *path, const struct elf *e, const struct program_notes *notes)
{
	bool linked = elf_symbol(e, "vprof_register", true) || elf_symbol(e, "vprof_anchor", true);
	bool asks = linked || elf_symbol(e, "vprof_register", false);
	bool asks_us = elf_symbol(e, REGISTER_OURS, false);
	bool has_sites = elf_symbol(e, "vprof_unit_in", true);
	const char *how = !e->interpreter ? "static" : e->is_movable ? "position independent" : "-no-pie";

	if (e->interpreter && strstr(e->interpreter, "musl"))
		diagnosis_add(d, name, DIAGNOSIS_PROBLEM, "build it with the machine's own C library",
			      "'%s' uses another C library (%s); the runtime is for glibc", path,
			      e->interpreter);
	else if (linked && !asks_us)
		diagnosis_add(d, name, DIAGNOSIS_PROBLEM, BUILD_FIX,
			      "'%s' (%s) was linked with the runtime of another version of vprof: nothing of it can be recorded",
			      path, how);
	else if (linked || (notes->unit_cnt && !e->has_symbols && !e->interpreter && elf_holds(e, ARENA_VARIABLE)))
		diagnosis_add(d, name, DIAGNOSIS_OK, NULL, "'%s' (%s) was linked through vprof%s", path, how, e->interpreter ? "" :
			      "; limits that it sets itself (setrlimit, mlockall, prctl) are not seen: vprof-record(1), LIMITS");
	else if (asks && !asks_us)
		diagnosis_add(d, name, DIAGNOSIS_PROBLEM, BUILD_FIX,
			      "'%s' (%s) holds probes of another version of vprof, which stay dormant", path, how);
	else if (asks)
		diagnosis_add(d, name, DIAGNOSIS_OK, NULL,
			      "'%s' (%s) holds probes; record preloads the runtime", path, how);
	else if (has_sites)
		diagnosis_add(d, name, DIAGNOSIS_PROBLEM, LINK_FIX,
			      "'%s' (%s) holds probes, but was linked without vprof, which leaves them without a runtime",
			      path, how);
	else if (e->interpreter)
		diagnosis_add(d, name, DIAGNOSIS_PROBLEM, BUILD_FIX,
			      "'%s' was built without vprof: only shared libraries of it could be recorded", path);
	else
		diagnosis_add(d, name, DIAGNOSIS_PROBLEM, BUILD_FIX, "'%s' was built without vprof", path);
}

/* Reasons for which the dynamic loader distrusts the environment that record sets. */
static void check_privileges(struct diagnosis *d, const char *path)
{
	struct stat st;
	bool set_id = stat(path, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID));
	bool capable = getxattr(path, "security.capability", NULL, 0) > 0;

	if (set_id || capable)
		diagnosis_add(d, name, DIAGNOSIS_PROBLEM,
			      "record a copy without them (cp drops them), started as the user it would become",
			      "'%s' %s: it ignores the environment that record sets", path,
			      set_id ? "is set-user-ID or set-group-ID" : "has file capabilities");
}

static void say_places(const struct program_notes *n, struct str *ret)
{
	for (size_t i = 0; i < n->places.cnt; i++) {
		const struct note_place *p = &n->places.items[i];
		size_t before = 0;

		while (strcmp(n->places.items[before].interval, p->interval) != 0)
			before++;
		if (before < i)
			continue;		/* said with the first */
		str_addf(ret, "; interval '%s'", p->interval);
		for (size_t k = i; k < n->places.cnt; k++)
			if (strcmp(n->places.items[k].interval, p->interval) == 0)
				str_addf(ret, "%s %s %s", k == i ? ":" : ",", n->places.items[k].role, n->places.items[k].location);
	}
}

/* Plan, names and intervals travel in the program (instrumenter/insert/unit_note.h). */
static void check_notes(struct diagnosis *d, const char *path, const struct elf *e, const struct program_notes *n)
{
	size_t cnt = n->inside_cnt + n->always_cnt + n->dormant_cnt;
	_cleanup_(str_release) struct str text = STR_INIT;

	if (!n->unit_cnt) {
		if (program_names(e, n) != NAMES_CARRIED)
			diagnosis_add(d, name, DIAGNOSIS_WARNING, BUILD_FIX,
				      "'%s' does not say which of its functions to record: an older vprof built it, or its "
				      "section .vprof was removed", path);
		return;
	}
	for (size_t i = 0; i < n->versions.cnt; i++)
		str_addf(&text, "%s%s", i ? " and " : "", n->versions.items[i]);
	str_addf(&text, ": %zu probe%s in %zu unit%s, %zu recorded inside intervals, %zu always, %zu "
		 "dormant", cnt, cnt == 1 ? "" : "s", n->unit_cnt, n->unit_cnt == 1 ? "" : "s", n->inside_cnt,
		 n->always_cnt, n->dormant_cnt);
	say_places(n, &text);
	diagnosis_add(d, name, DIAGNOSIS_OK, NULL, "'%s' carries its names, built by vprof %s", path, str_cstr(&text));
}

void doctor_program(struct diagnosis *d, const char *path)
{
	_cleanup_(elf_closep) struct elf *e = NULL;
	_cleanup_(program_notes_release) struct program_notes notes = { 0 };
	int r = elf_open(path, &e);

	if (r < 0) {
		not_elf(d, path, r);
		return;
	}
	program_notes_read(e, &notes);
	check_link(d, path, e, &notes);
	check_notes(d, path, e, &notes);
	check_privileges(d, path);
	if (!e->has_symbols)
		diagnosis_add(d, name, DIAGNOSIS_WARNING, "link without -s, install without stripping",
			      "'%s' is stripped: probed functions keep their names and levels, but debuggers and other "
			      "profilers find none", path);
}
