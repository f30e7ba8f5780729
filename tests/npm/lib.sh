# SPDX-License-Identifier: GPL-3.0-or-later
# lib.sh - for tests that use npm's packages.  Sourced.
npm=${VPROF_NPM:-${XDG_CACHE_HOME:-$HOME/.cache}/vprof-npm}

# has_npm PACKAGE...: whether node and all of them are there
has_npm()
{
	command -v node >/dev/null 2>&1 || return 1
	for package; do
		[ -d "$npm/node_modules/$package" ] || return 1
	done
}

# needs_npm PACKAGE...: skips the test where one is missing
needs_npm()
{
	command -v node >/dev/null 2>&1 || { echo "skipped: node is missing (apt-get install nodejs npm)"; exit 77; }
	for package; do
		[ -d "$npm/node_modules/$package" ] || { echo "skipped: $package is missing (tests/npm/install)"; exit 77; }
	done
}
