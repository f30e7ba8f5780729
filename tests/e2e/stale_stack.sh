#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A stack full of addresses in a library that was unloaded: the search for callers must not read that code.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >gone.c <<'EOF'
int gone(int x) { volatile int a[64]; for (int i = 0; i < 64; i++) a[i] = x * i; return a[3] + a[x & 63]; }
EOF
cc -shared -fPIC -o gone.so gone.c || exit 99
cat >stale.c <<'EOF'
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Between the probed call and the one that waits: addresses of code that is there no longer. */
__attribute__((noinline)) void want(const char *code)
{
	const char *volatile stale[64];

	for (int i = 0; i < 64; i++)
		stale[i] = code + 16 + i;
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	(void)stale[0];
}

static void *hold(void *arg)
{
	struct timespec t = { 0, 5000000 };

	for (int i = 0; i < 40; i++) {
		pthread_mutex_lock(&lock);
		nanosleep(&t, NULL);
		pthread_mutex_unlock(&lock);
		nanosleep(&t, NULL);
	}
	return arg;
}

int main(void)
{
	void *plugin = dlopen("./gone.so", RTLD_NOW);
	const char *code = plugin ? dlsym(plugin, "gone") : NULL;
	pthread_t t;

	if (!code || dlclose(plugin))
		return 9;
	pthread_create(&t, NULL, hold, NULL);
	usleep(1000);
	for (int i = 0; i < 40; i++)
		want(code);
	pthread_join(t, NULL);
	puts("whole");
	return 0;
}
EOF
expect 0 "$VPROF" annotate --start want --end want
expect 0 "$VPROF" build --functions want -- cc -O1 -o stale stale.c -lpthread -ldl
expect 0 "$VPROF" record -- ./stale
says whole "40 intervals of 'request'"
finish
