#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Primitives redirected in the object of the user's own command: a unit that was compiled before, without probes.
# Each case compiles a unit twice: the first time its text is edited, the second time it is not.
. "${srcdir:-.}/tests/instrument/lib.sh"

[ "$(uname -m)" = x86_64 ] || { echo "on this machine the text is edited each time"; exit 77; }

linkers=
for linker in bfd gold lld; do
	! command -v "ld.$linker" >/dev/null || linkers="$linkers $linker"
done

# A compiler that counts its runs, and adds EXTRA to them.
mkdir counted
for cc in $compilers; do
	# shellcheck disable=SC2016 # of the script
	printf '#!/bin/sh\necho >> "%s/runs"\nexec %s $EXTRA "$@"\n' "$work" "$cc" > "counted/$cc"
done
chmod +x counted/*
export EXTRA=

vcc() {			# PLAN COMMAND...
	plan=$1
	shift
	"$launch" -b "$work/build" -p "$plan" -t "$source/annotations/pthread.sync" \
		-t "$source/annotations/system.sync" -R "$runtime" -- "$@"
}

runs() { wc -l < runs; }

twice() {		# RUNS COMPILER WORD...: first.o and again.o, in that many runs the second time
	wanted=$1
	compiler=$2
	shift 2
	rm -rf build
	for object in first again; do
		: > runs
		vcc none "counted/$compiler" "$@" -o got.o || fail "$compiler $*"
		mv got.o $object.o
	done
	[ "$(runs)" = "$wanted" ] || fail "$(runs) runs of the compiler for the second $compiler $*"
}

cat > uses.c <<'EOF'
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

extern int sem_timedwait(sem_t *, const struct timespec *) __attribute__((weak));
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int (*volatile post)(sem_t *) = sem_post;
#define LOCK(m) pthread_mutex_lock(m)

int main(void)
{
	sem_t s;
	int fds[2];

	sem_init(&s, 0, 0);
	LOCK(&m);
	pthread_mutex_unlock(&m);
	post(&s);
	sem_wait(&s);
	if (pipe(fds) < 0)
		return 2;
	fcntl(fds[0], F_SETFL, fcntl(fds[0], F_GETFL) | O_NONBLOCK);
	printf("%d %d %d\n", (int)syscall(SYS_getpid, 1L, 2L, 3L) == getpid(),
	       (fcntl(fds[0], F_GETFL) & O_NONBLOCK) != 0, sem_timedwait != 0);
	return fflush(stdout);
}
EOF
touch -d '1 hour ago' uses.c

# Which function is called, whatever is between: a preloaded one, the program's own, none.
cat > told.c <<'EOF'
#include <semaphore.h>
#include <unistd.h>
int vprof_x_sem_post(sem_t *s);
int vprof_x_sem_post(sem_t *s) { return write(1, "told ", 5) == 5 ? sem_post(s) : -1; }
EOF
sed 's/vprof_x/vprof_w/g' told.c > own.c
gcc -shared -fPIC told.c -o told.so && gcc -c own.c -o own.o || exit 99

called() { nm "$1" | sed -n 's/^ *U //p' | sort; }
forwarders() { nm "$1" | sed -n 's/.* W vprof_w_//p' | sort; }

# The text names more than the object calls: pclose() of popen()'s attribute.
same_forwarders() {	# COMMAND: as compiled by itself
	$1 -o plain.o && called plain.o > calls
	forwarders first.o | comm -12 - calls > want
	forwarders again.o > got
	[ "$(wc -l < want)" -ge 6 ] && cmp -s want got || { fail "forwarders, $1"; diff want got; }
	nm again.o | sed -n 's/^ *U //p' | sort | cmp -s - calls || fail "calls, $1"
}

says() {		# NAME WANTED COMMAND...
	name=$1 want=$2
	shift 2
	[ "$("$@")" = "$want" ] || fail "$name: $*: $("$@")"
}

links() {		# COMPILER OPTIONS: again.o, by every linker, in every kind of program
	for linker in $linkers; do
		for link in "" -static "-no-pie -Wl,--gc-sections"; do
			# shellcheck disable=SC2086 # words
			$1 -fuse-ld="$linker" $link again.o -o prog 2> err || { fail "$*, $linker $link"; cat err; }
			# shellcheck disable=SC2086 # words
			$1 $link plain.o -o plain 2> err || { fail "plain $*, $link"; cat err; }
			says "$*, $linker $link" "$(./plain)" ./prog
		done
	done
	$1 again.o -o prog
	says "preloaded, $*" "told 1 1 1" env LD_PRELOAD=./told.so ./prog
	$1 again.o own.o -o prog && says "in the program, $*" "told 1 1 1" ./prog
	ld -r again.o -o part.o && $1 part.o own.o -o prog && says "ld -r, $*" "told 1 1 1" ./prog
}

for cc in $compilers; do
	for option in "" "-O2 -fPIC -fno-plt" "-O2 -g -fcf-protection=full -ffunction-sections"; do
		# shellcheck disable=SC2086 # words
		twice 1 $cc $option -c uses.c
		same_forwarders "$cc $option -c uses.c"
		nm again.o | grep -q ' [wv] sem_timedwait$' || fail "$cc $option: a weak reference did not stay one"
		links "$cc" "$option"
	done
	vcc none $cc again.o -o prog && says "with the runtime, $cc" "1 1 1" ./prog

	# Its symbols say nothing of what a linker compiles: the text is edited each time.
	twice 2 $cc -O2 -flto -c uses.c
done

# If the command's words do not decide it, the object does.  The compiler has printed its warnings by then.
export EXTRA='-flto -ffat-lto-objects -Wall'
{ cat uses.c; echo 'static int unused;'; } > warns.c
touch -d '1 hour ago' warns.c
twice 3 gcc -O2 -c warns.c 2> said
[ "$(grep -c 'warning: .unused. defined' said)" = 2 ] || { fail "an object nobody expected: messages"; cat said; }
gcc -O2 -flto again.o own.o -o prog && says "an object nobody expected" "told 1 1 1" ./prog
export EXTRA=

# In place (--coverage names files after the object); without -o.
for words in "--coverage -c uses.c" "-c uses.c"; do
	rm -rf build uses.o
	# shellcheck disable=SC2086 # words
	vcc none counted/gcc $words && rm uses.o && : > runs && vcc none counted/gcc $words
	[ "$(runs)" = 1 ] && nm uses.o | grep -q ' W vprof_w_sem_post' || fail "$words: not redirected"
done
EXTRA=-Dmain=1
: > runs
vcc none counted/gcc -c uses.c 2> said && fail "an error went unnoticed"
[ "$(grep -c 'error: expected' said), $(runs)" = "1, 1" ] || { fail "an error, $(runs) runs"; cat said; }
EXTRA=
: > runs
vcc none counted/gcc -O -c uses.c
[ "$(runs)" = 2 ] || fail "another command was taken for the recorded one"

# The user's own primitives need more than a forwarder.
rm -rf build
for time in first second; do
	: > runs
	"$launch" -b build -y 'release=sem_post(arg0)' -t "$source/annotations/pthread.sync" -- \
		counted/gcc -c uses.c -o user.o || fail "a primitive of the user's"
	[ "$(runs)" = 2 ] || fail "a primitive of the user's: $(runs) runs the $time time"
done

# Probes go and come, also those of recursion that ends in a call; the record says which there are.
list() { "$launch" -b build -l; }
printf '#include <semaphore.h>\nint f(sem_t *s, int n);\nint f(sem_t *s, int n) { sem_post(s); return n ? f(s, n - 1) : 0; }\n' > f.c
touch -d '1 hour ago' f.c
rm -rf build && vcc all counted/gcc -O2 -c f.c && [ "$(list)" = "f 3 probed" ] || fail "no probe: $(list)"
: > runs
vcc none counted/gcc -O2 -c f.c
[ "$(list), $(runs)" = "f 3 plain, 1" ] || fail "a probe that is gone: $(list) in $(runs) runs"
nm f.o | grep -q ' W vprof_w_sem_post' || fail "a probe took the redirection along"
vcc all gcc -O2 -c f.c && [ "$(list)" = "f 3 probed" ] || fail "a probe that came back: $(list)"
nm f.o | grep -q vprof_function_ || fail "a probe that came back is not in the object"

exit $((failed != 0))
