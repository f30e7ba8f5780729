/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_apart.c - words for the numbers of runtime/shared/apart.h; and a look at processes that do not take part.
 */
#include <inttypes.h>

#include "base/banned.h"
#include "base/proc.h"
#include "project/notices.h"
#include "project/record/record_apart.h"

enum { TREE_MAX = 64, LOOKS_MAX = 200 };

void met_look(void *arg, pid_t child, const char *arena_path)
{
	struct met *met = arg;
	pid_t tree[TREE_MAX];
	size_t cnt;

	/* At increasing distances: at the 1st, 2nd, 3rd, 4th, 6th, 8th ... call. */
	if (met->pid || met->look_cnt >= LOOKS_MAX || (met->look_cnt++ > 4 && met->look_cnt % 4))
		return;
	cnt = proc_tree(child, tree, TREE_MAX);
	for (size_t i = 0; i < cnt && !met->pid; i++) {
		_cleanup_(str_release) struct str exe = STR_INIT;
		enum reach r = reach_ask(tree[i], arena_path, &exe);

		if (r == REACH_UNKNOWN || r == REACH_NO_PROBES)
			continue;
		met->pid = tree[i];
		met->reach = r;
		str_reset(&met->exe);
		str_add(&met->exe, str_cstr(&exe));
	}
}

static const char *text_of(enum apart why)
{
	switch (why) {
	case APART_NO_ROOM:
		return "its limit of address space (ulimit -v) leaves no room for the recording buffer";
	case APART_NO_STACK:
		return "its limit of stack (ulimit -s) leaves no room for a probe";
	case APART_NO_CLOCK:
		return "its time stamp counter is switched off (PR_SET_TSC)";
	case APART_LEFT_NO_ROOM:
		return "it set a limit, or locks its memory under one, that leaves no room for the recording buffer";
	case APART_LEFT_NO_CLOCK:
		return "a thread of it switched the time stamp counter off (PR_SET_TSC)";
	case APART_NOT:
	case APART_FILTERED:
	case APART_NO_PROC:
	case APART_CNT:
		break;
	}
	return NULL;
}

static const char *remedy_of(enum apart why)
{
	if (why == APART_NO_CLOCK || why == APART_LEFT_NO_CLOCK)
		return "without PR_SET_TSC it can be recorded";
	if (why == APART_NO_STACK)
		return "raise its limit: ulimit -s";
	return "raise its hard limit (ulimit -Hv, ulimit -Hl), or the limit to 16 times the recording buffer, of which vprof "
	       "record --buffer 16 takes the least (vprof-record(1), LIMITS)";
}

void apart_tell(const struct drainer_stats *stats)
{
	for (enum apart why = APART_NOT; why < APART_CNT; why++) {
		uint32_t cnt = stats->apart_cnt[why];
		bool left = why == APART_LEFT_NO_ROOM || why == APART_LEFT_NO_CLOCK;

		if (!cnt)
			continue;
		if (why == APART_FILTERED || why == APART_NO_PROC)
			note_line("%" PRIu32 " process%s with %s: names of threads, and the wakers of waits for files, may be missing "
				  "(vprof-record(1), SECCOMP)", cnt, cnt == 1 ? "" : "es", why == APART_FILTERED
				  ? "a system call filter, which forbids some of the runtime's calls"
				  : "no /proc, where no system call filter can be seen: the runtime makes few calls there");
		else if (cnt == 1)
			warn_line("process %" PRIu32 " is not in the recording%s, for %s; %s", stats->apart_pid[why],
				  left ? " from then on" : "", text_of(why), remedy_of(why));
		else
			warn_line("%" PRIu32 " processes (one of them: %" PRIu32 ") are not in the recording%s; of each, %s; %s", cnt,
				  stats->apart_pid[why], left ? " from then on" : "", text_of(why), remedy_of(why));
	}
}

bool apart_fail(const struct drainer_stats *stats)
{
	for (enum apart why = APART_NO_ROOM; why <= APART_NO_CLOCK; why++)
		if (stats->apart_cnt[why]) {
			fail_now(EXIT_ENVIRONMENT, remedy_of(why), "process %" PRIu32 " was not recorded, for %s",
				 stats->apart_pid[why], text_of(why));
			return true;
		}
	return false;
}
