/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exchanges.c - which ports and paths a running process listens on.
 *
 *	/proc/7/fd/6 -> socket:[4711]
 *	/proc/7/net/tcp: "0: 0100007F:18EB 00000000:0000 0A ... 4711 ..."	port 6379; 0A: it listens
 *	/proc/7/net/unix: "...: 00000002 00000000 00010000 0001 01 4711 /run/x.sock"
 *
 * A socket that listens later is reported by the kernel programs.
 */
#include "recorder/sockets/exchanges.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/proc.h"
#include "recorder/bpf/record.h"
#include "recorder/bpf/task_state.h"
#include "recorder/bpf/record.skel.h"

#define COST_NS 1000000000ULL
enum { COST_EXCHANGES_LEAST = 100 };

enum { TREE_MAX = 4096, LISTENS = 0x0a, UNIX_LISTENS = 0x10000 };

static bool has_tracepoint(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) >= 0;
}

int exchanges_choose(struct record_bpf *p, const struct btf *btf, bool wanted, struct diag *reterr)
{
	bool is_told = !programs_must_use("no-sockets") && has_tracepoint(btf, "btf_trace_sk_data_ready") &&
		       has_tracepoint(btf, "btf_trace_sock_recv_length") && has_tracepoint(btf, "btf_trace_sock_send_length");
	bool load = wanted && is_told;

	p->rodata->wants_exchanges = load;
	bpf_program__set_autoload(p->progs.on_data, load);
	bpf_program__set_autoload(p->progs.on_receive, load);
	bpf_program__set_autoload(p->progs.on_answer, load);
	bpf_program__set_autoload(p->progs.on_socket_state, load && has_tracepoint(btf, "btf_trace_inet_sock_set_state"));
	bpf_map__set_autocreate(p->maps.sockets, load);
	if (!wanted || is_told)
		return 0;
	diag_set(reterr, EXIT_ENVIRONMENT, -ENOSYS, "this kernel does not say when bytes arrive on a socket (sk_data_ready, "
		 "Linux 6.3 or later): requests cannot be recognized");
	return diag_remedy(reterr, -ENOSYS, "--start FUNCTION --end FUNCTION (vprof look -p PID), which needs no socket; vprof annotate and a build; or a newer "
			   "kernel");
}

/* Finds the process's sockets.  Returns false if its descriptors cannot be read. */
static bool find_sockets(pid_t pid, struct map *inodes)
{
	char path[64], target[64];
	uint64_t inode;
	struct dirent *e;
	ssize_t len;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	if (!d)
		return false;
	while ((e = readdir(d))) {
		len = readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1);
		if (len <= 0)
			continue;
		target[len] = '\0';
		if (sscanf(target, "socket:[%" SCNu64 "]", &inode) == 1)
			map_set(inodes, inode, 1);
	}
	closedir(d);
	return true;
}

static void find_listeners(struct record_bpf *p, pid_t pid, const char *table, const struct map *inodes)
{
	char path[64], line[512];
	unsigned port, state;
	uint64_t inode, unused;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, table);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %*u %*d %" SCNu64, &port, &state,
			   &inode) == 3 && state == LISTENS && port < 65536 && map_get(inodes, inode, &unused))
			p->bss->listening[port / 8] |= (unsigned char)(1U << port % 8);
	if (f)
		fclose(f);
}

/* "0000: 00000002 00000000 00010000 0001 01 4711 /run/x.sock"; 00010000: it listens.  An abstract one begins with '@', and is not
 * written as it is if there are more zeros in it: the path of such a socket is known from its first request. */
static void find_paths(struct record_bpf *p, pid_t pid, const struct map *inodes)
{
	char path[64], line[512], text[EXCHANGE_PATH_MAX];
	unsigned flags, type;
	uint64_t inode, unused;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/net/unix", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*x: %*x %*x %x %x %*x %" SCNu64 " %111[^\n]", &flags, &type, &inode, text) == 4 &&
		    flags & UNIX_LISTENS && map_get(inodes, inode, &unused))
			exchanges_add_path((void *)&p->bss->exchange_paths, text);
	if (f)
		fclose(f);
}

void exchanges_add_path(struct exchange_paths *paths, const char *text)
{
	struct exchange_path path = { { 0 } };

	snprintf((char *)path.words, sizeof(path), "%s", text);
	if (*text == '@')
		*(char *)path.words = '\0';
	for (size_t i = 0; i < EXCHANGE_PATHS_MAX; i++) {
		if (paths->states[i] == PATH_READY && memcmp(&paths->items[i], &path, sizeof(path)) == 0)
			return;
		if (paths->states[i] == PATH_FREE) {
			paths->items[i] = path;
			paths->states[i] = PATH_READY;
			return;
		}
	}
}

void exchanges_find_ports(struct record_bpf *p, pid_t pid)
{
	_cleanup_(freep) pid_t *tree = xmalloc(TREE_MAX * sizeof(*tree));
	size_t cnt = proc_tree(pid, tree, TREE_MAX);

	for (size_t i = 0; i < cnt; i++) {
		struct map *inodes = map_new();

		if (find_sockets(tree[i], inodes)) {
			find_listeners(p, tree[i], "tcp", inodes);
			find_listeners(p, tree[i], "tcp6", inodes);
			find_paths(p, tree[i], inodes);
		}
		map_free(inodes);
	}
}

void exchanges_end(const struct record_bpf *p, struct writer *w)
{
	for (size_t i = 0; p->rodata->wants_exchanges && i < EXCHANGES_LAST; i++) {
		const struct record_exchange *r = (const void *)&p->bss->last_exchanges[i];

		if (r->kind == RECORD_EXCHANGE)
			writer_record(w, r, sizeof(*r));
	}
}

static uint64_t run_time_ns(const struct bpf_program *program)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &len) ? 0 : info.run_time_ns;
}

static uint64_t all_run_time_ns(const struct record_bpf *p)
{
	return run_time_ns(p->progs.on_data) + run_time_ns(p->progs.on_receive) + run_time_ns(p->progs.on_answer);
}

/* The kernel's statistics take time themselves, so they are on for a second only. */
void exchange_cost_look(struct exchange_cost *c, const struct record_bpf *p, uint64_t now_ns, uint64_t exchange_cnt)
{
	if (!p->rodata->wants_exchanges || c->is_over)
		return;
	if (!c->begun_ns) {
		c->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
		c->is_over = c->stats_fd < 0;
		c->begun_ns = now_ns;
		c->before_cnt = exchange_cnt;
		c->before_ns = all_run_time_ns(p);
	} else if (now_ns - c->begun_ns >= COST_NS) {
		uint64_t cnt = exchange_cnt - c->before_cnt;

		if (cnt >= COST_EXCHANGES_LEAST)
			c->cost_ns = (all_run_time_ns(p) - c->before_ns) / cnt;
		exchange_cost_end(c);
	}
}

void exchange_cost_end(struct exchange_cost *c)
{
	if (c->begun_ns && !c->is_over)
		close(c->stats_fd);
	c->is_over = true;
}

size_t exchanges_paths(const struct record_bpf *p, struct exchange_path_texts *ret)
{
	const struct exchange_paths *paths = (const void *)&p->bss->exchange_paths;
	size_t cnt = 0;

	for (; p->rodata->wants_exchanges && cnt < EXCHANGE_PATHS_MAX && paths->states[cnt] == PATH_READY; cnt++) {
		const char *text = (const char *)paths->items[cnt].words;
		char *to = ret->texts[cnt];

		memcpy(to, "@", 2);		/* as /proc/net/unix shows an abstract address */
		memcpy(to + !*text, text + !*text, EXCHANGE_PATH_MAX - !*text);
		to[EXCHANGE_PATH_MAX] = '\0';
		ret->items[cnt] = to;
	}
	return cnt;
}
