/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stacks.c - numbers stacks, which consist of a user's part (unwind.c) and a kernel's part; equal ones have one
 * number. Their texts are made at the end, when the kernel's buffers need not be emptied any more (symbols.c).
 */
#include "recorder/stacks/stacks.h"

#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/map.h"
#include "base/str.h"
#include "recorder/stacks/symbols.h"
#include "trace/kernel_format.h"

struct stack {
	const struct shape *user;	/* NULL: none */
	size_t kernel_first;		/* of kernel_addresses */
	unsigned int kernel_cnt;
	uint64_t cnt;			/* number of occurrences */
};

struct stacks {
	struct images *images;
	struct map *number_of;		/* both parts -> number plus one */
	VEC(struct stack) items;
	VEC(uint64_t) kernel_addresses;
	uint32_t next_shape;
	const struct shape *last;	/* the last one that got a number, without a kernel's part; NULL: none */
	uint32_t last_number;
	uint64_t *placed;		/* place -> image, RIP, RSP and shape stored there; 0: none */
	unsigned int next_place;	/* counts up */
	struct symbols *symbols;	/* of stacks_each(); NULL before */
	struct map *told_ns;		/* image, RIP, RSP and shape -> when it was passed to the kernel */
};

struct stacks *stacks_new(void)
{
	struct stacks *s = xcalloc(1, sizeof(*s));

	s->images = images_new();
	s->number_of = map_new();
	s->placed = xcalloc(KNOWN_PLACES, sizeof(*s->placed));
	s->told_ns = map_new();
	return s;
}

void stacks_free(struct stacks *s)
{
	struct image *image;

	if (!s)
		return;
	for (size_t i = 0; (image = images_item(s->images, i)); i++)
		unwinder_free(image->unwinder);
	images_free(s->images);
	map_free(s->number_of);
	free(s->placed);
	map_free(s->told_ns);
	symbols_free(s->symbols);
	VEC_RELEASE(&s->items);
	VEC_RELEASE(&s->kernel_addresses);
	free(s);
}

void stacks_read(struct stacks *s)
{
	images_read(s->images);
}

uint32_t stacks_number(struct stacks *s, const struct record_stack *r, size_t len)
{
	bool has_user = r->user_bytes && len <= sizeof(*r) && r->user_bytes <= len - offsetof(struct record_stack, user);
	const struct shape *user = has_user ? unwind(s->images, r, &s->next_shape) : NULL;
	unsigned int kernel_cnt = r->kernel_cnt <= STACK_KERNEL_MAX ? r->kernel_cnt : 0;
	uint64_t key = hash_u64(0, user ? user->number + 1 : 0);
	uint64_t *number;

	s->last = NULL;
	if (!user && !kernel_cnt)
		return STACK_NONE;
	key = hash_bytes(key, r->kernel, kernel_cnt * sizeof(r->kernel[0]));
	number = map_slot(s->number_of, key);
	if (!*number) {
		VEC_ADD(&s->items, (struct stack){ user, s->kernel_addresses.cnt, kernel_cnt, 0 });
		for (unsigned int i = 0; i < kernel_cnt; i++)
			VEC_ADD(&s->kernel_addresses, r->kernel[i]);
		*number = s->items.cnt;
	}
	s->last_number = (uint32_t)*number - 1;
	s->last = kernel_cnt ? NULL : user;
	return s->last_number;
}

void stacks_count(struct stacks *s, uint32_t number)
{
	if (number < s->items.cnt)
		s->items.items[number].cnt++;
}

/* The slot that holds this stack, else a free one, else one to evict: stacks with the same RIP and RSP share KNOWN_ALIKE slots. */
static unsigned int place_of(struct stacks *s, unsigned int first, uint64_t one)
{
	unsigned int place = first + s->next_place++ % KNOWN_ALIKE;

	for (unsigned int i = first + KNOWN_ALIKE; i-- > first; )
		if (!s->placed[i])
			place = i;
	for (unsigned int i = first; i < first + KNOWN_ALIKE; i++)
		if (s->placed[i] == one)
			place = i;
	s->placed[place] = one;
	return place;
}

bool stacks_known(struct stacks *s, const struct record_stack *r, uint64_t now_ns, unsigned int *ret_place,
		  struct known_stack *ret)
{
	uint64_t one, told_ns = 0, rip = r->registers[STACK_RIP], rsp = r->registers[STACK_RSP];

	if (!s->last || r->reason == STACK_SAMPLE || !shape_known(s->last, r, ret))
		return false;
	one = hash_u64(hash_u64(hash_u64(hash_u64(0, r->image), rip), rsp), (uintptr_t)s->last) | 1;
	map_get(s->told_ns, one, &told_ns);
	if (r->ns < told_ns)
		return false;
	ret->falls_short = s->last->cut && stack_falls_short(r);
	if (!s->last->cut || r->user_bytes > STACK_BYTES || ret->falls_short)
		ret->number_plus_one = s->last_number + 1;
	*ret_place = place_of(s, known_place(r->image, rip, rsp), one);
	*map_slot(s->told_ns, one) = now_ns;
	return true;
}

void stacks_each(struct stacks *s, void (*take)(void *context, const char *text, size_t len),
		 void *context, struct unnamed_stacks *ret)
{
	struct symbols *symbols = s->symbols = s->symbols ? s->symbols : symbols_new();
	struct image *image;

	for (size_t i = 0; (image = images_item(s->images, i)); i++)
		if (image->unwinder)
			unwinder_for_names(image->unwinder);
	for (size_t i = 0; i < s->items.cnt; i++) {
		const struct stack *k = &s->items.items[i];
		_cleanup_(str_release) struct str text = STR_INIT;

		if (k->user)
			symbols_add_shape(symbols, &text, k->user, k->cnt);
		if (k->kernel_cnt)
			symbols_add_kernel(symbols, &text, &s->kernel_addresses.items[k->kernel_first], k->kernel_cnt);
		if (!text.len)
			str_add(&text, "[unknown]");
		take(context, str_cstr(&text), text.len);
	}
	symbols_unnamed(symbols, ret);
}

void stacks_each_system(const struct stacks *s, void (*take)(void *context, const char *text, size_t len), void *context)
{
	const struct names *names = s->symbols ? symbols_system(s->symbols) : NULL;

	for (uint32_t i = 0; names && i < names_cnt(names); i++) {
		const char *name = names_get(names, i);

		take(context, name, strlen(name));
	}
}
