#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Intervals that start in one process and end in another: a forked one, another program, and one that a shell (which is not recorded)
# started.  The drainer checks once a second for threads that have ended, which falls in the middle of the run; the other program
# executes in the process of a child that was recorded, too.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >vprof.conf <<'END'
[interval "request"]
	start  = submit
	resume = handle
	end    = reply
	key    = arg0
END
cat >server.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int in, out;

void submit(int id) { if (write(out, &id, sizeof(id)) != sizeof(id)) exit(3); }
void reply(int id) { if (write(out, &id, sizeof(id)) != sizeof(id)) exit(4); }
void handle(int id) { usleep(id % 2 ? 300 : 600); reply(id); }

static int serve(void)
{
	int id;

	while (read(in, &id, sizeof(id)) == sizeof(id))
		handle(id);
	return 0;
}

static void start(const char *how)
{
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		exit(5);
	if (!fork()) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		close(to[1]);
		close(from[0]);
		in = 0;
		out = 1;
		usleep(2000);		/* so that something of the child itself is recorded */
		if (!strcmp(how, "fork"))
			_exit(serve());
		if (!strcmp(how, "exec"))
			execl("./server", "server", "serve", NULL);
		execl("/bin/sh", "sh", "-c", "./server serve; true", NULL);
		_exit(6);
	}
	close(to[0]);
	close(from[1]);
	out = to[1];
	in = from[0];
}

int main(int argc, char **argv)
{
	int id, answer;

	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "serve")) {
		out = 1;
		return serve();
	}
	start(argv[1]);
	for (id = 1; id <= 80; id++) {
		if (id == 40)
			usleep(1200000);
		submit(id);
		if (read(in, &answer, sizeof(answer)) != sizeof(answer) || answer != id)
			return 1;
	}
	close(out);
	return wait(NULL) > 0 ? 0 : 1;
}
END
expect 0 "$VPROF" build --functions all -- gcc -O1 -g server.c -o server

# The pid of a thread is in no tuple, but the first thread of a process has its number.
for how in fork exec shell; do
	expect 0 "$VPROF" record -o $how -- ./server $how
	expect 0 "$VPROF" export --format tuples $how
	mv .out tuples
	cnt=$(awk '$1 == "interval" && NF == 7 && $4 != $6' tuples | wc -l)
	[ "$cnt" = 80 ] && pass || fail "$how: $cnt of 80 requests end in another process"
	cnt=$(awk '$1 == "interval" { ends[$6]++; starts[$4]++ } END { for (t in starts) n += t in ends; print n + 0 }' tuples)
	[ "$cnt" = 0 ] && pass || fail "$how: the same thread starts and ends requests"
	cnt=$(awk '$1 == "creation" && $2 != $4' tuples | wc -l)
	[ "$cnt" -ge 80 ] && pass || fail "$how: $cnt of 80 requests were handed over"
	# The other process's work is the request's own.
	expect 0 "$VPROF" show execution-table $how --format csv
	cnt=$(awk -F, '$2 == "handle" && $3 > 250000' .out | wc -l)
	[ "$cnt" = 80 ] && pass || fail "$how: $cnt of 80 requests were in handle"
done

finish
