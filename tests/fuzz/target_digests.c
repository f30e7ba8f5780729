/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * target_digests.c - digests, and rows of SQL, from anybody: what is accepted can be united, rolled up, judged and written, and comes back.
 *
 * Data of "digest" is what a digest holds unpacked, else its checksum would be all that is tried; where it begins with the magic it is
 * a whole file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/pack.h"
#include "digest/digest.h"
#include "digest/tsv.h"
#include "digest/unite.h"
#include "tests/fuzz/targets.h"

static void judge(const struct summed *s)
{
	for (size_t i = 0; i < s->interval_names.cnt && i < 8; i++) {
		_cleanup_(findings_freep) struct findings *f = NULL;
		int r = summed_findings(s, &(struct analyze_options){ .interval = s->interval_names.items[i] }, &f);

		if (r != 0 && r != -EOVERFLOW)
			abort();
	}
}

static void come_back(const struct summed *s)
{
	_cleanup_(str_release) struct str bytes = STR_INIT, rows = STR_INIT, again = STR_INIT;
	_cleanup_(summed_freep) struct summed *copy = NULL, *of_rows = NULL;
	struct diag diag = DIAG_INIT;

	if (digest_write(s, &bytes, &diag) < 0 || digest_parse(bytes.data, bytes.len, "it", &copy, &diag) < 0)
		abort();
	if (!s->windows.cnt || tsv_write(s, &(struct tsv_options){ .service = "" }, &rows, &diag) < 0)
		return;			/* too many, or a name that no recording has */
	if (tsv_parse(str_cstr(&rows), rows.len, "it", &of_rows, &diag) == 0 && digest_write(of_rows, &again, &diag) < 0)
		abort();
}

static void look(const struct summed *s)
{
	_cleanup_(uniter_freep) struct uniter *u = uniter_new();
	_cleanup_(summed_freep) struct summed *united = NULL;
	struct diag diag = DIAG_INIT;

	uniter_add(u, s);
	if (uniter_end(u, &united, &diag) < 0)
		return;
	judge(united);
	come_back(united);
	if (summed_roll_up(united, 1000, &diag) == 0 && summed_roll_up(united, 0, &diag) == 0)
		judge(united);
}

void fuzz_digest(const uint8_t *data, size_t len)
{
	_cleanup_(str_release) struct str bytes = STR_INIT;
	_cleanup_(summed_freep) struct summed *s = NULL;
	struct diag diag = DIAG_INIT;

	if (len >= strlen(DIGEST_MAGIC) && memcmp(data, DIGEST_MAGIC, strlen(DIGEST_MAGIC)) == 0) {
		str_addn(&bytes, (const char *)data, len);
	} else {
		str_add(&bytes, DIGEST_MAGIC);
		if (pack((const char *)data, len, &bytes) < 0)
			abort();
	}
	if (digest_parse(bytes.data, bytes.len, "it", &s, &diag) == 0)
		look(s);
	else if (!*diag.text)
		abort();
}

void fuzz_digest_tsv(const uint8_t *data, size_t len)
{
	_cleanup_(freep) char *text = xcalloc(len + 1, 1);
	_cleanup_(summed_freep) struct summed *s = NULL;
	struct diag diag = DIAG_INIT;

	memcpy(text, data, len);
	if (tsv_parse(text, len, "it", &s, &diag) == 0)
		look(s);
	else if (!*diag.text)
		abort();
}
