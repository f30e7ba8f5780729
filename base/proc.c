/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * proc.c - running other programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/proc.h"

static void add_owned(struct args *a, char *word)
{
	if (a->cnt + 2 > a->cap) {
		a->cap = a->cap ? a->cap * 2 : 16;
		a->items = xrealloc(a->items, a->cap, sizeof(*a->items));
	}
	a->items[a->cnt++] = word;
	a->items[a->cnt] = NULL;
}

void args_add(struct args *a, const char *word)
{
	add_owned(a, xstrdup(word));
}

void args_addf(struct args *a, const char *fmt, ...)
{
	struct str word = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&word, fmt, ap);
	va_end(ap);
	add_owned(a, str_take(&word));
}

void args_add_all(struct args *a, char *const *words)
{
	for (; *words; words++)
		args_add(a, *words);
}

void args_release(struct args *a)
{
	for (size_t i = 0; i < a->cnt; i++)
		free(a->items[i]);
	free(a->items);
	*a = (struct args)ARGS_INIT;
}

int proc_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

struct capture {
	struct str *text;		/* NULL: not collected */
	int read_fd, write_fd;		/* of the pipe; -1 */
};

static int open_capture(struct capture *c)
{
	int fds[2];

	if (!c->text)
		return 0;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	c->read_fd = fds[0];
	c->write_fd = fds[1];
	return 0;
}

static void close_capture(struct capture *c)
{
	closep(&c->read_fd);
	closep(&c->write_fd);
	c->read_fd = c->write_fd = -1;
}

/* In the child: never returns. An exec that failed is told through report_fd. */
static void become(char *const *argv, const struct proc_options *o, const struct capture *out,
		   const struct capture *err, int report_fd)
{
	int failure = 0;

	if (o->quiet) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	if (out->text)
		dup2(out->write_fd, STDOUT_FILENO);
	if (err->text)
		dup2(err->write_fd, STDERR_FILENO);
	if (o->err_to_out)
		dup2(STDOUT_FILENO, STDERR_FILENO);
	for (const char *const *name = o->unset; name && *name; name++)
		unsetenv(*name);
	if (o->dir && chdir(o->dir) < 0)
		failure = errno;
	if (!failure) {
		execvp(argv[0], argv);
		failure = errno;
	}
	if (write(report_fd, &failure, sizeof(failure)) < 0)
		_exit(126);
	_exit(127);
}

/* Until both pipes have ended. */
static void collect(struct capture *out, struct capture *err)
{
	struct capture *captures[2] = { out, err };
	char buffer[65536];

	while (out->read_fd >= 0 || err->read_fd >= 0) {
		struct pollfd fds[2] = { { .fd = out->read_fd, .events = POLLIN },
					 { .fd = err->read_fd, .events = POLLIN } };

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		for (int i = 0; i < 2; i++) {
			if (fds[i].fd < 0 || !fds[i].revents)
				continue;
			ssize_t n = read(fds[i].fd, buffer, sizeof(buffer));

			if (n > 0)
				str_addn(captures[i]->text, buffer, (size_t)n);
			else if (n == 0 || errno != EINTR)
				close_capture(captures[i]);
		}
	}
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return proc_status(status);
}

int proc_run(char *const *argv, const struct proc_options *options)
{
	static const struct proc_options inherit_all;
	const struct proc_options *o = options ? options : &inherit_all;
	_cleanup_(close_capture) struct capture out = { o->out, -1, -1 }, err = { o->err, -1, -1 };
	_cleanup_(close_capture) struct capture report = { NULL, -1, -1 };
	int failure = 0, fds[2];

	if (open_capture(&out) < 0 || open_capture(&err) < 0 || pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	report.read_fd = fds[0];
	report.write_fd = fds[1];

	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0)
		become(argv, o, &out, &err, report.write_fd);
	closep(&report.write_fd);
	closep(&out.write_fd);
	closep(&err.write_fd);
	report.write_fd = out.write_fd = err.write_fd = -1;
	if (read(report.read_fd, &failure, sizeof(failure)) != sizeof(failure))
		failure = 0;
	collect(&out, &err);

	int status = wait_for(pid);

	return failure ? -failure : status;
}
