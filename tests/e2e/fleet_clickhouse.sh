#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# fleet_clickhouse: what doc/fleet.md shows, with two servers of ClickHouse on loopback as shards.
. "${srcdir:-.}/tests/e2e/lib.sh"
for command in clickhouse-server clickhouse-client; do
	command -v $command >/dev/null || { echo "$command is missing (Debian's package clickhouse-server): skipped"; exit 77; }
done
. "$top/tests/e2e/fleet/hosts.sh"
for name in tables insert rows tree p99 shares missing retention; do
	block $name
done

# The commands of the page find a server, $CLICKHOUSE_PORT, and vprof.
mkdir bin
cat >bin/clickhouse-client <<END
#!/bin/sh
exec $(command -v clickhouse-client) --host 127.0.0.1 --port \$CLICKHOUSE_PORT "\$@"
END
printf '#!/bin/sh\nexec %s "$@"\n' "$VPROF" >bin/vprof
cp insert.block bin/vprof-insert
chmod +x bin/*
cp "$top/doc/fleet.sql" .
cat >queries.sh <<'END'
set -e
servers="$CLICKHOUSE_PORTS"
set -- $servers
PATH=$PWD/bin:$PATH
for CLICKHOUSE_PORT in $servers; do
	export CLICKHOUSE_PORT
	. ./tables.block
done
export CLICKHOUSE_PORT=$1
vprof-insert <1.vpd
vprof-insert <2.vpd
export CLICKHOUSE_PORT=$2
vprof-insert <3.vpd
vprof-insert <2.vpd		# again: it was not known whether it had come
for port in $servers; do
	CLICKHOUSE_PORT=$port clickhouse-client --query 'SELECT count() FROM vprof_node' >>counts
done
. ./rows.block
. ./tree.block
for name in p99 shares missing; do
	clickhouse-client --query "$(sed 's/FROM vprof_[a-z]*/&_all FINAL/' $name.block)" >$name.out
done
clickhouse-client --query "SELECT DISTINCT toString(window_at) FROM vprof_window_all WHERE host = 'h3'" >time.out
sed 's/2020-01-01/2023-11-14/' retention.block >drop.sh
for CLICKHOUSE_PORT in $servers; do
	. ./drop.sh
done
clickhouse-client --query "SELECT count() FROM vprof_node_all WHERE day = '2023-11-14'" >left.out
END
python3 "$top/tests/e2e/fleet/clickhouse.py" 2 sh queries.sh >.out 2>.err
status=$?
[ $status = 77 ] && { cat .err; exit 77; }
[ $status = 0 ] && pass || { fail "ended with $status"; tail -20 .err; }
[ "$(sort -u counts | wc -l)" = 2 ] && [ "$(sort -n counts | head -1)" -gt 0 ] && pass || fail "not every shard has rows: $(cat counts)"

# Rows of two shards are the digest of all; what they added up has its numbers.
expect 0 "$VPROF" export --format digest fleet -o fleet.vpd
cmp -s all.vpd fleet.vpd && pass || fail "the rows of both shards are not the digest of all"
python3 "$top/tests/e2e/fleet/same.py" "$VPROF" sums tree 2>.err && pass || fail "what both shards added up: $(tail -1 .err)"
expect 0 "$VPROF" show variance-tree sums --format json --interval request

# Queries of the dashboard say roughly the same.
python3 "$top/tests/e2e/fleet/close.py" .out 2>.err && pass || fail "the dashboard's queries: $(tail -2 .err)"
grep -q '^2023-11-14 ' time.out && pass || fail "windows have other times: $(cat time.out)"
grep -qx 0 left.out && pass || fail "a dropped day is there: $(cat left.out)"

finish
