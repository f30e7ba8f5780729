/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * launcher_context.c - everything that a compile under vprof needs to know of its project.
 */
#include <errno.h>
#include <glob.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "project/config/launcher_context.h"
#include "project/config/locate.h"
#include "project/config/paths.h"

char *build_dir(void)
{
	return path_join(data_dir(), "build");
}

char *plan_path(void)
{
	return path_join(data_dir(), "build/plan");
}

int project_config(struct config *ret, struct diag *reterr)
{
	_cleanup_(closep) int fd = config_open(reterr);

	return fd < 0 && fd != -ENOENT ? fd : config_read(fd, config_path(), ret, reterr);
}

int read_primitives(const struct config *c, primitives *ret, struct diag *reterr)
{
	_cleanup_(freep) char *pattern = path_join(data_files_dir(), "annotations/*.sync");
	glob_t found;
	int r = 0;

	for (size_t i = 0; i < c->sync.cnt; i++) {
		const struct primitive *p = &c->sync.items[i];
		struct primitive copy = { .role = p->role, .class = p->class, .builtin = p->builtin,
					  .name = xstrdup(p->name) };

		copy.object = p->object ? xstrdup(p->object) : NULL;
		copy.task = p->task ? xstrdup(p->task) : NULL;
		copy.takes = p->takes ? xstrdup(p->takes) : NULL;
		copy.never_spins = p->never_spins;
		VEC_ADD(ret, copy);
	}
	if (glob(pattern, 0, NULL, &found) != 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, -ENOENT,
				"the tables of synchronisation primitives are not in '%s/annotations'; "
				"this vprof is installed incompletely", data_files_dir());
	for (size_t i = 0; r == 0 && i < found.gl_pathc; i++)
		r = primitives_read(found.gl_pathv[i], ret, reterr);
	globfree(&found);
	return r;
}

int launcher_context_read(struct launcher_context *ret, struct diag *reterr)
{
	_cleanup_(freep) char *plan = plan_path();
	int r;

	memset(ret, 0, sizeof(*ret));
	r = project_config(&ret->config, reterr);
	if (r == 0)
		r = read_primitives(&ret->config, &ret->sync, reterr);
	if (r == 0)
		r = plan_read(plan, &ret->plan, reterr);
	if (r < 0) {
		launcher_context_release(ret);
		return r;
	}
	ret->build_dir = build_dir();
	ret->masquerade_dir = path_join(ret->build_dir, "bin");
	ret->options = (struct launcher_options){
		.build_dir = ret->build_dir,
		.plan = ret->plan,
		.intervals = ret->config.intervals.items,
		.interval_cnt = ret->config.intervals.cnt,
		.sync = &ret->sync,
		.include_dir = include_dir(),
		.runtime_dir = runtime_dir(),
		.masquerade_dir = ret->masquerade_dir,
	};
	return 0;
}

void launcher_context_release(struct launcher_context *c)
{
	config_release(&c->config);
	primitives_release(&c->sync);
	plan_free(c->plan);
	free(c->build_dir);
	free(c->masquerade_dir);
	memset(c, 0, sizeof(*c));
}
