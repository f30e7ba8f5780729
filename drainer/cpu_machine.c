/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_machine.c - what the machine as a whole says about its CPUs, and the limits of control groups.
 *
 *	/proc/stat		cpu  11 2 3 70 4 0 1 5 ...	ticks: user, nice, system, idle, waiting, interrupts, soft ones, stolen
 *				procs_running 4			we are one of them
 *	/proc/pressure/cpu	some avg10=... total=790	us in which a thread waited; not every kernel has it
 *	cpu.stat		throttled_usec 5		version 2; version 1 has throttled_time, in ns
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "drainer/cpu_users.h"

enum { STAT_BYTES = 1 << 17 };

static bool read_text(const char *path, char *ret, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t len = 0;
	ssize_t n = 0;

	if (fd < 0)
		return false;
	while (len < size - 1 && (n = read(fd, ret + len, size - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	ret[len] = '\0';
	return len > 0;
}

/* The number behind a word at the beginning of a line; false: there is no such line. */
static bool number_after(const char *text, const char *word, uint64_t *ret)
{
	size_t len = strlen(word);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, word, len) && at[len] == ' ') {
			*ret = strtoull(at + len, NULL, 10);
			return true;
		}
	}
	return false;
}

bool cpu_machine_parse(char *stat, struct cpu_machine *ret)
{
	uint64_t v[8] = { 0 }, running = 0;
	char *at = stat;

	if (strncmp(stat, "cpu ", 4))
		return false;
	at += 4;
	for (size_t i = 0; i < 8; i++)
		v[i] = strtoull(at, &at, 10);
	ret->busy = v[0] + v[1] + v[2] + v[5] + v[6];
	ret->stolen = v[7];
	ret->cpu_cnt = 0;
	while ((at = strstr(at, "\ncpu"))) {
		ret->cpu_cnt++;
		at += 4;
	}
	if (!number_after(stat, "procs_running", &running))
		return false;
	ret->running = running ? (uint32_t)running - 1 : 0;
	return ret->cpu_cnt > 0;
}

bool cpu_machine_read(struct cpu_machine *ret)
{
	char *text = malloc(STAT_BYTES), *total;
	bool known = text && read_text("/proc/stat", text, STAT_BYTES) && cpu_machine_parse(text, ret);

	ret->has_stalled = known && read_text("/proc/pressure/cpu", text, STAT_BYTES) && !strncmp(text, "some ", 5) &&
			   (total = strstr(text, "total="));
	ret->stalled_us = ret->has_stalled ? strtoull(total + strlen("total="), NULL, 10) : 0;
	free(text);
	return known;
}

/* ---- limits ---- */

uint64_t cpu_throttled_parse(const char *text)
{
	uint64_t value;

	if (number_after(text, "throttled_usec", &value))
		return value * 1000;
	return number_after(text, "throttled_time", &value) ? value : 0;
}

static bool read_limit(const char *path, uint64_t *ret)
{
	char text[4096];

	if (!read_text(path, text, sizeof(text)))
		return false;
	*ret = cpu_throttled_parse(text);
	return true;
}

static void add_limit(struct cpu_users *u, const char *path)
{
	struct cpu_limit *l = &u->limits[u->limit_cnt];
	uint64_t now_ns;

	for (uint32_t i = 0; i < u->limit_cnt; i++)
		if (!strcmp(u->limits[i].path, path))
			return;
	if (u->limit_cnt == CPU_LIMITS_MAX || strlen(path) >= sizeof(l->path) || !read_limit(path, &now_ns))
		return;
	snprintf(l->path, sizeof(l->path), "%s", path);
	l->last_ns = now_ns;
	u->limit_cnt++;
}

/* The group, and those above it. */
static void add_limits(struct cpu_users *u, const char *mount, char *group)
{
	for (;;) {
		char path[sizeof(u->limits[0].path)];
		char *slash = strrchr(group, '/');

		if (snprintf(path, sizeof(path), "%s%s/cpu.stat", mount, strcmp(group, "/") ? group : "") <
		    (int)sizeof(path))
			add_limit(u, path);
		if (!slash || !strcmp(group, "/"))
			return;
		slash[slash == group] = '\0';
	}
}

static bool has_cpu(const char *controllers, const char *end)
{
	for (const char *at = controllers; at < end; at++) {
		size_t len = strcspn(at, ",:");

		if (len == 3 && !strncmp(at, "cpu", 3))
			return true;
		at += len;
	}
	return false;
}

void cpu_limits_note(struct cpu_users *u, uint32_t pid)
{
	static const char *const mounts[2][2] = {
		{ "/sys/fs/cgroup", "/sys/fs/cgroup/unified" },
		{ "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct" },
	};
	char path[64], text[8192], *rest = NULL;

	snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
	if (!read_text(path, text, sizeof(text)))
		return;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *first = strchr(line, ':'), *second = first ? strchr(first + 1, ':') : NULL;
		bool old = second && has_cpu(first + 1, second);

		if (!second || second[1] != '/' || (!old && second != first + 1))
			continue;
		for (size_t i = 0; i < 2; i++) {
			char group[4096];

			snprintf(group, sizeof(group), "%s", second + 1);
			add_limits(u, mounts[old][i], group);
		}
	}
}

uint64_t cpu_limits_take(struct cpu_users *u)
{
	uint64_t longest = 0;

	for (uint32_t i = 0; i < u->limit_cnt; i++) {
		struct cpu_limit *l = &u->limits[i];
		uint64_t now_ns;

		if (!read_limit(l->path, &now_ns) || now_ns < l->last_ns)
			continue;
		longest = now_ns - l->last_ns > longest ? now_ns - l->last_ns : longest;
		l->last_ns = now_ns;
	}
	return longest;
}
