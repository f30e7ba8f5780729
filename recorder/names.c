/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names.c - the common name of a device: disk 254:0 is "vda", interface 4 is "eth0".
 */
#include <dirent.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "recorder/recorder_internal.h"

static bool disk_name(uint32_t number, char *ret, size_t size)
{
	char link[64], target[PATH_MAX];
	const char *base;
	ssize_t len;

	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", number >> 20, number & 0xfffff);
	len = readlink(link, target, sizeof(target) - 1);
	if (len < 0)
		return false;
	target[len] = '\0';
	base = strrchr(target, '/');
	snprintf(ret, size, "%.40s", base ? base + 1 : target);
	return true;
}

static bool disk_number(const char *name, uint32_t *ret)
{
	char path[PATH_MAX];
	_cleanup_(freep) char *text = NULL;
	unsigned int major, minor;

	snprintf(path, sizeof(path), "/sys/block/%s/dev", name);
	if (strchr(name, '/') || *name == '.' || file_read(path, &text, NULL) < 0 || sscanf(text, "%u:%u", &major, &minor) != 2)
		return false;
	*ret = (major << 20 | minor) + 1;
	return true;
}

bool recorder_disk_find(const char *name, uint32_t *ret)
{
	return disk_number(name, ret);
}

void recorder_disk_names(struct str *ret)
{
	DIR *dir = opendir("/sys/block");
	struct dirent *e;
	uint32_t number;

	while (dir && (e = readdir(dir)))
		if (disk_number(e->d_name, &number))
			str_addf(ret, "%s%s", ret->len ? " " : "", e->d_name);
	if (dir)
		closedir(dir);
}

static bool nic_name(uint32_t number, char *ret, size_t size)
{
	char name[IF_NAMESIZE];

	if (!if_indextoname(number, name))
		return false;
	snprintf(ret, size, "%s", name);
	return true;
}

static void softirq_name(uint32_t vector, char *ret, size_t size)
{
	static const char *const names[] = {
		"high tasklet", "timer", "net-tx", "net-rx", "block", "irq-poll", "tasklet", "sched",
		"hrtimer", "rcu",
	};

	snprintf(ret, size, "softirq %s", vector < sizeof(names) / sizeof(names[0]) ?
		 names[vector] : "of another kind");
}

bool device_name(const struct device *d, char *ret, size_t size)
{
	switch (d->kind) {
	case WAKER_DISK:
		return disk_name(d->number, ret, size);
	case WAKER_NIC:
		return nic_name(d->number, ret, size);
	case WAKER_TIMER:
		snprintf(ret, size, "timer");
		return true;
	case WAKER_IRQ:
		snprintf(ret, size, "interrupt %u", d->number);
		return true;
	case WAKER_SOFTIRQ:
		softirq_name(d->number, ret, size);
		return true;
	default:
		return false;
	}
}
