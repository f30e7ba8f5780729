# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # read by lib.sh; here: instrument.sh
# mawk once more, compiled by clang.
compiler=clang
# shellcheck disable=SC1091
. "$here/instrument/mawk.sh"
packages="$packages clang"
