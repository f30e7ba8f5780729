/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text_name.c - one file, build/texts, has a byte for each object, at the hash of its path; a compile of the object
 * locks it. The lock belongs to the open file and goes with its process: a killed one leaves nothing, and no process
 * waits.  If two objects share a hash, one gets a number in its name without need.
 */
#include "instrumenter/products/text_name.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/str.h"
#include "instrumenter/scan/scan.h"

static bool lock(int fd, const char *object)
{
	struct flock byte = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	byte.l_start = (off_t)(hash_str(0, object) >> 2);	/* any number that fits into an off_t, plus one */
	return fcntl(fd, F_OFD_SETLK, &byte) == 0;
}

char *text_name(const char *build_dir, const char *object, const char *suffix, int *ret_lock)
{
	_cleanup_(freep) char *locks = path_join(build_dir, "texts"), *own = xasprintf(".%d%s", (int)getpid(), suffix);
	int fd = open(locks, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);

	*ret_lock = fd;
	return unit_path(build_dir, object, fd >= 0 && lock(fd, object) ? suffix : own);
}
