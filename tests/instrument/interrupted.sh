#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Whatever ends a launcher, or the make above it: its compiler ends as well, and leaves nothing half done.
. "${srcdir:-.}/tests/instrument/lib.sh"

# A compiler of two processes that takes its time, as gcc and cc1 do.
mkdir stub
cat > stub/gcc <<'E2'
#!/bin/sh
case " $* " in *" -E "*) exec "$REAL" "$@";; esac
[ -e "$WORK/fast" ] && exec "$REAL" "$@"
for a; do case $last in -o) echo begun > "$a";; esac; last=$a; done
sleep 600 &
echo $! > "$WORK/inner"
echo $$ > "$WORK/outer"
wait
E2
chmod +x stub/gcc
REAL=$(command -v gcc) WORK=$work
export REAL WORK
echo 'int f(int n) { return n; }' > slow.c
printf 'slow.o: slow.c\n\t%s -b build -p all -- stub/gcc -c slow.c\n' "$launch" > Makefile

alive() {		# PID: and not only a zombie
	local state		# none: it went while we looked

	state=$(sed -n 's/^State:.//p' "/proc/$1/status" 2>/dev/null)
	case $state in ''|[ZX]*) return 1;; esac
}

begun() {		# waits until the compiler works
	for _ in $(seq 600); do
		[ -s outer ] && return
		sleep 0.1
	done
	fail "the compiler was not called"
}

ended() {		# WHAT: the compiler is gone within some seconds, and what it had begun
	for _ in $(seq 100); do
		alive "$(cat outer)" || alive "$(cat inner)" || break
		sleep 0.1
	done
	if alive "$(cat inner)" || alive "$(cat outer)"; then
		fail "$1: the compiler runs on"
		kill -9 "$(cat inner)" "$(cat outer)"
	fi
	for _ in $(seq 20); do
		find build -name '*.i' -o -name '*.new' -o -name '*.making' | grep -q . || break
		sleep 0.1
	done
	find build -name '*.i' -o -name '*.new' | grep . && fail "$1: is left"
	[ ! -e slow.o ] || fail "$1: half an object"
	rm -f outer inner slow.o
}

for signal in TERM INT HUP QUIT KILL; do
	rm -rf build
	# A shell's children in the background ignore INT and QUIT.
	python3 -c 'import os, signal, sys
for s in (signal.SIGINT, signal.SIGQUIT): signal.signal(s, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$launch" -b build -p all -- stub/gcc -c slow.c &
	pid=$!
	begun
	kill -$signal $pid
	wait $pid 2> "$work/err"
	status=$?
	case $signal in TERM) want=143;; INT) want=130;; HUP) want=129;; QUIT) want=131;; KILL) want=137;; esac
	[ $status = $want ] || fail "$signal: the launcher ends with $status, not $want"
	ended "$signal of the launcher"
done

# make hands TERM on to what it runs.
rm -rf build
make > make.log 2>&1 &
pid=$!
begun
kill -TERM $pid
wait $pid 2> "$work/err"
ended "TERM of make"

# A terminal that goes away signals the whole group.
rm -rf build
setsid make > make.log 2>&1 &
begun
pid=$(ps -o pgid= -p "$(ps -o ppid= -p "$(ps -o ppid= -p "$(cat outer)" | tr -d ' ')" | tr -d ' ')" | tr -d ' ')
kill -HUP -"$pid"
ended "HUP of the group"

# A command that ignores the signal goes on.
rm -rf build
nohup "$launch" -b build -p all -- stub/gcc -c slow.c > nohup.log 2>&1 &
pid=$!
begun
kill -HUP $pid
sleep 1
alive "$(cat inner)" || fail "nohup: the compiler ended"
kill -TERM $pid
wait $pid 2> "$work/err"
ended "TERM behind nohup"

# A compiler that another process kills is reported as ever, with its status.
"$launch" -b build -p all -- stub/gcc -c slow.c 2> "$work/err" &
pid=$!
begun
kill -KILL "$(cat outer)"
wait $pid
[ $? = 137 ] || fail "a killed compiler"
kill -KILL "$(cat inner)"
rm -f outer inner

# And all is well where nothing happens.
touch fast
"$launch" -b build -p all -- stub/gcc -c slow.c || fail "a compile"
[ -s slow.o ] || fail "no object"
echo 'int f(int n) { return m; }' > slow.c
"$launch" -b build -p all -- stub/gcc -c slow.c 2> "$work/err" && fail "an error"

# A launcher that crashes: the user's own command makes the object, and it is told.  Here the compiler is what ends it.
mkdir crash
cat > crash/gcc <<'E2'
#!/bin/sh
case " $* " in *" -E "*) kill -SEGV $PPID; sleep 60;; esac
exec "$REAL" "$@"
E2
chmod +x crash/gcc
rm -rf build slow.o core*
echo 'int main(void) { return 0; }' > slow.c
"$launch" -b build -p all -- crash/gcc -c slow.c 2> "$work/err" || { fail "a crash of the launcher is the build's"; cat "$work/err"; }
gcc slow.o -o slow 2> "$work/err" && ./slow || fail "no object after a crash"
"$launch" -b build -P | grep -q 'untouched.*slow.c: vprof, or libclang, crashed' || fail "a crash is not told"
[ -z "$(find . -name 'core*')" ] || fail "a crash leaves a core file"
"$launch" -b build -p all -- crash/gcc slow.c -o slow 2> "$work/err" && ./slow || fail "no program after a crash"

# As deep as it is long: a syntax tree of 20,000 levels.
awk 'BEGIN { printf "int deep(int a); int deep(int a) { return a"; for (i = 0; i < 20000; i++) printf " + a"; print "; }"
	printf "int nested(int a); int nested(int a) { return "; for (i = 0; i < 1000; i++) printf "("
	printf "a"; for (i = 0; i < 1000; i++) printf ")"; print "; }"; print "int behind(int a); int behind(int a) { return a; }" }' > deep.c
"$launch" -b build -p all -- gcc -c deep.c 2> "$work/err" || fail "a deep expression"
"$launch" -b build -l > list
printf 'deep 1 probed\nnested 2 probed\nbehind 3 probed\n' | cmp -s - list || { fail "not all deep expressions have probes"; cat list; }
[ "$failed" = 0 ]
