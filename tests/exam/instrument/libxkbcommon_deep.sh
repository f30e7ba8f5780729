#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A keymap whose expressions are within one another: numbers and sets of modifiers. Run in its tree.
set -u

awk 'function nested(what, last, n, r) { r = last; while (n--) r = what "+(" r ")"; return r }
BEGIN {
	print "xkb_keymap {"
	print "xkb_keycodes { minimum = 8; maximum = 255; <AA> = 38; };"
	print "xkb_types { virtual_modifiers Deep; type \"ONE_LEVEL\" { modifiers = none; }; };"
	print "xkb_compatibility { interpret a { action = MovePtr(x=" nested("0", "7", 1500) ", y=" nested("0", "-5", 1500) "); };"
	print "interpret b { action = SetMods(modifiers=" nested("Shift", "Lock", 1500) "); }; };"
	print "xkb_symbols { key <AA> { [a, b] }; };\n};"
}' </dev/null >deep.xkb || exit
# In this version it ends with 1 whatever it has printed.
b/xkbcli-compile-keymap --from-xkb <deep.xkb || [ $? = 1 ]
