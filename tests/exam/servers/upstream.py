# SPDX-License-Identifier: GPL-3.0-or-later
"""upstream.py - what the servers of `make exam-servers` ask: quick, but in the case "upstream" slow now and then.

	upstream.py PROTOCOL PORT
"""
import os
import random
import socket
import socketserver
import struct
import sys
import time

SLOW = os.environ["EXAM_CAUSE"] == "upstream"


def work():
    """What an answer costs: nothing, or 60 to 200 ms for one of sixteen."""
    if SLOW and random.random() < 1 / 16:
        time.sleep(random.uniform(0.06, 0.2))


class Http(socketserver.StreamRequestHandler):
    def handle(self):
        while self.rfile.readline().strip():
            pass
        work()
        self.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\nConnection: close\r\n\r\nthe page\n")


class Database(socketserver.StreamRequestHandler):
    def say(self, *messages):
        self.wfile.write(b"".join(kind + struct.pack(">I", 4 + len(rest)) + rest for kind, rest in messages))

    def handle(self):
        size, = struct.unpack(">I", self.rfile.read(4))
        self.rfile.read(size - 4)
        self.say((b"R", b"\0\0\0\0"), (b"S", b"server_version\x0015.0\0"), (b"S", b"client_encoding\0UTF8\0"),
                 (b"K", b"\0\0\0\1\0\0\0\1"), (b"Z", b"I"))
        while head := self.rfile.read(5):
            query = self.rfile.read(struct.unpack(">I", head[1:])[0] - 4)
            if b"what_there_is" not in query:
                self.say((b"C", b"SET\0"), (b"Z", b"I"))
                continue
            work()
            column = b"\0\1x\0" + b"\0" * 6 + b"\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0"
            self.say((b"T", column), (b"D", b"\0\1\0\0\0\3all"), (b"C", b"SELECT 1\0"), (b"Z", b"I"))


class Names(socketserver.BaseRequestHandler):
    def handle(self):
        query, sock = self.request
        work()
        end = 12 + query[12:].index(b"\0") + 5
        answer = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4" + socket.inet_aton("10.1.2.3")
        sock.sendto(query[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + query[12:end] + answer, self.client_address)


class Udp(socketserver.ThreadingUDPServer):
    daemon_threads = True


class Tcp(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


PROTOCOLS = {"http": (Tcp, Http), "names": (Udp, Names), "database": (Tcp, Database)}

if __name__ == "__main__":
    server, handler = PROTOCOLS[sys.argv[1]]
    server(("127.0.0.1", int(sys.argv[2])), handler).serve_forever()
