#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Compilers' command lines, one a row: run plainly and through the launcher, each in a directory of its own,
# they must say the same, end the same and leave the same files; text files among them with the same
# contents, and the program, if one is made, with the same output.  The first word says
# whether the objects made carry probes.
. "${srcdir:-.}/tests/instrument/lib.sh"
rows=0 compiler=

sources() {
	mkdir -p "$1/inc" "$1/one" "$1/two dirs" "$1/out" && cd "$1" || exit 99
	cat > inc/twice.h <<'EOF'
#ifndef TWICE_H
#define TWICE_H
int twice(int x);
static inline int inlined(int x) { return x + 1; }
#endif
EOF
	cat > main.c <<'EOF'
#include <stdio.h>
#include "twice.h"
int main(void) { printf("%d\n", twice(inlined(20))); return 0; }
EOF
	printf '#include "twice.h"\nint twice(int x) { return 2 * x; }\n' > twice.c
	echo 'int same_one(int x); int same_one(int x) { return x; }' > one/same.c
	echo 'int same_two(int x); int same_two(int x) { return x; }' > "two dirs/same.c"
	printf 'int same_one(int), same_two(int);\nint main(void) { return same_one(1) - same_two(1); }\n' > same.c
	printf '#include "main.c"\n#include "twice.c"\n' > unity.c
	printf 'out/prog: main.o twice.o\n\t$(CC) -o $@ main.o twice.o\n%%.o: %%.c\n\t$(CC) -Iinc -MMD -c $< -o $@\n' > parallel.mk
	cat > module.cc <<'EOF'
export module twice;
export int twice(int x) { return 2 * x; }
EOF
	printf 'import twice;\nint main() { return twice(4) - 8; }\n' > imports.cc
	printf 'int main() { return 0; }\n' > one.cpp
	cp one.cpp one.cxx && cp one.cpp one.C && cp one.cpp one.c++
	cat > asm.S <<'EOF'
#include "number.h"
	.globl number
	.text
number:	mov $NUMBER, %eax
	ret
	.section .note.GNU-stack,"",@progbits
EOF
	echo '#define NUMBER 42' > inc/number.h
	printf 'int number(void);\nint main(void) { return number() - 42; }\n' > asm-main.c
	echo 'int f(int x) { return x }' > wrong.c
	echo 'template <class T> T id(T x) { return x; } int main() { return id(0); }' > plus.cc
	printf '#line 7 "gram mar.y"\nint parse(int x) { return x; }\n#line 3 "generated.c"\nint main(void) { return parse(0); }\n' > generated.c
	printf 'main.c -Iinc\n  twice.c\n"-o" "out/prog"\n' > args
	echo '-c @args2' > args1
	echo 'twice.c -Iinc -o out/nested.o' > args2
	cd ..
}

# row probed|plain COMMAND...: eval'ed; $CC is the compiler
# shellcheck disable=SC2034
row() {
	probes=$1
	shift
	rows=$((rows + 1))
	rm -rf plain probed build && mkdir build
	sources plain
	sources probed
	(cd plain && CC=$compiler && eval "$*") > plain.out 2> plain.err; want=$?
	(cd probed && CC="$launch -b $work/build -p all -t $source/annotations/pthread.sync -R $runtime -- $compiler" &&
		eval "$*") > probed.out 2> probed.err; got=$?
	row="$compiler: $*"
	[ $want = $got ] || { fail "$row: status $got, not $want"; cat probed.err; }
	cmp -s plain.out probed.out || fail "$row: says something else"
	cmp -s plain.err probed.err || { fail "$row: complains of something else"; diff plain.err probed.err; }
	(cd plain && find . -type f | sort) > plain.list
	(cd probed && find . -type f | sort) > probed.list
	cmp -s plain.list probed.list || { fail "$row: leaves other files"; diff plain.list probed.list; }
	(cd plain && find . -name '*.d') > texts
	while read -r f; do
		cmp -s "plain/$f" "probed/$f" || { fail "$row: $f differs"; diff "plain/$f" "probed/$f"; }
	done < texts
	for f in out/prog a.out; do
		[ -x probed/$f ] || continue
		plain/$f > plain.out; want=$?
		probed/$f > probed.out; got=$?
		{ [ $want = $got ] && cmp -s plain.out probed.out; } || fail "$row: the program does something else"
	done
	"$launch" -b build -l > list
	grep -q ' probed$' list && got=probed || got=plain
	[ $got = "$probes" ] || { fail "$row: the objects are $got"; "$launch" -b build -P; }
	[ -z "$(find build -name '*.[ios]' -o -name '*.ii')" ] || fail "$row: files are left in the build directory"
}

# Text with \$CC in it stands in single quotes: row evaluates it.
# shellcheck disable=SC2016
table() {
	row probed '$CC -Iinc -c main.c twice.c && $CC main.o twice.o -o out/prog'
	row probed '$CC -Iinc main.c twice.c'
	row probed '$CC -Iinc -O2 -pipe -o out/prog main.c twice.c -lm'
	row probed '$CC @args'
	row probed '$CC @args1'
	row probed '$CC -Iinc unity.c -oout/prog'
	row probed '$CC generated.c -g -o out/prog'
	row probed '$CC same.c one/same.c "two dirs/same.c" -o out/prog'
	row probed '$CC -c same.c -o "two dirs/s a m e.o" && $CC "two dirs/s a m e.o" one/same.c "two dirs/same.c" -o out/prog'
	row probed '$CC -Iinc asm-main.c asm.S -o out/prog'
	row probed '$CC -Iinc -c asm-main.c asm.S && $CC asm-main.o asm.o -o out/prog'
	row probed 'make -s -j4 -f parallel.mk CC="$CC"'
	row probed '$CC -Iinc -c -o out/one.o main.c && $CC -Iinc -c -oout/two.o twice.c && ar rcs out/lib.a out/two.o && $CC out/one.o -Lout -l:lib.a -o out/prog'
	row plain '$CC -Iinc main.c -x c - -o out/prog < twice.c'
	row probed 'sh -c "$CC -Iinc -g3 -O1 main.c twice.c -o out/prog"'
	row probed '$CC -Iinc -O2 -flto main.c twice.c -o out/prog'
	row probed '$CC -Iinc -D_FORTIFY_SOURCE=2 -O2 -fstack-protector-strong -fcf-protection main.c twice.c -o out/prog'
	row probed '$CC -Iinc -ffunction-sections -fdata-sections -Wl,--gc-sections main.c twice.c -o out/prog'
	row probed '$CC -Iinc -fvisibility=hidden -Wl,--as-needed -Wl,-z,relro,-z,now -pie -fPIE main.c twice.c -o out/prog'
	row probed '$CC -Iinc -fprofile-arcs -ftest-coverage -c twice.c -o out/t.o'
	row probed '$CC -Iinc -pg main.c twice.c -o out/prog && out/prog && rm -f gmon.out'
	row probed 'cp main.c "out/a b.c" && $CC -Iinc "out/a b.c" twice.c -o out/prog'
	row probed 'cp main.c -- -dash.c; $CC -Iinc ./-dash.c twice.c -o out/prog'
	row probed '$CC -Iinc -MD -MP -c main.c -o out/m.o'
	row probed '$CC -Iinc -MMD -MF out/m.dep.d -MQ "a target" -c main.c'
	row probed '$CC -Iinc -O2 -flto -c main.c twice.c && $CC -O2 -flto main.o twice.o -o out/prog'
	row probed '$CC -Iinc -x c main.c -x none twice.c -o out/prog'
	row probed 'cp main.c main.txt && $CC -Iinc -x c -c main.txt -o out/m.o'
	row probed '$CC -I inc -D X=1 -U Y -include inc/twice.h -isystem inc -c main.c -o out/m.o'
	row probed '$CC -Iinc -g -gsplit-dwarf -c main.c -o out/m.o'
	row probed '$CC -Iinc --coverage -c main.c -o out/m.o'
	row probed '$CC -Iinc -fstack-usage -c twice.c -o out/t.o'
	row probed '$CC -Iinc -fPIC -shared twice.c -o out/libtwice.so && $CC -Iinc main.c -Lout -ltwice -Wl,-rpath,"\$ORIGIN" -o out/prog'
	row probed '$CC -Iinc -static main.c twice.c -o out/prog'
	row probed '$CC --std=gnu11 --include-directory inc --define-macro=X --language=c --output out/prog main.c twice.c'
	row probed '$CC -Iinc --shared -fPIC twice.c --output=out/libtwice.so && $CC -Iinc --compile --write-user-dependencies main.c && $CC main.o -Lout -ltwice -Wl,-rpath,"\$ORIGIN" -o out/prog'
	row probed '$CC -Iinc -c twice.c parallel.mk -o out/t.o'
	row plain '$CC -Iinc -g -gsplit-dwarf main.c twice.c -o out/prog'
	row plain '$CC -Iinc --coverage main.c twice.c -o out/prog'
	row plain '$CC -Iinc --assemble twice.c -o out/t.d'
	row plain '$CC -Iinc -c main.c twice.c -o out/both.o'
	row plain '$CC -Iinc -c main.c -o'
	row probed '$CC -Iinc -fsanitize=undefined -c main.c -o out/m.o'
	row plain '$CC -Iinc -E main.c > out/m.d'
	row plain '$CC -Iinc -S -O1 twice.c -o out/t.d'
	row plain '$CC -Iinc -M main.c twice.c'
	row plain '$CC -Iinc -MM -MF out/m.d main.c'
	row plain '$CC -Iinc -fsyntax-only main.c'
	row plain '$CC -Iinc -x c -c - -o out/m.o < main.c'
	row plain 'echo "int main(void) { return 0; }" | $CC -x c -'
	row plain '$CC -Iinc -c asm.S -o out/asm.o'
	row plain '$CC -x assembler-with-cpp -Iinc -c asm.S -o out/asm.o'
	row plain '$CC --version'
	row plain '$CC -print-prog-name=ld'
	row plain '$CC -c wrong.c'
	row plain '$CC wrong.c main.c -o out/prog'
	row plain '$CC -c no-such-file.c'
	row plain '$CC -c'
	row plain '$CC'
	row plain '$CC -Iinc -c main.c -o /dev/null'
	row plain 'cp main.c conftest.c && $CC -Iinc -c conftest.c'
	row plain '$CC -Iinc -save-temps=obj -c twice.c -o out/t.o && rm out/t*.s'
	row plain '$CC -no-such-option -c main.c'
	# Precompiled headers: made as they are; a unit that uses one is read from the headers.
	row probed '$CC -Iinc -x c-header inc/twice.h -o inc/twice.h.gch && $CC -Iinc -c main.c -o out/m.o'
	row probed '$CC -Iinc inc/twice.h -o inc/twice.h.gch && $CC -Iinc -include inc/twice.h -c twice.c -o out/t.o'
}

# shellcheck disable=SC2016
gcc_table() {
	# A profile of the functions without probes.
	row probed 'gcc -Iinc -O2 -fprofile-generate -c main.c twice.c && gcc -fprofile-generate main.o twice.o && ./a.out && $CC -Iinc -O2 -Wall -Werror -fprofile-use -c main.c twice.c && $CC main.o twice.o && rm *.gcda'
	row probed 'gcc -Iinc -O2 -fprofile-generate -c main.c -o out/m.o && gcc -Iinc -c twice.c && gcc -fprofile-generate out/m.o twice.o && ./a.out && echo "int unused_here(int x) { int y; return x; }" >> main.c && $CC -Iinc -O2 -Wall -fprofile-use -c main.c -o out/m.o && rm out/*.gcda'
	row plain '$CC -Iinc -c twice.c -Wp,-MD,out/w.d -m32 -fsyntax-only'
	row plain '$CC -Iinc inc/twice.h -o inc/twice.h.gch && rm inc/twice.h && $CC -Iinc -include inc/twice.h -c twice.c -o out/t.o'
	row probed '$CC -Iinc -Winvalid-pch inc/twice.h -o inc/twice.h.gch && $CC -Iinc -Winvalid-pch -include inc/twice.h -c twice.c -o out/t.o'
	row probed '$CC -Iinc -O2 -flto -ffat-lto-objects -c twice.c main.c && $CC twice.o main.o -o out/prog'
}

# shellcheck disable=SC2016
clang_table() {
	row plain '$CC -Iinc -MJ out/m.json -c main.c -o out/m.o'
	row plain '$CC -Iinc inc/twice.h -o inc/twice.pch && $CC -Iinc -include-pch inc/twice.pch -c twice.c -o out/t.o'
	row probed '$CC -Iinc -x c-header inc/twice.h -o inc/twice.h.pch && $CC -Iinc -Xclang -include-pch -Xclang inc/twice.h.pch -Xclang -include -Xclang inc/twice.h -c twice.c -o out/t.o'
	row plain '$CC -Iinc --target=aarch64-linux-gnu -c asm.S -fsyntax-only'
	row plain '$CC -Iinc -emit-llvm -c twice.c -o out/t.bc'
	row probed '$CC -Iinc -flto=thin -c twice.c -o out/t.o'
	row probed '$CC -Iinc -fprofile-instr-generate -fcoverage-mapping main.c twice.c -o out/prog && LLVM_PROFILE_FILE=/dev/null out/prog'
	if command -v ld.lld > which; then
		row probed '$CC -Iinc -O2 -flto=thin -c main.c twice.c && $CC -O2 -flto=thin -fuse-ld=lld main.o twice.o -o out/prog'
		row probed '$CC -Iinc -O2 -flto -fuse-ld=lld main.c twice.c -o out/prog'
	fi
}

# shellcheck disable=SC2016
cxx_table() {
	row probed '$CC -std=c++17 -c plus.cc && $CC plus.o -o out/prog'
	row probed '$CC plus.cc'
	row probed 'cp plus.cc plus.c && $CC -c plus.c'
	row probed '$CC -x c++ -MMD -c plus.cc -o out/p.o'
	row probed '$CC one.cpp && $CC one.cxx && $CC one.C && $CC one.c++'
}

# C++20 modules: g++ keeps them in a directory of the user's, clang in files; what is no plain unit is passed through.
# shellcheck disable=SC2016
modules_table() {
	row probed '$CC -std=c++20 -fmodules-ts -c module.cc -o out/module.o && $CC -std=c++20 -fmodules-ts imports.cc out/module.o -o out/prog'
}
# shellcheck disable=SC2016
clang_modules_table() {
	row plain '$CC -std=c++20 --precompile -x c++-module module.cc -o out/twice.pcm && $CC -std=c++20 -fmodule-file=twice=out/twice.pcm -fsyntax-only imports.cc || rm -f out/twice.pcm'
}

compiler=gcc table
compiler=gcc gcc_table
compiler=g++ cxx_table
compiler=g++ modules_table
if command -v clang > which; then
	compiler=clang table
	compiler=clang clang_table
	compiler=clang++ cxx_table
	compiler=clang++ clang_modules_table
else
	echo "no clang: its cases are left out"
fi
if command -v ld.gold > which; then
	# shellcheck disable=SC2016
	compiler=gcc row probed '$CC -Iinc -fuse-ld=gold main.c twice.c -o out/prog'
fi
# Another C library.
if command -v musl-gcc > which; then
	# shellcheck disable=SC2016
	compiler=musl-gcc row plain '$CC -Iinc main.c twice.c -o out/prog'
fi
# A ccache in front of the compiler, behind us.
if command -v ccache > which; then
	CCACHE_DIR=$work/ccache
	export CCACHE_DIR
	for _ in 1 2; do
		# shellcheck disable=SC2016
		compiler="ccache gcc" row probed '$CC -Iinc -c main.c -o out/m.o && $CC -Iinc -c twice.c && $CC out/m.o twice.o -o out/prog'
	done
fi
# A compiler for another machine: never touched, also when it links.
if command -v aarch64-linux-gnu-gcc > which; then
	# shellcheck disable=SC2016
	compiler=aarch64-linux-gnu-gcc row plain '$CC -Iinc -c main.c twice.c && $CC -r main.o twice.o -o out/both.o'
fi

echo "$rows commands, $failed failures"
[ $failed = 0 ]
