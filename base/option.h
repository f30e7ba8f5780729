/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * option.h - an option of a command line as a row (cmd/options.h parses them and prints their help).
 *
 *	static double arg_nmin = NAN;
 *	static const struct option_desc options[] = {
 *		{ 0, "nmin", "N", OPT_DOUBLE, &arg_nmin, "a slice with at most N threads active is critical" },
 *		OPT_END
 *	};
 */
#ifndef BASE_OPTION_H
#define BASE_OPTION_H

enum option_type {
	OPT_FLAG,			/* bool */
	OPT_STR,			/* const char * */
	OPT_OPTIONAL,			/* const char *; "--kernel" without "=..." is "" */
	OPT_UINT,			/* unsigned */
	OPT_COUNT,			/* unsigned, from 1 on */
	OPT_DOUBLE,			/* double: finite, in decimal digits */
	OPT_STRS			/* struct args: the option may repeat */
};

struct option_desc {
	char short_name;		/* 0: none */
	const char *long_name;		/* NULL: none */
	const char *arg_name;		/* in the help; NULL for flags */
	enum option_type type;
	void *target;
	const char *help;
};

#define OPT_END { 0, NULL, NULL, OPT_FLAG, NULL, NULL }

#endif
