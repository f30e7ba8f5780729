# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # read by servers.sh and run.sh
# pgbouncer: C, an event loop (libevent) of one thread, a server of PostgreSQL's protocol behind it.
source=pgbouncer release=1.18
packages='libevent-dev pkg-config'
kind='C, event loop, upstream'
plant_in=include
configure='./configure --without-openssl --without-cares CFLAGS="-g -O2"'
program=pgbouncer
build='make -j2 pgbouncer'
interval="--start 'handle_client_work key=arg0 if arg1->type == 81' --end 'release_server@entry key=arg0->link if arg0->link != 0'"
# The queue: a thread writes queries down; one that comes while three are still to be written waits.  Its own: 60,000 users, read
# again at each SIGHUP.
cases='
queue		write_noted
upstream	peer
own		load_auth_file unquote_add_user add_user find_user disable_users load_config loader_users_check handle_sighup
'
protocol=database

serve() {
	users=$dir/users
	[ -f "$users" ] || awk 'BEGIN { for (i = 60000; i; i--) printf "\"user%06d\" \"secret%d\"\n", i, i }' >"$users"
	cat >"$dir/pgbouncer.ini" <<-END
		[databases]
		here = host=127.0.0.1 port=$upstream dbname=here user=user000001 pool_size=6
		[pgbouncer]
		listen_addr = 127.0.0.1
		listen_port = $port
		unix_socket_dir =
		auth_type = trust
		auth_file = $users
		pool_mode = transaction
		log_connections = 0
		log_disconnections = 0
		logfile = $dir/pgbouncer.log
	END
	: >"$dir/pgbouncer.log"
	chmod a+r "$users" "$dir/pgbouncer.ini"
	chmod a+rw "$dir/pgbouncer.log"
	begin python upstream database "$upstream"
	nobody=
	[ "$(id -u)" != 0 ] || nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
	# shellcheck disable=SC2086 # nothing, or words: it does not run as root
	begin $nobody "$dir/tree/$program" -q "$dir/pgbouncer.ini"
	export EXAM_SERVER_PID="${began%% *}" EXAM_USERS="$users"
}
