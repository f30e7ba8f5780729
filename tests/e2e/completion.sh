#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof completion: bash completes commands, options, views, runs and groups, and leaves the user's command alone.  zsh and fish, if
# installed, accept their scripts.
. "${srcdir:-.}/tests/e2e/lib.sh"
PATH=$(dirname "$VPROF"):$PATH
export PATH

# options_of SHELL COMMAND: the script's lines of that command
options_of()
{
	case $1 in
	fish) grep "__fish_seen_subcommand_from $2'" fish.script;;
	*) awk -v begin="$2)" '{ sub(/^\t/, "") } $0 == begin { on = 1; next } /^([a-z]+\)|esac)/ { on = 0 } on' $1.script;;
	esac
}
for shell in bash zsh fish; do
	expect 0 vprof completion $shell
	cp .out $shell.script
	for command in $(vprof --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'); do
		grep -q -e "\b$command\b" $shell.script || fail "$shell: $command is missing"
		options_of $shell $command >.options
		for option in $(vprof $command --help | sed -n 's/^  \(-., \|    \)--\([a-z][a-z0-9-]*\).*/\2/p'); do
			grep -qE -e "(--|-l )$option([]=[' ]|\$)" .options || fail "$shell: $command --$option is missing"
		done
	done
	for word in help no-pager version; do
		grep -qE -e "(--|-l |-a |[ '(])$word\\b" $shell.script || fail "$shell: $word is missing"
	done
	if command -v $shell >/dev/null 2>&1; then
		$shell -n $shell.script >.out 2>&1 && pass || fail "$shell does not take its script: $(cat .out)"
	else
		echo "$shell is not there: its script is not tried"
	fi
done
expect 2 vprof completion
expect 2 vprof completion tcsh
says 'bash, zsh or fish'

awk 'BEGIN { print "vprof-tuples 1\ninterval 1 r 1 0 1 100\nsegment 1 1 0 100 running" }' >one.tuples
for name in base.1 base.2 other; do
	expect 0 vprof import --from tuples one.tuples -o $name
done
# complete WORD...: what bash offers for the last word
complete_()
{
	bash -c 'source ./bash.script; compopt() { :; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _vprof; printf "%s\n" "${COMPREPLY[@]}"' bash "$@" |
		sort | tr '\n' ' ' >.out
}
offers()
{
	[ "$(cat .out)" = "$1" ] && pass || fail "it offers '$(cat .out)', not '$1'"
}
complete_ vprof expo; offers 'export '
complete_ vprof -d . expo; offers 'export '
complete_ vprof export --int; offers '--interval --intervals '
complete_ vprof show variance; offers 'variance-tree '
complete_ vprof show factors ba; offers 'base base.1 base.2 '
complete_ vprof diff base o; offers 'other '
complete_ vprof show factors --interval ''; offers 'r '
# The value of an option is no view.
complete_ vprof show --format json variance; offers 'variance-tree '
complete_ vprof show --format = json -k 3 variance; offers 'variance-tree '
complete_ vprof show --no-pager factors ba; offers 'base base.1 base.2 '
complete_ vprof show --interval = ''; offers 'r '
complete_ vprof show sour; offers 'source '
complete_ vprof record -- ech; grep -q 'echo' .out && pass || fail 'after -- it is the user'"'"'s command'
complete_ vprof help dif; offers 'diff '

# Functions of the last build.
printf 'int flush_it(void) { return 0; }\nint main(void) { return flush_it(); }\n' >p.c
expect 0 vprof build --functions all -- cc -o p p.c
complete_ vprof show source flu; offers 'flush_it '
complete_ vprof annotate --start flu; offers 'flush_it '
complete_ vprof export -o p.; offers 'p.c '
for shell in zsh fish; do
	grep -q 'warnings.* source[) '"'"']' $shell.script && grep -q "source.*_vprof_\(of_\)\{0,1\}functions" $shell.script && pass ||
		fail "$shell: show source FUNCTION is missing"
done
finish
