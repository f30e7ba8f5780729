/* SPDX-License-Identifier: GPL-3.0-or-later */
/* record.c - what `vprof record` does, for the tests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/runtime/record.h"
#include "tests/unit/cmocka_all.h"
#include "trace/read/reader.h"

struct recorded record(const char *program, const char *scenario, uint8_t level, size_t arena_bytes)
{
	struct drainer_options o = { .default_level = level, .arena_bytes = arena_bytes };

	return record_with(program, scenario, &o);
}

struct recorded record_with(const char *program, const char *scenario,
			    const struct drainer_options *options)
{
	char path[] = "trace-XXXXXX";
	struct diag diag = DIAG_INIT;
	struct drainer_options o = *options;
	struct recorded r = { 0 };
	struct drainer *d;
	int fd = mkstemp(path), status;
	pid_t pid;

	o.trace_path = path;
	assert_true(fd >= 0);
	close(fd);
	if (drainer_open(&o, &d, &diag))
		fail_msg("%s", diag.text);
	pid = fork();
	if (!pid) {
		putenv((char *)(uintptr_t)drainer_env(d));
#ifdef PRELOAD
		setenv("LD_PRELOAD", PRELOAD, 1);
#endif
		execl(program, program, scenario, (char *)NULL);
		_exit(127);
	}
	if (drainer_run(d, pid, &status, &diag))
		fail_msg("%s", diag.text);
	if (drainer_close(d, &r.stats, &diag))
		fail_msg("%s", diag.text);
	r.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (trace_read(path, NULL, &r.t, &diag))
		fail_msg("%s", diag.text);
	unlink(path);
	return r;
}

void recorded_release(struct recorded *r)
{
	trace_free(r->t);
	r->t = NULL;
}

size_t count_calls(const struct trace *t, const char *function)
{
	size_t cnt = 0;

	for (size_t i = 0; i < t->invocations.cnt; i++)
		cnt += !strcmp(t->functions.items[t->invocations.items[i].function].name, function);
	return cnt;
}

const struct invocation *find_call(const struct trace *t, const char *function, size_t n)
{
	for (size_t i = 0; i < t->invocations.cnt; i++)
		if (!strcmp(t->functions.items[t->invocations.items[i].function].name, function) &&
		    !n--)
			return &t->invocations.items[i];
	return NULL;
}
