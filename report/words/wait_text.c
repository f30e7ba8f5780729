/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_text.c - what the states of a thread are called.
 */
#include "base/banned.h"
#include "report/words/sentence.h"

const char *wait_text(enum trace_state wait)
{
	static const char *const texts[STATE_CNT] = {
#define X(id, name) [STATE_##id] = name " wait",
		WAIT_CLASSES(X)
#undef X
		[STATE_RUNNING] = "running time", [STATE_RUNNABLE] = "runnable time", [STATE_WAKEUP] = "wakeup delay",
		[STATE_OTHER] = "off the CPU, unknown why", [STATE_ARRIVED] = "arrived, not read",
		[STATE_BUSY] = "busy with other requests", [STATE_HANDED_OVER] = "handed over, not taken up",
		[STATE_PARKED] = "parked",
	};

	return texts[wait];
}
