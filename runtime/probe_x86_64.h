/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_x86_64.h - the three things a probe does that depend on the machine.  Same rules as probe.h:
 * this text goes into instrumented units, just before probe.h.
 */

/* The time stamp counter, not fenced: what a span needs.  7 ns of a probe's 8. */
extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
unsigned long long vprof_ticks(void)
{
	unsigned int low, high;

	__asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
	return (unsigned long long)high << 32 | low;
}

/* Where the thread's own memory begins.  volatile: a coroutine may come back in another thread. */
extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
char *vprof_thread(void)
{
	char *thread;

	__asm__ __volatile__("mov{q}\t{%%fs:0, %0|%0, QWORD PTR fs:0}" : "=r"(thread));
	return thread;
}

/* Takes room for a record in one instruction, so that a signal handler between us and our record
 * takes the next one; no lock prefix, since a cursor belongs to one thread. */
extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
char *vprof_take(char **cursor, unsigned long bytes)
{
	__asm__ __volatile__("xadd{q}\t{%0, %1|%1, %0}" : "+r"(bytes), "+m"(*cursor) : : "cc");
	return (char *)bytes;
}
