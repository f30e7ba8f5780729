# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # read by servers.sh and run.sh
# tinyproxy: C, a thread per connection, an HTTP server behind it.
source=tinyproxy release=1.11
packages=
kind='C, thread per connection'
plant_in=src
configure='./configure --disable-manpage_support CFLAGS="-g -O2"'
program=src/tinyproxy
build='make -j2'
interval='--start handle_connection --end handle_connection'
# The lock: a thread writes the statistics down, holding their mutex.  Its own: the filter, 800 expressions on a long URL.
cases='
lock		write_snapshot
upstream	peer
own		filter_run
'
protocol=proxy

serve() {
	filter=
	if [ "$case" = own ] || [ "$case" = none ]; then
		awk 'BEGIN { for (i = 0; i < 800; i++) printf "[a-h]+y%dz\n", i }' >"$dir/filter"
		filter="Filter \"$dir/filter\"
FilterURLs On
FilterExtended On"
	fi
	cat >"$dir/tinyproxy.conf" <<-END
		Port $port
		Listen 127.0.0.1
		Timeout 60
		MaxClients 100
		LogFile "$dir/tinyproxy.log"
		LogLevel Critical
		Allow 127.0.0.1
		$filter
	END
	begin python upstream http "$upstream"
	begin "$dir/tree/$program" -d -c "$dir/tinyproxy.conf"
}
