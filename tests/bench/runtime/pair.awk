# SPDX-License-Identifier: GPL-3.0-or-later
# In an instrumented text: what vprof_in(), vprof_out() and vprof_out_void() do, replaced by the file PAIR: two clock readings,
# or another tool's events, at the very places where vprof's probes are.
#
#	awk -v pair=pair_rdtsc.h -f pair.awk unit.c.i
/^struct vprof_span vprof_in\(struct vprof_site \*site\)/ {
	print "struct vprof_span vprof_in(struct vprof_site *site);"
	while ((getline line < pair) > 0)
		print line
	skip = 1
}
/^void vprof_out(_void)?\(struct vprof_span \*span\)/ {
	print $0 ";"
	skip = 1
}
!skip { print }
skip && /^}/ { skip = 0 }
