/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cxx_name.h - names of C++ as they are written: "_ZN5store3getEi" is "store::get", as for the instrumenter.
 */
#ifndef RECORDER_STACKS_CXX_NAME_H
#define RECORDER_STACKS_CXX_NAME_H

#include <stdbool.h>
#include "base/str.h"

/* Adds the name of a symbol, without parameters and result.  False: it is not of C++, and nothing is added. */
bool add_cxx_name(struct str *to, const char *symbol);

/* With parameters: "store::get(int)", "store::size() const". */
bool add_cxx_signature(struct str *to, const char *symbol);

#endif
