#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# libvprof-exec.so: every call that starts a program finds the launcher before a compiler that is called by
# a path, and nothing before anything else.
set -u
library=$PWD/libvprof-exec.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
failed=0

cat > call.c <<'EOF'
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static int spawned(int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
				const posix_spawnattr_t *, char *const *, char *const *),
		   const char *path, char **argv)
{
	pid_t pid;
	int status = 1, err = spawn(&pid, path, 0, 0, argv, environ);

	if (err) {
		fprintf(stderr, "%s\n", strerror(err));
		return 127;
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}
int main(int argc, char **argv)
{
	const char *how = argv[1], *path = argv[2];
	char *words[] = { argv[2], "-c", "a b.c", 0 }, *empty[] = { 0 };

	if (argc != 3)
		return 99;
	if (!strcmp(how, "execve")) execve(path, words, environ);
	if (!strcmp(how, "execv")) execv(path, words);
	if (!strcmp(how, "execvp")) execvp(path, words);
	if (!strcmp(how, "execvpe")) execvpe(path, words, environ);
	if (!strcmp(how, "execl")) execl(path, path, "-c", "a b.c", (char *)0);
	if (!strcmp(how, "execlp")) execlp(path, path, "-c", "a b.c", (char *)0);
	if (!strcmp(how, "execle")) execle(path, path, "-c", "a b.c", (char *)0, environ);
	if (!strcmp(how, "posix_spawn")) return spawned(posix_spawn, path, words);
	if (!strcmp(how, "posix_spawnp")) return spawned(posix_spawnp, path, words);
	if (!strcmp(how, "empty")) execv(path, empty);
	if (!strcmp(how, "vfork")) {
		int status = 1;
		pid_t pid = vfork();
		if (pid == 0) {
			execv(path, words);
			_exit(127);
		}
		waitpid(pid, &status, 0);
		return WEXITSTATUS(status);
	}
	perror("exec");
	return 127;
}
EOF
gcc -D_GNU_SOURCE -w call.c -o call || exit 99
mkdir tools links
for tool in tools/gcc tools/x86_64-linux-gnu-g++-12 tools/ccache tools/gcc-ar links/gcc; do
	printf '#!/bin/sh\necho "%s: $*"\n' $tool > $tool
done
printf '#!/bin/sh\necho "launcher: $*"\n' > launcher
chmod +x tools/* links/* launcher

# called EXPECTED HOW PATH [VARIABLE=VALUE]
called() {
	want=$1 how=$2 path=$3
	shift 3
	got=$(env PATH="$work/tools:$PATH" LD_PRELOAD="$library" VPROF_LAUNCHER="$work/launcher" VPROF_LINKS="$work/links" "$@" \
		./call "$how" "$path" 2>&1)
	[ "$got" = "$want" ] || { echo "FAIL: $how $path $*: '$got', not '$want'"; failed=$((failed + 1)); }
}

for how in execve execv execvp execvpe execl execlp execle posix_spawn posix_spawnp vfork; do
	called "launcher: cc $work/tools/gcc -c a b.c" "$how" "$work/tools/gcc"
	called "tools/gcc-ar: -c a b.c" "$how" "$work/tools/gcc-ar"
done
called "launcher: cc tools/gcc -c a b.c" execve tools/gcc
called "launcher: cc tools/x86_64-linux-gnu-g++-12 -c a b.c" execve tools/x86_64-linux-gnu-g++-12
called "launcher: cc tools/ccache -c a b.c" posix_spawn tools/ccache
called "launcher: cc tools/gcc" empty tools/gcc
# A bare name is for the links on PATH; what the links lead to, and what the launcher runs, goes its way.
called "tools/gcc: -c a b.c" execvp gcc
called "links/gcc: -c a b.c" execve "$work/links/gcc"
called "tools/gcc: -c a b.c" execve tools/gcc VPROF_CAUGHT=1
called "tools/gcc: -c a b.c" execve tools/gcc VPROF_LAUNCHER=
called "exec: No such file or directory" execve tools/clang
called "No such file or directory" posix_spawn tools/clang
echo "$failed failures"
[ $failed = 0 ]
