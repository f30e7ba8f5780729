# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # read by lib.sh; here: instrument.sh
# memcached: autotools, threads, its own TAP tests.  Runs the tests of `make test`.
source=memcached release=1.6
packages=libevent-dev
configure='./configure'
build='make -j2 && make -j2 memcached-debug sizes testapp'
suite_seconds=2400
# shellcheck disable=SC2016 # of sh -c
each='for t in $tests; do echo "== $t"; timeout 600 perl $t; done'
suite="./sizes; echo '== testapp'; ./testapp; tests=\$(echo t/*.t); $each"
recorded="tests='t/getset.t t/cas.t t/incrdecr.t t/noreply.t t/touch.t t/metaget.t t/lru.t'; $each"
conf=$here/../../examples/memcached/vprof.conf
deep_least=48
deep="sh $here/instrument/memcached_deep.sh"
extra=unharmed
iterated="tests='t/getset.t t/incrdecr.t t/lru.t'; $each"
clean='make clean'
# automake's: there while the compiler runs; empty where make was killed behind the compiler, before the file is renamed
killed_leaves='\.Tpo$|\.deps/[^/]*\.Po$'

# One test a file: some make another number of assertions each time.  Not through prove: a server that a
# test fails to stop (the signal may come before timedrun is ready for it) holds prove's pipe for ever.
results() {
	awk 'function file_ends() {
			if (file != "")
				print file "\t" (skipped ? "skipped" : failed || !passed || passed != plan ? "failed" : "ok")
			passed = failed = plan = skipped = 0
		}
		/^== / { file_ends(); file = $2 }
		/^ok [0-9]+/ { passed++ }
		/^not ok [0-9]+/ { failed++ }
		/^1\.\.[0-9]+/ { plan = substr($1, 4) }
		/^1\.\.0 # [Ss][Kk][Ii][Pp]/ { skipped = 1 }
		END { file_ends() }'
}
