/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * look.c - SQLite's own file access, without everything that changes a file.
 *
 * The path is /proc/self/fd/N/vprof.db, N the open directory: that remains the same directory even if another is put
 * in its place.  SQLite itself would resolve the link /proc/self/fd/N and use the name.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"
#include "store/look.h"

static sqlite3_vfs *own;		/* SQLite's */
static sqlite3_io_methods methods;	/* the same for all its files: without shared memory and maps */

static int open_to_read(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	int r;

	(void)vfs;
	if (!(flags & SQLITE_OPEN_MAIN_DB))	/* a temporary file, elsewhere; a journal, opened to see whether there
						 * is one */
		return name && flags & SQLITE_OPEN_CREATE ? SQLITE_CANTOPEN : own->xOpen(own, name, file, flags, ret_flags);
	flags &= ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
	r = own->xOpen(own, name, file, flags | SQLITE_OPEN_READONLY, ret_flags);
	if (r == SQLITE_OK) {
		methods = *file->pMethods;
		methods.iVersion = 1;
		file->pMethods = &methods;
	}
	return r;
}

static int remove_nothing(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	(void)name;
	(void)sync;
	return SQLITE_READONLY;
}

static int as_it_is(sqlite3_vfs *vfs, const char *name, int cnt, char *ret)
{
	size_t len = strlen(name);

	(void)vfs;
	if (len >= (size_t)cnt)
		return SQLITE_CANTOPEN;
	memcpy(ret, name, len + 1);
	return SQLITE_OK;
}

/* Replaces open(), because SQLite synchronises directories, too.  A name may mean another file than a moment ago. */
static int open_plain(const char *path, int flags, int mode)
{
	int fd = open(path, flags | O_NONBLOCK, mode);
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))))
		return fd;
	close(fd);
	errno = ENXIO;
	return -1;
}

void look_at_plain_files(void)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	if (vfs && vfs->iVersion >= 3 && vfs->xSetSystemCall)
		vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_plain);
}

const char *look_vfs(void)
{
	static sqlite3_vfs looking;

	if (looking.zName)
		return looking.zName;
	own = sqlite3_vfs_find(NULL);
	if (!own)
		return NULL;
	looking = *own;
	looking.zName = "vprof-look";
	looking.pNext = NULL;
	looking.xOpen = open_to_read;
	looking.xDelete = remove_nothing;
	looking.xFullPathname = as_it_is;
	return sqlite3_vfs_register(&looking, 0) == SQLITE_OK ? looking.zName : NULL;
}
