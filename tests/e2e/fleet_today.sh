#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# fleet_today: doc/fleet.sql and the statements of doc/fleet.md with a ClickHouse of today, as the npm package chdb has it: an engine inside
# a process, so one server and no Distributed: each table itself stands for table_all.
#
#	npm install --prefix DIR chdb; CHDB_MODULE=DIR/node_modules/chdb tests/e2e/fleet_today.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
command -v node >/dev/null || { echo "SKIP: no node (package nodejs)"; exit 77; }
CHDB_MODULE=${CHDB_MODULE:-$(npm root -g 2>/dev/null)/chdb} CHDB_DIR=$work/tables
export CHDB_MODULE CHDB_DIR
[ -d "$CHDB_MODULE" ] || { echo "SKIP: the npm package chdb is missing, in '$CHDB_MODULE' or where CHDB_MODULE says"; exit 77; }
. "$top/tests/e2e/fleet/hosts.sh"
for name in insert rows tree p99 shares missing retention; do
	block $name
	sed -i 's/\(FROM\|INTO\) \(vprof_[a-z0-9${}]*\)_all/\1 \2/' $name.block
	! grep -q '_all' $name.block && pass || fail "$name.block: $(grep _all $name.block)"
done
mkdir bin
printf '#!/bin/sh\nexec node %s "$@"\n' "$top/tests/e2e/fleet/chdb_client.js" >bin/clickhouse-client
printf '#!/bin/sh\nexec %s "$@"\n' "$VPROF" >bin/vprof
cp insert.block bin/vprof-insert
chmod +x bin/*
cp "$top/doc/fleet.sql" .
cat >queries.sh <<'END'
set -e
clickhouse-client --multiquery <fleet.sql
for i in 1 2 3 2; do		# the second twice
	vprof-insert <$i.vpd
done
. ./rows.block
. ./tree.block
for name in p99 shares missing; do
	clickhouse-client --query "$(sed 's/FROM vprof_[a-z]*/& FINAL/' $name.block)" >$name.out
done
clickhouse-client --query "SELECT DISTINCT toString(window_at) FROM vprof_window WHERE host = 'h3'" >time.out
clickhouse-client --query "SELECT count() FROM system.settings WHERE name = 'insert_distributed_sync'" >setting.out
sed 's/2020-01-01/2023-11-14/' retention.block >drop.sh
. ./drop.sh
clickhouse-client --query "SELECT count() FROM vprof_node WHERE day = '2023-11-14'" >left.out
clickhouse-client --query "SELECT version()" >version.out
END
PATH=$PWD/bin:$PATH sh queries.sh >.out 2>.err && pass || { fail "the statements"; grep -v '^    at' .err | tail -5 | cut -c1-600; }
echo "ClickHouse $(cat version.out)"
expect 0 "$VPROF" export --format digest fleet -o fleet.vpd
cmp -s all.vpd fleet.vpd && pass || fail "the rows are not the digest of all"
python3 "$top/tests/e2e/fleet/same.py" "$VPROF" sums tree 2>.err && pass || fail "what the server added up: $(tail -1 .err)"
expect 0 "$VPROF" show variance-tree sums --format json --interval request
python3 "$top/tests/e2e/fleet/close.py" .out 2>.err && pass || fail "the dashboard's queries: $(tail -2 .err)"
grep -q '^2023-11-14 ' time.out && pass || fail "windows have other times: $(cat time.out)"
grep -qx 1 setting.out && pass || fail "no setting insert_distributed_sync any more"
grep -qx 0 left.out && pass || fail "a dropped day is there: $(cat left.out)"
finish
