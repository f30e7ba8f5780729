# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034 # read by lib.sh
# APR: autoconf and libtool; processes, threads, locks, sockets, plugins are what it tests.
source=apr release=1.7
packages='uuid-dev libtool'
configure='./configure'
build='make -j2 && make -j2 -C test all'
suite='make -k check'
# It recurses only for directories within directories: small jobs, in processes and threads whose stacks have the limit's size.
deep_least=48
deep='cd test && ./testall testdir testfile testfnmatch testproc testthread testskiplist 2>&1 |
	tr "\\r\\b" "\\n\\n" | grep -E "^test|SUCCESS|FAILED|passed"'

# testall prints a line a suite, with what goes wrong before its end; "Programs failed:" names the
# other programs, and sendfile once for each mode.
results() {
	tr '\r\b' '\n' | awk '
		/^test[a-z0-9]* *: / { suite = $1 }
		suite != "" && /SUCCESS$/ { print suite "\tok"; suite = "" }
		suite != "" && /FAILED [0-9]+ of/ { print suite "\tfailed"; suite = "" }
		suite != "" && /NOTIMPL/ { print suite "\tskipped"; suite = "" }
		/^Programs failed:/ { programs = $0 }
		/^Failed Tests|^All tests passed/ { seen = 1 }
		END {
			n = seen ? split("testlockperf testmutexscope mode_blocking mode_nonblocking mode_timeout", p, " ") : 0
			for (i = 1; i <= n; i++) {
				sub(/_/, " ", p[i])
				print p[i] "\t" (index(programs, p[i]) ? "failed" : "ok")
			}
		}'
}
