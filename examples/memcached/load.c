/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load.c - put load on a memcached server; exit status 0 only if every answer was right.
 *
 *	load --port 11211 --connections 4 --requests 100000
 *
 * Each connection is a thread (client.c).  It prints one name and one value a line, the
 * latencies over all requests; with --depth above 1 they contain the wait for the answers before.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "client.h"

/* ---- what came out ---- */

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void print_latencies(struct client *clients, const struct options *o, uint64_t cnt)
{
	static const struct { const char *name; double rank; } percentiles[] = {
		{ "latency_p50_us", .5 }, { "latency_p90_us", .9 }, { "latency_p99_us", .99 },
		{ "latency_p999_us", .999 }, { "latency_max_us", 1 },
	};
	uint32_t *all = calloc(cnt + 1, sizeof(*all));
	uint64_t n = 0;

	if (!all || cnt == 0) {
		free(all);
		return;
	}
	for (unsigned i = 0; i < o->connections; i++)
		for (uint64_t j = 0; j < clients[i].answer_cnt; j++)
			all[n++] = clients[i].latencies_ns[j];
	qsort(all, n, sizeof(*all), compare_u32);
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		printf("%-20s %.1f\n", percentiles[i].name,
		       all[(uint64_t)(percentiles[i].rank * (double)(n - 1))] / 1e3);
	free(all);
}

/* Sent before and after the requests, to prepare and to check the sum. */
static uint64_t extra_commands(const struct options *o)
{
	return (uint64_t)o->connections * (KEY_CNT + COUNTER_CNT) + (KEY_CNT + 1) + 1;
}

static int report(struct client *clients, const struct options *o, double seconds)
{
	uint64_t answers = 0, errors = 0, by_kind[KIND_CNT] = { 0 };

	for (unsigned i = 0; i < o->connections; i++) {
		answers += clients[i].answer_cnt;
		errors += clients[i].error_cnt;
		for (int kind = 0; kind < KIND_CNT; kind++)
			by_kind[kind] += clients[i].by_kind[kind];
		if (clients[i].error_cnt)
			fprintf(stderr, "load: connection %u: %s\n", i, clients[i].first_error);
	}
	printf("%-20s %u\n%-20s %u\n", "connections", o->connections, "depth", o->depth);
	printf("%-20s %llu\n%-20s %llu\n", "requests", (unsigned long long)answers, "errors",
	       (unsigned long long)errors);
	printf("%-20s %llu\n", "commands", (unsigned long long)(answers + extra_commands(o)));
	for (int kind = 0; kind < KIND_CNT; kind++)
		printf("  %-18s %llu\n", kind_names[kind], (unsigned long long)by_kind[kind]);
	printf("%-20s %.3f\n", "seconds", seconds);
	printf("%-20s %.0f\n", "requests_per_second", seconds > 0 ? (double)answers / seconds : 0);
	print_latencies(clients, o, answers);
	return errors == 0 && answers == o->requests ? 0 : 1;
}

/* ---- main ---- */

static const char usage[] =
	"usage: load --port PORT [--connections N] [--requests N] [--depth N] [--seed N]\n"
	"            [--seconds N]\n"
	"Puts load on the memcached at 127.0.0.1:PORT and checks every answer.\n"
	"  --connections N  each a thread (8, at most 256)\n"
	"  --requests N     over all connections (120000, at most 10000000)\n"
	"  --depth N        requests sent in one write (1, at most 64)\n"
	"  --seed N         same seed, same requests (1)\n"
	"  --seconds N      give up after that long (120)\n";

static bool parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	return !errno && end != text && !*end && *ret >= min && *ret <= max;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
	static const struct option names[] = {
		{ "port", 1, NULL, 'p' },	{ "connections", 1, NULL, 'c' },
		{ "requests", 1, NULL, 'n' },	{ "depth", 1, NULL, 'd' },
		{ "seed", 1, NULL, 's' },	{ "seconds", 1, NULL, 't' },
		{ 0 },
	};
	static const uint64_t max['t' + 1] = {
		['p'] = 65535, ['c'] = 256, ['n'] = 10000000, ['d'] = DEPTH_MAX,
		['s'] = UINT32_MAX - 1, ['t'] = 3600,
	};
	int option;

	while ((option = getopt_long(argc, argv, "p:c:n:d:s:t:", names, NULL)) != -1) {
		uint64_t value;

		if (option == '?' || !parse_number(optarg, 1, max[option], &value))
			return false;
		switch (option) {
		case 'p': o->port = (unsigned)value; break;
		case 'c': o->connections = (unsigned)value; break;
		case 'n': o->requests = value; break;
		case 'd': o->depth = (unsigned)value; break;
		case 's': o->seed = (uint32_t)value; break;
		case 't': o->limit_seconds = (unsigned)value; break;
		}
	}
	return o->port && optind == argc;
}

int main(int argc, char **argv)
{
	struct options o = {
		.connections = 8, .depth = 1, .limit_seconds = 120, .requests = 120000, .seed = 1,
	};
	struct client *clients;
	uint64_t added = 0;
	bool ready = true;

	if (!parse_options(argc, argv, &o)) {
		fputs(usage, stderr);
		return 2;
	}
	clients = calloc(o.connections, sizeof(*clients));
	if (!clients) {
		fputs("load: out of memory\n", stderr);
		return 1;
	}
	for (unsigned i = 0; i < o.connections && ready; i++)
		ready = client_open(&clients[i], &o, i);
	ready = ready && client_fill_shared(&clients[0]);

	int64_t start_ns = now_ns();
	unsigned started = 0;

	while (ready && started < o.connections &&
	       pthread_create(&clients[started].thread, NULL, client_run, &clients[started]) == 0)
		started++;
	for (unsigned i = 0; i < started; i++) {
		pthread_join(clients[i].thread, NULL);
		added += clients[i].shared_added;
		ready = ready && !clients[i].error_cnt;
	}

	double seconds = (double)(now_ns() - start_ns) / 1e9;

	if (ready && started)
		client_check_sum(&clients[0], added);

	int status = report(clients, &o, seconds);

	for (unsigned i = 0; i < o.connections; i++)
		client_close(&clients[i]);
	free(clients);
	return status;
}
