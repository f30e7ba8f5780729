/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_steps.h - one run, recorded and analysed: what `vprof record` and `vprof iterate` share.
 */
#ifndef PROJECT_RECORD_RECORD_STEPS_H
#define PROJECT_RECORD_RECORD_STEPS_H

#include "project/record/record_attach.h"
#include "project/record/record_kernel.h"
#include "project/runs/project.h"

struct record_options {
	unsigned buffer_mib;		/* 0: default */
	const char *arena_dir;		/* where programs find the memory for recording; NULL: the default */
	bool inherit_arena;		/* they inherit a descriptor of it */
	bool stdout_to_stderr;		/* of the command: our stdout is for a document */
	struct sample sample;		/* which intervals are recorded in full */
	bool sample_by_trace;		/* ... by their trace ids, the same on each host */
	enum kernel_mode kernel;
	enum kernel_stacks stacks;
	unsigned samples_hz;		/* of each CPU; 0: none */
	bool requests;			/* those on accepted sockets, as intervals */
	bool from_arrival;		/* the program's own begin as their requests arrive in the socket */
	const char *start, *end;	/* ... from one place of the code to another, in place of those; NULL: no */
	unsigned key;			/* of what makes one: an argument plus one; 0: the thread */
	const char *program;		/* in which file they are; NULL: those of kernel_pid */
	uint64_t *ret_datagrams, *ret_asked_others, *ret_unasked;	/* what the processes did instead; NULL: not asked for */
	pid_t kernel_pid;		/* the kernel's side of a process that runs already; 0: none */
	uint64_t keep_ns, keep_bytes;	/* of the trace, only the last so much; 0, 0: all */
	uint64_t limit_bytes;		/* of what is written; 0: none */
	int64_t digest_every_ns;	/* a digest of each window of this length goes to digest_to; 0: none */
	const char *digest_to;		/* a command for sh */
	uint64_t spool_bytes;		/* of digests that it did not take yet; 0: the default */
	bool start_paused;		/* until a request to resume */
	uint64_t delay_ns;		/* ... or after this time; 0: only on request */
	const struct attach *attach;	/* processes to attach to; NULL or empty: none */
	bool kernel_if_alone;		/* record the kernel's side only for processes without our runtime */
	bool notes_order;		/* every synchronisation, for replays */
	bool keep_levels;		/* keep the level "always" even if sampled */
	const struct drainer_experiments *experiments;	/* that are made meanwhile; NULL: none */
	void (*interrupted)(int signal);	/* at Control-C, which the command gets as well; NULL: it is for the command alone */
	const struct config *config;	/* for the marks that intervals have there */
};

/* The command after "--", else [run] command.  command_name is of the subcommand, for the message. */
int record_command(const struct config *c, const char *command_name, char *const *given,
		   struct args *ret, struct diag *reterr);

/* The command as the user wrote it: [run] command is shell text already.  The caller frees it. */
char *record_command_text(const struct args *command);

/*
 * Runs command under the plan on disk, as a new run of that name (may be NULL), and analyses it.  Without a command
 * it records what o->attach names, until that has ended or the duration is over. *ret stays NULL and *ret_status says
 * how to end, with all messages printed, if no program that ran was built with vprof.  The command's own status is in
 * ret_run, which the caller releases, also on errors.
 */
int record_once(struct store *s, const char *name, const struct args *command,
		const struct record_options *o, struct run *ret_run, struct findings **ret,
		int *ret_status, struct diag *reterr);

/* The same without the analysis: the run has a trace.  *ret_status: as above; not EXIT_DONE where nothing was recorded. */
int record_only(struct store *s, const char *name, const struct args *command, const struct record_options *o,
		struct run *ret_run, int *ret_status, struct diag *reterr);

#endif
