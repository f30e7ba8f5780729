#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof look at a server that asks another one: the first sentence names that one.  A proxy with an event loop, whose requests are parked
# meanwhile, and one with a thread a connection, which waits in recv(); the server behind is one of TCP, of IPv6, or has a path.  One in
# eight requests takes it 30 ms longer.  Then a loop that asks two, one after the other, for each request: the slow one comes first.
. "${srcdir:-.}/tests/e2e/lib.sh"

needs_kernel_recorder
command -v python3 >/dev/null || exit 77
cat >behind.py <<'END_OF_BEHIND'
import os, socket, sys, threading, time
kind, name, slow_s, cnt, lock = sys.argv[1], sys.argv[2], float(sys.argv[3]), 0, threading.Lock()
s = socket.socket({"unix": socket.AF_UNIX, "tcp6": socket.AF_INET6}.get(kind, socket.AF_INET), socket.SOCK_STREAM)
s.bind(name + ".sock" if kind == "unix" else ("::1", 0) if kind == "tcp6" else ("127.0.0.1", 0))
s.listen(50)
with open(name + ".new", "w") as f:
    f.write(name + ".sock" if kind == "unix" else str(s.getsockname()[1]))
os.rename(name + ".new", name)
def serve(c):
    global cnt
    while c.recv(100):
        with lock:
            cnt += 1
            slow = cnt % 8 == 0
        time.sleep(slow_s if slow else .002)
        c.sendall(b"answer")
while True:
    threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
END_OF_BEHIND
cat >proxy.py <<'END_OF_PROXY'
import os, selectors, socket, sys, threading
how, kind, where = sys.argv[1], sys.argv[2], open("behind").read()
def ask(where=where):
    s = socket.socket({"unix": socket.AF_UNIX, "tcp6": socket.AF_INET6}.get(kind, socket.AF_INET), socket.SOCK_STREAM)
    s.connect(where if kind == "unix" else ("::1" if kind == "tcp6" else "127.0.0.1", int(where)))
    return s
s = socket.socket()
s.bind(("127.0.0.1", 0)), s.listen(50)
with open("front.new", "w") as f:
    f.write(str(s.getsockname()[1]))
os.rename("front.new", "front")
def threads(c):
    up = ask()
    while True:
        data = c.recv(100)
        if not data:
            return
        up.sendall(data), c.sendall(up.recv(100))
if how == "threads":
    while True:
        threading.Thread(target=threads, args=(s.accept()[0],), daemon=True).start()
sel, other = selectors.DefaultSelector(), {}
# pool: two asked one after the other, as well, on connections that all clients share, one request at a time on each
def pool():
    free, waiting, asked = [[], []], [[], []], {}
    for step, name in enumerate(("behind", "second")):
        for _ in range(2):
            up = ask(open(name).read())
            free[step].append(up), sel.register(up, selectors.EVENT_READ)
    def go_on(step):
        while free[step] and waiting[step]:
            up, c = free[step].pop(0), waiting[step].pop(0)
            asked[up] = (step, c)
            up.sendall(b"question")
    while True:
        for key, _ in sel.select():
            if key.fileobj is s:
                sel.register(s.accept()[0], selectors.EVENT_READ)
                continue
            if not key.fileobj.recv(100):
                sel.unregister(key.fileobj)
                continue
            step, c = asked.pop(key.fileobj, (-1, key.fileobj))
            if step >= 0:
                free[step].append(key.fileobj), go_on(step)
            if step == 1:
                c.sendall(b"answer")
            else:
                waiting[step + 1].append(c), go_on(step + 1)
sel.register(s, selectors.EVENT_READ)
if how == "pool":
    pool()
while True:
    for key, _ in sel.select():
        if key.fileobj is s:
            ends = [s.accept()[0], ask()] + ([ask(open("second").read())] if how == "two" else [])
            for i, end in enumerate(ends):
                other[end] = ends[(i + 1) % len(ends)]
                sel.register(end, selectors.EVENT_READ)
            continue
        data = key.fileobj.recv(100)
        if data:
            other[key.fileobj].sendall(data)
        else:
            sel.unregister(key.fileobj)
END_OF_PROXY
cat >client.py <<'END_OF_CLIENT'
import socket, threading
def ask():
    s = socket.create_connection(("127.0.0.1", int(open("front").read())))
    while True:
        s.sendall(b"request"), s.recv(100)
for i in range(3):
    threading.Thread(target=ask).start()
END_OF_CLIENT

wait_for() # FILE
{
	for _ in $(seq 300); do
		[ -e "$1" ] && return
		sleep 0.1
	done
	fail "no $1"
}

# look_at HOW KIND
look_at()
{
	rm -f behind behind.sock second second.sock front
	python3 behind.py "$2" behind .032 &
	behind=$!
	python3 behind.py "$2" second .002 &
	second=$!
	wait_for behind
	wait_for second
	python3 proxy.py "$1" "$2" &
	proxy=$!
	wait_for front
	python3 client.py &
	client=$!
	expect 0 "$VPROF" -d "$1-$2.data" look -p "$proxy" --duration 3s
	case $2 in
	unix) name=behind.sock ;;
	tcp6) name="[::1]:$(cat behind)" ;;
	*) name=127.0.0.1:$(cat behind) ;;
	esac
	kill "$client" "$proxy" "$behind" "$second" 2>/dev/null
	wait "$client" "$proxy" "$behind" "$second" 2>/dev/null
	first=$("$VPROF" -d "$1-$2.data" show causes --format json 2>/dev/null | awk '/"peer"/ { print; exit }')
	case $first in
	*"\"$name\""*) pass ;;
	*) fail "$1, $2: the first cause is $first, not $name"; cat "$work/.out" ;;
	esac
}

look_at loop tcp
says "▶ 127.0.0.1:" "causes" "a request waits for it"
look_at two tcp
look_at two unix
look_at pool tcp
look_at loop unix
look_at threads tcp6
says "by [::1]:"
finish
