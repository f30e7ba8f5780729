# SPDX-License-Identifier: GPL-3.0-or-later
# look_client.py KIND PORT SECONDS: four connections to look_server.c; prints connection and nanoseconds of each request, in order.
import random, socket, ssl, sys, threading, time

kind, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
slow = {"workers": .025, "loop": .025, "proxy": .025, "sendfile": .1, "tls": .1}.get(kind, 0)
took = [[] for _ in range(4)]
end = time.monotonic() + seconds


def connect():
    s = socket.create_connection(("127.0.0.1", port))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if kind == "tls":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        s = context.wrap_socket(s)
    return s


def ask(n):
    s, r = connect(), random.Random(n)
    while time.monotonic() < end:
        burst = r.randrange(1, 9) if kind == "bursts" else 1
        request = b"".join((b"S" if r.random() < slow else b"Q") + bytes(63) for _ in range(burst))
        begin, left = time.monotonic_ns(), 7 * burst
        s.sendall(request)
        while left:
            left -= len(s.recv(left))
        took[n].append(time.monotonic_ns() - begin)
        time.sleep(.003)


threads = [threading.Thread(target=ask, args=(n,)) for n in range(4)]
for t in threads:
    t.start(), time.sleep(.1)		# connections are numbered by their first bytes
for t in threads:
    t.join()
for n, all in enumerate(took):
    for ns in all:
        print(n, ns)
