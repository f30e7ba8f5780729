/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_pprof.c - `vprof export --format pprof`: a gzip'd profile.proto, for `go tool pprof` and compatible tools.
 *
 * Each sample has three values: variance (ppm of Var(T)), tail (ns by which the slowest intervals exceed the mean), mean (ns).
 */
#include <errno.h>
#include <math.h>
#include <zlib.h>

#include "base/banned.h"
#include "base/map.h"
#include "cmd/formats/export_format.h"
#include "cmd/formats/pieces/protobuf.h"
#include "cmd/formats/pieces/stacks.h"

/* Field numbers of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_LOCATION = 4, PROFILE_FUNCTION = 5, PROFILE_STRINGS = 6,
	PROFILE_TIME_NANOS = 9, PROFILE_DURATION_NANOS = 10, PROFILE_DEFAULT_TYPE = 14,
	TYPE_TYPE = 1, TYPE_UNIT = 2,
	SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2,
	LOCATION_ID = 1, LOCATION_LINE = 4, LINE_FUNCTION = 1, LINE_LINE = 2,
	FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4, FUNCTION_LINE = 5
};

struct profile {
	struct str out;
	struct names *strings;
	struct map *functions;		/* (name, file, line) -> id, which is also the location's */
};

static void add_type(struct profile *p, const char *type, const char *unit)
{
	_cleanup_(str_release) struct str message = STR_INIT;

	pb_varint(&message, TYPE_TYPE, names_add(p->strings, type));
	pb_varint(&message, TYPE_UNIT, names_add(p->strings, unit));
	pb_message(&p->out, PROFILE_SAMPLE_TYPE, &message);
}

static void add_function(struct profile *p, uint64_t id, const struct stack_frame *f)
{
	_cleanup_(str_release) struct str function = STR_INIT, line = STR_INIT, location = STR_INIT;
	uint32_t name = names_add(p->strings, f->name);

	pb_varint(&function, FUNCTION_ID, id);
	pb_varint(&function, FUNCTION_NAME, name);
	pb_varint(&function, FUNCTION_SYSTEM_NAME, name);
	pb_varint(&function, FUNCTION_FILE, names_add(p->strings, f->file ? f->file : ""));
	pb_varint(&function, FUNCTION_LINE, f->line);
	pb_message(&p->out, PROFILE_FUNCTION, &function);
	pb_varint(&line, LINE_FUNCTION, id);
	pb_varint(&line, LINE_LINE, f->line);
	pb_varint(&location, LOCATION_ID, id);
	pb_message(&location, LOCATION_LINE, &line);
	pb_message(&p->out, PROFILE_LOCATION, &location);
}

static uint64_t location_of(struct profile *p, const struct stack_frame *f)
{
	uint64_t key = hash_u64(hash_str(hash_str(0, f->name), f->file ? f->file : ""), f->line);
	uint64_t *slot = map_slot(p->functions, key), id = *slot;

	if (!id) {
		*slot = id = map_cnt(p->functions);
		add_function(p, id, f);
	}
	return id;
}

static void add_sample(struct profile *p, const struct stack *s)
{
	_cleanup_(str_release) struct str sample = STR_INIT, locations = STR_INIT, values = STR_INIT;

	for (size_t i = s->frames.cnt; i-- > 0; )	/* innermost first */
		pb_raw_varint(&locations, location_of(p, &s->frames.items[i]));
	for (unsigned m = 0; m < EXPORT_METRIC_CNT; m++)
		pb_raw_varint(&values, (uint64_t)llround(s->value[m]));
	pb_message(&sample, SAMPLE_LOCATIONS, &locations);
	pb_message(&sample, SAMPLE_VALUES, &values);
	pb_message(&p->out, PROFILE_SAMPLE, &sample);
}

static int write_gzip(FILE *out, const struct str *data)
{
	enum { GZIP = 16 };
	z_stream z = { .next_in = (Bytef *)data->data, .avail_in = (uInt)data->len };
	_cleanup_(freep) Bytef *to = NULL;
	size_t room;
	int r;

	if (data->len > UINT32_MAX / 2)
		return -EFBIG;
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	room = deflateBound(&z, (uLong)data->len);
	to = xmalloc(room);
	z.next_out = to;
	z.avail_out = (uInt)room;
	r = deflate(&z, Z_FINISH) == Z_STREAM_END ? 0 : -EIO;
	if (r == 0)
		fwrite(to, 1, room - z.avail_out, out);
	deflateEnd(&z);
	return r;
}

static int write_pprof(FILE *out, const struct export_input *in)
{
	_cleanup_(tree_stacks_release) tree_stacks list = { NULL, 0, 0 };
	struct profile p = { STR_INIT, names_new(), map_new() };
	int r;

	tree_stacks_read(in->findings, &list);
	names_add(p.strings, "");	/* the format requires it at number 0 */
	add_type(&p, "variance", "ppm");
	add_type(&p, "tail", "ns");
	add_type(&p, "mean", "ns");
	for (size_t i = 0; i < list.cnt; i++)
		add_sample(&p, &list.items[i]);
	pb_varint(&p.out, PROFILE_TIME_NANOS, (uint64_t)in->run->started_ns);
	pb_varint(&p.out, PROFILE_DURATION_NANOS, (uint64_t)in->run->duration_ns);
	pb_varint(&p.out, PROFILE_DEFAULT_TYPE, names_add(p.strings, "variance"));
	for (uint32_t i = 0; i < names_cnt(p.strings); i++)
		pb_text(&p.out, PROFILE_STRINGS, names_get(p.strings, i));
	r = write_gzip(out, &p.out);
	str_release(&p.out);
	names_free(p.strings);
	map_free(p.functions);
	return r;
}

static const struct export_writer writer = { .write = write_pprof };

const struct export_format export_pprof = {
	.name = "pprof", .writer = &writer, .takes_interval = true, .is_binary = true,
};
