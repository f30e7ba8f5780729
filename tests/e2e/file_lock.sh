#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A lock of a file goes with the file: processes that never say LOCK_UN.  Its holder has a name, also without a probe there.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >server.c <<'C'
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Another process: holds the lock for 5 ms now and then. */
__attribute__((noinline)) void rotate(void)
{
	int fd = open("locked", O_RDWR | O_CREAT, 0600);

	flock(fd, LOCK_EX);
	usleep(5000);
	close(fd);
}

__attribute__((noinline)) void count(void)
{
	int fd = open("locked", O_RDWR | O_CREAT, 0600);

	flock(fd, LOCK_EX);
	close(fd);
}

__attribute__((noinline)) void handle(void)
{
	count();
}

int main(void)
{
	pid_t other = fork();

	if (!other) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			usleep(20000);
			rotate();
		}
	}
	for (int i = 0; i < 400; i++) {
		handle();
		usleep(1000);
	}
	kill(other, SIGKILL);
	return waitpid(other, NULL, 0) != other;
}
C
expect 0 "$VPROF" annotate --start handle --end handle
expect 0 "$VPROF" build -- cc -O1 -o server server.c
# If others use the CPUs, the lock may be the lesser wait: once more.
for try in 1 2 3; do
	expect 0 "$VPROF" record -- ./server
	expect 0 "$VPROF" show causes --format json
	python3 - "$work/.out" >first <<'P'
import json, sys
c = json.load(open(sys.argv[1]))["causes"]
locks = [x for x in c if x["how"] == "lock"]
print(locks[0]["function"] if locks else None, [(x["function"], x["share"]) for x in c[:4]])
P
	grep -q '^rotate ' first && break
done
grep -q '^rotate ' first && pass || fail "the lock's first holder: $(cat first)"
finish
