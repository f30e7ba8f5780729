/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_code_places.c - where this program's own functions and tracepoints are: what its file says is what /proc/self/maps says of
 * the addresses that the linker put into the program.  And files that are damaged.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/file.h"
#include "recorder/stacks/code_places.h"
#include "recorder/stacks/usdt.h"
#include "tests/unit/cmocka_all.h"

#define APART __attribute__((noinline, noclone, used))

static volatile int sink;

APART int known_function(int n) { sink += n; return sink; }
static APART void known_static(void) { sink++; }
APART int known_function_longer(int n) { sink -= n; return sink; }

/* As <sys/sdt.h> writes them; `where` is the label's address. */
#define TRACEPOINT(label, provider, name, arguments, semaphore) \
	__asm__ volatile("990: nop\n" \
		".globl " #label "\n" ".hidden " #label "\n" ".set " #label ", 990b\n" \
		".pushsection .note.stapsdt,\"?\",\"note\"\n" \
		".balign 4\n.4byte 992f-991f, 994f-993f, 3\n" \
		"991: .asciz \"stapsdt\"\n992: .balign 4\n" \
		"993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte " semaphore "\n" \
		".asciz \"" provider "\"\n.asciz \"" name "\"\n.asciz \"" arguments "\"\n" \
		"994: .balign 4\n.popsection\n" \
		".ifndef _.stapsdt.base\n" \
		".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
		".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n" \
		".popsection\n.endif\n")

extern const char place_once[], place_first[], place_second[];
__attribute__((used, section(".probes"))) unsigned short probe_semaphore = 0;

static APART void reach_tracepoints(void)
{
	TRACEPOINT(place_once, "shop", "sold", "-4@%edi 8@-16(%rbp) -4@$17", "probe_semaphore");
	TRACEPOINT(place_first, "shop", "often", "8@%rax", "0");
	sink++;
	TRACEPOINT(place_second, "shop", "often", "8@%rbx", "0");
	TRACEPOINT(place_other, "bar", "sold", "", "0");
}

/* The offset in the file of what is at that address, by the kernel. */
static uint64_t offset_in_file(const void *address)
{
	uint64_t start, end, offset, at = (uintptr_t)address, found = 0;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[1024];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &offset) == 3 && start <= at && at < end)
			found = at - start + offset;
	fclose(f);
	assert_true(found);
	return found;
}

static void test_functions(void **state)
{
	uint64_t offset;

	(void)state;
	assert_int_equal(code_function_find("/proc/self/exe", "known_function", &offset), 0);
	assert_int_equal(offset, offset_in_file((const void *)(uintptr_t)known_function));
	assert_int_equal(code_function_find("/proc/self/exe", "known_static", &offset), 0);
	assert_int_equal(offset, offset_in_file((const void *)(uintptr_t)known_static));
	assert_int_equal(code_function_find("/proc/self/exe", "known_func", &offset), -ENOENT);
	assert_int_equal(code_function_find("/proc/self/exe", "sink", &offset), -ENOENT);
	assert_int_equal(code_function_find("/proc/self/maps", "known_function", &offset), -ENOEXEC);
	assert_true(code_function_find("/none/such", "known_function", &offset) < 0);
}

static void test_tracepoints(void **state)
{
	struct usdt_site *sites = calloc(USDT_SITES_MAX, sizeof(*sites));

	(void)state;
	assert_int_equal(usdt_find("/proc/self/exe", "shop", "sold", sites), 1);
	assert_int_equal(sites[0].offset, offset_in_file(place_once));
	assert_int_equal(sites[0].semaphore, offset_in_file(&probe_semaphore));
	assert_string_equal(sites[0].arguments, "-4@%edi 8@-16(%rbp) -4@$17");
	assert_int_equal(usdt_find("/proc/self/exe", "shop", "often", sites), 2);
	assert_int_equal(sites[0].offset, offset_in_file(place_first));
	assert_int_equal(sites[1].offset, offset_in_file(place_second));
	assert_int_equal(sites[0].semaphore, 0);
	assert_int_equal(usdt_find("/proc/self/exe", NULL, "sold", sites), 2);
	assert_int_equal(usdt_find("/proc/self/exe", "bar", "often", sites), -ENOENT);
	free(sites);
}

static void test_arguments(void **state)
{
	static const struct {
		const char *text;
		unsigned int n;
		bool is_one;
		struct call_key key;
	} all[] = {
		{ "8@%rax", 0, true, { .kind = KEY_REGISTER, .place = STACK_RAX, .bytes = 8 } },
		{ "8@%rax -4@%r13d", 1, true, { .kind = KEY_REGISTER, .place = STACK_R13, .bytes = -4 } },
		{ " -4@$-17", 0, true, { .kind = KEY_CONSTANT, .bytes = -4, .offset = -17 } },
		{ "2@-24(%rbp)", 0, true, { .kind = KEY_MEMORY, .place = STACK_RBP, .bytes = 2, .offset = -24 } },
		{ "8@(%rsp)", 0, true, { .kind = KEY_MEMORY, .place = STACK_RSP, .bytes = 8 } },
		{ "1@%sil", 0, true, { .kind = KEY_REGISTER, .place = STACK_RSI, .bytes = 1 } },
		{ "8@%rax", 1, false, { .kind = 0 } },
		{ "", 0, false, { .kind = 0 } },
		{ "8f@%xmm0", 0, false, { .kind = 0 } },
		{ "3@%rax", 0, false, { .kind = 0 } },
		{ "8@(%rax,%rbx,8)", 0, false, { .kind = 0 } },
		{ "8@name(%rip)", 0, false, { .kind = 0 } },
		{ "8@%", 0, false, { .kind = 0 } },
		{ "8@$", 0, false, { .kind = 0 } },
		{ "8@", 0, false, { .kind = 0 } },
		{ "8@(%)", 0, false, { .kind = 0 } },
		{ "8@%r", 0, false, { .kind = 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct call_key key;
		bool is_one = usdt_argument(all[i].text, all[i].n, &key);

		if (is_one != all[i].is_one || (is_one && memcmp(&key, &all[i].key, sizeof(key)) != 0))
			fail_msg("'%s', argument %u", all[i].text, all[i].n);
	}
}

static uint32_t next_below(uint64_t *random, size_t limit)
{
	*random = *random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((*random >> 33) % limit);
}

/* A file that is cut off, or of which bytes were changed, is read to an end. */
static void test_damaged(void **state)
{
	char path[] = "/tmp/test_code_places.XXXXXX", *text = NULL;
	struct usdt_site *sites = calloc(USDT_SITES_MAX, sizeof(*sites));
	int fd = mkstemp(path);
	uint64_t r = 1;
	uint64_t offset;
	size_t len;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(file_read("/proc/self/exe", &text, &len), 0);
	for (int i = 0; i < 60; i++) {
		size_t bytes = i % 3 ? len : next_below(&r, len), headers = 1024 < len ? 1024 : len;

		assert_int_equal(pwrite(fd, text, len, 0), (ssize_t)len);
		assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
		for (int j = 0; j < 30 && bytes; j++) {
			unsigned char c = (unsigned char)next_below(&r, 256);
			size_t at = j % 2 ? next_below(&r, headers) : next_below(&r, bytes);

			assert_int_equal(pwrite(fd, &c, 1, (off_t)(at < bytes ? at : bytes - 1)), 1);
		}
		code_function_find(path, "known_function", &offset);
		usdt_find(path, NULL, "sold", sites);
	}
	close(fd);
	unlink(path);
	free(text);
	free(sites);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions), cmocka_unit_test(test_tracepoints), cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_damaged),
	};

	reach_tracepoints();
	known_static();
	return known_function(1) + known_function_longer(1) > 100 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
