/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.h - the number of a site's function, as it lies in three bytes beside the gate.
 *
 *	gate 2, function 0x012345	02 45 23 01		a probe loads all four at once: 0x01234502
 */
#ifndef RUNTIME_SHARED_SITE_H
#define RUNTIME_SHARED_SITE_H

#include "runtime/shared/clock.h"

static inline unsigned int site_fid(const struct vprof_site *site)
{
	return site->fid[0] | (unsigned int)site->fid[1] << 8 | (unsigned int)site->fid[2] << 16;
}

/* As a probe passes it; a probe passes nothing else about its site. */
static inline unsigned int site_word(const struct vprof_site *site)
{
	return site->gate | site_fid(site) << 8;
}

static inline void set_site_fid(struct vprof_site *site, unsigned int fid)
{
	site->fid[0] = (unsigned char)fid;
	site->fid[1] = (unsigned char)(fid >> 8);
	site->fid[2] = (unsigned char)(fid >> 16);
}

#endif
