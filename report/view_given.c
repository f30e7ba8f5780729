/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * view_given.c - the options of a view, as the user gave them: the views' option tables write here.
 */
#include "base/banned.h"
#include "report/report.h"

struct view_options view_given = VIEW_OPTIONS_INIT;
