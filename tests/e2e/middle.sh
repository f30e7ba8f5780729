#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# One interval of a long run is read from where it is: what the analysis leaves beside the trace (trace.vpi) says where to begin.  The
# answer is that of a reading from the beginning, and of what comes before no block is unpacked: one of them is damaged here.
. "${srcdir:-.}/tests/e2e/lib.sh"
cat >prog.c <<'C'
volatile unsigned long sink;
void leaf(unsigned long i) { sink += i; }
void work(unsigned long i) { for (unsigned long k = 0; k < 150 + i % 50; k++) leaf(k); }
void request(unsigned long i) { work(i); work(i + 7); }
int main(void) { for (unsigned long i = 0; i < 2500; i++) request(i); return 0; }
C
expect 0 "$VPROF" annotate --start request --end request
expect 0 "$VPROF" build --functions all -- cc -O1 -fno-inline -o prog prog.c
expect 0 "$VPROF" record -- ./prog
expect 0 "$VPROF" show summary
run=vprof.data/runs/001
[ -s $run/trace.vpi ] && [ "$(stat -c %a $run/trace.vpi)" = 600 ] && pass || fail "the analysis left: $(ls -l $run)"
grep -q 'records were lost' .err && { echo "the machine is so busy that records were lost"; exit 77; }

# paths OUT: of an interval at the beginning, in the middle, and near the end, and of the slowest ones
paths()
{
	for sid in 3 1200 2450; do
		"$VPROF" show critical-path --interval $sid --format json
	done >"$1" 2>.err && "$VPROF" show critical-path --slowest 20 --format json >>"$1" 2>>.err && pass || fail "critical-path: $(cat .err)"
}
paths from-middle
mv $run/trace.vpi kept.vpi
paths from-beginning
cmp from-middle from-beginning && pass || fail "an interval has another path if the trace is read from its beginning"
[ ! -e $run/trace.vpi ] && pass || fail "a reading of one interval wrote trace.vpi"

# Exports of some intervals: as from the beginning, and each interval as in an export of all.
cat >some.py <<'P'
import json, sys
def slices(name): return [(e["ts"], e["dur"], e["name"], e["args"]["interval"]) for e in json.load(open(name))["traceEvents"] if e["ph"] == "X"]
some, every = slices("some.json"), slices("all.json")
sids = {s[3] for s in some}
assert len(sids) == 30 and len(some) > 30 * 150, (len(sids), len(some))
assert sorted(some) == sorted(s for s in every if s[3] in sids)
rows, everything = ([l.split(",") for l in open(name)][1:] for name in ("some.csv", "all.csv"))
assert {r[0] for r in rows} == {str(s) for s in sids}, "csv and chrome-trace have other intervals"
assert rows == [r for r in everything if r[0] in {str(s) for s in sids}]
P
for format in chrome-trace perfetto otlp csv; do
	cp kept.vpi $run/trace.vpi
	"$VPROF" export --format $format --intervals SAMPLE:30 >middle.$format 2>.err && pass || fail "$format: $(cat .err)"
	rm $run/trace.vpi
	"$VPROF" export --format $format --intervals SAMPLE:30 2>.err | cmp -s - middle.$format && pass || fail "$format is another from the beginning"
done
mv middle.chrome-trace some.json
mv middle.csv some.csv
"$VPROF" export --format chrome-trace --intervals all >all.json 2>.err && "$VPROF" export --format csv --intervals all >all.csv 2>.err
expect 0 python3 some.py

# The middle of the largest block in the first third of the trace, where nothing of interval 2450 is.
cp $run/trace.vpt whole.vpt
place=$(LC_ALL=C grep -abo VBLK whole.vpt | cut -d: -f1 | awk -v size="$(stat -c %s whole.vpt)" '
	NR > 1 && $1 < size / 3 && $1 - before > most { most = $1 - before; place = int(before + most / 2) } { before = $1 }
	END { print place + 0 }')
[ "$place" -gt 0 ] || { fail "blocks: $(LC_ALL=C grep -abo VBLK whole.vpt | head -5)"; finish; }
"$VPROF" show critical-path --interval 2450 >one 2>.err
printf 'XXXXXXXXXXXXXXXX' | dd of=$run/trace.vpt bs=1 seek="$place" conv=notrunc 2>/dev/null
cp kept.vpi $run/trace.vpi
expect 0 "$VPROF" show critical-path --interval 2450
cmp -s .out one && pass || fail "interval 2450, of a trace that is damaged far before it: $(head -3 .out .err)"
rm $run/trace.vpi
"$VPROF" show critical-path --interval 2450 >other 2>.err
cmp -s other one && fail "the damaged block was not read from the beginning either" || pass

# One that is damaged, cut, or of another trace is no worse than none.
cp whole.vpt $run/trace.vpt
for change in 'printf XXXX | dd of=trace.vpi bs=1 seek=200 conv=notrunc' 'truncate -s 100 trace.vpi' ': >trace.vpi' 'mkdir trace.vpi'; do
	rm -rf $run/trace.vpi && cp kept.vpi $run/trace.vpi
	case $change in mkdir*) rm $run/trace.vpi ;; esac
	(cd $run && eval "$change" 2>/dev/null)
	expect 0 "$VPROF" show critical-path --interval 2450
	cmp -s .out one && pass || fail "after $change: $(head -3 .out)"
done
rm -rf $run/trace.vpi
expect 0 "$VPROF" analyze 1
cmp $run/trace.vpi kept.vpi && pass || fail "the same analysis left another file"
finish
