/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * paths.h - where the files that belong to this vprof are: in the build directory and the source
 * tree while it runs from there, else where `make install` put them.
 */
#ifndef PROJECT_CONFIG_PATHS_H
#define PROJECT_CONFIG_PATHS_H

/* Each lives as long as the process. */
const char *runtime_dir(void);		/* libvprof.a, libvprof.list, libvprof.so */
const char *include_dir(void);		/* vprof.h */
const char *data_files_dir(void);	/* *.sync, examples/ */

/* The vprof.conf of the example NAME; the caller frees it. */
char *preset_path(const char *name);

#endif
