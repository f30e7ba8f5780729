#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Waits that nobody in the run ends, on a CPU that others want as well: a sleep, and the answer of a server that is not recorded.  Both take
# about 1 ms; the rest of each wait is time in the run queue, and the sentence says so, with the kernel's side and without.
. "${srcdir:-.}/tests/e2e/lib.sh"

cpu=$(taskset -pc $$ 2>/dev/null | sed 's/.*[ ,-]//')
[ -n "$cpu" ] || { echo "there is no taskset here"; exit 77; }
cat >late.c <<'END'
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sum;
static int upstream, by_sleep;

static void sleep_a_moment(void)
{
	struct timespec t = { 0, 500000 + rand() % 1000000 };

	nanosleep(&t, NULL);
}

void work(void) { for (int i = 0; i < 2000000; i++) sum += (unsigned long)i; }

void ask(void)
{
	char byte = 0;

	if (by_sleep)
		sleep_a_moment();
	else if (write(upstream, &byte, 1) != 1 || read(upstream, &byte, 1) != 1)
		exit(1);
}

void request(void)
{
	work();
	ask();
}

int main(int argc, char **argv)
{
	by_sleep = argc > 2;
	upstream = atoi(argv[1]);
	for (int i = 0; i < 300; i++)
		request();
	return 0;
}
END
# Gives the program one end of a socket, and answers on the other a moment after each byte, as nothing that it competes with.
cat >upstream.py <<'END'
import os, random, socket, subprocess, sys, time

listener = socket.create_server(("127.0.0.1", 0))
theirs = socket.create_connection(listener.getsockname())
ours, _ = listener.accept()
for s in ours, theirs:
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
try:
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(10))
except PermissionError:
    print("no real-time priority is permitted here")
    sys.exit(77)
os.set_inheritable(theirs.fileno(), True)
p = subprocess.Popen([a.replace("FD", str(theirs.fileno())) for a in sys.argv[1:]], close_fds=False)
theirs.close()
while byte := ours.recv(1):
    time.sleep(random.uniform(.0005, .0015))
    ours.send(byte)
sys.exit(p.wait())
END

# told RUN: the sentence's cause; how much of the variance the waits have without the time in the run queue
told()
{
	"$VPROF" show causes "$1" --format json >causes.json
	"$VPROF" show variance-tree "$1" --format json >tree.json
	python3 -c '
import json
causes, tree = json.load(open("causes.json")), json.load(open("tree.json"))
waits = [n["share"] for n in tree["nodes"] if n["kind"] == "wait" and n["wait"] in ("io", "sleep")]
print(causes["causes"][0]["how"], sum(waits))'
}

expect 0 "$VPROF" annotate --start request --end request
expect 0 "$VPROF" build --functions all -- cc -O1 -o late late.c
spinners=
for i in 1 2 3; do taskset -c "$cpu" sh -c 'while :; do :; done' & spinners="$spinners $!"; done
trap 'kill $spinners 2>/dev/null; rm -rf "$work"' EXIT
# check_kind HOW KERNEL [COMMAND...]: records as COMMAND runs it
check_kind()
{
	check_how=$1
	check_kernel=$2
	shift 2
	set -- "$@" "$VPROF" record --kernel=$check_kernel -o $check_how-$check_kernel -- taskset -c "$cpu" ./late
	case $check_how in
	sleep) "$@" 0 sleep >out 2>&1 ;;
	answer) python3 ./upstream.py "$@" FD >out 2>&1 ;;
	esac
	check_status=$?
	[ $check_status = 77 ] && { cat out; return; }
	[ $check_status = 0 ] && pass || { fail "$check_how, $check_kernel: status $check_status"; cat out; return; }
	read -r cause share <<-END
	$(told $check_how-$check_kernel)
	END
	[ "$cause" = runqueue ] && pass || fail "$check_how, $check_kernel: first is $cause"
	python3 -c "import sys; sys.exit($share > .4)" && pass ||
		fail "$check_how, $check_kernel: $share of the variance are waits for time or the server"
}

for how in sleep answer; do
	check_kind $how off
	check_kind $how auto
done
# A user who may only know when threads were off the CPU, or not even that.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && chmod 711 "$work" &&
   setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'test -x "$VPROF"' 2>/dev/null; then
	mkdir other && cp late vprof.conf upstream.py other && chown -R 65534:65534 other && cd other || exit 99
	for how in sleep answer; do
		check_kind $how auto setpriv --reuid=65534 --regid=65534 --clear-groups
	done
fi
finish
