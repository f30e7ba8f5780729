# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # read by lib.sh; here: instrument.sh
# memcached: autotools, threads, its own TAP tests.  What `make test` runs, with each assertion shown.
source=memcached release=1.6
packages=libevent-dev
configure='./configure'
build='make -j2 && make -j2 memcached-debug sizes testapp'
suite_seconds=2400
suite='./sizes && ./testapp; prove -v t'
recorded='prove -v t/getset.t t/cas.t t/incrdecr.t t/item_size_max.t t/noreply.t t/touch.t t/metaget.t t/lru.t'
conf=$here/../../examples/memcached/vprof.conf
extra=unharmed
iterated='prove t/getset.t t/incrdecr.t t/lru.t'
clean='make clean'

# prove: "t/cas.t .. " before "ok 1 - ..."; testapp has no file.
results() {
	awk '/^t\/[^ ]*\.t \.\./ { file = $1 }
		match($0, /(not )?ok [0-9]+/) && (/^ok|^not ok/ || /^t\/[^ ]* \.+ *(not )?ok/) {
			text = substr($0, RSTART, RLENGTH)
			n = text
			sub(/.* /, "", n)
			print (file == "" ? "testapp" : file) " " n "\t" (text ~ /^not/ ? "failed" : "ok")
		}
		/^t\/.*skipped/ { print $1 "\tskipped" }'
}
