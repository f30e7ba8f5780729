#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
#	embed.sh text FILE		FILE as a C string
#	embed.sh script FILE...		these scripts as one, as a C string
#	embed.sh policy STYLE SCRIPT...	the page's Content-Security-Policy, which names the digests of both
#
# Each script is a module.  In the one script it is a function that returns what the module exports; lines that begin with
# "import " go, and so does "export ".
set -eu

# joined FILE...: without comments on lines of their own, indents and empty lines, which are for readers of the sources
joined()
{
	printf '"use strict";(()=>{\n'
	for file; do
		names=$(sed -n -E 's/^export (async )?(function|const|class) ([A-Za-z0-9_]+).*/\3/p' "$file" | paste -s -d, -)
		echo "const {$names}=(()=>{"
		sed -e '/^import /d' -e 's/^export //' -e 's/^[[:space:]]*//' -e '/^\/\*.*\*\/$/d' -e '/^\/\*/,/\*\/$/d' -e '/^$/d' "$file"
		echo "return{$names}})();"
	done
	printf '})();'
}

text()
{
	sed -e 's/^[[:space:]]*//' -e '/^\/\*.*\*\/$/d' -e '/^<!--.*-->$/d' -e '/^$/d' "$@"
}

quoted()
{
	sed -e 's/[\\"]/\\&/g' -e 's/^/"/' -e 's/$/\\n"/'
}

# digest: of standard input, as a policy names it
digest()
{
	bytes=$(sha256sum | awk '
		function digit(at) { return index("0123456789abcdef", substr($1, at, 1)) - 1 }
		{ for (i = 1; i < 64; i += 2) printf "\\%03o", 16 * digit(i) + digit(i + 1) }')
	# shellcheck disable=SC2059
	printf "sha256-%s" "$(printf "$bytes" | base64)"
}

what=$1
shift
case $what in
text) text "$@" | quoted ;;
script)
	if grep -n -i -e '</script' -e '<!--' "$@" >&2; then
		echo "embed.sh: this would end the script" >&2
		exit 1
	fi
	joined "$@" | quoted
	;;
policy)
	style=$(text "$1" | digest)
	shift
	# A C string ends each line, the last one, too.
	script=$({ joined "$@"; echo; } | digest)
	printf "\"default-src 'none'; base-uri 'none'; form-action 'none'; script-src '%s'; style-src '%s'\"\n" "$script" "$style"
	;;
esac
