/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - tests a seccomp filter with a system call, without making the call.
 *
 *	struct seccomp_data call = { .nr = SYS_gettid, .arch = AUDIT_ARCH_X86_64 };
 *	filter_permits(program, &call)		false: the call would be refused, or end the program
 */
#ifndef RUNTIME_RULES_FILTER_H
#define RUNTIME_RULES_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>

/* A program that the kernel would reject permits nothing. */
bool filter_permits(const struct sock_fprog *program, const struct seccomp_data *call);

#endif
