/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file.c - files and paths.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"

enum { TEMPORARY_TRIES = 100 };

int file_read_open(int fd, char **ret, size_t *ret_len)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	char buffer[65536];
	ssize_t n;

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

/* Does not open what is not a plain file: opening alone can rewind a tape.  O_NONBLOCK covers an exchange
 * after the look. */
int file_open_plain(const char *path, int flags)
{
	struct stat st;
	int fd;

	if ((flags & O_NOFOLLOW ? lstat : stat)(path, &st) == 0 && !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : S_ISLNK(st.st_mode) ? -ELOOP : -FILE_NOT_PLAIN;
	fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -FILE_NOT_PLAIN;
}

const char *file_why(int err)
{
	return err == -FILE_NOT_PLAIN ? "it is not a plain file" : strerror(-err);
}

int file_read(const char *path, char **ret, size_t *ret_len)
{
	_cleanup_(closep) int fd = file_open_plain(path, O_RDONLY);

	return fd < 0 ? fd : file_read_open(fd, ret, ret_len);
}

int file_read_given(const char *path, char **ret, size_t *ret_len)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : file_read_open(fd, ret, ret_len);
}

int file_write_open(int fd, const char *data, size_t len)
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

/* NAME.tmp-PID-XXXXXXXX, a name that no one can predict.  ret_name: without its directory. */
static int make_temporary(int dir, const char *base, mode_t mode, char **ret_name)
{
	uint32_t lot;

	for (int i = 0; i < TEMPORARY_TRIES; i++) {
		_cleanup_(freep) char *name = NULL;
		int fd;

		if (getrandom(&lot, sizeof(lot), 0) != sizeof(lot))
			return -EIO;
		name = xasprintf("%s.tmp-%d-%08x", base, (int)getpid(), lot);
		fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (fd >= 0)
			*ret_name = TAKE_PTR(name);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
	return -EEXIST;
}

int file_write_by(const char *path, mode_t mode, int (*write)(int fd, void *arg), void *arg)
{
	_cleanup_(freep) char *folder = path_dir(path), *temporary = NULL;
	_cleanup_(closep) int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closep) int fd = -1;
	int r;

	if (dir < 0)
		return -errno;
	fd = make_temporary(dir, path_base(path), mode, &temporary);
	if (fd < 0)
		return fd;
	r = write(fd, arg);
	if (r == 0 && renameat(dir, temporary, dir, path_base(path)) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dir, temporary, 0);
	return r;
}

struct text {
	const char *data;
	size_t len;
};

static int write_text(int fd, void *arg)
{
	const struct text *text = arg;

	return file_write_open(fd, text->data, text->len);
}

int file_write(const char *path, const char *data, size_t len, mode_t mode)
{
	return file_write_by(path, mode, write_text, &(struct text){ data, len });
}

bool file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

mode_t file_mode(const char *path, mode_t otherwise)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_mode & 0777 : otherwise;
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

static int remove_at(int dir, const char *name);

/* Removes everything in the directory fd, and closes fd. */
static int empty_directory(int fd)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int r = 0;

	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while (r == 0 && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = remove_at(dirfd(dir), entry->d_name);
	closedir(dir);
	return r;
}

/* Works by descriptors, so that whatever replaces a directory meanwhile is not touched. */
static int remove_at(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r;

	if (fd < 0)
		return (errno == ENOTDIR || errno == ELOOP) && unlinkat(dir, name, 0) == 0 ? 0 : -errno;
	r = empty_directory(fd);
	return r == 0 && unlinkat(dir, name, AT_REMOVEDIR) < 0 ? -errno : r;
}

int remove_tree(const char *path)
{
	return remove_at(AT_FDCWD, path);
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
