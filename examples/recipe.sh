#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# recipe.sh - runs the commands that a recipe page shows, as they stand there.  `make recipes` runs
# those of all servers.
#
#	recipe.sh --vprof PROGRAM [--work DIR] SERVER ...
#	recipe.sh --list SERVER ...
#
# SERVER is a directory beside this file.  Its README.md begins with one indented block of commands, e.g.
#
#	./fetch-and-build.sh --work /tmp/ngx --vprof vprof plan    # fetch, configure, vprof build -- make
#	cd /tmp/ngx/plan
#	vprof record
#	vprof show variance-tree
#
# They are run by one shell that stops at the first that fails, begun where the page lies, with PROGRAM
# as "vprof"; the page's directory below /tmp is replaced by one in DIR (./recipes).  Afterwards
# there is an answer in the project (`vprof show summary`), and its vprof.conf is what
# `vprof init --preset SERVER` writes.  --list prints the commands only.
# Exit status 1 if a command failed, 2 if a page has no commands.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
vprof='' work=recipes list=''

usage() { sed -n '7,8s/^#	\{0,1\}//p' "$0" >&2; exit 2; }

while [ $# -gt 0 ]; do
	case $1 in
	--vprof)	vprof=$(realpath "${2:?--vprof needs a program}"); shift ;;
	--work)		work=${2:?--work needs a directory}; shift ;;
	--list)		list=yes ;;
	-*)		usage ;;
	*)		break ;;
	esac
	shift
done
[ $# -gt 0 ] || usage
[ -n "$list" ] || [ -x "$vprof" ] || usage

# commands SERVER: the page's first indented block
commands() {
	page=$here/$1/README.md
	[ -f "$page" ] || { echo "recipe: there is no $page" >&2; exit 2; }
	block=$(awk '/^    [^ ]/ { on = 1; print substr($0, 5); next } on { exit }' "$page")
	[ -n "$block" ] || { echo "recipe: $page shows no commands" >&2; exit 2; }
	printf '%s\n' "$block"
}

# directory_of COMMANDS: what stands below /tmp in them: /tmp/ngx
directory_of() { printf '%s\n' "$1" | sed -n 's|.*--work \(/tmp/[a-z]*\).*|\1|p' | head -n 1; }

# run SERVER: fails if one of the commands does, or leaves no answer
run() {
	shown=$(commands "$1")
	there=$(directory_of "$shown")
	rm -rf "${work:?}/$1"
	mkdir -p "$work/$1/bin"
	ln -s "$vprof" "$work/$1/bin/vprof"
	printf 'set -eux\n%s\n' "$shown" | sed "s|$there|$work/$1|g" >"$work/$1/commands"
	cat >>"$work/$1/commands" <<-END
		vprof show summary
		mkdir "$work/$1/preset"
		(cd "$work/$1/preset" && vprof init --preset "$1")
		cmp vprof.conf "$work/$1/preset/vprof.conf"
	END
	(cd "$here/$1" && PATH=$work/$1/bin:$PATH sh "$work/$1/commands")
}

if [ -n "$list" ]; then
	for server in "$@"; do commands "$server"; done
	exit
fi
mkdir -p "$work"
work=$(cd "$work" && pwd)
failed=''
for server in "$@"; do
	echo "== $server"
	(run "$server") || failed="$failed $server"
done
[ -z "$failed" ] || { echo "recipe: failed:$failed" >&2; exit 1; }
echo "recipe: all commands of $# pages work"
