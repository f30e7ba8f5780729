#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof doctor: each defect is planted, found, and comes with its fix; without any it has nothing to say.
. "${srcdir:-.}/tests/e2e/lib.sh"

# healthy NAME...: these checks are good
healthy()
{
	for check; do
		grep -q "^✓ $check " "$work/.out" && pass || { fail "'$check' is not well"; cat "$work/.out"; }
	done
}

# found STATE NAME TEXT FIX: what expect ran says so
found()
{
	awk -v sign="$1" -v name="$2" -v text="$3" -v fix="$4" '
		{ if (seen && index($0, "→") && index($0, fix)) good = 1
		  seen = $1 == sign && $2 == name && index($0, text) }
		END { exit !good }' "$work/.out" && pass ||
		{ fail "nobody found: $1 $2 $3 → $4"; sed 's/^/  out: /' "$work/.out"; }
}

export PATH="$(dirname "$VPROF"):$PATH"
mkdir project && cd project || exit 99
printf 'int handle(int n) { return n + 1; }\nint main(void) { return handle(-1); }\n' >main.c
expect 0 "$VPROF" doctor
says "Nothing stands in the way." "there is none here or above"
healthy vprof libclang compilers trial
grep -q 'built and recorded a small program with gcc' "$work/.out" && pass || fail "no trial with gcc"
[ -e vprof.data ] && fail "doctor made a data directory" || pass

# A built project, and its program in every way it can be linked.
expect 0 "$VPROF" annotate --start handle --end handle
expect 0 "$VPROF" build --functions all -- gcc -g main.c -o good
expect 0 "$VPROF" doctor --quick good
healthy vprof.conf data disk build program
says "2 functions, 2 of them probed" "'good' (position independent) was linked through vprof"
expect 0 "$VPROF" doctor --quick --format json good
jansson='import json,sys; d = json.load(sys.stdin); assert d["schema"] == "vprof.doctor/1" and d["problems"] == 0
assert all(c["state"] in ("ok", "note", "warning", "problem") and c["text"] for c in d["checks"])
assert any(c["name"] == "program" and c["fix"] is None for c in d["checks"])'
if command -v python3 >"$work/.which"; then
	python3 -c "$jansson" <"$work/.out" && pass || fail "the JSON is not as it should be"
fi
expect 2 "$VPROF" doctor --format csv

# The kernel features that vprof look needs.
if "$VPROF" doctor --quick good | grep -q '^✓ kernel '; then
	export VPROF_KERNEL_HOOKS=no-sockets
	expect 0 "$VPROF" doctor --quick good
	found · requests "does not say when bytes arrive" "vprof annotate"
	export VPROF_KERNEL_HOOKS=no-uprobes
	expect 0 "$VPROF" doctor --quick good
	found · calls "has no uprobes" "vprof annotate"
	unset VPROF_KERNEL_HOOKS
fi

expect 0 "$VPROF" cc gcc -c main.c
expect 0 gcc main.o -o preloaded
expect 0 "$VPROF" doctor --quick preloaded
says "record preloads the runtime"
expect 0 objcopy --redefine-sym vprof_register_5=vprof_register main.o older.o
expect 0 gcc older.o -o older
expect 4 "$VPROF" doctor --quick older
found ✗ program "'older' (position independent) holds probes of another version" "vprof build -- make, after make clean"
expect 0 "$VPROF" cc gcc -fno-pic -c main.c -o fixed.o
expect 0 gcc -no-pie fixed.o -o fixed
expect 4 "$VPROF" doctor --quick fixed
found ✗ program "'fixed' (-no-pie) holds probes, but was linked without vprof" "link it through vprof as well"
if gcc -static main.o -o static 2>"$work/.err"; then
	expect 4 "$VPROF" doctor --quick static
	found ✗ program "'static' (static) holds probes, but was linked without vprof" CMAKE_C_LINKER_LAUNCHER
	expect 0 "$VPROF" cc gcc -static -s main.c -o static
	expect 0 "$VPROF" doctor --quick static
	says "'static' (static) was linked through vprof; limits that it sets itself (setrlimit, mlockall, prctl) are not seen"
fi
gcc main.c -o plain
expect 4 "$VPROF" doctor --quick plain
found ✗ program "'plain' was built without vprof" "vprof build -- make, after make clean"
strip good -o stripped
expect 0 "$VPROF" doctor --quick stripped
found ! program "'stripped' is stripped" "without stripping"
says "'stripped' (position independent) was linked through vprof"
cp good setid && chmod 4755 setid
expect 4 "$VPROF" doctor --quick setid
found ✗ program "set-user-ID" "record a copy without"
printf '#!/bin/sh\nexec ./good\n' >script && chmod +x script
expect 0 "$VPROF" doctor --quick script
found · program "'script' is a script" .libs
expect 4 "$VPROF" doctor --quick main.c
found ✗ program "'main.c' is not a program" "serves the requests"
expect 4 "$VPROF" doctor --quick nowhere
says "No such file"
# Another machine's: the same program with the number of its machine changed.
{ head -c 18 good; printf '\002\000'; tail -c +21 good; } >foreign
expect 4 "$VPROF" doctor --quick foreign
found ✗ program "another machine" "build for this machine"
head -c 300 good >cut
"$VPROF" doctor --quick cut >"$work/.out" 2>&1
[ $? -lt 126 ] && pass || fail "half a program is too much for doctor"

# The project.
cp vprof.conf good.conf
printf '[intervall]\nstart = handle\n' >>vprof.conf
expect 4 "$VPROF" doctor --quick
says "✗ vprof.conf" intervall
mv good.conf vprof.conf
expect 0 gcc main.c -o good
expect 0 "$VPROF" doctor --quick
found ! build "1 object was compiled without vprof since" "vprof build"
chmod 0755 vprof.data
expect 0 "$VPROF" doctor --quick
found ! data "other users can read" "chmod 0700"
chmod 0700 vprof.data
expect 0 "$VPROF" build --functions all -- gcc -g main.c -o good
expect 0 "$VPROF" build --functions all -- gcc -g -save-temps main.c -o good
expect 0 "$VPROF" doctor --quick
found ! build "compiled untouched: main.c: the command keeps intermediate files" "vprof show coverage"
echo '{' >vprof.data/build/damaged.scan
expect 4 "$VPROF" doctor --quick
says "✗ build"
rm vprof.data/build/damaged.scan
printf 'SQLite' >vprof.data/vprof.db
expect 4 "$VPROF" doctor --quick
says "✗ data"
rm -rf vprof.data && touch vprof.data
expect 4 "$VPROF" doctor --quick
found ✗ data "is not a directory" "vprof -d DIR"
rm vprof.data

# Another vprof first on PATH.
mkdir ../other && printf '#!/bin/sh\n' >../other/vprof && chmod +x ../other/vprof
PATH=$work/other:$PATH expect 0 "$VPROF" doctor --quick
found ! PATH "another program" "PATH=$(dirname "$VPROF")"

# No compiler; one that cannot link.
mkdir ../bare && ln -s "$(command -v sh)" ../bare/sh
PATH=$work/bare expect 4 "$VPROF" doctor --quick
found ✗ compilers "no cc, gcc or clang on PATH" "apt-get install gcc"
printf '#!/bin/sh\necho "ld: disk on fire" >&2\nexit 1\n' >../bare/gcc && chmod +x ../bare/gcc
PATH=$work/bare expect 4 "$VPROF" doctor
found ✗ trial "cannot be built and recorded with gcc" "does it build without vprof?"
TMPDIR=$work/nowhere expect 4 "$VPROF" doctor
found ✗ trial "cannot make a directory" "set TMPDIR"

# Not installed whole.
mkdir ../elsewhere && cp "$VPROF" ../elsewhere/vprof
../elsewhere/vprof doctor --quick >"$work/.out" 2>"$work/.err"
[ -e "$(sed -n "s/^✓ vprof *runtime in '\(.*\)',.*/\1/p" "$work/.out")/libvprof.a" ] ||
	found ✗ vprof "this vprof is installed incompletely" "make install"

# A library fakes the conditions that cannot be planted.
cat >../lies.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
int open(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	const char *lie = getenv("LIE_FILE"), *text = getenv("LIE_TEXT_FILE");
	va_list ap;
	va_start(ap, flags);
	mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return real(lie && strcmp(path, lie) == 0 ? text : path, flags, mode);
}
int statvfs(const char *path, struct statvfs *ret)
{
	int (*real)(const char *, struct statvfs *) = (int (*)(const char *, struct statvfs *))dlsym(RTLD_NEXT, "statvfs");
	const char *lie = getenv("LIE_FULL");
	int r = real(path, ret);
	if (lie && strncmp(path, lie, strlen(lie)) == 0)
		ret->f_bavail = 1;
	return r;
}
unsigned clang_parseTranslationUnit2(void)
{
	return 1;
}
END
# AddressSanitizer wants to be first.
if ! ldd "$VPROF" | grep -q libasan && gcc -shared -fPIC ../lies.c -o ../lies.so -ldl; then
	lies() { env LD_PRELOAD="$work/lies.so" "$@"; }
	expect 4 lies "$VPROF" doctor --quick
	found ✗ libclang "does not parse a function of one line" "apt-get install --reinstall libclang1-14"
	sed '/^unsigned clang/,$d' ../lies.c >../lies2.c && gcc -shared -fPIC ../lies2.c -o ../lies.so -ldl
	expect 0 lies LIE_FULL=/dev/shm "$VPROF" doctor --quick
	found ! memory "less than 256 MiB free" "--shm-size"
	expect 4 lies LIE_FULL="$work" "$VPROF" doctor --quick
	found ✗ disk "0 MiB are free" "vprof -d DIR"
	if [ "$(uname -m)" = x86_64 ]; then
		printf 'flags : fpu tsc\n' >../cpuinfo
		expect 0 lies LIE_FILE=/proc/cpuinfo LIE_TEXT_FILE="$work/cpuinfo" "$VPROF" doctor --quick
		found ! clock "is not invariant" cpupower
		printf 'hpet\n' >../source
		place=/sys/devices/system/clocksource/clocksource0/current_clocksource
		expect 0 lies LIE_FILE=$place LIE_TEXT_FILE="$work/source" "$VPROF" doctor --quick
		found ! clock "the kernel uses 'hpet'" dmesg
	fi
else
	echo "no library can stand before this vprof: what it would show is left out"
fi

# A directory that may not be written; root may write everything, so the test becomes another user.
# The trial has a project of its own; what is said of the user's is of his.
mkdir -p elsewhere
printf '[interval "named"]\n\tstart = a\n\tend = b\n' >elsewhere/own.conf
VPROF_CONF=$PWD/elsewhere/own.conf VPROF_DIR=$PWD/elsewhere/data "$VPROF" doctor >"$work/.out" 2>"$work/.err"
healthy trial
says "elsewhere/own.conf': 1 interval"

# One that is ended leaves nothing behind.
mkdir "$work/slow" "$work/tmp"
printf '#!/bin/sh\ntouch "%s"\nsleep 1\nexec "%s" "$@"\n' "$work/started" "$(command -v gcc)" >"$work/slow/gcc"
chmod +x "$work/slow/gcc"
for signal in TERM HUP; do
	rm -f "$work/started"
	PATH=$work/slow:$PATH TMPDIR=$work/tmp "$VPROF" doctor >"$work/.out" 2>&1 &
	for i in $(seq 1000); do
		[ -e "$work/started" ] && break
		sleep 0.02
	done
	kill -$signal $!
	wait $!
	status=$?
	[ $status -gt 128 ] && [ -z "$(ls "$work/tmp")" ] && pass || fail "SIG$signal: ended with $status: $(ls "$work/tmp" "$work"; cat "$work/.out")"
done

mkdir closed && chmod 0555 closed && cd closed || exit 99
if [ "$(id -u)" != 0 ]; then
	as_nobody() { "$@"; }
else
	as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
	chmod 0755 "$work"
fi
if as_nobody test -x "$VPROF" 2>"$work/.err"; then
	expect 4 as_nobody "$VPROF" -d "$PWD/data" doctor --quick
	found ✗ data "cannot be made" "vprof -d DIR"
else
	echo "nobody else can run this vprof: permissions are left out"
fi
cd .. && chmod 0755 closed
finish
