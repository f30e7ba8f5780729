# SPDX-License-Identifier: GPL-3.0-or-later
"""The causes of a document of `vprof show causes`, for tests that say what the first one is and how large.

Where more threads want to run than there are CPUs, each wait ends with one for a CPU.  That is true, and no cause of the program's:
there the causes are those of the rest, and the sentence may be about the CPUs."""
import os


def is_busy():
    return os.getloadavg()[0] > os.cpu_count()


def causes_of(document):
    causes = document["causes"]
    rest = 1 - sum(c["share"] for c in causes if c["how"] == "runqueue")
    if not is_busy() or rest < .02:
        return causes
    return [dict(c, share=c["share"] / rest) for c in causes if c["how"] != "runqueue"]


def tells(document, *parts):
    """Whether the sentence has all of these, in that order, or is about the CPUs."""
    text = at = document["sentence"]["text"]
    for part in parts:
        before, found, at = at.partition(part)
        if not found:
            return is_busy() and "waiting for a CPU" in text
    return True
