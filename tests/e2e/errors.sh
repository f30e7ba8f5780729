#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Everything that may be wrong: one message with the remedy, the exit status of vprof-formats(5).
. "${srcdir:-.}/tests/e2e/lib.sh"

expect 2 "$VPROF"
expect 2 "$VPROF" shwo
says "did you mean 'show'"
expect 2 "$VPROF" show --fromat json
says "did you mean '--format'"
for word in --version -V version; do
	expect 0 "$VPROF" $word
	grep -q '^vprof [0-9]' .out && pass || fail "$word: $(cat .out)"
done
expect 0 "$VPROF" --help
for c in demo init annotate cc build record analyze show sql import export; do
	expect 0 "$VPROF" $c --help
	says "usage: vprof $c"
done
expect 0 "$VPROF" show --help
says "views:" "wait-graph       which threads wait for which"

# No data yet.
expect 3 "$VPROF" show summary
says "vprof record"
expect 3 "$VPROF" analyze

# Not instrumented; not there at all; its own status; a signal.
expect 4 "$VPROF" record -- true
says "vprof build"
expect 127 "$VPROF" record -- ./no-such-program
says no-such-program
expect 7 "$VPROF" record -- sh -c 'exit 7'
expect 137 "$VPROF" record -- sh -c 'kill -9 $$'
expect 4 "$VPROF" record --ignore-status -- sh -c 'exit 7'

# Configuration.
printf '[interval "request"]\nstrat = f\nend = f\n' >vprof.conf
expect 2 "$VPROF" record -- true
says "vprof.conf:2" "did you mean 'start'"
printf '[build]\ncmd = make\n' >vprof.conf
expect 2 "$VPROF" record -- true
says "unknown key 'cmd'" "[build] has the key: command"
printf '[interval "r"]\nbegin = make\n' >vprof.conf
expect 2 "$VPROF" record -- true
says "unknown key 'begin'" "[interval] has the keys: start, end, resume, key,"
printf '[monitor]\nbegin = make\n' >vprof.conf
expect 2 "$VPROF" record -- true
says "unknown section 'monitor'" "vprof.conf has the sections: interval, sync, build, run, callgraph, record, iterate"
printf '[run]\ncommand = tr\0ue\n' >vprof.conf
expect 2 "$VPROF" record -- true
says "vprof.conf:2: a control character (0x00) does not belong here"
rm vprof.conf
expect 0 "$VPROF" init
expect 2 "$VPROF" init
says "exists already"
rm vprof.conf
expect 2 "$VPROF" init --preset no-such-server
says "there are: causal, httpd, logserver, mariadb, memcached, mysql, nginx, postgresql, redis"
expect 0 "$VPROF" init --preset memcached
grep -q 'end    = resp_finish' vprof.conf && pass || fail "the preset is not what the example says"
rm vprof.conf
expect 0 "$VPROF" init --preset postgresql
grep -q 'end    = CommitTransaction' vprof.conf && pass || fail "the preset is not what the example says"
rm vprof.conf
expect 0 "$VPROF" init --preset redis
grep -q 'start  = processCommand' vprof.conf && pass || fail "the preset is not what the example says"
rm vprof.conf
expect 0 "$VPROF" init --preset nginx
grep -q 'end    = ngx_http_free_request' vprof.conf && pass || fail "the preset is not what the example says"
rm vprof.conf
expect 0 "$VPROF" init --preset httpd
grep -q 'resume = process_socket' vprof.conf && pass || fail "the preset is not what the example says"
rm vprof.conf
expect 2 "$VPROF" record
says "vprof record -- ./bench.sh"

# The links to the launcher are found by $PATH.
expect 4 "$VPROF" -d 'a:b' build -- cc -O1 -o lock lock.c
says "holds no name with ':'" "vprof -d DIR build"

# A primitive of [sync] that would record nothing.
cat >lock.c <<'END'
#include <vprof.h>
int lock_it(int *held) { return *held = 1; }
void leave_it(int *held) { *held = 0; }
int main(void) { int held; VPROF_BEGIN("request", 1); lock_it(&held); leave_it(&held); VPROF_END("request", 1); return 0; }
END
printf '[sync]\nacquire = lock_it\n' >vprof.conf
expect 2 "$VPROF" build -- cc -O1 -o lock lock.c
says "vprof.conf:2: acquire = lock_it: 'lock_it' is no acquire primitive" "write FUNCTION(EXPRESSION)"
printf '[sync]\nacquire = lock_it(arg1)\nrelease = leave_it(arg0)\n' >vprof.conf
expect 0 "$VPROF" build -- cc -O1 -o lock lock.c
says "vprof.conf: this records nothing: acquire = lock_it: the function has no such argument"
printf '[sync]\nrelease = leave_it(arg0)\nenqueue = leave_it(queue=arg0, task=arg0)\n' >vprof.conf
expect 0 "$VPROF" build -- cc -O1 -o lock lock.c
says "this records nothing: enqueue = leave_it: an earlier line of [sync] says what this function does"
printf '[sync]\nacquire = lock_it(arg0)\ndequeue = leave_it(queue=arg0, task=ret)\n' >vprof.conf
expect 0 "$VPROF" build -- cc -O1 -o lock lock.c
says "vprof.conf: this records nothing: dequeue = leave_it: the function's result is neither"
grep -q "acquire = " .err && fail "the lock is in place: $(cat .err)" || pass
rm vprof.conf

# A file that is not there is not the absence of one, and its directory is no place for data.
for conf in "$PWD/elsewhere/vprof.conf" "$PWD/lock.c/vprof.conf" "$PWD"; do
	VPROF_CONF=$conf expect 2 "$VPROF" record -- true
	says "cannot read '$conf', which VPROF_CONF names"
done
mkdir elsewhere
VPROF_CONF=$PWD/elsewhere/vprof.conf expect 2 "$VPROF" import --from perf p.c
VPROF_CONF=$PWD/elsewhere/vprof.conf expect 2 "$VPROF" cc cc -c p.c
[ ! -e elsewhere/vprof.data ] && pass || fail "data beside a vprof.conf that is not there"
mkdir made
(cd made && VPROF_CONF=$PWD/vprof.conf "$VPROF" init >.out 2>&1 && [ -s vprof.conf ]) && pass || fail "init: $(cat made/.out)"
for words in "completion bash" "demo --list" "show --help"; do
	VPROF_CONF=$PWD/elsewhere/vprof.conf expect 0 "$VPROF" $words
done

# An instrumented program whose interval never completes, and one whose trace is hurt afterwards.
cat >p.c <<'END'
#include <vprof.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 300; i++) {
		VPROF_BEGIN("request", i);
		if (argc < 2)
			VPROF_END("request", i);
	}
	printf("done\n");
	return 0;
}
END
expect 0 "$VPROF" build -- cc -O1 -o p p.c
expect 3 "$VPROF" record -- ./p open
says "no 'request' interval completed"
expect 0 "$VPROF" record -o good -- ./p
says "300 intervals"
printf '[run]\ncommand = ./p >/dev/null; ./p\n' >vprof.conf
expect 0 "$VPROF" record -o shell
expect 0 "$VPROF" show runs --format json
says '"command": "./p >/dev/null; ./p"'
expect 0 "$VPROF" sql "SELECT command FROM run WHERE name = 'good'"
says "./p"
rm vprof.conf
run=vprof.data/runs/$("$VPROF" sql --format csv "SELECT printf('%03d', number) FROM run WHERE name = 'good'" | tail -1)
cp "$run/trace.vpt" whole.vpt
size=$(wc -c <whole.vpt)
head -c $((size - 3)) whole.vpt >"$run/trace.vpt"
"$VPROF" analyze good >out 2>&1
status=$?
case $status in 0 | 3) pass ;; *) fail "a cut trace: status $status"; cat out ;; esac
echo "this is no trace" >"$run/trace.vpt"
expect 5 "$VPROF" analyze good
says trace.vpt
: >"$run/trace.vpt"
expect 5 "$VPROF" analyze good
rm "$run/trace.vpt"
expect 5 "$VPROF" analyze good
cp whole.vpt "$run/trace.vpt"
expect 0 "$VPROF" analyze good

# The call graph is that of the last build, and about no run; a remedy can be followed as it stands.
expect 4 "$VPROF" record -- true
expect 0 "$VPROF" show summary
says "this is run"
expect 0 "$VPROF" show call-graph
grep -q "this is run" .err && fail "show call-graph says which run it is about: $(cat .err)" || pass
expect 2 "$VPROF" record --samples 100 -- true
says "--samples needs the kernel recorder"
expect 2 "$VPROF" sql SELEC
remedy=$(sed -n 's/^  → vprof \(.*\) prints the tables$/\1/p' .err)
eval "\"\$VPROF\" $remedy" >.out 2>.err && grep -q "^	number		INTEGER PRIMARY KEY,	-- from 1" .out && pass ||
	fail "the remedy '$remedy' prints no tables with their comments: $(cat .out .err)"

# The output cannot be written; nobody reads it.
"$VPROF" show runs >/dev/full 2>err
status=$?
[ $status = 4 ] && pass || fail "/dev/full: status $status"
"$VPROF" export good >/dev/full 2>err
status=$?
[ $status = 4 ] && [ "$(grep -c error err)" = 1 ] && pass || fail "export to /dev/full: status $status, $(cat err)"
expect 4 "$VPROF" export good -o /no/such/directory/file
"$VPROF" show intervals good | head -1 >/dev/null 2>&1
# Of an import that could not be written nothing is left.
awk 'BEGIN { print "vprof-tuples 1"; for (i = 0; i < 30000; i++) print "segment 1 1 " i * 100 " " i * 100 + 99 " running" }' >large.tuples
(trap '' XFSZ && ulimit -f 700 && exec "$VPROF" -d full import --from tuples large.tuples -o large) >out 2>err
status=$?
[ $status = 4 ] && grep -q "cannot write .*File too large" err && pass || fail "import of what does not fit: status $status, $(cat err)"
expect 0 "$VPROF" -d full show runs --format csv
[ "$(wc -l <.out)" = 1 ] && [ -z "$(ls full/runs)" ] && pass || fail "left: $(ls full/runs) $(cat .out)"
cp -r vprof.data other
echo "no database" >other/vprof.db
expect 5 "$VPROF" -d other show summary
expect 5 "$VPROF" show -d other summary
expect 5 "$VPROF" show summary -dother
expect 2 "$VPROF" show summary -d
for none in "record --repeat 0 -o x -- true" "record -p 0" "record --buffer 0 -- true" "diff --interleave 0 -- true -- true" "look -p 0" "doctor -p 0"; do
	expect 2 "$VPROF" $none
	says "wants a whole number from 1, not '0'"
done
expect 2 "$VPROF" show no-such-view
expect 2 "$VPROF" show summary 99

# A closed standard stream is no place for a file, and no cause of another message; the program finds it as without vprof.
"$VPROF" show runs >&- 2>err
status=$?
[ $status = 4 ] && grep -q "cannot write the result" err && pass || fail "stdout is closed: status $status, $(cat err)"
expect 0 sh -c '"$VPROF" show runs 0<&- 2>&-'
cat >streams.c <<'END'
#include <vprof.h>
#include <fcntl.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	FILE *out = fopen(argv[argc - 1], "w");
	for (int fd = 0; out && fd < 3; fd++)
		fprintf(out, "%d\n", fcntl(fd, F_GETFD));
	VPROF_BEGIN("request", 1);
	VPROF_END("request", 1);
	return !out || fclose(out) != 0;
}
END
expect 0 "$VPROF" build -- cc -O1 -o streams streams.c
for closed in '0<&-' '1>&-' '2>&-' '0<&- 1>&- 2>&-'; do
	rm -f seen
	eval "./streams want $closed"
	eval "\"\$VPROF\" record -- ./streams seen $closed" >out 2>err
	status=$?
	[ $status = 0 ] && cmp want seen && pass || fail "record $closed: status $status"
done

# Numbers, directories and names that mean nothing, or would be taken for something else.
for number in nan inf 0x1p-3 ' 1' ''; do
	expect 2 "$VPROF" show factors --threshold "$number"
	says "--threshold wants a number, not '$number'"
done
for number in -1 +1 ' 1' 1.5 4294967296 0; do
	expect 2 "$VPROF" show intervals --slowest "$number"
	says "--slowest wants a whole number from 1, not '$number'"
done
expect 2 "$VPROF" record --repeat 0 -o none -- ./p
says "--repeat wants a whole number from 1"
cp p.c ./-p.c
expect 5 "$VPROF" import --from tuples -- -p.c
says "-p.c:3: expected"
expect 0 "$VPROF" show runs --format json -- good
expect 2 "$VPROF" show runs -- --format
says "there is no run '--format'"
expect 2 "$VPROF" init -- --format
says "takes no command after '--'"
expect 2 "$VPROF" record ./p
says "vprof record -- ./p"
expect 2 "$VPROF" -d '' show runs
says "-d wants a directory"
expect 2 "$VPROF" show runs -d ''
says "-d wants a directory"
expect 4 "$VPROF" -d p.c show runs
says "p.c' is not a directory"
expect 4 "$VPROF" -d p.c import --from tuples large.tuples
expect 2 "$VPROF" build --functions ./names -- cc -O1 -o p p.c
says "cannot read './names': No such file"
expect 2 "$VPROF" build --functions mian -- cc -O1 -o p p.c
says "the nearest is 'main'" "one name a line"
expect 2 "$VPROF" show runs -d ''
says "-d wants a directory"
expect 2 "$VPROF" record -o --ignore-status -- ./p
says "'--ignore-status' cannot be the name of a run"
expect 2 "$VPROF" record -o '' -- ./p
says "it is empty"
expect 0 "$VPROF" record --repeat 2 -o many -- ./p
expect 0 "$VPROF" show runs many --format csv
[ "$(wc -l <.out)" = 3 ] && pass || fail "the runs of the group: $(cat .out)"
expect 0 "$VPROF" show runs good --format json
[ "$(grep -c '"run":' .out)" = 1 ] && pass || fail "one run: $(cat .out)"
expect 2 "$VPROF" show runs 99
says "there is no run '99'"
finish
