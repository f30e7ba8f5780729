/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_uftrace.c - `vprof import --from uftrace`: the directory that uftrace record writes.
 *
 * Each thread has a file of records of 16 bytes, a call or a return: ns, then type (2 bits), whether data follow, 5 (3 bits),
 * depth (10 bits), address (48 bits).  perf-cpu*.dat says when threads left their CPU.
 *
 *	entry 100 depth 0 handle, entry 110 depth 1 parse, exit 140 depth 1, exit 150 depth 0	handle 100..150, parse 110..140
 *
 * A call of a library's function is no function here, as with vprof: it says what the thread waited for.  Without perf-cpu*.dat such a
 * call is a wait as a whole.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/search.h"
#include "base/str.h"
#include "cmd/formats/import_format.h"
#include "cmd/formats/spans/spans.h"
#include "cmd/formats/spans/uftrace_names.h"
#include "cmd/messages.h"

enum {
	RECORD_BYTES = 16, RECORD_MAGIC = 5, HEADER_BYTES = 40, CLASS_64 = 2, LITTLE_ENDIAN_DATA = 1,
	DATA_MOST = 8192,		/* of one call's arguments, or an event */
	PERF_SWITCH = 14, PERF_SWITCH_BYTES = 24, PERF_OUT = 1 << 13, PERF_PREEMPTED = 1 << 14,
};
enum record_type { RECORD_ENTRY, RECORD_EXIT, RECORD_LOST, RECORD_EVENT };

struct record {
	int64_t ns;
	enum record_type type;
	bool has_data;
	unsigned depth;
	uint64_t address;
};

struct open_call {
	uint64_t address;		/* 0: its entry is missing */
	int64_t ns;
};

struct library_call {
	uint64_t tid;
	int64_t start_ns, end_ns;
	enum trace_state state;
};

struct moved {				/* a thread left its CPU, or came back */
	uint64_t tid;
	int64_t ns;
	bool out, preempted;
};

struct uftrace {
	struct spans spans;
	struct uftrace_names *names;
	const char *path;		/* of the file that is read */
	VEC(struct open_call) open;
	VEC(struct library_call) library;
	VEC(struct moved) moves;
	uint64_t lost;
};

static uint64_t number_at(const char *text, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = bytes; i-- > 0; )
		value = value << 8 | (unsigned char)text[i];
	return value;
}

/* The wait of a library's function, by a part of its name; functions that do not wait are not listed. */
static enum trace_state wait_of(const char *name)
{
	static const struct { const char *part; enum trace_state state; } parts[] = {
		{ "sleep", STATE_SLEEP }, { "cond_", STATE_COND }, { "cnd_", STATE_COND }, { "barrier", STATE_COND }, { "condition_variable", STATE_COND },
		{ "unlock", STATE_RUNNING }, { "destroy", STATE_RUNNING }, { "mutex", STATE_LOCK }, { "mtx_", STATE_LOCK }, { "rwlock", STATE_LOCK },
		{ "spin_lock", STATE_LOCK }, { "sem_", STATE_LOCK }, { "join", STATE_JOIN }, { "wait", STATE_JOIN }, { "poll", STATE_IO },
		{ "select", STATE_IO }, { "accept", STATE_IO }, { "connect", STATE_IO }, { "recv", STATE_IO }, { "send", STATE_IO }, { "read", STATE_IO },
		{ "write", STATE_IO }, { "sync", STATE_IO }, { "open", STATE_IO },
	};

	if (strncmp(name, "pthread_", 8) == 0 && strncmp(name, "pthread_t", 9) != 0)
		name += 8;			/* "pthread_create" does not "read" */
	if (strcmp(name, "epoll_wait") == 0 || strcmp(name, "epoll_pwait") == 0)
		return STATE_IO;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strstr(name, parts[i].part))
			return parts[i].state;
	return STATE_RUNNING;
}

/* ---- calls ---- */

static bool take_record(const char *at, struct record *ret)
{
	uint64_t ns = number_at(at, 8), word = number_at(at + 8, 8);

	*ret = (struct record){ (int64_t)ns, (enum record_type)(word & 3), word >> 2 & 1, (unsigned)(word >> 6 & 0x3ff), word >> 16 };
	return (word >> 3 & 7) == RECORD_MAGIC && ns <= INT64_MAX / 2;
}

/* Arguments have no length: the next record is where one can be, not earlier than the last. */
static size_t skip_data(const char *text, size_t len, size_t at, int64_t ns)
{
	struct record r;

	for (size_t p = at; p + RECORD_BYTES <= len && p < at + DATA_MOST; p += 8)
		if (take_record(text + p, &r) && r.ns >= ns && r.ns - ns < INT64_C(3600000000000))
			return p;
	return len;
}

static void close_call(struct uftrace *u, uint64_t tid, const struct open_call *c, int64_t ns)
{
	bool is_library;
	const char *name = uftrace_name(u->names, tid, c->ns, c->address, &is_library);

	if (!is_library)
		spans_add(&u->spans, name, tid, c->ns, ns);
	else if (wait_of(name) != STATE_RUNNING)
		VEC_ADD(&u->library, (struct library_call){ tid, c->ns, ns, wait_of(name) });
}

static void drop_to(struct uftrace *u, size_t depth)
{
	while (u->open.cnt > depth) {
		u->spans.open += u->open.items[u->open.cnt - 1].address != 0;
		u->open.cnt--;
	}
}

static void play(struct uftrace *u, uint64_t tid, const struct record *r)
{
	struct open_call *top;

	switch (r->type) {
	case RECORD_ENTRY:
		drop_to(u, r->depth);		/* longjmp() */
		while (u->open.cnt < r->depth)
			VEC_ADD(&u->open, (struct open_call){ 0, 0 });
		VEC_ADD(&u->open, (struct open_call){ r->address, r->ns });
		break;
	case RECORD_EXIT:
		drop_to(u, (size_t)r->depth + 1);
		top = u->open.cnt == (size_t)r->depth + 1 ? &u->open.items[r->depth] : NULL;
		if (top && top->address && top->ns <= r->ns)
			close_call(u, tid, top, r->ns);
		else
			u->spans.unmatched_ends++;
		u->open.cnt -= top != NULL;
		break;
	case RECORD_LOST:
		u->lost++;
		drop_to(u, 0);
		break;
	default:
		break;
	}
}

static int read_thread(struct uftrace *u, uint64_t tid, const char *text, size_t len, struct diag *reterr)
{
	struct record r = { .ns = 0 };
	size_t at = 0;

	u->open.cnt = 0;
	while (at + RECORD_BYTES <= len) {
		int64_t last_ns = r.ns;

		if (!take_record(text + at, &r))
			return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s: byte %zu: a record of uftrace was expected", u->path, at);
		if (r.ns < last_ns)
			return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s: byte %zu: this record is earlier than the one before", u->path, at);
		play(u, tid, &r);
		at += RECORD_BYTES;
		if (r.has_data)
			at = skip_data(text, len, at, r.ns);
	}
	drop_to(u, 0);
	return 0;
}

/* ---- times off the CPU ---- */

static void read_switches(struct uftrace *u, const char *text, size_t len)
{
	for (size_t at = 0, bytes; at + 8 <= len; at += bytes) {
		uint64_t type = number_at(text + at, 4), misc = number_at(text + at + 4, 2);

		bytes = number_at(text + at + 6, 2);
		if (bytes < 8 || at + bytes > len)
			return;			/* the recorder was killed while it wrote */
		if (type == PERF_SWITCH && bytes >= PERF_SWITCH_BYTES && number_at(text + at + 16, 8) <= INT64_MAX / 2)
			VEC_ADD(&u->moves, (struct moved){ number_at(text + at + 12, 4), (int64_t)number_at(text + at + 16, 8),
							   misc & PERF_OUT, misc & PERF_PREEMPTED });
	}
}

static int by_thread(const void *pa, const void *pb)
{
	const struct moved *a = pa, *b = pb;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return b->out - a->out;
}

static int calls_by_thread(const void *pa, const void *pb)
{
	const struct library_call *a = pa, *b = pb;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static enum trace_state state_at(const struct uftrace *u, uint64_t tid, int64_t ns)
{
	const struct library_call *c = u->library.items;
	size_t at = partition_point(i, u->library.cnt, c[i].tid < tid || (c[i].tid == tid && c[i].start_ns <= ns));

	return at && c[at - 1].tid == tid && c[at - 1].end_ns >= ns ? c[at - 1].state : STATE_OTHER;
}

static void find_waits(struct uftrace *u)
{
	if (u->library.cnt)
		qsort(u->library.items, u->library.cnt, sizeof(*u->library.items), calls_by_thread);
	if (u->moves.cnt)
		qsort(u->moves.items, u->moves.cnt, sizeof(*u->moves.items), by_thread);
	for (size_t i = 0; i + 1 < u->moves.cnt; i++) {
		const struct moved *out = &u->moves.items[i], *in = out + 1;

		if (out->out && !in->out && in->tid == out->tid)
			spans_add_wait(&u->spans, out->tid, out->ns, in->ns,
				       out->preempted ? STATE_RUNNABLE : state_at(u, out->tid, out->ns));
	}
	for (size_t i = 0; !u->moves.cnt && i < u->library.cnt; i++)
		spans_add_wait(&u->spans, u->library.items[i].tid, u->library.items[i].start_ns, u->library.items[i].end_ns,
			       u->library.items[i].state);
}

/* ---- the directory ---- */

/* "info" begins with "Ftrace!", the version, the header's size, the byte order, the class. */
static int check_info(const char *dir, struct diag *reterr)
{
	_cleanup_(freep) char *path = path_join(dir, "info"), *text = NULL;
	size_t len;
	int r = file_read(path, &text, &len);

	if (r < 0) {
		diag_set(reterr, EXIT_DATA, r, "cannot read '%s': %s", path, file_why(r));
		return diag_remedy(reterr, r, "uftrace record -d uftrace.data ./program; vprof import --from uftrace uftrace.data --interval FUNCTION");
	}
	if (len < HEADER_BYTES || strncmp(text, "Ftrace!", 8) != 0)
		return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s: it does not begin as uftrace's info does", path);
	if (text[14] != LITTLE_ENDIAN_DATA || text[15] != CLASS_64)
		return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s: the data is of a 32-bit or big-endian machine", path);
	return 0;
}

static int read_entry(struct uftrace *u, const char *dir, const char *name, struct diag *reterr)
{
	_cleanup_(freep) char *path = path_join(dir, name), *text = NULL;
	char *end;
	uint64_t tid = strtoull(name, &end, 10);
	bool is_thread = end != name && strcmp(end, ".dat") == 0;
	size_t len;
	int r;

	if (!is_thread && strncmp(name, "perf-cpu", 8) != 0)
		return 0;
	u->path = path;
	r = file_read(path, &text, &len);
	if (r < 0)
		return diag_set(reterr, EXIT_DATA, r, "cannot read '%s': %s", path, file_why(r));
	if (is_thread)
		return read_thread(u, tid, text, len, reterr);
	read_switches(u, text, len);
	return 0;
}

static int read_dir(struct uftrace *u, const char *dir, struct diag *reterr)
{
	struct dirent **entries = NULL;
	int r = check_info(dir, reterr), cnt;

	if (r == 0)
		r = uftrace_names_read(dir, &u->names, reterr);
	cnt = r == 0 ? scandir(dir, &entries, NULL, alphasort) : 0;
	for (int i = 0; i < cnt; i++) {
		if (r == 0)
			r = read_entry(u, dir, entries[i]->d_name, reterr);
		free(entries[i]);
	}
	free(entries);
	if (r == 0)
		find_waits(u);
	u->library.cnt = u->moves.cnt = 0;
	uftrace_names_free(u->names);
	u->names = NULL;
	return r;
}

static int read_uftrace(const char *const *paths, size_t cnt, struct trace **ret, struct diag *reterr)
{
	struct uftrace u = { .names = NULL };
	int r = 0;

	spans_init(&u.spans);
	for (size_t i = 0; r == 0 && i < cnt; i++)
		r = read_dir(&u, paths[i], reterr);
	if (r == 0 && u.lost)
		warn_line("uftrace lost records %" PRIu64 " times: the calls around them are left out", u.lost);
	if (r == 0)
		r = spans_to_trace(&u.spans, ret, reterr);
	VEC_RELEASE(&u.open);
	VEC_RELEASE(&u.library);
	VEC_RELEASE(&u.moves);
	spans_release(&u.spans);
	return r;
}

const struct import_format import_uftrace = {
	.name = "uftrace", .help = "the directory that uftrace record writes", .read = read_uftrace,
	.options = import_span_options, .has_options = import_span_options_given,
	.example = "vprof import --from uftrace --interval FUNCTION uftrace.data",
};
