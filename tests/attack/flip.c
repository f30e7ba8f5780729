/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flip.c - plays the other user: exchanges a directory while another process uses it.
 *
 *	flip WHILE A B [SEEN]	exchanges the names A and B (renameat2) again and again as long as the file WHILE is there; with
 *				SEEN, a directory, also at once whenever anybody opens something in it (inotify)
 *
 * Prints how often.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int seen = argc > 4 ? inotify_init1(IN_NONBLOCK) : -1;
	struct pollfd wait = { .fd = seen, .events = POLLIN };
	unsigned long cnt = 0;
	char events[4096];

	if (argc < 4 || (seen >= 0 && inotify_add_watch(seen, argv[4], IN_OPEN | IN_ACCESS | IN_CLOSE) < 0))
		return 1;
	/* Odd times, from a few microseconds to a millisecond: what is looked at is not always the same. */
	for (unsigned int lot = (unsigned int)getpid(); access(argv[1], F_OK) == 0; cnt++) {
		struct timespec odd = { 0, 0 };

		lot = lot * 1103515245 + 12345;
		odd.tv_nsec = 1000L << (lot >> 16) % 11;
		if (renameat2(AT_FDCWD, argv[2], AT_FDCWD, argv[3], RENAME_EXCHANGE) < 0)
			return 2;
		if (seen < 0)
			nanosleep(&odd, NULL);
		else if (poll(&wait, 1, 1 + (int)(lot >> 16) % 3) > 0 && read(seen, events, sizeof(events)) < 0)
			return 3;
	}
	if (cnt % 2 && renameat2(AT_FDCWD, argv[2], AT_FDCWD, argv[3], RENAME_EXCHANGE) < 0)
		return 2;
	printf("%lu\n", cnt);
	return 0;
}
