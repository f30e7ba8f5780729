/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tsv_fields.h - the fields of one row.  Private to digest/.
 *
 *	if (!row_next(&text, &row))	no more lines
 *	id = row_number(&row, UINT64_MAX);	the next field
 *	row_end(&row);
 *
 * The first error stays in row.wrong; fields after it are 0 or "".
 */
#ifndef DIGEST_TSV_FIELDS_H
#define DIGEST_TSV_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUM_MAX ((unsigned __int128)1 << 124)

struct tsv_row {
	char *at;			/* the next field, in text that is changed; NULL: none is left */
	size_t line, column;		/* column: of the last field that was taken, from 1 */
	const char *wrong;		/* what it should be: "a number"; NULL: nothing is wrong */
};

/* Takes a line without its line feed. */
void row_begin(struct tsv_row *row, char *line, size_t number);

const char *row_text(struct tsv_row *row);	/* without its escapes; lives as long as the line */
uint64_t row_number(struct tsv_row *row, uint64_t most);
int64_t row_signed(struct tsv_row *row);
__int128 row_sum(struct tsv_row *row);
/* The index of the text among cnt names. */
unsigned row_name(struct tsv_row *row, const char *(*name_of)(unsigned number), unsigned cnt);
void row_skip(struct tsv_row *row, unsigned cnt);
void row_end(struct tsv_row *row);		/* there is no further field */

#endif
