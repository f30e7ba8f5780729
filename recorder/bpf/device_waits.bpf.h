/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device_waits.bpf.h - part of record.bpf.c: which thread waits for a disk, and for how long, while it waits.  Causal experiments map
 * the table (runtime/shared/device_wait.h).
 *
 * Which disk a wait was for is known when the thread is woken: by that disk, or by a thread of the kernel that was itself woken by it
 * after the wait began (jbd2, which writes the journal for fsync).  While the wait goes on, it is taken to be for the disk of the
 * thread's last request, or for that of its last wait, if it is I/O for the kernel, too, or of the same system call.
 *
 *	thread 7 sends a request to 254:0, is off at 100	since 100
 *	... jbd2, which 254:0 woke at 170, wakes it at 180	since 0, total + 80
 *	... another thread of the run wakes it at 180		since 0, total as before
 */
const volatile int wants_device_waits;	/* set before loading */

unsigned int awaited_disk;		/* its number + 1, or DEVICE_WAIT_... */
unsigned long long awaited_from_ns;	/* waits count from then on at the earliest */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);		/* DEVICE_WAITS if they are wanted: programs.c */
	__type(key, unsigned int);
	__type(value, struct device_wait);
} device_waits SEC(".maps");

static __always_inline int is_awaited(unsigned int disk)
{
	return disk && (awaited_disk == DEVICE_WAIT_ANY || awaited_disk == disk);
}

static __always_inline struct device_wait *device_wait_of(const struct task_state *s)
{
	unsigned int place = s->wait_place;

	return place ? bpf_map_lookup_elem(&device_waits, &place) : 0;
}

/* The thread has just got its numbers.  Without a free place its waits do not count. */
static __noinline int device_wait_add(struct task_state *s)
{
	if (!s || !wants_device_waits)
		return 0;
	for (unsigned int step = 0; step < DEVICE_WAIT_STEPS; step++) {
		unsigned int place = DEVICE_WAIT_PLACE(s->tid, step);
		struct device_wait *w = bpf_map_lookup_elem(&device_waits, &place);

		if (!w || __sync_val_compare_and_swap(&w->tid, 0, s->tid) != 0)
			continue;
		w->since = w->total = w->from = w->until = 0;
		w->pid = s->pid;
		s->wait_place = place;
		return 0;
	}
	return 0;
}

static __always_inline void device_wait_remove(struct task_state *s)
{
	struct device_wait *w = device_wait_of(s);

	s->wait_place = 0;
	if (!w)
		return;
	w->pid = 0;
	w->since = 0;
	__sync_lock_test_and_set(&w->tid, 0);
}

static __always_inline unsigned int probable_disk(const struct task_state *s)
{
	if (s->disk_asked)
		return s->disk_asked;
	return s->iowait || (s->syscall >= 0 && s->syscall == s->disk_syscall) ? s->disk_before : 0;
}

/* The thread, whose state is set, is off the CPU. */
static __always_inline void device_wait_begins(struct task_state *s)
{
	unsigned int disk = probable_disk(s);
	struct device_wait *w;

	s->disk_asked = 0;
	if (!(s->state & KERNEL_STATE_UNINTERRUPTIBLE) || s->woken_ns > s->in_ns || !is_awaited(disk))
		return;
	w = device_wait_of(s);
	if (w)
		w->since = s->out_ns > awaited_from_ns ? s->out_ns : awaited_from_ns;
}

/* A reader takes since for over before total has the time (shift.c). */
static __always_inline void device_wait_ends(struct task_state *s, unsigned int disk, unsigned long long ns)
{
	struct device_wait *w = s->off ? device_wait_of(s) : 0;
	unsigned long long from = s->out_ns > awaited_from_ns ? s->out_ns : awaited_from_ns;

	s->disk_before = disk;
	s->disk_syscall = s->syscall;
	if (disk) {
		s->disk_woke = disk;
		s->disk_woke_ns = ns;
	}
	if (!w)
		return;
	*(volatile unsigned long long *)&w->since = 0;
	if (!is_awaited(disk) || ns <= from)
		return;
	w->from = from;
	w->until = ns;
	*(volatile unsigned long long *)&w->total += ns - from;
}

/* The disk, plus one, for which the thread waited that was just woken by that task. */
static __always_inline unsigned int disk_behind(const struct task_state *s, struct task_struct *current)
{
	struct task_state *waker;

	if (s->waker_kind == WAKER_DISK)
		return s->waker + 1;
	waker = s->waker_kind == WAKER_TASK && s->waker ? state_of(current) : 0;
	return waker && waker->follow == FOLLOW_HELPER && waker->disk_woke_ns > s->out_ns ? waker->disk_woke : 0;
}
