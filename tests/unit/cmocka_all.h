/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmocka_all.h - cmocka.h with the headers it wants before it. */
#ifndef TESTS_UNIT_CMOCKA_ALL_H
#define TESTS_UNIT_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#endif
