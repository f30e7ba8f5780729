/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vdso.c - copies the vDSO to a file without a name, because libdw and libelf open files.
 *
 * The section headers are its last part, so it ends where they end.
 */
#include "recorder/stacks/vdso.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/banned.h"

const char *vdso_path(void)
{
	static char path[32];
	const Elf64_Ehdr *e = (const void *)getauxval(AT_SYSINFO_EHDR);
	size_t bytes;
	int fd;

	if (*path || !e || memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_ident[EI_CLASS] != ELFCLASS64)
		return *path ? path : NULL;
	bytes = e->e_shoff + (size_t)e->e_shnum * e->e_shentsize;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (write(fd, e, bytes) != (ssize_t)bytes) {
		close(fd);
		return NULL;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}
