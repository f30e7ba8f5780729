#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Which of the kernel recorder's programs are attached, and that all variants give the same result: with hooks at softirqs' beginnings and
# ends, as on a kernel whose counters cannot be read (VPROF_KERNEL_HOOKS=softirqs); with helper calls for what newer kernels let
# programs read directly; with more threads than places; and with hooks of packets, which are detached while no packet comes from
# outside and attached again when one does.
. "${srcdir:-.}/tests/e2e/lib.sh"

needs_kernel_recorder

# hooks PID: prints how many of its programs are attached
hooks() { grep -sl '^link_type' "/proc/$1"/fdinfo/* | wc -l; }

# The exam's waits, a few of each, by both ways.  The disk's want a disk: not the memory that /tmp may be.
gcc -Wall -Wextra -Werror -O1 -g -D_GNU_SOURCE "$top/tests/kernel/truth.c" -o truth -lpthread || exit 99
# A thread that is not the first executes a program, and has the first one's number from then on.
cat >other.c <<'END'
#include <pthread.h>
#include <unistd.h>

static void *other(void *nothing)
{
	execlp("sleep", "sleep", "0.001", (char *)0);
	return nothing;
}

int main(void)
{
	pthread_t thread;

	return pthread_create(&thread, 0, other, 0) || pause();
}
END
gcc -Wall -Wextra -Werror -O1 other.c -o other -lpthread || exit 99
cat >truth.sh <<END
hooks() { grep -sl '^link_type' "/proc/\$1"/fdinfo/* | wc -l; }
hooks \$PPID >hooks.\${VPROF_KERNEL_HOOKS:-none}
file=\$(mktemp "$(dirname "$VPROF")/kernel_hooks.XXXXXX") && ./truth 20 "\$file" >truth.txt
rm -f "\$file"
for i in \$(seq 100); do sleep 0.001; done
for i in \$(seq 20); do ./other; done
END
for VPROF_KERNEL_HOOKS in softirqs helpers crowds none; do
	export VPROF_KERNEL_HOOKS
	expect 3 "$VPROF" record --kernel=require -- sh truth.sh
	"$VPROF" export --format tuples >tuples
	VERBOSE=1 awk -f "$top/tests/kernel/check.awk" truth.txt tuples >table 2>wrong
	awk '{ blocked += $4; classed += $5; woken += $6; cases += $4 > 0 }
		END { exit !(cases == 13 && classed == blocked && woken >= 0.98 * blocked) }' table && pass || {
		fail "$VPROF_KERNEL_HOOKS: not what the program knows of its waits"
		cat table wrong
	}
	# Threads come and go, and the kernel uses their memory again: each has a name and a wait of its own.
	slept=$(awk '$1 == "thread" && $4 == "sleep" { named[$2] = 1 } $1 == "segment" && $6 == "sleep" && !done[$2]++ { all[++n] = $2 }
		END { for (i = 1; i <= n; i++) slept += all[i] in named; print slept + 0 }' tuples)
	[ "$slept" = 120 ] && pass || fail "$VPROF_KERNEL_HOOKS: $slept of 120 short processes slept"
done
unset VPROF_KERNEL_HOOKS
# softirqs has two hooks more, and lacks the one that distinguishes timers.
case $(($(cat hooks.softirqs) - $(cat hooks.none))) in
1) pass ;;
0) echo "not tested: this kernel does not say where softirqs are counted" ;;
*) fail "$(cat hooks.softirqs) hooks instead of $(cat hooks.none)" ;;
esac

# Packets from outside: by a device that is like a network card's.  Until there are some, those of loopback are not looked at.
nic=vp$$
if ip tuntap add "$nic" mode tun 2>/dev/null; then
	trap 'ip link del "$nic" 2>/dev/null; rm -rf "$work"' EXIT
	gcc -Wall -Wextra -Werror -O1 -g -D_GNU_SOURCE "$top/tests/kernel/packets.c" -o packets || exit 99
	sysctl -qw "net.ipv6.conf.$nic.disable_ipv6=1" 2>/dev/null	# which says hello to its neighbours
	ip address add 198.18.251.5/30 dev "$nic" && ip link set "$nic" up || exit 99
	cat >answer.sh <<-'END'
	echo $PPID >recorder
	./packets answer 0.0.0.0 &
	while [ ! -e done ]; do sleep 0.05; done
	kill $!
	END
	"$VPROF" record --kernel=require -- sh answer.sh >"$work/.out" 2>"$work/.err" &
	wait_until test -s recorder
	recorder=$(cat recorder)
	looks() { grep -qs "^tp_name:[[:space:]]*$1\$" "/proc/$recorder"/fdinfo/*; }
	looks_at_none() { ! looks netif_receive_skb && ! looks net_dev_queue && ! looks net_dev_xmit && looks napi_gro_receive_entry; }
	looks_at_each() { looks netif_receive_skb && looks net_dev_queue && looks net_dev_xmit && ! looks napi_gro_receive_entry; }
	wait_until looks_at_none
	if looks_at_none; then
		./packets ask 127.0.0.1 5 >asked.txt
		sleep 0.2
		looks_at_none && pass || fail "loopback's packets are looked at"
		./packets outside 198.18.251.5 5 "$nic" || fail "packets outside: $?"
		./packets ask 127.0.0.1 5 >>asked.txt
		wait_until looks_at_each
		looks_at_each && pass || fail "packets from outside, and nobody looks at each"
		./packets ask 127.0.0.1 5 >>asked.txt
		./packets outside 198.18.251.5 5 "$nic" || fail "packets outside: $?"
		wait_until looks_at_none
		looks_at_none && pass || fail "no packets any more, and somebody looks for them"
		./packets ask 127.0.0.1 5 >>asked.txt
		touch done && wait
		"$VPROF" export --format tuples >tuples
		# A question that came before it waited has no waker.
		awk -v called="$nic" '
			FNR == 1 { file++ }
			file == 1 && $1 == "thread" && $3 == "thread" && $4 == "packets" { ours[$2] = 1 }
			file == 1 && $1 == "thread" && $3 == "nic" && $4 == called { nic = $2 }
			file == 2 && $1 == "wakeup" && ($2 in ours) && $3 == nic { asked++ }
			file == 2 && $1 == "wakeup" && ($2 in ours) && ($3 in ours) && $2 != $3 { locally++ }
			file == 2 && $1 == "wakeup" && $2 == nic && ($3 in ours) { sent++ }
			END {
				print asked + 0 " questions from outside and " locally + 0 " others woke it, " sent + 0 " answers were sent"
				exit !(asked >= 8 && asked <= 10 && locally >= 14 && locally <= 20 && sent >= 5)
			}' tuples tuples &&
			pass || fail "not what went by the interface"
	else
		touch done && wait
		echo "not tested: other packets come from outside all the time"
	fi
else
	echo "not tested: a network interface may not be made here"
fi
finish
