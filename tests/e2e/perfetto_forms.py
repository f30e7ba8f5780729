# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces in the forms that Perfetto's writers use, for import_perfetto.sh: perfetto_forms.py NAME >FILE.

A message is a list of (field, value): an int is a varint, bytes or text or a list is of that length, a Fixed has 8 bytes.
"""
import struct
import sys
import zlib


class Fixed(int):
    pass


def varint(n):
    out = b""
    n &= (1 << 64) - 1
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def encode(fields):
    out = b""
    for number, value in fields:
        if isinstance(value, Fixed):
            out += varint(number << 3 | 1) + struct.pack("<Q", value)
        elif isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            data = value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else encode(value)
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def trace(*packets):
    return encode([(1, p) for p in packets])


BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def event(ns, kind, name=None, track=7, more=(), packet=()):
    fields = [(9, kind)] + ([(11, track)] if track is not None else []) + ([(23, name)] if name else []) + list(more)
    return [(8, ns), (10, 1), (11, fields)] + list(packet)


def thread(uuid, pid, tid):
    return [(10, 1), (60, [(1, uuid), (4, [(1, pid), (2, tid)])])]


def legacy(ns, phase, name, more=()):
    return [(8, ns), (10, 1), (11, [(22, "c"), (23, name), (6, [(2, ord(phase))] + list(more))])]


def clocks(*readings, sequence=1):          # (clock, timestamp, more fields)
    return [(10, sequence), (6, [(1, [(1, clock), (2, ns)] + list(more)) for clock, ns, more in readings])]


ab = [event(10000, BEGIN, "a"), event(12000, BEGIN, "b"), event(13000, END), event(15000, END)]
named = [(12, [(2, [(1, 5), (2, "a")]), (1, [(1, 6), (2, "cat")])])]
forms = {
    "plain": trace(*ab),
    "instants": trace(event(9000, INSTANT, "i"), *ab, event(9000, COUNTER, more=[(30, 4)]), [(8, 1), (7, b"\x0a\x00")]),
    "threads": trace(thread(7, 1, 2), thread(8, 1, 2), event(10000, BEGIN, "a", 7), event(11000, BEGIN, "b", 8), event(12000, END, None, 8),
                     event(15000, END, None, 7)),     # two tracks of one thread
    "tracks": trace(event(10000, BEGIN, "a", 7), event(11000, BEGIN, "b", 8), event(15000, END, None, 7), event(16000, END, None, 8)),
    "no_track": trace(event(10000, BEGIN, "a", None), event(15000, END, None, None)),
    "any_order": trace(ab[3], ab[0], ab[2], ab[1]),
    "named_ends": trace(event(10000, BEGIN, "a"), event(12000, BEGIN, "b"), event(15000, END, "a"), event(14000, END, "b")),
    "interned": trace(event(10000, BEGIN, more=[(10, 5)], packet=[(13, 1)] + named), event(15000, END)),
    "interned_of_two": trace(event(10000, BEGIN, more=[(10, 5)], packet=[(13, 1)] + named), event(11000, BEGIN, more=[(10, 5)], track=8, packet=[
        (10, 2), (12, [(2, [(1, 5), (2, "b")])])]), event(15000, END), event(16000, END, track=8)),
    "interned_again": trace(event(10000, BEGIN, more=[(10, 5)], packet=named), event(15000, END),
                            event(20000, BEGIN, more=[(10, 5)], packet=[(13, 1), (12, [(2, [(1, 5), (2, "b")])])]), event(21000, END)),
    # A ring buffer lost packets: the name is not known until the state is cleared.
    "lost": trace(event(5000, BEGIN, more=[(10, 5)], packet=[(13, 2), (42, 1)]), event(6000, END, packet=[(13, 2)]),
                  event(10000, BEGIN, more=[(10, 5)], packet=[(13, 3)] + named), event(15000, END, packet=[(13, 2)])),
    "category": trace(event(10000, BEGIN, more=[(22, "cat")]), event(15000, END)),
    "no_name": trace(event(10000, BEGIN), event(15000, END)),
    "defaults": trace([(10, 1), (13, 1), (59, [(58, 3), (11, [(11, 9)])])], event(10000, BEGIN, "a", None), event(11000, BEGIN, "b", 8),
                      event(15000, END, None, None), event(16000, END, None, 8)),
    "thread_of_sequence": trace([(10, 1), (44, [(1, 4), (2, 5)])], [(10, 2), (44, [(1, 4), (2, 6)])], event(10000, BEGIN, "a", None),
                                event(11000, BEGIN, "b", None, packet=[(10, 2)]), event(15000, END, None, None),
                                event(16000, END, None, None, packet=[(10, 2)])),
    "compressed": trace([(50, zlib.compress(trace(*ab)))]),
    "legacy": trace(legacy(10000, "X", "a", [(3, 5)]), legacy(20000, "B", "b"), legacy(21000, "E", "")),
    # Requests that overlap, told apart by their ids; a local one counts in its process only.
    "legacy_async": trace(legacy(10000, "b", "r", [(6, 1)]), legacy(12000, "b", "r", [(6, 2)]), legacy(20000, "e", "r", [(6, 1)]),
                          legacy(40000, "e", "r", [(6, 2)])),
    "legacy_local": trace([(10, 1), (44, [(1, 4), (2, 5)])], [(10, 2), (44, [(1, 6), (2, 7)])], legacy(10000, "b", "r", [(10, 1)]),
                          legacy(12000, "b", "r", [(10, 1)]) + [(10, 2)], legacy(20000, "e", "r", [(10, 1)]),
                          legacy(40000, "e", "r", [(10, 1)]) + [(10, 2)]),
    # BOOTTIME is 5000 ahead of MONOTONIC, later 5100.
    "clocks": trace(clocks((6, 9000, ()), (3, 4000, ())), clocks((6, 30000, ()), (3, 24900, ())), event(10000, BEGIN, "a"),
                    event(10000, END, packet=[(58, 3)]), event(25000, BEGIN, "b", packet=[(58, 3)]), event(31100, END)),
    "primary": trace([(10, 1), (6, [(1, [(1, 6), (2, 9000)]), (1, [(1, 3), (2, 4000)]), (2, 3)])],
                     event(10000, BEGIN, "a"), event(10000, END, packet=[(58, 3)])),
    # A clock of the sequence, in microseconds, that counts from the last packet.
    "incremental": trace(clocks((64, 5, [(3, 1), (4, 1000)]), (6, 10000, ())), event(0, BEGIN, "a", packet=[(58, 64)]),
                         event(5, END, packet=[(58, 64)]), event(7, COUNTER, more=[(30, 1)], packet=[(58, 64)]),
                         [(8, 2), (10, 1), (58, 64)], event(1, BEGIN, "b", packet=[(58, 64)]), event(1, END, packet=[(58, 64)])),
    "no_relation": trace(event(10000, BEGIN, "a"), event(15000, END), event(12000, BEGIN, "b", packet=[(58, 3)])),
    "unknown_fields": trace([(8, 10000), (10, 1), (999, Fixed(3)), (11, [(9, BEGIN), (11, 7), (23, "a"), (4, [(1, 77), (3, 4)]), (2000, b"x")])],
                            event(15000, END)),
    "not_utf8": trace(event(10000, BEGIN, more=[(23, b"a\xff\x1b[31m")]), event(15000, END)),
    # Damaged
    "cut": trace(*ab)[:-3],
    "cut_first": trace(*ab)[:3],
    "inside": trace(ab[0], [(8, 1), (11, b"\x08")]),
    "group": trace(ab[0]) + b"\x0b",
    "bomb": trace([(50, zlib.compress(b"\x0a\x00" * (40 << 20), 9))]),
    "packed_twice": trace([(50, zlib.compress(trace([(50, zlib.compress(trace(*ab)))])))]),
    "packed_damaged": trace([(50, b"\x78\x9c\x01\x02")]),
}
sys.stdout.buffer.write(forms[sys.argv[1]])
