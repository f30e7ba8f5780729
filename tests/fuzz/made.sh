#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Made traces (generate.h) of fixed bytes go through the readers, the analysis, all views and a store; at least half
# are accepted.  fuzz.sh goes on from there: targets valid-tuples, valid-perf and valid-trace.
exec tests/fuzz/replay --made "${MADE:-100}"
