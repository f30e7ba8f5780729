/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wide.h - a function of sums over arrays, made twice: for any CPU, and for those with registers twice as
 * wide.
 *
 *	WIDE uint64_t sum(const uint32_t *x) { ... a loop that the compiler makes vector instructions of ... }
 *
 * The loader picks one of the two once; both yield the same.  Integers only: sums of floating-point numbers
 * depend on their order.  Off under AddressSanitizer, which is not initialised yet when the loader picks.
 */
#ifndef BASE_WIDE_H
#define BASE_WIDE_H

#include <stddef.h>			/* says whether the C library is glibc */

#ifdef __has_feature			/* clang's way to say it */
#if __has_feature(address_sanitizer)
#define WIDE_SANITIZED
#endif
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(WIDE_SANITIZED)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

#endif
