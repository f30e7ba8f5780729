# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # read by lib.sh; here: instrument.sh
# PostgreSQL 15: 1,000 units, extensions loaded at run time, processes that share memory, longjmp.
source=postgresql-15 release=15
packages='bison flex'
configure='./configure --without-readline --without-zlib'
build='make -j2 && make -j2 -C contrib/spi && make -j2 -C src/test/regress'
suite_seconds=3600
suite='make check'
as_nobody=yes
deep_once="sh $here/instrument/postgresql_deep.sh --once"
deep="sh $here/instrument/postgresql_deep.sh"
extra=rebuild logged=yes
header_function=src/include/utils/float.h:float8_mi

results() {
	sed -n 's/^\(test\|    \) *\([a-z0-9_]*\)  *\.\.\. \(ok\|FAILED\).*/\2	\3/p' | sed 's/FAILED$/failed/'
}
