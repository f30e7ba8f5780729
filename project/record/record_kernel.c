/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_kernel.c - `vprof record --kernel`: the recorder in the kernel beside the drainer.
 *
 * What it writes is kept in the run's directory as kernel.vpk.  Without it, waits are still known from the
 * primitives; so `auto` continues and reports once what is missing.
 */
#include <errno.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "drainer/experiments.h"
#include "project/notices.h"
#include "project/record/record_steps.h"

bool kernel_mode_parse(const char *text, enum kernel_mode *ret)
{
	if (!text || strcmp(text, "off") == 0)
		*ret = KERNEL_MODE_OFF;
	else if (!*text || strcmp(text, "auto") == 0)
		*ret = KERNEL_MODE_AUTO;
	else if (strcmp(text, "require") == 0)
		*ret = KERNEL_MODE_REQUIRE;
	else
		return false;
	return true;
}

bool kernel_stacks_parse(const char *text, enum kernel_stacks *ret)
{
	if (!text || strcmp(text, "off") == 0)
		*ret = KERNEL_STACKS_OFF;
	else if (!*text || strcmp(text, "user") == 0)
		*ret = KERNEL_STACKS_USER;
	else if (strcmp(text, "kernel") == 0)
		*ret = KERNEL_STACKS_KERNEL;
	else if (strcmp(text, "both") == 0)
		*ret = KERNEL_STACKS_BOTH;
	else
		return false;
	return true;
}

static bool parse_key(const char *text, unsigned *ret)
{
	bool is_argument = text && strncmp(text, "arg", 3) == 0 && text[3] >= '0' && text[3] <= '9' && !text[4];

	*ret = is_argument ? (unsigned)(text[3] - '0') + 1 : 0;
	return !text || is_argument || strcmp(text, "thread") == 0;
}

int record_take_calls(struct record_options *o, const char *start, const char *end, const char *key, struct diag *reterr)
{
	o->start = start;
	o->end = end;
	if (!start != !end || (key && !start)) {
		diag_set(reterr, EXIT_USAGE, -EINVAL, "--start, --end%s belong together", key ? " and --key" : "");
		return diag_remedy(reterr, -EINVAL, "--start handle_request --end handle_request");
	}
	if (parse_key(key, &o->key))
		return 0;
	diag_set(reterr, EXIT_USAGE, -EINVAL, "--key is an argument of the function, arg0 to arg5, or thread, not '%s'", key);
	return diag_remedy(reterr, -EINVAL, "--key arg0");
}

/* The size of the ring buffer for the kernel's records, and of that for stacks; a power of two. */
static uint32_t ring_bytes(unsigned mib)
{
	uint32_t bytes = mib ? 1 << 20 : 0;

	while (bytes >> 20 < mib && bytes < 1U << 30)
		bytes *= 2;
	return bytes;
}

int record_kernel_open(const struct record_options *o, uint64_t limit_bytes, const char *run_dir,
		       struct recorder **ret, struct diag *reterr)
{
	_cleanup_(freep) char *path = path_join(run_dir, "kernel.vpk");
	struct recorder_options options = {
		.path = path, .pid = o->kernel_pid, .ring_bytes = ring_bytes(o->buffer_mib),
		.limit_bytes = limit_bytes, .user_stacks = o->stacks & KERNEL_STACKS_USER,
		.kernel_stacks = o->stacks & KERNEL_STACKS_KERNEL, .samples_hz = o->samples_hz,
		.exchanges = o->requests || o->from_arrival, .for_arrivals = o->from_arrival,
		.calls = { .start = o->start, .end = o->end, .key = o->key, .program = o->program },
		.or_reduced = o->kernel == KERNEL_MODE_AUTO, .device_waits = o->experiments != NULL,
	};
	enum kernel_mode mode = o->kernel;
	struct diag diag = DIAG_INIT;
	int r;

	*ret = NULL;
	if (mode == KERNEL_MODE_OFF)
		return 0;
	r = recorder_open(&options, ret, &diag);
	if (r == 0 && recorder_is_reduced(*ret))
		warn_line("%s; recording when threads are off the CPU, not why.  %s", diag.text, diag.remedy);
	if (r < 0 && mode == KERNEL_MODE_AUTO) {
		warn_line("%s; going on without it.  %s", diag.text, diag.remedy);
		return 0;
	}
	if (r == -ENOSYS && o->from_arrival)
		diag_remedy(&diag, r, "record without --from-arrival: vprof show summary says what goes before the intervals, at most");
	if (r < 0 && reterr)
		*reterr = diag;
	return r;
}

static void await(void *arg, uint32_t disk)
{
	recorder_await(arg, disk);
}

int record_kernel_lend(struct recorder *r, struct drainer *d, struct diag *reterr)
{
	struct drainer_waits w = { .await = await, .arg = r };
	int e = r ? recorder_device_waits(r, &w.table, &w.fd, &w.number) : 0;

	if (r && !e)
		e = drainer_use_waits(d, &w);
	if (!e)
		return 0;
	diag_set(reterr, EXIT_ENVIRONMENT, e, "the program cannot be shown what the kernel sees of its waits: %s", strerror(-e));
	return diag_remedy(reterr, e, "without --kernel: io, io@FUNCTION");
}

uint64_t record_kernel_close(struct recorder *r, const struct record_options *o)
{
	struct recorder_stats stats = { 0 };
	struct diag diag = DIAG_INIT;

	if (!r)
		return 0;
	if (recorder_close(r, &stats, &diag) < 0)
		warn_line("%s", diag.text);
	if (o->ret_datagrams)
		*o->ret_datagrams = stats.datagrams;
	if (o->ret_asked_others)
		*o->ret_asked_others = stats.asked_others;
	if (o->ret_unasked)
		*o->ret_unasked = stats.unasked;
	if (stats.lost_records)
		warn_line("the kernel recorder lost %llu of %llu records: --buffer 64 gives it more room",
			  (unsigned long long)stats.lost_records,
			  (unsigned long long)(stats.records + stats.lost_records));
	if (stats.lost_stacks)
		warn_line("the kernel recorder lost %llu of %llu stacks: --buffer 256 gives it more room",
			  (unsigned long long)stats.lost_stacks,
			  (unsigned long long)(stats.stacks + stats.lost_stacks));
	if (stats.unknown_stacks * 10 > stats.stacks)
		warn_line("%llu of %llu stacks are in no file that could be read",
			  (unsigned long long)stats.unknown_stacks, (unsigned long long)stats.stacks);
	if (stats.unnamed_stacks * 10 > stats.numbered_stacks)
		warn_line("%.0f %% of the stacks pass through '%s', which has no symbols there: install its debugging symbols, or set "
			  "DEBUGINFOD_URLS, and record again",
			  100.0 * (double)stats.unnamed_stacks / (double)stats.numbered_stacks, stats.unnamed_file);
	if (stats.full)
		warn_line("the kernel's trace ends early, for %s; its records are complete",
			  stats.disk_error ? strerror(stats.disk_error) : "its half of --limit is full");
	return stats.records;
}
