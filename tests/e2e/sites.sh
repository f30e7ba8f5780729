#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Functions of headers that the compiler leaves out of an object leave nothing of vprof there.  The others are recorded however the
# program is linked, also together with units without any function.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >many.h <<'END'
#ifdef __cplusplus
#define SMALL(n) inline int small_##n(int x) { return x * n; }
#else
#define SMALL(n) static inline int small_##n(int x) { return x * n; }
#endif
#define TEN(n) SMALL(n##0) SMALL(n##1) SMALL(n##2) SMALL(n##3) SMALL(n##4) SMALL(n##5) SMALL(n##6) SMALL(n##7) SMALL(n##8) SMALL(n##9)
TEN(1) TEN(2) TEN(3) TEN(4) TEN(5)
END
cat >server.c <<'END'
#include "many.h"
extern int other(int x);
int handle(int id)
{
	return other(id) + small_11(id);
}
int main(void)
{
	int sum = 0;
	for (int id = 0; id < 50; id++)
		sum += handle(id);
	return sum == 1225 * (11 + 12) ? 7 : 1;
}
END
cat >other.c <<'END'
#include "many.h"
extern int other(int x);
int other(int x) { return small_12(x); }
END
printf '#include "many.h"\nint nothing_here;\n' >none.c
for unit in server other none; do
	cp $unit.c $unit.cc
done
expect 0 "$VPROF" annotate --start handle --end handle

sites()			# OBJECT: how many it has
{
	size -A "$1" | awk '$1 ~ /^vprof_sites_/ { bytes += $2 } END { print bytes / 32 }'
}
recorded()		# HOW: every call in every unit
{
	expect 7 "$VPROF" record -- ./server
	"$VPROF" export --format tuples | awk '$1 == "invocation" { cnt[$4]++ } END { for (n in cnt) print n, cnt[n] }' |
		sed "s/@[^ ]*//; s/^plug.c://" | sort | tr '\n' ' ' >calls
	[ "$(cat calls)" = "$calls" ] && pass || fail "$1: $(cat calls)"
}

calls="handle 50 main 1 other 50 small_11 50 small_12 50 "
for compiler in "gcc c" "g++ cc" "clang c" "clang++ cc"; do
	with=${compiler% *} kind=${compiler#* }
	command -v "$with" >/dev/null || continue
	for level in -O1 "-O2 -flto"; do
		rm -rf vprof.data ./*.o server
		expect 0 "$VPROF" build --functions all -- sh -c \
			"for u in server other none; do $with $level -c \$u.$kind; done; $with $level -o server server.o other.o none.o"
		case $level in
		*flto) ;;
		*) [ "$(sites server.o) $(sites other.o) $(sites none.o)" = "3 2 0" ] && pass ||
			fail "$with $level: $(sites server.o), $(sites other.o), $(sites none.o) sites" ;;
		esac
		recorded "$with $level"
	done
done

# However it is linked.
rm -rf vprof.data
echo 'int main(void) { return 0; }' >empty.c
for link in -no-pie -static -static-pie -fuse-ld=gold -fuse-ld=lld "-Wl,--gc-sections -ffunction-sections -fdata-sections" -s; do
	rm -f ./*.o server
	# shellcheck disable=SC2086
	gcc $link -o empty empty.c 2>"$work/err" || { echo "no $link here"; continue; }
	expect 0 "$VPROF" build --functions all -- \
		sh -c "for u in server other none; do gcc -O2 $link -c \$u.c; done; gcc $link -o server server.o other.o none.o"
	recorded "$link"
done

# Objects that were put together first, and a library whose functions come and go.
rm -f ./*.o server
expect 0 "$VPROF" build --functions all -- \
	sh -c 'for u in server other none; do gcc -O2 -c $u.c; done; ld -r -o all.o server.o other.o none.o && gcc -o server all.o'
recorded "ld -r"
cat >plug.c <<'END'
#include <dlfcn.h>
int handle(int id)
{
	void *plugin = dlopen("./plugin.so", RTLD_NOW);
	int (*other)(int) = plugin ? (int (*)(int))dlsym(plugin, "other") : 0, got = other ? other(id) : -1;
	if (plugin)
		dlclose(plugin);
	return got;
}
int main(void)
{
	int sum = 0;
	for (int id = 0; id < 50; id++)
		sum += handle(id);
	return sum == 1225 * 12 ? 7 : 1;
}
END
rm -f ./*.o server
expect 0 "$VPROF" build --functions all -- sh -c 'gcc -O2 -shared -fPIC -o plugin.so other.c none.c && gcc -o server plug.c -ldl'
calls="handle 50 main 1 other 50 small_12 50 "
recorded plugin
finish
