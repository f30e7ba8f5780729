/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * look.c - `vprof look -p PID`: the answer for a server that runs, without a build and without an annotation.
 *
 *	vprof record --kernel=require --stacks --samples 997 --requests -p PID --duration 10s, and its variance tree
 *
* If the processes serve no requests, or requests cannot be recognized, it says so instead of printing a tree.
 */
#include <errno.h>
#include <limits.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/str.h"
#include "cmd/commands.h"
#include "cmd/messages.h"
#include "cmd/output_file.h"
#include "project/config/data_lock.h"
#include "project/config/locate.h"
#include "project/config/quantity.h"
#include "project/record/record_steps.h"
#include "project/runs/project.h"
#include "report/output.h"
#include "report/report.h"

enum { DURATION_DEFAULT_S = 10, LOOK_SAMPLES_HZ = 997 };

#define SEVERAL_MAX 0.5			/* of the requests: bursts, of which none is a request's latency */
#define UNSOLICITED_MAX 0.5		/* of the sends */

static unsigned arg_pid;
static const char *arg_start, *arg_end, *arg_key;
static const char *arg_duration, *arg_samples, *arg_output, *arg_format;
static struct args arg_ports, arg_paths;
static bool arg_ascii;

struct looking {
	struct store *store;
	struct run run;
	struct findings *findings;
	strings wanted;			/* names of intervals; none: the one with the most */
	uint64_t datagrams, asked_others, unasked;
	bool json;
};

static void looking_release(struct looking *l)
{
	findings_free(l->findings);
	run_release(&l->run);
	store_close(l->store);
	VEC_RELEASE(&l->wanted);
}

/* ---- what to look at ---- */

static int take_ports(struct looking *l)
{
	if (arg_start && (arg_ports.cnt || arg_paths.cnt))
		return fail_now(EXIT_USAGE, "vprof look -p PID --start FUNCTION --end FUNCTION",
				"look: intervals are requests on sockets (--port, --unix) or what lies between two functions (--start)");
	for (size_t i = 0; i < arg_ports.cnt; i++) {
		char *end;
		unsigned long port = strtoul(arg_ports.items[i], &end, 10);

		if (*arg_ports.items[i] < '0' || *arg_ports.items[i] > '9' || *end || !port || port > 65535)
			return fail_now(EXIT_USAGE, "vprof look -p PID --port 6379",
					"look: --port is a number from 1 to 65535, not '%s'", arg_ports.items[i]);
		VEC_ADD(&l->wanted, xasprintf("port %lu", port));
	}
	for (size_t i = 0; i < arg_paths.cnt; i++)
		VEC_ADD(&l->wanted, xasprintf("unix %s", arg_paths.items[i]));
	return EXIT_DONE;
}

static int take_numbers(struct record_options *o, struct attach *attach)
{
	char *end = NULL;
	unsigned long hz = arg_samples ? strtoul(arg_samples, &end, 10) : LOOK_SAMPLES_HZ;

	attach->duration_ns = DURATION_DEFAULT_S * 1000000000LL;
	if (arg_duration && !parse_duration(arg_duration, &attach->duration_ns))
		return fail_now(EXIT_USAGE, "vprof look -p PID --duration 10s",
				"look: --duration is a time with its unit, not '%s'", arg_duration);
	if (arg_samples && (*arg_samples < '0' || *arg_samples > '9' || *end || hz > SAMPLES_HZ_MAX))
		return fail_now(EXIT_USAGE, "vprof look -p PID --samples 997",
				"look: --samples is a number a second from 0 to %d, not '%s'", SAMPLES_HZ_MAX, arg_samples);
	o->samples_hz = (unsigned)hz;
	return EXIT_DONE;
}

static bool same_namespace(pid_t pid)
{
	_cleanup_(freep) char *path = xasprintf("/proc/%d/ns/pid", (int)pid);
	char ours[64], theirs[64];
	ssize_t a = readlink("/proc/self/ns/pid", ours, sizeof(ours)), b = readlink(path, theirs, sizeof(theirs));

	return a <= 0 || b <= 0 || (a == b && memcmp(ours, theirs, (size_t)a) == 0);
}

static int check_process(void)
{
	if (!arg_pid)
		return fail_now(EXIT_USAGE, "vprof look -p \"$(pidof redis-server)\"", "look at which process?");
	if (arg_pid > INT_MAX || (kill((pid_t)arg_pid, 0) < 0 && errno == ESRCH))
		return fail_now(EXIT_ENVIRONMENT, NULL, "there is no process %u", arg_pid);
	if (!same_namespace((pid_t)arg_pid))
		return fail_now(EXIT_ENVIRONMENT, "nsenter -t PID -p -m vprof look -p PID-IN-THERE",
				"process %u is in another PID namespace (a container): its threads have other numbers there, and its "
				"files other names", arg_pid);
	return EXIT_DONE;
}

/* ---- what came of it ---- */

static void tell_requests(const struct looking *l)
{
	const struct look *k = &l->findings->look;

	if (k->is_of_calls)
		note_line("%" PRIu64 " intervals from %s to %s in %.3g s; %" PRIu64 " ends without a start are left out", k->requests,
			  k->reader ? k->reader : arg_start, k->writer ? k->writer : arg_end, (double)k->duration_ns / 1e9,
			  k->without_start);
	else
		note_line("%" PRIu64 " request%s on %" PRIu64 " connection%s in %.3g s", k->requests, k->requests == 1 ? "" : "s",
			  k->connections, k->connections == 1 ? "" : "s", (double)k->duration_ns / 1e9);
	if (k->cost_ns)
		note_line("recording one takes %.2g us (with what all sockets of the machine take)", (double)k->cost_ns / 1e3);
	if (k->sample_ns && k->sample_cost_ns)
		note_line("a sample takes %.0f us of a request: taken off", (double)k->sample_cost_ns / 1e3);
	if (k->unseen_arrivals)
		note_line("%" PRIu64 " more are left out: their arrival was not seen", k->unseen_arrivals);
	for (size_t i = 0; i < l->findings->interval_names.cnt && l->findings->interval_names.cnt > 1; i++)
		note_line("others: vprof show variance-tree --interval '%s'", l->findings->interval_names.items[i]);
}

static int tell_no_calls(const struct looking *l)
{
	uint64_t ends = l->findings ? l->findings->look.without_start : 0;

	if (ends)
		return fail_now(EXIT_NO_EVIDENCE, "--key argN, if another thread ends what one begins; or other functions",
				"%" PRIu64 " times '%s' was reached, and never after '%s' by the same %s", ends, arg_end, arg_start,
				arg_key ? arg_key : "thread");
	return fail_now(EXIT_NO_EVIDENCE, "see that the load reaches it, or look longer (--duration 60s)",
			"process %u did not get from '%s' to '%s' while it was looked at", arg_pid, arg_start, arg_end);
}

static int tell_none(const struct looking *l)
{
	if (arg_start)
		return tell_no_calls(l);
	if (l->findings && l->findings->look.unseen_arrivals)
		return fail_now(EXIT_NO_EVIDENCE, "look longer (--duration 60s), or at connections that carry more than one request",
				"process %u answered %" PRIu64 " requests, but the arrival of none was seen (the first on a connection to "
				"a Unix socket, or one that began before)", arg_pid, l->findings->look.unseen_arrivals);
	if (l->unasked)
		return fail_now(EXIT_NO_EVIDENCE, "vprof show wait-graph",
				"process %u sends first: %" PRIu64 " sends on connections that it accepted answer nothing, and none answers a "
				"request", arg_pid, l->unasked);
	if (l->datagrams)
		return fail_now(EXIT_NO_EVIDENCE, "vprof annotate, a build, and vprof record",
				"process %u exchanges datagrams (%" PRIu64 " of them): UDP has no connections, so requests cannot be "
				"separated", arg_pid, l->datagrams);
	if (l->asked_others)
		return fail_now(EXIT_NO_EVIDENCE, "look at the server that it asks; or vprof annotate, a build, and vprof record",
				"process %u only asks others: %" PRIu64 " reads and writes, none on a connection that it accepted",
				arg_pid, l->asked_others);
	return fail_now(EXIT_NO_EVIDENCE, "see that the load reaches it, or look longer (--duration 60s)",
			"no request to process %u was answered while it was looked at", arg_pid);
}

/* Whether what the connections do is requests and answers; false, and *ret_status: it is not. */
static bool are_requests(const struct looking *l, int *ret_status)
{
	const struct look *k = &l->findings->look;
	uint64_t sends = k->answers + k->unsolicited;

	if (l->wanted.cnt || k->is_of_calls)		/* the figures are of all ports */
		return true;
	if (sends && (double)k->unsolicited > UNSOLICITED_MAX * (double)sends) {
		*ret_status = fail_now(EXIT_NO_EVIDENCE, "vprof show wait-graph",
				       "%.0f %% of the sends answer nothing (a stream, replication, messages to subscribers): these are not "
				       "requests and answers", 100 * (double)k->unsolicited / (double)sends);
		return false;
	}
	if (k->answers && (double)k->several > SEVERAL_MAX * (double)k->answers) {
		*ret_status = fail_now(EXIT_NO_EVIDENCE, "a load that waits for each answer, or vprof annotate and a build",
				       "%" PRIu64 " of %" PRIu64 " exchanges hold several requests (pipelining, HTTP/2): the protocol alone "
				       "tells one from the next", k->several, k->answers);
		return false;
	}
	return true;
}

/* Where an interval would begin and end in the sources. */
static json_t *annotate_json(const struct look *k)
{
	json_t *o;

	if (!k->reader || !k->writer)
		return json_null();
	o = json_object();
	json_set(o, "start", json_text(k->reader));
	json_set(o, "end", json_text(k->writer));
	return o;
}

static json_t *look_json(const struct look *k)
{
	json_t *o = json_object();

	json_set(o, "pid", json_integer(arg_pid));
	json_set(o, "duration_ns", json_integer(k->duration_ns));
	json_set(o, "exchanges", json_u64(k->requests));
	json_set(o, "connections", json_u64(k->connections));
	json_set(o, "cost_ns", k->cost_ns ? json_integer(k->cost_ns) : json_null());
	json_set(o, "sample_cost_ns", k->sample_cost_ns ? json_integer(k->sample_cost_ns) : json_null());
	json_set(o, "annotate", annotate_json(k));
	if (k->is_of_calls)
		json_set(o, "ends_without_start", json_u64(k->without_start));
	return o;
}

static void print_tree(const struct looking *l, const struct findings *f)
{
	const struct view *v = view_find("variance-tree");
	struct view_input in = { .options = view_given, .run = &l->run, .findings = f };
	struct style style;
	json_t *document;

	if (!l->json) {
		announce_warnings(&l->run, f);
		style_init(&style, stdout, arg_ascii);
		v->text(&style, &in);
		return;
	}
	document = v->json(&in);
	json_set(document, "look", look_json(&l->findings->look));
	report_write_json(stdout, document);
	json_decref(document);
}

/* JSON is one document: of the first that was asked for. */
static int print_trees(const struct looking *l, struct diag *reterr)
{
	size_t cnt = l->json && l->wanted.cnt > 1 ? 1 : l->wanted.cnt;

	if (!l->wanted.cnt)
		print_tree(l, l->findings);
	for (size_t i = 0; i < cnt; i++) {
		_cleanup_(findings_freep) struct findings *f = NULL;
		int r = findings_read_sums(l->store, l->run.number, l->wanted.items[i], &f, reterr);

		if (r < 0 && r != -ENOENT)
			return fail(reterr);
		if (r < 0 || !f->interval.cnt)
			return fail_now(EXIT_NO_EVIDENCE, "vprof show summary", "no request on %s was answered in run %u",
					l->wanted.items[i], l->run.number);
		print_tree(l, f);
	}
	return EXIT_DONE;
}

/* With the sources at hand: where an interval would begin and end, and what to record in it. */
static void tell_next(const struct looking *l)
{
	const struct look *k = &l->findings->look;

	note_line("next: vprof show critical-path --slowest 1");
	if (k->reader && k->writer)
		note_line("with the sources: vprof annotate --start %s --end %s; vprof iterate --from %u -- COMMAND", k->reader, k->writer,
			  l->run.number);
}

static int show_look(const struct looking *l, struct diag *reterr)
{
	int status = EXIT_DONE;

	if (!l->findings || !l->findings->look.requests)
		return tell_none(l);
	if (!are_requests(l, &status))
		return status;
	tell_requests(l);
	status = print_trees(l, reterr);
	if (status == EXIT_DONE && !l->json)
		tell_next(l);
	return finish_output(status);
}

static int look_run(int argc, char **argv)
{
	_cleanup_(looking_release) struct looking l = { .store = NULL };
	_cleanup_(config_release) struct config config = { 0 };
	_cleanup_(attach_release) struct attach attach = { { NULL, 0, 0 }, 0 };
	struct record_options options = {
		.attach = &attach, .config = &config, .kernel = KERNEL_MODE_REQUIRE, .stacks = KERNEL_STACKS_USER, .requests = true,
		.ret_datagrams = &l.datagrams, .ret_asked_others = &l.asked_others,
		.ret_unasked = &l.unasked,
	};
	struct args none = ARGS_INIT;
	struct diag diag = DIAG_INIT;
	int status;

	if (options_parse(argc, argv, &cmd_look, NULL, &status))
		return status;
	l.json = arg_format && strcmp(arg_format, "json") == 0;
	if (arg_format && !l.json && strcmp(arg_format, "text") != 0)
		return fail_now(EXIT_USAGE, "vprof look -p PID --format json", "look: --format is text or json, not '%s'", arg_format);
	if (record_take_calls(&options, arg_start, arg_end, arg_key, &diag) < 0)
		return fail(&diag);
	status = check_process();
	if (status == EXIT_DONE)
		status = take_ports(&l);
	if (status == EXIT_DONE)
		status = take_numbers(&options, &attach);
	if (status)
		return status;
	VEC_ADD(&attach.pids, (pid_t)arg_pid);
	options.kernel_pid = (pid_t)arg_pid;
	if (project_config(&config, &diag) < 0 || store_open(data_dir(), true, &l.store, &diag) < 0)
		return fail(&diag);
	progress_line("looking at process %u for %.3g s", arg_pid, (double)attach.duration_ns / 1e9);
	if (record_once(l.store, arg_output, &none, &options, &l.run, &l.findings, &status, &diag) < 0)
		return fail(&diag);
	return status ? status : show_look(&l, &diag);
}

static const struct option_desc look_options[] = {
	{ 'p', "pid", "PID", OPT_COUNT, &arg_pid, "the server: that process, with its threads and children" },
	{ 0, "duration", "TIME", OPT_STR, &arg_duration, "how long to look (default 10s)" },
	{ 0, "port", "N", OPT_STRS, &arg_ports, "show the requests on that port (may repeat); default: where most came" },
	{ 0, "unix", "PATH", OPT_STRS, &arg_paths, "the same of a Unix socket (may repeat)" },
	{ 0, "start", "PLACE", OPT_STR, &arg_start,
	  "with --end, for what is no request on a socket: intervals begin as the program calls this function; FUNCTION, FILE:FUNCTION, "
	  "FUNCTION@return, usdt:PROVIDER:NAME" },
	{ 0, "end", "PLACE", OPT_STR, &arg_end, "... and end as this one returns (FUNCTION@entry: as it is called)" },
	{ 0, "key", "argN", OPT_STR, &arg_key, "a start and an end with the same value of this argument belong together (default: those on one thread)" },
	{ 0, "samples", "HZ", OPT_STR, &arg_samples, "sample running threads at HZ per CPU (default 997; 0: off)" },
	{ 'o', "output", "NAME", OPT_STR, &arg_output, "name the run, in addition to its number" },
	{ 0, "format", "FORMAT", OPT_STR, &arg_format, "text (default) or json" },
	{ 0, "min-share", "X", OPT_DOUBLE, &view_given.min_share, "sum up nodes with a smaller share (default 0.01)" },
	{ 0, "ascii", NULL, OPT_FLAG, &arg_ascii, "print ASCII only" },
	LOCK_OPTION,
	OPT_END
};
static const char *const look_examples[] = {
	"vprof look -p \"$(pidof redis-server)\"", "vprof look -p 4711 --port 8080 --duration 30s",
	"vprof look -p 4711 --start handle_job --end handle_job", NULL
};
const struct cmd cmd_look = {
	.name = "look", .synopsis = "-p PID [--duration TIME] [--port N]... [--unix PATH]... [--start FUNC --end FUNC [--key argN]]",
	.summary = "why a running server's requests take so unequally long: without a build",
	.options = look_options, .run = look_run, .examples = look_examples,
};
