/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sample_findings.h - findings made by hand for tests of store/ and report/.
 */
#ifndef TESTS_UNIT_SAMPLE_FINDINGS_H
#define TESTS_UNIT_SAMPLE_FINDINGS_H

#include "analysis/findings.h"

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

/* Everything absent, zero, huge, negative, quoted or not ASCII. */
struct findings *sample_odd(void);

#endif
