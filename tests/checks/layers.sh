#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# scripts/check-layers in a copy of the sources: it passes as they are, and fails where one include is planted that the
# table in ARCHITECTURE.md does not allow, or a library prints.
top=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd) || exit 99
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
rooms=$(awk -F'|' '/^## Who may include whom/ { on = 1; next } /^## / { on = 0 }
	on && NF == 4 && $2 !~ /---|room/ { gsub(/[ \t]/, "", $2); sub("/.*", "", $2); print $2 }' "$top/ARCHITECTURE.md" | sort -u)
(cd "$top" && cp -R --parents ARCHITECTURE.md scripts $(find $rooms -name '*.[ch]' -o -name '*.am') "$work") || exit 99
bad=0

check()
{
	srcdir=$work "$top/scripts/check-layers" > "$work/log" 2>&1
}

# planted FILE HEADER: FILE includes it, and only that is found.
planted()
{
	cp "$work/$1" "$work/kept" || exit 99
	printf '#include "%s"\n' "$2" >> "$work/$1"
	if check; then
		echo "FAIL: $1 may include $2"
		bad=1
	elif ! grep -q "^$1:[0-9]*: .*$2\$" "$work/log" || [ "$(wc -l < "$work/log")" != 1 ]; then
		echo "FAIL: $1 with $2 is not what is found:"
		cat "$work/log"
		bad=1
	fi
	cp "$work/kept" "$work/$1"
}

check || { echo "FAIL: as it is:"; cat "$work/log"; bad=1; }
planted base/str.c trace/model.h
planted base/str.c base/text/utf8.h
planted trace/read/reader.c analysis/findings/findings.h
planted trace/raw/raw.c trace/read/replay.h
planted trace/kernel/kernel_read.c trace/windows/stream.h
planted runtime/waits/wait.c base/alloc.h
planted runtime/shared/arena.c drainer/drain.h
planted trace/format.h trace/encode.h
planted runtime/shared/arena.c runtime/process.h
planted runtime/rules/permit.c runtime/waits/wait.h
planted runtime/process.c runtime/wrappers/poll.h
planted drainer/drain.c runtime/thread.h
planted recorder/write.c trace/model.h
planted recorder/stacks/unwind.c recorder/recorder_internal.h
planted recorder/bpf/record.h base/alloc.h
planted instrumenter/parse/parse.c instrumenter/plan/plan.h
planted instrumenter/insert/sync.c instrumenter/launcher/launcher.h
planted store/store.c report/report.h
planted report/style.c report/words/sentence.h
planted report/words/because.c report/views/tree_lines.h
planted project/config/config.c project/runs/project.h
planted project/build/build_steps.c cmd/messages.h
planted cmd/iterate/iterate.c cmd/doctor/doctor.h

# prints FILE LINE: FILE has this line, and only that is found.
prints()
{
	cp "$work/$1" "$work/kept" || exit 99
	printf '%s\n' "$2" >> "$work/$1"
	check && { echo "FAIL: $1 may say: $2"; bad=1; }
	grep -q "^$1:[0-9]*: prints" "$work/log" && [ "$(wc -l < "$work/log")" = 1 ] || { echo "FAIL: found in $1:"; cat "$work/log"; bad=1; }
	cp "$work/kept" "$work/$1"
}
prints project/runs/project.c '	fprintf(stderr, "lost\n");'
prints store/store.c '	printf("lost\n");'

# A table that allows the guest more, and a file of another room in its library.
sed -i 's/^| runtime |/| runtime | base/' "$work/ARCHITECTURE.md"
planted runtime/process.c base/alloc.h
cp "$work/runtime/local.am" "$work/kept"
sed -i 's/^libearly_a_SOURCES =/& base\/str.c/' "$work/runtime/local.am"
check && { echo "FAIL: base/str.c in every program"; bad=1; }
cp "$work/kept" "$work/runtime/local.am"

# A row, a room or a header that is not there any more.
sed -i 's/^| store |/| store | trace\/nothing.h/' "$work/ARCHITECTURE.md"
check && { echo "FAIL: a header that there is not"; bad=1; }
exit $bad
