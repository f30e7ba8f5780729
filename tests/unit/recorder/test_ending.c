/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_ending.c - requests that are answered after recorder_end_exchanges() do not count, though the programs are attached still.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/recorder.h"
#include "tests/unit/cmocka_all.h"
#include "trace/kernel/kernel.h"

enum { BEFORE = 5, AFTER = 7 };

/* In a process of its own: answers byte by byte. */
static void serve(int listener)
{
	int fd = accept(listener, NULL, NULL);
	char byte;

	while (read(fd, &byte, 1) == 1 && write(fd, &byte, 1) == 1)
		;
	_exit(0);
}

static void ask(int fd, int times)
{
	char byte = 'q';

	for (int i = 0; i < times; i++) {
		assert_int_equal(write(fd, &byte, 1), 1);
		assert_int_equal(read(fd, &byte, 1), 1);
	}
}

static size_t exchanges_of(const char *path)
{
	struct kernel_trace k = { .arena = NULL };
	struct diag diag = DIAG_INIT;
	size_t cnt;

	assert_int_equal(kernel_read(&k, path, &diag), 0);
	cnt = k.exchanges.cnt;
	kernel_release(&k);
	return cnt;
}

static void test_ending(void **state)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct recorder_options o = { .path = "test_ending.vpk", .exchanges = 1 };
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd, e;
	socklen_t len = sizeof(a);
	struct diag diag = DIAG_INIT;
	struct recorder *r;

	(void)state;
	assert_int_equal(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &len), 0);
	o.pid = fork();
	if (!o.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(listener);
	}
	fd = socket(AF_INET, SOCK_STREAM, 0);	/* the server must not have it, too */
	e = recorder_open(&o, &r, &diag);
	if (e == -EPERM || e == -ENOSYS || e == -EACCES) {
		kill(o.pid, SIGKILL);
		skip();			/* it is not permitted here, or vprof was built without it */
	}
	assert_int_equal(e, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ask(fd, BEFORE);
	recorder_end_exchanges(r);
	ask(fd, AFTER);
	assert_int_equal(recorder_close(r, NULL, &diag), 0);
	close(fd);
	close(listener);
	assert_int_equal(waitpid(o.pid, NULL, 0), o.pid);
	assert_int_equal(exchanges_of(o.path), BEFORE);
	unlink(o.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ending),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
