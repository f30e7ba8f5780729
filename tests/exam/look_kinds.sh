# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154
#
# look_kinds.sh - rows of `make exam-look`, in its directory: servers of each kind (look_server.c) as they are, and twins.
# To be read by tests/exam/look.sh.
#	kinds		the requests that the client sent, no more and no fewer; latencies as the client saw them; the planted cause first
#	twins		the same server with a probe in each function, whose requests begin as they arrive: the planted cause has the same share

for file in look_server.c look_client.py look_judge.py; do
	cp "$top/tests/exam/$file" . || exit 99
done
pkg-config --exists openssl && gcc -Wall -Wextra -Werror -O1 -rdynamic -pthread look_server.c -o kinds $(pkg-config --libs openssl) ||
	{ echo "look_kinds.sh: no OpenSSL to build against (Debian: libssl-dev): only two kinds of rows"; return 0; }
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout key.pem -out cert.pem 2>/dev/null || exit 99

# at FILE: waits until it says its port
port_in()
{
	while [ ! -s "$1" ]; do sleep 0.1; done
	cat "$1"
}

upstream= seconds=60
start_kind() # KIND PROGRAM...: sets port
{
	kind=$1
	shift
	if [ "$kind" = proxy ]; then
		rm -f upstream
		./kinds loop 60 >upstream &
		upstream=$!
		set -- "$@" proxy $seconds "$(port_in upstream)"
	else
		set -- "$@" "$kind" $seconds
	fi
	rm -f port
	"$@" >port &
	server=$!
	port=$(port_in port)
}

stop_kind()
{
	kill $server $upstream 2>/dev/null
	wait $server $upstream 2>/dev/null
	server= upstream=
}

# Looks at it for 7 s; the client begins and ends meanwhile.  Sets status and late: the seconds that it took beyond.
look_at_kind() # KIND
{
	rm -rf vprof.data
	begin=$(date +%s%N)
	"$vprof" look -p $server --duration 7s --format json -o look >look.json 2>look.err &
	look=$!
	for i in $(seq 300); do
		[ -n "$(find . -name kernel.vpk)" ] && break
		sleep 0.1
	done
	sleep 0.5
	python3 look_client.py "$1" "$port" 4 >client || exit 99
	wait $look
	status=$?
	late=$(awk "BEGIN { printf \"%.1f\", ($(date +%s%N) - $begin) / 1e9 - 7 }")
	[ $status = 4 ] && { cat look.err; exit 77; }
}

one_kind() # KIND CAUSE
{
	startup=0
	[ "$1" = tls ] && startup=2
	start_kind "$1" ./kinds
	cause=$2
	[ "$1" = proxy ] && cause=127.0.0.1:$(cat upstream)
	look_at_kind "$1"
	stop_kind
	[ $status = 0 ] || { cat look.err; row "$1: is looked at" $status "exit status" 0 0; return; }
	"$vprof" show intervals look --all --format json >intervals.json && "$vprof" show causes look --all --format json >causes.json || exit 99
	read -r found sent off cov named share <<-FOUND
		$(python3 look_judge.py intervals.json causes.json client $startup)
	FOUND
	[ "$named" = "$cause" ] || echo "$1: $named is first, with $share"
	row "$1: requests found, of those sent" "$(awk "BEGIN { print $found / $sent }")" "" 1 "$found == $sent"
	row "$1: client's less server's, median" "$(awk "BEGIN { print $off / 1000 }")" us 50 "$off <= 50000"
	row "$1: Cov(server, client) / Var(client)" "$cov" "" 0.95 "$cov >= 0.95"
	row "$1: planted cause first but for the run queue" "$([ "$named" = "$cause" ] && echo 1 || echo 0)" "" 1 "\"$named\" == \"$cause\""
	row "$1: answer after the duration" "$late" s 5 "$late <= 5"
}

one_kind threads write_out
one_kind workers make_report
one_kind loop slow_command
one_kind sendfile find_file
one_kind tls slow_query
one_kind proxy peer

# A burst is one exchange, and half of them being bursts are no latencies.
start_kind bursts ./kinds
look_at_kind bursts
stop_kind
row "bursts: are refused" $status "exit status" 3 "$status == 3 && $(grep -c 'hold several requests' look.err) > 0"

# It is measured in the first second of a look.
start_kind threads ./kinds
python3 look_client.py threads "$port" 8 >client &
client=$!
sleep 0.5
"$vprof" look -p $server --duration 3s --format json -o cost >look.json 2>look.err || { cat look.err; exit 99; }
wait $client
stop_kind
cost=$(python3 -c 'import json; print(json.load(open("look.json"))["look"]["cost_ns"] or 0)')
[ "$cost" = 0 ] && echo "recording a request: too few to measure it" || row "recording a request" "$cost" ns 1000 "$cost <= 1000"

# ---- twins ----

# Prints share, low and high of that function, be it because of a peer, in what is not the run queue: another run has another one.
share_of() # FUNCTION FILE
{
	python3 - "$@" <<-'END_OF_SHARE'
		import json, sys
		causes = [c for c in json.load(open(sys.argv[2]))["causes"] if c["how"] != "runqueue"]
		all = sum(c["share"] for c in causes)
		c = [c for c in causes if c["function"] == sys.argv[1]]
		print(*(round(x / all, 4) for x in ((c[0]["share"], *(c[0]["ci95"] or (0, 1))) if c else (0, 0, 0))))
	END_OF_SHARE
}

one_twin() # KIND CAUSE
{
	start_kind "$1" ./kinds
	look_at_kind "$1"
	stop_kind
	[ $status = 0 ] || { cat look.err; row "$1: the plain one is looked at" $status "exit status" 0 0; return; }
	"$vprof" show causes look --all --format json >causes.json || exit 99
	read -r plain plain_low plain_high <<-PLAIN
		$(share_of "$2" causes.json)
	PLAIN
	seconds=8
	start_kind "$1" "$vprof" -d twin record --from-arrival -o probed -- ./probed 2>probed.err
	seconds=60
	python3 look_client.py "$1" "$port" 4 >client || exit 99
	wait $server
	"$vprof" -d twin show causes probed --all --format json >causes.json || { cat probed.err; exit 99; }
	stop_kind
	read -r probed probed_low probed_high <<-PROBED
		$(share_of "$2" causes.json)
	PROBED
	echo "$1: $2 has $plain ($plain_low to $plain_high), with probes $probed ($probed_low to $probed_high): $(grep '▶' probed.err)"
	row "$1: plain less probed share" "$(awk "BEGIN { printf \"%.1f\", 100 * ($plain - $probed) }")" points 0 \
		"$plain > 0.2 && $probed > 0.2 && $plain_low <= $probed_high && $probed_low <= $plain_high"
	rm -rf twin/runs twin/vprof.db*
}

printf '[interval "request"]\n\tstart = answer_request\n\tend = answer_request\n' >vprof.conf
"$vprof" -d twin build --functions all -- gcc -O1 -rdynamic -pthread look_server.c -o probed $(pkg-config --libs openssl) >build.log 2>&1 ||
	{ cat build.log; exit 99; }
one_twin threads write_out
one_twin loop slow_command
one_twin proxy ask_upstream
