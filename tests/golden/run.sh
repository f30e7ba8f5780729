#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every trace in this directory against the answers written in it; see golden.c.
exec ./tests/golden/golden "${srcdir:-.}"/tests/golden/*.tuples
