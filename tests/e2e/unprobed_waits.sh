#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A function that waits without a probe is named, recorded next, and counted if it cannot be recorded.
. "${srcdir:-.}/tests/e2e/lib.sh"

# handle() asks and awaits the answer by a way that no scan of the sources sees: a pointer of another type.  The answer takes 0 to
# 3 ms, which is nearly all of the variance.
mkdir project && cd project || exit 99
cat >server.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static sem_t asked, answered;
sem_t *answers = &answered;
static volatile unsigned sink;
static void *answer(void *arg)
{
	for (unsigned i = 0; ; i++) {
		sem_wait(&asked);
		usleep(i * 997 % 3000);
		sem_post(&answered);
	}
	return arg;
}
static void await_answer(long unused) { sem_wait(&answered); sink++; (void)unused; }
static __attribute__((noinline)) long last_wait(sem_t *s) { sink++; return sem_wait(s); }
static void await_last(long unused) { last_wait(&answered); sink++; (void)unused; }
static inline __attribute__((always_inline)) void put_in(void) { sem_wait(&answered); sink++; }
static void await_inside(long unused) { put_in(); sink++; (void)unused; }
static __attribute__((noinline)) void event_wait(sem_t *s) { sem_wait(s); sink++; }
static __attribute__((noinline)) void slow_path(sem_t *s) { char room[300]; memset(room, 1, sizeof(room)); event_wait(s); sink += (unsigned)room[sink % 300]; }
static void await_deep(long unused) { slow_path(&answered); sink++; (void)unused; }
extern void library_wait(long), linked_wait(long), help(sem_t *);
static void await_help(long unused) { help(&answered); sink++; (void)unused; }
static void *find(const char *name)
{
	void *plugin;
	if (!strcmp(name, "pointer"))
		return (void *)await_answer;
	if (!strcmp(name, "last"))
		return (void *)await_last;
	if (!strcmp(name, "inside"))
		return (void *)await_inside;
	if (!strcmp(name, "deep"))
		return (void *)await_deep;
	if (!strcmp(name, "help"))
		return (void *)await_help;
	if (!strcmp(name, "library"))
		return (void *)library_wait;
	if (!strcmp(name, "linked"))
		return (void *)linked_wait;
	plugin = dlopen("./plugin.so", RTLD_NOW);
	return plugin ? dlsym(plugin, "plugin_wait") : NULL;
}
static void *way;
void handle(unsigned id)
{
	void (*f)(const char *, int);
	sem_post(&asked);
	if (!way) {
		sem_wait(&answered);
	} else {
		memcpy(&f, &way, sizeof(f));
		f("", (int)id);
	}
	sink++;
}
int main(int argc, char **argv)
{
	pthread_t t;
	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	way = argc > 1 ? find(argv[1]) : NULL;
	pthread_create(&t, NULL, answer, NULL);
	for (unsigned id = 0; id < 150; id++)
		handle(id);
	return 0;
}
END
cat >library.c <<'END'
#include <semaphore.h>
extern sem_t *answers;
volatile int used;
static void __attribute__((noinline)) wait_inside(void) { sem_wait(answers); used++; }
void library_wait(long unused) { wait_inside(); used++; (void)unused; }
void help(sem_t *s) { sem_wait(s); used++; }
END
sed '/^void help/d; s/library_wait/linked_wait/; s/wait_inside/wait_linked/g; s/used/used_too/g' library.c >linked.c
sed '/^void help/d; s/library_wait/plugin_wait/; s/wait_inside/wait_plugged/g' library.c >plugin.c
# Built without vprof: a library, and an object of the program.
gcc -O1 -fPIC -shared -o libother.so library.c || exit 99
gcc -O1 -c -o linked.o linked.c || exit 99
cat >Makefile <<'END'
all: server plugin.so
server: server.c libother.so linked.o
	gcc -O2 -g -rdynamic -o server server.c linked.o ./libother.so -lpthread -ldl
plugin.so: plugin.c
	gcc -O1 -fPIC -shared -o plugin.so plugin.c
END
expect 0 "$VPROF" annotate --start handle --end handle
expect 0 "$VPROF" build -- make

# iterates WORD: with the way of that name
iterates()
{
	rm -rf vprof.data/runs
	expect 0 "$VPROF" iterate --restart --max-runs 4 -- ./server "$1"
}
# ends_with TEXT...: what the last run says at its end
ends_with()
{
	grep '^ended after' "$work/.out" >"$work/.end"
	mv "$work/.end" "$work/.out"
	: >"$work/.err"
	says "$@"
}
says_not()
{
	if grep -qF -e "$1" "$work/.out" "$work/.err"; then
		fail "somebody said '$1'"
		cat "$work/.out"
	else
		pass
	fi
}

iterates pointer
says "await_answer, which waits there without a probe, is next" "+ await_answer" "await_answer › lock wait"
ends_with "is broken down to its end"
says_not "not looked into"

# The function that waits ended in the call: the return address is in its caller.
iterates last
says "last_wait, which waits there without a probe, is next" "last_wait › lock wait"

# Inlined: the lines of the debug information know.
iterates inside
says "put_in, which waits there without a probe, is next" "put_in › lock wait"

# The caller of the function that waits is recorded with it: event_wait does not say why, its caller does.  The stack names the caller.
iterates deep
says "event_wait, which waits there without a probe, is next" "await_deep" "slow_path" "run 2/4  + "
expect 0 "$VPROF" show variance-tree --no-collapse
says "event_wait" "slow_path"

# A library's helper stands for its caller, if that is a function of the project.
iterates help
says "await_help, which waits there without a probe, is next" "await_help › lock wait" "lock wait in help of libother.so, of which vprof built nothing"

iterates plugin
says "wait_plugged, which waits there without a probe, is next" "wait_plugged › lock wait"

# A function without a scan cannot be planned: it is counted, with its name if it has one.
iterates library
ends_with "is broken down as far as it can be; not looked into: " "% of the variance is lock wait in wait_inside of libother.so, of which vprof built nothing"
expect 0 "$VPROF" show factors
says "handle › lock wait: " "% in wait_inside of libother.so"
expect 0 "$VPROF" iterate --restart --max-runs 4 --format json -- ./server library
tr -d ' \n' <"$work/.out" >"$work/.line"
mv "$work/.line" "$work/.out"
says '"not_looked_into":[{"function":"wait_inside","file":"library.c","module":"libother.so","wait":"lock","inside":"handle","share":' \
	'"why":"foreign"' '"waited_in":[{"function":"wait_inside","file":"library.c","line":null,"module":"libother.so","probed":false,"outer":false,"share":'
iterates linked
ends_with "lock wait in wait_linked of server, which vprof did not see in the build"
strip libother.so
iterates library
ends_with "lock wait in " "libother.so, of which vprof built nothing"

# C++: templates, overloads, unnamed namespaces, lambdas.
mkdir ../cxx && cd ../cxx || exit 99
cat >server.cc <<'END'
#include <cstring>
#include <semaphore.h>
#include <thread>
#include <unistd.h>
#include <utility>
static sem_t asked, answered;
static volatile unsigned sink;
static void answer() { for (unsigned i = 0; ; i++) { sem_wait(&asked); usleep(i * 997 % 3000); sem_post(&answered); } }
namespace store {
template <class T> struct pool {
	static void take(long) { sem_wait(&answered); sink++; }
	static void wait(int) { sem_wait(&answered); sink++; }
	static void wait(const char *) { sem_wait(&answered); sink++; }
};
namespace {
void hidden(long) { sem_wait(&answered); sink++; }
}
}
static void *find(const char *name)
{
	if (!strcmp(name, "template")) return (void *)store::pool<std::pair<int, long>>::take;
	if (!strcmp(name, "overload")) return (void *)static_cast<void (*)(const char *)>(store::pool<int>::wait);
	if (!strcmp(name, "hidden")) return (void *)store::hidden;
	return (void *)+[](long) { sem_wait(&answered); sink++; };
}
void handle(unsigned id, void *way)
{
	void (*f)(const char *, int, int);
	sem_post(&asked);
	memcpy(&f, &way, sizeof(f));
	f("", (int)id, 0);
	sink++;
}
int main(int, char **argv)
{
	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	std::thread(answer).detach();
	for (unsigned id = 0; id < 60; id++)
		handle(id, find(argv[1]));
	_exit(0);
}
END
expect 0 "$VPROF" annotate --start handle --end handle
for options in "-O0" "-O2 -g"; do
	rm -rf vprof.data server		# with the calls that runs showed
	# shellcheck disable=SC2086
	expect 0 "$VPROF" build -- g++ $options -o server server.cc -lpthread
	[ "$options" = "-O0" ] || iterates template
	[ "$options" = "-O0" ] ||
		says "store::pool::take, which waits there without a probe, is next" "store::pool::take › lock wait" "to its end"
	iterates overload
	says "store::pool::wait(const char *), which waits there without a probe, is next" "to its end"
	iterates hidden
	says "store::hidden, which waits there without a probe, is next" "to its end"
	[ "$options" = "-O0" ] || iterates lambda
	[ "$options" = "-O0" ] || says "find::{lambda}, which waits there without a probe, is next" "to its end"
done
cd ../project || exit 99

# handle itself waits: nothing is left, and no function is named beside it.
rm -rf vprof.data/runs
expect 0 "$VPROF" iterate --restart --max-runs 4 -- ./server
says "handle › lock wait" "is broken down to its end"
says_not "without a probe"

# Damage is said, and costs no more than the names in it.
expect 0 "$VPROF" record -o one -- ./server pointer
runs=$(echo vprof.data/runs/*/callers)
set -- $runs
eval "last=\${$#}"
cp "$last" whole
printf 'nobody\n' >>"$last"
expect 0 "$VPROF" analyze one
says "file of callers is damaged in line $(wc -l <"$last"): "
expect 0 "$VPROF" show factors one
says "await_answer › lock wait"
# A name may be as long as it likes, with lambdas in lambdas.
awk 'BEGIN { printf "vprof-callers 1\n1\tserver\tbuilt\thandle"; for (i = 0; i < 200000; i++) printf "::{lambda"; print "\tserver.c\t1" }' >"$last"
expect 0 timeout 60 "$VPROF" analyze one
says_not "damaged"
printf 'no such file\n' >"$last"
expect 0 "$VPROF" analyze one
says "file of callers is damaged in line 1"
rm "$last"
expect 0 "$VPROF" analyze one
says_not "damaged"
# If the names cannot be written, the recording is complete except for them.
expect 0 "$VPROF" record -o unwritten -- sh -c './server pointer; for d in vprof.data/runs/*; do mkdir -p "$d/callers"; done'
says "will have no names in this run" "Is a directory"
finish
