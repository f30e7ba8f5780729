/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file.c - files and paths.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"

int file_read(const char *path, char **ret, size_t *ret_len)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_(str_release) struct str text = STR_INIT;
	char buffer[65536];
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, buffer, sizeof(buffer))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		str_addn(&text, buffer, (size_t)n);
	}
	if (ret_len)
		*ret_len = text.len;
	*ret = str_take(&text);
	return 0;
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

int file_write(const char *path, const char *data, size_t len, mode_t mode)
{
	_cleanup_(freep) char *temporary = xasprintf("%s.tmp-%d", path, (int)getpid());
	_cleanup_(closep) int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	int r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, data, len);
	if (r == 0 && rename(temporary, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(temporary);
	return r;
}

bool file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static int make_dir(const char *path, mode_t mode)
{
	struct stat st;

	if (mkdir(path, mode) == 0)
		return 0;
	if (errno != EEXIST || stat(path, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int make_dirs(const char *path, mode_t mode)
{
	_cleanup_(freep) char *copy = NULL;
	int r = make_dir(path, mode);

	if (r != -ENOENT)
		return r;
	copy = xstrdup(path);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, mode) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return make_dir(path, mode);
}

int remove_tree(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return errno == ENOTDIR || errno == ELOOP ? (unlink(path) < 0 ? -errno : 0) : -errno;
	while (r == 0 && (entry = readdir(dir))) {
		struct stat st;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		_cleanup_(freep) char *inner = path_join(path, entry->d_name);

		if (lstat(inner, &st) < 0)
			r = -errno;
		else if (S_ISDIR(st.st_mode))
			r = remove_tree(inner);
		else if (unlink(inner) < 0)
			r = -errno;
	}
	closedir(dir);
	if (r == 0 && rmdir(path) < 0)
		r = -errno;
	return r;
}

int copy_file(const char *from, const char *to)
{
	_cleanup_(freep) char *data = NULL;
	struct stat st;
	size_t len;
	int r;

	if (stat(from, &st) < 0)
		return -errno;
	r = file_read(from, &data, &len);
	if (r < 0)
		return r;
	return file_write(to, data, len, st.st_mode & 0777);
}

char *path_join(const char *dir, const char *name)
{
	if (name[0] == '/')
		return xstrdup(name);
	return xasprintf(ends_with(dir, "/") ? "%s%s" : "%s/%s", dir, name);
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *path_dir(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* "/a/b/../c/./d" -> "/a/c/d", in place; path is absolute. */
static void normalise(char *path)
{
	char *out = path;

	for (const char *in = path; *in;) {
		while (*in == '/')
			in++;
		size_t len = strcspn(in, "/");

		if (len == 2 && memcmp(in, "..", 2) == 0) {
			while (out > path && *--out != '/')
				;
		} else if (len && !(len == 1 && *in == '.')) {
			*out++ = '/';
			memmove(out, in, len);
			out += len;
		}
		in += len;
	}
	if (out == path)
		*out++ = '/';
	*out = '\0';
}

char *path_real(const char *path)
{
	char *real = realpath(path, NULL);

	if (real)
		return real;

	char here[PATH_MAX];

	if (path[0] != '/' && getcwd(here, sizeof(here)))
		real = path_join(here, path);
	else
		real = xstrdup(path);
	if (real[0] == '/')
		normalise(real);
	return real;
}

char *path_list_next(const char **list)
{
	const char *first = *list;
	size_t len = first ? strcspn(first, ":") : 0;

	if (!first)
		return NULL;
	*list = first[len] ? first + len + 1 : NULL;
	return xstrndup(len ? first : ".", len ? len : 1);
}

char *path_which(const char *name, const char *search)
{
	if (strchr(name, '/'))
		return access(name, X_OK) == 0 ? xstrdup(name) : NULL;
	if (!search)
		search = getenv("PATH");
	if (!search)
		search = "/usr/local/bin:/usr/bin:/bin";
	while (search) {
		_cleanup_(freep) char *folder = path_list_next(&search);
		_cleanup_(freep) char *path = path_join(folder, name);
		struct stat st;

		if (access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode))
			return TAKE_PTR(path);
	}
	return NULL;
}

char *path_self(void)
{
	return path_real("/proc/self/exe");
}

bool user_is_us(uid_t uid)
{
	const char *sudo = getenv("SUDO_UID");

	return uid == geteuid() || (geteuid() == 0 && sudo && strtoul(sudo, NULL, 10) == uid);
}

int file_unnamed(void)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return fd < 0 ? -errno : fd;
	if ((size_t)snprintf(path, sizeof(path), "%s/vprof-XXXXXX", dir) >= sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}
