# SPDX-License-Identifier: GPL-3.0-or-later
"""client.py - the clients of `make exam-servers`, and the truth: how long each request took for them.

	client.py PROTOCOL CASE SECONDS LOG

Some connections, each a thread: a request, its answer (checked), a pause.  LOG gets a line "START_NS LATENCY_NS" a request.  A protocol
is a class: connect() once a thread, ask(slow) a request; slow is one of the rare requests that a case may ask for (slow_part of them).
aside() is a thread beside them whose requests nobody measures.
"""
import os
import random
import re
import signal
import socket
import struct
import sys
import threading
import time

PORT = int(os.environ["EXAM_PORT"])
UPSTREAM = int(os.environ["EXAM_UPSTREAM"])
HERE = "127.0.0.1"


def connected(port):
    s = socket.create_connection((HERE, port), timeout=30)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def read_all(s):
    parts = []
    while True:
        part = s.recv(65536)
        if not part:
            return b"".join(parts)
        parts.append(part)


class Protocol:
    connections = 6
    pause = 0.03
    slow_part = {}
    upstream = False

    def ready(self):
        wait_for(PORT)

    def connect(self, number):
        self.number = number

    def aside(self, case, until):
        pass


class Proxy(Protocol):
    """tinyproxy: a connection a request, an absolute URL; long URLs where the filter is asked."""
    slow_part = {"own": 0.04}
    upstream = True

    def ask(self, slow):
        path = "/page" + "/abcdefgh" * (250 if slow else 1)
        with connected(PORT) as s:
            s.sendall(f"GET http://{HERE}:{UPSTREAM}{path} HTTP/1.0\r\nHost: {HERE}\r\n\r\n".encode())
            answer = read_all(s)
        assert answer.endswith(b"the page\n"), answer[:200]


class Web(Protocol):
    """mini_httpd: a connection a page; the index of a large directory where that is asked."""
    slow_part = {"own": 0.05}

    def ask(self, slow):
        with connected(PORT) as s:
            s.sendall(f"GET {'/many/' if slow else '/page.html'} HTTP/1.0\r\nHost: {HERE}\r\n\r\n".encode())
            answer = read_all(s)
        assert answer.endswith(b"</html>\n" if slow else b"the page\n"), answer[-200:]


class Handlers(Protocol):
    """civetweb: a page of a C++ handler; a page behind a password where that is asked."""
    connections = 8
    slow_part = {"own": 0.05}

    def connect(self, number):
        head = self.answer("/private/page.html", "").decode()
        self.nonce = re.search('nonce="([0-9]*)"', head).group(1)

    def answer(self, path, more):
        with connected(PORT) as s:
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: {HERE}\r\nConnection: close\r\n{more}\r\n".encode())
            return read_all(s)

    def ask(self, slow):
        if not slow:
            answer = self.answer("/a?param=x", "")
            assert b"param set to x" in answer, answer[:200]
            return
        who = f'username="nobody", realm="mydomain.com", uri="/private/page.html", nonce="{self.nonce}"'
        answer = self.answer("/private/page.html", f'Authorization: Digest {who}, qop=auth, nc=1, cnonce="1", response="{"0" * 32}"\r\n')
        assert b" 401 " in answer[:20], answer[:200]


class Broker(Protocol):
    """mosquitto: publishes a message at QoS 1, and waits for its acknowledgement."""

    def connect(self, number):
        self.topic = f"here/{number}".encode()
        self.socket = connected(PORT)
        name = f"client{number}".encode()
        self.send(0x10, b"\0\4MQTT\4\2\0\0" + self.text(name))
        assert self.read(4) == b"\x20\2\0\0"
        self.id = 0

    def text(self, what):
        return struct.pack(">H", len(what)) + what

    def send(self, kind, rest):
        assert len(rest) < 128
        self.socket.sendall(bytes([kind, len(rest)]) + rest)

    def read(self, size):
        got = b""
        while len(got) < size:
            part = self.socket.recv(size - len(got))
            assert part, "the broker hung up"
            got += part
        return got

    def ask(self, slow):
        self.id = self.id % 65535 + 1
        self.send(0x32, self.text(self.topic) + struct.pack(">H", self.id) + b"what there is to say")
        assert self.read(4) == b"\x40\2" + struct.pack(">H", self.id)


class Fill(Broker):
    """60,000 messages that the broker retains."""
    connections = 1

    def connect(self, number):
        super().connect(number)
        for i in range(60000):
            self.send(0x31, self.text(b"retained/%d" % i) + b"what there is to say, and to keep for later")
        self.ask(False)


class Names(Protocol):
    """dnsmasq: a name that it does not know yet; beside them, SIGHUP now and then where that is asked."""

    def ready(self):
        self.connect(0)
        self.socket.settimeout(1)
        for _ in range(60):
            try:
                return self.ask(False)
            except OSError:
                time.sleep(0.2)
        sys.exit(f"client: no answer from port {PORT}")

    def connect(self, number):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(30)
        self.socket.connect((HERE, PORT))
        self.number, self.id = number, 0

    def ask(self, slow):
        self.id += 1
        name = b"n%d-%d" % (self.number, time.monotonic_ns())
        query = struct.pack(">6H", self.id % 65536, 0x100, 1, 0, 0, 0) + bytes([len(name)]) + name + b"\4here\0\0\1\0\1"
        self.socket.send(query)
        while True:
            answer = self.socket.recv(4096)
            if answer[:2] == query[:2] and name in answer:
                break
        assert answer.endswith(socket.inet_aton("10.1.2.3")), answer

    def aside(self, case, until):
        while case == "own" and time.monotonic() < until:
            time.sleep(random.uniform(0.4, 1))
            os.kill(int(os.environ["EXAM_SERVER_PID"]), signal.SIGHUP)


class Database(Protocol):
    """pgbouncer: a query; beside them, SIGHUP after a change of its users where that is asked."""
    upstream = True

    def connect(self, number):
        self.socket = connected(PORT)
        what = b"user\0user000001\0database\0here\0\0"
        self.socket.sendall(struct.pack(">2I", 8 + len(what), 196608) + what)
        self.file = self.socket.makefile("rb")
        self.read_until_ready()

    def read_until_ready(self):
        kinds = b""
        while not kinds.endswith(b"Z"):
            kind, size = struct.unpack(">cI", self.file.read(5))
            rest = self.file.read(size - 4)
            assert kind != b"E", rest
            kinds += kind
        return kinds

    def ask(self, slow):
        query = b"select what_there_is\0"
        self.socket.sendall(b"Q" + struct.pack(">I", 4 + len(query)) + query)
        assert b"D" in self.read_until_ready()

    def aside(self, case, until):
        while case == "own" and time.monotonic() < until:
            time.sleep(random.uniform(0.4, 1))
            os.utime(os.environ["EXAM_USERS"], (random.randrange(1 << 30), random.randrange(1 << 30)))
            os.kill(int(os.environ["EXAM_SERVER_PID"]), signal.SIGHUP)


PROTOCOLS = {"database": Database, "names": Names, "proxy": Proxy, "web": Web, "handlers": Handlers, "broker": Broker, "fill": Fill}


def wait_for(port):
    for _ in range(300):
        try:
            connected(port).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit(f"client: nobody listens on port {port}")


def one_client(protocol, case, number, until, lines):
    p = protocol()
    p.connect(number)
    chance = random.Random(number)
    part = p.slow_part.get(case, 0)
    while time.monotonic() < until:
        slow = chance.random() < part
        start = time.monotonic_ns()
        p.ask(slow)
        lines.append((start, time.monotonic_ns() - start))
        time.sleep(chance.expovariate(1 / p.pause))


def main():
    protocol, case, seconds, log = PROTOCOLS[sys.argv[1]], sys.argv[2], float(sys.argv[3]), sys.argv[4]
    failed = []
    threading.excepthook = lambda args: (failed.append(args), sys.__excepthook__(args.exc_type, args.exc_value, args.exc_traceback))
    if protocol.upstream:
        wait_for(UPSTREAM)
    protocol().ready()
    until = time.monotonic() + seconds
    lines = []
    threads = [threading.Thread(target=one_client, args=(protocol, case, n, until, lines)) for n in range(protocol.connections)]
    threads.append(threading.Thread(target=protocol().aside, args=(case, until)))
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    with open(log, "w") as out:
        for start, latency in sorted(lines):
            out.write(f"{start} {latency}\n")
    return 1 if failed or seconds and not lines else 0


if __name__ == "__main__":
    sys.exit(main())
