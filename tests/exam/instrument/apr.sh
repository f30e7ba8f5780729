# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034 # read by lib.sh
# APR: autoconf and libtool; processes, threads, locks, sockets, plugins are what it tests.
source=apr release=1.7
packages='uuid-dev libtool'
configure='./configure'
build='make -j2 && make -j2 -C test all'
suite='make -k check'

# testall prints a line a suite, drawn as it goes on; the other programs print their own name.
results() {
	tr '\r\b' '\n' | sed -n \
		-e 's/^\(test[a-z0-9]*\) *: *[-|\/\\]*SUCCESS.*/\1	ok/p' \
		-e 's/^\(test[a-z0-9]*\) *: *[-|\/\\]*FAILED \(.*\)/\1 \2	failed/p' \
		-e 's/^\(test[a-z0-9]*\) *: *[-|\/\\]*NOTIMPL.*/\1	skipped/p'
}
