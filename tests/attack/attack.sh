#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Another user puts links in the place of directories while root runs vprof there.  Nothing outside is written, nothing of
# root's lies where he wants it, and looking changes nothing.  ATTACK_ROUNDS=N: everything N times (make soak).
# As root, in a mount namespace of its own with a /dev/shm of its own; skipped where there is none.
if [ "${1:-}" != inside ]; then
	if [ "$(id -u)" != 0 ]; then
		echo "two users are needed, which only root can be: skipped"
		exit 77
	fi
	if ! unshare -m --propagation private true 2>/dev/null; then
		echo "no mount namespace can be made here: skipped"
		exit 77
	fi
	exec unshare -m --propagation private "$0" inside
fi
. "${srcdir:-.}/tests/e2e/lib.sh"
mount -t tmpfs -o mode=1777,size=1g tmpfs /dev/shm || { echo "/dev/shm cannot be mounted: skipped"; exit 77; }

bob=64002
FLIP=$(dirname "$VPROF")/tests/attack/flip
as_bob() { setpriv --reuid=$bob --regid=$bob --clear-groups "$@"; }
chmod 755 "$work"
if ! as_bob sh -c 'test -x "$1"' sh "$FLIP"; then
	echo "another user cannot run $FLIP: skipped"
	exit 77
fi

# ---- what is root's own: a project with a run, and one whose recorder was killed ----
mkdir -m 755 canary
cd canary || exit 99
cat >prog.c <<'END_OF_C'
#include <unistd.h>
#include <vprof.h>
__attribute__((noinline)) void work(void) { usleep(200); }
int main(int argc, char **argv)
{
	for (int i = 0; i < (argc > 1 ? 100000 : 30); i++) {
		VPROF_BEGIN("request", 0);
		work();
		VPROF_END("request", 0);
	}
	(void)argv;
	return 0;
}
END_OF_C
expect 0 "$VPROF" build --functions all -- cc -O1 -o prog prog.c
expect 0 "$VPROF" record --buffer 4 -- ./prog
"$VPROF" record --buffer 4 -- sh -c 'echo $$ >../long; exec ./prog long' >/dev/null 2>&1 &
recorder=$!
wait_until grep -qs /dev/shm vprof.data/runs/002/recorder
sleep 0.3
kill -KILL $recorder
wait $recorder 2>/dev/null
kill -KILL "$(cat ../long)"
printf 'vprof-tuples 1\ninterval 1 r 1 5 1 9\nsegment 1 1 5 9 running\n' >small.tuples
cd ..
orphan=$(ls -d /dev/shm/vprof-*)
[ -d "$orphan" ] && pass || fail "the killed recorder has left nothing: $(ls /dev/shm)"

# ---- what is bob's: the same ----
mkdir -m 755 home
cp -a canary home/proj
mkdir -p home/a/b
mv home/proj home/a/b/proj
chown -R $bob home
chmod -R a+rX home
HERE=home/a/b/proj
D=$work/$HERE/vprof.data

# A name, its owner and mode, when it was changed, what is in it.
snapshot()
{
	find "$@" -printf '%p %y %u %m %n %l %s %T@\n' | sort
	find "$@" -type f -exec cksum {} + | sort
	find /dev/shm -printf '%p %u %s\n' | sort
}

same()
{
	snapshot canary >now
	cmp -s before now && pass || { fail "$*: root's own has changed: $(diff before now | head -5)"; cp now before; }
	found=$(find home \( -user 0 -o -nouser ! -uid $bob \) ! -type l -print | head -3)
	[ -z "$found" ] && pass || { fail "$*: root's in bob's place: $found"; chown -hR $bob home; }
}
snapshot canary >before

# ---- looking at what does not move: nothing at all changes there ----
looks="show runs|show factors|show summary 1|show coverage|show call-graph|show wait-graph 1|show warnings 1|sql SELECT*FROM(run)|export 1|report -o $work/page.html 1|diff 1 1|doctor|show runs --format json"
look_at()
{
	snapshot home >home_before
	rest=$looks
	while [ -n "$rest" ]; do
		look=${rest%%|*}
		rest=${rest#"$look"}
		rest=${rest#|}
		# shellcheck disable=SC2086
		(cd canary && "$VPROF" -d "$D" $look) >"$work/.out" 2>"$work/.err"
		status=$?
		[ $status = "$1" ] || [ "$look" = doctor ] && pass || fail "$2: $look ended with $status: $(head -3 "$work/.err")"
		snapshot home >home_now
		cmp -s home_before home_now && pass || fail "$2: $look has changed bob's: $(diff home_before home_now | head -5)"
	done
}
look_at 0 "as it is"
looks="show runs|sql SELECT*FROM(run)|export 1"
(cd canary && "$VPROF" -d "$D" show runs) >"$work/.out" 2>&1
grep -q killed "$work/.out" && pass || fail "a killed run is not shown as such: $(cat "$work/.out")"
cp "$D/vprof.db" kept.db
if command -v sqlite3 >/dev/null 2>&1; then
	as_bob sqlite3 "$D/vprof.db" "PRAGMA journal_mode = WAL" >/dev/null
	as_bob sh -c "rm -f '$D'/vprof.db-*"
	look_at 4 "a write-ahead log"
	cp kept.db "$D/vprof.db"
fi
as_bob sh -c "head -c 512 /dev/zero | tr '\0' '\331' >'$D/vprof.db-journal'"
look_at 4 "a journal of nothing"
rm -f "$D/vprof.db-journal"
as_bob sh -c "mv '$D/vprof.db' '$D/kept' && mkfifo '$D/vprof.db'"
timeout 300 "$VPROF" -d "$D" show runs >"$work/.out" 2>&1
[ $? = 5 ] && pass || fail "a pipe in the place of the database: $(cat "$work/.out")"
as_bob sh -c "rm '$D/vprof.db' && mv '$D/kept' '$D/vprof.db'"

# ---- /dev/shm: bob's orphans are neither counted nor removed, root's stay ----
file=$(find "$orphan" -type f)
touch -d '2 minutes ago' "$file"
for i in 1 2 3 4 5 6 7; do
	cp --sparse=always "$file" "/dev/shm/vprof-bob00$i"
	chown $bob "/dev/shm/vprof-bob00$i"
	touch -d '2 hours ago' "/dev/shm/vprof-bob00$i"
	truncate -s 1M "/dev/shm/vprof-bob00$i"
done
as_bob mkdir -m 777 /dev/shm/vprof-bobdir
as_bob touch /dev/shm/vprof-bobdir/arena
as_bob ln -s "$file" /dev/shm/vprof-boblnk
mkdir elsewhere
cp canary/prog.c elsewhere
(cd elsewhere && "$VPROF" build --functions all -- cc -O1 -o prog prog.c && "$VPROF" record --buffer 4 -- ./prog) >"$work/.out" 2>&1 || fail "root's own: $(cat "$work/.out")"
[ -f "$file" ] && pass || fail "bob has had root's orphan removed"
[ "$(ls -d /dev/shm/vprof-bob00? | wc -l)" = 7 ] && [ -f /dev/shm/vprof-bobdir/arena ] && pass || fail "root has removed what is bob's: $(ls /dev/shm)"
rm -rf /dev/shm/vprof-bob*
snapshot canary >before

# ---- while names change ----
# attack WHERE PLACE-IN-CANARY SEEN COMMAND...: bob exchanges WHERE with a link while root runs the command in his tree
attacks=0
moved=0
attack()
{
	where=$1
	target=$2
	seen=$3
	shift 3
	as_bob ln -sfn "$target" home/link
	touch going
	chmod 644 going
	as_bob "$FLIP" "$work/going" "$work/$where" "$work/home/link" ${seen:+"$seen"} >flips 2>&1 &
	flipper=$!
	# shellcheck disable=SC2086
	(cd "$work/$HERE" 2>/dev/null || cd "$work/canary"; cd "$work"; timeout 300 "$VPROF" "$@") >"$work/.out" 2>"$work/.err" </dev/null
	status=$?
	rm -f going
	wait $flipper
	[ $status -lt 124 ] && pass || fail "$where, $*: ended with $status: $(head -3 "$work/.err")"
	attacks=$((attacks + 1))
	[ "$(cat flips)" -gt 1 ] 2>/dev/null && moved=$((moved + 1))
	[ -L home/link ] || fail "the names are exchanged: $(ls -l home)"
	same "$where, $*"
	find "$HERE" -prune -exec chown -hR $bob {} +
}

C=$work/canary
everything()
{
	i=0
	for where in "home/a $C/../home_a" "home/a/b $C/../home_b" "home/a/b/proj $C" "home/a/b/proj/vprof.data $C/vprof.data" \
		"home/a/b/proj/vprof.data/runs $C/vprof.data/runs" "home/a/b/proj/vprof.data/runs/002 $C/vprof.data/runs/002" \
		"home/a/b/proj/vprof.data/build $C/vprof.data/build" "home/a/b/proj/vprof.data/vprof.db $C/vprof.data/vprof.db"; do
		name=${where% *}
		target=${where#* }
		seen=
		k=0
		while read -r command; do
			k=$((k + 1))
			# In make check each command meets one of the places.
			[ "${ATTACK_ROUNDS:-0}" -gt 0 ] || [ $(((k + 2 * i) % 9)) = 0 ] || continue
			seen=
			[ $((k % 2)) = 0 ] && [ -d "$D/runs" ] && seen=$D
			# shellcheck disable=SC2086
			attack "$name" "$target" "$seen" $command
		done <<-END
			-d $D show runs
			-d $D show summary
			-d $D show coverage
			-d $D sql SELECT*FROM(run)
			-d $D export -o $work/$HERE/out.tuples 1
			-d $D analyze 1
			-d $D analyze 2
			-d $D merge 1 2
			-d $D import --from tuples $C/small.tuples
			-d $D build --functions all -- cc -O1 -o /dev/null -x c $C/prog.c
			-d $D record --buffer 4 -- $C/prog
			-d $D iterate --buffer 4 --max-runs 1 -- $C/prog
			-d $D record --snapshot 2
			-d $D record --pause 2
			-d $D doctor
			-d $work/home/a/b/new import --from tuples $C/small.tuples
			-d $D annotate --start work --end work
		END
		i=$((i + 1))
	done
}
# The targets of the links above home/a/b/proj: the same names, owned by root.
mkdir -p home_a/b home_b
ln -s "$C" home_a/b/proj
ln -s "$C" home_b/proj
round=0
while :; do
	everything
	round=$((round + 1))
	[ $round -lt "${ATTACK_ROUNDS:-0}" ] || break
done
[ $moved -gt $((attacks / 2)) ] && pass || fail "bob was in time in $moved of $attacks attacks only"

# ---- a process of bob's that root records, and that lies about the arena that it has ----
cat >liar.c <<'END_OF_C'
#include <string.h>
#include <unistd.h>
#include "runtime/shared/invitation.h"
static struct door door = { DOOR_MAGIC, DOOR_MAGIC_2, &door, 0, 1, 0, 1, "x" };
int main(int argc, char **argv)
{
	(void)argc;
	strncpy(door.path, argv[1], sizeof(door.path) - 1);
	for (;;)
		pause();
}
END_OF_C
gcc -I"$top" -o liar liar.c || exit 99
as_bob ln -s "${orphan%/*}" home/shm
as_bob ln -s "${file%/*}" home/of_root
echo 1 >canary/pid			# less than an arena's first word
head -c 100000 /dev/zero >canary/zeros	# as an arena that was never completed
ln -s canary/pid canary_link
mkfifo canary/pipe
touch -h -d '2 days ago' canary/pid canary/zeros canary_link
snapshot canary >before
for told in "$C/pid" "$C/zeros" "$work/canary_link" "$C/pipe" "$C" "$work/home/of_root/${file##*/}" "$work/home/shm/${file#/dev/shm/}"; do
	setpriv --reuid=$bob --regid=$bob --clear-groups ./liar "$told" &	# not a shell, which would outlive a kill
	liar=$!
	wait_until grep -q '^\./liar' "/proc/$liar/cmdline"
	sleep 0.1
	expect 4 "$VPROF" -d lied record --kernel=off --buffer 4 --duration 0.1s -p $liar
	says "another vprof record is at it"
	kill $liar
	wait $liar 2>/dev/null
	same "a process that names $told"
	[ -f "$file" ] && pass || fail "root's orphan is gone: a process named $told"
done
rm -f canary_link canary/pid canary/zeros canary/pipe
snapshot canary >before

# ---- files that root names in a directory that everybody may write to ----
mkdir -m 1777 shared
chmod 1777 shared
as_bob ln -s "$C/prog.c" shared/out
as_bob ln -s "$C" shared/dir
as_bob mkdir shared/vprof.data
expect 0 "$VPROF" -d canary/vprof.data export -o shared/out 1
[ ! -L shared/out ] && [ "$(stat -c %u shared/out)" = 0 ] && pass || fail "export wrote through a link"
expect 4 "$VPROF" -d canary/vprof.data export -o shared/dir/out 1
says "belongs to another user" "or write elsewhere"
expect 4 "$VPROF" -d shared/dir/new import --from tuples canary/small.tuples
expect 4 "$VPROF" -d shared/vprof.data import --from tuples canary/small.tuples
expect 4 "$VPROF" -d home/a/new import --from tuples canary/small.tuples
says "/home' belongs to another user" "-d DIR"
expect 0 "$VPROF" -d shared/mine/vprof.data import --from tuples canary/small.tuples
same "a directory that everybody may write to"

# ---- trusted users ----
expect 0 env SUDO_UID=$bob "$VPROF" -d home/a/sudo import --from tuples canary/small.tuples
mkdir -m 775 ours
expect 0 "$VPROF" -d ours/data import --from tuples canary/small.tuples
chgrp $bob ours				# with unknown members: there is only a number
expect 0 "$VPROF" -d canary/vprof.data show runs
grep -q "^[^:]*:[^:]*:$bob:" /etc/group || expect 4 "$VPROF" -d ours/new import --from tuples canary/small.tuples
chmod 777 ours
expect 4 "$VPROF" -d ours/new import --from tuples canary/small.tuples
says "other users may write to '$work/ours'" "chmod go-w"
expect 0 "$VPROF" -d ours/data show runs
cp canary/small.tuples ours
if as_bob unshare -Ur true 2>/dev/null; then	# its root is an ordinary user
	expect 0 as_bob unshare -Ur "$VPROF" -d ours/bobs import --from tuples ours/small.tuples
fi
printf '[run]\n\tcommand = touch %s/was-run\n' "$work" >home/a/vprof.conf
chown $bob home/a/vprof.conf
(cd home/a/b && "$VPROF" record) >"$work/.out" 2>&1
[ ! -e was-run ] && pass || fail "root has run bob's command"
echo "$attacks attacks, $moved of them while names changed"
finish
