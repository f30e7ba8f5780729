/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_sums.c - see export_sums.h. */
#include "cmd/formats/export_sums.h"

#include <errno.h>
#include <string.h>

#include "base/banned.h"
#include "digest/digest.h"
#include "digest/unite.h"
#include "project/config/quantity.h"
#include "project/digests/run_digest.h"

static const char *arg_window, *arg_table, *arg_service;

const struct option_desc export_sums_options[] = {
	{ 0, "window", "TIME", OPT_STR, &arg_window,
	  "of a digest: a window of each TIME in which intervals ended, e.g. 60s (default: the run is one)" },
	{ 0, "table", "TABLE", OPT_STR, &arg_table, "digest-tsv: only the rows of that table, as its columns alone" },
	{ 0, "service", "NAME", OPT_STR, &arg_service, "digest-tsv: what the column service says" },
	OPT_END
};

bool export_sums_given(void)
{
	return arg_window || arg_table || arg_service;
}

static int read_window(int64_t *ret_ns, struct diag *reterr)
{
	*ret_ns = 0;
	if (!arg_window || parse_duration(arg_window, ret_ns))
		return 0;
	diag_set(reterr, EXIT_USAGE, -EINVAL, "export: --window is a time with its unit, not '%s'", arg_window);
	return diag_remedy(reterr, -EINVAL, "vprof export --format digest --window 60s RUN -o FILE.vpd");
}

int export_tsv_options(struct tsv_options *ret, struct diag *reterr)
{
	_cleanup_(str_release) struct str names = STR_INIT;

	*ret = (struct tsv_options){ .service = arg_service ? arg_service : "", .table = arg_table };
	for (size_t i = 0; tsv_tables[i]; i++) {
		if (!arg_table || strcmp(arg_table, tsv_tables[i]) == 0)
			return 0;
		str_addf(&names, "%s%s", i ? ", " : "", tsv_tables[i]);
	}
	diag_set(reterr, EXIT_USAGE, -EINVAL, "export: there is no table '%s'; there are: %s", arg_table, str_cstr(&names));
	return diag_remedy(reterr, -EINVAL, "vprof export --format digest-tsv --table %s RUN", tsv_tables[0]);
}

int export_refuse_tsv_options(struct diag *reterr)
{
	if (!arg_table && !arg_service)
		return 0;
	return diag_set(reterr, EXIT_USAGE, -EINVAL, "export: --%s is for --format digest-tsv", arg_table ? "table" : "service");
}

int export_sums_read(struct store *s, const struct run *r, const char *file, struct summed **ret, struct diag *reterr)
{
	int64_t window_ns;
	int e = read_window(&window_ns, reterr);

	if (e == 0 && file) {
		e = digest_read(file, ret, reterr);
		if (e == 0 && window_ns)
			e = summed_roll_up(*ret, window_ns, reterr);
	} else if (e == 0) {
		e = run_digest_read(s, r, window_ns, ret, reterr);
	}
	if (e < 0 || (*ret)->windows.cnt)
		return e;
	if (file)
		return diag_set(reterr, EXIT_NO_EVIDENCE, -ENODATA, "'%s' has no intervals: there is nothing to export", file);
	diag_set(reterr, EXIT_NO_EVIDENCE, -ENODATA, "run %u has no intervals: there is nothing to sum up", r->number);
	return diag_remedy(reterr, -ENODATA, "vprof show runs   (then vprof export RUN)");
}
