# SPDX-License-Identifier: GPL-3.0-or-later
# lib.sh - what the end-to-end tests share.  Sourced; expects $srcdir and to run in the build
# directory (as `make check` does).  Each test works in a directory of its own, removed at the end.
set -u
top=$(cd "${srcdir:-.}" && pwd)
VPROF=$PWD/vprof
name=$(basename "$0" .sh)
work=$(mktemp -d "${TMPDIR:-/tmp}/vprof-$name.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
unset VPROF_DIR VPROF_CONF CC CXX CFLAGS MAKEFLAGS MAKELEVEL MFLAGS
export NO_COLOR=1 LC_ALL=C.UTF-8 VPROF
cd "$work" || exit 99
above=$work
while [ "$above" != / ]; do
	above=$(dirname "$above")
	for other in "$above/vprof.data" "$above/vprof.conf"; do
		[ ! -e "$other" ] || { echo "vprof finds $other from here, and would use it: move it away, or set TMPDIR"; exit 99; }
	done
done
passed=0
failed=0

fail()
{
	echo "FAIL: $*"
	failed=$((failed + 1))
}

pass()
{
	passed=$((passed + 1))
}

# expect STATUS COMMAND...: runs it; its output is in $work/.out and $work/.err
expect()
{
	want=$1
	shift
	"$@" >"$work/.out" 2>"$work/.err" </dev/null
	got=$?
	if [ "$got" = "$want" ]; then
		pass
	else
		fail "'$*' ended with $got, not $want"
		sed 's/^/  out: /' "$work/.out" | head -20
		sed 's/^/  err: /' "$work/.err" | head -20
	fi
}

# is_next "▶ NAME": more threads want to run than there are CPUs, the answer is about that, and names NAME next
is_next()
{
	case $1 in
	"▶ "*)
		next=${1#* }
		machine_is_busy && grep -hF -e "▶ waiting for a CPU " "$work/.out" "$work/.err" | grep -qE -e " Next: (.*, )?${next%% ›*} \("
		;;
	*)
		false
		;;
	esac
}

# says PATTERN...: each (a fixed string) stands in the last command's output
says()
{
	for text; do
		if grep -qF -e "$text" "$work/.out" "$work/.err" || is_next "$text"; then
			pass
		else
			fail "nobody said '$text'"
			sed 's/^/  out: /' "$work/.out" | head -20
			sed 's/^/  err: /' "$work/.err" | head -20
		fi
	done
}

# If the kernel recorder is not permitted, the test is skipped; a program that the kernel's verifier refuses is a failure.
needs_kernel_recorder()
{
	"$VPROF" record --kernel=require -- true >"$work/.out" 2>"$work/.err"
	[ $? = 4 ] || return 0
	cat "$work/.err"
	grep -q "verifier refused" "$work/.err" && { fail "this kernel takes it, or we have to change it"; finish; }
	exit 77
}

# causes.py for the tests in Python
export PYTHONPATH="$top/tests/e2e" PYTHONDONTWRITEBYTECODE=1

# machine_is_busy: threads wait for its CPUs, be it other tests'
machine_is_busy()
{
	awk -v cpus="$(nproc)" '{ exit !($1 > cpus) }' /proc/loadavg
}

# culprit NAME [WORD]: the answer that the last command printed is that NAME causes (or WORD) the variance.  If others had the
# CPUs the sentence may be about them, or on a busy machine about where NAME was off the CPU; then it is the first of the latest run's functions.
culprit()
{
	if grep -q "waiting for a CPU .* of the variance\|your threads waited for a CPU for" "$work/.out" "$work/.err" ||
		{ machine_is_busy && grep -q "Not known what .*off the CPU, unknown why" "$work/.out" "$work/.err"; }; then
		"$VPROF" show factors --k 0 --format csv | grep '^[0-9]*,function,' | head -n 1 >"$work/.first"
		grep -qF "$1" "$work/.first" && pass || fail "the first function is not '$1': $(cat "$work/.first")"
	else
		grep -qE "$1( \([^)]*\))? ${2:-causes}" "$work/.out" "$work/.err" && pass ||
			fail "the answer is not that '$1' ${2:-causes}: $(cat "$work/.out" "$work/.err")"
	fi
}

# wait_until COMMAND...: until it succeeds, 30 seconds at most
wait_until()
{
	for _ in $(seq 300); do
		"$@" && return
		sleep 0.1
	done
}

# has_terminals: script(1) can run a command on a terminal of its own
has_terminals()
{
	script -qec true /dev/null </dev/null >/dev/null 2>&1
}

# told FUNCTIONS STATE: the part of the functions' time that is in segments of that state, in us; from tuples
told()
{
	awk -v names="$1" -v state="$2" '
		$1 == "segment" { n++; tid[n] = $2; from[n] = $4; to[n] = $5; of[n] = $6 }
		$1 == "invocation" && $4 ~ "^(" names ")(@|$)" { m++; in_tid[m] = $2; in_from[m] = $5; in_to[m] = $6 }
		END {
			for (k = 1; k <= m; k++)
				for (i = 1; i <= n; i++) {
					if (tid[i] != in_tid[k] || of[i] != state || to[i] <= in_from[k] || from[i] >= in_to[k])
						continue
					sum += (to[i] < in_to[k] ? to[i] : in_to[k]) - (from[i] > in_from[k] ? from[i] : in_from[k])
				}
			printf "%d\n", m ? sum / 1000 : -1
		}' "$work/tuples"
}

# views: the names of all
views()
{
	"$VPROF" show 2>&1 | sed -n 's/^  → //p' | tr -d ,
}

finish()
{
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ]
	exit
}
