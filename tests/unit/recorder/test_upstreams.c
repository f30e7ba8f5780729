/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_upstreams.c - names of servers (recorder/sockets/upstreams.h). */
#include <string.h>
#include <sys/socket.h>
#include "tests/unit/cmocka_all.h"
#include "base/banned.h"
#include "recorder/sockets/upstreams.h"

static void want_name(struct upstreams *u, unsigned int family, const unsigned char *address, size_t len, unsigned int port,
		      const char *expected)
{
	struct record_upstream r = { .kind = RECORD_UPSTREAM, .family = family, .port = port };

	memcpy(r.address, address, len);
	assert_string_equal(upstream_name(u, &r), expected);
}

static void test_names(void **state)
{
	static const unsigned char local[4] = { 127, 0, 0, 1 }, local6[16] = { [15] = 1 },
		mapped[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 7 };
	static struct upstreams u;

	(void)state;
	want_name(&u, AF_INET, local, 4, 5432, "127.0.0.1:5432");
	want_name(&u, AF_INET6, local6, 16, 53, "[::1]:53");
	want_name(&u, AF_INET6, mapped, 16, 80, "10.0.0.7:80");
	want_name(&u, AF_INET, local, 4, 5432, "127.0.0.1:5432");
	want_name(&u, AF_INET, local, 4, 65535, "127.0.0.1:65535");
	assert_int_equal(u.cnt, 4);
}

/* A client of very many servers: those that were seen keep their names. */
static void test_many(void **state)
{
	static const unsigned char local[4] = { 10, 0, 0, 1 };
	static struct upstreams u;

	(void)state;
	for (unsigned int port = 1; port < 1000; port++) {
		char expected[40];

		snprintf(expected, sizeof(expected), "10.0.0.1:%u", port);
		want_name(&u, AF_INET, local, 4, port, port < UPSTREAMS_MAX ? expected : "other servers");
	}
	want_name(&u, AF_INET, local, 4, 7, "10.0.0.1:7");
	want_name(&u, AF_INET, local, 4, UPSTREAMS_MAX - 1, "10.0.0.1:255");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names), cmocka_unit_test(test_many) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
