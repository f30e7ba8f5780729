/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_scan_parts.c - what units have in common is kept once, and whole or not at all.
 *
 * Two units, a.c and b.c, include h.h with two functions; the second calls the first.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/unit/cmocka_all.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/pack.h"
#include "instrumenter/scan/scan_part.h"

#define DIR_NAME "parts.tmp"
#define FOLDER DIR_NAME "/parts"

static void add_function(struct unit *u, const char *name, const char *file, uint32_t line, size_t body, bool probed)
{
	struct scan_function f = {
		.name = name, .file = file, .line = line, .end_line = line + 1, .key = line, .body = body, .probed = probed,
	};

	VEC_ADD(&u->functions, f);
}

/* Its own function comes between those of the header, as where a header includes another. */
static struct unit *unit_of(const char *object, const char *source, size_t at)
{
	static const char *argv[] = { "/usr/bin/gcc", NULL };
	struct scan_call call = { .caller = 2, .callee = "first", .callee_file = "/src/h.h", .callee_line = 3, .file = "/src/h.h", .line = 8 };
	struct scan_call own = { .caller = 1, .callee = "second", .file = source, .line = 9 };
	struct unit *u = unit_new();

	u->object = object;
	u->source = source;
	u->argv = argv;
	add_function(u, "first", "/src/h.h", 3, at, at == 10);
	add_function(u, "main", source, 50, at + 5, false);
	add_function(u, "second", "/src/h.h", 7, at + 2, true);
	VEC_ADD(&u->calls, call);
	VEC_ADD(&u->calls, own);
	return u;
}

static void write_both(void)
{
	_cleanup_(unit_freep) struct unit *a = unit_of("/src/a.o", "/src/a.c", 10), *b = unit_of("/src/b.o", "/src/b.c", 1000);
	struct diag d = DIAG_INIT;

	assert_int_equal(unit_write(DIR_NAME, a, &d), 0);
	assert_int_equal(unit_write(DIR_NAME, b, &d), 0);
}

static int begin(void **state)
{
	(void)state;
	remove_tree(DIR_NAME);
	write_both();
	return 0;
}

static int end(void **state)
{
	(void)state;
	return remove_tree(DIR_NAME);
}

/* The files in FOLDER except the lock; ret: the path of the last. */
static size_t parts_there(char **ret)
{
	DIR *d = opendir(FOLDER);
	struct dirent *entry;
	size_t cnt = 0;

	assert_non_null(d);
	while ((entry = readdir(d))) {
		if (entry->d_name[0] == '.' || strcmp(entry->d_name, "lock") == 0)
			continue;
		cnt++;
		if (ret) {
			free(*ret);
			*ret = path_join(FOLDER, entry->d_name);
		}
	}
	closedir(d);
	return cnt;
}

static void test_kept_once(void **state)
{
	_cleanup_(units_release) units list = { NULL, 0, 0 };
	_cleanup_(unit_freep) struct unit *alone = NULL;
	struct diag d = DIAG_INIT;

	(void)state;
	assert_int_equal(parts_there(NULL), 1);
	assert_int_equal(units_read(DIR_NAME, &list, &d), 0);
	assert_int_equal(list.cnt, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct unit *u = list.items[i];

		assert_false(u->is_lost);
		assert_int_equal(u->functions.cnt, 3);
		assert_string_equal(u->functions.items[0].name, "first");
		assert_string_equal(u->functions.items[1].file, i ? "/src/b.c" : "/src/a.c");
		assert_string_equal(u->functions.items[2].name, "second");
		assert_int_equal(u->functions.items[2].body, i ? 1002 : 12);
		assert_int_equal(u->functions.items[0].probed, !i);
		assert_true(u->functions.items[2].probed);
	}
	assert_int_equal(list.items[0]->calls.cnt, 2);
	assert_int_equal(list.items[1]->calls.cnt, 1);		/* those of the header are known from the first */
	assert_string_equal(list.items[1]->calls.items[0].callee, "second");
	assert_ptr_equal(list.items[0]->functions.items[0].name, list.items[1]->functions.items[0].name);
	alone = unit_find(DIR_NAME, "/src/b.o");
	assert_non_null(alone);
	assert_int_equal(alone->calls.cnt, 2);
	assert_int_equal(alone->calls.items[1].caller, 2);
	assert_string_equal(alone->calls.items[1].callee_file, "/src/h.h");
}

/* Both units are lost, with all that was known of them; writing them again restores them. */
static void expect_lost(void)
{
	_cleanup_(units_release) units list = { NULL, 0, 0 }, some = { NULL, 0, 0 }, again = { NULL, 0, 0 };
	struct diag d = DIAG_INIT;

	assert_int_equal(units_read(DIR_NAME, &list, &d), -EBADMSG);
	assert_int_equal(d.status, EXIT_DATA);
	assert_non_null(strstr(d.text, "/src/a.c"));
	assert_non_null(strstr(d.remedy, "vprof build"));
	assert_int_equal(units_read_some(DIR_NAME, &some, &d), 0);
	assert_int_equal(some.cnt, 2);
	assert_true(some.items[0]->is_lost && some.items[1]->is_lost);
	assert_int_equal(some.items[0]->functions.cnt + some.items[0]->calls.cnt, 0);
	assert_null(unit_find(DIR_NAME, "/src/a.o"));
	write_both();
	assert_int_equal(units_read(DIR_NAME, &again, &d), 0);
	assert_int_equal(again.items[0]->functions.cnt, 3);
}

static void test_missing(void **state)
{
	_cleanup_(freep) char *part = NULL;

	(void)state;
	assert_int_equal(parts_there(&part), 1);
	assert_int_equal(unlink(part), 0);
	expect_lost();
	assert_int_equal(parts_there(NULL), 1);
}

/* Every cut and every changed bit. */
static void test_damaged(void **state)
{
	_cleanup_(freep) char *part = NULL, *text = NULL;
	size_t len;

	(void)state;
	parts_there(&part);
	assert_int_equal(file_read(part, &text, &len), 0);
	for (size_t i = 0; i < 2 * len; i++) {
		if (i >= len)
			text[i - len] ^= 1 << i % 8;
		assert_int_equal(file_write(part, text, i < len ? i : len, 0600), 0);
		if (i >= len)
			text[i - len] ^= 1 << i % 8;
		expect_lost();
	}
}

/* Another part under its name is as good as none. */
static void test_exchanged(void **state)
{
	_cleanup_(str_release) struct str packed = STR_INIT;
	_cleanup_(freep) char *part = NULL;
	static const char other[] = "{\"file\":\"/src/h.h\",\"functions\":[],\"calls\":[]}";

	(void)state;
	parts_there(&part);
	assert_int_equal(pack(other, strlen(other), &packed), 0);
	assert_int_equal(file_write(part, packed.data, packed.len, 0600), 0);
	expect_lost();
}

/* A text that claims to be larger than any is refused before there is room for it. */
static void test_pack(void **state)
{
	_cleanup_(str_release) struct str packed = STR_INIT;
	_cleanup_(freep) char *text = NULL, *again = NULL;
	size_t len;

	(void)state;
	assert_int_equal(pack("abcabc", 6, &packed), 0);
	assert_int_equal(unpack(packed.data, packed.len, 6, &text, &len), 0);
	assert_int_equal(len, 6);
	assert_string_equal(text, "abcabc");
	assert_int_equal(unpack(packed.data, packed.len, 5, &again, &len), -EBADMSG);
	assert_int_equal(unpack(packed.data, packed.len - 1, 6, &again, &len), -EBADMSG);
	assert_int_equal(unpack("", 0, 6, &again, &len), -EBADMSG);
	str_addc(&packed, 'x');
	assert_int_equal(unpack(packed.data, packed.len, 6, &again, &len), -EBADMSG);
}

static void sweep(void)
{
	_cleanup_(units_release) units list = { NULL, 0, 0 };
	struct diag d = DIAG_INIT;

	assert_int_equal(units_read_some(DIR_NAME, &list, &d), 0);
	units_sweep(&list, DIR_NAME);
}

static void add_rest(void)
{
	assert_int_equal(file_write(FOLDER "/0123456789abcdef", "x", 1, 0600), 0);
	assert_int_equal(file_write(FOLDER "/0123456789abcdef.tmp-7-0000000a", "x", 1, 0600), 0);
}

static void test_sweep(void **state)
{
	int lock;

	(void)state;
	add_rest();
	lock = parts_lock(DIR_NAME, false);
	assert_true(lock >= 0);
	sweep();
	assert_int_equal(parts_there(NULL), 3);		/* a reader is there */
	parts_unlock(lock);
	assert_int_equal(file_write(DIR_NAME "/c.scan", "{", 1, 0600), 0);
	units none = { NULL, 0, 0 };

	units_sweep(&none, DIR_NAME);
	assert_int_equal(parts_there(NULL), 3);		/* it is unknown what that record names */
	unlink(DIR_NAME "/c.scan");
	units_sweep(&none, DIR_NAME);
	assert_int_equal(parts_there(NULL), 1);		/* records name it, whatever the caller has read */
	unlink(DIR_NAME "/%src%a.o.scan");
	sweep();
	assert_int_equal(parts_there(NULL), 1);
	unlink(DIR_NAME "/%src%b.o.scan");
	sweep();
	assert_int_equal(parts_there(NULL), 0);
}

/* A compiler in a loop: each time with another header, and one that all have. */
static void write_much(int writer)
{
	for (int i = 0; i < 60; i++) {
		_cleanup_(freep) char *object = xasprintf("/src/%d.o", writer), *name = xasprintf("f%d", i % 7);
		_cleanup_(unit_freep) struct unit *u = unit_of(object, "/src/x.c", 10);

		u->functions.items[0].name = name;
		add_function(u, name, "/src/other.h", 70, 12, false);
		if (unit_write(DIR_NAME, u, NULL) < 0)
			_exit(1);
	}
	_exit(0);
}

/* Many write, one reads and sweeps: no reader ever misses a part. */
static void test_at_once(void **state)
{
	pid_t writers[3];
	int left = 3, status;

	(void)state;
	for (int i = 0; i < 3; i++) {
		writers[i] = fork();
		if (writers[i] == 0)
			write_much(i);
	}
	while (left) {
		_cleanup_(units_release) units list = { NULL, 0, 0 };
		struct diag d = DIAG_INIT;

		assert_int_equal(units_read(DIR_NAME, &list, &d), 0);
		assert_in_range(list.cnt, 2, 5);
		units_sweep(&list, DIR_NAME);
		for (int i = 0; i < 3; i++)
			if (writers[i] && waitpid(writers[i], &status, WNOHANG) == writers[i]) {
				assert_int_equal(status, 0);
				writers[i] = 0;
				left--;
			}
	}
	sweep();
	assert_in_range(parts_there(NULL), 3, 7);	/* of h.h, and of the last of each writer */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_kept_once, begin, end),
		cmocka_unit_test_setup_teardown(test_missing, begin, end),
		cmocka_unit_test_setup_teardown(test_damaged, begin, end),
		cmocka_unit_test_setup_teardown(test_exchanged, begin, end),
		cmocka_unit_test(test_pack),
		cmocka_unit_test_setup_teardown(test_sweep, begin, end),
		cmocka_unit_test_setup_teardown(test_at_once, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
