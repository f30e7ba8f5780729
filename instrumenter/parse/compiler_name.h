/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compiler_name.h - names under which builds call a C or C++ compiler, or a wrapper of one.
 *
 *	cc, gcc-12, x86_64-linux-gnu-g++, clang++-14, ccache	yes
 *	gcc-ar, clang-format-14, cpp, tcc, distcc-pump		no
 *
 * Wrappers are among them because a ccache in front of the launcher would take the launcher for the compiler, and
 * would not know that the plan changed; so the launcher runs ccache.
 */
#ifndef INSTRUMENTER_PARSE_COMPILER_NAME_H
#define INSTRUMENTER_PARSE_COMPILER_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* In a header and without memory allocation, because catch_exec.c calls it between vfork and exec. */
static inline bool is_compiler_name(const char *name)
{
	static const char *const plain[] = { "cc", "c++", "c89", "c99", "gcc", "g++", "clang", "clang++",
					     "ccache", "sccache", "distcc", "icecc" };

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		const char *found = strstr(name, plain[i]);

		for (; found; found = strstr(found + 1, plain[i])) {
			const char *rest = found + strlen(plain[i]);
			bool starts = found == name || found[-1] == '-';

			if (starts && (!*rest || (*rest == '-' && rest[1] >= '0' && rest[1] <= '9')))
				return true;
		}
	}
	return false;
}

#endif
