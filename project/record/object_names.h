/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * object_names.h - names the locks of `record --order` that are variables of programs and libraries, or in one.
 */
#ifndef PROJECT_RECORD_OBJECT_NAMES_H
#define PROJECT_RECORD_OBJECT_NAMES_H

#include "drainer/drainer.h"

/* For struct drainer_options: name_objects.  arg: not used. */
void object_names_tell(void *arg, struct drainer *d);

#endif
