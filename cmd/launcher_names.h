/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * launcher_names.h - names under which builds call a C or C++ compiler.  `vprof build` makes a
 * link for each that exists on PATH, with and without a version ("gcc-12").
 */
#ifndef CMD_LAUNCHER_NAMES_H
#define CMD_LAUNCHER_NAMES_H

#define COMPILER_NAMES { "cc", "c++", "c89", "c99", "gcc", "g++", "clang", "clang++" }

#endif
