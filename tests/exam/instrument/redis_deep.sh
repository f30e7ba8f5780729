#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# As deep as Redis lets a client go: parentheses and calls in Lua, JSON, a pattern with many stars, a reply in replies.
# Run in its tree.
set -u

data=$(mktemp -d) || exit
server=
trap 'kill -KILL $server 2>/dev/null; rm -rf "$data"' EXIT
repeated() { awk -v s="$1" -v n="$2" 'BEGIN { while (n--) printf "%s", s }' </dev/null; }
ask() { src/redis-cli -s "$data/socket" "$@" || exit; }

src/redis-server --port 0 --unixsocket "$data/socket" --dir "$data" --save '' >/dev/null 2>&1 &
server=$!
tries=0
while [ ! -S "$data/socket" ]; do
	[ $tries -lt 100 ] && kill -0 $server || exit
	tries=$((tries + 1))
	sleep 0.1
done
ask eval "return $(repeated '(' 190)7$(repeated ')' 190)" 0
ask eval 'local function f(n) return n == 0 and "x" or (string.gsub("a", "a", function() return f(n - 1) .. "y" end)) end
	return #f(180)' 0
ask eval 'local t = {} for i = 1, 900 do t = {t} end
	local s = cjson.encode(t) return {#s, #cjson.encode(cjson.decode(s))}' 0
ask set "$(repeated a 900)" 1
ask keys "$(repeated '*a' 900)" | wc -c
ask eval 'local t = {1} for i = 1, 100 do t = {t} end return t' 0 | wc -c
ask shutdown nosave
wait $server
