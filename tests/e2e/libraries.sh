#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Calls from a library that vprof has not built are seen, each once, also if it is loaded while the
# program runs; and dlsym() still knows its caller.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >plugin.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void plugin_lock(void) { pthread_mutex_lock(&m); }
void plugin_unlock(void) { pthread_mutex_unlock(&m); }
void *plugin_mutex(void) { return &m; }
/* The function behind this library's own: asked for from anywhere else it is another one. */
int plugin_next(void) { int (*f)(void) = (int (*)(void))dlsym(RTLD_NEXT, "who"); return f ? f() : -1; }
int who(void) { return 1; }
END
cat >second.c <<'END'
int who(void) { return 2; }
END
cat >program.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static void (*lock)(void), (*unlock)(void);
static void *plugins;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static volatile int wanted, held;
/* The main thread is asleep in the kernel for this mutex: on a busy machine it may get there any time. */
static void until_it_waits(void *mutex)
{
	char path[64], text[256], *at;
	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)getpid());
	for (;;) {
		int fd = open(path, O_RDONLY);
		ssize_t n = read(fd, text, sizeof(text) - 1);
		close(fd);
		if (n <= 0)
			abort();
		text[n] = 0;
		if (strtol(text, &at, 10) == SYS_futex && strtoul(at, NULL, 16) == (unsigned long)mutex)
			return;
		usleep(100);
	}
}
static void holder(void)
{
	lock();
	pthread_mutex_lock(&own);
	held = 1;
	until_it_waits(&own);
	usleep(20000);
	pthread_mutex_unlock(&own);
	until_it_waits(plugins);
	usleep(20000);
	unlock();
}
/* Exists before the library is loaded: no thread is created after that. */
static void *run(void *arg)
{
	for (int i = 1; i <= 5; i++) {
		while (wanted < i)
			usleep(100);
		holder();
	}
	return arg;
}
static void request(void)
{
	pthread_mutex_lock(&own);
	pthread_mutex_unlock(&own);
	lock();
	unlock();
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, run, NULL);
	void *plugin = dlopen("./libplugin.so", RTLD_NOW);
	lock = (void (*)(void))dlsym(plugin, "plugin_lock");
	unlock = (void (*)(void))dlsym(plugin, "plugin_unlock");
	plugins = ((void *(*)(void))dlsym(plugin, "plugin_mutex"))();
	for (int i = 1; i <= 5; i++) {
		held = 0;
		wanted = i;
		while (!held)
			usleep(100);
		request();
	}
	pthread_join(t, NULL);
	printf("%d\n", ((int (*)(void))dlsym(plugin, "plugin_next"))());
	return 0;
}
END
printf '[interval "request"]\nstart = request\nend = request\n' >vprof.conf
expect 0 gcc -shared -fPIC second.c -o libsecond.so
for binding in lazy now; do
	expect 0 gcc -shared -fPIC -O2 -Wl,-z,$binding -Wl,-z,relro plugin.c -o libplugin.so -L. \
		-Wl,--no-as-needed -lsecond -Wl,-rpath,"$PWD"
	expect 0 "$VPROF" build --functions all -- gcc -O1 -pthread program.c -o program
	expect 0 ./program
	[ "$(cat .out)" = 2 ] && pass || fail "$binding: dlsym() answers $(cat .out)"
	expect 0 "$VPROF" record -- ./program
	[ "$(cat .out)" = 2 ] && pass || fail "$binding: dlsym() answers $(cat .out) when recorded"
	expect 0 "$VPROF" export
	# Two waits a request, for the program's own lock and for the library's: 20 ms each.
	awk '$1 == "segment" && $3 != "-" && $6 == "lock" && $5 - $4 > 5000000 { n++ }
		$1 == "segment" && $3 != "-" && $6 != "running" && $6 != "lock" && $6 != "runnable" { other++ }
		END { print n + 0, other + 0; exit !(n == 10 && !other) }' .out >waits &&
		pass || fail "$binding: $(cat waits) waits, not 10 0"
done

# Each builtin of the tables has its wrapper and each wrapper its line in a table.
grep -h '^builtin [a-z]' "$top"/annotations/*.sync | grep -v :: | awk '{ print $2 }' | sort >listed
sed '/STREAM_WRAPPERS(X)/d; /_ALIASES(X)/,$d' "$top/runtime/wrappers/wrappers.h" |
	sed -n 's/^\tX([^,]*, \([a-z0-9_]*\),.*/\1/p' | sort >wrapped
diff listed wrapped && [ -s wrapped ] && pass || fail "the tables and runtime/wrappers/wrappers.h differ"

# A program with functions of the C library of its own, probes in them: what the runtime itself calls leads to them.
cat >own.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static int cnt;
pid_t getpid(void) { __atomic_add_fetch(&cnt, 1, __ATOMIC_RELAXED); return (pid_t)syscall(SYS_getpid); }
__attribute__((noinline)) static void request(void) { cnt++; }
static void *work(void *arg) { request(); return arg; }
int main(void)
{
	pthread_t t;

	request();
	if (pthread_create(&t, NULL, work, NULL) || pthread_join(t, NULL))
		return 1;
	puts("done");
	return 0;
}
END
expect 0 "$VPROF" build --functions all -- gcc -O1 -pthread own.c -o own
expect 0 "$VPROF" record -- ./own
says done "2 intervals of 'request'"

finish
