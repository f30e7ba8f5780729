/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_generic.h - as probe_x86_64.h, for every other machine: the clock is the runtime's
 * (clock_gettime, ns), the cursor moves by an atomic addition.
 */
extern unsigned long long vprof_ticks(void) __asm__("vprof_ticks")
	__attribute__((weak, visibility("default")));

/* The fence: vprof_offset was written before the level that let us come here. */
extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
char *vprof_thread(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return (char *)__builtin_thread_pointer();
}

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
char *vprof_take(char **cursor, unsigned long bytes)
{
	return (char *)__atomic_fetch_add((unsigned long *)(void *)cursor, bytes, __ATOMIC_RELAXED);
}
