/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * product.h - the object or program that a command makes: it appears whole or not at all, and is
 * known again.
 *
 *	struct product p = PRODUCT_INIT;
 *	product_begin(&argv, "log.o", "log.o", build_dir, &p);	-o log.o becomes -o BUILD_DIR/...log.o.new
 *	status = run(&argv);
 *	status ? product_drop(&p) : product_keep(&p, &unit, 1, build_dir);
 *	product_release(&p);
 */
#ifndef INSTRUMENTER_PRODUCTS_PRODUCT_H
#define INSTRUMENTER_PRODUCTS_PRODUCT_H

#include "base/proc.h"
#include "instrumenter/scan/scan.h"

struct product {
	char *target;			/* NULL: nothing begun */
	char *temporary;		/* where it is made; NULL: in place */
	char *build_dir;
	int mark;			/* made in place: of interrupted_output.h */
};

#define PRODUCT_INIT { NULL, NULL, NULL, -1 }

/* Does the command have options that name other files after its output (-gsplit-dwarf, --coverage)? */
bool product_names_other_files(const struct args *a);

/* output: the value of -o in a, NULL if it has none; then target is where the product goes by default.  Changes a.  A
 * product that cannot be made elsewhere is made in place and marked as unfinished meanwhile: a device, one whose -o
 * is in a response file, or with such options. */
void product_begin(struct args *a, const char *output, const char *target, const char *build_dir,
		   struct product *ret);

/* Removes the temporary output. */
void product_drop(struct product *p);

/* Writes the records of its units, with its time and size, and moves it to its place.  In that order: if the process
 * is killed in between, the record does not match the old product. */
void product_keep(struct product *p, struct unit *const *units, size_t cnt, const char *build_dir);

/* Its two steps: time and size of the output (false: there is no file); move to its place. */
bool product_stat(const struct product *p, uint64_t *ret_ns, uint64_t *ret_bytes);
void product_place(struct product *p);

void product_release(struct product *p);	/* also a _cleanup_ function */

/* Sets the time of the stand-ins that makefiles compare instead of the object, libtool's x.lo and httpd's x.slo, to
 * its own. */
void product_renew_stand_ins(const char *object);

/*
 * Products that are not the ones that were recorded: made without vprof since.  Sets them aside so that the build
 * makes them again; returns how many.  forget: the build has; put_back: it failed, restores those that it did not
 * make.
 */
size_t products_foreign_cnt(const units *list);		/* their number */
size_t products_set_aside(const units *list, const char *build_dir);
void products_forget(const units *list, const char *build_dir);
void products_put_back(const units *list, const char *build_dir);

#endif
