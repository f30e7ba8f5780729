/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.bpf.h - part of record.bpf.c: intervals from one place of the program's code to another, for what is no request on a
 * socket (vprof look --start FUNC --end FUNC).
 *
 * A uprobe at each place (calls.c) calls on_call(), whose cookie says which one it is.  What begins and what ends belong together
 * if they have the same key: the thread, or the value of an argument.  What had begun before the recording is common, so ends
 * without a beginning are counted, and nothing else.
 *
 *	start at 10 by T1, key 7; end at 30 by T2, key 7	the record 10..30, from T1 to T2
 *	end at 40, key 8					calls_without_start
 *	start at 50, key 7; start at 60, key 7; end at 70	60..70; the first one has no end: calls_without_end
 *
 * Where one function is both, a call in a call of its own is part of the outer one: the stack pointer says which return is whose.
 */

/* Set before loading: one function's entry and return, by thread. */
const volatile int calls_nest;

/* Set before attaching. */
struct call_place call_places[CALL_PLACES_MAX];

unsigned long long calls_without_start, calls_without_end;

struct call_id {
	unsigned long long key;
	unsigned int process, unused;
};

struct open_call {
	unsigned long long ns;
	unsigned long long sp;
	unsigned int tid, unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CALLS_OPEN);
	__type(key, struct call_id);
	__type(value, struct open_call);
} open_calls SEC(".maps");

struct call_entries {			/* of calls that have not returned */
	unsigned int cnt, unused;
	unsigned long long keys[CALL_ENTRIES];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call_entries);
} call_entries SEC(".maps");

static __always_inline unsigned long long register_of(const void *registers, unsigned int which)
{
	unsigned long long value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (const char *)registers + which % STACK_REGISTER_CNT * sizeof(value));
	return value;
}

/* Of a value of that size; what lies above it in the register is not part of it. */
static __always_inline unsigned long long sized(unsigned long long value, int bytes)
{
	switch (bytes) {
	case 1:
		return (unsigned char)value;
	case 2:
		return (unsigned short)value;
	case 4:
		return (unsigned int)value;
	case -1:
		return (unsigned long long)(signed char)value;
	case -2:
		return (unsigned long long)(short)value;
	case -4:
		return (unsigned long long)(int)value;
	default:
		return value;
	}
}

static __always_inline unsigned long long kept_key(struct task_struct *task)
{
	struct call_entries *e = bpf_task_storage_get(&call_entries, task, 0, 0);

	if (!e || !e->cnt)
		return 0;
	e->cnt--;
	return e->cnt < CALL_ENTRIES ? e->keys[e->cnt % CALL_ENTRIES] : 0;
}

static __always_inline void keep_key(struct task_struct *task, unsigned long long key)
{
	struct call_entries *e = bpf_task_storage_get(&call_entries, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!e)
		return;
	if (e->cnt < CALL_ENTRIES)
		e->keys[e->cnt % CALL_ENTRIES] = key;
	e->cnt++;
}

static __always_inline unsigned long long key_of_call(const void *registers, struct task_struct *task, const struct call_key *k)
{
	unsigned long long value = 0;

	switch (k->kind) {
	case KEY_REGISTER:
		return sized(register_of(registers, k->place), k->bytes);
	case KEY_MEMORY:
		bpf_probe_read_user(&value, sizeof(value), (void *)(register_of(registers, k->place) + (unsigned long long)k->offset));
		return sized(value, k->bytes);
	case KEY_CONSTANT:
		return (unsigned long long)k->offset;
	case KEY_KEPT:
		return kept_key(task);
	default:
		return (unsigned int)task->pid;
	}
}

static __always_inline void write_call(const struct open_call *o, unsigned int tid, unsigned long long ns)
{
	struct reserved reserved;
	struct record_exchange *r = reserve(&reserved);

	if (!r) {
		__sync_fetch_and_add(&lost_records, 1);
		return;
	}
	r->kind = RECORD_EXCHANGE;
	r->sender = tid;
	r->receiver = o->tid;
	r->connection = 0;
	r->ns = ns;
	r->start_ns = r->first_read_ns = r->last_read_ns = o->ns;
	r->first_send_ns = r->last_send_ns = ns;
	r->port = EXCHANGE_CALLS;
	r->flags = EXCHANGE_ARRIVAL;
	r->bytes_in = r->bytes_out = 0;
	r->unsolicited = r->unused = 0;
	commit(&reserved);
}

static __always_inline void call_begins(const struct call_id *id, unsigned long long sp, unsigned int tid, unsigned long long ns)
{
	struct open_call now = { .ns = ns, .sp = sp, .tid = tid }, *before = bpf_map_lookup_elem(&open_calls, id);

	if (before && calls_nest && sp < before->sp)
		return;
	if (before)
		__sync_fetch_and_add(&calls_without_end, 1);
	bpf_map_update_elem(&open_calls, id, &now, BPF_ANY);
}

/* sp: as it was at the function's entry, where a return ends it. */
static __always_inline void call_ends(const struct call_id *id, unsigned long long sp, unsigned int tid, unsigned long long ns)
{
	struct open_call *o = bpf_map_lookup_elem(&open_calls, id), begun;

	if (o && calls_nest && sp < o->sp)
		return;
	if (!o || (calls_nest && sp != o->sp)) {
		__sync_fetch_and_add(&calls_without_start, 1);
		return;
	}
	begun = *o;
	bpf_map_delete_elem(&open_calls, id);
	write_call(&begun, tid, ns);
}

SEC("?uprobe")
int on_call(struct pt_regs___x86_64 *registers)
{
	unsigned long long ns = bpf_ktime_get_ns(), number = bpf_get_attach_cookie(registers), sp;
	struct task_struct *current = bpf_get_current_task_btf();
	struct call_id id = { 0 };
	const struct call_place *place;
	struct task_state *task;

	if (!exchanges_are_watched || number >= CALL_PLACES_MAX)
		return 0;
	task = adopted(current, ns);
	if (!task || task->follow != FOLLOW_RUN)
		return 0;
	place = &call_places[number];
	id.key = key_of_call(registers, current, &place->key);
	id.process = (unsigned int)current->tgid;
	sp = register_of(registers, STACK_RSP);
	if (place->role == CALL_ENTRY)
		keep_key(current, id.key);
	else if (place->role == CALL_START)
		call_begins(&id, sp, task->tid, ns);
	else
		call_ends(&id, place->is_return ? sp - sizeof(sp) : sp, task->tid, ns);
	return 0;
}
