# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # read by servers.sh and run.sh
# dnsmasq: C, a loop (poll) of one thread, a name server behind it.  An interval is a query that is forwarded.
source=dnsmasq release=2.90
kind='C, event loop, upstream'
plant_in=src
program=src/dnsmasq
build='make -j2 CFLAGS="-g -O2" LDFLAGS=-pthread'
interval="--start 'get_new_frec@return key=ret if ret != 0' --end 'return_reply key=arg1'"
# The lock: a thread writes down how many answers there were, under the mutex with which each is counted.  Its own: 60,000 lines of
# hosts, read again at each SIGHUP (async_event: what signals ask for).
cases='
lock		write_answers
upstream	peer
own		async_event clear_cache_and_reload cache_reload read_hostsfile add_hosts_entry make_non_terminals gettok cache_unhash_dhcp cache_hash
'
protocol=names

serve() {
	hosts=$dir/hosts
	[ -f "$hosts" ] || awk 'BEGIN { for (i = 0; i < 60000; i++)
		printf "10.%d.%d.%d host%d.example.org\n", i / 65536, i / 256 % 256, i % 256, i }' >"$hosts"
	begin python upstream names "$upstream"
	begin "$dir/tree/$program" -k -C /dev/null -u root -x "" -p "$port" -a 127.0.0.1 -z -R -h -H "$hosts" -c 150 \
		-S "127.0.0.1#$upstream" --log-facility=-
	export EXAM_SERVER_PID="${began%% *}"
}
