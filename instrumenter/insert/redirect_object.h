/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * redirect_object.h - primitives redirected in an object that the user's own command made.
 *
 * For a unit without probes and events whose record says which of the runtime's primitives it uses: its
 * source need not be preprocessed, edited and compiled in another way to call vprof_w_sem_post() for
 * sem_post().  The object gets what sync.c writes into the text, the same symbols and the same forwarders.
 */
#ifndef INSTRUMENTER_INSERT_REDIRECT_OBJECT_H
#define INSTRUMENTER_INSERT_REDIRECT_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether this program can edit objects of this machine, compiled with these words (NULL-terminated). */
bool object_is_redirectable(const char *const *argv);

/* Ignores names that the object does not call.  False: the object is unchanged, since its kind cannot be edited. */
bool object_redirect(const char *path, const char *const *names, size_t cnt);

#endif
