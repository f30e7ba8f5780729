/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * otlp_spans.h - spans of OpenTelemetry, read from JSON: who is whose child, and what is left out.
 *
 * A file holds one document after another, each on a line or over many.  A document is an object with "resourceSpans" (of old
 * collectors "instrumentationLibrarySpans" inside), one with "batches" (Tempo), one of these inside "trace" or "result", or a list of
 * them.  Those of metrics and logs, which collectors write into the same file, are counted.  Ids are hexadecimal digits of either
 * case, or base64.
 *
 * An exporter that gets no answer sends again: a span with an id that was there before is left out.
 */
#ifndef CMD_FORMATS_SPANS_OTLP_SPANS_H
#define CMD_FORMATS_SPANS_OTLP_SPANS_H

#include "cmd/formats/spans/spans.h"

#define OTLP_NONE UINT32_MAX

struct ospan {
	const char *name, *service;
	uint64_t id, parent;		/* hashes of the trace's and the span's id together; parent 0: none */
	int64_t start_ns, end_ns;
	uint32_t up;			/* index of the parent; OTLP_NONE: none is here */
	bool in_circle;			/* its own ancestor: it had a parent, but that is none */
	size_t first_child, child_cnt;	/* in children */
	size_t first_link, link_cnt;	/* in links */
	enum trace_state state;		/* running, or what it waits for */
	uint64_t sid;			/* of the interval that it is; 0: none */
};

struct ochild {				/* of one parent, those that end last come first; of these, that begin first */
	int64_t start_ns, end_ns;
	uint32_t span;
	uint32_t earliest;		/* the one of those up to here that begins first, as an index among them */
};

struct otlp {
	struct spans counts;		/* its arena, and the counts of what was left out */
	VEC(struct ospan) spans;
	VEC(struct ochild) children;
	VEC(uint64_t) links;		/* ids of spans */
	struct map *index;		/* id -> index of the span + 1 */
	const char *first_service;
	bool has_services;		/* there is more than one */
	const char *path;		/* of the document that is read */
	unsigned long line;		/* where it begins */
	size_t number;			/* of the span in it */
	uint64_t repeated, others, orphans, in_circles, outside;
};

void otlp_init(struct otlp *o);
void otlp_release(struct otlp *o);

/* Adds the spans of a file's text.  EXIT_DATA names the line, or where the document begins, and the span in it. */
int otlp_read_text(struct otlp *o, const char *path, const char *text, size_t len, struct diag *reterr);

/* When all files are read: times from the first start on, parents, children. */
void otlp_link(struct otlp *o);

/* Warns of what was left out, other than ends and beginnings. */
void otlp_warn(const struct otlp *o);

#endif
