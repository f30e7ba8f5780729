/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * counts.h - how the programs of this directory count their own calls.
 *
 * Each body that is there once in the text has HERE in it, on the line of its '{': counts.c compares how often that
 * line was met with how often the probe of a function of that line was entered, and left.
 */
#include <stdio.h>

/* They never throw: functions that end in a call behind one that may have no probe, if g++ optimizes. */
#ifdef __cplusplus
#define QUIET noexcept
extern "C" {
#else
#define QUIET
#endif
void counts_here(int line) QUIET;
void counts_unleft(int line) QUIET;	/* the function of this line does not come back */
int counts_depth(void) QUIET;		/* frames on the stack */
#ifdef __cplusplus
}
#endif

#define HERE counts_here(__LINE__);
#define HERE_AT_RUN_TIME if (!__builtin_is_constant_evaluated()) HERE	/* in a constexpr function */
#define TELL(...) printf("%d %d deep %d\n", __LINE__, (int)(__VA_ARGS__), counts_depth());
