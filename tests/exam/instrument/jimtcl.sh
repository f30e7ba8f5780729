# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # read by lib.sh; here: instrument.sh; compiler: jimtcl_clang.sh
# Jim Tcl: an interpreter that recurses in C for each command within a command. With Debian's flags.  Its configure would put
# ccache before the compiler where there is one.
source=jimtcl release=0.81+dfsg0
: "${compiler:=gcc}"
flags='DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags --get'
configure="export CCACHE=none; ./make-bootstrap-jim > autosetup/jimsh0.c && CC=$compiler CFLAGS=\"\$($flags CFLAGS) \$($flags CPPFLAGS)\" \
	LDFLAGS=\"\$($flags LDFLAGS)\" ./configure"
build='make -j2'
suite='make test'
suite_seconds=600 last_words='Totals: Total'
deep='./jimsh -e "proc f n { if {\$n == 0} { return 0 }; expr {1 + [f [expr {\$n - 1}]]} }
	proc g n { if {\$n == 0} { return done }; tailcall g [expr {\$n - 1}] }
	puts \"[f 400] [g 20000] [catch {f 100000} why] \$why\""'

# A line for each file, with how many of its tests passed.
results() {
	sed -n -e 's/^ *\([a-z0-9-]*\.test\): *Total *\([0-9]*\) *Passed *\([0-9]*\) *Skipped *\([0-9]*\) *Failed *0$/\1: \3 of \2	ok/p' \
		-e 's/^ *\([a-z0-9-]*\.test\): *Total *\([0-9]*\) *Passed *\([0-9]*\) .* Failed *[1-9][0-9]*$/\1: \3 of \2	failed/p' \
		-e 's/^ *\([a-z0-9-]*\.test\): *--- skipped.*/\1	skipped/p'
}
