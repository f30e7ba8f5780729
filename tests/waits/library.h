/* SPDX-License-Identifier: GPL-3.0-or-later */
/* library.h - a library that vprof has not built. */
#ifndef TESTS_WAITS_LIBRARY_H
#define TESTS_WAITS_LIBRARY_H

void library_lock(void);		/* calls pthread_mutex_lock: seen by itself */
void library_unlock(void);
void library_read(int fd);
void library_write(int fd);

struct opaque {
	int word;
};

void opaque_lock(struct opaque *o);	/* makes its system calls itself: seen if it is listed */
void opaque_unlock(struct opaque *o);

#endif
