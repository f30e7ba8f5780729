#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A unit whose instrumented text does not compile loses the functions that the compiler rejects, and no others; errors
# in the user's own text are reported as without vprof.
. "${srcdir:-.}/tests/instrument/lib.sh"
[ "$compilers" = gcc ] && cxx=g++ || cxx="g++ clang++"

# Counts the calls of the compiler, as a wrapper that the launcher knows by its name.
cat > "$work/ccache" <<'E2'
#!/bin/sh
echo . >> "$CALLS"
exec "$@"
E2
chmod +x "$work/ccache"
export CALLS="$work/calls"

compile() {		# WORDS: through the launcher, all probed
	: > "$CALLS"
	"$launch" -b "$work/build" -p all -t "$source/annotations/pthread.sync" -R "$runtime" -- "$@" 2> "$work/err"
}

is() {			# FUNCTION STATE: as the list has it
	"$launch" -b "$work/build" -l > "$work/list"
	grep -q "^$1 [0-9]* $2" "$work/list" || { fail "$compiler: $1 is not '$2'"; cat "$work/list"; }
}

lost() {		# HOW MANY
	"$launch" -b "$work/build" -l | grep -c 'did not compile' > "$work/lost"
	[ "$(cat "$work/lost")" = "$1" ] || { fail "$compiler: $(cat "$work/lost") functions are lost, not $1"; "$launch" -b "$work/build" -l; }
	"$launch" -b "$work/build" -P | grep . && fail "$compiler: untouched"
}

cat > shop.cc <<'E2'
#include <cstdio>
struct basket {
	int n;
	int add(int i)
	{
		int vprof_span_ = i;
		return n += vprof_span_;
	}
	int left() { return n; }
};
static int before(int n) { return n + 1; }
static int
odd(int vprof_span_)
{
	return vprof_span_;
}
static int with_class(int n)
{
	struct inner {
		int f(int i)
		{
			int vprof_span_ = i; return vprof_span_; }
	} in;
	return in.f(n);
}
static int last(int n) { return n + 2; }
int main() { basket b = { 1 }; b.add(2); std::printf("%d %d %d %d %d\n", b.n, b.left(), before(1) + odd(2), with_class(3), last(4)); }
E2
for compiler in $cxx; do
	rm -rf build
	compile "$work/ccache" "$compiler" shop.cc -o shop || fail "$compiler: does not compile"
	[ "$(./shop)" = "3 3 4 3 6" ] || fail "$compiler: $(./shop)"
	lost 3
	for function in basket::add odd with_class::inner::f; do
		is $function "the instrumented text did not compile: error: .*vprof_span_"
	done
	for function in basket::left before with_class last main; do is $function probed; done

	# The next compile knows them: preprocess, compile.
	calls=$(grep -c . "$CALLS")
	compile "$work/ccache" "$compiler" shop.cc -o shop
	[ "$(grep -c . "$CALLS")" -lt "$calls" ] && [ "$(grep -c . "$CALLS")" -le 3 ] ||
		fail "$compiler: $(grep -c . "$CALLS") calls of the compiler, $calls the first time"
	lost 3

	# The first error ends the compile: one after the other.
	rm -rf build
	compile "$compiler" -Wfatal-errors shop.cc -o shop || fail "$compiler: does not compile with -Wfatal-errors"
	lost 3

	# A constant needs its function as it is: named in a note, far from the error.
	cat > price.cc <<'E2'
constexpr int tag(int n) { return n * 2; }
constexpr int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += tag(i); return s; }
static int plain(int n) { return n; }
static_assert(sum(20000) >= 0, "");
int main() { return plain(0); }
E2
	rm -rf build
	case $compiler in g++) limit=-fconstexpr-ops-limit=650000;; *) limit=-fconstexpr-steps=130000;; esac
	compile "$compiler" -std=c++17 $limit -c price.cc || { fail "$compiler: constants"; cat "$work/err"; }
	"$launch" -b build -P | grep . && fail "$compiler: untouched for a constant"
	is plain probed
	is main probed

	# The user's own errors: the same words and status, and two compiles at most.
	cat > wrong.cc <<'E2'
static int good(int n) { return n; }
int wrong(int n) { return good(n) + nothing; }
E2
	rm -rf build wrong.o
	"$compiler" -c wrong.cc 2> plain.err; plain=$?
	compile "$work/ccache" "$compiler" -c wrong.cc; status=$?
	[ $status = $plain ] && diff plain.err "$work/err" || fail "$compiler: own errors are told otherwise"
	[ ! -e wrong.o ] || fail "$compiler: an object of a wrong text"
	[ "$(grep -c . "$CALLS")" -le 3 ] || fail "$compiler: $(grep -c . "$CALLS") compiles of a wrong text"

	# An error outside all functions concerns the whole unit: it is compiled untouched, with the reason; warnings appear once.
	cat > apart.cc <<'E2'
static int unused_here(int n) { return n; }
int f(int n) { return n; }
int vprof_unit_in;
E2
	rm -rf build
	"$compiler" -Wall -c apart.cc 2> plain.err
	compile "$compiler" -Wall -c apart.cc || fail "$compiler: apart"
	diff plain.err "$work/err" || fail "$compiler: warnings of an untouched unit"
	"$launch" -b build -P | grep -q 'untouched.*did not compile: error: .*vprof_unit_in' || fail "$compiler: not told why"
done

# A place of vprof.conf that does not compile is the place's trouble, not the unit's.
cat > serve.c <<'E2'
int work(int n) { return n; }
int serve(int n) { return work(n); }
E2
rm -rf build
"$launch" -b build -p all -n request -s serve -e serve -k 'arg0->none' -- gcc -c serve.c 2> "$work/err" || fail "serve.c"
"$launch" -b build -P > "$work/places"
grep -q 'request start serve: the instrumented text did not compile' "$work/places" || { fail "places"; cat "$work/places"; }
grep -q untouched "$work/places" && fail "a key leaves its unit untouched"
compiler=gcc
is work probed
[ "$failed" = 0 ]
