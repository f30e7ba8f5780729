#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Events of intervals and of the project's own primitives: each program is compiled with all
# functions probed and linked with a runtime that prints events (spans open, kind, label, a, b; see events_runtime.c).
. "${srcdir:-.}/tests/instrument/lib.sh"
: "${CC:=gcc}" "${CXX:=g++}"

case $(uname -m) in x86_64) ;; *) exit 77;; esac
gcc -I"$source" -c "$source/tests/instrument/events_runtime.c" -o runtime.o || exit 99

# Cases for a compiler that is not here are left out, and it is said.
has() {
	command -v "$1" >/dev/null && return
	[ -n "${missing:-}" ] || echo "no $1: its cases are left out"
	missing=1
	return 1
}

# check NAME COMPILER FILE OPTION...: output and places against NAME.want
check() {
	name=$1 compiler=$2 file=$3
	shift 3
	has "${compiler%% *}" || return 0
	rm -rf build
	"$launch" -b "$PWD/build" -p all -I "$source/annotations" "$@" -- $compiler -Wall -Werror -Isrc \
		-isystem lib "$file" runtime.o $more -o program 2> err || { cat err; failed=$((failed + 1)); return; }
	{ ./program; "$launch" -b "$PWD/build" -P; } > got
	if ! diff -u want got; then
		echo "FAIL: $name ($compiler)"
		failed=$((failed + 1))
	fi
}
more=

# --- a key taken at entry also for a return; the span lies inside the interval ---------------
cat > a.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
struct req { int id; };
void enqueue_request(struct req *r) { r->id += 100; }
int handle(struct req *r) { return r->id; }
int send_reply(struct req *r) { int id = r->id; free(r); return id; }
int main(void)
{
	struct req *r = malloc(sizeof(*r));
	r->id = 7;
	enqueue_request(r);
	r->id = 7;
	handle(r);
	printf("reply %d\n", send_reply(r));
	return 0;
}
EOF
cat > want <<'EOF'
1 BEGIN request 7 0
1 LEAVE request 7 0
1 RESUME request 7 0
1 LEAVE request 7 0
1 FINISH request 7 0
1 END request 7 0
reply 7
request start enqueue_request@entry: in place
request resume a.c:handle: in place
request end send_reply: in place
EOF
for cc in gcc clang; do
	check "entry and return" $cc a.c -n request -s enqueue_request@entry -r a.c:handle \
		-e send_reply -k 'arg0->id'
done

# --- a place's own key and condition; where that does not hold the key is not computed ---------
cat > g.c <<'EOF'
#include <stdio.h>
struct req { int id; };
struct conn { struct req *r; };
static void push(struct conn *c, int n) { puts(c ? "push" : "no push"); c = 0; n = 0; }
static int work(int id) { return id > 7 ? 1 : 0; }
static int done(struct req *r) { int id = r->id; r->id = 0; return id; }
int main(void)
{
	struct req r = { 7 };
	struct conn c = { &r };

	push(0, 1);
	push(&c, 0);
	push(&c, 1);
	work(7);
	work(8);
	done(&r);
	done(&r);
	return 0;
}
EOF
cat > want <<'EOF'
no push
push
1 BEGIN t 7 0
push
1 LEAVE t 7 0
1 RESUME t 7 0
1 LEAVE t 7 0
1 RESUME t 8 0
1 LEAVE t 8 0
1 END t 7 0
t start push key=arg0->r->id if arg0 && arg1: in place
t resume work key=arg0: in place
t end done@return if ret != 0: in place
EOF
cp g.c g.cc
for cc in gcc clang g++; do
	case $cc in *++) file=g.cc;; *) file=g.c;; esac
	check "key and condition" "$cc" $file -n t -s 'push key=arg0->r->id if arg0 && arg1' \
		-r 'work key=arg0' -e 'done@return if ret != 0' -k 7
done
cat > want <<'EOF'
no push
push
push
1 RESUME t 8 0
1 LEAVE t 8 0
2 BEGIN t 7 0
1 END t 0 0
t start g.c:6 if r->id == 7: in place
t resume work key=arg0 if arg0 > 7: in place
t end done key=ret if ret == 0: in place
EOF
check "conditions" gcc g.c -n t -s 'g.c:6 if r->id == 7' -r 'work key=arg0 if arg0 > 7' \
	-e 'done key=ret if ret == 0' -k 'r->id'
cat > want <<'EOF'
no push
push
push
t start push if arg3: the function has no such argument
EOF
check "a condition without its argument" gcc g.c -n t -s 'push if arg3' -e nowhere -k arg0

# It is not resumed: the thread that started it goes on with it, unless another one ends it.
cat > want <<'EOF'
1 BEGIN request 7 0
1 HANDED request 7 0
1 FINISH request 7 0
1 END request 7 0
reply 7
request start enqueue_request: in place
request end send_reply: in place
EOF
check "no resume" gcc a.c -n request -s enqueue_request -e send_reply -k 'arg0->id'

# --- start and end in one function; the thread as key; ret as key ------------------------------
cat > b.c <<'EOF'
#include <stdio.h>
static int twice(int x) { if (x > 3) return x * 2; else return 1; }
char narrow(int x) { return x; }
static int *where(int *p) { return p ? p + 1 : 0; }
static void nothing(int x) { if (x) return; x++; }
int main(void)
{
	int a[2];
	(void)a;
	printf("%d %d %d", twice(5), narrow(257), where(0) == 0);
	nothing(1); nothing(0);
	where(a);
	puts("");
	return 0;
}
EOF
cat > want <<'EOF'
1 BEGIN t -1 frame
1 END t -1 frame
t start twice: in place
t end twice: in place
EOF
sed -i 's/printf.*;/twice(5); (void)narrow;/; s/^	puts.*//' b.c
check "one function, no key" gcc b.c -n t -s twice -e twice
cat > want <<'EOF'
1 BEGIN t 5 0
1 END t 6 0
t start twice key=arg0: in place
t end twice key=arg0+1: in place
EOF
check "the end has another key" gcc b.c -n t -s 'twice key=arg0' -e 'twice key=arg0+1'
cat > want <<'EOF'
1 BEGIN t 10 0
1 END t 10 0
t start twice@return: in place
t end twice@return: in place
EOF
check "ret" gcc b.c -n t -s twice@return -e twice@return -k ret
cat > want <<'EOF'
1 END p 0 0
p end where@return: in place
p start nothing@return: there is no result at this place
EOF
sed -i 's/where(a);/where(0); (void)a;/' b.c
cat > want <<'EOF'
1 END p 0 0
p start nothing: there is no result at this place
p end where: in place
EOF
check "ret of a pointer" gcc b.c -n p -s nothing -e where -k ret
cat > want <<'EOF'
t start twice: the function has no such argument
EOF
check "no such argument" clang b.c -n t -s twice -e nowhere -k arg3

# --- FILE:LINE --------------------------------------------------------------------------------------
cat > c.c <<'EOF'
#include <stdio.h>
int f(int n)
{
	int i = 0;
	if (n > 1)
		i = 4;
	else if (n == 1)
		i = 5;
	else
		for (int k = 0; k < 2; k++)
			i += k;
	do
		i++;
	while (i < 3);
	switch (n) {
	case 1:
		i *= 2;
		break;
	}

	return i
		+ 0;
}
int main(void) { printf("%d %d %d\n", f(0), f(1), f(2)); return 0; }
EOF
sed -i 's/printf.*);/for (int n = 2; n >= 0; n--) printf("%d\\n", f(n));/' c.c
lines() {		# LINE, then the events that are expected before the result of f(2) f(1) f(0)
	printf '%s' "$2" > want
	echo "t start $1: in place" >> want
	check "line $1" gcc c.c -n t -s "$1" -e nowhere -k 'n * 10 + i'
	check "line $1" clang c.c -n t -s "$1" -e nowhere -k 'n * 10 + i'
}
lines c.c:6 "2 BEGIN t 20 0
5
12
3
"
lines c.c:8 "5
2 BEGIN t 10 0
12
3
"
lines c.c:11 "5
12
2 BEGIN t 0 0
2 BEGIN t 0 0
3
"
lines c.c:13 "2 BEGIN t 24 0
5
2 BEGIN t 15 0
12
2 BEGIN t 1 0
2 BEGIN t 2 0
3
"
lines c.c:17 "5
2 BEGIN t 16 0
12
3
"
lines c.c:20 "2 BEGIN t 25 0
5
2 BEGIN t 22 0
12
2 BEGIN t 3 0
3
"

# --- the project's own primitives -----------------------------------------------------------------
cat > d.c <<'EOF'
#include <stdio.h>
struct lock { int held; };
struct queue { void *last; };
static void lock_it(struct lock *l) { puts("locking"); l->held = 1; }
static void unlock_it(struct lock *l) { l->held = 0; }
static void push(struct queue *q, void *task) { q->last = task; }
static void *pop(struct queue *q) { return q->last; }
static void pop_into(struct queue *q, void **task) { *task = q->last; if (*task) return; puts("none"); }
static int try_into(struct queue *q, void **task) { if (!q->last) return 11; *task = q->last; return 0; }
static struct lock copy(struct lock *l) { return *l; }
int main(void)
{
	struct lock l = { 0 };
	struct queue q = { 0 };
	void *t;
	lock_it(&l);
	unlock_it(&l);
	push(&q, (void *)5L);
	pop(&q);
	pop_into(&q, &t);
	push(&q, 0);
	pop_into(&q, &t);
	try_into(&q, &t);
	push(&q, (void *)7L);
	try_into(&q, &t);
	copy(&l);
	return 0;
}
EOF
cat > want <<'EOF'
2 ACQUIRE - 0 16
locking
2 ACQUIRED - 0 0
2 RELEASE - 1 0
2 ENQUEUE - 1 5
2 DEQUEUE - 1 5
2 DEQUEUE - 2 5
2 ENQUEUE - 1 0
none
2 DEQUEUE - 2 0
2 DEQUEUE - 3 0
2 ENQUEUE - 1 7
2 DEQUEUE - 3 7
- acquire lock_it: in place
- release unlock_it: in place
- enqueue push: in place
- dequeue pop: in place
- dequeue pop_into: in place
- dequeue try_into: in place
- dequeue copy: the function's result is neither a number nor a pointer
EOF
for cc in gcc clang; do
	check "own primitives" $cc d.c -y 'acquire=lock_it(arg0->held, spins=no)' -y 'release=unlock_it(arg0->held)' \
		-y 'enqueue=push(queue=1, task=arg1)' -y 'dequeue=pop(queue=1, task=ret)' \
		-y 'dequeue=pop_into(queue=2, task=*arg1)' -y 'dequeue=try_into(queue=3, task=ret ? 0 : *arg1)' -y 'dequeue=copy(queue=arg0, task=ret)'
done

# --- a library's primitives: macros, pointers, inline functions -------------------------------------
mkdir -p lib src
cat > lib/db.h <<'EOF'
#ifdef __cplusplus
extern "C" {
#endif
struct db { int n; };
int db_lock(struct db *d, int mode);
void db_unlock(struct db *d);
int db_call(struct db *d, ...);
static inline int db_lock_one(struct db *d) { return db_lock(d, 1); }
#define DB_LOCK(d) db_lock(d, 2)
#ifdef __cplusplus
}
#endif
EOF
cat > lib.c <<'EOF'
#include "lib/db.h"
#include <stdio.h>
int db_lock(struct db *d, int mode) { printf("lock %d\n", mode); return d->n; }
void db_unlock(struct db *d) { printf("unlock %d\n", d->n); }
int db_call(struct db *d, ...) { return d->n; }
EOF
gcc -c lib.c -o lib.o || exit 99
cat > src/own.h <<'EOF'
int own_lock(int n);
EOF
cat > e.c <<'EOF'
#include <db.h>
#include <stddef.h>
int main(void)
{
	struct db d = { 6 };
	int (*lock)(struct db *, int) = db_lock;
	DB_LOCK(&d);
	db_lock_one(&d);
	lock(&d, 3);
	db_unlock(&d);
	db_call(&d, 1);
	return 0;
}
EOF
cp e.c e.cc
cat > want <<'EOF'
1 ACQUIRE - 6 0
lock 2
1 ACQUIRED - 6 0
1 ACQUIRE - 6 0
lock 1
1 ACQUIRED - 6 0
1 ACQUIRE - 6 0
lock 3
1 ACQUIRED - 6 0
1 RELEASE - 6 0
unlock 6
- acquire db_lock: in place
- release db_unlock: in place
- acquire db_call: a function with '...' cannot be wrapped
EOF
more=lib.o
for cc in gcc clang 'gcc -flto -O2' g++ clang++; do
	case $cc in *++) file=e.cc;; *) file=e.c;; esac
	check "library" "$cc" $file -y 'acquire=db_lock(arg0->n)' -y 'release=db_unlock(arg0->n)' \
		-y 'acquire=db_call(arg0)'
done

# --- a primitive of the project that is defined elsewhere: no wrapper --------------------------------
cat > f.c <<'EOF'
#include "own.h"
int main(void) { return own_lock(3) - 3; }
EOF
echo 'int own_lock(int n) { return n; }' > own.c
gcc -c own.c -o lib.o || exit 99
: > want
check "own, elsewhere" gcc f.c -y 'acquire=own_lock(arg0)'

# --- C++ ------------------------------------------------------------------------------------------------
more=
cat > g.cc <<'EOF'
#include <cstdio>
#include <stdexcept>
namespace app {
class server {
public:
	int handle(int id) { if (id == 3) throw std::runtime_error("x"); return id + 1; }
	bool ready() const { return true; }
	template <typename T> T convert(T v) { return v; }
};
}
int main()
{
	app::server s;
	s.handle(1);
	try { s.handle(3); } catch (...) { std::puts("caught"); }
	s.ready();
	s.convert(4.5);
	return 0;
}
EOF
cat > want <<'EOF'
1 BEGIN r 1 frame
1 END r 1 frame
1 BEGIN r 3 frame
1 END r 3 frame
caught
r start server::handle: in place
r end g.cc:app::server::handle: in place
EOF
for cxx in g++ clang++; do
	check "methods" $cxx g.cc -n r -s server::handle -e g.cc:app::server::handle -k arg0
done
cat > want <<'EOF'
caught
1 END r 1 0
r end ready: in place
r end convert: the function's result is neither a number nor a pointer
EOF
check "ret in C++" g++ g.cc -n r -s nowhere -e ready -k ret -n r -s nowhere -e convert -k 'ret'

# --- a result whose type has a name that the body knows otherwise, or not at all ---------------------------
cat > r.cc <<'EOF'
#include <cstdio>
typedef long amount;
static amount total(char amount) { return 1000 + amount; }
namespace {
enum state { open, closed };
struct node { int n; };
state next(int n) { return n ? closed : open; }
node *find(node *n) { return n; }
}
template<class T> struct box { T v; T *get(int k) { v += k; return &v; } };
int main()
{
	node n = { 3 };
	box<long> b = { 4 };
	long t = total(5);
	state s = next(1);
	int n3 = find(&n)->n;
	std::printf("%ld %d %d %ld\n", t, s, n3, *b.get(2));
	return 0;
}
EOF
cat > want <<'EOF'
1 END t 1005 0
1 END s 1 0
1 END f 0 0
1 END b 0 0
1005 1 3 6
t end total: in place
s end next: in place
f end find: in place
b end box::get: in place
EOF
for cxx in g++ clang++; do
	check "types of results" $cxx r.cc -n t -s nowhere -e total -k ret -n s -s nowhere -e next -k ret \
		-n f -s nowhere -e find -k '!ret' -n b -s nowhere -e box::get -k '!ret'
done

echo "$failed failures"
[ $failed = 0 ]
