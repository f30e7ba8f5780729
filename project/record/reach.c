/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reach.c - checks its environment, its auxiliary vector and its root, in this order, and reports the first obstacle.
 */
#include <errno.h>
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/elf.h"
#include "base/file.h"
#include "instrumenter/insert/unit_note.h"
#include "project/record/reach.h"

static char *path_of(pid_t pid, const char *file)
{
	struct str path = STR_INIT;

	str_addf(&path, "/proc/%d/%s", (int)pid, file);
	return str_take(&path);
}

static char *read_of(pid_t pid, const char *file, size_t *ret_len)
{
	_cleanup_(freep) char *path = path_of(pid, file);
	char *text = NULL;

	return file_read(path, &text, ret_len) == 0 ? text : NULL;
}

bool reach_line(pid_t pid, const char *file, const char *name, struct str *ret)
{
	_cleanup_(freep) char *text = read_of(pid, file, NULL);

	str_reset(ret);
	for (const char *line = text; line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t len = strcspn(line, "\n"), name_len = strlen(name);

		if (len < name_len || strncmp(line, name, name_len) != 0)
			continue;
		for (line += name_len, len -= name_len; len && (*line == ' ' || *line == '\t'); len--)
			line++;
		str_addn(ret, line, len);
		return true;
	}
	return false;
}

/* Where its environment is in its memory, fields 50 and 51 of /proc/PID/stat; 0: nowhere yet, or we may not know. */
static void environment_place(pid_t pid, unsigned long *ret_start, unsigned long *ret_end)
{
	enum { FIRST_BEHIND_NAME = 3, ENV_START = 50 };
	_cleanup_(freep) char *text = read_of(pid, "stat", NULL);
	char *at = text ? strrchr(text, ')') : NULL;

	*ret_start = *ret_end = 0;
	for (int field = FIRST_BEHIND_NAME - 1; at && field < ENV_START; field++)
		at = (at = strchr(at, ' ')) ? at + 1 : NULL;
	if (!at)
		return;
	*ret_start = strtoul(at, &at, 10);
	*ret_end = strtoul(at, NULL, 10);
}

/*
 * Its environment is empty.  It also reads as empty while the process begins another program: the kernel puts the environment
 * in place after the program.  A place that is the same a moment later is that of a program that runs.
 */
static bool has_no_environment(pid_t pid)
{
	static const struct timespec moment = { 0, 2000000 };
	unsigned long before, start, end;

	environment_place(pid, &before, &end);
	(void)nanosleep(&moment, NULL);
	environment_place(pid, &start, &end);
	return start && start == before && start == end;
}

/* The value of a variable of its environment, as it was when the program started; NULL: it has none. */
static const char *variable(const char *environment, size_t len, const char *name)
{
	size_t name_len = strlen(name);

	for (const char *at = environment; at && at < environment + len; at += strlen(at) + 1)
		if (strncmp(at, name, name_len) == 0 && at[name_len] == '=')
			return at + name_len + 1;
	return NULL;
}

static bool is_privileged(pid_t pid)
{
	size_t len = 0;
	_cleanup_(freep) char *text = read_of(pid, "auxv", &len);

	for (size_t at = 0; text && at + sizeof(Elf64_auxv_t) <= len; at += sizeof(Elf64_auxv_t)) {
		Elf64_auxv_t entry;

		memcpy(&entry, text + at, sizeof(entry));
		if (entry.a_type == AT_SECURE)
			return entry.a_un.a_val;
	}
	return false;
}

/* Whether it is the same file, seen from its root and in its mount namespace. */
static bool sees(pid_t pid, const char *arena_path)
{
	_cleanup_(str_release) struct str path = STR_INIT;
	struct stat ours, theirs;

	str_addf(&path, "/proc/%d/root%s", (int)pid, arena_path);
	return stat(arena_path, &ours) != 0 || (stat(path.data, &theirs) == 0 && theirs.st_ino == ours.st_ino &&
						theirs.st_dev == ours.st_dev);
}

static bool may_write(pid_t pid, const char *arena_path)
{
	_cleanup_(str_release) struct str path = STR_INIT;
	struct statvfs st;

	str_addf(&path, "/proc/%d/root%s", (int)pid, arena_path);
	return statvfs(path.data, &st) != 0 || !(st.f_flag & ST_RDONLY);
}

static bool may_open(pid_t pid, const char *arena_path)
{
	_cleanup_(str_release) struct str uids = STR_INIT;
	unsigned long real, effective;
	struct stat st;
	char *end;

	if (stat(arena_path, &st) != 0 || st.st_mode & S_IWOTH || !reach_line(pid, "status", "Uid:", &uids))
		return true;
	real = strtoul(str_cstr(&uids), &end, 10);
	effective = strtoul(end, NULL, 10);
	(void)real;
	return effective == 0 || effective == st.st_uid;
}

enum reach reach_ask(pid_t pid, const char *arena_path, struct str *exe)
{
	_cleanup_(freep) char *program = path_of(pid, "exe"), *environment = NULL;
	_cleanup_(elf_closep) struct elf *e = NULL;
	char target[4096];
	ssize_t target_len = readlink(program, target, sizeof(target) - 1);
	const char *arena;
	size_t len = 0;
	bool is_linked;

	if (target_len <= 0 || elf_open(program, &e) != 0)
		return REACH_UNKNOWN;
	target[target_len] = '\0';
	if (exe) {
		str_reset(exe);
		str_add(exe, target);
	}
	is_linked = elf_symbol(e, "vprof_register", true) || elf_symbol(e, "vprof_anchor", true) ||
		    (!e->interpreter && elf_holds(e, ARENA_VARIABLE));
	if (!is_linked && !elf_symbol(e, REGISTER_OURS, false))
		return REACH_NO_PROBES;
	environment = read_of(pid, "environ", &len);
	arena = variable(environment, len, ARENA_VARIABLE);
	if (!environment || !len)
		return arena_path && has_no_environment(pid) ? REACH_NOT_TOLD : REACH_UNKNOWN;
	if (is_privileged(pid))
		return REACH_PRIVILEGED;
	if (arena_path && !arena)
		return REACH_NOT_TOLD;
	if (arena_path && !is_linked) {
		const char *preload = variable(environment, len, "LD_PRELOAD");

		if (!preload || !strstr(preload, "libvprof.so"))
			return REACH_NO_RUNTIME;
	}
	if (arena_path && strncmp(arena, "fd:", 3) == 0)
		return REACH_UNKNOWN;
	if (arena_path && !sees(pid, arena_path))
		return REACH_NOT_SEEN;
	if (arena_path && !may_write(pid, arena_path))
		return REACH_READ_ONLY;
	return arena_path && !may_open(pid, arena_path) ? REACH_NOT_ALLOWED : REACH_UNKNOWN;
}

const char *reach_text(enum reach r)
{
	switch (r) {
	case REACH_NO_PROBES:
		return "it was not built with vprof";
	case REACH_NOT_TOLD:
		return "its environment does not say where the recording is (VPROF_ARENA)";
	case REACH_NO_RUNTIME:
		return "its LD_PRELOAD is without libvprof.so, and the runtime was not linked in";
	case REACH_PRIVILEGED:
		return "it is set-user-ID or has capabilities, and ignores its environment";
	case REACH_NOT_SEEN:
		return "it cannot see the file of the recording buffer";
	case REACH_READ_ONLY:
		return "it cannot write to the recording buffer";
	case REACH_NOT_ALLOWED:
		return "the recording buffer belongs to another user";
	case REACH_UNKNOWN:
		break;
	}
	return "it did not join the recording, for an unknown reason";
}

const char *reach_remedy(enum reach r)
{
	switch (r) {
	case REACH_NO_PROBES:
		return "vprof build -- make   (then run what it built)";
	case REACH_NOT_TOLD:
		return "pass VPROF_ARENA and LD_PRELOAD on: sudo --preserve-env=VPROF_ARENA,LD_PRELOAD, docker run -e VPROF_ARENA";
	case REACH_NO_RUNTIME:
		return "add to what record sets: LD_PRELOAD=yours.so:$LD_PRELOAD; or link through vprof: vprof build -- make";
	case REACH_PRIVILEGED:
		return "record a copy without them (cp drops them), started as the user it would become";
	case REACH_NOT_SEEN:
	case REACH_READ_ONLY:
		return "vprof record --arena DIR, a directory that both see by the same name; or --arena fd";
	case REACH_NOT_ALLOWED:
		return "record as root: then programs of all users may be recorded; or vprof record --arena fd";
	case REACH_UNKNOWN:
		break;
	}
	return "vprof doctor PROGRAM says whether it can be recorded";
}
