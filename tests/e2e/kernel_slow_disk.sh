#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A disk that blocks writers for a while loses no records, although more records arrive than the kernel's buffer for them can hold.
. "${srcdir:-.}/tests/e2e/lib.sh"

needs_kernel_recorder

# A shim instead of a slow disk: writes to the kernel's trace are 0.4 s late, except for its few first bytes.
cat >slow.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

ssize_t write(int fd, const void *data, size_t len)
{
	static ssize_t (*next)(int, const void *, size_t);
	char link[64], path[4096] = "";

	if (!next)
		next = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (len > 4096 && readlink(link, path, sizeof(path) - 1) > 0 && strstr(path, ".vpk")) {
		close(open("was_late", O_CREAT | O_WRONLY, 0600));
		usleep(400000);
	}
	return next(fd, data, len);
}
END
gcc -Wall -Wextra -Werror -O1 -fPIC -shared slow.c -o slow.so -ldl || exit 99
# Two threads that sleep and wake up, together 40,000 times, on an idle machine in two seconds.
cat >sleeps.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

static void *sleeps(void *nothing)
{
	prctl(PR_SET_TIMERSLACK, 1);
	for (int i = 0; i < 20000; i++)
		nanosleep(&(struct timespec){ 0, 50000 }, 0);
	return nothing;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, 0, sleeps, 0);
	sleeps(0);
	return pthread_join(thread, 0);
}
END
gcc -Wall -Wextra -Werror -O1 sleeps.c -o sleeps -lpthread || exit 99

# The recorded program must not be late, so env takes the shim away again.
expect 3 env ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD="$PWD/slow.so" \
	"$VPROF" record --kernel=require --buffer 1 -- env -u LD_PRELOAD ./sleeps
[ -f was_late ] && pass || fail "the disk was not slow, so nothing was asked"
waits=$("$VPROF" export --format tuples | awk '$1 == "segment" && $6 == "sleep"' | wc -l)
lost=$("$VPROF" sql --format csv 'SELECT lost_records FROM run' | tail -1)
[ "$lost" = 0 ] && [ "$waits" -ge 30000 ] && pass || fail "$lost records are lost; $waits waits"

finish
