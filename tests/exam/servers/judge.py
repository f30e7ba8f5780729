# SPDX-License-Identifier: GPL-3.0-or-later
"""judge.py - whom the first sentence names.

	judge.py CAUSES.json UPSTREAM_PORT ACCEPTED... [/ CALLER...]

ACCEPTED: a function, or "peer": whoever listens on UPSTREAM_PORT.  Prints "named", "honest" or "INNOCENT" (servers.sh says which is
which), a tab, and the sentence.
"""
import json
import re
import sys

DOUBTS = ("Not known what", " may cause ", " may begin too late", "Nothing causes", "Nothing that was recorded")


def is_accepted(cause, accepted, upstream):
    if "peer" in accepted and f"127.0.0.1:{upstream}" in f"{cause.get('peer')} {cause['function']}":
        return True
    return (cause["function"] or "").split("(")[0] in accepted  # C++: without its parameters


def verdict(found, accepted, callers, upstream):
    cause = found["causes"][0] if found["causes"] else {"known": False, "function": None}
    text = found["sentence"]["text"]
    if cause["known"] and not text.startswith("No") and is_accepted(cause, accepted, upstream):
        return "named"
    # The cause of waits before the interval, which the clients see.
    before = re.search("may begin too late: .*mostly for ([^ ,]*)", text)
    if before and before.group(1) in accepted:
        return "named"
    if cause["function"] in callers and "carry no probe yet" in text:
        return "honest"
    return "honest" if any(doubt in text for doubt in DOUBTS) else "INNOCENT"


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        found = json.load(f)
    words = " ".join(sys.argv[3:]).split(" / ") + [""]
    print(verdict(found, words[0].split(), words[1].split(), sys.argv[2]), found["sentence"]["text"], sep="\t")


if __name__ == "__main__":
    main()
