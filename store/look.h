/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * look.h - reads a database in another user's directory without writing there.  Private to store/.
 *
 * SQLite writes as it reads: it rolls an interrupted transaction back, and makes a -shm beside a database that says that it
 * has one.  And it goes by names, which the directory's owner may give to something else meanwhile.
 */
#ifndef STORE_LOOK_H
#define STORE_LOOK_H

/* Registers it once: the name of a VFS that opens databases for reading only, by the very path that it is given, and makes
 * and removes nothing.  NULL: there is none. */
const char *look_vfs(void);

/* From here on SQLite opens plain files only: it neither waits for what writes to a pipe nor reads a device without an end. */
void look_at_plain_files(void);

#endif
