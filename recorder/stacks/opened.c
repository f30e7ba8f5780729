/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * opened.c - unwinds the stacks of threads that wait, by libdw and their memory.
 *
 * The frame pointer is not known.  Code that finds its caller by it cannot be unwound at first, so candidates from
 * the stack are tried: words above the stack pointer that point further up, with a return address beside them.  The
 * lowest with which the stack unwinds to the thread's beginning is taken.
 */
#include <dirent.h>
#include <elfutils/libdwfl.h>
#include <elfutils/version.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/banned.h"
#include "recorder/stacks/cxx_name.h"
#include "recorder/stacks/opened.h"

#if defined(__x86_64__) && _ELFUTILS_PREREQ(0, 188)

enum { REG_RBP_DWARF = 6, REG_RSP_DWARF = 7, REG_RIP_DWARF = 16, ASKED_MAX = 20, GUESSES_MAX = 64, WORDS_MAX = 8192 };

struct walk {
	pid_t pid;
	uint64_t pc, sp, rbp;		/* rbp 0: unknown */
	uint64_t pcs[OPENED_FRAMES_MAX], sps[OPENED_FRAMES_MAX];
	size_t cnt;
	bool ended;			/* reached the thread's beginning */
	struct arena *arena;
	Dwfl *dwfl;
};

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *context)
{
	const struct walk *w = context;
	struct iovec ours = { ret, sizeof(*ret) }, theirs = { (void *)(uintptr_t)address, sizeof(*ret) };

	(void)dwfl;
	return process_vm_readv(w->pid, &ours, 1, &theirs, 1, 0) == (ssize_t)sizeof(*ret);
}

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = context;
	return 1;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
	const struct walk *w = context;

	return dwfl_thread_state_registers(thread, REG_RSP_DWARF, 1, &w->sp) &&
	       dwfl_thread_state_registers(thread, REG_RIP_DWARF, 1, &w->pc) &&
	       (!w->rbp || dwfl_thread_state_registers(thread, REG_RBP_DWARF, 1, &w->rbp));
}

static bool begins_thread(const char *name)
{
	static const char *const names[] = { "_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main",
		"start_thread", "clone", "clone3", "__clone3", "__clone" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static const char *symbol_at(struct walk *w, uint64_t pc)
{
	Dwfl_Module *m = dwfl_addrmodule(w->dwfl, pc);
	const char *symbol = m ? dwfl_module_addrname(m, pc) : NULL;

	return symbol ? symbol : "?";
}

static int take_frame(Dwfl_Frame *frame, void *context)
{
	struct walk *w = context;
	Dwarf_Addr pc;
	Dwarf_Word sp = w->sp;
	bool exact;

	if (w->cnt == OPENED_FRAMES_MAX || !dwfl_frame_pc(frame, &pc, &exact) || !pc)
		return DWARF_CB_ABORT;
	if (w->cnt && dwfl_frame_reg(frame, REG_RSP_DWARF, &sp) != 0)
		return DWARF_CB_ABORT;
	w->pcs[w->cnt] = pc - !exact;
	w->sps[w->cnt++] = sp;
	w->ended = begins_thread(symbol_at(w, pc - !exact));
	return DWARF_CB_OK;
}

static bool try_walk(struct walk *w, uint64_t rbp)
{
	w->rbp = rbp;
	w->cnt = 0;
	w->ended = false;
	dwfl_getthread_frames(w->dwfl, 1, take_frame, w);	/* 1: as next_thread() calls it */
	return w->ended;
}

static bool is_code(const struct walk *w, uint64_t address)
{
	return dwfl_addrmodule(w->dwfl, address) != NULL;
}

static void walk(struct walk *w)
{
	_cleanup_(freep) uint64_t *words = xcalloc(WORDS_MAX, sizeof(*words));
	struct iovec ours = { words, WORDS_MAX * sizeof(*words) };
	struct iovec theirs = { (void *)(uintptr_t)w->sp, WORDS_MAX * sizeof(*words) };
	ssize_t len;
	int guesses = 0;

	if (try_walk(w, 0))
		return;
	/* To the end of the mapping, in pages: memory after it cannot be read. */
	len = process_vm_readv(w->pid, &ours, 1, &theirs, 1, 0);
	for (size_t at = 4096 - w->sp % 4096; len < 0 && at < ours.iov_len; at += 4096) {
		ours.iov_len = theirs.iov_len = at;
		len = process_vm_readv(w->pid, &ours, 1, &theirs, 1, 0) < 0 ? 0 : (ssize_t)at;
		if (!len)
			break;
		len = at + 4096 < WORDS_MAX * sizeof(*words) ? -1 : len;
		ours.iov_len = WORDS_MAX * sizeof(*words);
	}
	for (size_t i = 0; i + 1 < WORDS_MAX && guesses < GUESSES_MAX; i++)
		if ((words[i] > w->sp + i * 8 || words[i] < 2) && is_code(w, words[i + 1]) && ++guesses &&
		    try_walk(w, w->sp + i * 8))
			return;
}

/* A thread that waits in a system call has "202 0x... 0x... SP PC"; one that waits elsewhere "-1 SP PC". */
static bool read_place(pid_t pid, const char *tid, uint64_t *ret_sp, uint64_t *ret_pc)
{
	_cleanup_(freep) char *path = xasprintf("/proc/%d/task/%s/syscall", (int)pid, tid), *text = NULL;
	const char *last, *before;

	if (file_read(path, &text, NULL) < 0 || !(last = strrchr(text, ' ')))
		return false;
	for (before = last - 1; before > text && *before != ' '; before--)
		;
	*ret_sp = strtoull(before, NULL, 0);
	*ret_pc = strtoull(last, NULL, 0);
	return *ret_sp && *ret_pc;
}

/*
 * Example "NSpid:	4711	7": the last is its number in its own namespace.
 */
static void last_number(const char *text, const char *label, pid_t *ret)
{
	const char *at = strstr(text, label);

	for (; at && *at && *at != '\n'; at++)
		if (*at == '\t')
			*ret = (pid_t)strtol(at + 1, NULL, 10);
}

static void read_name(pid_t pid, const char *tid, struct opened_thread *t)
{
	_cleanup_(freep) char *path = xasprintf("/proc/%d/task/%s/status", (int)pid, tid), *text = NULL;
	const char *name;

	t->pid = pid;
	t->tid = (pid_t)strtol(tid, NULL, 10);
	snprintf(t->name, sizeof(t->name), "?");
	if (file_read(path, &text, NULL) < 0)
		return;
	name = strstr(text, "Name:\t");
	if (name)
		snprintf(t->name, sizeof(t->name), "%.*s", (int)strcspn(name + 6, "\n"), name + 6);
	last_number(text, "NSpid:\t", &t->tid);
	last_number(text, "NStgid:\t", &t->pid);
}

/* "ns::f(int)" and "f.part.0" belong to f. */
static const char *plain_name(struct walk *w, uint64_t pc)
{
	const char *symbol = symbol_at(w, pc);
	struct str name = STR_INIT;
	const char *copy;

	if (!add_cxx_name(&name, symbol))
		str_addf(&name, "%.*s", (int)strcspn(symbol, "."), symbol);
	copy = arena_strdup(w->arena, str_cstr(&name));
	str_release(&name);
	return copy;
}

static void look_at(struct walk *w, const char *tid, struct opened_thread *t)
{
	const struct timespec moment = { 0, 1000000 };
	bool found;

	*t = (struct opened_thread){ .cnt = 0 };
	read_name(w->pid, tid, t);
	for (int i = 0; !(found = read_place(w->pid, tid, &w->sp, &w->pc)) && i < ASKED_MAX; i++)
		nanosleep(&moment, NULL);
	if (!found)
		return;
	walk(w);
	for (size_t i = 0; w->ended && i + 1 < w->cnt && !begins_thread(symbol_at(w, w->pcs[i])); i++)
		t->frames[t->cnt++] = (struct opened_frame){ w->sps[i + 1] - 16, w->pcs[i + 1] + 1, plain_name(w, w->pcs[i]) };
}

int opened_read(pid_t pid, void (*take)(void *arg, const struct opened_thread *t), void *arg)
{
	static char *no_path;
	static const Dwfl_Callbacks files = { .find_elf = dwfl_linux_proc_find_elf,
					      .find_debuginfo = dwfl_standard_find_debuginfo, .debuginfo_path = &no_path };
	static const Dwfl_Thread_Callbacks threads = { .next_thread = next_thread, .memory_read = read_memory,
						       .set_initial_registers = set_registers };
	_cleanup_(freep) char *path = xasprintf("/proc/%d/task", (int)pid);
	struct walk w = { .pid = pid };
	_cleanup_(freep) struct opened_thread *t = xcalloc(1, sizeof(*t));
	struct dirent *e;
	DIR *dir = opendir(path);

	if (!dir)
		return -errno;
	elf_version(EV_CURRENT);
	w.dwfl = dwfl_begin(&files);
	w.arena = arena_new();
	if (w.dwfl && !dwfl_linux_proc_report(w.dwfl, pid) && !dwfl_report_end(w.dwfl, NULL, NULL) &&
	    dwfl_attach_state(w.dwfl, NULL, pid, &threads, &w))
		while ((e = readdir(dir)))
			if (*e->d_name != '.') {
				look_at(&w, e->d_name, t);
				take(arg, t);
			}
	closedir(dir);
	dwfl_end(w.dwfl);
	arena_free(w.arena);
	return 0;
}

#else

int opened_read(pid_t pid, void (*take)(void *arg, const struct opened_thread *t), void *arg)
{
	(void)pid, (void)take, (void)arg;
	return -ENOTSUP;
}

#endif
