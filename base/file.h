/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file.h - files and paths.  Functions return 0 or a negative errno.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "base/str.h"

/*
 * Opens a file that another user may have put there.  A pipe, device or socket in its place could make us
 * wait or read for ever: -FILE_NOT_PLAIN, without opening it or waiting (a socket gets the same error).
 * -EISDIR: a directory.
 */
enum { FILE_NOT_PLAIN = ENXIO };
int file_open_plain(const char *path, int flags);
const char *file_why(int err);				/* strerror(-err), and words for the two errors above */

/* Reads a whole plain file; *ret is NUL-terminated and freed by the caller. ret_len may be NULL. */
int file_read(const char *path, char **ret, size_t *ret_len);
int file_read_given(const char *path, char **ret, size_t *ret_len);	/* the same for a file that the user
									 * names, which may be a pipe */
int file_read_open(int fd, char **ret, size_t *ret_len);	/* the same from fd's position; fd stays open */

/* Writes path.tmp-PID-LOT, a new file, then renames: readers see the old or the new text, never half of it. */
int file_write(const char *path, const char *data, size_t len, mode_t mode);
/* The same of what write() writes to fd, at its end; it returns 0 or a negative errno. */
int file_write_by(const char *path, mode_t mode, int (*write)(int fd, void *arg), void *arg);

int file_write_open(int fd, const char *data, size_t len);	/* writes all of it at fd's position */

/* A file of TMPDIR that is gone when it is closed, however the program ends. */
int file_unnamed(void);

bool file_exists(const char *path);
mode_t file_mode(const char *path, mode_t otherwise);	/* its permissions, or otherwise where there is none */
int make_dirs(const char *path, mode_t mode);		/* mkdir -p */
int remove_tree(const char *path);			/* rm -r */
int copy_file(const char *from, const char *to);	/* keeps the permissions */

/* "dir/name", or name if it is absolute; the caller frees it. */
char *path_join(const char *dir, const char *name);
const char *path_base(const char *path);		/* after the last '/' */
char *path_dir(const char *path);			/* before it; "." if there is none */

/* Absolute and without symbolic links; where path does not exist, made absolute lexically. */
char *path_real(const char *path);

/*
 * Takes the first folder off a list like $PATH: "/a::/b" -> "/a", then ".", then "/b", then NULL.  The list
 * is NULL after its last folder; the caller frees each.
 */
char *path_list_next(const char **list);

/* Finds name as execvp would, in search (a PATH list; NULL: $PATH).  NULL if it is not there. */
char *path_which(const char *name, const char *search);

/* The path of the running program. */
char *path_self(void);

/* The user who runs vprof, also through sudo. */
bool user_is_us(uid_t uid);

#endif
