/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_digest.c - `vprof export --format digest`: the sums of the run's intervals, for vprof merge.
 */
#include <errno.h>

#include "base/banned.h"
#include "cmd/formats/export_format.h"
#include "digest/digest.h"
#include "project/config/quantity.h"
#include "project/digests/run_digest.h"

static const char *arg_window;

static const struct option_desc window_options[] = {
	{ 0, "window", "TIME", OPT_STR, &arg_window,
	  "of a digest: a window of each TIME in which intervals ended, e.g. 60s (default: the run is one)" },
	OPT_END
};

static bool window_given(void)
{
	return arg_window;
}

static int read_window(int64_t *ret_ns, struct diag *reterr)
{
	*ret_ns = 0;
	if (!arg_window || parse_duration(arg_window, ret_ns))
		return 0;
	diag_set(reterr, EXIT_USAGE, -EINVAL, "export: --window is a time with its unit, not '%s'", arg_window);
	return diag_remedy(reterr, -EINVAL, "vprof export --format digest --window 60s RUN -o FILE.vpd");
}

/* EXIT_NO_EVIDENCE: the run has no intervals. */
static int read_digest(struct store *s, const struct run *r, struct summed **ret, struct diag *reterr)
{
	int64_t window_ns;
	int e = read_window(&window_ns, reterr);

	if (e == 0)
		e = run_digest_read(s, r, window_ns, ret, reterr);
	if (e == 0 && !(*ret)->windows.cnt) {
		diag_set(reterr, EXIT_NO_EVIDENCE, -ENODATA, "run %u has no intervals: there is nothing to sum up", r->number);
		return diag_remedy(reterr, -ENODATA, "vprof show runs   (then vprof export RUN)");
	}
	return e;
}

static int write_digest(FILE *out, struct store *s, const struct run *r, struct diag *reterr)
{
	_cleanup_(summed_freep) struct summed *digest = NULL;
	_cleanup_(str_release) struct str bytes = STR_INIT;
	int e = read_digest(s, r, &digest, reterr);

	if (e == 0)
		e = digest_write(digest, &bytes, reterr);
	if (e < 0)
		return e;
	return fwrite(bytes.data, 1, bytes.len, out) == bytes.len ? 0 : -errno;
}

const struct export_format export_digest = {
	.name = "digest", .write_run = write_digest, .options = window_options, .has_options = window_given,
	.is_binary = true,
};
