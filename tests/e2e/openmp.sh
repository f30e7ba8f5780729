#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# OpenMP: waits in libgomp or libomp, which make their futex calls themselves, are recorded with their wakers.  A
# thread that runs others' tasks while it waits in a barrier is not recorded as waiting.
. "${srcdir:-.}/tests/e2e/lib.sh"

# Each request has two threads, and one of them takes 0.2 ms, or in every fifth request 8 ms.
cat >team.c <<'END'
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>
#define OWN __attribute__((noinline))
static omp_lock_t lock;
static volatile int taken;
OWN static void slow(int r) { usleep(r % 5 ? 200 : 8000); }
OWN static void spin(int r) { double end = omp_get_wtime() + (r % 5 ? 0.0002 : 0.004); while (omp_get_wtime() < end) ; }
OWN static void first_take(int r) { taken = 1; slow(r); }
OWN static void later_take(void) { while (!taken) usleep(20); }
OWN static void region(int r) {
	#pragma omp parallel num_threads(2)
	if (omp_get_thread_num()) slow(r);
}
OWN static void loop(int r) {
	#pragma omp parallel for num_threads(2) schedule(dynamic, 1)
	for (int i = 0; i < 2; i++)
		if (omp_get_thread_num()) slow(r); else usleep(60);
}
OWN static void sections(int r) {
	#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num()) slow(r);
		#pragma omp sections
		{
			#pragma omp section
			taken++;
			#pragma omp section
			usleep(1);
		}
	}
}
OWN static void barrier(int r) {
	#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num()) slow(r);
		#pragma omp barrier
		if (omp_get_thread_num() == 0) usleep(100);
	}
}
OWN static void critical(int r) {
	#pragma omp parallel num_threads(2)
	{
		if (!omp_get_thread_num()) later_take();
		#pragma omp critical(one)
		if (omp_get_thread_num()) first_take(r);
	}
}
OWN static void locked(int r) {
	#pragma omp parallel num_threads(2)
	{
		if (!omp_get_thread_num()) later_take();
		omp_set_lock(&lock);
		if (omp_get_thread_num()) first_take(r);
		omp_unset_lock(&lock);
	}
}
OWN static void tasks(int r) {
	#pragma omp parallel num_threads(2)
	{
		#pragma omp single
		for (int i = 0; i < 4; i++) {
			#pragma omp task
			spin(r);
		}
	}
}
OWN static void request(int which, int r) {
	void (*const kinds[])(int) = { region, loop, sections, barrier, critical, locked, tasks };
	taken = 0;
	kinds[which](r);
}
int main(int argc, char **argv) {
	omp_init_lock(&lock);
	for (int r = 0; r < 100; r++)
		request(argc > 1 ? atoi(argv[1]) : 0, r);
	return 0;
}
END
printf '[interval "request"]\nstart = request\nend = request\n' >vprof.conf
export OMP_WAIT_POLICY=passive

# waits WHICH CLASSES: of what kinds[WHICH] takes, much is a wait of these classes, for slow
waits()
{
	expect 0 "$VPROF" record -- ./team "$1"
	"$VPROF" sql --format csv "SELECT cast(100 * sum(b.mean_ns) / (SELECT mean_ns FROM node WHERE id = 0 AND finding = b.finding) AS INTEGER)
		FROM node b JOIN node w ON w.finding = b.finding AND w.id = b.parent WHERE b.finding = (SELECT max(finding) FROM node)
		AND b.kind = 'blame' AND b.function = 'slow' AND w.wait IN ($2)" 2>&1 | tail -1 >part.out
	machine_is_busy && least=3 || least=10		# others have the CPUs for much of it
	[ "$(cat part.out)" -ge $least ] 2>/dev/null && pass || fail "$build, $1: of its time $(cat part.out) % is a $2 wait for slow"
}

for build in "gcc -O1" "gcc -O2 -no-pie" "clang -O1"; do
	compiler=${build%% *}
	echo 'int main(void) { return 0; }' >try.c
	$compiler -fopenmp try.c -o try 2>/dev/null || continue
	# shellcheck disable=SC2086
	expect 0 "$VPROF" build --functions all -- $build -fopenmp team.c -o team
	waits 0 "'join'"
	waits 1 "'join'"
	waits 2 "'cond', 'join'"
	waits 3 "'cond'"
	waits 4 "'lock'"
	waits 5 "'lock'"
	expect 0 "$VPROF" record -- ./team 6
	# libomp's own waits for conditions are there, while no thread has a task.
	"$VPROF" export --format tuples | awk '$1 == "interval" { all += $7 - $5 } $1 == "segment" && $3 != "-" && /(join|cond)$/ { waits += $5 - $4 }
		END { exit waits > all / 4 }' && pass || fail "$build: tasks are told as waits"
done
finish
