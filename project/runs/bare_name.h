/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bare_name.h - what two spellings of a C++ function's name have in common: that of a symbol, demangled, and that of the sources.
 *
 *	symbol						sources				both
 *	pool<int>::take(int)				pool::take(int)			pool::take
 *	(anonymous namespace)::flush()			flush				flush
 *	handle(int)::{lambda()#1}::operator()() const	handle::{lambda}		handle::{lambda}
 *	handle(int)::{lambda(int)#1}::_FUN(int)		handle::{lambda}		handle::{lambda}
 *	handle(int)::job::run()				handle::job::run		handle::job::run
 *	key::operator std::basic_string<char>()		key::operator basic_string	key::operator type
 *	operator"" _ms(unsigned long long)		operator""_ms			operator""_ms
 *	non-virtual thunk to disk::read()		disk::read			disk::read
 */
#ifndef PROJECT_RUNS_BARE_NAME_H
#define PROJECT_RUNS_BARE_NAME_H

#include "base/str.h"

/* Adds it.  Any text will do: brackets may be missing. */
void add_bare_name(struct str *to, const char *name);

#endif
