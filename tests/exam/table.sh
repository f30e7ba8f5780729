# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
#
# table.sh - the table of an exam or a bench: a line each that says what was wanted, and results/NAME.json for
# scripts. To be read by a script (. "$top/tests/exam/table.sh") that ends with `exit $bad`: 1 after a missed row.

rows=
bad=0

# row NAME VALUE UNIT TARGET CONDITION: the condition as awk sees it
row()
{
	ok=$(awk "BEGIN { print ($5) ? \"true\" : \"false\" }")
	[ "$ok" = true ] || bad=1
	printf '%-48s %10s %-14s target %-5s %s\n' "$1" "$2" "$3" "$4" "$ok"
	rows="$rows${rows:+,
  }{\"name\":\"$1\",\"value\":$2,\"unit\":\"$3\",\"target\":$4,\"ok\":$ok}"
}

# write_results FILE: the rows as vprof.bench/1
write_results()
{
	mkdir -p "$(dirname "$1")"
	cat >"$1" <<-END
		{"schema":"vprof.bench/1",
		 "host":{"cores":$(nproc),"kernel":"$(uname -r)","load":"$(cut -d' ' -f1 /proc/loadavg)"},
		 "rows":[$rows]}
	END
}

# median: of the numbers on standard input, the lower one of two
median()
{
	sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
