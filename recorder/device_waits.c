/* SPDX-License-Identifier: GPL-3.0-or-later */
/* device_waits.c - see device_waits.h. */
#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include "base/banned.h"
#include "recorder/bpf/record.h"
#include "recorder/bpf/record.skel.h"
#include "recorder/device_waits.h"
#include "runtime/shared/device_wait.h"

int device_waits_open(struct record_bpf *p, struct device_waits *ret)
{
	struct device_wait first = { .number = 0 };
	int map = bpf_map__fd(p->maps.device_waits);
	unsigned int place = 0;
	void *table;

	if (getrandom(&first.number, sizeof(first.number), 0) != sizeof(first.number))
		return -errno;
	first.number |= 1;
	if (bpf_map_update_elem(map, &place, &first, BPF_ANY) || bpf_map_freeze(map))
		return -errno;
	table = mmap(NULL, DEVICE_WAIT_TABLE_BYTES, PROT_READ, MAP_SHARED, map, 0);
	if (table == MAP_FAILED)
		return -errno;
	*ret = (struct device_waits){ table, map, first.number };
	return 0;
}

void device_waits_close(struct device_waits *w)
{
	if (w->table)
		munmap((void *)(uintptr_t)w->table, DEVICE_WAIT_TABLE_BYTES);
	w->table = NULL;
}

void device_waits_await(struct record_bpf *p, uint32_t disk)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	p->bss->awaited_from_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	__atomic_store_n(&p->bss->awaited_disk, disk, __ATOMIC_RELEASE);
}
