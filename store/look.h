/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * look.h - reads a database in another user's directory without writing there.  Private to store/.
 *
 * SQLite writes while it reads: it rolls an interrupted transaction back, and makes a -shm file beside a database
 * that declares one.  And it uses names, which the directory's owner may give to other files meanwhile.
 */
#ifndef STORE_LOOK_H
#define STORE_LOOK_H

/* Registers it once: the name of a VFS that opens databases for reading only, by exactly the path that it is given,
 * and makes and removes nothing.  NULL: there is none. */
const char *look_vfs(void);

/* From here on SQLite opens plain files only: it neither waits for the writer of a pipe nor reads an endless device. */
void look_at_plain_files(void);

#endif
