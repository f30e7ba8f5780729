# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # read by lib.sh; here: instrument.sh
# Redis 7: plain makefiles that call others (Lua, hiredis), an event loop, its own tests in Tcl.
# MALLOC=libc as in examples/redis.
source=redis release=7.0
packages='tcl pkg-config'
build='make -j2 MALLOC=libc'
suite_seconds=2400
all_units='type/hash type/incr type/list type/list-2 type/list-3 type/set type/stream type/stream-cgroups
	type/string type/zset bitfield bitops dump expire functions geo hyperloglog info-command keyspace
	multi printver protocol pubsub pubsubshard querybuf quit scan scripting slowlog sort tracking'
suite="./runtest --clients 2"
for unit in $all_units; do
	suite="$suite --single unit/$unit"
done
recorded='./runtest --clients 1 --single unit/type/incr --single unit/type/hash --single unit/printver'
conf=$here/../../examples/redis/vprof.conf
deep="sh $here/instrument/redis_deep.sh"
extra=unharmed
iterated='src/redis-server --port 27717 --save "" & sleep 1
	src/redis-benchmark -p 27717 -q -n 20000 -t set,lpush,lrange_100
	src/redis-cli -p 27717 shutdown nosave; wait'
clean='make distclean'	# clean leaves the objects of deps/
killed_leaves='/src/(Makefile\.dep|release\.h|foo\.[co])$'	# made at the start, removed once, at the first one; has the time; foo.c is
							# make's question whether the compiler has <stdatomic.h>
mend='make distclean'			# one that is killed in deps/ never goes back there

# One that failed has its file behind its name, for which it would be another test.
results() {
	sed 's/\x1b\[[0-9;]*m//g' | sed -n \
		-e 's/^\[ok\]: \(.*\) ([0-9]* ms)$/\1	ok/p' \
		-e 's/^\(\[err\]: .*\) in tests\/[^ ]*\.tcl$/\1/' -e 's/^\[err\]: \(.*\)/\1	failed/p' -e 's/^\[exception\]: \(.*\)/\1	failed/p' \
		-e 's/^\[\(ignore\|skip\)\]: \(.*\)/\2	skipped/p'
}
