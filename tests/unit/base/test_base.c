/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_base.c - memory, strings, maps, files, processes: small known answers.
 */
#include <math.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"

#include "base/saturate.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/str.h"

static void test_arena(void **state)
{
	struct arena *a = arena_new();
	char *big, *small;

	(void)state;
	small = arena_strdup(a, "one");
	big = arena_alloc(a, 3 * 1024 * 1024);
	for (size_t i = 0; i < 3 * 1024 * 1024; i++)
		assert_int_equal(big[i], 0);
	assert_string_equal(small, "one");
	assert_string_equal(arena_printf(a, "%d-%s", 7, "x"), "7-x");
	assert_int_equal((uintptr_t)arena_alloc(a, 1) % _Alignof(max_align_t), 0);
	arena_free(a);
	arena_free(NULL);
}

static void test_partition_point(void **state)
{
	int times[] = { 10, 20, 20, 30 };

	(void)state;
	assert_int_equal(partition_point(i, 4, times[i] < 20), 1);
	assert_int_equal(partition_point(i, 4, times[i] <= 20), 3);
	assert_int_equal(partition_point(i, 4, times[i] < 10), 0);
	assert_int_equal(partition_point(i, 4, times[i] < 99), 4);
	assert_int_equal(partition_point(i, 0, times[i] < 99), 0);
	for (size_t cnt = 0; cnt < 40; cnt++)
		for (size_t below = 0; below <= cnt; below++)
			assert_int_equal(partition_point(i, cnt, i < below), below);
}

/* Keys of few and of many bytes, also negative and at both ends; equal ones stay in their order. */
static void test_sort_order(void **state)
{
	static const int64_t spreads[] = { 1, 3, 255, 256, 257, 70000, (int64_t)1 << 40, INT64_MAX };
	uint32_t order[300];
	int64_t keys[300] = { 0 };
	uint64_t seed = 1;

	(void)state;
	sort_order(keys, 0, order);
	for (size_t round = 0; round < 64; round++) {
		size_t cnt = 1 + round * 37 % 300;
		bool seen[300] = { false };

		for (size_t i = 0; i < cnt; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			keys[i] = (int64_t)(seed >> 1) % spreads[round % 8] - (round % 3 ? 0 : 1000);
			if (round % 8 == 7)
				keys[i] = i % 3 ? (int64_t)seed : i % 2 ? INT64_MIN : INT64_MAX;
		}
		sort_order(keys, cnt, order);
		for (size_t i = 0; i < cnt; i++) {
			assert_true(order[i] < cnt && !seen[order[i]]);
			seen[order[i]] = true;
			assert_true(i == 0 || keys[order[i - 1]] < keys[order[i]] ||
				    (keys[order[i - 1]] == keys[order[i]] && order[i - 1] < order[i]));
		}
	}
}

struct pair {
	int64_t major, minor;
	uint32_t third;			/* which the keys do not know */
};

static int64_t pair_key(const void *item, unsigned int rank)
{
	const struct pair *p = item;

	return rank ? p->minor : p->major;
}

static int compare_pairs(const void *pa, const void *pb)
{
	const struct pair *a = pa, *b = pb;

	if (a->major != b->major)
		return a->major < b->major ? -1 : 1;
	if (a->minor != b->minor)
		return a->minor < b->minor ? -1 : 1;
	return (a->third > b->third) - (a->third < b->third);
}

/* Few and many; with and without those that only the comparison tells apart; sorted ones stay. */
static void test_sort_items(void **state)
{
	static struct pair items[1000], expected[1000];
	uint64_t seed = 7;

	(void)state;
	for (size_t round = 0; round < 40; round++) {
		size_t cnt = round % 4 ? 1000 : 100;

		for (size_t i = 0; i < cnt; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			items[i].major = (int64_t)(seed >> 40) % 5 - 2;
			items[i].minor = round % 2 ? (int64_t)seed : (int64_t)(seed >> 33) % 300;
			items[i].third = round % 3 ? (uint32_t)(seed >> 20) % 10 : 0;
		}
		memcpy(expected, items, sizeof(items));
		qsort(expected, cnt, sizeof(*expected), compare_pairs);
		for (int again = 0; again < 2; again++) {
			sort_items(items, cnt, sizeof(*items), pair_key, 2, compare_pairs);
			for (size_t i = 0; i < cnt; i++)
				assert_int_equal(compare_pairs(&items[i], &expected[i]), 0);
		}
	}
	sort_items(items, 0, sizeof(*items), pair_key, 2, compare_pairs);
}

static void test_str(void **state)
{
	struct str s = STR_INIT;

	(void)state;
	assert_string_equal(str_cstr(&s), "");
	str_addf(&s, "%s:%u", "file.c", 28u);
	str_addc(&s, '!');
	assert_string_equal(s.data, "file.c:28!");
	str_reset(&s);
	str_add_shell_quoted(&s, "plain-1");
	str_addc(&s, ' ');
	str_add_shell_quoted(&s, "it's $HOME");
	str_addc(&s, ' ');
	str_add_shell_quoted(&s, "");
	assert_string_equal(s.data, "plain-1 'it'\\''s $HOME' ''");

	char *taken = str_take(&s);

	assert_null(s.data);
	free(taken);
	assert_true(starts_with("abc", "ab") && !starts_with("a", "ab"));
	assert_true(ends_with("abc", "bc") && !ends_with("c", "bc"));
}

static void test_text_ns(void **state)
{
	char text[TEXT_MAX];

	(void)state;
	assert_string_equal(text_ns(text, 0, true), "0 ns");
	assert_string_equal(text_ns(text, 8.5, true), "8.50 ns");
	assert_string_equal(text_ns(text, 374000, true), "374 µs");
	assert_string_equal(text_ns(text, 374000, false), "374 us");
	assert_string_equal(text_ns(text, -2220000, true), "-2.22 ms");
	assert_string_equal(text_ns(text, 999600, true), "1.00 ms");
	assert_string_equal(text_ns(text, 15.3e9, true), "15.3 s");
	assert_string_equal(text_ns(text, 1e300 * 1e300, true), "?");
}

static void test_nearest_word(void **state)
{
	static const char *const words[] = { "threshold", "overhead", "max-runs", "k" };

	(void)state;
	assert_string_equal(nearest_word("treshold", words, 4), "threshold");
	assert_string_equal(nearest_word("max_runs", words, 4), "max-runs");
	assert_string_equal(nearest_word("overhaed", words, 4), "overhead");	/* a swap is one edit */
	assert_null(nearest_word("completely-else", words, 4));
	assert_null(nearest_word("x", words, 0));
}

static bool add_up(uint64_t key, uint64_t value, void *arg)
{
	*(uint64_t *)arg += key + value;
	return true;
}

static void test_map(void **state)
{
	struct map *m = map_new();
	uint64_t value, sum = 0;

	(void)state;
	for (uint64_t i = 0; i < 10000; i++)
		map_set(m, i * i, i);
	assert_int_equal(map_cnt(m), 10000);
	for (uint64_t i = 0; i < 10000; i++) {
		assert_true(map_get(m, i * i, &value));
		assert_int_equal(value, i);
	}
	assert_false(map_get(m, 3, &value));
	map_free(m);

	m = map_new();
	map_set(m, 5, 1);
	(*map_slot(m, 5))++;
	(*map_slot(m, 6))++;
	map_each(m, add_up, &sum);
	assert_int_equal(sum, 5 + 2 + 6 + 1);
	map_free(m);
}

static void test_names(void **state)
{
	struct names *n = names_new();
	char text[16];

	(void)state;
	for (unsigned i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "f%u", i);
		assert_int_equal(names_add(n, text), i);
	}
	assert_int_equal(names_add(n, "f77"), 77);
	assert_int_equal(names_find(n, "g"), NAMES_NONE);
	assert_string_equal(names_get(n, 4999), "f4999");
	assert_int_equal(names_cnt(n), 5000);
	names_free(n);
}

static void test_diag(void **state)
{
	struct diag d = DIAG_INIT;

	(void)state;
	assert_int_equal(diag_set(&d, EXIT_DATA, -EBADMSG, "%s:%d: bad", "f", 3), -EBADMSG);
	diag_remedy(&d, 0, "run %s", "it");
	assert_string_equal(d.text, "f:3: bad");
	assert_string_equal(d.remedy, "run it");
	assert_int_equal(d.status, EXIT_DATA);
	assert_int_equal(diag_set(NULL, EXIT_DATA, -EIO, "nobody listens"), -EIO);
}

static void test_paths(void **state)
{
	char *p;

	(void)state;
	p = path_join("a/", "b");
	assert_string_equal(p, "a/b");
	free(p);
	p = path_join("a", "/b");
	assert_string_equal(p, "/b");
	free(p);
	p = path_real("/no/such/../dir/./file//x");
	assert_string_equal(p, "/no/dir/file/x");
	free(p);
	p = path_real("/../..");
	assert_string_equal(p, "/");
	free(p);
	p = path_dir("x.c");
	assert_string_equal(p, ".");
	free(p);
	p = path_dir("/x.c");
	assert_string_equal(p, "/");
	free(p);
	assert_string_equal(path_base("a/b/c.h"), "c.h");
	p = path_which("sh", "/nowhere::/bin:/usr/bin");
	assert_non_null(p);
	free(p);
	assert_null(path_which("no-such-program", "/bin"));
}

static void test_path_list(void **state)
{
	static const char *const lists[][5] = {
		{ "/a::/b", "/a", ".", "/b" }, { ":/a:", ".", "/a", "." }, { "", "." }, { "/a", "/a" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const char *left = lists[i][0];

		for (size_t k = 1; k < 5; k++) {
			char *folder = path_list_next(&left);

			if (lists[i][k])
				assert_string_equal(folder, lists[i][k]);
			else
				assert_null(folder);
			free(folder);
		}
	}
}

static void test_files(void **state)
{
	char dir[] = "/tmp/test_base.XXXXXX", *inner, *path, *text;
	size_t len;

	(void)state;
	assert_non_null(mkdtemp(dir));
	inner = path_join(dir, "a/b/c");
	assert_int_equal(make_dirs(inner, 0700), 0);
	assert_int_equal(make_dirs(inner, 0700), 0);
	path = path_join(inner, "file");
	assert_int_equal(file_write(path, "x\0y", 3, 0600), 0);
	assert_int_equal(make_dirs(path, 0700), -ENOTDIR);
	assert_int_equal(file_read(path, &text, &len), 0);
	assert_int_equal(len, 3);
	assert_memory_equal(text, "x\0y", 4);
	free(text);
	assert_int_equal(file_read(dir, &text, &len), -EISDIR);
	assert_int_equal(remove_tree(dir), 0);
	assert_false(file_exists(dir));
	assert_int_equal(file_read(path, &text, &len), -ENOENT);
	free(path);
	free(inner);
}

/* The opens do not wait: an alarm ends a test that hangs. */
static void test_plain_files(void **state)
{
	char dir[] = "/tmp/test_base.XXXXXX", *pipe, *link, *text = NULL;

	(void)state;
	assert_non_null(mkdtemp(dir));
	pipe = path_join(dir, "pipe");
	link = path_join(dir, "link");
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_int_equal(symlink(pipe, link), 0);
	alarm(20);
	assert_int_equal(file_read(pipe, &text, NULL), -FILE_NOT_PLAIN);
	assert_int_equal(file_read(link, &text, NULL), -FILE_NOT_PLAIN);
	assert_int_equal(file_read("/dev/zero", &text, NULL), -FILE_NOT_PLAIN);
	assert_int_equal(file_open_plain(pipe, O_RDWR), -FILE_NOT_PLAIN);
	assert_int_equal(file_open_plain(link, O_RDONLY | O_NOFOLLOW), -ELOOP);
	assert_int_equal(file_open_plain(dir, O_RDONLY), -EISDIR);
	assert_string_equal(file_why(-FILE_NOT_PLAIN), "it is not a plain file");
	assert_string_equal(file_why(-ENOENT), strerror(ENOENT));
	assert_int_equal(unlink(pipe), 0);
	assert_int_equal(file_write(pipe, "text", 4, 0600), 0);
	assert_int_equal(file_read(link, &text, NULL), 0);
	assert_string_equal(text, "text");
	alarm(0);
	free(text);
	remove_tree(dir);
	free(link);
	free(pipe);
}

static int run_shell(const char *script, struct str *out, struct str *err)
{
	struct args a = ARGS_INIT;
	struct proc_options o = { .out = out, .err = err };

	args_add(&a, "/bin/sh");
	args_add(&a, "-c");
	args_add(&a, script);

	int status = proc_run(a.items, &o);

	args_release(&a);
	return status;
}

static void test_processes(void **state)
{
	struct str out = STR_INIT, err = STR_INIT;
	char *const missing[] = { (char *)"/no/such/program", NULL };
	time_t before;

	(void)state;
	assert_int_equal(run_shell("echo out; echo err >&2; exit 7", &out, &err), 7);
	assert_string_equal(out.data, "out\n");
	assert_string_equal(err.data, "err\n");
	str_reset(&out);
	assert_int_equal(run_shell("head -c 300000 /dev/zero | tr '\\0' x; kill -9 $$", &out, NULL), 128 + 9);
	assert_int_equal(out.len, 300000);
	assert_int_equal(proc_run(missing, NULL), -ENOENT);
	/* A server that it leaves keeps its pipe. */
	str_reset(&out);
	before = time(NULL);
	assert_int_equal(run_shell("sleep 30 & echo $!; exit 3", &out, NULL), 3);
	assert_true(time(NULL) - before < 25);
	assert_int_equal(kill(atoi(out.data), SIGKILL), 0);
	str_release(&out);
	str_release(&err);
}

/* A program's directory, arguments and environment, and where its output goes. */
static void test_process_options(void **state)
{
	static const char *const unset[] = { "VPROF_TEST_A", NULL };
	char *const words[] = { (char *)"./tool", (char *)"a word", NULL };
	struct str out = STR_INIT;
	struct proc_options o = { .out = &out, .dir = "proc.tmp", .unset = unset, .err_to_out = true };
	struct proc_options nowhere = { .dir = "proc.tmp/none" };
	static const char script[] = "pwd | sed 's,.*/,,'; echo $VPROF_TEST_A$VPROF_TEST_AB; echo $1 >&2\n";

	(void)state;
	setenv("VPROF_TEST_A", "a", 1);
	setenv("VPROF_TEST_AB", "ab", 1);
	assert_int_equal(make_dirs("proc.tmp/deep/er", 0700), 0);
	assert_int_equal(make_dirs("proc.tmp/deep/er", 0700), 0);
	/* No "#!": it is the shell's. */
	assert_int_equal(file_write("proc.tmp/tool", script, strlen(script), 0755), 0);
	assert_int_equal(make_dirs("proc.tmp/tool", 0700), -ENOTDIR);
	assert_int_equal(make_dirs("proc.tmp/tool/er", 0700), -ENOTDIR);
	assert_int_equal(proc_run(words, &o), 0);
	assert_string_equal(out.data, "proc.tmp\nab\na word\n");
	assert_int_equal(proc_run(words, &nowhere), -ENOENT);
	str_reset(&out);
	o.ends_with_us = true;
	o.unset = NULL;
	assert_int_equal(proc_run(words, &o), 0);
	assert_string_equal(out.data, "proc.tmp\naab\na word\n");
	assert_int_equal(proc_run((char *const []){ (char *)"sh", (char *)"-c", (char *)"kill -9 $$", NULL }, &o), 128 + 9);
	assert_int_equal(proc_run((char *const []){ (char *)"/no/such/program", NULL }, &o), -ENOENT);
	o = (struct proc_options){ .quiet = true, .dir = "proc.tmp" };
	assert_int_equal(proc_run(words, &o), 0);
	assert_int_equal(remove_tree("proc.tmp"), 0);
	str_release(&out);
}

static void test_proc_stat(void **state)
{
	pid_t parent = 0, child = fork();
	siginfo_t info;
	char letter = 0;

	(void)state;
	if (child == 0) {
		prctl(PR_SET_NAME, "a) S 1 (b");
		_exit(0);
	}
	assert_int_equal(proc_stat(getpid(), &letter, &parent), 0);
	assert_int_equal(letter, 'R');
	assert_int_equal(parent, getppid());
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(proc_stat(child, &letter, &parent), 0);
	assert_int_equal(letter, 'Z');
	assert_int_equal(parent, getpid());
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(proc_stat(child, &letter, &parent), -ESRCH);
}

static void *end_with(void *file)
{
	char byte;

	return read(*(int *)file, &byte, 1) == 0 ? file : NULL;
}

/* The first thread ends before the others. */
static void outlive_first(int ends[2])
{
	pthread_t other;

	close(ends[1]);
	if (pthread_create(&other, NULL, end_with, &ends[0]))
		_exit(1);
	pthread_exit(NULL);
}

static void test_proc_has_ended(void **state)
{
	char letter = 0;
	int ends[2];
	siginfo_t info;
	pid_t parent, child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0)
		outlive_first(ends);
	close(ends[0]);
	while (letter != 'Z') {
		usleep(1000);
		assert_int_equal(proc_stat(child, &letter, &parent), 0);
	}
	assert_false(proc_has_ended(child));
	close(ends[1]);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(info.si_status, 0);
	assert_true(proc_has_ended(child));
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(proc_has_ended(child));
	assert_false(proc_has_ended(getpid()));
}

static void test_saturated(void **state)
{
	(void)state;
	assert_int_equal(sum_saturated(3, 4), 7);
	assert_true(sum_saturated(INT64_MAX - 4, 4) == INT64_MAX);
	assert_true(sum_saturated(INT64_MAX, INT64_MAX) == INT64_MAX);
	assert_int_equal(product_saturated(3, 4), 12);
	assert_int_equal(product_saturated(0, INT64_MAX), 0);
	assert_true(product_saturated((int64_t)1 << 32, (int64_t)1 << 31) == INT64_MAX);
	assert_true(unsigned_sum_saturated(3, 4) == 7);
	assert_true(unsigned_sum_saturated(UINT64_MAX - 4, 5) == UINT64_MAX);
	assert_true(narrow_saturated(-7) == -7);
	assert_true(narrow_saturated((__int128)INT64_MAX + 1) == INT64_MAX);
	assert_true(narrow_saturated((__int128)INT64_MIN - 1) == INT64_MIN);
	assert_true(real_saturated(-7.5) == -7);
	assert_true(real_saturated((double)INT64_MAX) == INT64_MAX && real_saturated(1e300) == INT64_MAX);
	assert_true(real_saturated(-0x1p63) == INT64_MIN && real_saturated(-INFINITY) == INT64_MIN);
	assert_true(real_saturated(NAN) == 0);
}

struct counted {
	uint64_t sum;
	int other;
};

static __attribute__((noinline)) uint64_t next_sum(const struct counted *items, size_t cnt)
{
	return items[cnt - 1].sum + cnt;
}

/* The added element may be one of the list, which grows meanwhile. */
static void test_vec(void **state)
{
	struct { struct counted *items; size_t cnt, cap; } v = { NULL, 0, 0 };

	(void)state;
	VEC_ADD(&v, (struct counted){ 1, 0 });
	for (uint64_t i = 1; i < 1000; i++)
		VEC_ADD(&v, (struct counted){ next_sum(v.items, v.cnt), 0 });
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(v.items[i].sum, 1 + i * (i + 1) / 2);
	VEC_RELEASE(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_saturated), cmocka_unit_test(test_vec),
		cmocka_unit_test(test_arena), cmocka_unit_test(test_partition_point), cmocka_unit_test(test_sort_order), cmocka_unit_test(test_sort_items),
		cmocka_unit_test(test_str), cmocka_unit_test(test_text_ns),
		cmocka_unit_test(test_nearest_word), cmocka_unit_test(test_map),
		cmocka_unit_test(test_names), cmocka_unit_test(test_diag),
		cmocka_unit_test(test_paths), cmocka_unit_test(test_path_list), cmocka_unit_test(test_files), cmocka_unit_test(test_plain_files),
		cmocka_unit_test(test_processes), cmocka_unit_test(test_process_options),
		cmocka_unit_test(test_proc_stat), cmocka_unit_test(test_proc_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
