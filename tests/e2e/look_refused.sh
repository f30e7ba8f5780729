#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof look where connections do not carry one request and one answer, or where it cannot see them: it says which, and what to do.
#	subscribe	one request, then messages for ever; others' requests are answered meanwhile
#	first		the server sends without being asked
#	pipeline	the client does not wait for answers
#	datagram	UDP
#	asks		it only asks another server
#	parked		a timer has the requests
#	unix		on a Unix socket; the first request on each connection counts
# And: without permission, on a kernel that does not say when bytes arrive, in another PID namespace, on two processes that are none.
. "${srcdir:-.}/tests/e2e/lib.sh"

needs_kernel_recorder
command -v python3 >/dev/null || exit 77
cat >server.py <<'END_OF_SERVER'
import heapq, itertools, os, selectors, socket, sys, time
how, name = sys.argv[1], sys.argv[2]
def listening():
    s = socket.socket(socket.AF_UNIX if how == "unix" else socket.AF_INET, socket.SOCK_DGRAM if how == "datagram" else socket.SOCK_STREAM)
    s.bind(name + ".socket" if how == "unix" else ("127.0.0.1", 0))
    if how != "datagram":
        s.listen(50)
    with open(name + ".new", "w") as f:
        f.write(name + ".socket" if how == "unix" else str(s.getsockname()[1]))
    os.rename(name + ".new", name)
    return s
if how == "asks":
    s = socket.create_connection(("127.0.0.1", int(open("other").read())))
    open(name, "w").write("0")
    while True:
        s.sendall(b"ask"), s.recv(10), time.sleep(.002)
s, sel, subscribers, timers, turn = listening(), selectors.DefaultSelector(), [], [], itertools.count()
if how == "datagram":
    while True:
        data, who = s.recvfrom(100)
        s.sendto(data, who)
sel.register(s, selectors.EVENT_READ)
def readable(c):
    data = c.recv(4 if how == "pipeline" else 100)
    if not data:
        sel.unregister(c), c.close()
        subscribers[:] = [x for x in subscribers if x != c]
    elif data == b"subscribe":
        subscribers.append(c), c.sendall(b"+ok")
    elif how == "parked":
        heapq.heappush(timers, (time.monotonic() + (.08 if next(turn) % 3 else .005), id(c), c))
    else:
        if how == "pipeline":		# ten times as long as the client takes, on a quiet machine
            time.sleep(.02)
        c.sendall(b"+ok")
        for x in subscribers:
            x.sendall(b"message")
while True:
    for key, _ in sel.select(max(0, timers[0][0] - time.monotonic()) if timers else .003 if how == "first" else None):
        if key.fileobj is s:
            c = s.accept()[0]
            sel.register(c, selectors.EVENT_READ)
            if how == "first":
                subscribers.append(c)
        else:
            readable(key.fileobj)
    while timers and timers[0][0] <= time.monotonic():
        heapq.heappop(timers)[2].sendall(b"+ok")
    for x in subscribers if how == "first" else []:
        x.sendall(b"news")
END_OF_SERVER
cat >client.py <<'END_OF_CLIENT'
import socket, sys, threading, time
how, where = sys.argv[1], open(sys.argv[2]).read()
def connect():
    if how == "datagram":
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.connect(("127.0.0.1", int(where)))
    elif how == "unix":
        s = socket.socket(socket.AF_UNIX)
        s.connect(where)
    else:
        s = socket.create_connection(("127.0.0.1", int(where)))
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s
def listen(s):
    while s.recv(1000):
        pass
def ask(s):
    while True:
        s.sendall(b"quey"), s.recv(100), time.sleep(.002)
        if how == "unix":
            s.close()
            s = connect()
def flood(s):
    threading.Thread(target=listen, args=(s,), daemon=True).start()
    while True:
        s.sendall(b"quey"), time.sleep(.002)
def subscribe():
    s = connect()
    s.sendall(b"subscribe")
    listen(s)
n = 4 if how == "subscribe" else 0
for i in range(n):
    threading.Thread(target=subscribe, daemon=True).start()
works = {"first": listen, "pipeline": flood}.get(how, ask)
for i in range(2):
    threading.Thread(target=works, args=(connect(),), daemon=True).start()
time.sleep(120)
END_OF_CLIENT

wait_for() # FILE
{
	for i in $(seq 300); do
		[ -s "$1" ] && return
		sleep 0.1
	done
	fail "$1: no server"
}

serve() # HOW: sets server
{
	python3 server.py "$1" "$1.where" &
	server=$!
	wait_for "$1.where"
	[ "$1" = asks ] && return
	python3 client.py "$1" "$1.where" &
	client=$!
}

done_serving()
{
	kill $server $client 2>/dev/null
	wait $server $client 2>/dev/null
}

look_at() # HOW STATUS TEXT
{
	serve "$1"
	"$VPROF" look -p $server --duration 1500ms --samples 0 --format json >"$1.json" 2>"$1.err"
	status=$?
	done_serving
	[ $status = "$2" ] || { cat "$1.err"; fail "$1: ended with $status, not $2"; }
	cat "$1.err" "$1.json" >"$1.all"
	grep -q "$3" "$1.all" && pass || { cat "$1.err"; fail "$1: does not say '$3'"; }
}

look_at subscribe 3 "of the sends answer nothing"
look_at first 3 "sends first"
look_at pipeline 3 "hold several requests"
look_at datagram 3 "UDP has no connections"
look_at parked 0 '"code": "parked"'
# The function in which its thread waits when it has nothing to do is no cause: the timer is, or nobody is known, or a busy machine.
awk '/"sentence"/ { found = 1 } found && /"function"/ { print; exit }' parked.json >parked.function
grep -q '"function": null' parked.function && pass || { cat parked.function; grep '"text"' parked.json; fail "parked: a function is blamed"; }
look_at unix 0 '"exchanges"'
grep -q "unix unix.where.socket" unix.json && pass || fail "unix: not named by its path"
# Each of the two clients may have had one under way when the look began; each connection has but one request.
unseen=$(sed -n 's/.* \([0-9]*\) more are left out.*/\1/p' unix.err)
[ "${unseen:-0}" -le 2 ] && pass || { cat unix.err; fail "unix: the first request on a connection was not seen"; }
python3 server.py plain other &
other=$!
wait_for other
look_at asks 3 "only asks others"
kill $other

# A server without names: its own functions are static, and it is stripped.
cat >nameless.c <<'END_OF_NAMELESS'
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static __attribute__((noinline)) int handle(int fd)
{
	char request[64];

	if (read(fd, request, sizeof(request)) <= 0)
		return 0;
	usleep(request[0] & 1 ? 3000 : 1000 + rand() % 2000);
	return write(fd, "+ok", 3) == 3;
}

int main(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0), c;

	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 50) < 0 || getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		return 1;
	printf("%d\n", ntohs(a.sin_port));
	fflush(stdout);
	while ((c = accept(fd, NULL, NULL)) >= 0)
		if (fork() == 0)
			while (handle(c))
				;
}
END_OF_NAMELESS
# Debian's redis-server is a link to redis-check-rdb: it is called as it was started.
gcc -O1 -s nameless.c -o nameless-file && ln -s nameless-file nameless || exit 99
./nameless >nameless.where &
server=$!
wait_for nameless.where
python3 client.py ask nameless.where &
client=$!
"$VPROF" look -p $server --duration 1500ms --samples 0 --format json >nameless.json 2>nameless.err || fail "a stripped server: $(cat nameless.err)"
children=$(cat /proc/$server/task/$server/children)
done_serving
kill $children 2>/dev/null
grep -q '"code": "unnamed-frames"' nameless.json && grep -q 'mostly in \[nameless\]' nameless.json && pass || { cat nameless.json; fail "frames without a name: no warning"; }

# Processes that it cannot look at.
sleep 60 &
idle=$!
VPROF_KERNEL_HOOKS=no-sockets "$VPROF" look -p $idle --duration 1s >old.out 2>old.err
[ $? = 4 ] || fail "a kernel without the tracepoints: not 4"
grep -q "Linux 6.3" old.err && grep -q "vprof annotate" old.err && pass || fail "a kernel without the tracepoints: $(cat old.err)"
if command -v setpriv >/dev/null && [ "$(id -u)" = 0 ]; then
	chmod 755 . && mkdir -m 777 nobody
	(cd nobody && setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all "$VPROF" look -p $idle --duration 1s) >may.out 2>may.err
	[ $? = 4 ] && pass || { cat may.err; fail "without permission: not 4"; }
fi
kill $idle
if unshare -p -f true 2>/dev/null; then
	unshare -p -f sh -c 'sleep 60; :' &
	outer=$!
	inner=
	for i in $(seq 100); do
		inner=$(cat /proc/$outer/task/$outer/children 2>/dev/null)
		[ -n "$inner" ] && break
		sleep 0.1
	done
	"$VPROF" look -p ${inner:-0} --duration 1s >ns.out 2>ns.err
	[ $? = 4 ] && grep -q nsenter ns.err && pass || { cat ns.err; fail "another PID namespace: not 4, or not how"; }
	kill -9 $inner $outer
fi

finish
