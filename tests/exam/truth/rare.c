/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rare.c - rare but long against frequent but short.
 *
 * reload_keys() takes 2 ms in one request of fifty, else nothing: variance 2000^2 * .02 * .98 = 78,400 us^2.
 * parse() takes 0 to 800 us in every request: 800^2 / 12 = 53,333.  log_line() is called most often and
 * takes 5 us each of its 40 times.
 *
 * truth: function reload_keys 0.595
 * truth: function parse 0.405
 * forbidden: function log_line
 * fix: reload_keys function reload_keys
 * fix: parse function parse
 */
#include <vprof.h>
#include "truth.h"

enum { REQUESTS = 800 };

static void log_line(size_t id)
{
	TRUTH(id, 2, truth_work(5));
}

static void reload_keys(size_t id)
{
	TRUTH(id, 0, truth_work(truth_rare("reload_keys", 3, id, 0.02, 2000)));
}

static void parse(size_t id)
{
	TRUTH(id, 1, truth_work(truth_uniform("parse", 2, id, 0, 800)));
}

static void authenticate(size_t id)
{
	reload_keys(id);
}

static void handle(size_t id)
{
	for (int i = 0; i < 40; i++)
		log_line(id);
	parse(id);
	authenticate(id);
}

int main(void)
{
	truth_open(REQUESTS, "function reload_keys;function parse;function log_line");
	TRUTH_SERVE(id, REQUESTS, 600, handle(id));
	truth_close();
	return 0;
}
