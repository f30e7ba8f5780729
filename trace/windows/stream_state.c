/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stream_state.c - where the window ends, for stream.c, which chooses it, and stream_kernel.c, which moves it. */
#include "trace/windows/stream_state.h"

#include "base/banned.h"

void stream_move_end(struct trace_stream *s, int64_t until_ns)
{
	s->rd.until_ns = until_ns;
	while (s->next_end < s->by_end.cnt && s->by_end.items[s->next_end]->last_ns <= until_ns)
		s->next_end++;
	s->is_last = s->next_end == s->by_end.cnt;
	if (s->is_last)
		s->rd.until_ns = INT64_MAX;
}
