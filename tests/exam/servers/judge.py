# SPDX-License-Identifier: GPL-3.0-or-later
"""judge.py - whom the first sentence names.

	judge.py CAUSES.json UPSTREAM_PORT ACCEPTED...

ACCEPTED: a function, or "peer": whoever listens on UPSTREAM_PORT.  Prints "named", "honest" or "INNOCENT", a tab, and the sentence.
"""
import json
import re
import sys


def is_accepted(cause, accepted, upstream):
    if "peer" in accepted and f"127.0.0.1:{upstream}" in f"{cause.get('peer')} {cause['function']}":
        return True
    return cause["function"] in accepted


def verdict(found, accepted, upstream):
    cause = found["causes"][0] if found["causes"] else None
    text = found["sentence"]["text"]
    if cause and cause["known"] and not text.startswith("No") and is_accepted(cause, accepted, upstream):
        return "named"
    # What keeps requests waiting before the interval, where the clients see it.
    before = re.search("may begin too late: .*mostly for ([^ ,]*)", text)
    if before and before.group(1) in accepted:
        return "named"
    doubts = ("Not known what", " may cause ", " may begin too late", "Nothing causes", "Nothing that was recorded")
    return "honest" if any(doubt in text for doubt in doubts) else "INNOCENT"


def main():
    with open(sys.argv[1]) as f:
        found = json.load(f)
    print(verdict(found, sys.argv[3:], sys.argv[2]), found["sentence"]["text"], sep="\t")


if __name__ == "__main__":
    main()
