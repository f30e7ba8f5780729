/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks.bpf.h - part of record.bpf.c: copies the stack of a thread without interpreting it.
 *
 * Threads wait, and wake others, in the same places all the time, and copying 4 KiB is expensive.  So recorder.c
 * stores which words decided how a stack was unwound (struct known_stack): the return addresses, and the words that
 * point into the stack, from which the next places may follow.  If all of them are the same, it is the same stack and
 * only its number is written; else it is copied.
 *
 *	RSP 7f..e8, RIP in epoll_wait: known as 3 if there are serve+31 at 24, main+8f at 96 and _start+21 at 208
 *	-> 216 bytes are looked at, 3 words compared
 */

/* Set before loading. */
const volatile int user_stacks, kernel_stacks;

unsigned long long lost_stacks;

/* A ring buffer of their own: a stack is fifty times as large as other records, and would leave them no room. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);	/* programs.c enlarges it if stacks are requested */
} stack_records SEC(".maps");

struct {				/* shared with programs.c, which writes them */
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);		/* programs.c enlarges it if stacks are requested */
	__type(key, unsigned int);
	__type(value, struct known_stack);
} known_stacks SEC(".maps");

struct stack_words {
	unsigned long long words[STACK_DEEP_BYTES / 8];
};

struct {				/* both hooks that look at it run with interrupts off */
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, int);
	__type(value, struct stack_words);
} stack_words SEC(".maps");

/* The number, plus one, if all deciding words are the same; negative: it is another stack.  *have: how much of the
 * stack was read already.  Not static, so that the kernel's verifier checks it once, and not for each state at the
 * call. */
__attribute__((noinline)) int number_if_same(const struct known_stack *k, struct stack_words *now, unsigned long rsp,
					     unsigned long rbp, unsigned int *have)
{
	unsigned int written, bytes, number;

	if (!k || !now || !have)
		return -1;
	written = *(const volatile unsigned int *)&k->written;
	bytes = k->bytes;
	if (((rbp - rsp - k->rbp) & (unsigned long long)(long long)k->rbp_counts) || bytes > STACK_DEEP_BYTES)
		return -1;
	if (bytes > *have) {
		if (bpf_probe_read_user(now->words, bytes, (void *)rsp))
			return -1;
		*have = bytes;
	}
	for (unsigned int i = 0; i < KNOWN_WORDS_MAX && i < k->word_cnt; i++) {
		const struct known_word *w = &k->words[i];

		if (now->words[w->index & (STACK_DEEP_BYTES / 8 - 1)] - (rsp & (unsigned long)(long)w->relative) != w->value)
			return -1;
	}
	number = k->number_plus_one;
	barrier();
	return !(written & 1) && *(const volatile unsigned int *)&k->written == written ? (int)number : -1;
}

/* The number, plus one, of the current task's stack; 0: unknown.  A known stack that fell short is copied again once
 * in 256 times, as far as it can be read: the missing page may be there by now, and the stack is another one then. */
static unsigned int known_number(struct task_state *s, struct task_struct *task)
{
	struct pt_regs___x86_64 *regs = (void *)bpf_task_pt_regs(task);
	int zero = 0;
	struct stack_words *now = bpf_map_lookup_elem(&stack_words, &zero);
	unsigned int have = 0, place, short_number = 0;
	unsigned long rip, rsp;

	s->deep = 0;
	if (!now || !s->image || !bpf_core_field_exists(struct pt_regs___x86_64, orig_ax))
		return 0;
	rip = regs->ip;
	rsp = regs->sp;
	place = known_place(s->image, rip, rsp);
	for (unsigned int i = 0; i < KNOWN_ALIKE; i++) {
		unsigned int at = place + i;
		const struct known_stack *k = bpf_map_lookup_elem(&known_stacks, &at);
		int number;

		if (!k || k->rip != rip || k->rsp != rsp || k->image != s->image)
			continue;
		number = number_if_same(k, now, rsp, regs->bp, &have);
		if (number < 0)
			continue;
		s->deep = k->bytes > STACK_BYTES / 2;
		if (number && !k->falls_short)
			return (unsigned int)number;
		if (number)
			short_number = (unsigned int)number;
	}
	return short_number && ++s->short_cnt ? short_number : 0;
}

/* The size of the stack, if at most as much as can be copied; 0: unknown.  The C library's own record of a thread is
 * at the upper end of its stack, and FS points there; for the first thread, the kernel knows the end. */
static unsigned int stack_bytes(struct task_struct *task)
{
	struct pt_regs___x86_64 *regs = (void *)bpf_task_pt_regs(task);
	struct mm_struct *mm = task->mm;
	unsigned long bytes;

	if (!mm || !bpf_core_field_exists(task->thread.fsbase) || !bpf_core_field_exists(struct pt_regs___x86_64, orig_ax))
		return 0;
	bytes = (task->pid == task->tgid ? mm->start_stack : task->thread.fsbase) - regs->sp;
	return bytes <= STACK_DEEP_BYTES ? (unsigned int)bytes : 0;
}

/* Reads the current task's memory, or, in a sleepable program, that of a task that is off. */
static __always_inline int read_user(void *to, unsigned int bytes, unsigned long address, struct task_struct *away)
{
	return away ? bpf_copy_from_user_task(to, bytes, (void *)address, away, 0) != 0 :
	       bpf_probe_read_user(to, bytes, (void *)address) != 0;
}

/* Copies the existing part of the user's stack, at most this much: the first frames of a thread are near its end. */
static __always_inline unsigned int copy_user_stack(struct record_stack *r, unsigned long sp, struct task_struct *away,
						    unsigned int wanted, const unsigned int most)
{
	barrier_var(wanted);		/* makes the verifier see the limit */
	if (wanted > most)
		wanted = most;
	if (!read_user(r->user, wanted, sp, away))
		return wanted;
	for (unsigned int pages = (most + STACK_PAGE_BYTES - 1) / STACK_PAGE_BYTES; pages; pages--) {
		unsigned int bytes = pages * STACK_PAGE_BYTES - (unsigned int)(sp & (STACK_PAGE_BYTES - 1));

		barrier_var(bytes);
		if (bytes < wanted && !read_user(r->user, bytes, sp, away))
			return bytes;
	}
	return 0;
}

static __always_inline unsigned int copy_user(struct record_stack *r, struct task_struct *task, struct task_struct *away,
					      unsigned int wanted, const unsigned int most)
{
	struct pt_regs___x86_64 *regs = (void *)bpf_task_pt_regs(task);

	if (!bpf_core_field_exists(struct pt_regs___x86_64, orig_ax))
		return 0;
	bpf_probe_read_kernel(r->registers, sizeof(r->registers), regs);
	return copy_user_stack(r, r->registers[STACK_RSP], away, wanted, most);
}

/* Copies as much of the user's stack as wanted into a record that has room for the most.  away: the task, if it is
 * not the current one. */
static __always_inline void copy_stack(void *context, struct task_state *s, struct task_struct *task, struct task_struct *away,
				       unsigned int reason, unsigned long long ns, unsigned int wanted, const unsigned int most)
{
	struct record_stack *r = bpf_ringbuf_reserve(&stack_records,
						     __builtin_offsetof(struct record_stack, user) + most, 0);
	long bytes = 0;

	if (!r) {
		__sync_fetch_and_add(&lost_stacks, 1);
		return;
	}
	r->kind = RECORD_STACK;
	r->tid = s->tid;
	r->pid = s->pid;
	r->reason = reason;
	r->ns = ns;
	r->image = s->image;
	r->driven = reason == STACK_OUT && !s->state;
	r->user_bytes = most && !s->kernel_thread ? copy_user(r, task, away, wanted, most) : 0;
	if (kernel_stacks)
		bytes = away ? bpf_get_task_stack(away, r->kernel, sizeof(r->kernel), 0) :
			bpf_get_stack(context, r->kernel, sizeof(r->kernel), 0);
	r->kernel_cnt = bytes > 0 ? (unsigned int)bytes / sizeof(r->kernel[0]) : 0;
	barrier();
	if (away && (s->in_ns || *(volatile unsigned long long *)&s->out_ns != ns))
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);	/* it is back, and its stack is another one */
	else
		bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* Uses the smallest record that suffices. */
static __always_inline void copy_wanted(void *context, struct task_state *s, struct task_struct *task, struct task_struct *away,
					unsigned int reason, unsigned long long ns, unsigned int wanted)
{
	if (!user_stacks)
		copy_stack(context, s, task, away, reason, ns, 0, 0);
	else if (wanted <= STACK_SHALLOW_BYTES)
		copy_stack(context, s, task, away, reason, ns, wanted, STACK_SHALLOW_BYTES);
	else if (wanted <= STACK_BYTES)
		copy_stack(context, s, task, away, reason, ns, wanted, STACK_BYTES);
	else
		copy_stack(context, s, task, away, reason, ns, wanted, STACK_DEEP_BYTES);
}

/* Copies the current task's stack.  The reader leaves out frames of the program running here.  A small user stack is
 * copied whole; a stack seen only once, because the thread was preempted in the middle of something, is copied deeper
 * at once. */
static void write_stack(void *context, struct task_state *s, struct task_struct *task, unsigned int reason,
			unsigned long long ns)
{
	unsigned int wanted;

	if (!(user_stacks || kernel_stacks) || (s->kernel_thread && !kernel_stacks))
		return;
	wanted = stack_bytes(task);
	if (!wanted)
		wanted = s->deep || (reason == STACK_OUT && !s->state) ? STACK_DEEP_BYTES : STACK_BYTES;
	copy_wanted(context, s, task, 0, reason, ns, wanted);
}

/* Its number, plus one, if it is known; else copies it. */
static __noinline unsigned int look_at_stack(void *context, struct task_state *s, struct task_struct *task, unsigned int reason,
			       unsigned long long ns)
{
	unsigned int number = user_stacks && !kernel_stacks && !s->kernel_thread ? known_number(s, task) : 0;

	if (!number)
		write_stack(context, s, task, reason, ns);
	return number;
}

/* Does nothing if stacks are not requested. */
static __always_inline unsigned int tell_stack(void *context, struct task_state *s, struct task_struct *task,
					       unsigned int reason, unsigned long long ns)
{
	return user_stacks || kernel_stacks ? look_at_stack(context, s, task, reason, ns) : 0;
}

/* Runs once, after on_begin, if stacks are requested: a thread that does not come back during the recording leaves no
 * other stack. */
SEC("?iter.s/task")
int on_begin_stacks(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct task_state *s = task ? state_of(task) : 0;
	unsigned int wanted;

	if (!s || s->follow != FOLLOW_RUN || !s->off || s->in_ns || (s->kernel_thread && !kernel_stacks))
		return 0;
	wanted = stack_bytes(task);
	copy_wanted(0, s, task, task, STACK_OUT, s->out_ns, wanted ? wanted : STACK_DEEP_BYTES);
	return 0;
}
