/* SPDX-License-Identifier: GPL-3.0-or-later */
/* longest_pieces.h - which pieces of a critical path a table has room for.  Private to report/views/. */
#ifndef REPORT_VIEWS_LONGEST_PIECES_H
#define REPORT_VIEWS_LONGEST_PIECES_H

#include <stdbool.h>

#include "report/report.h"

/* Per piece: it is one of the longest, most of them in all; of equals the earlier ones.  The caller frees it. */
bool *longest_pieces(const path_pieces *pieces, size_t most);

#endif
