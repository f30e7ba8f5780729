/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf_rings.c - opens perf's rings, one a CPU, and reads them.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "recorder/stacks/perf_rings.h"

/* As much as an ordinary user may lock for each CPU: perf_event_mlock_kb is 516.  A record with a path of PATH_MAX
 * bytes fits. */
enum { RING_BYTES = 512 << 10, EVENT_BYTES_MAX = 4096 + 256 };

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
};

struct perf_rings {
	VEC(struct ring) rings;
	size_t page_bytes;
};

static int open_event(const struct perf_event_attr *kinds, int cpu)
{
	struct perf_event_attr a = *kinds;

	a.type = PERF_TYPE_SOFTWARE;
	a.size = sizeof(a);
	a.config = PERF_COUNT_SW_DUMMY;
	a.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;	/* struct perf_trailer */
	a.sample_id_all = 1;
	a.inherit = 1;
	a.exclude_kernel = 1;
	a.exclude_hv = 1;
	a.use_clockid = 1;
	a.clockid = CLOCK_MONOTONIC;
	return (int)syscall(SYS_perf_event_open, &a, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_ring(struct perf_rings *r, const struct perf_event_attr *kinds, int cpu)
{
	struct ring ring = { .fd = open_event(kinds, cpu) };

	if (ring.fd < 0)
		return -errno;
	ring.page = mmap(NULL, r->page_bytes + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, 0);
	if (ring.page == MAP_FAILED) {
		int e = -errno;

		close(ring.fd);
		return e;
	}
	VEC_ADD(&r->rings, ring);
	return 0;
}

int perf_rings_open(const struct perf_event_attr *kinds, struct perf_rings **ret)
{
	struct perf_rings *r = xcalloc(1, sizeof(*r));
	long cpu_cnt = sysconf(_SC_NPROCESSORS_CONF);
	int e = 0;

	r->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	for (int cpu = 0; cpu < cpu_cnt && !e; cpu++) {
		e = open_ring(r, kinds, cpu);
		if (e == -ENODEV)	/* the CPU is off */
			e = 0;
	}
	if (e) {
		perf_rings_close(r);
		return e;
	}
	*ret = r;
	return 0;
}

void perf_rings_close(struct perf_rings *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->rings.cnt; i++) {
		munmap(r->rings.items[i].page, r->page_bytes + RING_BYTES);
		close(r->rings.items[i].fd);
	}
	VEC_RELEASE(&r->rings);
	free(r);
}

static void read_ring(const struct perf_rings *r, const struct ring *ring, perf_rings_take take,
		      void *context)
{
	const unsigned char *data = (const unsigned char *)ring->page + r->page_bytes;
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = ring->page->data_tail;
	_Alignas(8) unsigned char event[EVENT_BYTES_MAX];
	struct perf_trailer trailer;

	while (at < head) {
		struct perf_event_header h;
		size_t offset = at % RING_BYTES, first;

		memcpy(&h, data + offset, sizeof(h));	/* eight bytes, aligned: never split at the ring's end */
		if (h.size < sizeof(h))
			break;
		first = RING_BYTES - offset < h.size ? RING_BYTES - offset : h.size;
		if (h.size <= sizeof(event) && h.size >= sizeof(h) + sizeof(trailer)) {
			memcpy(event, data + offset, first);
			memcpy(event + first, data, h.size - first);
			memcpy(&trailer, event + h.size - sizeof(trailer), sizeof(trailer));
			take(context, (const void *)event, &trailer);
		}
		at += h.size;
	}
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
}

void perf_rings_read(struct perf_rings *r, perf_rings_take take, void *context)
{
	for (size_t i = 0; i < r->rings.cnt; i++)
		read_ring(r, &r->rings.items[i], take, context);
}
