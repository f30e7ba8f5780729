static __thread unsigned long long vprof_pair_sum;

static __inline__ __attribute__((always_inline, no_instrument_function)) unsigned long long vprof_pair_ticks(void)
{
	unsigned int low, high;

	__asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (unsigned long long)high << 32 | low;
}

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
struct vprof_span vprof_in(struct vprof_site *site)
{
	struct vprof_span span = { vprof_pair_ticks() };

	(void)site;
	return span;
}

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_out(struct vprof_span *span)
{
	if (span->call)
		*(volatile unsigned long long *)&vprof_pair_sum += vprof_pair_ticks() - span->call;
}

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_out_void(struct vprof_span *span)
{
	vprof_out(span);
}
