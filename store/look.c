/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * look.c - SQLite's own way to files, less everything that changes one.
 *
 * The path is /proc/self/fd/N/vprof.db, N the directory: whatever is put in that directory's place, it is that one.  SQLite
 * would look where the link /proc/self/fd/N leads, and go there by name.
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
	if (!(flags & SQLITE_OPEN_MAIN_DB))	/* a temporary one, elsewhere; a journal, to see whether it is one */
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

/* In place of open(): SQLite synchronises directories, too.  A name may stand for something else than a moment ago. */
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
