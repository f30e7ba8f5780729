/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callers_keep.c - names, from the programs of a run, for the addresses from which a blocking primitive was called. */
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "drainer/drainer.h"
#include "project/notices.h"
#include "project/runs/callers.h"
#include "recorder/stacks/code_names.h"
#include "trace/callers.h"

struct keeping {
	struct code_names *names;
	struct str text;
};

static void keep_one(void *arg, const struct drainer_caller *c)
{
	struct keeping *k = arg;
	struct code_place place;
	struct wait_caller caller = { .module = path_base(c->places[0].path) };

	if (!code_names_find(k->names, c->places[0].path, c->places[0].address, &place))
		return;
	if (!place.name_cnt)
		place.names[place.name_cnt++] = (struct code_name){ CALLER_NAMELESS, NULL, 0 };
	for (unsigned int i = 1; i < c->place_cnt; i++)
		code_names_add_caller(k->names, c->places[i].path, c->places[i].address, &place);
	caller.is_built = place.is_built;
	for (uint32_t i = 0; i < place.name_cnt && i < CALLER_FUNCTIONS; i++)
		caller.functions[caller.function_cnt++] = (struct code_function){
			place.names[i].name, place.names[i].file, place.names[i].line, 0, false };
	callers_text_add(&k->text, c->number, &caller);
}

void callers_keep(const struct drainer *d, const char *dir)
{
	_cleanup_(freep) char *path = path_join(dir, CALLERS_FILE);
	struct keeping k = { code_names_new(), STR_INIT };
	int r;

	callers_text_begin(&k.text);
	drainer_callers(d, keep_one, &k);
	r = file_write(path, str_cstr(&k.text), k.text.len, 0600);
	str_release(&k.text);
	code_names_free(k.names);
	if (r < 0)
		warn_line("the callers of functions that wait and carry no probe will have no names in this run: cannot write "
			  "'%s': %s", path, strerror(-r));
}
