/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ours.c - the way to a directory, as ssh looks at the files that it believes.
 *
 * No other user can change what a name means in a directory that only we may write to, so each name is
 * checked in turn, and the path can be used as a name afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/ours.h"
#include "base/str.h"

enum { LINKS_MAX = 40 };

struct way {
	int fd;				/* the directory reached so far */
	struct str at;			/* its name, for messages; "" is / */
	char *rest;			/* names still to be visited */
	bool create, judged;
	unsigned link_cnt;
};

/* Number of users that our user namespace knows: all, 1, or 65,536. */
static unsigned long known_users(void)
{
	_cleanup_(freep) char *map = NULL;
	char *at;

	if (file_read("/proc/self/uid_map", &map, NULL) < 0)
		return UINT32_MAX;
	strtoul(map, &at, 10);
	strtoul(at, &at, 10);
	return strtoul(at, &at, 10) + (strspn(at, " \n") < strlen(at));	/* a further line is a further range */
}

/* In a namespace that does not know all users, root's files seem to belong to nobody. */
static uid_t unknown_user(void)
{
	_cleanup_(freep) char *number = NULL;

	if (known_users() >= UINT32_MAX || file_read("/proc/sys/kernel/overflowuid", &number, NULL) < 0)
		return 0;
	return (uid_t)strtoul(number, NULL, 10);
}

/* In a namespace of a single user, root is an ordinary user. */
static bool is_root(void)
{
	return geteuid() == 0 && known_users() > 1;
}

static bool is_trusted(uid_t uid)
{
	return uid == 0 || user_is_us(uid) || uid == unknown_user();
}

/* A user's own group, as many systems create for each user: it has no other member. */
static bool has_nobody_else(gid_t gid, uid_t owner)
{
	const struct group *group = getgrgid(gid);
	const struct passwd *user;
	bool alone = group != NULL;

	for (char **name = alone ? group->gr_mem : NULL; name && *name && alone; name++) {
		user = getpwnam(*name);
		alone = user && (user->pw_uid == owner || user->pw_uid == 0);
	}
	setpwent();
	while (alone && (user = getpwent()))
		alone = user->pw_gid != gid || user->pw_uid == owner || user->pw_uid == 0;
	endpwent();
	return alone;
}

bool ours_to_write(const struct stat *st)
{
	return is_trusted(st->st_uid) && !(st->st_mode & S_IWOTH) &&
	       (!(st->st_mode & S_IWGRP) || st->st_gid == 0 || has_nobody_else(st->st_gid, st->st_uid));
}

static int refuse(bool theirs, const char *path, char **ret_why)
{
	*ret_why = xasprintf(theirs ? "'%s' belongs to another user" : "other users may write to '%s'", *path ? path : "/");
	return -EPERM;
}

/* Judges the directory reached, or a link in it.  In a directory with the sticky bit others cannot rename
 * files that are not theirs. */
static int judge(const struct way *w, const struct stat *st, const char *name, char **ret_why)
{
	_cleanup_(freep) char *path = NULL;

	if (!w->judged || (S_ISLNK(st->st_mode) ? is_trusted(st->st_uid) : ours_to_write(st)) ||
	    (S_ISDIR(st->st_mode) && is_trusted(st->st_uid) && st->st_mode & S_ISVTX))
		return 0;
	path = name ? xasprintf("%s/%s", str_cstr(&w->at), name) : xstrdup(str_cstr(&w->at));
	return refuse(!is_trusted(st->st_uid), path, ret_why);
}

/* Closes fd, or keeps it in w. */
static int stand_at(struct way *w, int fd, const char *name, char **ret_why)
{
	struct stat st;

	if (fd < 0)
		return -errno;
	if (w->fd >= 0)
		close(w->fd);
	w->fd = fd;
	if (name)
		str_addf(&w->at, "/%s", name);
	return fstat(fd, &st) < 0 ? -errno : judge(w, &st, NULL, ret_why);
}

static int follow(struct way *w, const char *name, char **ret_why)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(w->fd, name, target, sizeof(target) - 1);
	char *rest;

	if (len < 0)
		return -errno;
	if (++w->link_cnt > LINKS_MAX)
		return -ELOOP;
	target[len] = '\0';
	rest = xasprintf("%s/%s", target, w->rest);
	free(w->rest);
	w->rest = rest;
	if (*target != '/')
		return 0;
	str_reset(&w->at);
	return stand_at(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), NULL, ret_why);
}

static int step(struct way *w, const char *name, char **ret_why)
{
	int made = w->create && mkdirat(w->fd, name, 0700) < 0 ? -errno : -ENOENT, fd, r;
	struct stat st;

	fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		r = errno == ENOENT ? made : -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	if (S_ISDIR(st.st_mode))
		return stand_at(w, fd, name, ret_why);
	close(fd);
	if (!S_ISLNK(st.st_mode))
		return -ENOTDIR;
	r = judge(w, &st, name, ret_why);
	return r < 0 ? r : follow(w, name, ret_why);
}

/* Takes the first name off w->rest: NULL when there is none. */
static char *next_name(struct way *w)
{
	const char *at = w->rest + strspn(w->rest, "/");
	size_t len = strcspn(at, "/");
	char *name = len ? xstrndup(at, len) : NULL, *rest = xstrdup(at + len);

	free(w->rest);
	w->rest = rest;
	return name;
}

int ours_open(const char *path, bool create, char **ret_why)
{
	_cleanup_(freep) char *here = path[0] == '/' ? NULL : path_real(".");
	struct way w = { .fd = -1, .at = STR_INIT, .create = create, .judged = is_root() };
	char *name;
	int r;

	*ret_why = NULL;
	w.rest = xasprintf("%s/%s", here ? here : "", path);
	r = stand_at(&w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), NULL, ret_why);
	while (r == 0 && (name = next_name(&w))) {
		r = step(&w, name, ret_why);
		free(name);
	}
	str_release(&w.at);
	free(w.rest);
	if (r == 0)
		return w.fd;
	if (w.fd >= 0)
		close(w.fd);
	return r;
}

int ours_alone(int fd, const char *path, char **ret_why)
{
	struct stat st;

	*ret_why = NULL;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (user_is_us(st.st_uid) && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	return refuse(!user_is_us(st.st_uid), path, ret_why);
}
