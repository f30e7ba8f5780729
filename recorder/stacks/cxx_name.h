/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cxx_name.h - names of C++ as people write them: "_ZN5store3getEi" is "store::get", as the instrumenter has it.
 */
#ifndef RECORDER_STACKS_CXX_NAME_H
#define RECORDER_STACKS_CXX_NAME_H

#include <stdbool.h>
#include "base/str.h"

/* Adds what a symbol stands for, without parameters and result.  False: it is none of C++, and nothing is added. */
bool add_cxx_name(struct str *to, const char *symbol);

/* With them: "store::get(int)", "store::size() const". */
bool add_cxx_signature(struct str *to, const char *symbol);

#endif
