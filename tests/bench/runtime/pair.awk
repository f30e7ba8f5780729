# SPDX-License-Identifier: GPL-3.0-or-later
# In an instrumented text: what vprof_in() and vprof_out() do, replaced by the file PAIR: two clock readings,
# or another tool's events, at the very places where vprof's probes are.
#
#	awk -v pair=pair_rdtsc.h -f pair.awk unit.c.i
/^struct vprof_span vprof_in\(struct vprof_site \*site\)/ {
	print "struct vprof_span vprof_in(struct vprof_site *site);"
	while ((getline line < pair) > 0)
		print line
	skip = 1
}
/^void vprof_out\(struct vprof_span \*span\)/ {
	print "void vprof_out(struct vprof_span *span);"
	skip = 1
}
!skip { print }
skip && /^}/ { skip = 0 }
