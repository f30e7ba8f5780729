/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * product.c - makes a command's output appear whole or not at all, and recognises it later.
 *
 * A compiler that is killed leaves half an object, newer than its source: make takes it for good.  So it writes to
 * BUILD_DIR/<path>.PID.new, which is renamed when it is done.  The next build removes what a killed launcher left
 * there (interrupted_output.c).
 *
 * The record of a unit holds the time and size of its product.  After
 *
 *	vprof build -- make;  vi log.c;  make
 *
 * log.o is not the one that was recorded.  It has no probes, and make considers it up to date: so it is set aside
 * before the next build.  With a libtool object go the x.lo that stands for it, and the x.slo that httpd's makefiles
 * touch beside it and compare by time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "instrumenter/products/guard.h"
#include "instrumenter/products/interrupted_output.h"
#include "instrumenter/products/product.h"

/* Options that derive names of other files from -o, or search for files there. */
static const char *const naming_options[] = {
	"-gsplit-dwarf", "--coverage", "-ftest-coverage", "-fprofile", "-fbranch-probabilities",
	"-fstack-usage", "-fcallgraph-info", "-save-temps", "--save-temps", "-fdump", "-dump", "-da",
	"-ftime-trace", "-fsave-optimization-record", "-foptimization-record",
};

bool product_names_other_files(const struct args *a)
{
	for (size_t i = 0; i < a->cnt; i++)
		for (size_t k = 0; k < ARRAY_SIZE(naming_options); k++)
			if (starts_with(a->items[i], naming_options[k]) && !starts_with(a->items[i], "-fprofile-instr"))
				return true;	/* (clang's -fprofile-instr-generate names its file when the program ends) */
	return false;
}

/* Beside the target where the build directory is on another file system: a rename is to be enough.
 * NULL: what is there is not to be replaced, or it cannot be. */
static char *temporary_for(const char *target, const char *build_dir)
{
	_cleanup_(freep) char *dir = path_dir(target), *real = path_real(target);
	_cleanup_(freep) char *suffix = xasprintf(".%d.new", (int)getpid());
	struct stat st, there, ours;

	if ((lstat(target, &st) == 0 && !S_ISREG(st.st_mode)) || access(dir, W_OK) < 0)
		return NULL;
	if (stat(dir, &there) < 0 || stat(build_dir, &ours) < 0)
		return NULL;
	return there.st_dev == ours.st_dev ? unit_path(build_dir, real, suffix) :
					     xasprintf("%s.vprof%s", target, suffix);
}

static void replace_word(struct args *a, size_t i, char *word)
{
	free(a->items[i]);
	a->items[i] = word;
}

/* -o OUTPUT and -oOUTPUT become -o temporary; false: there is none. */
static bool redirect(struct args *a, const char *output, const char *temporary)
{
	bool found = false;

	for (size_t i = 0; i < a->cnt; i++) {
		if (strcmp(a->items[i], "-o") == 0 && i + 1 < a->cnt &&
		    strcmp(a->items[i + 1], output) == 0) {
			replace_word(a, ++i, xstrdup(temporary));
			found = true;
		} else if (starts_with(a->items[i], "-o") && strcmp(a->items[i] + 2, output) == 0) {
			replace_word(a, i, xasprintf("-o%s", temporary));
			found = true;
		}
	}
	return found;
}

/* NULL: in place. */
static char *made_elsewhere(struct args *a, const char *output, const char *target, const char *build_dir)
{
	_cleanup_(freep) char *temporary = NULL;

	if (product_names_other_files(a))
		return NULL;
	temporary = temporary_for(target, build_dir);
	if (!temporary)
		return NULL;
	if (!output) {
		args_add(a, "-o");
		args_add(a, temporary);
	} else if (!redirect(a, output, temporary)) {
		return NULL;
	}
	guard_temporary(temporary);
	return TAKE_PTR(temporary);
}

void product_begin(struct args *a, const char *output, const char *target, const char *build_dir,
		   struct product *ret)
{
	product_release(ret);
	ret->target = xstrdup(target);
	ret->build_dir = xstrdup(build_dir);
	ret->temporary = made_elsewhere(a, output, target, build_dir);
	if (!ret->temporary)
		ret->mark = unfinished_mark(target, build_dir);
}

void product_drop(struct product *p)
{
	if (p->target)
		unlink(p->temporary ? p->temporary : p->target);
	product_release(p);
}

bool product_stat(const struct product *p, uint64_t *ret_ns, uint64_t *ret_bytes)
{
	struct stat st;

	if (!p->target || stat(p->temporary ? p->temporary : p->target, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	*ret_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	*ret_bytes = (uint64_t)st.st_size;
	return true;
}

void product_place(struct product *p)
{
	if (p->temporary && rename(p->temporary, p->target) < 0) {
		copy_file(p->temporary, p->target);
		unlink(p->temporary);
	}
	product_release(p);
}

void product_keep(struct product *p, struct unit *const *units, size_t cnt, const char *build_dir)
{
	_cleanup_(freep) char *real = p->target ? path_real(p->target) : NULL;
	uint64_t ns = 0, bytes = 0;
	bool there = product_stat(p, &ns, &bytes);

	for (size_t i = 0; i < cnt; i++) {
		if (there) {
			units[i]->product = arena_strdup(units[i]->arena, real);
			units[i]->product_ns = ns;
			units[i]->product_bytes = bytes;
		}
		/* Without a record a unit is neither rebuilt nor reported; the object is good. */
		unit_write(build_dir, units[i], NULL);
	}
	product_place(p);
}

void product_release(struct product *p)
{
	if (p->target)
		unfinished_done(p->target, p->build_dir, p->mark);
	free(p->target);
	free(p->temporary);
	free(p->build_dir);
	*p = (struct product)PRODUCT_INIT;
}

/* ---- what was made without us ---- */

static bool is_foreign(const struct unit *u)
{
	struct stat st;

	return u->product && stat(u->product, &st) == 0 && S_ISREG(st.st_mode) &&
	       ((uint64_t)st.st_size != u->product_bytes ||
		(uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec !=
			u->product_ns);
}

size_t products_foreign_cnt(const units *list)
{
	size_t cnt = 0;

	for (size_t i = 0; i < list->cnt; i++)
		cnt += is_foreign(list->items[i]);
	return cnt;
}

static const char *const stand_ins[] = { ".lo", ".slo" };

/* The stand-in of an object, if it exists: "x.lo" of "x.o" and ".libs/x.o".  NULL: path is no object. */
static char *stand_in(const char *object, const char *suffix)
{
	_cleanup_(freep) char *dir = path_dir(object), *above = path_dir(dir);
	size_t stem = strlen(path_base(object));

	if (!ends_with(object, ".o"))
		return NULL;
	return xasprintf("%s/%.*s%s", strcmp(path_base(dir), ".libs") == 0 ? above : dir,
			 (int)stem - 2, path_base(object), suffix);
}

void product_renew_stand_ins(const char *object)
{
	for (size_t i = 0; i < ARRAY_SIZE(stand_ins); i++) {
		_cleanup_(freep) char *path = stand_in(object, stand_ins[i]);

		if (path)
			utimensat(AT_FDCWD, path, NULL, 0);
	}
}

static char *aside_path(const char *product, const char *build_dir)
{
	return unit_path(build_dir, product, ".aside");
}

static bool set_aside(const char *path, const char *build_dir)
{
	_cleanup_(freep) char *aside = aside_path(path, build_dir);

	if (rename(path, aside) == 0)
		return true;
	return copy_file(path, aside) == 0 && unlink(path) == 0;
}

static void set_stand_ins_aside(const char *object, const char *build_dir)
{
	for (size_t i = 0; i < ARRAY_SIZE(stand_ins); i++) {
		_cleanup_(freep) char *path = stand_in(object, stand_ins[i]);

		if (path && file_exists(path))
			set_aside(path, build_dir);
	}
}

/* The file that has to be made again if u is lost or was made without vprof. */
static const char *made(const struct unit *u)
{
	return u->product || !u->is_lost ? u->product : u->object;
}

size_t products_set_aside(const units *list, const char *build_dir)
{
	size_t cnt = 0;

	for (size_t i = 0; i < list->cnt; i++) {
		const struct unit *u = list->items[i];

		if (!u->is_lost && !is_foreign(u))
			continue;
		set_stand_ins_aside(made(u), build_dir);
		cnt += set_aside(made(u), build_dir);
	}
	return cnt;
}

static void forget(const char *path, const char *build_dir)
{
	_cleanup_(freep) char *aside = aside_path(path, build_dir);

	unlink(aside);
}

static void put_back(const char *path, const char *build_dir)
{
	_cleanup_(freep) char *aside = aside_path(path, build_dir);

	if (!file_exists(aside))
		return;
	if (!file_exists(path) && rename(aside, path) < 0)
		copy_file(aside, path);
	unlink(aside);
}

/* Applies it to all products and their stand-ins. */
static void with_all(const units *list, const char *build_dir, void (*f)(const char *, const char *))
{
	for (size_t i = 0; i < list->cnt; i++) {
		const char *product = made(list->items[i]);

		if (!product)
			continue;
		f(product, build_dir);
		for (size_t k = 0; k < ARRAY_SIZE(stand_ins); k++) {
			_cleanup_(freep) char *path = stand_in(product, stand_ins[k]);

			if (path)
				f(path, build_dir);
		}
	}
}

void products_forget(const units *list, const char *build_dir)
{
	with_all(list, build_dir, forget);
}

void products_put_back(const units *list, const char *build_dir)
{
	with_all(list, build_dir, put_back);
}
