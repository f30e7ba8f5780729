/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ordeal.c - runs a victim under a recorder, and reads what is left. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/banned.h"
#include "drainer/experiments.h"
#include "tests/soak/soak.h"
#include "trace/read/reader.h"

struct shared {
	struct counts counts;
	volatile pid_t victim;
	volatile bool finished, refused;
	int wait_status;
	struct drainer_stats stats;
	struct diag diag;
	char arena_path[256];
};

enum { CLOCK_KNOWN_NS = 300000000, BLOCK_NS = 100000000 };

bool has_experiments(void)
{
	return getenv("SOAK_EXPERIMENTS") != NULL;
}

static char counts_path[] = "soak-counts-XXXXXX";
static const struct ordeal *volatile under_way;

void wait_ns(long ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&t, NULL);
}

static void be_victim(const struct ordeal *o, const struct drainer *d)
{
	char n[32];

	snprintf(n, sizeof(n), "%ld", o->n);
	putenv((char *)(uintptr_t)drainer_env(d));
	prctl(PR_SET_PDEATHSIG, 0);
	if (o->in_victim)
		o->in_victim();
	execl("tests/soak/victim", "victim", o->program, counts_path, n, (char *)NULL);
	_exit(127);
}

/* Half of what the program waits for disks and timers is asked for, and nothing, in turns; once its clock is known. */
static void turn_block(void *arg, struct drainer *d, uint64_t now_ns)
{
	static uint64_t first_ns, next_ns;
	static uint32_t number;

	(void)arg;
	first_ns = first_ns ? first_ns : now_ns;
	if (now_ns < first_ns + CLOCK_KNOWN_NS || now_ns < next_ns)
		return;
	next_ns = now_ns + BLOCK_NS;
	number++;
	drainer_block_set(d, &(struct drainer_block){ .number = number, .round = number, .speed = number % 2 ? 500 : 0,
						      .most_ns = 2 * BLOCK_NS });
}

static void take_event(void *arg, uint64_t serial, enum trace_event kind, uint64_t ticks, const uint64_t *words)
{
	(void)arg;
	(void)serial;
	(void)kind;
	(void)ticks;
	(void)words;
}

static const struct drainer_target waits = { .kind = EXPERIMENT_IO };
static const struct drainer_experiments experiments = { .targets = &waits, .target_cnt = 1, .turn = turn_block, .take = take_event };

static void be_recorder(struct ordeal *o)
{
	struct shared *s = o->shared;
	struct drainer_options options = { .trace_path = o->trace_path, .arena_bytes = o->arena_bytes, .arena_dir = o->arena_dir,
					   .default_level = PROBE_ALWAYS, .experiments = has_experiments() ? &experiments : NULL };
	struct drainer *d;
	pid_t pid;

	if (o->in_recorder)
		o->in_recorder();
	s->diag = (struct diag)DIAG_INIT;
	if (drainer_open(&options, &d, &s->diag)) {
		s->refused = true;
		_exit(0);
	}
	snprintf(s->arena_path, sizeof(s->arena_path), "%s", strchr(drainer_env(d), '=') + 1);
	pid = fork();
	if (!pid)
		be_victim(o, d);
	s->victim = pid;
	if (pid > 0 && !drainer_run(d, pid, &s->wait_status, &s->diag) &&
	    !drainer_close(d, &s->stats, &s->diag))
		s->finished = true;
	_exit(0);
}

static void make_files(struct ordeal *o)
{
	int fd;

	snprintf(counts_path, sizeof(counts_path), "soak-counts-XXXXXX");
	fd = mkostemp(counts_path, O_CLOEXEC);
	if (fd < 0 || ftruncate(fd, sizeof(struct shared))) {
		perror("soak: counts");
		exit(99);
	}
	o->shared = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (o->shared == MAP_FAILED) {
		perror("soak: counts");
		exit(99);
	}
	o->counts = &o->shared->counts;
	snprintf(o->trace_path, sizeof(o->trace_path), "%s/soak-%ld.vpt",
		 o->trace_dir ? o->trace_dir : ".", (long)getpid());
}

bool is_recording(const struct ordeal *o)
{
	siginfo_t info = { .si_pid = 0 };

	return !waitid(P_PID, (id_t)o->recorder, &info, WEXITED | WNOHANG | WNOWAIT) && !info.si_pid;
}

/* The victim is the recorder's child, and ours once that is gone (PR_SET_CHILD_SUBREAPER). */
static void reap(struct ordeal *o)
{
	int status = 0;

	waitpid(o->recorder, NULL, 0);
	o->victim = o->shared->victim;
	if (o->shared->finished)
		status = o->shared->wait_status;
	else if (o->victim > 0 && waitpid(o->victim, &status, 0) != o->victim)
		status = o->shared->wait_status;
	o->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

void ordeal_run(struct ordeal *o)
{
	expect_end();
	make_files(o);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	under_way = o;
	o->recorder = fork();
	if (!o->recorder) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		be_recorder(o);
	}
	if (o->meanwhile) {
		while (!o->shared->victim && is_recording(o))
			wait_ns(100000);
		o->victim = o->shared->victim;
		o->meanwhile(o);
	}
	reap(o);
	under_way = NULL;
	o->refused = o->shared->refused;
	o->stats = o->shared->stats;
	o->diag = o->shared->diag;
	snprintf(o->arena_path, sizeof(o->arena_path), "%s", o->shared->arena_path);
	if (!o->refused)
		ordeal_read(o);
}

void ordeal_abandon(void)
{
	const struct ordeal *o = under_way;

	if (o && o->recorder > 0)
		kill(o->recorder, SIGKILL);
	if (o && o->shared->victim > 0)
		kill(o->shared->victim, SIGKILL);
}

void ordeal_read(struct ordeal *o)
{
	trace_free(o->t);
	o->t = NULL;
	o->readable = trace_read(o->trace_path, NULL, &o->t, &o->diag) == 0;
}

void ordeal_release(struct ordeal *o)
{
	trace_free(o->t);
	munmap(o->shared, sizeof(*o->shared));
	unlink(counts_path);
	if (all_held())
		unlink(o->trace_path);
	o->t = NULL;
}

uint64_t recorded_leafs(const struct ordeal *o, uint32_t tid)
{
	uint64_t cnt = 0;
	uint32_t leaf = FUNCTION_NONE;

	for (uint32_t i = 0; i < o->t->functions.cnt; i++)
		if (!strcmp(o->t->functions.items[i].name, "leaf"))
			leaf = i;
	for (size_t i = 0; i < o->t->invocations.cnt; i++)
		cnt += o->t->invocations.items[i].function == leaf &&
		       (!tid || (uint32_t)o->t->invocations.items[i].tid == tid);
	return cnt;
}

uint64_t counted_leafs(const struct ordeal *o)
{
	uint64_t cnt = o->counts->leafs;

	for (uint32_t i = 0; i < o->counts->cell_cnt && i < CELLS; i++)
		cnt += o->counts->cells[i].leafs;
	return cnt;
}

uint64_t counted_events(const struct ordeal *o)
{
	uint64_t cnt = 0;

	for (uint32_t i = 0; i < o->counts->cell_cnt && i < CELLS; i++)
		cnt += o->counts->cells[i].begins + o->counts->cells[i].ends;
	return cnt;
}

uint64_t recorded_events(const struct ordeal *o)
{
	uint64_t cnt = o->t->losses.stray_events;	/* ends whose beginning is missing */

	for (size_t i = 0; i < o->t->intervals.cnt; i++)
		cnt += o->t->intervals.items[i].status == INTERVAL_COMPLETED ? 2 : 1;
	return cnt;
}
