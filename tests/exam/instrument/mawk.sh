# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # read by lib.sh; here: instrument.sh; compiler: mawk_clang.sh
# mawk: an interpreter in one large switch, a grammar that yacc made, longjmp. With Debian's flags.
source=mawk release=1.3
packages='bison'
: "${compiler:=gcc}"
flags='DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags --get'
configure="CC=$compiler CFLAGS=\"\$($flags CFLAGS)\" CPPFLAGS=\"\$($flags CPPFLAGS)\" LDFLAGS=\"\$($flags LDFLAGS)\" ./configure"
build='make mawk'
suite="make mawk_test; make fpe_test; sh $here/instrument/mawk_checks.sh"
suite_seconds=600 last_words='^the end$'
deep="sh $here/instrument/mawk_deep.sh"

results() {
	sed -n -e '/^tested /d' -e 's/^\(.*[^ ]\) OK$/\1	ok/p' -e 's/^\(.*[^ ]\) had .* failure.*/\1	failed/p' \
		-e 's/^ok \(.*\)/\1	ok/p' -e 's/^not ok \(.*\)/\1	failed/p'
}
