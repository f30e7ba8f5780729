/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spans.c - turns spans of threads into intervals, invocations and running segments.
 *
 * Example, --interval request: a span request 0..10 that contains parse 1..4 and send 6..9 is an interval of 10; parse has 3,
 * send 3.
 */
#include "cmd/formats/spans/spans.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "base/str.h"
#include "cmd/messages.h"

const char *import_interval, *import_start, *import_end;

const struct option_desc import_span_options[] = {
	{ 0, "interval", "NAME", OPT_STR, &import_interval, "each span or function of that name is an interval (of several inside each other, the outermost; otlp: each); csv: the intervals' name" },
	{ 0, "start", "FUNC", OPT_STR, &import_start, "chrome-trace, perfetto, ctf, uftrace: an interval begins where FUNC begins" },
	{ 0, "end", "FUNC", OPT_STR, &import_end, "chrome-trace, perfetto, ctf, uftrace: ... and ends where the next FUNC of its thread ends" },
	OPT_END
};

bool import_span_options_given(void)
{
	return import_interval || import_start || import_end;
}

void spans_init(struct spans *s)
{
	memset(s, 0, sizeof(*s));
	s->arena = arena_new();
	s->last = map_new();
	s->last_named = map_new();
}

void spans_release(struct spans *s)
{
	VEC_RELEASE(&s->list);
	VEC_RELEASE(&s->marks);
	VEC_RELEASE(&s->begun);
	VEC_RELEASE(&s->waits);
	VEC_RELEASE(&s->wakeups);
	map_free(s->last);
	map_free(s->last_named);
	arena_free(s->arena);
}

void spans_add(struct spans *s, const char *name, uint64_t tid, int64_t start_ns, int64_t end_ns)
{
	VEC_ADD(&s->list, (struct span){ arena_strdup(s->arena, name), tid, start_ns, end_ns, s->list.cnt });
}

void spans_begin(struct spans *s, const char *name, uint64_t tid, int64_t ns)
{
	uint64_t *last = map_slot(s->last, tid), *last_named = map_slot(s->last_named, hash_str(tid, name));

	VEC_ADD(&s->begun, (struct span_begun){ arena_strdup(s->arena, name), tid, ns, false, *last, *last_named });
	*last = *last_named = s->begun.cnt;
}

void spans_end(struct spans *s, const char *name, uint64_t tid, int64_t ns)
{
	bool is_named = name && *name;
	uint64_t *last = is_named ? map_slot(s->last_named, hash_str(tid, name)) : map_slot(s->last, tid);
	struct span_begun *b = NULL;

	while (*last && s->begun.items[*last - 1].ended)
		*last = is_named ? s->begun.items[*last - 1].below_named : s->begun.items[*last - 1].below;
	for (size_t at = *last; at; at = is_named ? b->below_named : b->below) {
		b = &s->begun.items[at - 1];
		if (b->ended || b->tid != tid || (is_named && strcmp(b->name, name) != 0) || b->ns > ns)
			continue;
		b->ended = true;
		spans_add(s, b->name, tid, b->ns, ns);
		return;
	}
	s->unmatched_ends++;
}

void spans_add_wait(struct spans *s, uint64_t tid, int64_t start_ns, int64_t end_ns, enum trace_state state)
{
	if (start_ns < end_ns)
		VEC_ADD(&s->waits, (struct span_wait){ tid, start_ns, end_ns, state });
}

void spans_add_wakeup(struct spans *s, uint64_t tid, uint64_t waker_tid, int64_t ns)
{
	VEC_ADD(&s->wakeups, (struct wakeup){ tid, waker_tid, ns });
}

int spans_read_file(const char *path, char **ret, size_t *ret_len, struct diag *reterr)
{
	int r = file_read_given(path, ret, ret_len);

	if (r < 0)
		return diag_set(reterr, EXIT_DATA, r, "cannot read '%s': %s", path, file_why(r));
	if (starts_with(*ret, "\x1f\x8b")) {
		diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' is compressed by gzip", path);
		return diag_remedy(reterr, -EBADMSG, "zcat %s | vprof import --from FORMAT -", path);
	}
	if (starts_with(*ret, "\xef\xbb\xbf")) {
		*ret_len -= 3;
		memmove(*ret, *ret + 3, *ret_len + 1);
	}
	return 0;
}

uint32_t spans_function(struct trace *t, struct map *numbers, const char *name)
{
	uint64_t *slot = map_slot(numbers, hash_str(0, name));

	while (*slot && strcmp(t->functions.items[*slot - 1].name, name) != 0)
		slot = map_slot(numbers, hash_str(*slot, name));
	if (*slot == 0) {
		VEC_ADD(&t->functions, (struct function){ .name = arena_strdup(t->arena, name), .probed = true });
		*slot = t->functions.cnt;
	}
	return (uint32_t)*slot - 1;
}

uint64_t spans_add_interval(struct trace *t, const char *name, uint64_t tid, int64_t start_ns, int64_t end_ns)
{
	uint64_t sid = t->intervals.cnt + 1;

	VEC_ADD(&t->intervals, (struct interval){
		.sid = sid, .name = trace_add_string(t, &t->interval_names, name), .status = INTERVAL_COMPLETED,
		.start_tid = tid, .end_tid = tid, .start_ns = start_ns, .end_ns = end_ns });
	return sid;
}

/* By thread, then outer spans first. */
static struct invocation place_of(const struct span *s)
{
	return (struct invocation){ .tid = s->tid, .start_ns = s->start_ns, .end_ns = s->end_ns, .order = (uint32_t)s->order };
}

static int by_nesting(const void *pa, const void *pb)
{
	struct invocation a = place_of(pa), b = place_of(pb);

	return compare_invocations(&a, &b);
}

struct making {
	struct trace *t;
	struct map *functions;
	struct spans *s;
	VEC(size_t) around;		/* indexes of the open spans */
	uint64_t sid;			/* of the open interval on the thread, or SID_NONE */
	int64_t sid_until_ns;
	size_t *next_end;		/* --end: for each span, the next span of that name on its thread; SIZE_MAX: none */
};

static bool is_interval(const struct making *m, const struct span *x)
{
	if (import_start)
		return false;
	return import_interval ? strcmp(x->name, import_interval) == 0 : m->around.cnt == 0;
}

static void begin_interval(struct making *m, const char *name, uint64_t tid, int64_t start_ns, int64_t end_ns)
{
	m->sid = spans_add_interval(m->t, name, tid, start_ns, end_ns);
	m->sid_until_ns = end_ns;
	if (end_ns > start_ns)
		VEC_ADD(&m->t->segments, (struct segment){ .tid = tid, .sid = m->sid, .start_ns = start_ns, .end_ns = end_ns,
							   .state = STATE_RUNNING });
}

static size_t *find_ends(const struct spans *s)
{
	size_t *next = xcalloc(s->list.cnt + 1, sizeof(*next)), end = SIZE_MAX;

	for (size_t i = s->list.cnt; i-- > 0; ) {
		if (i + 1 < s->list.cnt && s->list.items[i + 1].tid != s->list.items[i].tid)
			end = SIZE_MAX;
		if (strcmp(s->list.items[i].name, import_end) == 0)
			end = i;
		next[i] = end;
	}
	return next;
}

static void take_span(struct making *m, size_t at)
{
	struct span *x = &m->s->list.items[at];

	while (m->around.cnt && m->s->list.items[m->around.items[m->around.cnt - 1]].end_ns <= x->start_ns)
		m->around.cnt--;
	if (m->around.cnt && x->end_ns > m->s->list.items[m->around.items[m->around.cnt - 1]].end_ns) {
		x->end_ns = m->s->list.items[m->around.items[m->around.cnt - 1]].end_ns;
		m->s->crossing++;
	}
	if (m->sid != SID_NONE && x->start_ns >= m->sid_until_ns)
		m->sid = SID_NONE;
	if (m->sid == SID_NONE && is_interval(m, x))
		begin_interval(m, x->name, x->tid, x->start_ns, x->end_ns);
	if (m->sid == SID_NONE && import_start && strcmp(x->name, import_start) == 0 && m->next_end[at] != SIZE_MAX)
		begin_interval(m, import_start, x->tid, x->start_ns, m->s->list.items[m->next_end[at]].end_ns);
	VEC_ADD(&m->t->invocations, (struct invocation){
		.tid = x->tid, .sid = m->sid, .function = spans_function(m->t, m->functions, x->name), .call_site = CALL_SITE_NONE,
		.start_ns = x->start_ns, .end_ns = x->end_ns, .order = (uint32_t)m->t->invocations.cnt });
	VEC_ADD(&m->around, at);
}

/* The name of an interval is no function of its own. */
static int no_interval(const struct spans *s, struct diag *reterr)
{
	const char *wanted = import_interval ? import_interval : import_start;

	if (wanted)
		diag_set(reterr, EXIT_NO_EVIDENCE, -ENODATA, "none of the %zu spans is named '%s'%s%s", s->list.cnt, wanted,
			 import_end ? " and is followed by an end of " : "", import_end ? import_end : "");
	else
		diag_set(reterr, EXIT_NO_EVIDENCE, -ENODATA, "there is no span with a beginning and an end");
	return diag_remedy(reterr, -ENODATA, "vprof import --from FORMAT --interval NAME FILE: NAME is the name of spans in FILE");
}

void spans_tell(const struct spans *s, const struct trace *t)
{
	note_line("found %zu spans, %zu functions, %zu intervals; left out: %" PRIu64 " ends without a beginning, %" PRIu64
		  " beginnings without an end; cut at the end of the span around them: %" PRIu64, s->list.cnt, t->functions.cnt,
		  t->intervals.cnt, s->unmatched_ends, s->open, s->crossing);
	if (!s->waits.cnt)
		note_line("views that work: summary, variance-tree, factors, causes, tail, critical-path and intervals; spans do not say what they "
			  "waited for, so there are no waits and no wait-graph");
	else
		note_line("found %zu waits and %zu wake-ups; views that work: all%s", s->waits.cnt, s->wakeups.cnt,
			  s->wakeups.cnt ? "" : "; no waker is known, so no wait has a blame");
}

int spans_to_trace(struct spans *s, struct trace **ret, struct diag *reterr)
{
	_cleanup_(trace_freep) struct trace *t = trace_new();
	_cleanup_(map_freep) struct map *functions = map_new();
	struct making m = { .t = t, .s = s, .functions = functions, .sid = SID_NONE };

	if (!import_start != !import_end || (import_interval && import_start)) {
		diag_set(reterr, EXIT_USAGE, -EINVAL, "import: --start and --end go together, or --interval alone");
		return diag_remedy(reterr, -EINVAL, "vprof import --from chrome-trace --start FUNC --end FUNC FILE");
	}
	for (size_t i = 0; i < s->begun.cnt; i++)
		s->open += !s->begun.items[i].ended;
	if (s->list.cnt > 1)
		qsort(s->list.items, s->list.cnt, sizeof(*s->list.items), by_nesting);
	if (import_end)
		m.next_end = find_ends(s);
	for (size_t i = 0; i < s->list.cnt; i++) {
		if (i == 0 || s->list.items[i].tid != s->list.items[i - 1].tid) {
			m.around.cnt = 0;
			m.sid = SID_NONE;
		}
		take_span(&m, i);
	}
	VEC_RELEASE(&m.around);
	free(m.next_end);
	if (t->intervals.cnt == 0)
		return no_interval(s, reterr);
	spans_cut_waits(s, t, true);
	spans_tell(s, t);
	*ret = TAKE_PTR(t);
	return 0;
}
