/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * work.c - most of the variance is the work that was asked for; of the rest one function has nine tenths.
 *
 * A query is for 1 to 1,000 rows, evenly.  fetch() takes .5 us a row and what a miss costs, 0 to 150 us: 20,833 + 1,875
 * us^2.  format() takes .25 us a row, and 0 to 50 more: 5,208 + 208.  The rows do not explain 2,083, and the
 * covariance of the rows' parts is 2 * 10,417.  VPROF_WORK gives vprof the rows.
 *
 * truth: function fetch 0.675
 * truth: function format 0.325
 * left: function fetch 0.90
 * left: function format 0.10
 * forbidden: function send_reply
 * says: rows explains
 */
#include <vprof.h>
#include "truth.h"

enum { REQUESTS = 900 };

#define ROWS(id) (1 + (int64_t)(1000 * truth_draw(1, id)))

static void fetch(size_t id)
{
	TRUTH(id, 0, truth_work(ROWS(id) / 2 + truth_uniform("miss", 2, id, 0, 150)));
}

static void format(size_t id)
{
	TRUTH(id, 1, truth_work(ROWS(id) / 4 + truth_uniform("format", 3, id, 0, 50)));
}

static void send_reply(size_t id)
{
	TRUTH(id, 2, truth_work(100));
}

static void handle(size_t id)
{
	truth_took(id, 3, ROWS(id));
	VPROF_WORK("rows", ROWS(id));
	fetch(id);
	format(id);
	send_reply(id);
}

int main(void)
{
	truth_open(REQUESTS, "function fetch;function format;function send_reply;work rows");
	TRUTH_SERVE(id, REQUESTS, 800, handle(id));
	truth_close();
	return 0;
}
