/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * programs.c - loads record.bpf.c into the kernel and attaches it.
 *
 * Tracepoints that this kernel does not have are left out, by a look into its BTF: without
 * block_rq_complete a wait for a disk has an interrupt as its waker.  Those of the scheduler must
 * be there.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/str.h"
#include "recorder/calls.h"
#include "recorder/sockets/exchanges.h"
#include "recorder/recorder_internal.h"
#include "recorder/bpf/record.h"
#include "recorder/sample_cost.h"
#include "recorder/segments.h"
#include "runtime/shared/device_wait.h"
#include "recorder/bpf/record.skel.h"
#include "recorder/bpf/task_state.h"

enum { RING_BYTES = 16 << 20, RING_BYTES_STACKS = 64 << 20,
       PLACES_LEAST = 64, PLACES_UNASKED = 8192, TREE_MAX = 4096 };

static char verdict[200];		/* the kernel verifier's reason, if it refused a program */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * libbpf's messages are meant for programmers.  The verifier's reason says more than "Permission denied":
 *
 *	prog 'on_switch': -- BEGIN PROG LOAD LOG --		-> on_switch: R1 pointer |= pointer prohibited
 *	...
 *	R1 pointer |= pointer prohibited
 *	processed 184 insns (limit 1000000) ...
 *	-- END PROG LOAD LOG --
 */
static int listen_to_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
	_cleanup_(str_release) struct str said = STR_INIT;
	const char *text, *name, *end, *line;

	if (level != LIBBPF_WARN)
		return 0;
	str_vaddf(&said, format, args);
	text = str_cstr(&said);
	name = strchr(text, '\'');
	end = strstr(text, "\nprocessed ");
	if (*verdict || !name || !end || !strstr(text, "BEGIN PROG LOAD LOG"))
		return 0;
	for (line = end; line > text && line[-1] != '\n'; line--)
		;
	snprintf(verdict, sizeof(verdict), "%.*s: %.*s", (int)strcspn(name + 1, "'"), name + 1, (int)(end - line), line);
	return 0;
}

/* How many arguments the tracepoint passes; -1: there is none of that name. */
static int argument_cnt(const struct btf *btf, const char *tracepoint)
{
	char name[64];
	const struct btf_type *type;
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -1;
	type = btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type);
	type = btf__type_by_id(btf, type->type);	/* what the pointer points to */
	return btf_is_func_proto(type) ? btf_vlen(type) - 1 : -1;	/* without the first: void * */
}

/* The offset of a member in its structure, in bytes; negative: there is none. */
static long member_offset(const struct btf *btf, const char *structure, const char *member)
{
	int id = btf__find_by_name_kind(btf, structure, BTF_KIND_STRUCT);
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);

	for (int i = 0; type && i < btf_vlen(type); i++)
		if (strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), member) == 0)
			return btf_member_bit_offset(type, (__u32)i) / 8;
	return -1;
}

/* The same for a variable of which each CPU has a copy. */
static long variable_offset(const struct btf *btf, const char *variable)
{
	int id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *all = id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);

	for (int i = 0; all && i < btf_vlen(all); i++) {
		const struct btf_var_secinfo *one = &btf_var_secinfos(all)[i];

		if (strcmp(btf__name_by_offset(btf, btf__type_by_id(btf, one->type)->name_off), variable) == 0)
			return one->offset;
	}
	return -1;
}

bool programs_must_use(const char *what)
{
	const char *hooks = secure_getenv("VPROF_KERNEL_HOOKS");

	return hooks && strcmp(hooks, what) == 0;
}

/* Finds the counters for interrupts.bpf.h.  A real-time kernel has them, but runs other tasks in the middle of a
 * softirq. */
static void find_counts(struct record_bpf *p, const struct btf *btf)
{
	long run_queue = variable_offset(btf, "runqueues"), current = variable_offset(btf, "current_task"),
	     preempt_count = variable_offset(btf, "__preempt_count"), counts = variable_offset(btf, "kstat"),
	     softirqs = member_offset(btf, "kernel_stat", "softirqs"), network = variable_offset(btf, "softnet_data"),
	     receiving = member_offset(btf, "softnet_data", "in_net_rx_action");

	if (run_queue <= 0 || current < 0 || preempt_count < 0 || counts < 0 || softirqs < 0 ||
	    network < 0 || receiving < 0 ||
	    member_offset(btf, "sched_entity", "cfs_rq") < 0 || member_offset(btf, "cfs_rq", "rq") < 0 ||
	    member_offset(btf, "task_struct", "softirq_disable_cnt") >= 0)
		return;
	p->rodata->run_queue_offset = (unsigned int)run_queue;
	p->rodata->current_offset = (unsigned int)current;
	p->rodata->preempt_count_offset = (unsigned int)preempt_count;
	p->rodata->softirqs_offset = (unsigned int)(counts + softirqs);
	p->rodata->receiving_offset = (unsigned int)(network + receiving);
}

static void choose_programs(struct record_bpf *p, const struct btf *btf)
{
	struct bpf_program *program;
	bool says_state = argument_cnt(btf, "sched_switch") >= 4,
	     casts = btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC) >= 0 && !programs_must_use("helpers");

	bpf_object__for_each_program(program, p->obj) {
		const char *section = bpf_program__section_name(program);
		const char *tracepoint = strchr(section, '/');

		if (strncmp(section, "tp_btf/", 7) == 0 && strncmp(tracepoint + 1, "sched_", 6) != 0)
			bpf_program__set_autoload(program, argument_cnt(btf, tracepoint + 1) >= 0);
	}
	if (!programs_must_use("softirqs"))
		find_counts(p, btf);
	if (programs_must_use("crowds"))
		p->rodata->task_places_used = 2;
	bpf_program__set_autoattach(p->progs.on_arrival, false);
	bpf_program__set_autoattach(p->progs.on_arrival_gro, false);
	bpf_program__set_autoattach(p->progs.on_arrival_frags, false);
	bpf_program__set_autoattach(p->progs.on_arrival_list, false);
	bpf_program__set_autoattach(p->progs.on_try, false);
	bpf_program__set_autoattach(p->progs.on_begin, false);
	bpf_program__set_autoattach(p->progs.on_begin_stacks, false);
	bpf_program__set_autoattach(p->progs.on_end, false);
	bpf_program__set_autoattach(p->progs.on_sample, false);
	bpf_program__set_autoload(p->progs.on_switch, says_state);
	bpf_program__set_autoload(p->progs.on_switch_before_5_18, !says_state);
	bpf_program__set_autoload(p->progs.on_waking, casts);
	bpf_program__set_autoload(p->progs.on_waking_before_6_2, !casts);
}

static int follow(struct record_bpf *p, pid_t pid, enum follow what, unsigned int image, uint64_t flags)
{
	struct task_state state = { .follow = what, .image = image };
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), r;

	if (fd < 0)
		return -errno;
	r = bpf_map_update_elem(bpf_map__fd(p->maps.tasks), &fd, &state, flags);
	if (r < 0)
		r = -errno;
	close(fd);
	return r;
}

/* The process and its descendants, as of now; each has an address space of its own.  Only the process itself must
 * still exist. */
static int follow_tree(struct record_bpf *p, pid_t pid)
{
	_cleanup_(freep) pid_t *tree = xmalloc(TREE_MAX * sizeof(*tree));
	size_t cnt = proc_tree(pid, tree, TREE_MAX);
	int r = follow(p, pid, FOLLOW_RUN, 1, BPF_NOEXIST);

	for (size_t i = 1; i < cnt; i++)
		follow(p, tree[i], FOLLOW_RUN, __atomic_add_fetch(&p->data->image_cnt, 1, __ATOMIC_RELAXED), BPF_NOEXIST);
	return r == -EEXIST ? 0 : r;
}

static int refused(int r, const char *what, struct diag *reterr)
{
	if (*verdict) {
		diag_set(reterr, EXIT_ENVIRONMENT, -ENOSYS, "the kernel recorder does not work with this kernel: its "
			 "verifier refused %s", verdict);
		return diag_remedy(reterr, -ENOSYS, "record without --kernel, and report that line with what uname -a says");
	}
	if (r != -EPERM && r != -EACCES)
		return diag_set(reterr, EXIT_ENVIRONMENT, -ENOSYS,
				"the kernel recorder does not work with this kernel: %s: %s", what,
				strerror(-r));
	diag_set(reterr, EXIT_ENVIRONMENT, -EPERM,
		 "the kernel recorder is not permitted (%s: %s)", what, strerror(-r));
	return diag_remedy(reterr, -EPERM, "run vprof as root, or give it the two capabilities once: "
			   "sudo setcap cap_bpf,cap_perfmon+ep \"$(command -v vprof)\"");
}

/* Runs the program for every task, by reading its output, which is empty. */
static void visit_tasks(const struct bpf_program *program)
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	char nothing[64];
	ssize_t n = fd >= 0;

	while (n > 0 || (n < 0 && errno == EAGAIN))
		n = read(fd, nothing, sizeof(nothing));
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
}

/* A CPU that is added during the recording has no room: its records are lost, and counted. */
static unsigned int cpus_with_room(void)
{
	unsigned int possible_cnt = (unsigned int)libbpf_num_possible_cpus(), cnt = 0;
	_cleanup_(freep) char *present = NULL;

	if (file_read("/sys/devices/system/cpu/present", &present, NULL) == 0)
		cnt = segments_cpus(present);
	return cnt && cnt < possible_cnt ? cnt : possible_cnt;
}

/* Room for the records of all CPUs; each CPU gets at least what it may write between two looks. */
static void make_room(struct record_bpf *p, uint32_t ring_bytes)
{
	unsigned int cpu_cnt = cpus_with_room(), places = PLACES_LEAST;
	uint64_t bytes = (uint64_t)cpu_cnt * sizeof(struct record_place);

	while (bytes * places * 2 <= (ring_bytes ? ring_bytes : RING_BYTES))
		places *= 2;
	if (!ring_bytes && places < PLACES_UNASKED)
		places = PLACES_UNASKED;
	p->rodata->places_per_cpu = places;
#ifdef __x86_64__
	p->rodata->stores_are_in_order = 1;
#endif
	bpf_map__set_max_entries(p->maps.segments, cpu_cnt);
	bpf_map__set_max_entries(p->maps.places, cpu_cnt * places);
}

static int choose_device_waits(struct record_bpf *p, const struct btf *btf, bool wanted, struct diag *reterr)
{
	if (!wanted)
		return 0;
	p->rodata->wants_device_waits = 1;
	bpf_map__set_max_entries(p->maps.device_waits, DEVICE_WAITS);
	if (argument_cnt(btf, "block_rq_complete") >= 0 && argument_cnt(btf, "block_rq_issue") >= 0 && !programs_must_use("no-disks"))
		return 0;
	diag_set(reterr, EXIT_ENVIRONMENT, -ENOSYS, "this kernel does not report which disk a thread waits for: it has no tracepoints "
		 "block_rq_issue and block_rq_complete");
	return diag_remedy(reterr, -ENOSYS, "a kernel with CONFIG_BLK_DEV_IO_TRACE; without --kernel: io, io@FUNCTION");
}

static int load(const struct recorder_options *o, const struct calls *calls, struct record_bpf **ret, struct diag *reterr)
{
	struct record_bpf *p;
	struct btf *btf;
	int r;

	*verdict = '\0';
	libbpf_set_print(listen_to_libbpf);
	btf = btf__load_vmlinux_btf();
	if (!btf)
		return diag_set(reterr, EXIT_ENVIRONMENT, -ENOSYS, "the kernel recorder needs a kernel "
				"that describes its types: there is no /sys/kernel/btf/vmlinux");
	p = record_bpf__open();
	r = p ? 0 : -errno;
	if (p)
		choose_programs(p, btf);
	if (p)			/* the program's own intervals know what they wait for */
		p->rodata->wants_upstreams = o->exchanges && !calls && !o->for_arrivals;
	if (p && (exchanges_choose(p, btf, o->exchanges && !calls, reterr) < 0 || choose_device_waits(p, btf, o->device_waits, reterr) < 0)) {
		btf__free(btf);
		record_bpf__destroy(p);
		return -ENOSYS;
	}
	if (p) {
		calls_choose(calls, p);
		p->rodata->follow_threads = o->pid != 0;
		p->rodata->user_stacks = o->user_stacks;
		p->rodata->kernel_stacks = o->kernel_stacks;
		bpf_program__set_autoload(p->progs.on_sample, o->samples_hz != 0);
		bpf_program__set_autoload(p->progs.on_begin_stacks, o->pid && (o->user_stacks || o->kernel_stacks) &&
					  btf__find_by_name_kind(btf, "bpf_copy_from_user_task", BTF_KIND_FUNC) >= 0);
		if (o->user_stacks && !o->kernel_stacks)
			bpf_map__set_max_entries(p->maps.known_stacks, KNOWN_PLACES);
		make_room(p, o->ring_bytes);
		if (o->user_stacks || o->kernel_stacks)
			bpf_map__set_max_entries(p->maps.stack_records, o->ring_bytes ? o->ring_bytes :
						 RING_BYTES_STACKS);
		r = record_bpf__load(p);
	}
	btf__free(btf);
	if (r) {
		record_bpf__destroy(p);	/* NULL is fine */
		return refused(r, "loading the programs", reterr);
	}
	*ret = p;
	return 0;
}

static int attach(struct record_bpf *p, pid_t pid, struct diag *reterr)
{
	int r = pid ? follow_tree(p, pid) : 0;

	if (r)
		return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot follow process %d: %s", (int)pid,
				strerror(-r));
	r = follow(p, getpid(), FOLLOW_CHILDREN, 0, BPF_ANY);
	if (r)
		return refused(r, "attaching the programs", reterr);
	visit_tasks(p->progs.on_try);
	bpf_program__set_autoattach(p->progs.on_softirq_entry, !p->bss->softirqs_are_counted);
	bpf_program__set_autoattach(p->progs.on_softirq_exit, !p->bss->softirqs_are_counted);
	bpf_program__set_autoattach(p->progs.on_old_timer, p->bss->softirqs_are_counted);
	if (pid && p->rodata->wants_exchanges)
		exchanges_find_ports(p, pid);
	r = record_bpf__attach(p);
	if (!r && pid)
		follow_tree(p, pid);		/* its descendants from before */
	return r ? refused(r, "attaching the programs", reterr) : 0;
}

/* As one of the run for that moment; attach() makes it vprof itself. */
static uint32_t measure_sample_cost(struct record_bpf *p, unsigned int hz)
{
	struct task_state state = { .follow = FOLLOW_RUN, .tid = (unsigned int)getpid(), .pid = (unsigned int)getpid() };
	int fd = gettid() == getpid() ? (int)syscall(SYS_pidfd_open, getpid(), 0) : -1;
	uint32_t cost_ns = 0;

	if (fd < 0)
		return 0;
	if (bpf_map_update_elem(bpf_map__fd(p->maps.tasks), &fd, &state, BPF_ANY) == 0)
		cost_ns = sample_cost_measure(p, hz);
	close(fd);
	return cost_ns;
}

static int attach_calls(struct record_bpf *p, struct calls *calls, struct diag *reterr)
{
	int r = calls ? calls_attach(calls, p) : 0;

	return r ? refused(r, "setting uprobes", reterr) : 0;
}

int programs_start(const struct recorder_options *o, struct calls *calls, struct record_bpf **ret, uint32_t *ret_sample_cost_ns,
		   struct diag *reterr)
{
	struct record_bpf *p = NULL;
	int r = load(o, calls, &p, reterr);

	*ret_sample_cost_ns = !r && o->exchanges && o->samples_hz && o->user_stacks ? measure_sample_cost(p, o->samples_hz) : 0;
	if (!r)
		r = attach(p, o->pid, reterr);
	if (!r)
		r = attach_calls(p, calls, reterr);
	if (r) {
		if (calls)
			calls_detach(calls);
		record_bpf__destroy(p);
		return r;
	}
	if (o->pid)
		visit_tasks(p->progs.on_begin);
	if (bpf_program__fd(p->progs.on_begin_stacks) >= 0)
		visit_tasks(p->progs.on_begin_stacks);
	*ret = p;
	return 0;
}

static int try(const struct recorder_options *o, struct diag *reterr)
{
	struct record_bpf *p = NULL;
	int r = load(o, NULL, &p, reterr);

	record_bpf__destroy(p);
	return r;
}

int recorder_try(struct diag *reterr)
{
	return try(&(struct recorder_options){ 0 }, reterr);
}

int recorder_try_requests(struct diag *reterr)
{
	return try(&(struct recorder_options){ .exchanges = 1 }, reterr);
}

static void *map_shared(const struct bpf_map *map, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return p == MAP_FAILED ? NULL : p;
}

static size_t bytes_of_places(const struct segments *s)
{
	return (size_t)s->cpu_cnt * s->places_per_cpu * sizeof(*s->places);
}

int programs_segments(struct record_bpf *p, struct segments *ret)
{
	*ret = (struct segments){
		.cpu_cnt = bpf_map__max_entries(p->maps.segments), .places_per_cpu = p->rodata->places_per_cpu,
	};
	ret->all = map_shared(p->maps.segments, ret->cpu_cnt * sizeof(*ret->all));
	ret->places = ret->all ? map_shared(p->maps.places, bytes_of_places(ret)) : NULL;
	return ret->places ? 0 : -errno;
}

void segments_unmap(struct segments *s)
{
	if (s->all)
		munmap(s->all, s->cpu_cnt * sizeof(*s->all));
	if (s->places)
		munmap(s->places, bytes_of_places(s));
	*s = (struct segments){ 0 };
}

struct known_stack *programs_known_stacks(struct record_bpf *p)
{
	if (bpf_map__max_entries(p->maps.known_stacks) != KNOWN_PLACES)
		return NULL;
	return map_shared(p->maps.known_stacks, KNOWN_PLACES * sizeof(struct known_stack));
}

void known_stacks_free(struct known_stack *all)
{
	if (all)
		munmap(all, KNOWN_PLACES * sizeof(*all));
}

/* A concurrent reader finds `written` odd, or changed after its read. */
void known_stack_set(struct known_stack *where, const struct known_stack *what)
{
	unsigned int written = where->written;

	__atomic_store_n(&where->written, written + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memcpy((char *)where + sizeof(where->written), (const char *)what + sizeof(what->written),
	       sizeof(*what) - sizeof(what->written));
	__atomic_store_n(&where->written, written + 2, __ATOMIC_RELEASE);
}

static void detach(struct bpf_link **link)
{
	bpf_link__destroy(*link);		/* NULL is fine */
	*link = NULL;
}

static void attach_again(const struct bpf_program *program, struct bpf_link **link)
{
	if (!*link && bpf_program__fd(program) >= 0)	/* negative: this kernel has no such tracepoint */
		*link = bpf_program__attach(program);
}

static void watch_each_packet(struct record_bpf *p)
{
	attach_again(p->progs.on_packet, &p->links.on_packet);
	attach_again(p->progs.on_send, &p->links.on_send);
	attach_again(p->progs.on_sent, &p->links.on_sent);
	__atomic_store_n(&p->data->packets_are_watched, 1, __ATOMIC_SEQ_CST);
	detach(&p->links.on_arrival);
	detach(&p->links.on_arrival_gro);
	detach(&p->links.on_arrival_frags);
	detach(&p->links.on_arrival_list);
}

/* Without counted softirqs an arrival cannot be assigned to one, so each received packet is watched.  These are
 * attached first: after a tracepoint has lost its last program, the kernel blocks the next one that attaches until
 * all CPUs have passed (0.5 to 2 s if they are busy). */
static void watch_arrivals(struct record_bpf *p)
{
	if (p->bss->softirqs_are_counted) {
		attach_again(p->progs.on_arrival, &p->links.on_arrival);
		attach_again(p->progs.on_arrival_gro, &p->links.on_arrival_gro);
		attach_again(p->progs.on_arrival_frags, &p->links.on_arrival_frags);
		attach_again(p->progs.on_arrival_list, &p->links.on_arrival_list);
	}
	if (p->links.on_arrival && p->links.on_arrival_gro) {
		__atomic_store_n(&p->data->packets_are_watched, 0, __ATOMIC_SEQ_CST);
		detach(&p->links.on_packet);
	}
	detach(&p->links.on_send);
	detach(&p->links.on_sent);
}

uint64_t programs_outside_packets(const struct record_bpf *p)
{
	return __atomic_load_n(&p->bss->outside_packets, __ATOMIC_RELAXED);
}

void programs_watch_packets(struct record_bpf *p, bool each)
{
	if (each)
		watch_each_packet(p);
	else
		watch_arrivals(p);
}

void programs_rest(struct record_bpf *p, uint64_t *ret)
{
	*ret = 0;
	for (int i = 0; i < p->skeleton->prog_cnt; i++) {
		if (*p->skeleton->progs[i].link)
			*ret |= 1ULL << i;
		detach(p->skeleton->progs[i].link);
	}
}

int programs_go_on(struct record_bpf *p, uint64_t which)
{
	for (int i = 0; i < p->skeleton->prog_cnt; i++) {
		struct bpf_link **link = p->skeleton->progs[i].link;

		if (!(which >> i & 1))
			continue;
		attach_again(*p->skeleton->progs[i].prog, link);
		if (!*link)
			return -errno;
	}
	return 0;
}

uint64_t programs_watch_exchanges(struct record_bpf *p, bool watch)
{
	__atomic_store_n(&p->bss->exchanges_are_watched, watch, __ATOMIC_SEQ_CST);
	return now_ns();
}

uint64_t programs_stop(struct record_bpf *p)
{
	record_bpf__detach(p);
	p->bss->end_ns = now_ns();
	visit_tasks(p->progs.on_end);
	return p->bss->end_ns;
}
