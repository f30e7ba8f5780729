#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# nginx_checks.sh - ask objs/nginx for one thing of each kind that it can do; run in its tree.
#
# "ok NAME" or "not ok NAME" for each; an answer is right if it has the status and the text that the
# configuration below makes of it.  curl is the client, and ab where there are to be many.
set -u

data=$(mktemp -d) || exit 1
chmod 755 "$data"
main=$(($(id -u) % 1000 + 28080))
# Ports without a listener, five in a row (0A is the state LISTEN).
while for p in 0 1 2 3 4; do grep -i ":$(printf %04X $((main + p))) .* 0A " /proc/net/tcp; done | grep -q .; do
	main=$((main + 5))
done
backend=$((main + 1)) dead=$((main + 2)) stream=$((main + 3)) plain2=$((main + 4))

cleanup() {
	for file in "$data"/pid "$data"/pid.oldbin; do
		[ ! -s "$file" ] || kill -KILL -- "$(cat "$file")" 2>/dev/null
	done
	rm -rf "$data"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

mkdir "$data/logs" "$data/www" "$data/www/list" "$data/www/random" "$data/dav" "$data/cache" "$data/temp"
printf 'small file\n' >"$data/www/small.txt"
seq 200000 >"$data/www/large.txt"
head -c 4194304 /dev/zero >"$data/www/zeros"
# shellcheck disable=SC2016 # nginx's
printf 'before <!--#echo var="arg_x" --> after <!--# if expr="$arg_x = 7" -->seven<!--# endif -->\n' >"$data/www/ssi.shtml"
printf 'a\n' >"$data/www/list/a"
printf 'only\n' >"$data/www/random/only"
printf 'head\n' >"$data/www/head"
gzip -c "$data/www/large.txt" >"$data/www/packed.gz"
# user:secret
printf 'user:{PLAIN}secret\n' >"$data/passwords"

configuration() {
	cat <<-END_CONF
	$([ "$(id -u)" != 0 ] || echo "user root;")
	worker_processes 2;
	pid $data/pid;
	error_log $data/error.log info;
	events { worker_connections 512; }
	http {
		access_log $data/access.log;
		client_body_temp_path $data/temp/body;
		proxy_temp_path $data/temp/proxy;
		fastcgi_temp_path $data/temp/fastcgi;
		uwsgi_temp_path $data/temp/uwsgi;
		scgi_temp_path $data/temp/scgi;
		proxy_cache_path $data/cache keys_zone=cache:1m;
		limit_req_zone \$binary_remote_addr zone=few:1m rate=1r/m;
		map \$arg_kind \$mapped { default other; a first; ~^b second; }
		split_clients \$arg_x \$part { 50% left; * right; }
		geo \$place { default far; 127.0.0.0/8 near; }
		upstream two { server 127.0.0.1:$dead max_fails=1; server 127.0.0.1:$backend backup; }
		upstream kept { server 127.0.0.1:$backend; keepalive 8; }
		server {
			listen 127.0.0.1:$main;
			root $data/www;
			error_page 404 /small.txt;
			set_real_ip_from 127.0.0.1;
			real_ip_header X-Real;
			client_max_body_size 1m;
			location /list/ { autoindex on; }
			location /ssi { ssi on; ssi_types *; }
			location /redirect { return 301 /elsewhere; }
			location /text { add_header X-Was added; return 200 "\$mapped \$part \$place\n"; }
			location ~ ^/re(write|name)/(.*)\$ { rewrite ^/re(write|name)/(.*)\$ /\$2 last; }
			location /try { try_files /none \$uri/none /small.txt; }
			location /gzip { gzip on; gzip_types *; gzip_min_length 10; alias $data/www/large.txt; }
			location /gunzip { gunzip on; add_header Content-Encoding gzip; alias $data/www/packed.gz; }
			location /sub { sub_filter small big; sub_filter_types *; alias $data/www/small.txt; }
			location /added { addition_types *; add_before_body /head; alias $data/www/small.txt; }
			location /auth { auth_basic locked; auth_basic_user_file $data/passwords; alias $data/www/small.txt; }
			location /asked/yes { auth_request /yes; alias $data/www/small.txt; }
			location /asked/no { auth_request /no; alias $data/www/small.txt; }
			location = /yes { internal; return 204; }
			location = /no { internal; return 403; }
			location /denied { deny all; }
			location /few { limit_req zone=few; alias $data/www/small.txt; }
			location /slow { limit_rate 200k; limit_rate_after 100k; alias $data/www/large.txt; }
			location /random/ { random_index on; }
			location /status { stub_status; }
			location /threads { aio threads; directio 512; alias $data/www/zeros; }
			location /dav/ { root $data; dav_methods PUT DELETE MKCOL COPY MOVE; create_full_put_path on; }
			location /proxied/ { proxy_pass http://127.0.0.1:$backend/; }
			location /kept/ { proxy_pass http://kept/; proxy_http_version 1.1; proxy_set_header Connection ""; }
			location /backup/ { proxy_pass http://two/; }
			location /cached/ { proxy_cache cache; proxy_cache_valid 200 1m; add_header X-Cache \$upstream_cache_status; proxy_pass http://127.0.0.1:$backend/; }
			location /sliced/ { slice 64k; proxy_set_header Range \$slice_range; proxy_pass http://127.0.0.1:$backend/; }
			location /gone/ { proxy_pass http://127.0.0.1:$dead/; }
			location /mirrored { mirror /mirror; alias $data/www/small.txt; }
			location /mirror { internal; proxy_pass http://127.0.0.1:$backend/mirror; }
			location /real { return 200 "\$remote_addr\n"; }
			location /secret { secure_link \$arg_md5; secure_link_md5 "word\$uri"; if (\$secure_link = "") { return 403; } alias $data/www/small.txt; }
		}
		server {
			listen 127.0.0.1:$backend;
			root $data/www;
			location /mirror { access_log $data/mirror.log; return 204; }
		}
		server { listen 127.0.0.1:$plain2 http2; root $data/www; }
	}
	stream {
		server { listen 127.0.0.1:$stream; proxy_pass 127.0.0.1:$backend; }
	}
	END_CONF
}
configuration >"$data/nginx.conf"

passed() { echo "ok $1"; }
failed() { echo "not ok $1"; sed 's/^/# /' "$data/body" 2>/dev/null | head -n 3 | cut -c 1-200; }

# check NAME STATUS TEXT CURL_ARGUMENTS...: TEXT is a fixed string of the answer, headers and all
check() {
	name=$1 status=$2 text=$3
	shift 3
	code=$(curl -s -S -m 60 -i -o "$data/body" -w '%{http_code}' "$@" 2>"$data/curl.err")
	if [ "$code" = "$status" ] && grep -qaF -- "$text" "$data/body"; then
		passed "$name"
	else
		failed "$name"
		echo "# status $code"
	fi
}

# same NAME FILE CURL_ARGUMENTS...: the body is the file's, byte for byte
same() {
	name=$1 file=$2
	shift 2
	curl -s -S -m 60 -o "$data/body" "$@" 2>"$data/curl.err"
	if cmp -s "$data/body" "$file"; then passed "$name"; else failed "$name"; fi
}

# true_that NAME COMMAND...
true_that() {
	name=$1
	shift
	if "$@" >"$data/body" 2>&1; then passed "$name"; else failed "$name"; fi
}

# within SECONDS COMMAND...: it becomes true
within() {
	tenths=$(($1 * 10))
	shift
	while ! "$@"; do
		tenths=$((tenths - 1))
		[ $tenths -gt 0 ] || return 1
		sleep 0.1
	done
}

answers() { curl -s -m 5 -o "$data/ignored" "http://127.0.0.1:$main/small.txt"; }
# shellcheck disable=SC2317 # called by true_that and within
no_server() { ! answers; }
# shellcheck disable=SC2317
other_pid() { [ -s "$data/pid" ] && [ "$(cat "$data/pid")" != "$1" ]; }

nginx=$PWD/objs/nginx
true_that "configuration test" "$nginx" -p "$data" -c "$data/nginx.conf" -t
echo "nonsense;" >"$data/bad.conf"
if "$nginx" -p "$data" -c "$data/bad.conf" -t 2>&1 | grep -q 'unknown directive "nonsense"'; then
	passed "configuration error"
else
	failed "configuration error"
fi
"$nginx" -p "$data" -c "$data/nginx.conf" 2>"$data/body"
true_that "starts as a daemon" within 20 answers

u=http://127.0.0.1:$main
check "static file" 200 "small file" $u/small.txt
same "large file" "$data/www/large.txt" $u/large.txt
dd if="$data/www/large.txt" bs=5000 skip=1 count=1 of="$data/range" 2>/dev/null
same "range" "$data/range" $u/large.txt -r 5000-9999
check "several ranges" 206 "multipart/byteranges" $u/large.txt -r 0-9,20-29
check "range outside" 416 "Range" $u/small.txt -r 1000000-
check "not found has the error page" 404 "small file" $u/nothing
check "head" 200 "Content-Length: 11" -I $u/small.txt
check "method not allowed" 405 "Not Allowed" -X POST -d x $u/small.txt
check "not modified" 304 "ETag" -H "If-Modified-Since: $(date -u -r "$data/www/small.txt" '+%a, %d %b %Y %H:%M:%S GMT')" $u/small.txt
check "too large" 413 "Too Large" -T "$data/www/zeros" $u/dav/zeros
check "bad request" 400 "Bad Request" -H "Host:" $u/small.txt
check "old protocol" 200 "small file" -0 $u/small.txt
check "directory listing" 200 'href="a"' $u/list/
check "directory without its slash" 301 "/list/" $u/list
check "server side includes" 200 "before 7 after seven" "$u/ssi.shtml?x=7"
check "redirect" 301 "Location: $u/elsewhere" $u/redirect
check "return, map, geo" 200 "first " "$u/text?kind=a&x=1"
check "map with an expression" 200 "second " "$u/text?kind=bb"
check "geo" 200 " near" "$u/text"
check "added header" 200 "X-Was: added" "$u/text"
check "rewrite with captures" 200 "small file" $u/rename/small.txt
check "try_files" 200 "small file" $u/try/it
same "gzip" "$data/www/large.txt" --compressed $u/gzip
check "gzip's header" 200 "Content-Encoding: gzip" -H "Accept-Encoding: gzip" $u/gzip
check "sub_filter" 200 "big file" $u/sub
check "addition" 200 "head" $u/added
check "no password" 401 "Authorization Required" $u/auth
check "wrong password" 401 "Authorization Required" -u user:wrong $u/auth
check "password" 200 "small file" -u user:secret $u/auth
check "subrequest allows" 200 "small file" $u/asked/yes
check "subrequest denies" 403 "Forbidden" $u/asked/no
check "denied" 403 "Forbidden" $u/denied
check "limit: the first" 200 "small file" $u/few
check "limit: the second" 503 "Temporarily Unavailable" $u/few
same "limited rate" "$data/www/large.txt" $u/slow
check "random index" 200 "only" $u/random/
check "status" 200 "Active connections" $u/status
same "thread pool" "$data/www/zeros" $u/threads
check "dav: put" 201 "Created" -T "$data/www/small.txt" $u/dav/new/file
check "dav: mkcol" 201 "Created" -X MKCOL $u/dav/directory/
check "dav: copy" 204 "204" -X COPY -H "Destination: $u/dav/copy" $u/dav/new/file
check "dav: move" 204 "204" -X MOVE -H "Destination: $u/dav/moved" $u/dav/copy
true_that "dav: the file is there" cmp "$data/dav/moved" "$data/www/small.txt"
check "dav: delete" 204 "204" -X DELETE $u/dav/moved
same "proxy" "$data/www/large.txt" $u/proxied/large.txt
same "proxy, connection kept" "$data/www/large.txt" $u/kept/large.txt
check "proxy: not found" 404 "Not Found" $u/proxied/nothing
check "proxy: backup server" 200 "small file" $u/backup/small.txt
check "proxy: nobody there" 502 "Bad Gateway" $u/gone/
check "cache: miss" 200 "X-Cache: MISS" $u/cached/small.txt
check "cache: hit" 200 "X-Cache: HIT" $u/cached/small.txt
same "slices" "$data/www/large.txt" $u/sliced/large.txt
check "mirror" 200 "small file" $u/mirrored
true_that "mirror: it arrived" within 5 grep -q mirror "$data/mirror.log"
check "real address" 200 "192.0.2.7" -H "X-Real: 192.0.2.7" $u/real
check "secure link, without" 403 "Forbidden" $u/secret
md5=$(printf 'word/secret' | openssl md5 -binary | openssl base64 | tr '+/' '-_' | tr -d '=')
check "secure link" 200 "small file" "$u/secret?md5=$md5"
same "stream" "$data/www/large.txt" http://127.0.0.1:$stream/large.txt
same "http 2" "$data/www/large.txt" --http2-prior-knowledge http://127.0.0.1:$plain2/large.txt
check "http 2: not found" 404 "" --http2-prior-knowledge http://127.0.0.1:$plain2/none

# many NAME AB_ARGUMENTS...
many() {
	name=$1
	shift
	ab -q "$@" >"$data/body" 2>&1
	if grep -q '^Failed requests: *0$' "$data/body" && ! grep -q '^Non-2xx' "$data/body"; then
		passed "$name"
	else
		failed "$name"
	fi
}
many "many connections" -n 5000 -c 50 $u/small.txt
many "many requests on kept connections" -k -n 20000 -c 50 $u/small.txt
many "many large files" -k -n 300 -c 20 $u/large.txt
many "many proxied" -n 3000 -c 20 $u/kept/small.txt

kill -HUP "$(cat "$data/pid")"
true_that "new workers after HUP" within 20 grep -q 'gracefully shutting down' "$data/error.log"
check "after HUP" 200 "small file" $u/small.txt
mv "$data/access.log" "$data/access.old"
kill -USR1 "$(cat "$data/pid")"
true_that "new log after USR1" within 20 test -e "$data/access.log"
old=$(cat "$data/pid")
kill -USR2 "$old"
true_that "new program after USR2" within 20 other_pid "$old"
kill -QUIT "$old"
true_that "the old one ends" within 20 sh -c "! kill -0 $old"
check "after USR2" 200 "small file" $u/small.txt
kill -QUIT "$(cat "$data/pid")"
true_that "ends after QUIT" within 20 no_server
if grep -E '\[(emerg|alert|crit)\]' "$data/error.log" >"$data/body"; then
	failed "no alert in the log"
else
	passed "no alert in the log"
fi
