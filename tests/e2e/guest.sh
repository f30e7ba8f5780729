#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A recorded program behaves as it does without vprof, whatever is forbidden to it: system call filters, limits, the clock, other
# namespaces, another root, another user.  Each server runs plain and recorded: status and output are equal, and there is a trace, or one
# sentence says why not.
# GUEST_FULL=1: each limit at the smallest value with which the plain program works, as root and as another user.
. "${srcdir:-.}/tests/e2e/lib.sh"
src=$top/tests/guest
chmod 755 "$work"
cat >vprof.conf <<'CONF'
[interval "request"]
start = request
end = request
CONF
{
	echo '#include <sys/syscall.h>' | ${CC:-gcc} -dM -E - |
		sed -n 's/^#define __NR_\([a-z0-9_]*\) [0-9].*/{ "\1", __NR_\1 },/p'
} >call_names.h
[ -s call_names.h ] || { echo "no numbers of system calls here"; exit 77; }
gcc -O1 -I. -o under "$src/under.c" || exit 99
cp "$src/server.c" .
expect 0 "$VPROF" build --functions all -- gcc -O1 -g server.c -o server -lpthread
# Linked without us: the runtime is preloaded.
expect 0 "$VPROF" build --functions all -- gcc -O1 -g -c server.c -o server.o
gcc server.o -o preloaded -lpthread || exit 99

# same WANT LABEL COMMAND...: plain and under vprof record.  WANT: trace, or why there is none (a part of what is said);
# a second part, behind |, says why it ends early.  OPTIONS are of record.
OPTIONS=
same()
{
	want=$1 label=$2
	shift 2
	timeout 60 "$@" >plain.out 2>plain.err </dev/null
	plain=$?
	# shellcheck disable=SC2086
	timeout 120 "$VPROF" record $OPTIONS -- "$@" >recorded.out 2>recorded.err </dev/null
	recorded=$?
	grep -v -e '^vprof: ' -e '^▶' -e '^  →' recorded.out | cmp -s plain.out - && pass || {
		fail "$label: the output is another one"
		diff plain.out recorded.out | head -5
		head -5 recorded.err
	}
	if [ "$plain" != 0 ]; then
		[ "$recorded" = "$plain" ] && pass || fail "$label: status $recorded instead of $plain"
		return
	fi
	case $want in
	trace*)
		if [ $recorded = 0 ] && grep -q "intervals of 'request'" recorded.out recorded.err; then
			pass
		else
			fail "$label: no trace, status $recorded"
			head -5 recorded.err
		fi
		want=${want#trace} want=${want#|}
		;;
	*)
		case $recorded in
		3 | 4) pass ;;
		*) fail "$label: status $recorded" ;;
		esac
		;;
	esac
	[ -z "$want" ] && return
	grep -qF -e "$want" recorded.err && pass || {
		fail "$label: nobody says '$want'"
		head -5 recorded.err
	}
}

# The same, where both are right: with little room the process may stay out of it, and says so.
same_or_why()
{
	label=$1
	shift
	timeout 60 "$@" >plain.out 2>plain.err </dev/null
	plain=$?
	timeout 120 "$VPROF" record -- "$@" >recorded.out 2>recorded.err </dev/null
	recorded=$?
	if [ "$plain" != 0 ]; then	# the least stack is not the same each time
		[ "$recorded" = "$plain" ] && pass || fail "$label: status $recorded instead of $plain"
		return
	fi
	if grep -q "intervals of 'request'" recorded.out recorded.err || grep -qF "was not recorded, for" recorded.err; then
		pass
	else
		fail "$label: no trace, and nobody says why: status $recorded"
		head -5 recorded.err
	fi
	if grep -v -e '^vprof: ' -e '^▶' -e '^  →' recorded.out | cmp -s plain.out -; then
		pass
	else
		fail "$label: status $plain and $recorded, or the output is another one"
		diff plain.out recorded.out | head -5
	fi
}

# ---- system call filters ----

can_filter=yes
base="$(for name in futex exit exit_group mmap munmap mprotect madvise brk rt_sigprocmask rt_sigreturn rseq set_robust_list \
	restart_syscall write clock_nanosleep nanosleep; do
	sed -n "s/^{ \"$name\", \(.*\) },/\1/p" call_names.h
done | sed 's/^/N /' | cat <(echo '#include <sys/syscall.h>') - | gcc -E -P - | sed -n 's/^N \([0-9]*\)$/\1/p')"
if ./under calls all later ./server >.out 2>.err && [ -s later ]; then
	sort -nu later <(echo "$base") >minimal
	sort -nu all <(echo "$base") >minimal_all
else
	echo "system calls cannot be traced here: filters of one's own are not tried"
	can_filter=
fi
./under names "$src/system_service.names" "$work/server" >.out 2>.err || {
	echo "filters cannot be installed here: $(head -1 .err)"
	can_filter=
}
if [ -n "$can_filter" ]; then
	for how in prctl seccomp instruction refuse twice; do
		same 'trace|a system call filter' "a minimal filter by $how" ./server $how:minimal
	done
	same 'trace|a system call filter' "a minimal filter, preloaded" ./preloaded seccomp:minimal
	same 'trace|a system call filter' "a minimal filter, inherited" ./under filter minimal_all "$work/server"
	same 'trace|a system call filter' "@system-service, inherited" ./under names "$src/system_service.names" "$work/server"
	sed 's/^/N __NR_/' "$src/system_service.names" | cat <(echo '#include <sys/syscall.h>') - | gcc -E -P - |
		sed -n 's/^N \([0-9]*\)$/\1/p' >service
	same trace "@system-service by prctl" ./server prctl:service
fi

# ---- the clock ----

if [ "$(uname -m)" = x86_64 ]; then
	same "PR_SET_TSC" "the clock is off" ./server tsc
	same "trace|PR_SET_TSC" "the clock is off later" ./server tsc-late
fi

# ---- limits ----

other=
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
	other="setpriv --reuid=65534 --regid=65534 --clear-groups"
else
	echo "not root: limits of another user, other roots and set-user-ID are not tried"
fi

# smallest LOW HIGH STEP COMMAND...: with the least V, a multiple of STEP, in place of %V, that lets it end with 0 three times
smallest()
{
	low=$1 high=$2 step=$3
	shift 3
	while [ $((high - low)) -gt "$step" ]; do
		middle=$(((low + high) / 2 / step * step))
		[ $middle -le $low ] && middle=$((low + step))
		[ $middle -ge "$high" ] && break
		if (set -e; for _ in 1 2 3; do timeout 20 "${@//%V/$middle}" >.smallest 2>/dev/null </dev/null; done); then
			high=$middle
		else
			low=$middle
		fi
	done
	echo $high
}

same trace "address space, set by itself" ./server limit:as:$((100 << 20))
as=$(smallest 0 $((1 << 30)) 65536 ./under limit 9 %V "$work/server")
as=$((as + (1 << 20)))	# record preloads the runtime, which takes less than that before it can ask anything
if (ulimit -v 4000000 && ulimit -v 5000000) 2>/dev/null; then
	same trace "address space, inherited by root" ./under limit 9 "$as" "$work/server"
else
	echo "hard limits cannot be raised here: one that root inherits is not tried"
	same "limit of address space" "address space, inherited" ./under limit 9 "$as" "$work/server"
fi
if [ -n "$other" ]; then
	same "limit of address space" "address space, inherited by another user" $other ./under limit 9 "$as" "$work/server"
	locked=$(smallest 0 $((1 << 30)) 65536 ./under limit 8 %V /usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$work/server" lock:$((1 << 40)))
	for value in $locked $((64 << 20)); do
		same "leaves no room" "$value bytes of locked memory, inherited" ./under limit 8 "$value" /usr/bin/setpriv \
			--reuid=65534 --regid=65534 --clear-groups "$work/server" "lock:$value"
	done
fi
if [ -n "${GUEST_FULL:-}" ]; then
	for user in "" "$other"; do
		[ -z "$user" ] && [ -n "${did_root:-}" ] && continue
		did_root=yes
		for row in data:2:$((1 << 30)):4096 stack:3:$((8 << 20)):4096 nofile:7:64:1 fsize:1:65536:1 nproc:6:4096:1; do
			IFS=: read -r what number high step <<<"$row"
			[ $what = nproc ] && [ -z "$user" ] && continue		# root may have any number
			value=$(smallest 0 "$high" "$step" $user ./under limit "$number" %V "$work/server")
			[ $what = stack ] && value=$((value + 16384))		# record's environment, and it is not the same each time
			[ $what = data ] && value=$((value + (1 << 20)))	# as above: the preloaded runtime's own
			same_or_why "$what $value ${user:+(another user)}" $user ./under limit "$number" "$value" "$work/server"
			same_or_why "$what $value, set by itself" $user ./server limit:$what:"$value"
		done
	done
fi

# ---- where it runs ----

same "VPROF_ARENA" "an empty environment" env -i ./server
same "LD_PRELOAD" "LD_PRELOAD of the command's own" env LD_PRELOAD= ./preloaded
same trace "LD_PRELOAD of the command's own, linked through vprof" env LD_PRELOAD= ./server
if command -v setpriv >/dev/null; then
	same trace "no_new_privs" setpriv --no-new-privs ./server
fi
if [ -n "$other" ]; then
	chmod 755 server
	same trace "becomes another user" ./server user
	cp server suid && chown 65534 suid && chmod 4755 suid
	same "set-user-ID" "set-user-ID" ./suid
	if unshare -m true 2>/dev/null; then
		mkdir -p jail/tmp
		cp server jail
		ldd server | grep -o '/[^ ]*' | while read -r library; do
			mkdir -p "jail${library%/*}" && cp -L "$library" "jail$library"
		done
		same "cannot see" "another root" chroot jail /server
		OPTIONS="--arena fd"
		same trace "another root, a descriptor" chroot jail /server
		same trace "another user, a descriptor" $other "$work/server"
		mkdir shared && OPTIONS="--arena $work/shared"
		same trace "an own /dev/shm" unshare -m sh -c 'mount -t tmpfs none /dev/shm && exec ./server'
		same "cannot write" "a read-only directory" unshare -m sh -c 'mount --bind shared shared &&
			mount -o remount,bind,ro shared && exec ./server'
		OPTIONS=
		same trace "a read-only root" unshare -m sh -c 'mount -o remount,bind,ro / 2>/dev/null; exec ./server'
		[ -z "$(ls shared)" ] && pass || fail "something is left in the directory of --arena"
	fi
fi
for namespace in "-U" "-m" "-T --monotonic 100000 --boottime 100000" "-fp" "-fp --mount-proc" "-n"; do
	if unshare $namespace true 2>/dev/null; then
		same trace "unshare $namespace" unshare $namespace ./server
	else
		echo "unshare $namespace is not permitted here: not tried"
	fi
done

# ---- processes that run already ----

cat >idle.c <<'C'
#include <unistd.h>
#include <sys/prctl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
void request(void) { usleep(2000); }
int main(int argc, char **argv)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog p = { 1, &all };
	(void)argv;
	if (argc > 1) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
	}
	for (int i = 0; i < 30000; i++)
		request();
	return 0;
}
C
expect 0 "$VPROF" build --functions all -- gcc -O1 -g idle.c -o idle
./idle filtered &
filtered=$!
./idle &
plain=$!
sleep 0.5
"$VPROF" doctor --quick -p $filtered >doctor.out 2>&1
if grep -q "^Seccomp:.2" /proc/$filtered/status; then
	grep -q "system call filter" doctor.out && pass || fail "doctor does not see a filter"
	expect 4 "$VPROF" record -p $filtered --duration 1s
	says "has a system call filter"
fi
"$VPROF" doctor --quick -p $plain >doctor.out 2>&1
grep -q "system call filter" doctor.out && fail "doctor sees a filter where there is none" || pass
grep -q "process $plain runs" doctor.out && pass || fail "doctor does not see the process"
expect 0 "$VPROF" record -p $plain --duration 1s
kill $filtered $plain
wait 2>/dev/null

finish
