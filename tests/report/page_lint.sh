#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The page's scripts pass eslint; scripts with a mistake fail it.  Skipped (exit 77) without eslint.
. "${srcdir:-.}/tests/e2e/lib.sh"
. "$top/tests/npm/lib.sh"

# An install that fails is made again.
mkdir bin
printf '#!/bin/sh\nmkdir -p "$VPROF_NPM/node_modules"\n[ -e %s/works ]\n' "$work" >bin/npm
chmod +x bin/npm
expect 1 env PATH="$work/bin:$PATH" VPROF_NPM="$work/npm" sh "$top/tests/npm/install"
expect 1 env PATH="$work/bin:$PATH" VPROF_NPM="$work/npm" sh "$top/tests/npm/install"
touch works
expect 0 env PATH="$work/bin:$PATH" VPROF_NPM="$work/npm" sh "$top/tests/npm/install"
[ -e npm/package.json ] && pass || fail "an install that works does not count as done"

needs_npm eslint @eslint/js

cp "$top"/report/html/*.js "$top"/report/html/*.mjs .
ln -s "$npm/node_modules" node_modules
echo '{"type":"module"}' >package.json
expect 0 node node_modules/eslint/bin/eslint.js --max-warnings 0 .
for mistake in 'export function f(name) { document.body.innerHTML = name; }' 'export const f = () => undefinedName;' 'eval("1");'; do
	echo "$mistake" >mistake.js
	expect 1 node node_modules/eslint/bin/eslint.js mistake.js
done
finish
