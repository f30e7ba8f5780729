/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * catch_exec.c - libvprof-exec.so: compilers that a build calls by an absolute path.
 *
 * The links that `vprof build` puts first on PATH do not work for a build that stored its compiler's path when it was
 * configured, as cmake does:
 *
 *	/usr/bin/cc -O2 -c log.c -o log.o
 *
 * This library, preloaded into the tools of the build, makes of it, at the moment of exec,
 *
 *	vprof cc /usr/bin/cc -O2 -c log.c -o log.o
 *
 * so that a tree that was configured long ago can be built with probes, and nothing of vprof is written into it.
 * Bare names are left to the links.  Three variables of the environment control it: VPROF_LAUNCHER (the program),
 * VPROF_LINKS (the directory of the links), VPROF_CAUGHT (set by the launcher: what it runs is the real compiler).  A
 * static make, or one that clears its environment, is not caught.
 *
 * The calls may come between vfork and exec: no memory is allocated, nothing is kept.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include "instrumenter/parse/compiler_name.h"

#define EXPORT __attribute__((visibility("default")))

extern char **environ;

typedef int exec_call(const char *path, char *const *argv, char *const *env);
typedef int spawn_call(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const *argv, char *const *env);

static struct {
	exec_call *execve, *execvpe;
	spawn_call *posix_spawn, *posix_spawnp;
} real;

static void __attribute__((constructor)) find_real_calls(void)
{
	real.execve = (exec_call *)dlsym(RTLD_NEXT, "execve");
	real.execvpe = (exec_call *)dlsym(RTLD_NEXT, "execvpe");
	real.posix_spawn = (spawn_call *)dlsym(RTLD_NEXT, "posix_spawn");
	real.posix_spawnp = (spawn_call *)dlsym(RTLD_NEXT, "posix_spawnp");
}

static const char *variable(char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (; env && *env; env++)
		if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
			return *env + len + 1;
	return NULL;
}

/* The launcher, if path is a compiler that must be called through it; else NULL. */
static const char *launcher_for(const char *path, char *const *env)
{
	const char *launcher, *links, *slash = path ? strrchr(path, '/') : NULL;

	if (!slash || !is_compiler_name(slash + 1) || variable(env, "VPROF_CAUGHT"))
		return NULL;
	launcher = variable(env, "VPROF_LAUNCHER");
	links = variable(env, "VPROF_LINKS");
	if (!launcher || !*launcher || !links || access(path, X_OK) < 0)
		return NULL;
	if (strncmp(path, links, strlen(links)) == 0 && path + strlen(links) == slash)
		return NULL;
	return launcher;
}

static size_t word_cnt(char *const *argv)
{
	size_t cnt = 0;

	while (argv[cnt])
		cnt++;
	return cnt;
}

/* "gcc -c a.c", the program path -> launcher cc path -c a.c.  ret has room for all of argv and 3 more. */
static void put_launcher_before(const char *launcher, const char *path, char *const *argv, char **ret)
{
	ret[0] = (char *)launcher;
	ret[1] = (char *)"cc";
	ret[2] = (char *)path;
	for (size_t i = 1; argv[0] && argv[i - 1]; i++)
		ret[i + 2] = argv[i];		/* with the NULL */
}

#define LAUNCHED(launcher, path, argv) ({ \
	char **words_ = alloca((word_cnt(argv) + 4) * sizeof(char *)); \
	words_[3] = NULL; \
	put_launcher_before(launcher, path, argv, words_); \
	words_; })

static int run(exec_call *call, const char *path, char *const *argv, char *const *env)
{
	const char *launcher = argv ? launcher_for(path, env) : NULL;

	if (!call) {
		errno = ENOSYS;
		return -1;
	}
	return launcher ? real.execve(launcher, LAUNCHED(launcher, path, argv), env) :
			  call(path, argv, env);
}

EXPORT int execve(const char *path, char *const argv[], char *const env[])
{
	return run(real.execve, path, argv, env);
}

EXPORT int execv(const char *path, char *const argv[])
{
	return run(real.execve, path, argv, environ);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const env[])
{
	return run(real.execvpe, file, argv, env);
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return run(real.execvpe, file, argv, environ);
}

/* The words of execl(path, first, ...), and the environment that follows them in execle(). */
#define LISTED_WORDS(first, with_env, words, env) \
	va_list ap; \
	size_t cnt = 0; \
	va_start(ap, first); \
	for (const char *word = first; word; word = va_arg(ap, char *)) \
		cnt++; \
	va_end(ap); \
	char **words = alloca((cnt + 1) * sizeof(char *)); \
	va_start(ap, first); \
	words[0] = (char *)first; \
	for (size_t i = 1; i <= cnt; i++) \
		words[i] = va_arg(ap, char *); \
	char *const *env = with_env ? va_arg(ap, char *const *) : environ; \
	va_end(ap)

EXPORT int execl(const char *path, const char *first, ...)
{
	LISTED_WORDS(first, 0, words, env);
	return run(real.execve, path, words, env);
}

EXPORT int execle(const char *path, const char *first, ...)
{
	LISTED_WORDS(first, 1, words, env);
	return run(real.execve, path, words, env);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	LISTED_WORDS(first, 0, words, env);
	return run(real.execvpe, file, words, env);
}

static int spawn(spawn_call *call, pid_t *pid, const char *path,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
		 char *const *argv, char *const *env)
{
	const char *launcher = argv ? launcher_for(path, env) : NULL;

	if (!call)
		return ENOSYS;
	return launcher ? real.posix_spawn(pid, launcher, actions, attributes,
					   LAUNCHED(launcher, path, argv), env) :
			  call(pid, path, actions, attributes, argv, env);
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
	return spawn(real.posix_spawn, pid, path, actions, attributes, argv, env);
}

EXPORT int posix_spawnp(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
	return spawn(real.posix_spawnp, pid, path, actions, attributes, argv, env);
}
