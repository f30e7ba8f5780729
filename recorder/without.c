/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * without.c - replaces recorder.c if vprof was built without libbpf.
 */
#include <errno.h>
#include <stddef.h>
#include "base/banned.h"
#include "recorder/recorder.h"
#include "recorder/stacks/cxx_name.h"
#include "recorder/stacks/inlined.h"
#include "recorder/stacks/opened.h"
#include "recorder/stacks/stacks.h"

int recorder_open(const struct recorder_options *o, struct recorder **ret, struct diag *reterr)
{
	(void)o;
	*ret = NULL;
	diag_set(reterr, EXIT_ENVIRONMENT, -ENOSYS, "this vprof was built without the kernel recorder");
	return diag_remedy(reterr, -ENOSYS, "apt-get install libbpf-dev libdw-dev libiberty-dev, then configure and build again");
}

int opened_read(pid_t pid, void (*take)(void *arg, const struct opened_thread *t), void *arg)
{
	(void)pid;
	(void)take;
	(void)arg;
	return -ENOTSUP;
}

int recorder_try(struct diag *reterr)
{
	struct recorder *r;

	return recorder_open(NULL, &r, reterr);
}

int recorder_try_requests(struct diag *reterr)
{
	return recorder_try(reterr);
}

int recorder_try_calls(struct diag *reterr)
{
	return recorder_try(reterr);
}

int recorder_device_waits(struct recorder *r, const struct device_wait **ret, int *ret_fd, uint64_t *ret_number)
{
	(void)r;
	(void)ret;
	(void)ret_fd;
	(void)ret_number;
	return -ENOSYS;
}

void recorder_await(struct recorder *r, uint32_t disk)
{
	(void)r;
	(void)disk;
}

int recorder_is_reduced(const struct recorder *r)
{
	(void)r;
	return 0;
}

int recorder_rest(struct recorder *r, int rest)
{
	(void)r;
	(void)rest;
	return 0;
}

void recorder_end_exchanges(struct recorder *r)
{
	(void)r;
}

int recorder_close(struct recorder *r, struct recorder_stats *ret, struct diag *reterr)
{
	(void)r;
	(void)ret;
	(void)reterr;
	return 0;
}

uint32_t stacks_number(struct stacks *s, const struct record_stack *r, size_t len)
{
	(void)s;
	(void)r;
	(void)len;
	return STACK_NONE;
}

void stacks_count(struct stacks *s, uint32_t number)
{
	(void)s;
	(void)number;
}

void stacks_each(struct stacks *s, void (*take)(void *context, const char *text, size_t len),
		 void *context, struct unnamed_stacks *ret)
{
	(void)s;
	(void)take;
	(void)context;
	(void)ret;
}

struct stacks *stacks_new(void)
{
	return NULL;
}

void stacks_free(struct stacks *s)
{
	(void)s;
}

bool add_cxx_signature(struct str *to, const char *symbol)
{
	(void)to;
	(void)symbol;
	return false;
}

struct inlined *inlined_open(const char *path)
{
	(void)path;
	return NULL;
}

void inlined_close(struct inlined *i)
{
	(void)i;
}

size_t inlined_find(struct inlined *i, uint64_t address, struct inlined_function *ret, size_t most)
{
	(void)i;
	(void)address;
	(void)ret;
	(void)most;
	return 0;
}
