/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - see order.h. */
#include <errno.h>
#include "runtime/thread.h"
#include "runtime/waits/order.h"
#include "runtime/waits/releasers.h"

uint32_t order_on;

void order_prepare(void)
{
	order_on = __atomic_load_n(&process.arena->control->notes_order, __ATOMIC_RELAXED);
	if (order_on)
		releasers_watch_all(true);
}

void order_over(void)
{
	if (!order_on)
		return;
	__atomic_store_n(&order_on, 0, __ATOMIC_RELEASE);
	releasers_watch_all(false);
}

void order_note(uint64_t name, enum order_what what, uint64_t ticks, uint64_t waited)
{
	if (thread_ready())
		THREAD_LOG(EVENT_ORDER, ticks, name, order_word(what, waited));
}

void order_note_at_once(uint64_t object, enum order_what what)
{
	uint64_t ticks = clock_ticks();
	int saved_errno = errno;

	order_note(releasers_name(object), what, ticks, 0);
	errno = saved_errno;
}
