/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks.bpf.h - part of record.bpf.c: where a thread is, copied and not understood.
 */

/* Set before loading. */
const volatile int user_stacks, kernel_stacks;

unsigned long long lost_stacks;

/* A ring of their own: fifty times as large as other records, they would leave those no room. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);	/* programs.c makes it larger where stacks are wanted */
} stack_records SEC(".maps");

/* The part of the user's stack that there is: the first frames of a thread stand near its end. */
static unsigned int copy_user_stack(struct record_stack *r, unsigned long sp)
{
	if (bpf_probe_read_user(r->user, STACK_BYTES, (void *)sp) == 0)
		return STACK_BYTES;
	if (bpf_probe_read_user(r->user, STACK_BYTES / 4, (void *)sp) == 0)
		return STACK_BYTES / 4;
	if (bpf_probe_read_user(r->user, STACK_BYTES / 16, (void *)sp) == 0)
		return STACK_BYTES / 16;
	return 0;
}

static unsigned int copy_user(struct record_stack *r, struct task_struct *task)
{
	struct pt_regs___x86_64 *regs = (void *)bpf_task_pt_regs(task);

	if (!bpf_core_field_exists(struct pt_regs___x86_64, orig_ax))
		return 0;
	bpf_probe_read_kernel(r->registers, sizeof(r->registers), regs);
	return copy_user_stack(r, r->registers[STACK_RSP]);
}

/* Of the current task.  Frames of the program that is running here are left out by who reads it. */
static void write_stack(void *context, struct task_state *s, struct task_struct *task, unsigned int reason,
			unsigned long long ns)
{
	struct record_stack *r;
	long bytes = 0;

	if (!(user_stacks || kernel_stacks) || (s->kernel_thread && !kernel_stacks))
		return;
	if (user_stacks)
		r = bpf_ringbuf_reserve(&stack_records, sizeof(*r), 0);
	else
		r = bpf_ringbuf_reserve(&stack_records, __builtin_offsetof(struct record_stack, user), 0);
	if (!r) {
		__sync_fetch_and_add(&lost_stacks, 1);
		return;
	}
	r->kind = RECORD_STACK;
	r->tid = s->tid;
	r->pid = s->pid;
	r->reason = reason;
	r->ns = ns;
	r->user_bytes = user_stacks && !s->kernel_thread ? copy_user(r, task) : 0;
	if (kernel_stacks)
		bytes = bpf_get_stack(context, r->kernel, sizeof(r->kernel), 0);
	r->kernel_cnt = bytes > 0 ? (unsigned int)bytes / sizeof(r->kernel[0]) : 0;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}
