/* SPDX-License-Identifier: GPL-3.0-or-later */
/* banned.h - functions that do not compile here: each writes or reads past a limit it cannot know. */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf gets strtok atoi atol atoll

#endif
