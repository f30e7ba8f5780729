#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# However a build ends, its compilers end: `vprof build` killed, or make or ninja or a script below it, with recipes
# that the shell runs.  Processes that the build leaves running on purpose, such as a compiler cache's server, stay.
. "${srcdir:-.}/tests/e2e/lib.sh"

mkdir stub dock && cd dock || exit 99
# A compiler of two processes that takes its time, and starts a server once.
cat >../stub/gcc <<'END'
#!/bin/sh
case " $* " in *" -E "*) exec "$REAL" "$@";; esac
for a; do case $a in *.c) unit=$(basename "$a");; *.i) unit=$(basename "$a");; esac; done
if mkdir "$STATE/server.lock" 2>/dev/null; then
	setsid sleep 300 >/dev/null 2>&1 </dev/null &
	echo $! >"$STATE/server"
fi
sleep 120 &
echo $! >"$STATE/inner.$$"
echo $$ >"$STATE/outer.$$"
wait
END
chmod +x ../stub/gcc
REAL=$(command -v gcc) STATE=$work/state
export REAL STATE
PATH=$work/stub:$PATH
for unit in a b c; do echo "int $unit(int n) { return n; }" >$unit.c; done
printf 'all: a.o b.o c.o\n%%.o: %%.c\n\tgcc -c $< -o $@\n' >plain.mk
# A recipe that make cannot run itself.
printf 'all: a.o b.o c.o\n%%.o: %%.c\n\t@echo making $@; gcc -c $< -o $@; true\n' >shell.mk
printf 'all:\n\t$(MAKE) -f shell.mk; true\n' >sub.mk
printf 'rule cc\n  command = echo making; gcc -c $in -o $out; true\nbuild a.o: cc a.c\nbuild b.o: cc b.c\n' >build.ninja
cat >build.sh <<'END'
for unit in a b c; do gcc -c $unit.c -o $unit.o; done
END

alive()			# PID: and not only a zombie
{
	local state		# none: it went while we looked

	state=$(sed -n 's/^State:.//p' "/proc/$1/status" 2>/dev/null)
	case $state in ''|[ZX]*) return 1;; esac
}
working()		# how many of the stub's processes are there
{
	cnt=0
	for file in "$STATE"/inner.* "$STATE"/outer.*; do
		[ -e "$file" ] && alive "$(cat "$file")" && cnt=$((cnt + 1))
	done
	echo $cnt
}
begun()			# CNT: that many compilers are at work
{
	[ "$(working)" -ge $(($1 * 2)) ]
}
none()
{
	[ "$(working)" = 0 ]
}
# ends WHAT CNT SIGNAL OF COMMAND...: OF is vprof, or the name of a program below it
ends()
{
	what=$1 cnt=$2 signal=$3 of=$4
	shift 4
	rm -rf "$STATE" vprof.data ./*.o
	mkdir "$STATE"
	"$VPROF" build --functions all -- "$@" >"$work/.out" 2>"$work/.err" </dev/null &
	build=$!
	wait_until begun "$cnt"
	begun "$cnt" || fail "$what: the compiler was not called"
	target=$build
	# The process between the two ends the build when vprof is killed.
	[ "$of" = vprof ] || target=$(for child in "$build" $(pgrep -P "$build"); do pgrep -P "$child" -x "$of"; done | head -1)
	[ -n "$target" ] || { fail "$what: there is no $of"; target=$build; }
	kill "-$signal" "$target"
	for _ in $(seq 100); do
		none && break
		sleep 0.1
	done
	# One that had been started just before may come later.
	sleep 0.3
	wait_until none
	if none; then pass; else fail "$what: a compiler runs on"; fi
	wait "$build" 2>"$work/.ended"
	status=$?
	if [ "$status" = 0 ]; then fail "$what: the build ends with 0"; else pass; fi
	if ls ./*.o >"$work/.left" 2>/dev/null; then fail "$what: an object is left"; else pass; fi
	server=$(cat "$STATE/server")
	if alive "$server"; then pass; else fail "$what: the server ended"; fi
	kill -KILL "$server" 2>/dev/null
	for file in "$STATE"/inner.* "$STATE"/outer.*; do
		kill -KILL "$(cat "$file")" 2>/dev/null
	done
}

ends "vprof build, KILL" 1 KILL vprof make -f plain.mk
ends "vprof build, KILL, recipes of a shell, -j2" 2 KILL vprof make -j2 -f shell.mk
ends "vprof build, TERM, recipes of a shell" 1 TERM vprof make -f shell.mk
ends "vprof build, KILL, make below a shell that goes on" 1 KILL vprof sh -c 'make -f shell.mk; true'
ends "vprof build, KILL, a script" 1 KILL vprof sh build.sh
ends "vprof build, HUP, make in make" 1 HUP vprof make -f sub.mk
ends "make, TERM, recipes of a shell" 1 TERM make make -f shell.mk
ends "make, TERM, recipes of a shell, -j2" 2 TERM make make -j2 -f shell.mk
ends "make, KILL, recipes of a shell" 1 KILL make make -f shell.mk
ends "a script, TERM" 1 TERM sh sh build.sh
if command -v ninja >/dev/null; then
	ends "vprof build, KILL, ninja" 2 KILL vprof ninja -j2
	ends "ninja, KILL" 2 KILL ninja ninja -j2
	ends "ninja, TERM" 2 TERM ninja ninja -j2
fi

# A compile in the background of a script that has ended is the script's business, as without vprof.
cat >../stub/gcc <<'END'
#!/bin/sh
case " $* " in *" -E "*) exec "$REAL" "$@";; esac
case " $* " in *" -c "*) sleep 1;; esac
exec "$REAL" "$@"
END
printf 'all:\n\tgcc -c a.c -o a.o & true\n\tsleep 4\n' >background.mk
rm -rf vprof.data
expect 0 "$VPROF" build --functions all -- make -f background.mk
if [ -s a.o ]; then pass; else fail "a compile in the background was ended"; fi
finish
