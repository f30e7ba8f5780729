#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Another user can neither read a recording, nor put anything into it, nor stop it.
. "${srcdir:-.}/tests/e2e/lib.sh"

as() { who=$1; shift; setpriv --reuid="$who" --regid="$who" --clear-groups "$@"; }
owner=64001
other=64002
chmod 755 "$work"
if [ "$(id -u)" != 0 ] || ! as $owner sh -c 'test -x "$VPROF"' 2>/dev/null; then
	echo "two users are needed, which only root can be"
	exit 77
fi

cat >server.c <<'END'
#include <stdio.h>
#include <unistd.h>
#include <vprof.h>

static volatile unsigned sink;

__attribute__((noinline)) void small(unsigned i) { sink += i; }

int main(int argc, char **argv)
{
	for (unsigned i = 0; i < 20 || access(argc > 1 ? argv[1] : "stop", F_OK); i++) {
		VPROF_BEGIN("request", 0);
		small(i);
		VPROF_END("request", 0);
		usleep(1000);
	}
	puts("served");
	return 0;
}
END
mkdir own
cp server.c own
chown -R $owner own
cd own || exit 99
expect 0 as $owner "$VPROF" build --functions all -- cc -O1 -o server server.c

refused()
{
	if as $other "$@" >"$work/.refused" 2>&1; then
		fail "another user may: $*"
	else
		pass
	fi
}

# The program that the recorder runs, once it has an arena.
server_records()
{
	server=$(pgrep -U $owner -x server) && grep -q ' /dev/shm/vprof-' /proc/$server/maps
}

wait_for_server() { wait_until server_records; }

# ---- while it records ----
(umask 0; exec setpriv --reuid=$owner --regid=$owner --clear-groups "$VPROF" record -- ./server) >out 2>err &
wait_for_server
recorder=$(pgrep -U $owner -x vprof)
arena=$(sed -n 's|.* \(/dev/shm/vprof-[^ ]*\)$|\1|p' /proc/$server/maps | head -1)
data=$PWD/vprof.data
[ -n "$recorder" ] && [ -f "$arena" ] && [ -f "$data/runs/001/trace.vpt" ] && pass || fail "it does not record: $(cat err)"
[ "$(stat -c %a "$data")" = 700 ] && [ "$(stat -c %a "$data/runs/001")" = 700 ] &&
	[ "$(stat -c %a "$data/vprof.db")" = 600 ] && [ "$(stat -c %a "$data/runs/001/trace.vpt")" = 600 ] &&
	[ "$(stat -c %a "$data/runs/001/recorder")" = 600 ] && [ "$(stat -c %a "$arena")" = 600 ] && pass ||
	fail "modes: $(stat -c '%a %n' "$data" "$data"/runs/001 "$data"/runs/001/* "$data"/vprof.db "$arena")"
refused ls "$data"
refused cat "$data/runs/001/trace.vpt"
refused sh -c "echo x >>'$data/runs/001/trace.vpt'"
refused cat "$arena"
refused sh -c "echo x >>'$arena'"
refused rm -f "$arena"
refused kill "$recorder"
refused kill -USR1 "$recorder"
refused kill "$server"
refused "$VPROF" -d "$data" show runs
refused "$VPROF" -d "$data" record --snapshot 1
refused "$VPROF" -d "$data" record -- true

# the other's program does not get into it, though it knows the name
mkdir ../theirs
cp server.c ../theirs
chown -R $other ../theirs
(cd ../theirs && as $other "$VPROF" build --functions all -- cc -O1 -o server server.c) >/dev/null 2>&1
touch ../theirs/stop
(cd ../theirs && VPROF_ARENA=$arena as $other ./server) >/dev/null
(cd ../theirs && as $other "$VPROF" record --kernel=off -p $server --duration 1s) >"$work/.out" 2>"$work/.err"
[ $? = 4 ] && pass || fail "another user may attach"
says "that needs a debugger's permissions"
# nor is the arena taken for one that was left behind
rm ../theirs/stop
(cd ../theirs && (sleep 0.5; touch stop) & cd ../theirs && as $other "$VPROF" record -- ./server) >"$work/.out" 2>&1 ||
	fail "the other user cannot record: $(cat "$work/.out")"
[ -f "$arena" ] && [ -d /proc/$recorder ] && pass || fail "the recording was stopped"
touch stop
wait
says "served"
as $owner "$VPROF" export --format tuples 1 >tuples
[ "$(grep -c '^thread' tuples)" = 1 ] && pass || fail "threads: $(grep '^thread' tuples)"
[ ! -e "$arena" ] && pass || fail "the arena is left"
rm -f stop

# ---- links in directories that others may write to ----
mkdir -m 1777 shared
cd shared || exit 99
echo precious >../secret
chown $owner ../secret
as $other mkdir vprof.data vprof.data/runs
as $other chmod -R 777 vprof.data
as $other ln -s "$PWD/../secret" vprof.data/vprof.db
as $owner "$VPROF" record -- ../server /etc/passwd >"$work/.out" 2>"$work/.err"
[ $? = 4 ] && pass || fail "uses a data directory of another user"
says "belongs to another user" "-d DIR"
[ "$(cat ../secret)" = precious ] && pass || fail "wrote through a link"
as $owner mkdir -m 777 open
as $owner chmod 777 open
as $owner "$VPROF" -d open record -- ../server /etc/passwd >"$work/.out" 2>"$work/.err"
[ $? = 4 ] && pass || fail "uses a data directory that everybody may write to"
says "other users may write to" "chmod go-w"
cd ..

# ---- a configuration in a directory above, with a command of another user's ----
printf '[run]\n\tcommand = touch %s\n' "$PWD/was-run" >conf
mkdir -m 1777 common
as $other cp conf common/vprof.conf
as $owner mkdir -p common/below/project
cd common/below/project || exit 99
for command in "record" "build -- true" "iterate"; do
	as $owner "$VPROF" $command >"$work/.out" 2>"$work/.err"
	[ $? = 4 ] && pass || fail "vprof $command takes the configuration of another user: $(cat "$work/.err")"
	says "common/vprof.conf', found above this directory, belongs to another user" "VPROF_CONF="
done
[ ! -e ../../../was-run ] && pass || fail "a command of another user's was run"
chown 0 ../../vprof.conf
as $owner "$VPROF" doctor >"$work/.out" 2>&1
grep -q "belongs to another user" "$work/.out" && fail "root's configuration is refused" || pass
chmod 666 ../../vprof.conf
as $owner "$VPROF" record >"$work/.out" 2>"$work/.err"
says "may be written by every user"
chown $other ../../vprof.conf
as $owner env VPROF_CONF="$PWD/../../vprof.conf" "$VPROF" doctor >"$work/.out" 2>&1
grep -q "every user\|another user" "$work/.out" && fail "VPROF_CONF is refused: $(cat "$work/.out")" || pass
cd ../../..

# ---- root's arena, which its processes may open under any user, cannot be found by others ----
mkdir ../roots
cp server.c ../roots
cd ../roots || exit 99
"$VPROF" build --functions all -- cc -O1 -o server server.c 2>/dev/null
chmod 755 .
"$VPROF" record -- setpriv --reuid=$owner --regid=$owner --clear-groups ./server >out 2>err &
wait_for_server
sleep 1
arena=$(sed -n 's|.* \(/dev/shm/vprof-[^ ]*\)$|\1|p' /proc/$server/maps | head -1)
[ -f "$arena" ] && pass || fail "root's command as another user is not recorded: $(cat err)"
refused ls "$(dirname "$arena")"
refused rm -r "$(dirname "$arena")"
refused cat /proc/$server/environ
refused cat /proc/$server/maps
touch stop
wait
"$VPROF" export --format tuples 1 | grep -c '^interval' | { read -r n; [ "$n" -gt 100 ]; } && pass || fail "root's run"
finish
