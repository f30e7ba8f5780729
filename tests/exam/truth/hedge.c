/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hedge.c - two functions that offset each other: fixing one of them makes it worse.
 *
 * read_ahead() takes x from 0 to 600 us, what it did not read costs scan() 600 - x: 30,000 us^2 each, and nothing both
 * together.  format() takes 0 to 400: 13,333.  With read_ahead() fixed the variance would be 43,333, three times what it is.
 *
 * truth: function format 1.00
 * forbidden: function read_ahead
 * forbidden: function scan
 * says: read_ahead and scan offset each other
 * says: hedge
 * fix: format function format
 * fix: read_ahead function read_ahead
 */
#include <vprof.h>
#include "truth.h"

enum { REQUESTS = 600 };

static void read_ahead(size_t id)
{
	TRUTH(id, 1, truth_work(truth_uniform("read_ahead", 1, id, 0, 600)));
}

static void scan(size_t id)
{
	TRUTH(id, 2, truth_work(600 - truth_uniform("scan", 1, id, 0, 600)));
}

static void format(size_t id)
{
	TRUTH(id, 0, truth_work(truth_uniform("format", 2, id, 0, 400)));
}

static void handle(size_t id)
{
	read_ahead(id);
	scan(id);
	format(id);
}

int main(void)
{
	truth_open(REQUESTS, "function format;function read_ahead;function scan");
	TRUTH_SERVE(id, REQUESTS, 800, handle(id));
	truth_close();
	return 0;
}
