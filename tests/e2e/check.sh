#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof check, annotate --suggest, show source, help WORD: the commands for a first user.
. "${srcdir:-.}/tests/e2e/lib.sh"

# 200 requests: put on thread 1, then no thread has them for 60 to 99 ns, then work on thread 2 takes 20.
awk 'BEGIN {
	print "vprof-tuples 1"
	for (i = 1; i <= 200; i++) {
		t = i * 1000; w = 60 + i % 40
		print "interval", i, "request 1", t, 2, t + 10 + w + 20
		print "segment 1", i, t, t + 10, "running"
		print "segment 2", i, t + 10 + w, t + 10 + w + 20, "running"
		print "creation 1", t + 10, 2, t + 10 + w
		print "invocation 1", i, "put", t, t + 10
		print "invocation 2", i, "work", t + 10 + w, t + 10 + w + 20
	}
	for (i = 201; i <= 220; i++)
		print "interval", i, "request 1", i * 1000, 1, i * 1000 + 5, "aborted"
}' >queue.tuples
expect 0 "$VPROF" import --from tuples queue.tuples -o queue
expect 0 "$VPROF" check queue
says "'request' does not look right (3 things to look at): 220 began, 200 completed, on 1 thread; 200 ended on another thread" \
	"20 of 220 that began were aborted" "lies between put and work on no thread: add --resume work" "less than a request to a server does"
says "example: interval" "put" "queue wait" "work"
expect 0 "$VPROF" check queue --format json
says '"schema": "vprof.check/1"' '"began": 220' '"aborted": 20' '"moved": 200' '"code": "nowhere"'
expect 2 "$VPROF" check queue other
says "check takes one run"
printf 'vprof-tuples 1\ninterval 1 request 1 0 - -\n' >open.tuples
expect 3 "$VPROF" import --from tuples open.tuples -o open
expect 3 "$VPROF" check open

# check finds the function that answers what it reads, not the loop around it; a pair if one function reads and another answers.
mkdir server && cd server || exit 99
cat >server.c <<'C'
#include <sys/epoll.h>
#include <unistd.h>
struct conn { int fd; char buf[64]; };
int lookup(struct conn *c) { return c->buf[0]; }
const char *name(void) { /* write() */ return "cannot read (it)"; } // write(1)
void reply(struct conn *c) { if (write(c->fd, c->buf, 1) < 0) close(c->fd); }
void handle(struct conn *c) { if (read(c->fd, c->buf, 64) > 0 && lookup(c)) reply(c); }
void loop(int ep) { struct epoll_event e; while (epoll_wait(ep, &e, 1, -1) > 0) handle(e.data.ptr); }
int main(void) { int p[2]; struct conn c = { 0, "" }; if (pipe(p)) return 1; c.fd = p[0]; handle(&c); loop(-1); return 0; }
C
expect 2 "$VPROF" build -- cc -c server.c	# no interval yet
expect 0 "$VPROF" annotate --suggest
says "--start 'handle' --end 'handle'"
grep -q "'loop'\|'main'\|'lookup'\|'name'" "$work/.out" && fail "a function that does not do it is suggested: $(cat "$work/.out")" || pass
sed -i 's/ && lookup(c)) reply(c); }/) lookup(c); }/; s/handle(e.data.ptr); }/{ handle(e.data.ptr); reply(e.data.ptr); } }/' server.c
expect 2 "$VPROF" build -- cc -c server.c	# no interval yet
expect 0 "$VPROF" annotate --suggest
says "--start 'handle' --end 'reply' --key arg0"
expect 2 "$VPROF" annotate --start handel --end reply
says "handle"

expect 0 "$VPROF" show source lookup
says "server.c" "int lookup(struct conn *c) { return c->buf[0]; }"
expect 2 "$VPROF" show source lookupp
says "no function 'lookupp'" "vprof show source lookup"
expect 2 "$VPROF" show source
expect 2 "$VPROF" show source lookup more
says "show source takes one function; 'more' is one too many"
expect 0 "$VPROF" show source lookup --format json
says '"schema": "vprof.source/1"' '"function": "lookup"' "\"text\": \"int lookup(struct conn *c) { return c->buf[0]; }\""
expect 2 "$VPROF" show source lookup --format csv
says "show source cannot be printed as 'csv'" "--format json"
expect 2 "$VPROF" show surce
says "did you mean 'source'"
expect 0 "$VPROF" show --help
says "show source FUNCTION"

# A request is what a thread does with its connection, though more than one part of it reads and writes; also where calls go through
# a table of functions, and in a circle.
cat >server.c <<'C'
#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>
struct conn;
struct ops { ssize_t (*get)(struct conn *, void *, size_t); ssize_t (*put)(struct conn *, const void *, size_t); };
struct conn { int fd; const struct ops *ops; char buf[64]; };
static ssize_t raw_get(struct conn *c, void *b, size_t n) { return recv(c->fd, b, n, 0); }
static ssize_t raw_put(struct conn *c, const void *b, size_t n) { return send(c->fd, b, n, 0); }
static const struct ops raw = { raw_get, raw_put };
void serve_connection(struct conn *c);
void refuse(struct conn *c) { while (c->ops->get(c, c->buf, 9) > 0 && c->ops->put(c, "no", 2) > 0) ; if (c->buf[1]) serve_connection(c); }
void page(struct conn *c) { while (c->ops->get(c, c->buf, 9) > 0 && c->ops->put(c, "page", 4) > 0) ; }
void serve_connection(struct conn *c) { if (c->buf[0]) page(c); else refuse(c); }
static void *connection_thread(void *c) { serve_connection(c); return NULL; }
void accept_loop(int s)
{
	for (;;) {
		struct conn c = { accept(s, NULL, NULL), &raw, "" };
		pthread_t t;
		pthread_create(&t, NULL, connection_thread, &c);
	}
}
int main(void) { accept_loop(0); return 0; }
C
expect 2 "$VPROF" build -- cc -c server.c	# no interval yet
expect 0 "$VPROF" annotate --suggest
sed -n 2p "$work/.out" | grep -q "start 'serve_connection' --end 'serve_connection'" && pass || fail "first: $(cat "$work/.out")"

cd ..

expect 0 "$VPROF" help waker
says "wakeup, waker: "
expect 0 "$VPROF" help queue wait
says "no thread works on it"
expect 0 "$VPROF" help show
says "usage: vprof show"
expect 0 "$VPROF" help words
says "variance tree" "queue wait"
expect 2 "$VPROF" help quere
says "neither a command nor a word"

# Each word that a view of the demo's kind prints in its legends is explained.
for word in interval share body blame cause factor "waiting for a CPU" "wakeup delay" unknown peer p99 sd arrived busy "handed over" parked; do
	expect 0 "$VPROF" help $word
done

# ... also as the views and JSON have it.
explained()
{
	expect 0 "$VPROF" help "$1"
	says "$2: "
}
explained "(arrived, not read)" arrived
explained "arrived, not read" arrived
explained "by log_append (runnable)" "runnable time"
explained "handed over, not taken up" "handed over"
explained handed-over "handed over"
explained "busy with other requests" busy
explained lock "lock wait, cond wait, join wait"
explained cond "lock wait, cond wait, join wait"
explained "off the CPU, unknown why" "off the CPU"
explained "(before start)" "before start"
explained "call site" "place, call site"
expect 2 "$VPROF" help "by quere (nothing)"
finish
