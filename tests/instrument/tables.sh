#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A name in a table means that function and no other: not a method, not a function of a namespace, not a C++ function
# that C calls by that name, not one with other parameters.  A function that the project lists itself is found
# wherever it is.
. "${srcdir:-.}/tests/instrument/lib.sh"

cat > c.sync <<'E2'
acquire = s_lock(arg0, takes=ppip)
acquire = take(arg0, class=cond)
builtin poll other
language c++
acquire = wait_low(arg0, takes=pi)
acquire = gate::pass(arg0, takes=p*)
acquire = Latch::enter(this, takes=-)
release = Latch::leave(this, takes=-)
E2
# Is an event in place?
has() {			# yes|no WHAT FILE TEXT [OPTION...]
	want=$1 what=$2 file=$3
	printf '%s\n' "$4" > "$file"
	shift 4
	rm -rf build
	for cc in $compilers; do
		case $file-$cc in *.cc-gcc) cc=g++;; *.cc-clang) cc=clang++;; esac
		"$launch" -b build "$@" -t c.sync -- "$cc" -c "$file" -o unit.o 2> err || { fail "$what, $cc: does not compile"; cat err; }
		got=no
		"$launch" -b build -P | grep -q '^- .*: in place$' && got=yes
		[ $got = "$want" ] || fail "$what, $cc: event: $got, not $want"
	done
}
has yes "the function" a.c "int s_lock(volatile int *l, const char *f, int n, const char *w) { return *l + n; }"
has yes "an array is a pointer" a.c "int s_lock(int l[], const char *f, unsigned char n, const char *w) { return *l + n; }"
has yes "static" a.c "enum e { A }; static int s_lock(int *l, const char *f, enum e n, char *w) { return *l + n; } int g(int *l) { return s_lock(l, 0, A, 0); }"
has no "fewer" a.c "int s_lock(int *l, const char *f) { return *l; }"
has no "more" a.c "int s_lock(int *l, const char *f, int n, const char *w, int m) { return *l; }"
has no "an integer" a.c "int s_lock(long l, const char *f, int n, const char *w) { return l; }"
has no "a pointer" a.c "int s_lock(int *l, const char *f, int *n, const char *w) { return *n; }"
has no "a structure" a.c "struct s { int i; }; int s_lock(struct s l, const char *f, int n, const char *w) { return l.i; }"
has no "a fraction" a.c "int s_lock(int *l, const char *f, double n, const char *w) { return n; }"
has yes "nothing is said of its parameters" a.c "int take(long l) { return l; }"
has no "a function of C++" a.c "int wait_low(int *l, int n) { return *l + n; }"

has yes 'extern "C"' a.cc 'extern "C" int s_lock(int *l, const char *f, int n, const char *w) { return *l + n; }'
has yes 'a block of extern "C"' a.cc 'extern "C" { int s_lock(int *l, const char *f, int n, const char *w) { return *l + n; } }'
has yes 'declared extern "C" before' a.cc 'extern "C" int s_lock(int *, const char *, int, const char *); int s_lock(int *l, const char *f, int n, const char *w) { return *l + n; }'
has no "C++'s" a.cc 'int s_lock(int *l, const char *f, int n, const char *w) { return *l + n; }'
has no "a method" a.cc 'struct L { int w; int s_lock(const char *f, unsigned n); }; int L::s_lock(const char *f, unsigned n) { return w + *f + n; }'
has no "a method with these parameters" a.cc 'struct L { int w; int s_lock(int *, char *, int, char *); }; int L::s_lock(int *, char *, int, char *) { return w; }'
has no "a static member" a.cc 'struct L { static int s_lock(int *, char *, int, char *); }; int L::s_lock(int *l, char *, int, char *) { return *l; }'
has no "of a namespace" a.cc 'namespace n { int s_lock(int *l, char *, int, char *) { return *l; } int take(int *l) { return *l; } }'
has no "of no named namespace" a.cc 'namespace { int take(int *l) { return *l; } } int g(int *l) { return take(l); }'
has no "a template" a.cc 'template <class T> int take(T *l) { return *l; } int g(int *l) { return take(l); }'
has no "a method of a template" a.cc 'template <class T> struct L { T w; T take(T *l) { return *l + w; } }; int g(int *l) { L<int> x{1}; return x.take(l); }'
has yes "C++'s function" a.cc 'int wait_low(int *l, long n) { return *l + n; }'
has no "another overload" a.cc 'int wait_low(int *l, int *n) { return *l + *n; } int wait_low(int n) { return n; }'
has yes "one of two overloads" a.cc 'int wait_low(int *l, int *n) { return *l + *n; } int wait_low(int *l, bool n) { return *l + n; }'
has no "of another namespace" a.cc 'namespace m { namespace gate { int pass(int *l) { return *l; } } }'
has yes "of its namespace" a.cc 'namespace gate { int pass(int *l, int) { return *l; } }'
has yes "its method" a.cc 'class Latch { int w; public: void enter(); void leave(int); }; void Latch::enter() { w++; }'
has no "another of its methods" a.cc 'class Latch { int w; public: void leave(int); }; void Latch::leave(int n) { w += n; }'
has yes "a template's method" a.cc 'template <bool b> class Latch { int w; public: void enter(); }; template <bool b> void Latch<b>::enter() { w++; } template class Latch<true>;'
has yes "a specialisation's" a.cc 'template <bool b> class Latch { int w; public: void enter(); }; template <> void Latch<true>::enter() { w++; }'

# The project's own line is found in every scope, and its parameters are checked if it says them.
has yes "own, a method" a.cc 'struct L { int w; int hold(int *); }; int L::hold(int *l) { return *l; }' -y 'acquire=hold(arg0)'
has no "own, other parameters" a.cc 'struct L { int w; int hold(int); }; int L::hold(int l) { return l; }' -y 'acquire=hold(arg0, takes=p)'

# A method called poll is none of the C library's: the unit's calls of that are seen as ever.
cat > a.cc <<'E2'
#include <poll.h>
struct queue { int n; int poll(int); };
int queue::poll(int ms) { return ::poll(nullptr, 0, ms) + n; }
E2
rm -rf build
"$launch" -b build -t "$source/annotations/system.sync" -- g++ -c a.cc -o unit.o || fail "a method called poll"
nm unit.o | grep -q vprof_w_poll || fail "the call of poll() beside a method of that name is not seen"

# The preset's, as MariaDB 10.11 declares them.
cat > a.cc <<'E2'
typedef unsigned long value_type;
struct trx_t { int i; }; struct que_thr_t { trx_t *trx; }; struct timespec; struct completion_callback;
trx_t *thr_get_trx(que_thr_t *t) { return t->trx; }
template <bool spinloop> class srw_mutex_impl { int lock; public: void wait_and_lock() noexcept; void wake() noexcept; };
template <bool spinloop> void srw_mutex_impl<spinloop>::wait_and_lock() noexcept { lock++; }
template <bool spinloop> void srw_mutex_impl<spinloop>::wake() noexcept { lock--; }
template class srw_mutex_impl<true>; template class srw_mutex_impl<false>;
template <bool spinloop> class ssux_lock_impl { int n; public: void rd_wait() noexcept; void wr_wait(unsigned) noexcept; void wake() noexcept; };
template <bool spinloop> void ssux_lock_impl<spinloop>::rd_wait() noexcept { n++; }
template <bool spinloop> void ssux_lock_impl<spinloop>::wr_wait(unsigned lk) noexcept { n += lk; }
template <bool spinloop> void ssux_lock_impl<spinloop>::wake() noexcept { n--; }
template void ssux_lock_impl<true>::rd_wait() noexcept;
class group_commit_lock { value_type v; public: enum lock_return_code { ACQUIRED, EXPIRED };
	lock_return_code acquire(value_type, const completion_callback *); value_type release(value_type); };
group_commit_lock::lock_return_code group_commit_lock::acquire(value_type n, const completion_callback *) { v = n; return ACQUIRED; }
value_type group_commit_lock::release(value_type n) { return v = n; }
int lock_wait(que_thr_t *thr) { return thr_get_trx(thr)->i; }
template <bool from_deadlock = false> void lock_wait_end(trx_t *trx) { trx->i++; }
void grant(trx_t *trx) { lock_wait_end(trx); }
class MDL_wait { int s; public: enum st { EMPTY, GRANTED }; bool set_status(st); st timed_wait(void *, timespec *, bool, const int *); };
bool MDL_wait::set_status(st n) { return (s = n); }
MDL_wait::st MDL_wait::timed_wait(void *, timespec *, bool b, const int *) { return b ? GRANTED : EMPTY; }
E2
set --
while IFS= read -r line; do
	set -- "$@" -y "$line"
done <<E2
$(sed -n 's/^\t\(acquire\|release\) *= */\1=/p' "$source/examples/mariadb/vprof.conf")
E2
rm -rf build
"$launch" -b build "$@" -- g++ -std=gnu++17 -c a.cc -o unit.o || fail "the preset's primitives"
"$launch" -b build -P > places
grep -v ': in place$' places && fail "the preset's primitives are not all in place"
[ "$(sort -u places | wc -l)" = 11 ] || { fail "the preset's primitives"; cat places; }

# And what ships is written so.
for table in "$source"/annotations/*.sync; do
	"$launch" -b build -t "$table" -- gcc -c -x c /dev/null -o unit.o || fail "$table"
done
[ "$failed" = 0 ]
