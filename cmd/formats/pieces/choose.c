/* SPDX-License-Identifier: GPL-3.0-or-later */
/* choose.c - see choose.h. */
#include "cmd/formats/pieces/choose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "base/order.h"
#include "base/str.h"

int choice_parse(const char *text, struct choice *ret, struct diag *reterr)
{
	const char *number = NULL;
	char *end;

	*ret = (struct choice){ CHOICE_SLOWEST, CHOICE_DEFAULT };
	if (!text)
		return 0;
	if (strcmp(text, "all") == 0) {
		ret->kind = CHOICE_ALL;
		return 0;
	}
	if (starts_with(text, "SLOWEST:"))
		number = text + strlen("SLOWEST:");
	if (starts_with(text, "SAMPLE:")) {
		ret->kind = CHOICE_SAMPLE;
		number = text + strlen("SAMPLE:");
	}
	errno = 0;
	if (number && *number >= '0' && *number <= '9') {
		ret->cnt = strtoul(number, &end, 10);
		if (!errno && !*end && ret->cnt)
			return 0;
	}
	diag_set(reterr, EXIT_USAGE, -EINVAL, "export: --intervals is SLOWEST:N, SAMPLE:N or all, not '%s'", text);
	return diag_remedy(reterr, -EINVAL, "vprof export --intervals SLOWEST:200");
}

static int compare_hashes(const void *a, const void *b, void *arg)
{
	const struct findings *f = arg;
	uint64_t x = hash_u64(0, f->intervals.items[*(const size_t *)a].sid), y = hash_u64(0, f->intervals.items[*(const size_t *)b].sid);

	return (x > y) - (x < y);
}

size_t *choose_intervals(const struct findings *f, const struct choice *c, size_t *ret_cnt)
{
	size_t *order = findings_by_latency(f), cnt = 0;

	for (size_t i = 0; i < f->intervals.cnt; i++)	/* the others have no recorded functions */
		if (!f->intervals.items[order[i]].root_only)
			order[cnt++] = order[i];
	if (c->kind == CHOICE_SAMPLE)		/* by a hash of the SID: reproducible, and independent of the latency */
		qsort_r(order, cnt, sizeof(*order), compare_hashes, (void *)f);
	if (c->kind != CHOICE_ALL && cnt > c->cnt)
		cnt = c->cnt;
	qsort(order, cnt, sizeof(*order), compare_size);
	*ret_cnt = cnt;
	return order;
}
