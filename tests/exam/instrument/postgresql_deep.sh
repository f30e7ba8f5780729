#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# postgresql_deep.sh [--once] - a backend alone, with what its guard (max_stack_depth, which follows the limit) is for: an
# expression within expressions, JSON, a pattern's groups, functions that call themselves. --once makes what that needs. Run in its tree, not as root.
set -u

installed=$PWD/tmp_install/usr/local/pgsql
export LD_LIBRARY_PATH="$installed/lib" TZ=UTC
if [ "${1-}" = --once ]; then
	[ -x "$installed/bin/postgres" ] || make -C src/test/regress temp-install || exit
	rm -rf deep.cluster
	exec "$installed/bin/initdb" -D deep.cluster --no-sync --auth=trust --username=deep --locale=C
fi
# The last server may have been killed: this one starts from a fresh copy.
rm -rf deep.run
cp -r deep.cluster deep.run
awk 'function repeated(s, n, r) { while (n--) r = r s; return r }
BEGIN {
	print "SELECT 1" repeated("+(1", 2500) repeated(")", 2500)
	json = repeated("[", 5000) repeated("]", 5000)
	printf "SELECT length(\047%s\047::json::text), length(\047%s\047::jsonb::text)\n", json, json
	printf "SELECT \047a\047 ~ \047%sa%s\047\n", repeated("(", 400), repeated(")", 400)
	print "CREATE FUNCTION p(n int) RETURNS int LANGUAGE plpgsql AS \047BEGIN IF n = 0 THEN RETURN 0; END IF; RETURN 1 + p(n - 1); END\047"
	print "SELECT p(300)"
	print "CREATE FUNCTION q(n int) RETURNS int LANGUAGE sql AS \047SELECT CASE WHEN n = 0 THEN 0 ELSE 1 + q(n - 1) END\047"
	print "SELECT q(120)"
}' </dev/null >deep.sql
"$installed/bin/postgres" --single -D deep.run -c fsync=off -c log_destination=stderr postgres <deep.sql
