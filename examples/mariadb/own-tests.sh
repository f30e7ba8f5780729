#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# own-tests.sh - the server's own tests, mysql-test-run: the plain server against the same with a probe in every function.
#
#	own-tests.sh [--work DIR] [--vprof PROGRAM] [--minutes N] [SUITE ...]
#
# DIR (./mariadb-work) has the trees plain and all of fetch-and-build.sh.  The tests of each SUITE (main and innodb) run on the
# plain server for N minutes (30) at most; those that ended there run on the server of all: as it is (dormant), and
# with "vprof record" around all of them (recorded).
# The clients that the tests call are plain in all three.
# Tests that mysql-test-run skips before it has a server are not counted.
# Printed, and left in DIR/own-tests: a line for each test whose results differ, and for each suite
# "SUITE plain PASSED FAILED SKIPPED dormant ... recorded ...".  A test that failed is run once more on each side: it differs when
# it never gave the result that it gave plainly.  The exit status is 1 where one differs.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=mariadb-work vprof=vprof minutes=30 before=''

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
while [ $# -gt 0 ]; do
	case $1 in
	--work)		work=${2:?--work needs a directory}; shift ;;
	--vprof)	vprof=${2:?--vprof needs a program}; shift ;;
	--minutes)	minutes=${2:?--minutes needs a number}; shift ;;
	-*)		usage ;;
	*)		break ;;
	esac
	shift
done
[ $# -gt 0 ] || set -- main innodb
work=$(cd "$work" && pwd)
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$work/plain/CMakeCache.txt")
find_vprof
out=$work/own-tests
mkdir -p "$out"

# Programs that the tests call beside the server.
clients() {
	make -j"$(nproc)" mariadb mariadb-admin mariadb-binlog mariadb-check mariadb-client-test mariadb-conv mariadb-dump \
		mariadb-import mariadb-plugin mariadb-show mariadb-slap mariadb-test mariadb-tzinfo-to-sql mariadb-upgrade \
		my_print_defaults my_safe_process perror replace innochecksum myisamlog myisampack myisamchk myisam_ftdump \
		aria_chk aria_pack aria_read_log aria_dump_log aria_ftdump >"$out/clients.out" 2>&1 ||
		die "the clients cannot be built: $out/clients.out"
}

# The tree plain once more, of links, with the server of all.
links() {
	rm -rf "$out/tree"
	cp -rs "$work/plain" "$out/tree"
	ln -sf "$work/all/sql/mariadbd" "$out/tree/sql/mariadbd"
	ln -sf "$work/all/sql/mariadbd" "$out/tree/sql/mysqld"
}

# tests HOW TREE OPTION...: HOW.log and HOW.results; $before: the command that runs it
tests() {
	how=$1 tree=$2
	shift 2
	rm -rf "${out:?}/var"
	# from where vprof.conf and vprof.data are
	# shellcheck disable=SC2016,SC2086 # of sh -c; words
	(cd "$work/all" && export MTR_BINDIR="$tree" && $before sh -c 'cd "$0" && exec perl ./mariadb-test-run.pl "$@"' \
		"$source/mysql-test" --force --max-test-fail=0 --max-save-core=0 --parallel="$(nproc)" \
		--retry=1 --vardir="$out/var" --suite-timeout="$minutes" "$@") >"$out/$how.log" 2>&1 || true
	! grep -q 'there was nothing to record' "$out/$how.log" || die "$how was not recorded: $out/$how.log"
	# the last result of each test, with the combination that it is for
	sed -n 's/^\([a-z_0-9]*\.[a-zA-Z0-9_.-]*\( '\''[^'\'']*'\''\)\{0,1\}\) *w[0-9]* \[ \([a-z-]*\) \].*/\1	\3/p' "$out/$how.log" |
		sed 's/retry-//' | awk -F'\t' '$2 != "fail" || !($1 in r) { r[$1] = $2 } END { for (t in r) print t "\t" r[t] }' |
		LC_ALL=C sort >"$out/$how.results"
	[ -s "$out/$how.results" ] || { tail -n 5 "$out/$how.log" >&2; die "no test ran: $out/$how.log"; }
}

counts() { awk -F'\t' '{ n[$2]++ } END { printf "%d %d %d", n["pass"], n["fail"], n["skipped"] }' "$out/$1.results"; }

# differences SUITE HOW
differences() {
	LC_ALL=C join -t "$(printf '\t')" -a 1 -e missing -o 0,1.2,2.2 "$out/$1.plain.results" "$out/$1.$2.results" |
		awk -F'\t' -v how="$2" '$2 != $3 { print $1 ": plain " $2 ", " how " " $3 }' | tee -a "$out/differences"
}

suite() {
	tests "$1.plain" "$work/plain" --suite="$1"
	names=$(cut -f 1 "$out/$1.plain.results" | sed 's/ .*//' | sort -u)
	minutes=$((minutes * 4))
	# shellcheck disable=SC2086 # words
	tests "$1.dormant" "$out/tree" $names
	before="$vprof record --ignore-status --keep 5s --"	# what is recorded is not what is looked at
	# shellcheck disable=SC2086
	tests "$1.recorded" "$out/tree" $names
	before=''
	minutes=$((minutes / 4))
	differences "$1" dormant
	differences "$1" recorded
	echo "$1 plain $(counts "$1.plain") dormant $(counts "$1.dormant") recorded $(counts "$1.recorded")" | tee -a "$out/suites"
}

(cd "$work/plain" && clients)
links
: >"$out/differences"
: >"$out/suites"
for name; do suite "$name"; done
[ ! -s "$out/differences" ]
