/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ours.h - directories that no other user can replace, nor one above them.
 *
 * Example: root may write to /root/p/vprof.data and /tmp/x.vpt.  It may not write to /home/bob/p/vprof.data: between a look
 * and the next bob can put a link in the place of p, and root would write where that leads to.
 */
#ifndef BASE_OURS_H
#define BASE_OURS_H

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Opens the directory, from / on one name after the other, each by the descriptor of the one before (O_PATH).
 * create: makes what is missing, 0700.  For root every directory and link on the way must be root's, or of
 * the user who ran sudo, and writable by nobody else; one with the sticky bit, or of a group that has only
 * its owner in it, will do.  A user other than root can only damage files that they may write anyway, so
 * their way is not judged.
 *
 * The descriptor or a negative errno; -EPERM with *ret_why, which the caller frees:
 *	"'/home/bob' belongs to another user"	"other users may write to '/srv/p'"
 */
int ours_open(const char *path, bool create, char **ret_why);

/* 0, or -EPERM with *ret_why: the directory itself belongs to another user, or others may write to it. */
int ours_alone(int fd, const char *path, char **ret_why);

/* Whether only its owner may write there, and that is the caller or root. */
bool ours_to_write(const struct stat *st);

#endif
