#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Compiles seen by vprof, links not: cmake's launchers without `vprof build`.  The objects link with
# anything, run as ever, and are recorded by the preloaded runtime.
. "${srcdir:-.}/tests/e2e/lib.sh"

# hold() has the mutex before request() asks for it, and computes for 3 ms more; 20 times.
cat >locked.cc <<'END'
#include <chrono>
#include <mutex>
static std::mutex mutex;
static int total;
extern "C" { volatile int asking; }
extern "C" void hold(void (*ready)(void))
{
	std::lock_guard<std::mutex> guard(mutex);
	ready();
	while (!asking)			/* on a busy machine that takes a while */
		;
	asking = 0;
	auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(3);
	while (std::chrono::steady_clock::now() < end)
		;
	total++;
}
extern "C" int ask(void) { std::lock_guard<std::mutex> guard(mutex); return total; }
END
cat >main.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
extern volatile int asking;
void hold(void (*ready)(void));
int ask(void);
static sem_t go, held;
static void ready(void) { sem_post(&held); }
static void *worker(void *arg)
{
	for (int i = 0; i < 20; i++) {
		sem_wait(&go);
		hold(ready);
	}
	return arg;
}
int request(void) { return ask(); }
int main(void)
{
	pthread_t thread;
	int sum = 0;

	sem_init(&go, 0, 0);
	sem_init(&held, 0, 0);
	pthread_create(&thread, 0, worker, 0);
	for (int i = 0; i < 20; i++) {
		sem_post(&go);
		sem_wait(&held);
		asking = 1;
		sum += request();
	}
	pthread_join(thread, 0);
	printf("%d\n", sum);
	return 0;
}
END
echo 210 >expected
cat >vprof.conf <<'END'
[interval "request"]
start = request
end = request
END
mkdir -p vprof.data/build
printf 'vprof-plan 1\nall always\n' >vprof.data/build/plan

same_output()
{
	cmp -s "$work/.out" expected && pass || fail "$1: the program's output differs"
	[ -z "$2" ] || [ ! -s "$work/.err" ] && pass || fail "$1: somebody wrote to stderr"
}

# recorded PROGRAM: dormant it is as ever; under record the waits are there, with their wakers.
# On a busy machine request() may come too late to wait: half of the waits are enough.
recorded()
{
	expect 0 "$1"
	same_output "$1" quiet
	expect 0 "$VPROF" record -- "$1"
	says "20 intervals of 'request'"
	same_output "$1" ""
	expect 0 "$VPROF" export --format tuples
	awk '$1 == "segment" { thread[$2] = 1 }
		$1 == "segment" && $NF == "lock" && $3 != "-" { waits++; waiter = $2 }
		$1 == "wakeup" && $2 == waiter && $3 != waiter { wakeups++; waker = $3 }
		$1 == "invocation" && $4 == "hold" { holder = $2 }
		END {
			for (t in thread) threads++
			print waits + 0 >"'"$work/.waits"'"
			exit !(waits >= 10 && wakeups >= 10 && waker == holder && waker != waiter && threads == 2)
		}' "$work/.out" && pass || fail "$1: no lock waits ended by hold() on a second thread"
	expect 0 "$VPROF" show execution-table --charge waker --format csv
	# The time that hold() itself ran: on a busy machine most of a wait is for a CPU.
	awk -F, -v waits="$(cat "$work/.waits")" '$2 == "hold" && $3 > 100000 { n++ } END { exit n < 5 || 2 * n < waits }' "$work/.out" &&
		pass || { fail "$1: hold() is not charged with the waits"; cat "$work/.waits"; grep hold "$work/.out"; }
}

# beyond_reach PROGRAM: it runs, and record says what to do
beyond_reach()
{
	expect 0 "$1"
	same_output "$1" quiet
	expect 4 "$VPROF" record -- "$1"
	says "CMAKE_C_LINKER_LAUNCHER"
	same_output "$1" ""
}

for compiler in gcc clang; do
	case $compiler in gcc) cxx=g++ ;; *) cxx=clang++ ;; esac
	command -v $cxx >/dev/null || continue
	rm -f ./*.o
	expect 0 "$VPROF" cc $compiler -O2 -Wall -Wextra -Werror -c main.c
	expect 0 "$VPROF" cc $cxx -O2 -Wall -Wextra -Werror -fPIC -c locked.cc
	expect 0 $cxx main.o locked.o -o one-$compiler
	recorded ./one-$compiler
	expect 0 $cxx -shared -Wl,-z,defs locked.o -o liblocked-$compiler.so
	expect 0 $cxx main.o -L. -llocked-$compiler -Wl,-rpath,"$work" -o two-$compiler
	recorded ./two-$compiler
done

# An instrumented library in a program that vprof never saw: its lock waits are in no interval.
gcc -c main.c -o plain.o && g++ plain.o -L. -llocked-gcc -Wl,-rpath,"$work" -o plain || exit 99
expect 0 ./plain
same_output plain quiet
expect 3 "$VPROF" record -- ./plain
same_output plain ""

# Weak references that the linker settled for good.
expect 0 "$VPROF" cc gcc -fno-pic -c main.c -o fixed.o
expect 0 "$VPROF" cc g++ -fno-pic -c locked.cc -o fixed-locked.o
expect 0 g++ -no-pie fixed.o fixed-locked.o -o fixed
beyond_reach ./fixed
if g++ -static main.o locked.o -o static 2>"$work/.err"; then
	beyond_reach ./static
fi

# Linked through vprof the same objects use the runtime in the executable, and only that one.
expect 0 "$VPROF" cc g++ -no-pie fixed.o fixed-locked.o -o seen
recorded ./seen
nm seen | grep -q ' [Ww] vprof_w_' && fail "a weak forwarder beats the runtime" || pass
expect 0 "$VPROF" cc g++ main.o -L. -llocked-gcc -Wl,-rpath,"$work" -o seen-two
recorded ./seen-two
cat >maps.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
	char line[4096];
	int arenas = 0, libraries = 0;
	FILE *f = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), f)) {
		arenas += strstr(line, getenv("VPROF_ARENA")) != NULL;
		libraries += strstr(line, "libvprof.so") != NULL;
	}
	fclose(f);
	printf("%d arenas, %s\n", arenas, libraries ? "preloaded" : "not preloaded");
	return 0;
}
END
expect 0 "$VPROF" cc gcc -O2 maps.c -o maps
expect 3 "$VPROF" record -- ./maps
says "1 arenas, preloaded"
expect 0 "$VPROF" cc gcc -O2 -c maps.c
expect 0 gcc maps.o -o maps
expect 3 "$VPROF" record -- ./maps
says "1 arenas, preloaded"
expect 0 gcc -O2 maps.c -o maps
expect 4 "$VPROF" record -- sh -c './maps; exit $?'
says "0 arenas, preloaded"

# The user's own libraries stay, and come first; AddressSanitizer insists on that.
LD_PRELOAD=libm.so.6 expect 4 "$VPROF" record -- sh -c 'echo "<$LD_PRELOAD>"'
says "<libm.so.6:"
if gcc -fsanitize=address maps.c -o address 2>"$work/.err"; then
	expect 4 "$VPROF" record -- ./address
	says "0 arenas"
fi

# Not installed: nothing is preloaded, without a message.
mkdir elsewhere && cp "$VPROF" elsewhere/vprof
expect 4 elsewhere/vprof record -- true
grep -q "ld.so" "$work/.err" && fail "ld.so complains" || pass

# cmake itself.
if command -v cmake >/dev/null; then
	mkdir tree && cp main.c locked.cc vprof.conf expected tree && cd tree || exit 99
	cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(launched C CXX)
set(CMAKE_BUILD_TYPE Release)
find_package(Threads REQUIRED)
add_library(locked SHARED locked.cc)
add_executable(program main.c)
target_link_libraries(program locked Threads::Threads)
END
	mkdir -p vprof.data/build && cp ../vprof.data/build/plan vprof.data/build
	expect 0 cmake -S . -B build -DCMAKE_C_COMPILER_LAUNCHER="$VPROF;cc" \
		-DCMAKE_CXX_COMPILER_LAUNCHER="$VPROF;cc"
	expect 0 cmake --build build
	recorded build/program
fi
finish
