/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sample_findings.h - findings made by hand for tests of store/ and report/.
 */
#ifndef TESTS_UNIT_SAMPLE_FINDINGS_H
#define TESTS_UNIT_SAMPLE_FINDINGS_H

#include "analysis/findings/findings.h"

/*
 * A log server: the wait in log_append for a lock that flush_log holds while it sleeps.  H = 3.
 *
 *	request 1.00
 *	├─ handle_request .65
 *	│  ├─ log_append .62
 *	│  │  ├─ lock wait .61		because of flush_log › sleep wait .60, nobody known .01
 *	│  │  └─ body .01
 *	│  └─ hash_payload .03
 *	├─ queue wait .36
 *	└─ body -.01
 */
struct findings *sample_server(void);

/*
 * A data base's transaction; sd and mean of each node are its share of 2 ms and 1 ms.  Functions but for
 * the waits, what keeps them waiting, and bodies; "+": calls functions without probes.
 *
 *	transaction 1
 *	├─ exec_simple_query + .555			and body .004
 *	│ ├─ finish_xact_command + .316
 *	│ │ └─ CommitTransactionCommand + .316		and body .001
 *	│ │   └─ CommitTransaction + .315		and body .002
 *	│ │     └─ RecordTransactionCommit .313		and body .002
 *	│ │       └─ XLogFlush + .311
 *	│ │         ├─ LWLockAcquireOrWait .159		and body .009
 *	│ │         │ └─ lock wait .150
 *	│ │         │   ├─ by pg_fdatasync (io) .130
 *	│ │         │   └─ by nobody known .020
 *	│ │         └─ XLogWrite .152			and body .002
 *	│ │           └─ issue_xlog_fsync .150
 *	│ │             └─ pg_fdatasync .150		is body .147 and io wait .003
 *	│ └─ PortalRun .235
 *	│   ├─ PortalRunUtility .135
 *	│   └─ ProcessQuery .100			and body .008, ExecutorStart .007
 *	│     └─ heap_update .085			and body .006, toast_insert .004
 *	│       └─ LockAcquireExtended .075
 *	└─ (queue wait) .445
 *	  └─ by nobody known .445
 */
struct findings *sample_deep(void);

/* Everything absent, zero, huge, negative, quoted or not ASCII. */
struct findings *sample_odd(void);

#endif
