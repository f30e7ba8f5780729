/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tasks.bpf.h - part of record.bpf.c: where a thread's state is found.
 *
 * In the one place of a table that follows from the address of its task_struct: nobody has to be called.  A thread is looked
 * for seven times from a request to its answer, and each time most threads of the machine are none of the run.  Whose
 * place is taken is in the kernel's task storage, as is what recorder.c puts there, until it is seen for the first time.
 *
 *	thread 815, place 4711, free		it is that thread's from now on
 *	thread 816, place 4711 as well		in task storage, and the place has a crowd of one
 *	thread 99 of somebody else's, place 42	not its own, no crowd: not of the run, and that was all
 *	thread 815 is dead			the place is free again
 *
 * The last is not always told (as not every switch is), and the next thread may be at the same address: its number is another one.
 */
enum { TASK_BITS = 13, TASK_CNT = 1 << TASK_BITS };

struct task_place {
	unsigned long long address;	/* address_of() the task; 0: free; 1: about to be */
	int pid;			/* its number in the kernel */
	unsigned int crowd;		/* so many others are in task storage */
	struct task_state state;	/* zero where it is free */
} __attribute__((aligned(64)));

static struct task_place task_places[TASK_CNT];

/* Set before loading: fewer of them are used, to test crowds. */
const volatile unsigned int task_places_used = TASK_CNT;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

/* Of the kernel's, as a number.  All that the verifier lets anybody compute of a pointer that it trusts is how far it is from
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

/* The same.  What recorder.c has put in task storage may be missed before on_begin. */
static __always_inline struct task_state *quick_state_of(struct task_struct *task)
{
	unsigned long long address = address_of(task);
	struct task_place *place = place_of(address);

	if (is_at(place, address, task->pid))
		return &place->state;
	return place->crowd ? bpf_task_storage_get(&tasks, task, 0, 0) : 0;
}

/* Whoever was there is dead, or has never been seen to die and was where this one is now. */
static __always_inline int is_free_for(const struct task_place *place, unsigned long long address)
{
	return !place->address || place->state.dead || place->address == address;
}

/* Of a thread that has none, or one in task storage, which is returned where there is no place.  NULL: no memory. */
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

/* Nobody has heard of this thread for so long that no other program can be in the middle of its state. */
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
		if (s && s->tid)	/* else recorder.c put it there, and it was never seen */
			__sync_fetch_and_add(&place->crowd, -1);
	}
	return 0;
}

/* A thread that is not the first has the first one's number once it has executed a program. */
static __always_inline void renumber_place(struct task_struct *task, int old_pid)
{
	unsigned long long address = address_of(task);
	struct task_place *place = place_of(address);

	if (is_at(place, address, old_pid))
		place->pid = task->pid;
}
