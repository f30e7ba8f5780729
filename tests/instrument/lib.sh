# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034 # what is set here, the scripts use
#
# lib.sh - what the tests of the launcher share. To be read by a script (. "${srcdir:-.}/tests/instrument/lib.sh"), which
# is then in an empty directory, $work, and ends with a status that says whether $failed is 0.

set -u
unset MAKEFLAGS MAKELEVEL MFLAGS	# of the make that runs the tests: its job server is not ours
launch=$PWD/tests/instrument/launch
runtime=$PWD
source=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
failed=0

fail() {
	echo "FAIL: $*"
	failed=$((failed + 1))
}

compilers=gcc
if command -v clang >/dev/null; then
	compilers="gcc clang"
else
	echo "no clang: its cases are left out"
fi
