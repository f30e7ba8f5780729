/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scenarios.h - what the parts of the test program share. */
#ifndef TESTS_RUNTIME_SCENARIOS_H
#define TESTS_RUNTIME_SCENARIOS_H

#include <stdio.h>

extern int failed_checks;

#define CHECK(condition)							\
	do {									\
		if (!(condition)) {						\
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			failed_checks = 1;					\
		}								\
	} while (0)

enum {
	HOLD_USEC = 40000,		/* how long others hold what is waited for */
	COPIES = 200,			/* calls of copies that take some 100 us and do not block */
	COPY_BYTES = 1 << 16,
	STRANGERS = 20,			/* waits for a thread that is not recorded */
	LANDINGS = 300			/* jumps: more than calls that may be open at once */
};

void call_leaf(void);
void call_inner(void);

/* target_waits.c */
void run_churn(void);
void run_crowd(void);
void run_mutex(void);
void run_cond(void);
void run_barrier(void);
void run_sem(void);
void run_rwlock(void);
void run_spin(void);
void run_join(void);
void run_home_made(void);
void run_never_spins(void);
void run_processes(void);
void run_handover(void);
void run_nested(void);
void run_mixed(void);
void run_copies(void);
void run_strangers(void);

/* target_sampling.c */
void run_lots(void);
void run_relay(void);
void run_relay_forks(void);
void run_sampled_nested(void);
void run_marks(void);
void run_quiet(void);
void run_quiet_ends(void);
void run_early(void);
void run_early_keys(void);

/* target_registers.c */
void run_registers(void);
void run_unwinding(void);
void run_steps(void);
void run_steps_left(void);

/* target_semantics.c */
void run_semantics(void);
void run_cancel(void);

#endif
