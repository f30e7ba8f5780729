# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034 # read by lib.sh
# LevelDB: C++, cmake, GoogleTest.
source=leveldb release=1.23
packages='cmake libgtest-dev libgmock-dev libbenchmark-dev libsnappy-dev'
language=C++
configure='cmake -S . -B b -DCMAKE_BUILD_TYPE=RelWithDebInfo'
build='cmake --build b -j 2'
# shellcheck disable=SC2016 # of sh -c
suite='cd b && for t in *_test*; do [ ! -x $t ] || [ -d $t ] || ./$t; done'
# It recurses nowhere: its threads have stacks of the limit's size.
deep_least=48
# Without times, and without the benchmarks that db_test begins with: they wait for the disk.
deep='cd b && { ./c_test && ./table_test --gtest_filter="Harness.SimpleMulti" && BENCHMARK_FILTER=none ./db_test \
	--gtest_filter="DBTest.GetPicksCorrectFile:DBTest.CompactionsGenerateMultipleFiles:DBTest.IteratorPinsRef"; } |
	sed "s/ (.* ms.*//"'

results() {
	sed -n -e 's/^\[       OK \] \([^ ]*\).*/\1	ok/p' -e 's/^\[  FAILED  \] \([^ ]*\) (.*/\1	failed/p' \
		-e 's/^\[  SKIPPED \] \([^ ]*\) (.*/\1	skipped/p'
}
