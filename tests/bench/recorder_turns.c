/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorder_turns.c - records a server that is under load, with the kernel recorder attached and detached in turns, and says
 * when it was which.  Other load of the machine is the same from one fifth of a second to the next, so in a few minutes
 * the cost is known to half a per cent; runs of seconds one after the other give it to five.
 *
 *	recorder_turns PID vprof|stacks|requests|look|floor|perf TURNS [PORT]
 *
 * Each line is a turn: what was attached, from when until when (microseconds since 1970), and, of a memcached at PORT, how many
 * requests it served in it.  The first 50 ms after each change are left out: code was changed under all CPUs' feet.  Before
 * the first turn two seconds of recording, in which stacks become known and it is seen that no packet comes from outside.
 *
 *	off 1763934000050000 1763934000200000 5210
 *	on 1763934000253000 1763934000403000 5163
 *
 * "requests" is vprof with the requests on the server's sockets; "look" has stacks as well, as vprof look has.
 *
 * "floor" records nothing: in turns with nothing are attached programs that return at once, "empty", such as ask for the
 * time, "clock", and such as do so for the server's threads alone, "own" (floor.h).
 *
 * "perf" gets its commands through perf.control, and confirms them in perf.answer (perf record --control, whose events are
 * disabled in between: their callers stay, so its cost comes out somewhat low).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/banned.h"
#include "project/record/record_kernel.h"
#include "recorder/recorder.h"
#include "tests/bench/floor.h"

enum { SETTLE_NS = 50000000, TURN_NS = 150000000, ANSWER_MAX = 1 << 16 };

static void pause_ns(long ns)
{
	nanosleep(&(struct timespec){ ns / 1000000000, ns % 1000000000 }, NULL);
}

static unsigned long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (unsigned long long)t.tv_sec * 1000000 + (unsigned long long)t.tv_nsec / 1000;
}

static int connect_to(const char *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_port = htons((unsigned short)strtoul(port, NULL, 10));
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		fprintf(stderr, "recorder_turns: port %s: %s\n", port, strerror(errno));
		exit(99);
	}
	return fd;
}

static unsigned long long stat_of(const char *answer, const char *name)
{
	const char *at = strstr(answer, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* By the server's own count. */
static unsigned long long served(int fd)
{
	static const char ask[] = "stats\r\n";
	static char answer[ANSWER_MAX];
	size_t len = 0;

	if (write(fd, ask, sizeof(ask) - 1) < 0)
		exit(99);
	for (*answer = '\0'; !strstr(answer, "\r\nEND\r\n"); answer[len] = '\0') {
		ssize_t n = read(fd, answer + len, sizeof(answer) - 1 - len);

		if (n <= 0) {
			fprintf(stderr, "recorder_turns: the server said no more than '%.40s'\n", answer);
			exit(99);
		}
		len += (size_t)n;
	}
	return stat_of(answer, "STAT cmd_get ") + stat_of(answer, "STAT cmd_set ");
}

static void take_turn(const char *attached, int server)
{
	unsigned long long begin_us, before;

	pause_ns(SETTLE_NS);
	begin_us = now_us();
	before = server >= 0 ? served(server) : 0;
	pause_ns(TURN_NS);
	printf("%s %llu %llu", attached, begin_us, now_us());
	if (server >= 0)
		printf(" %llu", served(server) - before);
	putchar('\n');
}

static int fail(const struct diag *diag)
{
	fprintf(stderr, "recorder_turns: %s\n", diag->text);
	return 99;
}

static int take_turns_of_recording(const struct recorder_options *options, long turn_cnt, int server)
{
	struct recorder_stats stats = { 0 };
	struct diag diag = DIAG_INIT;
	struct recorder *r;

	if (recorder_open(options, &r, &diag) < 0)
		return fail(&diag);
	pause_ns(2000000000L);
	for (long i = 0; i < turn_cnt; i++) {
		bool off = i % 2 == 0;

		if (recorder_rest(r, off) < 0) {
			fprintf(stderr, "recorder_turns: cannot attach the programs again\n");
			return 99;
		}
		take_turn(off ? "off" : "on", server);
	}
	recorder_rest(r, false);
	if (recorder_close(r, &stats, &diag) < 0)
		return fail(&diag);
	fprintf(stderr, "lost %llu %llu\n", (unsigned long long)stats.lost_records, (unsigned long long)stats.lost_stacks);
	unlink(options->path);
	return 0;
}

static int take_turns_of_the_floor(pid_t pid, long turn_cnt, int server)
{
	static const char *const names[] = { [FLOOR_EMPTY] = "empty", [FLOOR_CLOCK] = "clock", [FLOOR_OWN] = "own" };
	int r = 0;

	for (enum floor_kind kind = FLOOR_EMPTY; kind <= FLOOR_OWN && !r; kind++)
		r = floor_load(kind, pid);
	for (long i = 0; i < turn_cnt && !r; i++) {
		enum floor_kind kind = (enum floor_kind)(i / 2 % (FLOOR_OWN + 1));
		bool off = i % 2 == 0;

		if (!off)
			r = floor_attach(kind);
		take_turn(off ? "off" : names[kind], server);
		floor_detach(kind);
	}
	if (r)
		fprintf(stderr, "recorder_turns: programs that do nothing: %s\n", strerror(-r));
	return r ? 99 : 0;
}

static int ask_perf(int control, int answer, const char *what)
{
	char said[8] = "";

	if (write(control, what, strlen(what)) < 0 || read(answer, said, sizeof(said)) < 0 || strncmp(said, "ack", 3) != 0)
		return -1;
	return 0;
}

static int take_turns_of_perf(long turn_cnt, int server)
{
	int control = open("perf.control", O_RDWR | O_CLOEXEC), answer = open("perf.answer", O_RDWR | O_CLOEXEC);
	int r = control < 0 || answer < 0 ? -1 : 0;

	for (long i = 0; i < turn_cnt && !r; i++) {
		bool off = i % 2 == 0;

		r = ask_perf(control, answer, off ? "disable\n" : "enable\n");
		if (!r)
			take_turn(off ? "off" : "on", server);
	}
	if (!r)
		r = ask_perf(control, answer, "stop\n");
	if (r)
		fprintf(stderr, "recorder_turns: perf does not answer\n");
	return r ? 99 : 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	bool look = strcmp(what, "look") == 0, stacks = look || strcmp(what, "stacks") == 0;
	struct recorder_options options = {
		.path = "recorder_turns.vpk", .pid = argc > 1 ? (pid_t)strtol(argv[1], NULL, 10) : 0,
		.user_stacks = stacks, .samples_hz = stacks ? SAMPLES_HZ_DEFAULT : 0,
		.exchanges = look || strcmp(what, "requests") == 0,
	};
	long turn_cnt = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
	int server = argc > 4 ? connect_to(argv[4]) : -1;

	if (turn_cnt <= 0) {
		fprintf(stderr, "usage: recorder_turns PID vprof|stacks|requests|look|floor|perf TURNS [PORT]\n");
		return 2;
	}
	if (strcmp(what, "perf") == 0)
		return take_turns_of_perf(turn_cnt, server);
	return strcmp(what, "floor") == 0 ? take_turns_of_the_floor(options.pid, turn_cnt, server) :
	       take_turns_of_recording(&options, turn_cnt, server);
}
