/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * symbol.h - whether a symbol is the variable that is meant.
 *
 *	log_lock	log_lock of C, also a static one in a function (log_lock.3); of C++ server::log_lock and
 *			(anonymous namespace)::log_lock, for either of which log_lock is enough
 *
 * C++ names are compared as they are in the file: of server::log_lock, _ZN6server8log_lockE, the last part is 8log_lock.
 */
#ifndef BASE_TEXT_SYMBOL_H
#define BASE_TEXT_SYMBOL_H

#include <stdbool.h>

bool symbol_is_variable(const char *symbol, const char *name);

#endif
