#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A pipe, a device or a socket in the place of a file of a run, of a build, or of vprof.conf: every command ends at once, with a message
# or without that file's contents.  Otherwise a user who can write there could make another user's (root's) command wait for ever.
. "${srcdir:-.}/tests/e2e/lib.sh"
cat >prog.c <<'C'
#include <unistd.h>
void work(int i) { usleep(200 + (i % 3) * 100); }
void request(int i) { work(i); }
int main(void) { for (int i = 0; i < 40; i++) request(i); return 0; }
C
expect 0 "$VPROF" annotate --start request --end request
expect 0 "$VPROF" build --functions all -- cc -O1 -c -o prog.o prog.c
cc -o own prog.c || exit 99
expect 0 "$VPROF" build --functions all -- cc -O1 -o prog prog.o
expect 0 "$VPROF" record -- ./prog
printf 'vprof-tuples 1\ninterval 1 r 1 5 1 9\nsegment 1 1 5 9 running\n' >small.tuples
expect 0 "$VPROF" import --from tuples small.tuples
expect 0 "$VPROF" merge 1 2
expect 0 "$VPROF" show summary 3
rm -rf kept && mkdir kept
cp -a vprof.data vprof.conf kept

# replace PATH KIND
replace()
{
	rm -f "$1"
	case $2 in
	pipe)	mkfifo "$1" ;;
	device)	ln -s /dev/zero "$1" ;;
	link)	rm -f "$work/pipe" && mkfifo "$work/pipe" && ln -s "$work/pipe" "$1" ;;
	socket)	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$1" ;;
	esac
}

looks="show runs|show summary 1|show summary 2|show summary 3|show coverage|show factors 1|show critical-path 1|show critical-path 2|sql SELECT*FROM(run)|export 1|export 3|analyze 1|analyze 2|doctor --quick"
builds="build --functions all|record -- ./prog|init --force|annotate --start work --end work"

# try PATH KIND COMMANDS: none of them hangs, crashes, or fails without a word
try()
{
	rest=$3
	while [ -n "$rest" ]; do
		command=${rest%%|*}
		rest=${rest#"$command"}
		rest=${rest#|}
		# shellcheck disable=SC2086
		timeout -k 1 60 "$VPROF" $command >.out 2>.err </dev/null
		status=$?
		if [ $status -lt 124 ] && { [ $status = 0 ] || [ -s .err ] || [ -s .out ]; }; then
			pass
		else
			fail "a $2 for $1: $command ended with $status: $(head -2 .err)"
		fi
	done
}

tried=0
for path in $(find vprof.data -type f ! -name lock | grep -v -e '\.o$' -e '/bin/') vprof.conf vprof.data/runs/001/kernel.vpk \
	vprof.data/vprof.db-journal vprof.data/vprof.db-wal vprof.data/runs/001/trace.vpt.1; do
	case $path in
	*build*|*.conf|*.db)	commands="$looks|$builds" ;;
	*)			commands=$looks ;;
	esac
	for kind in pipe device link socket; do
		[ $kind != socket ] || command -v python3 >/dev/null || continue
		replace "$path" $kind
		try "$path" $kind "$commands"
		tried=$((tried + 1))
		rm -rf vprof.data vprof.conf
		cp -a kept/vprof.data kept/vprof.conf .
	done
done
[ $tried -ge 40 ] && pass || fail "only $tried files were replaced"

# The messages, and the exit status of vprof-formats(5).
rm vprof.data/runs/001/trace.vpt && mkfifo vprof.data/runs/001/trace.vpt
expect 5 timeout 60 "$VPROF" analyze 1
says "trace.vpt': it is not a plain file"
rm vprof.data/runs/002/trace.tuples && mkfifo vprof.data/runs/002/trace.tuples
expect 5 timeout 60 "$VPROF" analyze 2
says "trace.tuples': it is not a plain file"
rm vprof.conf && mkfifo vprof.conf
expect 2 timeout 60 "$VPROF" record -- ./prog
says "vprof.conf': it is not a plain file"
rm vprof.conf && cp kept/vprof.conf .

# A file named by the user may be a pipe.
mkfifo given
cat small.tuples >given &
expect 0 timeout 60 "$VPROF" import --from tuples given
cat kept/vprof.conf >given &
expect 0 timeout 60 env VPROF_CONF=given "$VPROF" show runs
kill $! 2>/dev/null		# nothing asked for it
echo "$tried files replaced"
finish
