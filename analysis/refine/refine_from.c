/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refine_from.c - a first plan of functions that are known beforehand, from a look (vprof iterate --from), instead of a census.
 */
#include "analysis/refine/refine.h"
#include "analysis/refine/refine_state.h"
#include "base/banned.h"

size_t refinement_begin_with(struct refinement *r, const bool *wanted)
{
	const struct refine_project *p = r->state->p;
	size_t cnt = 0;

	r->recorded_cnt = r->dormant_cnt = 0;
	for (size_t i = 0; i < p->function_cnt; i++) {
		const struct refine_function *f = &p->functions[i];
		bool takes_probe = !f->skipped && !f->left_out;

		r->levels[i] = REFINE_OUT;
		if (!f->skipped && (f->root || f->always))
			r->levels[i] = f->always ? REFINE_ALWAYS : REFINE_IN_INTERVALS;
		else if (wanted[i] && takes_probe)
			r->levels[i] = REFINE_IN_INTERVALS;
		cnt += wanted[i] && takes_probe;
		r->added[i] = r->levels[i] >= REFINE_IN_INTERVALS;
		r->recorded_cnt += r->added[i];
	}
	return cnt;
}
