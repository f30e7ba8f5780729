/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * soak.c - the recorder when things go wrong: no crash, no hang, no changed exit status, every loss counted.
 *
 *	soak			a short version of everything (part of make check)
 *	soak --full [MINUTES]	all of it (make soak), again and again until MINUTES are over
 *	soak [--full] NAME...	these scenarios only
 *
 * With SOAK_EXPERIMENTS set, causal experiments are under way meanwhile.
 *
 * Prints a line a scenario, writes results/soak.json (--full), exits 1 if something did not hold.  A
 * program and its recorder that do not end within half an hour hang: exit 1.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/banned.h"
#include "tests/soak/soak.h"

enum { HANG_SECONDS = 1800 };

static const struct scenario {
	const char *name, *what;
	void (*run)(long n);
	long few, many;			/* in make check, in make soak */
} scenarios[] = {
	{ "kills", "programs killed at random moments", soak_kills, 10, 1000 },
	{ "recorder", "recorders killed, the program lives on", soak_killed_recorders, 3, 100 },
	{ "both", "recorder and program killed", soak_killed_both, 2, 100 },
	{ "arena", "calls into arenas that are too small", soak_arena_full, 300000, 5000000 },
	{ "disk", "calls onto a full disk", soak_disk_full, 4000000, 20000000 },
	{ "files", "limits of open files", soak_files, 3, 20 },
	{ "memory", "MB of address space at most", soak_memory, 64, 1024 },
	{ "size", "bytes a file at most", soak_file_size, 4097, 1000000 },
	{ "live", "threads alive at once", soak_live_threads, 300, 10000 },
	{ "short", "threads, one after the other", soak_short_threads, 2000, 100000 },
	{ "tree", "levels of forks", soak_fork_tree, 3, 6 },
	{ "execs", "programs executed while a signal is pending", soak_execs, 20, 1000 },
	{ "storm", "calls in a storm of signals", soak_storm, 500000, 20000000 },
	{ "stopped", "times stopped and continued", soak_stopped, 1, 50 },
	{ "monotonic", "intervals in another time namespace", soak_other_monotonic, 50, 1000 },
	{ "clock", "intervals while the clock is set", soak_clock_set, 100, 2000 },
};

static char complaint[512];
static const char *running;

/* For each anew: a thousand of them take as long as the machine lets them. */
void expect_end(void)
{
	alarm(HANG_SECONDS);
}

bool check(bool held, const char *fmt, ...)
{
	va_list ap;

	if (!held && !*complaint) {
		va_start(ap, fmt);
		vsnprintf(complaint, sizeof(complaint), fmt, ap);
		va_end(ap);
	}
	return held;
}

bool all_held(void)
{
	return !*complaint;
}

void progress(const char *fmt, ...)
{
	static bool terminal, known;
	va_list ap;

	if (!known)
		terminal = isatty(STDERR_FILENO);
	known = true;
	if (!terminal)
		return;
	fprintf(stderr, "\r%-10s ", running);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\033[K");
}

static void on_alarm(int number)
{
	static const char text[] = "\nsoak: a program or its recorder hangs\n";

	(void)number;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0) {
		/* Then the status says it. */
	}
	ordeal_abandon();
	_exit(1);
}

static double now_s(void)
{
	return (double)time(NULL);
}

static bool run_scenario(const struct scenario *s, bool full, FILE *json, bool first)
{
	long n = full ? s->many : s->few;
	double start_s = now_s();

	*complaint = '\0';
	running = s->name;
	s->run(n);
	alarm(0);
	fprintf(stderr, isatty(STDERR_FILENO) ? "\r\033[K" : "");
	printf("%-10s %9ld %-42s %4.0f s  %s\n", s->name, n, s->what, now_s() - start_s,
	       all_held() ? "ok" : "MISSED");
	if (!all_held())
		printf("           %s\n", complaint);
	fflush(stdout);
	if (json)
		fprintf(json, "%s\n  {\"name\":\"%s: %s\",\"value\":%ld,\"unit\":\"count\",\"target\":null,"
			"\"ok\":%s}", first ? "" : ",", s->name, s->what, n, all_held() ? "true" : "false");
	return all_held();
}

static bool is_chosen(const struct scenario *s, char **names)
{
	for (char **name = names; *name; name++)
		if (!strcmp(*name, s->name))
			return true;
	return !*names;
}

int main(int argc, char **argv)
{
	bool full = argc > 1 && !strcmp(argv[1], "--full"), bad = false, first = true;
	char **names = argv + 1 + full;
	long minutes = full && *names ? strtol(*names, NULL, 10) : 0;
	double start_s = now_s();
	FILE *json = NULL;

	names += full && *names && **names >= '0' && **names <= '9';
	signal(SIGALRM, on_alarm);
	if (full && !*names) {
		json = fopen(has_experiments() ? "results/soak_experiments.json" : "results/soak.json", "w");
		if (!json) {
			perror("results/soak.json");
			return 99;
		}
		fprintf(json, "{\"schema\":\"vprof.bench/1\",\"host\":{\"cpus\":%ld},\"rows\":[",
			sysconf(_SC_NPROCESSORS_ONLN));
	}
	do {
		for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
			if (is_chosen(&scenarios[i], names)) {
				bad |= !run_scenario(&scenarios[i], full, json, first);
				first = false;
			}
	} while (!bad && now_s() - start_s < 60.0 * (double)minutes);
	if (json) {
		fputs("]}\n", json);
		fclose(json);
	}
	if (first)
		fprintf(stderr, "soak: there is no scenario of that name\n");
	return first ? 2 : bad;
}
