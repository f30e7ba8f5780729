#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The text for clang compiles fast (doc/design/compile.md): one pair of asm statements per unit without optimization,
# and all probes at every level.  Counted in the object, without a clock.
. "${srcdir:-.}/tests/instrument/lib.sh"
command -v clang >/dev/null || { echo "no clang"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "another machine's probes"; exit 77; }

cat > three.c <<'EOC'
int twice(int n) { return n * 2; }
void nothing(int *p) { *p = 0; }
double half(double d, int *p) { nothing(p); return d / 2; }
EOC

# calls OBJECT NAME: how many calls and jumps of the object lead to NAME
calls()
{
	objdump -dr --no-show-raw-insn "$1" | grep -c "R_X86_64_[A-Z0-9]*[[:space:]]*$2[+-]\|\(call\|jmp\).*<$2>"
}

# want WHAT EXPECTED GOT
want()
{
	[ "$2" = "$3" ] && return
	echo "$1: expected $2, got $3"
	failed=$((failed + 1))
}

compile()	# compile LEVEL...: three.c with probes in all its functions
{
	rm -f three.o
	"$launch" -b build -p all -R "$runtime" -- clang "$@" -c three.c -o three.o || { echo "clang $*: no object"; failed=$((failed + 1)); }
}


compile -O0
want "-O0: calls of the unit's own pair" 3 "$(calls three.o vprof_in_called)"
want "-O0: ways to the runtime" 1 "$(calls three.o vprof_enter)"
for level in -O1 -O2 -Os -O3; do
	compile $level
	want "$level: ways in" 4 "$(calls three.o vprof_enter)"		# nothing() is inlined, too
	want "$level: ways out with a result" 2 "$(calls three.o vprof_leave)"
	want "$level: sites" 3 "$(nm three.o | grep -c ' vprof_function_')"
done
compile -O2 -flto

for newest in clang-19 clang-16 clang; do
	command -v $newest >/dev/null && break
done
rm -rf build
"$launch" -b build -p all -R "$runtime" -- $newest -O0 -masm=intel -c three.c -o three.o
want "$newest -masm=intel: probed" 3 "$("$launch" -b build -l | grep -c ' probed$')"

# Each form records the same.
cat > calls.c <<'EOC'
static volatile int sink;
static void leaf(int n) { for (int i = 0; i < n; i++) sink += i; }
static int middle(int n) { leaf(n); leaf(n); return n; }
int request(int n) { return middle(n) + middle(n + 1); }
int main(void) { for (int i = 0; i < 40; i++) request(i * 50); return 0; }
EOC
unset VPROF_DIR VPROF_CONF
for level in -O0 -O2 '-O2 -flto'; do
	rm -rf vprof.data vprof.conf
	{ "$runtime/vprof" annotate --start request --end request &&
	  "$runtime/vprof" build --functions all -- clang $level -fno-inline calls.c -o calls &&
	  "$runtime/vprof" record -- ./calls; } > log 2>&1 || { cat log; fail "clang $level"; continue; }
	"$runtime/vprof" export --format tuples > run.tuples 2>> log
	want "$level: calls recorded" "80 160" "$(awk '$1 == "invocation" { n[$4]++ } END { print n["middle"] + 0, n["leaf"] + 0 }' run.tuples)"
done
exit $failed
