# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # read by servers.sh and run.sh
# mosquitto: C, an event loop (epoll) of one thread.
source=mosquitto release=2.0
kind='C, event loop'
plant_in=src
program=src/mosquitto
build='make -C src -j2 WITH_TLS=no WITH_CJSON=no WITH_DOCS=no CFLAGS="-g -O2 -Wall" mosquitto'
interval='--start handle__publish --end handle__publish'
# The lock: a thread begins the audit anew, under the mutex with which each message is counted.  I/O: a note of each message, on a
# slow disk.  Its own: the database of 60,000 retained messages, saved every second.
cases='
lock	audit__rotate
io	audit__write
own	persist__backup persist__message_store_save persist__retain_save persist__chunk_message_store_write_v6
'
protocol=broker

serve() {
	export EXAM_NOTES="$dir/notes"
	autosave=0
	[ "$case" != own ] || autosave=1
	mkdir -p "$dir/db"
	cat >"$dir/mosquitto.conf" <<-END
		listener $port 127.0.0.1
		allow_anonymous true
		user root
		log_type error
		persistence true
		persistence_location $dir/db/
		autosave_interval $autosave
	END
	if [ ! -f "$dir/retained.db" ]; then
		EXAM_CAUSE=none env -u VPROF_ARENA -u LD_PRELOAD "$dir/tree/$program" -c "$dir/mosquitto.conf" >>"$dir/$case.out" 2>&1 &
		filling=$!
		(python client fill none 0 "$dir/fill.log")
		kill -TERM $filling
		wait $filling
		mv "$dir/db/mosquitto.db" "$dir/retained.db"
	fi
	cp "$dir/retained.db" "$dir/db/mosquitto.db"
	begin "$dir/tree/$program" -c "$dir/mosquitto.conf"
}
