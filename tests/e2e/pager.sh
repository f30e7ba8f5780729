#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Output to a terminal goes through a pager, as git's does; other output does not.
. "${srcdir:-.}/tests/e2e/lib.sh"
has_terminals || { echo "no pseudo-terminal to be had: script(1), /dev/pts"; exit 77; }
unset PAGER VPROF_PAGER LESS LV NO_COLOR
export TERM=xterm

{
	echo 'vprof-tuples 1'
	for i in $(seq 40); do
		echo "interval $i request 1 $((i * 100)) 1 $((i * 101))"
		echo "segment 1 $i $((i * 100)) $((i * 101)) running"
		echo "invocation 1 $i A $((i * 100)) $((i * 101))"
	done
	echo 'call A B'
} >run.tuples
expect 0 "$VPROF" import --from tuples run.tuples -o run
"$VPROF" show intervals --all >plain 2>&1

# The pager notes that it ran, with what, and passes on what it reads.
mkdir bin
printf '#!/bin/sh\n{ echo "ran LESS=$LESS LV=$LV"; cat; } >>"%s/paged"\necho shown\n' "$work" >bin/pager
printf '#!/bin/sh\nexec "%s/bin/pager"\n' "$work" >bin/less
chmod +x bin/*
PATH=$work/bin:$PATH

# on_terminal STATUS COMMAND: in a shell on a terminal of its own; what the terminal showed is in .out, what the pager read in paged
on_terminal()
{
	rm -f paged
	expect "$1" script -qec "stty cols 100 2>/dev/null; $2" /dev/null
}
paged() { [ -f paged ] && pass || fail "$1: no pager ran"; }
unpaged() { [ ! -f paged ] && pass || fail "$1: a pager ran: $(cat paged)"; }

on_terminal 0 '$VPROF show intervals --all'
paged "less is the default"
says shown
grep -q '^ran LESS=FRX LV=-c$' paged && pass || fail "its variables: $(head -1 paged)"
sed -e 1d -e 's/\x1b\[[0-9;]*m//g' paged | cmp - plain >/dev/null && pass || fail "the pager read: $(cat paged)"
on_terminal 0 '$VPROF show summary'
grep -q "$(printf '\033')\[1m" paged && pass || fail "no colour for the pager"
on_terminal 0 'LESS=S VPROF_PAGER="pager && true" PAGER=false $VPROF show summary'
grep -q '^ran LESS=S ' paged && pass || fail "LESS that is set is changed: $(head -1 paged)"
on_terminal 0 'PAGER=pager $VPROF sql "SELECT 1"'
paged sql
on_terminal 0 'PAGER=pager $VPROF help words'
paged help
on_terminal 0 '$VPROF diff run run'
paged diff

# No pager.
for none in '$VPROF --no-pager show summary' '$VPROF show summary --no-pager' 'VPROF_PAGER= PAGER=pager $VPROF show summary' \
	'PAGER=cat $VPROF show summary' '$VPROF show summary | cat' '$VPROF show summary >.file' '$VPROF -d vprof.data --no-pager show runs' \
	'$VPROF --version' '$VPROF show --help'; do
	on_terminal 0 "$none"
	unpaged "$none"
done
on_terminal 2 '$VPROF show nothing'
unpaged "an error"
expect 0 "$VPROF" show summary
[ ! -f paged ] && pass || fail "a pager ran without a terminal"

# A pager that does not read to the end: no word about it, and the status is vprof's.
on_terminal 0 'VPROF_PAGER="head -n 1" $VPROF show execution-table --all'
[ "$(wc -l <.out)" = 1 ] && pass || fail "more than the pager's line: $(cat .out)"
on_terminal 3 'VPROF_PAGER=true $VPROF diff run run --gate "p99>+10%" --format json'
[ ! -s .out ] && pass || fail "said: $(cat .out)"
on_terminal 0 'VPROF_PAGER="cat >/dev/null; exit 7" $VPROF show summary'

# A pager that cannot be run gives a message; if vprof knows at once, it prints without a pager.
on_terminal 0 'VPROF_PAGER=no-such-pager $VPROF show summary'
says "cannot run the pager 'no-such-pager'" "request"
on_terminal 4 'VPROF_PAGER="no-such-pager -R" $VPROF show summary'
says "the pager could not be run" "--no-pager"
rm bin/less
on_terminal 0 "PATH=$work/bin; \$VPROF show summary"
says "request"

# ^C is the pager's: vprof ends with it, not before.
printf '#!/bin/sh\ntrap "echo pager-was-interrupted" INT\necho ready >"%s/ready"\nread line <"%s/go"\ncat >/dev/null\necho pager-ends\n' "$work" "$work" >bin/pager
mkfifo go
cat >interrupted.sh <<'S'
VPROF_PAGER=pager "$VPROF" show execution-table --all & vprof=$!
while [ ! -s ready ]; do sleep 0.1; done
kill -TERM $vprof
sleep 0.2
kill -0 $vprof && echo vprof-waits
echo >go
wait $vprof
echo "status $?"
S
on_terminal 0 'sh interrupted.sh'
says vprof-waits pager-ends "status 143"
finish
