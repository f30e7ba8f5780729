/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_client.c - figures of load generators, from what they print; and the part of them that the interval is, computed by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report/words/client.h"
#include "tests/unit/cmocka_all.h"

static void check(const char *text, const char *tool, double mean_ns, double sd_ns, double p99_ns)
{
	struct client c = { .tool = NULL };

	assert_true(client_parse(text, &c));
	assert_string_equal(c.tool, tool);
	assert_int_equal(c.has_mean, mean_ns > 0);
	assert_int_equal(c.has_sd, sd_ns > 0);
	assert_int_equal(c.has_p99, p99_ns > 0);
	assert_float_equal(c.mean_ns, mean_ns, 1e-3);
	assert_float_equal(c.sd_ns, sd_ns, 1e-3);
	assert_float_equal(c.p99_ns, p99_ns, 1e-3);
}

static void test_tools(void **state)
{
	(void)state;
	check("This is ApacheBench, Version 2.3 <$Revision: 1903618 $>\nTotal transferred:      1230000 bytes\n\nConnection Times (ms)\n"
	      "              min  mean[+/-sd] median   max\nConnect:        0    1   0.3      1       4\nProcessing:     1   12   5.2     11      99\n"
	      "Total:          1   13   5.4     11     100\n\nPercentage of the requests served within a certain time (ms)\n  50%     11\n"
	      "  99%     42\n 100%    100 (longest request)\n", "ab", 13e6, 5.4e6, 42e6);
	check("Running 10s test @ http://127.0.0.1:8080/\n  2 threads and 10 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"
	      "    Latency   635.91us    0.89ms  12.92ms   93.69%\n    Req/Sec    56.20k     8.07k   62.00k    86.54%\n"
	      "  Latency Distribution\n     50%  250.00us\n     99%    4.30ms\n", "wrk", 635910, 890000, 4.3e6);
	check("pgbench (15.4)\ntransaction type: <builtin: TPC-B>\nlatency average = 1.250 ms\nlatency stddev = 44.721 ms\n"
	      "tps = 799.9 (without initial connection time)\n", "pgbench", 1.25e6, 44.721e6, 0);
	check("DNS Performance Testing Tool\nVersion 2.11.2\n\nStatistics:\n\n  Queries sent:         100\n"
	      "  Average Latency (s):  0.000105 (min 0.000029, max 0.010513)\n  Latency StdDev (s):   0.000107\n", "dnsperf", 105e3, 107e3, 0);
	check("====== SET ======\n\nSummary:\n  throughput summary: 90909.09 requests per second\n  latency summary (msec):\n"
	      "          avg       min       p50       p95       p99       max\n        0.253     0.080     0.255     0.343     0.399     1.367\n",
	      "redis-benchmark", 253e3, 0, 399e3);
	check("\"test\",\"rps\",\"avg_latency_ms\",\"min_latency_ms\",\"p50_latency_ms\",\"p95_latency_ms\",\"p99_latency_ms\",\"max_latency_ms\"\n"
	      "\"LRANGE_100 (first 100 elements)\",\"41666.67\",\"0.656\",\"0.272\",\"0.639\",\"0.927\",\"1.223\",\"1.519\"\n", "redis-benchmark", 656e3, 0,
	      1.223e6);
	check("servers : 127.0.0.1:11211\nGet Statistics (900 events)\n   Avg:         1\n   Std:      2.00\n\nTotal Statistics (1000 events)\n"
	      "   Min:        31\n   Max:      5347\n   Avg:       124\n   Geo:    113.33\n   Std:     88.57\n", "memaslap", 124e3, 88.57e3, 0);
}

static void test_others(void **state)
{
	struct client c;

	(void)state;
	assert_false(client_parse("", &c));
	assert_false(client_parse("all went well: latency 12 ms\n", &c));
	assert_false(client_parse("pgbench\nlatency average = 1.250 ms\n", &c));	/* neither sd nor p99 */
	assert_false(client_parse("latency average = 1 ms\nlatency stddev = \n5 ms\n", &c));	/* not in that line */
	assert_false(client_parse("latency average = 1 ms\nlatency stddev = 0 ms\n", &c));
	assert_false(client_parse("latency summary (msec)\navg", &c));
	assert_false(client_parse("\"avg_latency_ms\",\"min_latency_ms\",\"p99_latency_ms\"\n\"SET\",\"1\"\n", &c));
}

static void test_times(void **state)
{
	double ns;

	(void)state;
	assert_true(client_parse_time("4.1ms", &ns));
	assert_float_equal(ns, 4.1e6, 1e-3);
	assert_true(client_parse_time("635us", &ns) && ns == 635e3);
	assert_true(client_parse_time("2s", &ns) && ns == 2e9);
	assert_true(client_parse_time("3", &ns) && ns == 3e6);
	assert_false(client_parse_time("", &ns));
	assert_false(client_parse_time("0ms", &ns));
	assert_false(client_parse_time("-1ms", &ns));
	assert_false(client_parse_time("5 ms", &ns));
	assert_false(client_parse_time("5msx", &ns));
	assert_false(client_parse_time("inf", &ns));
}

/* sd 1 ms of 44.721 ms: 1 / 2000 of the variance. */
static void test_held(void **state)
{
	struct findings *f = findings_new();
	struct client c = { .has_sd = true, .sd_ns = 1e6 * sqrt(2000) };
	char *text;

	(void)state;
	f->interval.cnt = 100;
	f->interval.variance_ns2 = 1e12;
	f->interval.stddev_ns = 1e6;
	f->interval.p99_ns = 3000000;
	assert_float_equal(client_variance_held(f, &c), 0.0005, 1e-12);
	text = client_text(f, &c, false);
	assert_non_null(strstr(text, "your interval holds 0.05 % of the variance that your client sees (sd 1.00 ms, the client's 44.7 ms)"));
	assert_non_null(strstr(text, "begin it where the request arrives"));
	free(text);
	c = (struct client){ .has_p99 = true, .p99_ns = 60e6 };
	assert_true(isnan(client_variance_held(f, &c)));
	text = client_text(f, &c, false);
	assert_string_equal(text, "the interval's p99 is 3.00 ms, your client's 60.0 ms. What varies is before the interval begins, after it ends, "
				  "or in the client: begin it where the request arrives (vprof record --from-arrival; vprof check)");
	free(text);
	c = (struct client){ .has_sd = true, .sd_ns = 1.05e6 };
	text = client_text(f, &c, false);
	assert_string_equal(text, "your interval holds 91 % of the variance that your client sees (sd 1.00 ms, the client's 1.05 ms)");
	free(text);
	findings_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tools), cmocka_unit_test(test_others), cmocka_unit_test(test_times), cmocka_unit_test(test_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
