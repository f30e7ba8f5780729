/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * proc.c - running other programs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
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
	int read_fd, write_fd;		/* of the pipe; -1: closed */
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

/* Sets the program's stdin, stdout, stderr and directory. */
static void arrange(posix_spawn_file_actions_t *actions, const struct proc_options *o, const struct capture *out,
		    const struct capture *err)
{
	if (o->quiet) {
		posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_RDWR, 0);
		posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, STDERR_FILENO);
	}
	if (out->text)
		posix_spawn_file_actions_adddup2(actions, out->write_fd, STDOUT_FILENO);
	if (err->text)
		posix_spawn_file_actions_adddup2(actions, err->write_fd, STDERR_FILENO);
	if (o->err_to_out)
		posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, STDERR_FILENO);
	if (o->dir)
		posix_spawn_file_actions_addchdir_np(actions, o->dir);
}

static bool is_unset(const char *variable, const char *const *names)
{
	for (; names && *names; names++) {
		size_t len = strlen(*names);

		if (strncmp(variable, *names, len) == 0 && variable[len] == '=')
			return true;
	}
	return false;
}

/* The environment without the variables of options->unset; the strings are not copied. */
static char **environment_for(const struct proc_options *o)
{
	size_t cnt = 0, kept = 0;
	char **env;

	while (environ && environ[cnt])
		cnt++;
	env = xcalloc(cnt + 1, sizeof(*env));
	for (size_t i = 0; i < cnt; i++)
		if (!is_unset(environ[i], o->unset))
			env[kept++] = environ[i];
	return env;
}

/* Runs a script without a #! line with the shell, as execvp() does. */
static int spawn_script(pid_t *ret, char *const *argv, const posix_spawn_file_actions_t *actions, char *const *env)
{
	_cleanup_(freep) char *path = path_which(argv[0], NULL);
	_cleanup_(args_release) struct args a = ARGS_INIT;

	args_add(&a, "/bin/sh");
	args_add(&a, path ? path : argv[0]);
	args_add_all(&a, argv + 1);
	return posix_spawn(ret, a.items[0], actions, NULL, a.items, env);
}

/* ---- one that ends with us ---- */

#define TREE_MAX 4096

/* Stops the processes of pid's tree that are not stopped yet.  Processes of another session, such as a server
 * that is there to stay, are left alone. */
static size_t stop_tree(pid_t pid, pid_t *stopped, size_t cnt)
{
	pid_t *tree = xcalloc(TREE_MAX, sizeof(*tree));
	size_t n = proc_tree(pid, tree, TREE_MAX);

	for (size_t i = 0; i < n; i++) {
		bool known = getsid(tree[i]) != getsid(0);

		for (size_t k = 0; k < cnt; k++)
			known |= stopped[k] == tree[i];
		if (!known && cnt < TREE_MAX && kill(tree[i], SIGSTOP) == 0)
			stopped[cnt++] = tree[i];
	}
	free(tree);
	return cnt;
}

/* Sends TERM to the whole tree.  Its processes are stopped first, so that none starts another meanwhile. */
static void end_tree(pid_t pid)
{
	pid_t *stopped = xcalloc(TREE_MAX, sizeof(*stopped));
	size_t cnt = 0, before;

	do {
		before = cnt;
		cnt = stop_tree(pid, stopped, cnt);
	} while (cnt != before);
	for (size_t i = 0; i < cnt; i++)
		kill(stopped[i], SIGTERM);
	for (size_t i = 0; i < cnt; i++)
		kill(stopped[i], SIGCONT);
	free(stopped);
}

/* Stands between us and the program: passes its exit status on, and ends it if we are gone. */
static void keep(pid_t pid)
{
	sigset_t set;
	int status;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	for (;;) {
		if (sigwaitinfo(&set, NULL) == SIGTERM) {
			end_tree(pid);
			_exit(128 + SIGTERM);
		}
		if (waitpid(pid, &status, WNOHANG) == pid)
			_exit(proc_status(status));
	}
}

static void become(char *const *argv, const char *path, const struct proc_options *o, const struct capture *out,
		   const struct capture *err, char *const *env)
{
	if (o->quiet) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	if (out->text)
		dup2(out->write_fd, STDOUT_FILENO);
	if (err->text)
		dup2(err->write_fd, STDERR_FILENO);
	if (o->err_to_out)
		dup2(STDOUT_FILENO, STDERR_FILENO);
	if (o->dir && chdir(o->dir) < 0)
		_exit(127);
	execvpe(path, argv, env);
	_exit(errno == ENOENT ? 127 : 126);
}

/* Starts a keeper, which starts argv. */
static int start_kept(pid_t *ret, char *const *argv, const struct proc_options *o, const struct capture *out,
		      const struct capture *err, char *const *env)
{
	bool is_below_dir = o->dir && strchr(argv[0], '/') && argv[0][0] != '/';
	_cleanup_(freep) char *path = is_below_dir ? path_join(o->dir, argv[0]) : path_which(argv[0], NULL);
	pid_t us = getpid(), pid;
	sigset_t all, before;

	if (!path || access(path, X_OK) < 0)
		return -ENOENT;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	*ret = fork();
	if (*ret != 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		return *ret < 0 ? -errno : 0;
	}
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != us)
		_exit(128 + SIGTERM);
	pid = fork();
	if (pid < 0)
		_exit(126);
	if (pid > 0)
		keep(pid);
	sigprocmask(SIG_SETMASK, &before, NULL);
	become(argv, is_below_dir ? argv[0] : path, o, out, err, env);
	return 0;
}

/* 0, or a negative errno.  Unlike fork(), does not copy the memory of this process, which may be large. */
static int start(pid_t *ret, char *const *argv, const struct proc_options *o, const struct capture *out,
		 const struct capture *err)
{
	_cleanup_(freep) char **env = environment_for(o);
	posix_spawn_file_actions_t actions;
	int failure;

	if (o->ends_with_us)
		return start_kept(ret, argv, o, out, err, env);
	posix_spawn_file_actions_init(&actions);
	arrange(&actions, o, out, err);
	failure = posix_spawnp(ret, argv[0], &actions, NULL, argv, env);
	if (failure == ENOEXEC)
		failure = spawn_script(ret, argv, &actions, env);
	posix_spawn_file_actions_destroy(&actions);
	return -failure;
}

#define ROUNDS_MAX 64

static void take_text(struct capture *c)
{
	char buffer[65536];
	ssize_t n = read(c->read_fd, buffer, sizeof(buffer));

	if (n > 0)
		str_addn(c->text, buffer, (size_t)n);
	else if (n == 0 || errno != EINTR)
		close_capture(c);
}

/* Reads until both pipes end, or until the program has ended and the pipes are empty: a child, such as a
 * compiler cache's server, may keep them open. */
static void collect(pid_t pid, struct capture *out, struct capture *err)
{
	_cleanup_(closep) int ended = (int)syscall(SYS_pidfd_open, pid, 0);
	int gone = 0;			/* rounds since the program ended; a few empty a pipe */

	while (gone < ROUNDS_MAX && (out->read_fd >= 0 || err->read_fd >= 0)) {
		struct pollfd fds[3] = { { .fd = out->read_fd, .events = POLLIN }, { .fd = err->read_fd, .events = POLLIN },
					 { .fd = gone ? -1 : ended, .events = POLLIN } };
		int cnt = poll(fds, 3, gone ? 0 : -1);

		if ((cnt < 0 && errno != EINTR) || (cnt == 0 && gone))
			return;
		if (cnt <= 0)
			continue;
		if (fds[0].revents)
			take_text(out);
		if (fds[1].revents)
			take_text(err);
		if (fds[2].revents || gone)
			gone++;
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
	pid_t pid;
	int r;

	if (open_capture(&out) < 0 || open_capture(&err) < 0)
		return -errno;
	r = start(&pid, argv, o, &out, &err);
	if (r < 0)
		return r;
	closep(&out.write_fd);
	closep(&err.write_fd);
	out.write_fd = err.write_fd = -1;
	collect(pid, &out, &err);
	return wait_for(pid);
}

/* "S 1 ...", what comes after the name in "4711 (a (odd) name) S 1 ...": the name may hold anything, the last bracket is its end. */
static int read_stat(pid_t pid, char *text, size_t size, const char **ret)
{
	char path[64];
	const char *bracket;
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	len = fread(text, 1, size - 1, f);
	fclose(f);
	text[len] = '\0';
	bracket = strrchr(text, ')');
	if (!bracket || strlen(bracket) < 5)
		return -ESRCH;		/* it ended meanwhile */
	*ret = bracket + 2;
	return 0;
}

int proc_stat(pid_t pid, char *ret_state, pid_t *ret_parent)
{
	const char *stat;
	char text[512];
	int r = read_stat(pid, text, sizeof(text), &stat);

	if (r)
		return r;
	*ret_state = *stat;
	*ret_parent = (pid_t)strtol(stat + 2, NULL, 10);
	return 0;
}

/* The number of threads is 17 words after the state; one that has ended counts only if it is the first. */
static long thread_cnt_of(const char *stat)
{
	for (int i = 0; stat && i < 17; i++) {
		stat = strchr(stat, ' ');
		stat = stat ? stat + 1 : NULL;
	}
	return stat ? strtol(stat, NULL, 10) : 0;
}

bool proc_has_ended(pid_t pid)
{
	const char *stat;
	char text[512];
	int r = read_stat(pid, text, sizeof(text), &stat);

	if (r)
		return r == -ESRCH && kill(pid, 0) && errno == ESRCH;
	return (*stat == 'Z' && thread_cnt_of(stat) <= 1) || *stat == 'X';
}

static pid_t parent_of(pid_t pid)
{
	pid_t parent;
	char state;

	return proc_stat(pid, &state, &parent) ? 0 : parent;
}

size_t proc_tree(pid_t pid, pid_t *tree, size_t max)
{
	DIR *proc = opendir("/proc");
	size_t cnt = 1, before = 0;
	struct dirent *e;

	tree[0] = pid;
	while (proc && before != cnt) {		/* until no new one is found */
		before = cnt;
		rewinddir(proc);
		while ((e = readdir(proc))) {
			pid_t child = (pid_t)strtol(e->d_name, NULL, 10), parent = child > 0 ? parent_of(child) : 0;
			bool is_new = parent > 0 && cnt < max, of_tree = false;

			for (size_t i = 0; i < cnt; i++) {
				is_new &= tree[i] != child;
				of_tree |= tree[i] == parent;
			}
			if (is_new && of_tree)
				tree[cnt++] = child;
		}
	}
	if (proc)
		closedir(proc);
	return cnt;
}
