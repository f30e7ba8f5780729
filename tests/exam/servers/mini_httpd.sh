# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # read by servers.sh and run.sh
# mini_httpd: C, a process per connection.
source=mini-httpd release=1.30
packages=libssl-dev
kind='C, process per connection'
program=mini_httpd
build='make'
interval='--start handle_request --end finish_request@entry'
# The lock: a process begins the file of hits anew, under the lock (flock) that each request takes.  I/O: a note of each access, on a
# slow disk.  Its own: the page that lists a large directory.
cases='
lock	rotate_counts
io	note_access
own	do_dir file_details strencode add_str add_data
'
protocol=web

serve() {
	export EXAM_HITS="$dir/hits"
	if [ ! -f "$dir/www/many/12000" ]; then
		mkdir -p "$dir/www/many"
		echo "the page" >"$dir/www/page.html"
		(cd "$dir/www/many" && seq 12000 | xargs touch)
	fi
	begin "$dir/tree/$program" -D -p "$port" -h 127.0.0.1 -d "$dir/www" -u root
}
