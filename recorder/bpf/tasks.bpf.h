/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tasks.bpf.h - part of record.bpf.c: where a thread's state is found.
 *
 * The state is in a table, in the one place that follows from the address of the task_struct, so that no helper is
 * called.  A thread is looked up seven times from a request to its answer, and most threads of the machine do not
 * belong to the run.  A thread whose place is taken is in the kernel's task storage, and so are entries that
 * recorder.c makes, until the thread is first seen.
 *
 *	thread 815, place 4711, free		it is that thread's from now on
 *	thread 816, place 4711 as well		in task storage, and the place has a crowd of one
 *	thread 99 of another program, place 42	not its own, no crowd: not of the run, without another look
 *	thread 815 is dead			the place is free again
 *
 * The kernel does not report each death (as it omits some switches), and the next thread may be at the same address:
 * it has another number.
 */
enum { TASK_BITS = 13, TASK_CNT = 1 << TASK_BITS };

struct task_place {
	unsigned long long address;	/* address_of() the task; 0: free; 1: about to be */
	int pid;			/* its number in the kernel */
	unsigned int crowd;		/* number of other threads of this place that are in task storage */
	struct task_state state;	/* zero if the place is free */
} __attribute__((aligned(64)));

static struct task_place task_places[TASK_CNT];

/* Set before loading: uses fewer places, to test crowds. */
const volatile unsigned int task_places_used = TASK_CNT;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

/* The address of a kernel object as a number.  The verifier only permits to compute how far a trusted pointer is from
 * another one: that of a variable of ours, here. */
static __always_inline unsigned long long address_of(const void *what)
{
	unsigned long long address = (unsigned long long)what;

	asm volatile("%0 -= %1" : "+r"(address) : "r"(task_places));
	return address;
}

static __always_inline struct task_place *place_of(unsigned long long address)
{
	return &task_places[(address * 0x9e3779b97f4a7c15ULL >> (64 - TASK_BITS)) & (task_places_used - 1)];
}

static __always_inline int is_at(const struct task_place *place, unsigned long long address, int pid)
{
	return place->address == address && place->pid == pid;
}

/* NULL: it has none. */
static __always_inline struct task_state *state_of(struct task_struct *task)
{
	unsigned long long address = address_of(task);
	struct task_place *place = place_of(address);

	return is_at(place, address, task->pid) ? &place->state : bpf_task_storage_get(&tasks, task, 0, 0);
}

/* The same.  May miss entries that recorder.c has put in task storage before on_begin. */
static __always_inline struct task_state *quick_state_of(struct task_struct *task)
{
	unsigned long long address = address_of(task);
	struct task_place *place = place_of(address);

	if (is_at(place, address, task->pid))
		return &place->state;
	return place->crowd ? bpf_task_storage_get(&tasks, task, 0, 0) : 0;
}

/* The thread of this place is dead, or its death was not reported and its task_struct was reused for this thread. */
static __always_inline int is_free_for(const struct task_place *place, unsigned long long address)
{
	return !place->address || place->state.dead || place->address == address;
}

/* Makes the state of a thread without one.  If there is no free place, it is in task storage.  NULL: no memory. */
static struct task_state *new_state(struct task_struct *task)
{
	unsigned long long address = address_of(task), was;
	struct task_place *place = place_of(address);
	struct task_state *s;

	was = place->address;
	if (was != 1 && is_free_for(place, address) && __sync_val_compare_and_swap(&place->address, was, address) == was) {
		__builtin_memset(&place->state, 0, sizeof(place->state));
		__sync_lock_test_and_set(&place->pid, task->pid);
		return &place->state;
	}
	s = bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (s)
		__sync_fetch_and_add(&place->crowd, 1);
	return s;
}

/* The thread ended so long ago that no other program can still use its state. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task)
{
	unsigned long long address = address_of(task);
	struct task_place *place = place_of(address);
	struct task_state *s;

	if (is_at(place, address, task->pid)) {
		if (__sync_val_compare_and_swap(&place->address, address, 1) != address)
			return 0;
		__builtin_memset(&place->state, 0, sizeof(place->state));
		__sync_lock_test_and_set(&place->address, 0);
	} else if (place->crowd) {
		s = bpf_task_storage_get(&tasks, task, 0, 0);
		if (s && s->tid)	/* else recorder.c made it, and the thread was never seen */
			__sync_fetch_and_add(&place->crowd, -1);
	}
	return 0;
}

/* A thread that is not the first gets the first one's number when it executes a program. */
static __always_inline void renumber_place(struct task_struct *task, int old_pid)
{
	unsigned long long address = address_of(task);
	struct task_place *place = place_of(address);

	if (is_at(place, address, old_pid))
		place->pid = task->pid;
}
