/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * quantity.c - a number and its unit.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/banned.h"
#include "project/config/quantity.h"

struct unit {
	const char *name;
	double size;
};

/* most: the largest result that fits. */
static bool parse(const char *text, const struct unit *units, size_t cnt, double most, double *ret)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	*ret = strtod(text, &end);
	for (size_t i = 0; i < cnt; i++)
		if (strcmp(end, units[i].name) == 0) {
			*ret *= units[i].size;
			return *ret >= 1 && *ret < most;
		}
	return false;
}

bool parse_duration(const char *text, int64_t *ret_ns)
{
	static const struct unit units[] = {
		{ "", 1e9 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 }, { "min", 60e9 },
		{ "h", 3600e9 }, { "us", 1e3 },
	};
	double value;

	if (!parse(text, units, ARRAY_SIZE(units), 9e18, &value))
		return false;
	*ret_ns = (int64_t)value;
	return true;
}

bool parse_bytes(const char *text, uint64_t *ret)
{
	static const struct unit units[] = {
		{ "", 1 }, { "K", 1024 }, { "M", 1048576 }, { "G", 1073741824 },
		{ "T", 1099511627776 }, { "k", 1024 }, { "KiB", 1024 }, { "MiB", 1048576 },
		{ "GiB", 1073741824 }, { "B", 1 },
	};
	double value;

	if (!parse(text, units, ARRAY_SIZE(units), 1e19, &value))
		return false;
	*ret = (uint64_t)value;
	return true;
}
