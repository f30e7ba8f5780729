/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay.c - plays the events of all threads in order of time: who worked on which interval when.
 *
 * Each thread has the same small stack of intervals that the runtime kept (runtime/event.c has the
 * rules and an example).  An interval is open from BEGIN to the next END or DROP of the same name
 * and key, on any thread of the process or of one that comes from it, be it forked or another program
 * that such a child executed; a BEGIN of one that is open drops the older one.  Other processes are left out because keys are often addresses: the workers of
 * one server, forked from the same parent, all have their first request at the same one.
 *
 * A task that goes from one thread to another is a creation edge: ENQUEUE to DEQUEUE, a new
 * thread, and RESUME on another thread than the one that worked on the interval before:
 *
 *	T1 BEGIN r 10, PAUSE 15; T2 RESUME r 25, END r 60:  creation T1 15 -> T2 25
 *
 * A pause of the recording ends what is open then, and what begins in it: not all threads know at once.
 *
 *	pause 30..90; BEGIN r 10, END r 20: whole.  BEGIN s 25: aborted at 30, whenever it ends
 */
#include "base/banned.h"
#include "base/search.h"
#include "trace/replay_state.h"

static void play(struct replay *p, const struct raw_event *e);
static void play_pauses(struct replay *p, int64_t ns);
static void mark_losses(struct replay *p, struct interval *v);

uint64_t timeline_sid(const struct timeline *line, size_t *at, int64_t ns)
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
	free(p->stacks);
	free(p->interval_names);
	VEC_RELEASE(&p->workers);
	VEC_RELEASE(&p->free_places);
	VEC_RELEASE(&p->enqueued);
	VEC_RELEASE(&p->losses);
	free(p);
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

struct map *replay_unfinished(const struct replay *p)
{
	struct map *sids = map_new();

	for (size_t thread = 0; thread < p->rd->raw.threads.cnt; thread++)
		for (size_t i = 0; i < p->stacks[thread].cnt; i++)
			map_set(sids, p->stacks[thread].items[i].sid, 1);
	return sids;
}

void replay_know_unfinished(struct replay *p, struct map *sids)
{
	map_free(p->unfinished);
	p->unfinished = sids;
}

static bool is_unfinished(const struct replay *p, const struct interval *v)
{
	uint64_t unused;

	return p->unfinished && map_get(p->unfinished, v->sid, &unused);
}

/* Of the intervals that have ended; the others are looked at as they join the trace. */
static void mark_unfinished(struct replay *p)
{
	replay_know_unfinished(p, replay_unfinished(p));
	for (size_t i = 0; i < p->t->intervals.cnt; i++) {
		struct interval *v = &p->t->intervals.items[i];

		if (v->lost || !is_unfinished(p, v))
			continue;
		v->lost = true;
		p->t->losses.intervals++;
	}
}

void replay_end(struct replay *p)
{
	play_pauses(p, INT64_MAX - 1);
	if (!p->rd->raw.ended && !p->unfinished)
		mark_unfinished(p);
	if (p->workers.cnt)
		qsort(p->workers.items, p->workers.cnt, sizeof(*p->workers.items), compare_workers);
	for (size_t i = 0; i < p->workers.cnt; i++)
		if (p->workers.items[i].interval.sid) {
			mark_losses(p, &p->workers.items[i].interval);
			VEC_ADD(&p->t->intervals, p->workers.items[i].interval);
		}
	p->workers.cnt = 0;
}

static const char *label_text(const struct replay *p, uint64_t id)
{
	const struct raw *r = &p->rd->raw;
	const char *text = id < r->labels.cnt ? r->labels.items[id] : NULL;

	return text && *text ? text : "?";
}

/* A mark may stand for an interval of vprof.conf under that one's name. */
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

static uint64_t tid_of(const struct replay *p, uint32_t thread)
{
	return p->rd->raw.threads.items[thread].tid;
}

static uint32_t pid_of(const struct replay *p, uint32_t thread)
{
	return p->rd->raw.threads.items[thread].pid;
}

bool replay_is_open(const struct replay *p, uint64_t sid)
{
	return find_worker(p, sid);
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

/* ... or in those it was forked from; the nearest. */
static struct worker *find_open(struct replay *p, uint32_t thread, uint32_t name, uint64_t key)
{
	uint64_t pid = pid_of(p, thread);
	struct worker *w = find_own(p, (uint32_t)pid, name, key);

	/* As far as a sound trace goes; a damaged one may have a process that is its own parent. */
	for (int forks = 0; !w && forks < FORKS_MAX && map_get(p->parents, pid, &pid); forks++)
		w = find_own(p, (uint32_t)pid, name, key);
	return w;
}

static void end_interval(struct replay *p, struct worker *w, enum interval_status status, uint64_t end_tid,
			 int64_t end_ns)
{
	struct interval *i = &w->interval;

	i->status = status;
	i->end_tid = end_tid;
	i->end_ns = end_ns;
	map_set(p->open, interval_hash(w->pid, i->name, w->key), 0);
	map_set(p->place_of, i->sid, 0);
	mark_losses(p, i);
	VEC_ADD(&p->t->intervals, *i);
	i->sid = 0;
	VEC_ADD(&p->free_places, (uint32_t)(w - p->workers.items));
}

/* What is open when the recording pauses, or begins to be recorded only after that moment, is cut: what
 * others did for it is not known. */
static void cut_open(struct replay *p, int64_t ns)
{
	for (size_t i = 0; i < p->workers.cnt; i++) {
		struct worker *w = &p->workers.items[i];

		if (!w->interval.sid)
			continue;
		p->t->losses.at_pause++;
		end_interval(p, w, INTERVAL_ABORTED, w->interval.start_tid,
			     ns > w->interval.start_ns ? ns : w->interval.start_ns);
	}
}

/* ns is reached: pauses that began or ended by then. */
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
	/* By a thread that did not know yet of the pause. */
	p->t->losses.at_pause += p->is_paused && status == INTERVAL_COMPLETED;
	end_interval(p, w, p->is_paused ? INTERVAL_ABORTED : status, tid_of(p, e->thread), e->ns);
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

static uint64_t open_interval(struct replay *p, uint32_t name, const struct raw_event *e)
{
	struct worker *w = new_worker(p);

	w->interval = (struct interval){
		.sid = ++p->sid_cnt, .name = name, .status = INTERVAL_OPEN,
		.lost = e->words[2] & BEGIN_SHORT, .root_only = e->words[2] & BEGIN_ROOT_ONLY,
		.weight = begin_weight(e->words[2]),
		.start_tid = tid_of(p, e->thread), .start_ns = e->ns,
	};
	w->key = e->words[1];
	w->thread = e->thread;
	w->pid = pid_of(p, e->thread);
	w->stopped_ns = INT64_MAX;
	map_set(p->place_of, p->sid_cnt, (uint64_t)(w - p->workers.items) + 1);
	map_set(p->open, interval_hash(w->pid, name, w->key), p->sid_cnt);
	return p->sid_cnt;
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
	if (p->stacks[e->thread].cnt == LABELS_MAX)
		drop_label(p, e, 0);
	p->stacks[e->thread].items[p->stacks[e->thread].cnt++] =
		(struct label){ e->words[0], e->words[1], sid };
}

static uint64_t top_sid(const struct replay *p, uint32_t thread)
{
	size_t cnt = p->stacks[thread].cnt;

	return cnt ? p->stacks[thread].items[cnt - 1].sid : SID_NONE;
}

static void note_top(struct replay *p, const struct raw_event *e)
{
	struct timeline *line = &p->rd->timelines[e->thread];
	uint64_t sid = top_sid(p, e->thread);
	size_t cnt = line->changes.cnt;

	if (sid != (cnt ? line->changes.items[cnt - 1].sid : SID_NONE))
		VEC_ADD(&line->changes, (struct sid_change){ e->ns, sid });
}

static void add_creation(struct replay *p, uint32_t thread, int64_t ns, uint32_t thread2,
			 int64_t ns2)
{
	if (ns <= ns2)
		VEC_ADD(&p->t->creations, (struct creation){ tid_of(p, thread),
			tid_of(p, thread2), ns, ns2, NAME_NONE });
}

static void play_resume(struct replay *p, const struct raw_event *e)
{
	struct worker *w = find_open(p, e->thread, interval_name(p, e->words[0]), e->words[1]);
	size_t at = find_label(p, e), cnt = p->stacks[e->thread].cnt;

	if (at)
		drop_label(p, e, at - 1);
	else if (cnt && p->stacks[e->thread].items[cnt - 1].id == e->words[0])
		drop_label(p, e, cnt - 1);
	push_label(p, e, w ? w->interval.sid : SID_NONE);
	if (!w) {
		p->t->losses.stray_events += !p->rd->raw.windowed && !p->rd->raw.pauses.cnt;
		return;
	}
	if (w->thread != e->thread)
		add_creation(p, w->thread, w->stopped_ns < e->ns ? w->stopped_ns : e->ns,
			     e->thread, e->ns);
	w->thread = e->thread;
	w->stopped_ns = INT64_MAX;
}

static void play_begin(struct replay *p, const struct raw_event *e)
{
	uint32_t name = interval_name(p, e->words[0]);
	struct worker *w = find_own(p, pid_of(p, e->thread), name, e->words[1]);
	size_t at = find_label(p, e);

	if (w)
		close_interval(p, w, e, INTERVAL_ABORTED);
	if (at)
		drop_label(p, e, at - 1);
	push_label(p, e, open_interval(p, name, e));
}

static void play_end(struct replay *p, const struct raw_event *e)
{
	struct worker *w = find_open(p, e->thread, interval_name(p, e->words[0]), e->words[1]);
	size_t at = find_label(p, e);

	if (w)
		close_interval(p, w, e,
			       e->kind == EVENT_END ? INTERVAL_COMPLETED : INTERVAL_ABORTED);
	else if (p->rd->raw.windowed)
		p->t->losses.before_window++;
	else if (!p->rd->raw.pauses.cnt)
		p->t->losses.stray_events++;
	if (at)
		drop_label(p, e, at - 1);
}

static uint64_t task_hash(const struct replay *p, const struct raw_event *e)
{
	uint64_t hash = hash_u64(0, p->rd->raw.threads.items[e->thread].pid);

	return hash_u64(hash_u64(hash, e->words[0]), e->words[1]);
}

static void play_dequeue(struct replay *p, const struct raw_event *e)
{
	uint64_t *index = map_slot(p->tasks, task_hash(p, e));
	const struct enqueued *q;

	if (!*index)
		return;
	q = &p->enqueued.items[*index - 1];
	*index = 0;
	add_creation(p, q->thread, q->ns, e->thread, e->ns);
}

static void play_create(struct replay *p, const struct raw_event *e)
{
	uint32_t child = raw_find_thread(&p->rd->raw, e->words[0]);

	if (child != UINT32_MAX && pid_of(p, child) != pid_of(p, e->thread))
		map_set(p->parents, pid_of(p, child), pid_of(p, e->thread));
	if (child != UINT32_MAX && child != e->thread && e->ns >= p->rd->raw.from_ns)
		add_creation(p, e->thread, e->ns, child,
			     p->rd->raw.threads.items[child].first_ns);
}

static void play_work(struct replay *p, const struct raw_event *e)
{
	uint64_t sid = top_sid(p, e->thread);

	if (sid == SID_NONE)
		return;
	/* Of an interval that ended, maybe in a window that is past. */
	p->rd->unfit |= !find_worker(p, sid);
	VEC_ADD(&p->t->works, (struct work){ sid,
		trace_add_string(p->t, &p->t->work_names, label_text(p, e->words[0])),
		(int64_t)e->words[1] });
}

static void play(struct replay *p, const struct raw_event *e)
{
	size_t at;

	play_pauses(p, e->ns);
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
		if ((int64_t)e->words[0] < e->ns)
			VEC_ADD(&p->rd->timelines[e->thread].unknown,
				(struct blocked){ (int64_t)e->words[0], e->ns });
		/* fall through */
	case EVENT_PAUSE:
		while (p->stacks[e->thread].cnt)
			drop_label(p, e, p->stacks[e->thread].cnt - 1);
		break;
	case EVENT_LEAVE:
		at = find_label(p, e);
		if (at && at == p->stacks[e->thread].cnt)
			drop_label(p, e, at - 1);
		break;
	case EVENT_ENQUEUE:
		VEC_ADD(&p->enqueued, (struct enqueued){ e->ns, e->thread });
		map_set(p->tasks, task_hash(p, e), p->enqueued.cnt);
		break;
	case EVENT_DEQUEUE:
		play_dequeue(p, e);
		break;
	case EVENT_CREATE:
		play_create(p, e);
		break;
	case EVENT_PARENT:
		map_set(p->parents, e->words[0], e->words[1]);
		break;
	case EVENT_WORK:
		play_work(p, e);
		break;
	case EVENT_LOSS:
		p->t->losses.records += e->words[1];
		p->t->losses.stacks += e->words[1] == 0;
		break;
	default:
		break;
	}
	note_top(p, e);
}

static int compare_losses(const void *a, const void *b)
{
	const struct loss *x = a, *y = b;

	return x->since_ns < y->since_ns ? -1 : x->since_ns > y->since_ns;
}

/* Windows in which records were lost, made disjoint and sorted. */
static void join_losses(struct replay *p)
{
	struct loss *l = p->losses.items;
	size_t cnt = 0;

	if (p->losses.cnt)
		qsort(l, p->losses.cnt, sizeof(*l), compare_losses);
	for (size_t i = 0; i < p->losses.cnt; i++) {
		if (cnt && l[i].since_ns <= l[cnt - 1].until_ns) {
			if (l[i].until_ns > l[cnt - 1].until_ns)
				l[cnt - 1].until_ns = l[i].until_ns;
		} else {
			l[cnt++] = l[i];
		}
	}
	p->losses.cnt = cnt;
}

void replay_losses(struct replay *p, const struct raw_event *events, size_t cnt)
{
	const struct raw *r = &p->rd->raw;

	p->t->losses.records += r->lost_cnt;
	full_tables_add(&p->t->losses.full, &r->full);
	p->t->losses.cut_bytes = r->cut_bytes;
	p->t->losses.cut_off = !r->ended;
	p->t->windowed = r->windowed;
	if (r->lost_cnt)
		VEC_ADD(&p->losses, (struct loss){ (int64_t)r->lost_since, INT64_MAX });
	for (size_t i = 0; i < cnt; i++)
		if (events[i].kind == EVENT_LOSS)
			VEC_ADD(&p->losses, (struct loss){ (int64_t)events[i].words[0], events[i].ns });
	join_losses(p);
}

/* An interval is touched if anybody lost records while it was under way: a missing lock holder
 * falsifies it as much as a missing call. */
static void mark_losses(struct replay *p, struct interval *v)
{
	int64_t end_ns = v->status == INTERVAL_OPEN ? INT64_MAX : v->end_ns;
	/* The first that is not over before it begins. */
	size_t first = partition_point(i, p->losses.cnt, p->losses.items[i].until_ns < v->start_ns);

	if ((first < p->losses.cnt && p->losses.items[first].since_ns <= end_ns) || is_unfinished(p, v))
		v->lost = true;
	p->t->losses.intervals += v->lost;
}
