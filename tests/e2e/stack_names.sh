#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# record --stacks: C++ functions, also inlined ones, have readable names, with their scope and without parameters; and for a stripped
# program the output names the remedy.
. "${srcdir:-.}/tests/e2e/lib.sh"

needs_kernel_recorder
cat >store.cc <<'END'
#include <time.h>

#define APART __attribute__((noinline, noclone))
#define WITHIN inline __attribute__((always_inline))

static volatile unsigned sink;

namespace store {

struct pair { int first, second; };

template <typename K, typename V> struct table {
	WITHIN void look(K key)
	{
		for (unsigned i = 0; i < 3000000; i++)
			sink += i * (unsigned)key;
	}
	APART void get(K key)
	{
		struct timespec t = { 0, 2000000 };

		nanosleep(&t, nullptr);
		look(key);
		sink++;
	}
};

namespace { APART void serve(int key, table<int, pair> *t) { t->get(key); sink++; } }

struct less { APART bool operator()(int a, int b) const { struct timespec t = { 0, 1000000 }; nanosleep(&t, nullptr); return a < b; } };

}

int main()
{
	store::table<int, store::pair> t;

	for (int i = 0; i < 40; i++) {
		serve(i, &t);
		sink += store::less()(i, 2);
	}
}
END
sed -i 's/\tserve(i/\tstore::serve(i/' store.cc
g++ -Wall -Wextra -Werror -O2 -g store.cc -o store || exit 99
expect 3 "$VPROF" record --kernel=require --stacks -- ./store
says "what the kernel saw of it is recorded" "vprof show wait-graph"
grep -q "no symbols" "$work/.err" && fail "symbols are said to be missing: $(cat "$work/.err")" || pass
expect 0 "$VPROF" show samples --format folded
cp "$work/.out" folded
for line in 'main;store::(anonymous namespace)::serve;store::table<int, store::pair>::get;.*nanosleep.*;\[other\]' \
	'store::table<int, store::pair>::get;store::table<int, store::pair>::look' 'main;store::less::operator();.*;\[other\]'; do
	grep -q "$line [0-9]*\$" folded && pass || { fail "no sample in $line"; cat folded; }
done
grep -q "_Z" folded && { fail "a name is not readable"; cat folded; } || pass
expect 0 "$VPROF" show samples --format csv
grep -q '"store::table<int, store::pair>::look",store.cc,' "$work/.out" && pass || { fail "look has no line"; cat "$work/.out"; }
# An export reads back unchanged.
expect 0 "$VPROF" export --format tuples
cp "$work/.out" tuples
expect 3 "$VPROF" import --from tuples tuples
expect 0 "$VPROF" show samples --format folded
cmp -s "$work/.out" folded && pass || fail "an import of the export has other samples"

strip -o bare store
expect 3 "$VPROF" record --kernel=require --stacks -- sh -c ./bare
says "% of the stacks pass through 'bare', which has no symbols there: install its debugging symbols, or set DEBUGINFOD_URLS"
finish
