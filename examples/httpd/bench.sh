#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# bench.sh - start httpd on a free loopback port, load it with requests of different cost, stop it.
#
#	bench.sh [--requests N] [--keep-alive] [--without text]
#
# httpd's own defaults for the event MPM: three children with 25 workers each, more when they are
# needed.  All at once, by ab:
#
#	small	N (20000) requests for a page of 1 KiB over 50 connections at a time
#	file	N / 500 for a file of 4 MiB over 2: more than a socket holds, so the rest is sent by
#		whichever worker takes the connection when the client has read
#	text	N / 500 for a text of 1.2 MB over 2, which mod_deflate compresses for each
#
# Each request has a connection of its own, as ab does it without -k, unless --keep-alive: then they
# stay open, and each child has 64 workers: one that has none free closes a kept-alive connection
# even if a request is on its way.  Before and after, each of the three is fetched and compared with what it should be.
#
# HTTPD (./httpd) is the server, in the tree where it was built, with its modules.  Prints one name and
# one value a line: what ab says; and log_NAME_mean_us, log_NAME_sd_us of the access log's %D, the time
# from a request's first line to its log entry.  The exit status is 0 if every request was answered as it
# should be and the server ended well.  Root's children run as RUN_AS (nobody).
set -eu

server=$(realpath "${HTTPD:-./httpd}")
requests=20000 keep_alive='' without=none

usage() { sed -n '6s/^#	\{0,1\}//p' "$0" >&2; exit 2; }

while [ $# -gt 0 ]; do
	case $1 in
	--requests)	requests=${2:?--requests needs a number}; shift ;;
	--without)	without=${2:?--without needs a name}; shift ;;
	--keep-alive)	keep_alive=-k ;;
	*)		usage ;;
	esac
	shift
done

data=$(mktemp -d) || exit 1	# where the children may read
pid=''

# shellcheck disable=SC2317 # reached by the trap
stop() {
	[ -z "$pid" ] || kill -TERM "$pid" 2>/dev/null || true
	wait
	rm -rf "$data"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

die() { echo "bench: $*" >&2; cat "$data/error.log" >&2 2>/dev/null || true; exit 1; }

# A port that nobody listens on (0A is the state LISTEN).
port=18180
while grep -qi ":$(printf %04X $port) .* 0A " /proc/net/tcp; do
	port=$((port + 1))
done

# modules NAME...: from where they were built
modules() {
	for module in "$@"; do
		file=$(find "$(dirname "$server")/modules" -path "*/.libs/mod_$module.so")
		[ -n "$file" ] || die "there is no mod_$module in $(dirname "$server")/modules"
		echo "LoadModule ${module}_module $file"
	done
}

mkdir "$data/pages"
awk 'BEGIN { for (i = 0; i < 64; i++) print "fifteen letters" }' >"$data/pages/small.html"
head -c 4194304 /dev/zero >"$data/pages/file"
awk 'BEGIN { for (i = 0; i < 20000; i++) print "line " i " of a text, with a number: " i * 7919 % 100003 }' \
	>"$data/pages/text.txt"
chmod -R a+rX "$data"
cat >"$data/httpd.conf" <<END
ServerRoot $data
ServerName localhost
Listen 127.0.0.1:$port
PidFile $data/pid
ErrorLog $data/error.log
DefaultRuntimeDir $data
$(modules unixd authz_core mime log_config dir filter deflate)
$([ "$(id -u)" != 0 ] || echo "User ${RUN_AS:-nobody}
Group $(id -gn "${RUN_AS:-nobody}")")
TypesConfig $(dirname "$server")/docs/conf/mime.types
DocumentRoot $data/pages
AddOutputFilterByType DEFLATE text/plain
MaxKeepAliveRequests 0
$([ -z "$keep_alive" ] || echo "ThreadsPerChild 64
MaxRequestWorkers 384")
LogFormat "%h %l %u %t \"%r\" %>s %b %D" timed
CustomLog $data/access.log timed
END

# fetch PATH: the body of one reply, and only of a good one
fetch() {
	perl -MIO::Socket::INET -e '
		my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:'$port'") or exit 1;
		print $s "GET '"$1"' HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n";
		local $/;
		my ($head, $body) = split /\r\n\r\n/, <$s>, 2;
		$head =~ m{^HTTP/1.1 200 } or exit 1;
		print $body'
}

compare_all() {
	fetch /small.html | cmp -s - "$data/pages/small.html" || die "/small.html is not what it should be"
	fetch /file | cmp -s - "$data/pages/file" || die "/file is not what it should be"
	fetch /text.txt | gzip -dc | cmp -s - "$data/pages/text.txt" || die "/text.txt is not what it should be"
}

"$server" -D FOREGROUND -f "$data/httpd.conf" &
pid=$!
tries=0
until [ -s "$data/pid" ] && grep -qi ":$(printf %04X $port) .* 0A " /proc/net/tcp; do
	tries=$((tries + 1))
	if [ $tries -gt 200 ] || ! kill -0 "$pid" 2>/dev/null; then
		die "$server does not listen"
	fi
	sleep 0.05
done
compare_all

# load NAME PATH REQUESTS CONNECTIONS: in the background
loads=''
load() {
	[ "$1" != "$without" ] || return 0
	# shellcheck disable=SC2086 # an option or none
	ab -q $keep_alive -c "$4" -n "$3" -H 'Accept-Encoding: gzip' "http://127.0.0.1:$port$2" \
		>"$data/$1.out" 2>&1 &
	loads="$loads $1=$!"
}

# summary NAME: of what ab says
summary() {
	awk -v name="$1" '
		/^Complete requests:/	{ printf "%-24s %d\n", name "_requests", $3 }
		/^Failed requests:/	{ printf "%-24s %d\n", name "_failed", $3; failed = $3 }
		/^Non-2xx responses:/	{ printf "%-24s %d\n", name "_not_2xx", $3; failed = 1 }
		/^Requests per second:/	{ printf "%-24s %.0f\n", name "_per_second", $4 }
		END			{ exit failed != 0 }' "$data/$1.out"
}

status=0
load file /file $((requests / 500)) 2
load text /text.txt $((requests / 500)) 2
load small /small.html "$requests" 50
for load in $loads; do
	wait "${load#*=}" || status=1
	summary "${load%%=*}" || status=1
done
compare_all

kill -TERM "$pid"
ended=0
wait "$pid" || ended=$?
pid=''
[ $ended -eq 0 ] || die "$server ended with status $ended"
awk '{
	sub("^/", "", $7)
	sub("[.].*", "", $7)
	n[$7]++; s[$7] += $NF; q[$7] += $NF * $NF
} END {
	for (i in n) {
		m = s[i] / n[i]
		printf "%-24s %d\n%-24s %.0f\n%-24s %.0f\n", "log_" i "_requests", n[i], "log_" i "_mean_us", m,
			"log_" i "_sd_us", sqrt(q[i] / n[i] - m * m)
		all += n[i]
	}
	printf "%-24s %d\n", "log_requests", all
}' "$data/access.log"
exit $status
