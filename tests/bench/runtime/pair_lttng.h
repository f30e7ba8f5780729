extern void bench_in(struct vprof_site *site);
extern void bench_out(void);

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
struct vprof_span vprof_in(struct vprof_site *site)
{
	struct vprof_span span = { 1 };

	bench_in(site);
	return span;
}

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_out(struct vprof_span *span)
{
	if (span->call)
		bench_out();
}

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_out_void(struct vprof_span *span)
{
	vprof_out(span);
}
