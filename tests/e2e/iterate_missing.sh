#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Planned functions that were not recorded are listed with the reason: never called, in another program, without a
# probe.
. "${srcdir:-.}/tests/e2e/lib.sh"

# helper is defined in two programs of the project; only one of them runs.  This gcc does not compile
# the instrumented text of odd.c.
mkdir project bin && cd project || exit 99
gcc=$(command -v gcc) || exit 99
cat >../bin/gcc <<END
#!/bin/sh
case "\$*" in
*cpp-output*odd.o.i*) echo "odd.c:1: error: no probes here" >&2; exit 1 ;;
esac
exec $gcc "\$@"
END
chmod +x ../bin/gcc
PATH=$work/bin:$PATH
export PATH
cat >server.c <<'END'
#include <unistd.h>
void helper(unsigned id);
void odd(unsigned id);
static int broken;
static void deep(void) { usleep(9000); }
static void rescue(void) { deep(); }
void handle(unsigned id) { helper(id); odd(id); if (broken && id % 3 == 0) rescue(); }
int main(void) { broken = access("broken", F_OK) == 0; for (unsigned id = 1; id <= 100; id++) handle(id); return 0; }
END
cat >helper.c <<'END'
#include <unistd.h>
void helper(unsigned id) { if (id % 8 == 0) usleep(2000); }
END
cat >tool.c <<'END'
void helper(unsigned id) { (void)id; }
int main(void) { helper(1); return 0; }
END
cat >odd.c <<'END'
void odd(unsigned id) { (void)id; }
END
cat >Makefile <<'END'
all: server tool
server: server.o helper.o odd.o
	gcc -o server server.o helper.o odd.o
tool: tool.o
	gcc -o tool tool.o
%.o: %.c
	gcc -c $<
END
expect 0 "$VPROF" annotate --start handle --end handle
printf '[build]\n\tcommand = make\n' >>vprof.conf
expect 0 "$VPROF" iterate -- ./server
says "▶ helper" "2 of 6 new functions were never called in an interval: " "rescue" \
	"1 of 6 new functions is in no program that ran: helper" \
	"1 of 6 new functions carries no probe: odd (the instrumented text did not compile: error: no probes here"
cp -a ../project ../again
expect 0 "$VPROF" iterate --uncalled --format json -- ./server
tr -d ' \n' <"$work/.out" >"$work/.line"
mv "$work/.line" "$work/.out"
says '"rescue"' '"uncalled":0' '"absent":["helper"]'
cd ../again || exit 99
rm -rf vprof.data ./*.o
expect 0 "$VPROF" iterate --format json -- ./server
tr -d ' \n' <"$work/.out" >"$work/.line"
mv "$work/.line" "$work/.out"
says '"unprobed":[{"function":"odd","reason":"theinstrumentedtext'
cd ../project || exit 99

# show coverage says the same of any run.  A function that could take no probe is in no later plan.
expect 0 "$VPROF" show coverage
says "Run 2 was to record 5 functions: called 2, never in an interval 2, in no program that ran 1"
expect 0 "$VPROF" show coverage 1
says "Run 1 was to record 6 functions: called 2, never in an interval 2, in no program that ran 2" \
	"not recorded in run 1" "rescue" "server.c:6" "never called in an interval" "tool.c:1" "odd.c:1"
expect 0 "$VPROF" show coverage 1 --format json
says '"run": 1' '"called": 2' '"never_called": 2' '"absent": 2'
# Some six of 100 requests are root-only, to measure the cost of recording.
grep -Eq '"calls": (8[4-9]|9[0-9]|100)' "$work/.out" && pass || fail "about 94 calls"

# No function calls rescue, so the next iteration does not begin with it, nor with what only it calls.
expect 0 "$VPROF" iterate --format json -- ./server
says '"uncalled": 1' "1 function that no interval of earlier runs of this command called has no probe in the first run, nor what only it" \
	"--uncalled"
if grep -Eq '"(rescue|deep)"' "$work/.out"; then fail "what nobody calls is recorded"; else pass; fi
# Another command may call it; and if this one does by now, that is found.
expect 0 "$VPROF" iterate -- ./server again
if grep -q "earlier runs" "$work/.err"; then fail "what another command called counts"; else pass; fi
touch broken
expect 0 "$VPROF" iterate -- ./server
says "1 function that no interval" "+ deep, rescue" "▶ deep"
finish
