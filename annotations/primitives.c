/* SPDX-License-Identifier: Apache-2.0 */
/*
 * primitives.c - reads the *.sync tables and the values of [sync].
 *
 *	acquire = apr_thread_mutex_lock(arg0)
 *	^role     ^name                 ^one expression: the object; and perhaps class=cond, spins=no
 *	enqueue = queue_push(queue=arg0, task=arg1->job)
 *	                     ^named expressions, in any order, split at commas outside parentheses
 *	builtin sleep other		the runtime has vprof_w_sleep
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include "annotations/primitives.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"

static const char *const role_names[] = {
	[ROLE_ACQUIRE] = "acquire", [ROLE_RELEASE] = "release", [ROLE_ENQUEUE] = "enqueue",
	[ROLE_DEQUEUE] = "dequeue", [ROLE_OTHER] = "other",
};

/* NULL: not a class for acquire.  A thread that waits for a task is described by enqueue and dequeue. */
static const char *const class_names[CLASS_CNT] = {
#define X(id, name) [CLASS_##id] = CLASS_##id == CLASS_QUEUE ? NULL : name,
	WAIT_CLASSES(X)
#undef X
};

static bool class_parse(const char *s, enum primitive_class *ret)
{
	for (int i = 0; i < CLASS_CNT; i++) {
		if (class_names[i] && strcmp(class_names[i], s) == 0) {
			*ret = i == CLASS_LOCK ? CLASS_NONE : (enum primitive_class)i;
			return true;
		}
	}
	return false;
}

/* "class=lock, cond, io, join or sleep" */
static void add_classes(struct str *to)
{
	const char *comma = "class=", *last = NULL;

	for (int i = 0; i < CLASS_CNT; i++) {
		if (!class_names[i])
			continue;
		if (last) {
			str_addf(to, "%s%s", comma, last);
			comma = ", ";
		}
		last = class_names[i];
	}
	str_addf(to, " or %s", last);
}

static bool spins_parse(const char *s, bool *ret_never)
{
	*ret_never = strcmp(s, "no") == 0;
	return *ret_never || strcmp(s, "yes") == 0;
}

static bool role_parse(const char *s, size_t len, enum primitive_role *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(role_names); i++) {
		if (strlen(role_names[i]) == len && strncmp(role_names[i], s, len) == 0) {
			*ret = (enum primitive_role)i;
			return true;
		}
	}
	return false;
}

static char *trimmed(const char *s, size_t len)
{
	while (len && isspace((unsigned char)*s)) {
		s++;
		len--;
	}
	while (len && isspace((unsigned char)s[len - 1]))
		len--;
	return xstrndup(s, len);
}

/* The end of one expression: a comma outside brackets and strings, or the end of the text. */
static const char *expression_end(const char *p, const char *end)
{
	int depth = 0;

	for (; p < end; p++) {
		if (*p == '"' || *p == '\'') {
			char quote = *p;

			for (p++; p < end && *p != quote; p++)
				p += *p == '\\' && p + 1 < end;
			if (p == end)
				break;
		} else if (strchr("([{", *p)) {
			depth++;
		} else if (strchr(")]}", *p)) {
			depth--;
		} else if (*p == ',' && depth == 0) {
			break;
		}
	}
	return p;
}

static bool is_c_name(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_' && *s != ':')
			return false;
	return true;
}

/* "ppi", "p*", "-" of a function without parameters */
static bool is_signature(const char *s)
{
	size_t len = strspn(s, "pirs.");

	return strcmp(s, "-") == 0 || (*s && (!s[len] || strcmp(s + len, "*") == 0));
}

bool primitive_takes(const struct primitive *p, const char *kinds, size_t cnt)
{
	const char *s = p->takes;
	size_t i;

	if (!s)
		return true;
	if (*s == '-')
		return cnt == 0;
	for (i = 0; i < cnt && s[i] && s[i] != '*'; i++)
		if (s[i] != '.' && kinds[i] != '?' && s[i] != kinds[i])
			return false;
	return s[i] == '*' || (!s[i] && i == cnt);
}

/* Stores "queue=arg0", "class=cond", "spins=no" or "arg0" in its field.  False: no such name, or given twice. */
static bool set_expression(struct primitive *p, const char *text)
{
	bool is_queue_role = p->role == ROLE_ENQUEUE || p->role == ROLE_DEQUEUE;
	const char *eq = strchr(text, '=');
	bool is_named = eq && eq[1] != '=';
	_cleanup_(freep) char *name = is_named ? trimmed(text, (size_t)(eq - text)) : NULL;
	_cleanup_(freep) char *value = is_named ? trimmed(eq + 1, strlen(eq + 1)) : xstrdup(text);
	char **slot = &p->object;

	if (p->role == ROLE_ACQUIRE && is_named && strcmp(name, "class") == 0)
		return class_parse(value, &p->class);
	if (p->role == ROLE_ACQUIRE && is_named && strcmp(name, "spins") == 0)
		return spins_parse(value, &p->never_spins);
	if (is_named && strcmp(name, "takes") == 0 && !p->takes) {
		p->takes = TAKE_PTR(value);
		return is_signature(p->takes);
	}
	if (is_queue_role && !is_named)
		return false;
	if (is_queue_role && strcmp(name, "task") == 0)
		slot = &p->task;
	else if (is_queue_role && strcmp(name, "queue") != 0)
		return false;
	if (*slot)
		return false;
	*slot = is_queue_role ? TAKE_PTR(value) : xstrdup(text);
	return **slot != '\0';
}

static int bad_primitive(enum primitive_role role, const char *text, struct diag *reterr)
{
	_cleanup_(str_release) struct str classes = STR_INIT;

	diag_set(reterr, EXIT_USAGE, -EINVAL, "'%s' is no %s primitive", text, role_names[role]);
	if (role == ROLE_ENQUEUE || role == ROLE_DEQUEUE)
		return diag_remedy(reterr, -EINVAL,
				   "write FUNCTION(queue=EXPRESSION, task=EXPRESSION), where argN and ret may "
				   "stand for the arguments and the result");
	add_classes(&classes);
	return diag_remedy(reterr, -EINVAL,
			   "write FUNCTION(EXPRESSION): the object, where argN stands for an argument; it may be followed "
			   "by %s, spins=no, and takes=ppi (pointer, pointer, integer)", str_cstr(&classes));
}

int primitive_parse(enum primitive_role role, const char *text, struct primitive *ret,
		    struct diag *reterr)
{
	struct primitive p = { .role = role };
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	bool ok = open && close && close > open && close[1 + strspn(close + 1, " \t")] == '\0';

	if (!ok)
		return bad_primitive(role, text, reterr);
	p.name = trimmed(text, (size_t)(open - text));
	ok = is_c_name(p.name);
	for (const char *at = open + 1; ok && at < close; ) {
		const char *end = expression_end(at, close);
		_cleanup_(freep) char *expression = trimmed(at, (size_t)(end - at));

		ok = *expression && set_expression(&p, expression);
		at = end < close ? end + 1 : end;
	}
	if (!ok || !p.object || ((role == ROLE_ENQUEUE || role == ROLE_DEQUEUE) && !p.task)) {
		primitive_release(&p);
		return bad_primitive(role, text, reterr);
	}
	*ret = p;
	return 0;
}

void primitive_release(struct primitive *p)
{
	free(p->name);
	free(p->object);
	free(p->task);
	free(p->takes);
	*p = (struct primitive){ .role = ROLE_OTHER };
}

void primitives_release(primitives *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		primitive_release(&list->items[i]);
	VEC_RELEASE(list);
}

/* "NAME ROLE", what follows the word builtin. */
static int parse_builtin(const char *text, struct primitive *ret)
{
	size_t name_len = strcspn(text, " \t");
	const char *role = text + name_len + strspn(text + name_len, " \t");
	struct primitive p = { .builtin = true };

	if (!name_len || !role_parse(role, strlen(role), &p.role))
		return -EINVAL;
	p.name = xstrndup(text, name_len);
	*ret = p;
	return 0;
}

static int parse_table_line(const char *line, struct primitive *ret, struct diag *reterr)
{
	const char *eq = strchr(line, '=');
	enum primitive_role role;
	size_t len;

	if (starts_with(line, "builtin "))
		return parse_builtin(line + 8 + strspn(line + 8, " \t"), ret);
	if (!eq)
		return -EINVAL;
	for (len = (size_t)(eq - line); len && isspace((unsigned char)line[len - 1]); )
		len--;
	if (!role_parse(line, len, &role) || role == ROLE_OTHER)
		return -EINVAL;
	return primitive_parse(role, eq + 1 + strspn(eq + 1, " \t"), ret, reterr);
}

int primitives_read(const char *path, primitives *list, struct diag *reterr)
{
	_cleanup_(freep) char *text = NULL;
	unsigned line_no = 0;
	bool is_cxx = false;
	int err = file_read_given(path, &text, NULL);

	if (err < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, err, "cannot read '%s': %s", path,
				strerror(-err));
	for (char *at = text, *next; *at; at = next) {
		struct primitive p;

		next = at + strcspn(at, "\n");
		size_t len = (size_t)(next - at);

		if (*next)
			next++;
		line_no++;
		_cleanup_(freep) char *line = trimmed(at, strcspn(at, "#\n") < len ?
						      strcspn(at, "#\n") : len);

		if (!*line)
			continue;
		if (strcmp(line, "language c++") == 0 || strcmp(line, "language c") == 0) {
			is_cxx = line[10] == '+';
			continue;
		}
		if (parse_table_line(line, &p, NULL) < 0)
			return diag_set(reterr, EXIT_USAGE, -EINVAL, "%s:%u: '%s': expected ROLE = FUNCTION(...) "
					"or builtin FUNCTION ROLE", path, line_no, line);
		p.of_table = true;
		p.is_cxx = is_cxx;
		VEC_ADD(list, p);
	}
	return 0;
}

bool primitive_is_hidden(const primitives *list, size_t i)
{
	const struct primitive *p = &list->items[i];

	for (size_t k = 0; k < i; k++) {
		const struct primitive *other = &list->items[k];

		if (other->name[0] == p->name[0] && strcmp(other->name, p->name) == 0 &&
		    (!other->takes || !p->takes || strcmp(other->takes, p->takes) == 0))
			return true;
	}
	return false;
}

const struct primitive *primitives_find(const primitives *list, const char *name)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i].name[0] == name[0] && strcmp(list->items[i].name, name) == 0)
			return &list->items[i];
	return NULL;
}
