/* SPDX-License-Identifier: GPL-3.0-or-later */
/* target_formats.c - other tools' traces, and the runs of several hosts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/file.h"
#include "base/str.h"
#include "cmd/formats/import_format.h"
#include "cmd/formats/spans/ctf_text.h"
#include "tests/fuzz/targets.h"
#include "trace/stitch/stitch.h"
#include "trace/tuples/tuples.h"

static void promise(bool kept, const char *what)
{
	if (kept)
		return;
	fprintf(stderr, "broken promise: %s\n", what);
	abort();
}

static void look_at(struct trace *t)
{
	trace_sort(t);
	fuzz_model(t);
	trace_free(t);
}

static void import_path(const struct import_format *f, const char *path)
{
	struct diag diag = DIAG_INIT;
	struct trace *t = NULL;

	if (f->read(&path, 1, &t, &diag) < 0)
		promise((diag.status == EXIT_DATA || diag.status == EXIT_NO_EVIDENCE) && *diag.text && !t, "an error has a message and a status");
	else
		look_at(t);
}

void fuzz_otlp(const uint8_t *data, size_t len)
{
	import_path(&import_otlp, fuzz_file(data, len));
}

void fuzz_chrome(const uint8_t *data, size_t len)
{
	import_path(&import_chrome_trace, fuzz_file(data, len));
}

void fuzz_perfetto(const uint8_t *data, size_t len)
{
	import_path(&import_perfetto, fuzz_file(data, len));
}

void fuzz_csv(const uint8_t *data, size_t len)
{
	import_path(&import_csv, fuzz_file(data, len));
}

/* Up to the next line "--" and behind it; the last piece has the rest. */
static size_t cut_piece(const uint8_t *data, size_t len, size_t *ret_next)
{
	for (size_t i = 0; i + 4 <= len; i++)
		if (memcmp(data + i, "\n--\n", 4) == 0) {
			*ret_next = i + 4;
			return i + 1;
		}
	*ret_next = len;
	return len;
}

/* task.txt, the map, the symbols and the records of thread 7, in this order. */
void fuzz_uftrace(const uint8_t *data, size_t len)
{
	static const char *const names[] = { "task.txt", "sid-ab.map", "prog.sym", "7.dat" };
	static const char info[40] = { 'F', 't', 'r', 'a', 'c', 'e', '!', 0, 4, 0, 0, 0, 40, 0, 1, 2 };
	const char *dir = fuzz_directory("uftrace");
	char *path = path_join(dir, "info");

	file_write(path, info, sizeof(info), 0600);
	free(path);
	for (size_t i = 0; i < 4; i++) {
		size_t next, piece = i < 3 ? cut_piece(data, len, &next) : len;

		path = path_join(dir, names[i]);
		file_write(path, (const char *)data, piece, 0600);
		free(path);
		data += i < 3 ? next : piece;
		len -= i < 3 ? next : piece;
	}
	import_path(&import_uftrace, dir);
}

void fuzz_ctf(const uint8_t *data, size_t len)
{
	struct diag diag = DIAG_INIT;
	struct trace *t = NULL;
	struct spans s;
	struct ctf *c = ctf_new(&s);
	char *text = xstrndup((const char *)data, len);

	spans_init(&s);
	ctf_read_text(c, text);
	ctf_finish(c);
	if (spans_to_trace(&s, &t, &diag) == 0)
		look_at(t);
	spans_release(&s);
	free(text);
}

/* Two runs of tuples; what is stitched is a trace as any. */
void fuzz_stitch(const uint8_t *data, size_t len)
{
	static const char *const hosts[] = { "a", "b" };
	struct trace *parts[2] = { NULL, NULL }, *t = NULL;
	struct diag diag = DIAG_INIT;
	struct stitched told = { .joined = 0 };
	size_t next, piece = cut_piece(data, len, &next);

	if (tuples_parse((const char *)data, piece, "a", &parts[0], &diag) == 0 &&
	    tuples_parse((const char *)data + next, len - next, "b", &parts[1], &diag) == 0) {
		t = stitch(parts, hosts, 2, &told);
		promise((t != NULL) == (told.joined > 0), "what is joined is written");
	}
	VEC_RELEASE(&told.clocks);
	trace_free(parts[0]);
	trace_free(parts[1]);
	if (t)
		look_at(t);
}
