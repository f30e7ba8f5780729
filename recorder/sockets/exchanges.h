/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exchanges.h - requests and answers on sockets (bpf/exchanges.bpf.h): the input of the kernel programs, and their results at the
 * end.
 */
#ifndef RECORDER_EXCHANGES_H
#define RECORDER_EXCHANGES_H

#include "recorder/bpf/record.h"
#include "recorder/recorder_internal.h"

struct btf;

/* Decides whether the programs are loaded.  -ENOSYS: they are wanted, but this kernel does not report the arrival of bytes. */
int exchanges_choose(struct record_bpf *p, const struct btf *btf, bool wanted, struct diag *reterr);

/* Finds the TCP ports and the paths on which the processes of the tree listen. */
void exchanges_find_ports(struct record_bpf *p, pid_t pid);

/* Adds the path of a Unix socket, as /proc/net/unix writes it; without room it is left out. */
void exchanges_add_path(struct exchange_paths *paths, const char *text);

/* The programs' cost per exchange, on all sockets of the machine, by the kernel's statistics of a second.  Call it often, with the count so far. */
struct exchange_cost {			/* zeroed at first */
	int stats_fd;
	bool is_over;
	uint64_t begun_ns, before_ns, before_cnt;
	uint64_t cost_ns;		/* 0: it was not measured */
};
void exchange_cost_look(struct exchange_cost *c, const struct record_bpf *p, uint64_t now_ns, uint64_t exchange_cnt);
void exchange_cost_end(struct exchange_cost *c);

/* With the programs detached, writes what was answered last on each connection to the file. */
void exchanges_end(const struct record_bpf *p, struct writer *w);

/* Addresses of Unix sockets. */
struct exchange_path_texts {
	char texts[EXCHANGE_PATHS_MAX][EXCHANGE_PATH_MAX + 1];
	const char *items[EXCHANGE_PATHS_MAX];
};
size_t exchanges_paths(const struct record_bpf *p, struct exchange_path_texts *ret);

#endif
