#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# bench.sh - start nginx on a free loopback port, load it with requests of different size, stop it.
#
#	bench.sh [--requests N]
#
# One worker process; N (100000) requests for a file of 1 KiB over 16 connections that are kept
# alive, and meanwhile N / 1000 for one of 4 MiB over 2.  NGINX (./objs/nginx) is the server.
# The exit status is 0 if every request was answered and the server ended well.
set -eu

server=$(realpath "${NGINX:-./objs/nginx}")
requests=100000

usage() { sed -n '6s/^#	\{0,1\}//p' "$0" >&2; exit 2; }

while [ $# -gt 0 ]; do
	[ $# -ge 2 ] || usage
	case $1 in
	--requests)	requests=$2 ;;
	*)		usage ;;
	esac
	shift 2
done

data=$(mktemp -d ./bench.XXXXXX) || exit 1
data=$(cd "$data" && pwd)
chmod 755 "$data"
pid=''

# shellcheck disable=SC2317 # reached by the trap
stop() {
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
	rm -rf "$data"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

die() { echo "bench: $*" >&2; cat "$data/error.log" >&2 2>/dev/null || true; exit 1; }

# A port that nobody listens on (0A is the state LISTEN); should it be taken just now, the next.
port=18080
while grep -qi ":$(printf %04X $port) .* 0A " /proc/net/tcp; do
	port=$((port + 1))
done

head -c 1024 /dev/zero >"$data/small"
head -c 4194304 /dev/zero >"$data/large"
cat >"$data/nginx.conf" <<END
$([ "$(id -u)" != 0 ] || echo "user root;")
worker_processes 1;
daemon off;
pid $data/pid;
error_log $data/error.log warn;
events { worker_connections 256; }
http {
	access_log $data/access.log;
	sendfile on;
	client_body_temp_path $data/body;
	proxy_temp_path $data/proxy;
	fastcgi_temp_path $data/fastcgi;
	uwsgi_temp_path $data/uwsgi;
	scgi_temp_path $data/scgi;
	server {
		listen 127.0.0.1:$port;
		root $data;
		keepalive_requests 1000000;
	}
}
END
"$server" -e "$data/error.log" -p "$data" -c "$data/nginx.conf" &
pid=$!
tries=0
until ab -q -n 1 "http://127.0.0.1:$port/small" >/dev/null 2>&1; do
	tries=$((tries + 1))
	if [ $tries -gt 100 ] || ! kill -0 "$pid" 2>/dev/null; then
		die "$server does not answer"
	fi
	sleep 0.05
done

# summary NAME FILE: of what ab says
summary() {
	awk -v name="$1" '
		/^Complete requests:/	{ printf "%-24s %d\n", name "_requests", $3 }
		/^Failed requests:/	{ printf "%-24s %d\n", name "_failed", $3; failed = $3 }
		/^Non-2xx responses:/	{ printf "%-24s %d\n", name "_not_2xx", $3; failed = 1 }
		/^Requests per second:/	{ printf "%-24s %.0f\n", name "_per_second", $4 }
		END			{ exit failed != 0 }' "$2"
}

status=0
ab -q -k -c 2 -n $((requests / 1000)) "http://127.0.0.1:$port/large" >"$data/large.out" 2>&1 &
large=$!
ab -q -k -c 16 -n "$requests" "http://127.0.0.1:$port/small" >"$data/small.out" 2>&1 || status=1
wait $large || status=1
summary small "$data/small.out" || status=1
summary large "$data/large.out" || status=1

kill -QUIT "$pid"
ended=0
wait "$pid" || ended=$?
pid=''
[ $ended -eq 0 ] || die "$server ended with status $ended"
exit $status
