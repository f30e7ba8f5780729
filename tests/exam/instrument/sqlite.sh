# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # read by lib.sh; here: instrument.sh
# SQLite: one unit of 240,000 lines, and a test program that is compiled and linked by one command.
source=sqlite3 release=3.40
packages='tcl-dev libtool'
# The shell's .recover wants the page table, which Debian's configure leaves to its rules.
configure='CFLAGS="-g -O2 -DSQLITE_ENABLE_DBPAGE_VTAB" ./configure'
build='make -j2 && make -j2 testfixture'
suite_seconds=3600 as_nobody=yes last_words='errors out of'
suite='./testfixture test/extraquick.test --verbose=1'
recorded='./testfixture test/select1.test --verbose=1'
conf=$here/instrument/sqlite.conf
deep="sh $here/instrument/sqlite_deep.sh"

# The numbers of pager1-16.1 are the lengths of file names, and the trees' are not equally long.
results() {
	sed 's/^pager1-16\.1\.[0-9]*\./pager1-16.1./' | sed -n -e 's/^\([^ ]*\)\.\.\. Ok$/\1	ok/p' -e 's/^! \([^ ]*\) expected:.*/\1	failed/p' \
		-e 's/^\([^ ]*\)\.\.\. Omitted.*/\1	skipped/p'
}
