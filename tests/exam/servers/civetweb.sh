# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # read by servers.sh and run.sh
# civetweb's C++ server (examples/embedded_cpp): C++ on C, a pool of threads that take connections from a queue.
source=civetweb release=1.15+dfsg
kind='C++, thread pool'
plant_in=src
program=embedded_cpp
build='make -f Makefile.exam'
interval="--start 'produce_socket key=arg1->sock' --resume 'process_new_connection key=arg0->client.sock'
	--end 'close_connection@entry key=arg0->client.sock'"
# The lock: a thread writes down who was called, under the mutex of a C++ class.  I/O: a note of each call, on a slow disk.  Its own:
# the password file of 120,000 users, read for each request of a protected page.
cases='
lock	CallBook::writeReport writeReport
io	CallBook::noteCall noteCall / AHandler::handleAll AHandler::handleGet CivetServer::requestHandler handle_request
own	read_auth_file mg_fgets / authorize check_authorization handle_request
'
protocol=handlers

serve() {
	export EXAM_ROOT="$dir/www" EXAM_NOTES="$dir/notes"
	if [ ! -f "$dir/www/private/page.html" ]; then
		mkdir -p "$dir/www/private"
		awk 'BEGIN { for (i = 0; i < 120000; i++) printf "user%d:%s:%032d\n", i, "mydomain.com", i }' >"$dir/www/private/.htpasswd"
		echo "the page" >"$dir/www/private/page.html"
	fi
	begin "$dir/tree/$program"
}
