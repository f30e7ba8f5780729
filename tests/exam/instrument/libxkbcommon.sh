# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # read by lib.sh; here: instrument.sh
# libxkbcommon: meson and ninja; bison makes a part of it.
source=libxkbcommon release=1.5
packages='meson ninja-build bison pkg-config libxml2-dev xkb-data'
configure='meson setup b -Denable-x11=false -Denable-wayland=false -Denable-docs=false'
build='ninja -j2 -C b'
suite='meson test -C b --no-rebuild'
deep="sh $here/instrument/libxkbcommon_deep.sh"

results() {
	sed -n -e 's/^ *[0-9]*\/[0-9]* \(.*[^ ]\)  *OK .*/\1	ok/p' \
		-e 's/^ *[0-9]*\/[0-9]* \(.*[^ ]\)  *\(FAIL\|TIMEOUT\|ERROR\) .*/\1	failed/p' \
		-e 's/^ *[0-9]*\/[0-9]* \(.*[^ ]\)  *SKIP .*/\1	skipped/p'
}
