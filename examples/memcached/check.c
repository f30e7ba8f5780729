/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check.c - do a variance tree and its factors add up?
 *
 *	vprof show variance-tree --format json >tree.json
 *	vprof show factors --format json >factors.json
 *	check tree.json factors.json
 *
 * Prints one line per property: name, value, unit, target, "true" or "false", split by tabs; the
 * exit status is 1 if one of them does not hold.  What must hold at every node with children
 * (vprof-formats(5), JSON): its share is the sum of the children's, and its variance is the sum of
 * theirs plus twice their covariances.  Example, shares of the root's children: B 1.231, C 0.077,
 * body -0.308 would be right, as 1.231 + 0.077 - 0.308 = 1.
 */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_INTERVALS	100000
#define TOLERANCE	1e-9

struct node {
	double share, variance_ns2;
	double children_share, children_variance_ns2;	/* the latter with the covariances */
	bool has_children;
};

struct tree {
	struct node *nodes;		/* by id */
	size_t node_cnt, function_cnt, wait_cnt;
};

static bool all_ok = true;

static void row(const char *name, double value, const char *unit, const char *target, bool ok)
{
	printf("%s\t%.17g\t%s\t%s\t%s\n", name, value, unit, target, ok ? "true" : "false");
	all_ok = all_ok && ok;
}

__attribute__((noreturn))
static void die(const char *path, const char *what)
{
	fprintf(stderr, "check: %s: %s\n", path, what);
	exit(1);
}

static json_t *load(const char *path, const char *schema)
{
	json_error_t error;
	json_t *top = json_load_file(path, 0, &error);
	const char *found = json_string_value(json_object_get(top, "schema"));

	if (!top)
		die(path, error.text);
	if (!found || strcmp(found, schema) != 0)
		die(path, "not of the schema that was asked for");
	return top;
}

static double number(const json_t *object, const char *key, const char *path)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_number(value))
		die(path, key);
	return json_number_value(value);
}

/* Nodes come parents before children, with ids from 0. */
static void read_nodes(const json_t *top, const char *path, struct tree *t)
{
	const json_t *nodes = json_object_get(top, "nodes"), *node;
	size_t i;

	t->nodes = calloc(json_array_size(nodes) + 1, sizeof(*t->nodes));
	t->node_cnt = json_array_size(nodes);
	if (!t->nodes || t->node_cnt == 0)
		die(path, "no nodes");
	json_array_foreach(nodes, i, node) {
		const json_t *parent = json_object_get(node, "parent");
		const char *kind = json_string_value(json_object_get(node, "kind"));

		if ((size_t)number(node, "id", path) != i)
			die(path, "ids are not 0, 1, 2 ...");
		t->nodes[i].share = number(node, "share", path);
		t->nodes[i].variance_ns2 = number(node, "variance_ns2", path);
		t->function_cnt += kind && strcmp(kind, "function") == 0;
		t->wait_cnt += kind && strcmp(kind, "wait") == 0;
		if (i == 0)
			continue;
		if (!json_is_integer(parent) || (size_t)json_integer_value(parent) >= i)
			die(path, "a parent does not come before its child");

		struct node *p = &t->nodes[json_integer_value(parent)];

		p->has_children = true;
		p->children_share += t->nodes[i].share;
		p->children_variance_ns2 += t->nodes[i].variance_ns2;
	}
}

static void read_covariances(const json_t *top, const char *path, struct tree *t)
{
	const json_t *list = json_object_get(top, "covariances"), *one;
	size_t i;

	if (!json_is_array(list))
		die(path, "no covariances");
	json_array_foreach(list, i, one) {
		size_t parent = (size_t)number(one, "parent", path);

		if (parent >= t->node_cnt)
			die(path, "covariance of an unknown node");
		t->nodes[parent].children_variance_ns2 += 2 * number(one, "covariance_ns2", path);
	}
}

static void check_sums(const struct tree *t)
{
	double share_error = 0, variance_error = 0;
	const struct node *root = &t->nodes[0];

	for (size_t i = 0; i < t->node_cnt; i++) {
		const struct node *n = &t->nodes[i];

		if (!n->has_children)
			continue;
		share_error = fmax(share_error, fabs(n->share - n->children_share));
		variance_error = fmax(variance_error, fabs(n->variance_ns2 -
				      n->children_variance_ns2) / root->variance_ns2);
	}
	row("share_of_root_minus_1", fabs(root->share - 1), "fraction", "< 1e-9",
	    fabs(root->share - 1) < TOLERANCE);
	row("root_children_shares_minus_1", fabs(root->children_share - 1), "fraction", "< 1e-9",
	    fabs(root->children_share - 1) < TOLERANCE);
	row("share_sum_error", share_error, "fraction", "< 1e-9", share_error < TOLERANCE);
	row("variance_sum_error", variance_error, "fraction", "< 1e-9", variance_error < TOLERANCE);
}

static void check_interval(const json_t *top, const char *path)
{
	const json_t *interval = json_object_get(top, "interval");
	const json_t *dropped = json_object_get(interval, "dropped");
	double count = number(interval, "count", path);
	double bad = number(dropped, "bad_path", path), aborted = number(dropped, "aborted", path);

	row("intervals", count, "count", ">= 100000", count >= MIN_INTERVALS);
	row("intervals_bad_path", bad, "count", "0", bad == 0);
	row("intervals_aborted", aborted, "count", "0", aborted == 0);
	row("intervals_open", number(dropped, "open", path), "count", "-", true);
	row("interval_mean", number(interval, "mean_ns", path), "ns", "-", true);
	row("interval_stddev", number(interval, "stddev_ns", path), "ns", "-", true);
	row("interval_p99", number(interval, "p99_ns", path), "ns", "-", true);
}

int main(int argc, char **argv)
{
	struct tree tree = { 0 };

	if (argc != 3) {
		fputs("usage: check TREE.json FACTORS.json\n", stderr);
		return 2;
	}

	json_t *top = load(argv[1], "vprof.variance-tree/1");
	json_t *factors = load(argv[2], "vprof.factors/1");
	size_t factor_cnt = json_array_size(json_object_get(factors, "factors"));

	read_nodes(top, argv[1], &tree);
	read_covariances(top, argv[1], &tree);
	check_interval(top, argv[1]);
	row("tree_function_nodes", (double)tree.function_cnt, "count", ">= 5",
	    tree.function_cnt >= 5);
	row("tree_wait_nodes", (double)tree.wait_cnt, "count", "-", true);
	check_sums(&tree);
	row("factors", (double)factor_cnt, "count", ">= 1", factor_cnt >= 1);
	free(tree.nodes);
	json_decref(top);
	json_decref(factors);
	return all_ok ? 0 : 1;
}
