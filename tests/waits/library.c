/* SPDX-License-Identifier: GPL-3.0-or-later */
/* library.c - see library.h.  Compiled without vprof. */
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "library.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void library_lock(void)
{
	pthread_mutex_lock(&mutex);
}

void library_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

void library_read(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		_exit(1);
}

void library_write(int fd)
{
	if (write(fd, "x", 1) != 1)
		_exit(1);
}

/* Not syscall(): nobody can see this one. */
static void futex(int *word, long op, long value)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = 0;
	long r = SYS_futex;

	__asm__ __volatile__("syscall" : "+a"(r) : "D"(word), "S"(op), "d"(value), "r"(r10)
			     : "rcx", "r11", "memory");
#else
	syscall(SYS_futex, word, op, value, NULL, NULL, 0);
#endif
}

void opaque_lock(struct opaque *o)
{
	while (__atomic_exchange_n(&o->word, 1, __ATOMIC_ACQUIRE))
		futex(&o->word, FUTEX_WAIT, 1);
}

void opaque_unlock(struct opaque *o)
{
	__atomic_store_n(&o->word, 0, __ATOMIC_RELEASE);
	futex(&o->word, FUTEX_WAKE, 1);
}
