/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts.c - the files beside a trace that have its name, a dot and six to nine digits.
 */
#include "trace/parts.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/order.h"

char **trace_parts(const char *path, size_t *ret_cnt)
{
	char **parts;
	_cleanup_(freep) char *dir = path_dir(path);
	const char *name = path_base(path);
	VEC(uint32_t) list = { NULL, 0, 0 };
	size_t len = strlen(name);
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d))) {
		const char *digits = e->d_name + len + 1;

		if (strncmp(e->d_name, name, len) == 0 && e->d_name[len] == '.' && strlen(digits) >= 6 &&
		    strlen(digits) < 10 && !digits[strspn(digits, "0123456789")])
			VEC_ADD(&list, (uint32_t)strtoul(digits, NULL, 10));
	}
	if (d)
		closedir(d);
	if (list.cnt)
		qsort(list.items, list.cnt, sizeof(*list.items), compare_uint32);
	parts = xcalloc(list.cnt + 1, sizeof(*parts));
	for (size_t i = 0; i < list.cnt; i++)
		parts[i] = xasprintf("%s.%06" PRIu32, path, list.items[i]);
	*ret_cnt = list.cnt;
	VEC_RELEASE(&list);
	return parts;
}

void trace_parts_release(char ***parts)
{
	for (char **part = *parts; part && *part; part++)
		free(*part);
	free(*parts);
}
