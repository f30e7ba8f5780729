/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay.c - replays the events of all threads in order of time: which thread worked on which interval when.
 *
 * Each thread has the same small stack of intervals that the runtime kept (runtime/event.c has the rules and
 * an example).  An interval is open from BEGIN to the next END or DROP of the same name and key, on any
 * thread of the process or of one that comes from it, be it forked or another program that such a child
 * executed.  Other processes are left out because keys are often addresses: the workers of one server, forked
 * from the same parent, all have their first request at the same one.
 *
 * A BEGIN of one that is open is nested if the thread works on it (nesting.h).  If another thread works on
 * it, they are two intervals, and each thread's END ends its own.  If no thread does, the older one is
 * dropped.
 *
 * A task that goes from one thread to another is a creation edge: ENQUEUE to DEQUEUE, a new thread, and
 * RESUME on another thread than the one that worked on the interval before:
 *
 *	T1 BEGIN r 10, PAUSE 15; T2 RESUME r 25, END r 60:  creation T1 15 -> T2 25
 *
 * A pause of the recording cuts the intervals that are open then, and those that begin in it: not all threads
 * learn of it at once.
 *
 *	pause 30..90; BEGIN r 10, END r 20: whole.  BEGIN s 25: aborted at 30, whenever it ends
 */
#include "base/banned.h"
#include "base/search.h"
#include "trace/read/nesting.h"

static void play(struct replay *p, const struct raw_event *e);
static void play_pauses(struct replay *p, int64_t ns);

uint64_t sid_history_at(const struct sid_history *line, size_t *at, int64_t ns)
{
	while (*at < line->changes.cnt && line->changes.items[*at].ns <= ns)
		++*at;
	return *at ? line->changes.items[*at - 1].sid : SID_NONE;
}

struct replay *replay_new(struct reading *rd)
{
	struct replay *p = xcalloc(1, sizeof(*p));

	p->rd = rd;
	p->t = rd->t;
	p->open = map_new();
	p->place_of = map_new();
	p->parents = map_new();
	p->tasks = map_new();
	p->stacks = xcalloc(rd->raw.threads.cnt + 1, sizeof(*p->stacks));
	p->returns = xcalloc(rd->raw.labels.cnt + 1, sizeof(*p->returns));
	p->loops = map_new();
	p->interval_names = xmalloc((rd->raw.labels.cnt + 1) * sizeof(*p->interval_names));
	for (size_t i = 0; i < rd->raw.labels.cnt; i++)
		p->interval_names[i] = NAME_NONE;
	return p;
}

void replay_free(struct replay *p)
{
	if (!p)
		return;
	map_free(p->open);
	map_free(p->place_of);
	map_free(p->parents);
	map_free(p->tasks);
	map_free(p->unfinished);
	map_free(p->outermost);
	map_free(p->loops);
	free(p->returns);
	for (size_t i = 0; i < p->workers.cnt; i++)
		VEC_RELEASE(&p->workers.items[i].inside);
	free(p->stacks);
	free(p->interval_names);
	VEC_RELEASE(&p->workers);
	VEC_RELEASE(&p->free_places);
	VEC_RELEASE(&p->enqueued);
	VEC_RELEASE(&p->losses);
	free(p);
}

void replay_reset(struct reading *rd)
{
	struct trace *t = rd->t;

	t->intervals.cnt = t->creations.cnt = t->works.cnt = t->pairings.cnt = t->ids.cnt = t->remote_calls.cnt = 0;
	t->losses = (struct losses){ .records = 0 };
	for (size_t i = 0; i < rd->raw.threads.cnt; i++)
		rd->histories[i].changes.cnt = rd->histories[i].unknown.cnt = rd->histories[i].is_redone = 0;
}

void replay_events(struct replay *p, const struct raw_event *events, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		play(p, &events[i]);
}

static int compare_workers(const void *a, const void *b)
{
	const struct worker *x = a, *y = b;

	return x->interval.sid < y->interval.sid ? -1 : x->interval.sid > y->interval.sid;
}

void replay_end(struct replay *p)
{
	play_pauses(p, INT64_MAX - 1);
	replay_play_holes(p, INT64_MAX);
	if (!p->rd->raw.ended && !p->unfinished)
		replay_mark_unfinished(p);
	if (p->workers.cnt)
		qsort(p->workers.items, p->workers.cnt, sizeof(*p->workers.items), compare_workers);
	for (size_t i = 0; i < p->workers.cnt; i++) {
		struct worker *w = &p->workers.items[i];

		if (w->interval.sid)
			nesting_give_up(p, w);
		if (w->interval.sid && !w->is_spent) {
			replay_mark_losses(p, &w->interval);
			VEC_ADD(&p->t->intervals, w->interval);
		}
		VEC_RELEASE(&w->inside);
	}
	p->workers.cnt = 0;
}

static const char *label_text(const struct replay *p, uint64_t id)
{
	const struct raw *r = &p->rd->raw;
	const char *text = id < r->labels.cnt ? r->labels.items[id] : NULL;

	return text && *text ? text : "?";
}

/* An interval that starts at a mark may belong to an interval of vprof.conf, under that one's name. */
static uint32_t interval_name(struct replay *p, uint64_t id)
{
	const struct reader_options *o = p->rd->options;
	const char *text = label_text(p, id);
	uint32_t name;

	if (id < p->rd->raw.labels.cnt && p->interval_names[id] != NAME_NONE)
		return p->interval_names[id];
	for (size_t i = 0; o && i < o->alias_cnt; i++)
		if (!strcmp(o->aliases[i].mark, text)) {
			text = o->aliases[i].interval;
			break;
		}
	name = trace_add_string(p->t, &p->t->interval_names, text);
	if (id < p->rd->raw.labels.cnt)
		p->interval_names[id] = name;
	return name;
}

/* The open interval of this name and key that began in this process, or NULL. */
static struct worker *find_own(struct replay *p, uint32_t pid, uint32_t name, uint64_t key)
{
	struct worker *w;
	uint64_t sid;

	if (!map_get(p->open, interval_hash(pid, name, key), &sid) || !sid)
		return NULL;
	w = find_worker(p, sid);
	return w && w->interval.name == name && w->key == key && w->pid == pid ? w : NULL;
}

/* ... or in the processes it was forked from; the nearest. */
static struct worker *find_open(struct replay *p, uint32_t thread, uint32_t name, uint64_t key)
{
	uint64_t pid = pid_of(p, thread);
	struct worker *w = find_own(p, (uint32_t)pid, name, key);

	/* A sound trace ends here earlier; in a damaged one a process may be its own parent. */
	for (int forks = 0; !w && forks < FORKS_MAX && map_get(p->parents, pid, &pid); forks++)
		w = find_own(p, (uint32_t)pid, name, key);
	return w;
}

/* Cuts an interval that is under way when the recording pauses or begins: what other threads did for it is unknown. */
static void cut_open(struct replay *p, int64_t ns)
{
	for (size_t i = 0; i < p->workers.cnt; i++) {
		struct worker *w = &p->workers.items[i];

		if (!w->interval.sid)
			continue;
		p->t->losses.at_pause++;
		replay_end_interval(p, w, INTERVAL_ABORTED, w->interval.start_tid,
			     ns > w->interval.start_ns ? ns : w->interval.start_ns);
	}
}

/* ns is reached: plays the pauses that began or ended by then. */
static void play_pauses(struct replay *p, int64_t ns)
{
	const struct raw *r = &p->rd->raw;

	while (p->next_pause < r->pauses.cnt) {
		const struct raw_pause *pause = &r->pauses.items[p->next_pause];

		if (!p->is_paused && ns < (int64_t)pause->from)
			return;
		if (!p->is_paused)
			cut_open(p, (int64_t)pause->from);
		p->is_paused = ns <= (int64_t)pause->until;
		if (p->is_paused)
			return;
		cut_open(p, (int64_t)pause->until);
		p->next_pause++;
	}
}

static void close_interval(struct replay *p, struct worker *w, const struct raw_event *e,
			   enum interval_status status)
{
	replay_count_lost_sight(p, w, e->thread);
	if (e->kind == EVENT_DROP)
		nesting_abort(p, w);
	/* Begun by a thread that did not know of the pause yet. */
	p->t->losses.at_pause += p->is_paused && status == INTERVAL_COMPLETED;
	replay_end_interval(p, w, p->is_paused ? INTERVAL_ABORTED : status, tid_of(p, e->thread), e->ns);
}

static struct worker *new_worker(struct replay *p)
{
	struct worker *w;

	if (!p->free_places.cnt)
		return VEC_EXTEND(&p->workers);
	w = &p->workers.items[p->free_places.items[--p->free_places.cnt]];
	memset(w, 0, sizeof(*w));
	return w;
}

/* older: the interval of the same name and key on another thread, or NULL. */
static uint64_t open_interval(struct replay *p, uint32_t name, const struct raw_event *e, uint64_t sid,
			      const struct worker *older)
{
	uint64_t older_sid = older ? older->interval.sid : 0;
	uint32_t rank = older ? older->rank + 1 : 0;
	struct worker *w = new_worker(p);

	w->interval = (struct interval){
		.sid = sid, .name = name, .status = INTERVAL_OPEN,
		.lost = e->words[2] & BEGIN_SHORT || replay_lacks_name(p, e->words[0]),
		.root_only = e->words[2] & BEGIN_ROOT_ONLY,
		.weight = begin_weight(e->words[2]),
		.start_tid = tid_of(p, e->thread), .start_ns = e->ns, .idle_ns = replay_idle_ns(p, e->thread),
	};
	w->key = e->words[1];
	w->thread = e->thread;
	w->pid = pid_of(p, e->thread);
	w->stopped_ns = w->handed_ns = w->polled_ns = w->left_ns = INT64_MAX;
	w->in_frame = e->words[2] & BEGIN_IN_FRAME;
	w->older = older_sid;
	w->rank = rank;
	map_set(p->place_of, sid, (uint64_t)(w - p->workers.items) + 1);
	map_set(p->open, interval_hash(w->pid, name, w->key), sid);
	return sid;
}

static void stop_work(struct replay *p, const struct label *l, const struct raw_event *e)
{
	struct worker *w = l->sid == SID_NONE ? NULL : find_worker(p, l->sid);

	if (w && w->thread == e->thread)
		w->stopped_ns = e->ns;
}

static void drop_label(struct replay *p, const struct raw_event *e, size_t at)
{
	struct label *items = p->stacks[e->thread].items;
	size_t *cnt = &p->stacks[e->thread].cnt;

	if (!items[at].left)
		stop_work(p, &items[at], e);
	--*cnt;
	memmove(&items[at], &items[at + 1], (*cnt - at) * sizeof(items[0]));
}

static size_t find_label(const struct replay *p, const struct raw_event *e)
{
	const struct label *items = p->stacks[e->thread].items;
	size_t at = p->stacks[e->thread].cnt;

	while (at && (items[at - 1].id != e->words[0] || items[at - 1].key != e->words[1]))
		at--;
	return at;			/* index + 1; 0: not there */
}

static void push_label(struct replay *p, const struct raw_event *e, uint64_t sid)
{
	if (p->stacks[e->thread].cnt == LABELS_MAX) {
		if (!p->stacks[e->thread].items[0].left)
			replay_lose_sight(p, p->stacks[e->thread].items[0].sid, e->thread);
		drop_label(p, e, 0);
	}
	p->stacks[e->thread].items[p->stacks[e->thread].cnt++] =
		(struct label){ e->words[0], e->words[1], sid, false };
}

static void note_top(struct replay *p, const struct raw_event *e)
{
	struct sid_history *line = &p->rd->histories[e->thread];
	uint64_t sid = replay_top_sid(&p->stacks[e->thread]);
	size_t cnt = line->changes.cnt;

	if (sid != (cnt ? line->changes.items[cnt - 1].sid : SID_NONE))
		VEC_ADD(&line->changes, (struct sid_change){ e->ns, sid });
}

/* The thread works on w from now on.  from_ns: until then, the thread that did so before. */
static void take_over(struct replay *p, struct worker *w, const struct raw_event *e, int64_t from_ns)
{
	if (w->thread != e->thread)
		replay_add_creation(p, w->thread, from_ns < e->ns ? from_ns : e->ns, e->thread, e->ns);
	w->out_of_sight &= w->thread == e->thread;
	w->thread = e->thread;
	w->stopped_ns = w->handed_ns = w->polled_ns = w->left_ns = INT64_MAX;
}

/* The open interval of that name and key on the thread's own stack, or NULL. */
static struct worker *find_at_hand(struct replay *p, const struct raw_event *e)
{
	size_t at = find_label(p, e);

	return at ? find_worker(p, p->stacks[e->thread].items[at - 1].sid) : NULL;
}

static void play_resume(struct replay *p, const struct raw_event *e)
{
	struct worker *w = find_at_hand(p, e);
	size_t at = find_label(p, e), cnt = p->stacks[e->thread].cnt;

	if (!w)
		w = find_open(p, e->thread, interval_name(p, e->words[0]), e->words[1]);
	replay_turn_to(p, e, interval_name(p, e->words[0]), w ? w->interval.sid : SID_NONE);
	if (at)
		drop_label(p, e, at - 1);
	else if (cnt && p->stacks[e->thread].items[cnt - 1].id == e->words[0])
		drop_label(p, e, cnt - 1);
	push_label(p, e, w ? w->interval.sid : SID_NONE);
	if (w)
		take_over(p, w, e, w->left_ns < w->stopped_ns ? w->left_ns : w->stopped_ns);
	else
		p->t->losses.stray_events += replay_counts_strays(p);
}

/* Until the function ends the interval, the thread works on it, whatever else is on its stack. */
static void play_finish(struct replay *p, const struct raw_event *e)
{
	struct worker *w = find_open(p, e->thread, interval_name(p, e->words[0]), e->words[1]);

	if (!w || find_label(p, e))
		return;
	replay_turn_to(p, e, w->interval.name, w->interval.sid);
	push_label(p, e, w->interval.sid);
	take_over(p, w, e, w->handed_ns < w->stopped_ns ? w->handed_ns : w->left_ns < w->stopped_ns ? w->left_ns : w->stopped_ns);
}

static void play_handed(struct replay *p, const struct raw_event *e)
{
	struct worker *w = find_at_hand(p, e);

	replay_note_return(p, e, w);
	if (w && w->thread == e->thread)
		w->handed_ns = e->ns;
}

static void play_unwound(struct replay *p, const struct raw_event *e)
{
	struct worker *w = find_at_hand(p, e);

	if (!w)
		return;
	nesting_unwound(p, w);
	if (!e->words[2])
		return;
	nesting_give_up(p, w);
	close_interval(p, w, e, INTERVAL_ABORTED);
}

/* Whether `other`, which is not on the thread's stack, is a different interval with the same key. */
static bool is_apart(const struct worker *other, const struct raw_event *e)
{
	return other->thread != e->thread && other->stopped_ns == INT64_MAX && other->handed_ns == INT64_MAX &&
	       other->rank < RANK_MAX;
}

static void play_begin(struct replay *p, const struct raw_event *e)
{
	uint32_t name = interval_name(p, e->words[0]);
	struct worker *at_hand = find_at_hand(p, e), *other;
	uint64_t sid = ++p->sid_cnt;
	size_t at = find_label(p, e);

	pairing_of(p, name)->starts++;
	replay_turn_to(p, e, name, at_hand ? at_hand->interval.sid : SID_NONE);
	/* The child's own interval, though it works on its parent's. */
	if (at_hand && at_hand->pid != pid_of(p, e->thread))
		at_hand = NULL;
	other = at_hand ? at_hand : find_own(p, pid_of(p, e->thread), name, e->words[1]);
	if (other && !at_hand && other->is_spent && other->thread == e->thread)
		at_hand = other;
	if (at_hand && nesting_begin(p, at_hand, e, sid)) {
		replay_take_up(p, e, at_hand);
		if (at && at_hand->interval.sid == sid)
			p->stacks[e->thread].items[at - 1].sid = sid;
		else if (at_hand->interval.sid == sid)
			push_label(p, e, sid);
		return;
	}
	if (other && (at_hand || !is_apart(other, e))) {
		nesting_give_up(p, other);
		close_interval(p, other, e, INTERVAL_ABORTED);
		other = NULL;
	}
	if (at)
		drop_label(p, e, at - 1);
	push_label(p, e, open_interval(p, name, e, sid, other));
}

/* An END or DROP that finds no open interval. */
static void play_stray_end(struct replay *p, const struct raw_event *e, uint32_t name)
{
	uint64_t unused;

	if (p->rd->raw.windowed) {
		p->t->losses.before_window++;
	} else if (replay_counts_strays(p)) {
		p->t->losses.stray_events++;
		/* A further END of an interval that has ended changes nothing: several places may end it. */
		if (!map_get(p->open, interval_hash(pid_of(p, e->thread), name, e->words[1]), &unused))
			nesting_stray(p, e, name);
	}
}

/* The innermost of nested intervals has ended: only ENDs remain for the outer ones. */
static void spend(struct replay *p, struct worker *w, const struct raw_event *e)
{
	w->interval.status = INTERVAL_COMPLETED;
	w->interval.end_tid = tid_of(p, e->thread);
	w->interval.end_ns = e->ns;
	replay_mark_losses(p, &w->interval);
	VEC_ADD(&p->t->intervals, w->interval);
	w->is_spent = true;
	w->thread = e->thread;
	w->depth--;
}

static void play_end(struct replay *p, const struct raw_event *e)
{
	uint32_t name = interval_name(p, e->words[0]);
	struct worker *w = find_at_hand(p, e);
	size_t at = find_label(p, e);

	if (!w)
		w = find_open(p, e->thread, name, e->words[1]);
	if (w && nesting_end(p, w))
		return;
	if (w)
		replay_take_up(p, e, w);
	if (!w)
		play_stray_end(p, e, name);
	else if (w->is_spent && w->depth)
		w->depth--;
	else if (w->depth && e->kind == EVENT_END && !p->is_paused)
		spend(p, w, e);
	else
		close_interval(p, w, e,
			       e->kind == EVENT_END ? INTERVAL_COMPLETED : INTERVAL_ABORTED);
	if (at)
		drop_label(p, e, at - 1);
}

static void play_work(struct replay *p, const struct raw_event *e)
{
	uint64_t sid = replay_top_sid(&p->stacks[e->thread]);

	if (sid == SID_NONE)
		return;
	/* Work for an interval that has ended, perhaps in an earlier window. */
	p->rd->unfit |= !find_worker(p, sid);
	VEC_ADD(&p->t->works, (struct work){ sid,
		trace_add_string(p->t, &p->t->work_names, label_text(p, e->words[0])),
		(int64_t)e->words[1] });
}

/* A PAUSE of the program's own, or because the recording was off for a while. */
static void play_pause(struct replay *p, const struct raw_event *e)
{
	if (e->kind == EVENT_REOPEN && (int64_t)e->words[0] < e->ns)
		VEC_ADD(&p->rd->histories[e->thread].unknown, (struct blocked){ (int64_t)e->words[0], e->ns });
	while (p->stacks[e->thread].cnt)
		drop_label(p, e, p->stacks[e->thread].cnt - 1);
}

static void play_leave(struct replay *p, const struct raw_event *e)
{
	size_t at = find_label(p, e);

	replay_note_return(p, e, NULL);
	if (at && at == p->stacks[e->thread].cnt)
		drop_label(p, e, at - 1);
}

static void play_ids(struct replay *p, const struct raw_event *e)
{
	uint64_t sid = replay_top_sid(&p->stacks[e->thread]);
	struct worker *w = sid == SID_NONE ? NULL : find_worker(p, sid);

	if (!p->rd->keeps_ids)
		return;
	if (e->kind == EVENT_CALL) {
		VEC_ADD(&p->t->remote_calls, (struct remote_call){ tid_of(p, e->thread), e->words[0], e->ns });
	} else if (w && !w->has_ids) {
		w->has_ids = true;	/* the outermost BEGIN's */
		VEC_ADD(&p->t->ids, (struct interval_ids){ sid, { e->words[0], e->words[1] }, e->words[2], e->words[3] });
	}
}

static void play(struct replay *p, const struct raw_event *e)
{
	play_pauses(p, e->ns);
	replay_play_holes(p, e->ns);
	switch (e->kind) {
	case EVENT_BEGIN:
		play_begin(p, e);
		break;
	case EVENT_END:
	case EVENT_DROP:
		play_end(p, e);
		break;
	case EVENT_RESUME:
		play_resume(p, e);
		break;
	case EVENT_REOPEN:
	case EVENT_PAUSE:
		play_pause(p, e);
		break;
	case EVENT_LEAVE:
		play_leave(p, e);
		break;
	case EVENT_FINISH:
		play_finish(p, e);
		break;
	case EVENT_HANDED:
		play_handed(p, e);
		break;
	case EVENT_UNWOUND:
		play_unwound(p, e);
		break;
	case EVENT_ENQUEUE:
		replay_enqueue(p, e);
		break;
	case EVENT_DEQUEUE:
		replay_dequeue(p, e);
		break;
	case EVENT_CREATE:
		replay_create(p, e);
		break;
	case EVENT_PARENT:
		map_set(p->parents, e->words[0], e->words[1]);
		break;
	case EVENT_WORK:
		play_work(p, e);
		break;
	case EVENT_IDS:
	case EVENT_CALL:
		play_ids(p, e);
		break;
	case EVENT_LOSS:
		p->t->losses.records += e->words[1];
		p->t->losses.stacks += e->words[1] == 0;
		break;
	default:
		replay_note_idle(p, e, replay_top_sid(&p->stacks[e->thread]));
		replay_note_poll(p, e);
	}
	note_top(p, e);
}
