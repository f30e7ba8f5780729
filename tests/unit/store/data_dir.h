/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * data_dir.h - a directory of its own for each test of the store: setup and teardown.
 *
 *	cmocka_unit_test_setup_teardown(test_round_trip, make_dir, drop_dir)
 */
#ifndef TESTS_UNIT_STORE_DATA_DIR_H
#define TESTS_UNIT_STORE_DATA_DIR_H

#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "tests/unit/cmocka_all.h"

static char *dir;			/* absolute; exists while a test runs */

static int make_dir(void **state)
{
	char template[] = "test_store.XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(template));
	dir = path_real(template);
	return 0;
}

static int drop_dir(void **state)
{
	(void)state;
	chmod(dir, 0700);		/* a test may have made it read-only */
	remove_tree(dir);
	free(dir);
	return 0;
}

#endif
