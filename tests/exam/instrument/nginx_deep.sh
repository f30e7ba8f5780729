#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# nginx, of which the parser of its configuration recurses, and what makes and searches the trees of locations: locations
# within one another. It reads the file, then serves what the innermost has. Run in its tree.
set -u

data=$(mktemp -d) || exit
chmod 755 "$data"
trap 'kill -KILL $server 2>/dev/null; rm -rf "$data"' EXIT
server=
mkdir "$data/logs"
depth=200

awk -v data="$data" -v depth=$depth 'BEGIN {
	print "daemon off; pid " data "/pid; error_log " data "/logs/error.log;\nevents { worker_connections 64; }"
	print "http {\n\taccess_log off;"
	n = split("client_body proxy fastcgi uwsgi scgi", kind, " ")
	for (i = 1; i <= n; i++)
		print "\t" kind[i] "_temp_path " data "/" kind[i] ";"
	print "\tserver {\n\t\tlisten unix:" data "/socket;"
	for (i = 1; i <= depth; i++) {
		path = path "/a"
		print "location " path " {"
	}
	print "return 200 \"the innermost\\n\";"
	for (i = 1; i <= depth; i++)
		print "}"
	print "\t}\n}"
}' </dev/null >"$data/nginx.conf"

objs/nginx -p "$data" -c nginx.conf -t 2>&1 | sed "s|$data|DATA|g"
objs/nginx -p "$data" -c nginx.conf >/dev/null 2>&1 &
server=$!
tries=0
while [ ! -S "$data/socket" ]; do
	[ $tries -lt 100 ] && kill -0 $server 2>/dev/null || exit
	tries=$((tries + 1))
	sleep 0.1
done
path=$(awk -v n=$depth 'BEGIN { while (n--) printf "/a" }' </dev/null)
# The client is not what is examined and has the stack that it wants.
# shellcheck disable=SC3045 # dash and bash have -S
(ulimit -S -s 8192; curl -s -m 5 --unix-socket "$data/socket" "http://localhost$path" "http://localhost$path/b" "http://localhost/b")
kill -QUIT $server
wait $server
echo "status $?"
