/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * command.c - a compiler's command line, understood.
 *
 * One pass from left to right gives every word a kind.  What has to be known of an option is a row
 * of a table: its spelling, whether its value is the next word, and its kind.  The longest row
 * that fits wins, so "-include" is not taken for "-i" something.
 */
#include <ctype.h>
#include <string.h>
#include <sys/utsname.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "instrumenter/parse/command.h"
#include "instrumenter/parse/long_options.h"

enum value_form {
	ALONE,				/* -c */
	NEXT,				/* -o FILE, nothing joined to it */
	EITHER,				/* -IDIR or -I DIR */
	PREFIX				/* -std=VALUE, -Wall */
};

static const struct option_row {
	const char *name;
	enum value_form form;
	enum word_kind kind;
} option_rows[] = {
	{ "-c", ALONE, WORD_COMPILE },
	{ "-o", EITHER, WORD_OUTPUT },
	{ "-x", EITHER, WORD_LANGUAGE },
	{ "-D", EITHER, WORD_PREPROCESS }, { "-U", EITHER, WORD_PREPROCESS },
	{ "-I", EITHER, WORD_PREPROCESS }, { "-P", ALONE, WORD_PREPROCESS },
	{ "-C", ALONE, WORD_PREPROCESS }, { "-CC", ALONE, WORD_PREPROCESS },
	{ "-H", ALONE, WORD_PREPROCESS },
	{ "-include-pch", NEXT, WORD_PRECOMPILED },
	{ "-include", NEXT, WORD_PREPROCESS }, { "-imacros", NEXT, WORD_PREPROCESS },
	{ "-isystem", EITHER, WORD_PREPROCESS }, { "-iquote", EITHER, WORD_PREPROCESS },
	{ "-idirafter", EITHER, WORD_PREPROCESS }, { "-iprefix", EITHER, WORD_PREPROCESS },
	{ "-iwithprefix", EITHER, WORD_PREPROCESS },
	{ "-iwithprefixbefore", EITHER, WORD_PREPROCESS }, { "-cxx-isystem", EITHER, WORD_PREPROCESS },
	{ "-ivfsoverlay", EITHER, WORD_PREPROCESS },
	{ "-Wp,-MD,", PREFIX, WORD_DEPENDENCY }, { "-Wp,-MMD,", PREFIX, WORD_DEPENDENCY },
	{ "-Wp,", PREFIX, WORD_PREPROCESS }, { "-Xpreprocessor", NEXT, WORD_PREPROCESS },
	{ "-finput-charset=", PREFIX, WORD_PREPROCESS },
	{ "-MD", ALONE, WORD_DEPENDENCY }, { "-MMD", ALONE, WORD_DEPENDENCY },
	{ "-MP", ALONE, WORD_DEPENDENCY }, { "-MG", ALONE, WORD_DEPENDENCY },
	{ "-MF", EITHER, WORD_DEPENDENCY }, { "-MT", EITHER, WORD_DEPENDENCY },
	{ "-MQ", EITHER, WORD_DEPENDENCY }, { "-MJ", EITHER, WORD_DEPENDENCY },
	{ "-W", PREFIX, WORD_WARNING }, { "-w", ALONE, WORD_WARNING },
	{ "-pedantic", PREFIX, WORD_WARNING }, { "--serialize-diagnostics", NEXT, WORD_WARNING },
	{ "-Wa,", PREFIX, WORD_FLAG }, { "-Wl,", PREFIX, WORD_LINK },
	{ "-l", EITHER, WORD_LINK },
	{ "-shared", ALONE, WORD_LINK }, { "-static", ALONE, WORD_LINK }, { "-r", ALONE, WORD_LINK },
	{ "-static-pie", ALONE, WORD_LINK }, { "-rdynamic", ALONE, WORD_LINK },
	{ "-pie", ALONE, WORD_LINK }, { "-no-pie", ALONE, WORD_LINK }, { "-s", ALONE, WORD_LINK },
	{ "-static-lib", PREFIX, WORD_LINK }, { "-shared-lib", PREFIX, WORD_LINK },
	{ "-nostdlib", ALONE, WORD_LINK }, { "-nodefaultlibs", ALONE, WORD_LINK },
	{ "-nostartfiles", ALONE, WORD_LINK }, { "-nolibc", ALONE, WORD_LINK },
	{ "-fuse-ld=", PREFIX, WORD_LINK }, { "--ld-path=", PREFIX, WORD_LINK },
	{ "-rtlib=", PREFIX, WORD_LINK }, { "--rtlib=", PREFIX, WORD_LINK },
	{ "-unwindlib=", PREFIX, WORD_LINK }, { "--unwindlib=", PREFIX, WORD_LINK },
	{ "-L", EITHER, WORD_LINK }, { "-T", EITHER, WORD_LINK }, { "-u", EITHER, WORD_LINK },
	{ "-z", EITHER, WORD_LINK }, { "-e", EITHER, WORD_LINK }, { "-A", EITHER, WORD_PREPROCESS },
	{ "-B", EITHER, WORD_FLAG }, { "-h", EITHER, WORD_LINK },
	{ "-isysroot", EITHER, WORD_FLAG }, { "--sysroot", NEXT, WORD_FLAG },
	{ "-imultilib", NEXT, WORD_FLAG }, { "--param", NEXT, WORD_FLAG },
	{ "-Xassembler", NEXT, WORD_FLAG }, { "-Xlinker", NEXT, WORD_LINK },
	{ "-Xclang", NEXT, WORD_FLAG }, { "-mllvm", NEXT, WORD_FLAG }, { "-arch", NEXT, WORD_FLAG },
	{ "-target", NEXT, WORD_FLAG }, { "--target=", PREFIX, WORD_FLAG },
	{ "-wrapper", NEXT, WORD_FLAG }, { "-specs", NEXT, WORD_FLAG },
	{ "-aux-info", NEXT, WORD_FLAG }, { "-dumpbase", NEXT, WORD_FLAG },
	{ "-dumpbase-ext", NEXT, WORD_FLAG }, { "-dumpdir", NEXT, WORD_FLAG },
	{ "-Tbss", NEXT, WORD_LINK }, { "-Tdata", NEXT, WORD_LINK }, { "-Ttext", NEXT, WORD_LINK },
	{ "-rpath", NEXT, WORD_LINK }, { "-gcc-toolchain", NEXT, WORD_FLAG },
};

/* With one of these the compiler makes no object that could be instrumented. */
static const char *const passed_on[] = {
	"-E", "-S", "-M", "-MM", "-fsyntax-only", "-###", "--version", "-dumpversion", "-dumpmachine",
	"-dumpspecs", "-dumpfullversion", "-emit-llvm", "-emit-ast", "--analyze", "--help", "-cc1",
	"-cc1as", "--precompile", "-pass-exit-codes",
};

static const struct {
	const char *suffix;
	enum language language;
} suffixes[] = {
	{ ".c", LANG_C }, { ".cc", LANG_CXX }, { ".cp", LANG_CXX }, { ".cxx", LANG_CXX },
	{ ".cpp", LANG_CXX }, { ".CPP", LANG_CXX }, { ".c++", LANG_CXX }, { ".C", LANG_CXX },
	{ ".i", LANG_C }, { ".ii", LANG_CXX },
};

/* Sources that are precompiled headers or of another language: the command is passed through. */
static const char *const strange_suffixes[] = {
	".h", ".hh", ".hpp", ".hxx", ".H", ".m", ".mm", ".f", ".f90", ".go", ".d", ".pcm",
};

static const char *const assembler_suffixes[] = { ".s", ".S", ".sx" };

/* The names that follow a triple in a cross compiler's name. */
static const char *const drivers[] = { "gcc", "g++", "clang", "cc", "c++", "cpp" };

static const char *const wrappers[] = { "ccache", "sccache", "distcc", "icecc" };

/* --- response files -------------------------------------------------------------- */

#define RESPONSE_DEPTH 8		/* a file that includes itself must end somewhere */

static void expand_words(char *const *argv, struct args *ret, int depth);

/* Splits at blanks; quotes and backslashes as in libiberty's expandargv(). */
static void split_words(const char *p, struct args *ret)
{
	while (*p) {
		_cleanup_(str_release) struct str word = STR_INIT;
		char quote = 0;

		while (isspace((unsigned char)*p))
			p++;
		if (!*p)
			break;
		for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
			if (*p == '\\' && p[1])
				str_addc(&word, *++p);
			else if (quote && *p == quote)
				quote = 0;
			else if (!quote && (*p == '"' || *p == '\''))
				quote = *p;
			else
				str_addc(&word, *p);
		}
		args_add(ret, str_cstr(&word));
	}
}

static void expand_words(char *const *argv, struct args *ret, int depth)
{
	for (; *argv; argv++) {
		_cleanup_(args_release) struct args words = ARGS_INIT;
		_cleanup_(freep) char *text = NULL;

		if (**argv != '@' || depth == RESPONSE_DEPTH || file_read(*argv + 1, &text, NULL) < 0) {
			args_add(ret, *argv);
			continue;
		}
		split_words(text, &words);
		if (words.cnt)
			expand_words(words.items, ret, depth + 1);
	}
}

/* --- words ------------------------------------------------------------------------ */

static bool in_list(const char *word, const char *const *list, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (strcmp(word, list[i]) == 0)
			return true;
	return false;
}

static bool has_suffix_in(const char *path, const char *const *list, size_t cnt)
{
	const char *dot = strrchr(path_base(path), '.');

	return dot && in_list(dot, list, cnt);
}

static enum language language_of_suffix(const char *path)
{
	const char *dot = strrchr(path_base(path), '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(suffixes); i++)
		if (strcmp(dot, suffixes[i].suffix) == 0)
			return suffixes[i].language;
	return LANG_OTHER;
}

/* The value of -x. */
static enum language language_of_name(const char *name)
{
	if (strcmp(name, "c") == 0 || strcmp(name, "cpp-output") == 0)
		return LANG_C;
	return strcmp(name, "c++") == 0 || strcmp(name, "c++-cpp-output") == 0 ? LANG_CXX : LANG_OTHER;
}

/* forced: the value of -x; NULL: path's suffix says it. */
static bool is_preprocessed(const char *path, const char *forced)
{
	static const char *const preprocessed[] = { ".i", ".ii" };

	if (forced)
		return strstr(forced, "cpp-output") != NULL;
	return has_suffix_in(path, preprocessed, ARRAY_SIZE(preprocessed));
}

/* "x86_64-linux-gnu": a triple of the machine that the runtime is for? */
static bool is_our_target(const char *triple, size_t len)
{
	_cleanup_(freep) char *target = xstrndup(triple, len);
	struct utsname machine;

	if (uname(&machine) < 0 || !starts_with(target, machine.machine))
		return false;
	return strstr(target, "linux") && !strstr(target, "musl") && !strstr(target, "android") &&
	       !strstr(target, "gnux32");
}

/* "aarch64-linux-gnu-gcc-12", "musl-gcc", "avr-g++": their objects cannot contain our probes. */
static bool is_foreign_compiler(const char *program)
{
	static const char *const harmless[] = { "c89", "c99", "clang", "ccache" };
	const char *base = path_base(program), *end = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		const char *found = strstr(base, drivers[i]);

		if (found > base && found[-1] == '-' && (!end || found - 1 < end))
			end = found - 1;
	}
	for (size_t i = 0; end && i < ARRAY_SIZE(harmless); i++)
		if (strncmp(base, harmless[i], (size_t)(end - base)) == 0)
			return false;
	return end && !is_our_target(base, (size_t)(end - base));
}

/* g++ and clang++ compile .c as C++. */
static bool is_cxx_driver(const char *program)
{
	return strstr(path_base(program), "++") != NULL;
}

static const struct option_row *find_row(const char *word)
{
	const struct option_row *best = NULL;
	size_t best_len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(option_rows); i++) {
		const struct option_row *row = &option_rows[i];
		size_t len = strlen(row->name);
		bool fits = row->form == ALONE || row->form == NEXT ? strcmp(word, row->name) == 0 :
			    strncmp(word, row->name, len) == 0;

		if (fits && len > best_len) {
			best = row;
			best_len = len;
		}
	}
	return best;
}

struct parsing {
	struct command *c;
	const char *forced;		/* value of the last -x; NULL */
	bool stops_before_link, links_nothing, pass, cxx_driver;
	size_t inputs;
};

static void see_input(struct parsing *s, size_t i)
{
	const char *word = s->c->words.items[i];
	enum language language = language_of_suffix(word);

	bool is_assembler = s->forced ? starts_with(s->forced, "assembler") :
			    has_suffix_in(word, assembler_suffixes, ARRAY_SIZE(assembler_suffixes));

	s->c->kinds.items[i] = is_assembler ? WORD_ASSEMBLER : WORD_INPUT;
	s->inputs++;
	if (s->forced)
		language = language_of_name(s->forced);
	else if (language == LANG_C && s->cxx_driver)
		language = LANG_CXX;
	if (strcmp(word, "-") == 0 ||
	    (s->forced && language == LANG_OTHER && !is_assembler) ||
	    (!s->forced && has_suffix_in(word, strange_suffixes, ARRAY_SIZE(strange_suffixes))))
		s->pass = true;
	if (language == LANG_OTHER)
		return;
	if (is_preprocessed(word, s->forced))
		s->c->foreign = "the input is preprocessed already (.i, .ii)";
	s->c->kinds.items[i] = WORD_SOURCE;
	VEC_ADD(&s->c->sources, (struct source){ word, language, i });
}

/* The meaning of an option with this value, beyond its kind. */
static void see_option(struct parsing *s, const char *word, const char *value)
{
	struct command *c = s->c;

	if (starts_with(word, "-std="))
		c->standard = word + 5;
	else if (strcmp(word, "-ansi") == 0)
		c->standard = s->cxx_driver ? "c++98" : "c89";
	else if (strcmp(word, "-c") == 0)
		s->stops_before_link = true;
	else if (strcmp(word, "-MD") == 0 || strcmp(word, "-MMD") == 0)
		c->makes_deps = true;
	else if (starts_with(word, "-MF"))
		c->deps_named = true;
	else if (starts_with(word, "-MT") || starts_with(word, "-MQ"))
		c->deps_target = true;
	else if (starts_with(word, "-MJ"))
		c->untouchable = "the command writes a compilation database (-MJ)";
	else if (starts_with(word, "-save-temps") || starts_with(word, "--save-temps"))
		c->untouchable = "the command keeps intermediate files (-save-temps)";
	else if (strcmp(word, "-shared") == 0 || strcmp(word, "-dynamiclib") == 0 ||
		 strcmp(word, "-r") == 0 || strcmp(word, "-nostdlib") == 0 ||
		 strcmp(word, "-nodefaultlibs") == 0 || strcmp(word, "-nostartfiles") == 0 || strcmp(word, "-nolibc") == 0 ||
		 strcmp(word, "-Wl,-r") == 0)
		c->link = LINK_NO_RUNTIME;
	else if (strcmp(word, "-m32") == 0 || strcmp(word, "-mx32") == 0)
		c->foreign = "the command compiles for another machine (-m32, -mx32)";
	else if (strcmp(word, "-mabi=ms") == 0)
		c->foreign = "the command compiles for another calling convention (-mabi=ms)";
	else if ((strcmp(word, "-target") == 0 && value && !is_our_target(value, strlen(value))) ||
		 (starts_with(word, "--target=") && !is_our_target(word + 9, strlen(word + 9))))
		c->foreign = "the command compiles for another machine (-target)";
	else if (word[1] == 'x' && value)
		s->forced = strcmp(value, "none") == 0 ? NULL : value;
	else if (word[1] == 'o' && value)
		c->output = value;
	else if (word[1] == 'l')
		s->inputs++;
}

/* Gives word i (and its value, if that is the next word) a kind; returns the next index. */
static size_t see_word(struct parsing *s, size_t i)
{
	struct command *c = s->c;
	const char *word = c->words.items[i], *value = NULL;
	const struct option_row *row;
	size_t next = i + 1;

	if (word[0] != '-' || !word[1]) {
		see_input(s, i);
		return next;
	}
	if (in_list(word, passed_on, ARRAY_SIZE(passed_on)) || starts_with(word, "-print-") ||
	    starts_with(word, "--print-") || starts_with(word, "-flto-partial"))
		s->pass = true;
	row = find_row(word);
	c->kinds.items[i] = row ? row->kind : WORD_FLAG;
	if (row && (row->form == NEXT || (row->form == EITHER && !word[strlen(row->name)]))) {
		if (next < c->words.cnt) {
			value = c->words.items[next];
			c->kinds.items[next++] = row->kind;
		} else {
			s->pass = true;		/* an error, which the compiler reports */
		}
	} else if (row && row->form == EITHER) {
		value = word + strlen(row->name);
	}
	if (!row || row->form != EITHER || value)
		see_option(s, word, value);
	return next;
}

static bool are_words(const struct command *c, size_t i, const char *first, const char *second,
		      const char *third)
{
	return i + 3 < c->words.cnt && strcmp(c->words.items[i], first) == 0 &&
	       strcmp(c->words.items[i + 1], second) == 0 && strcmp(c->words.items[i + 2], third) == 0;
}

/*
 * cmake with clang: -Xclang -include-pch -Xclang all.h.pch -Xclang -include -Xclang all.h
 * -E leaves out what comes from a precompiled header; without the header's own name it is lost.
 */
static void see_precompiled(struct command *c)
{
	bool named = false;

	for (size_t i = 0; i < c->words.cnt; i++) {
		bool precompiled = are_words(c, i, "-Xclang", "-include-pch", "-Xclang");

		if (!precompiled && !are_words(c, i, "-Xclang", "-include", "-Xclang"))
			continue;
		named |= !precompiled;
		for (size_t w = i; w < i + 4; w++)
			c->kinds.items[w] = precompiled ? WORD_PRECOMPILED : WORD_PREPROCESS;
	}
	if (command_has(c, WORD_PRECOMPILED) && !named)
		c->untouchable = "a precompiled header, and not the header itself (-include-pch)";
}

/* --- the whole --------------------------------------------------------------------- */

/* Compiles and links that only test what the compiler can do: those of configure, cmake and meson. */
static bool is_probe_of_compiler(const struct command *c)
{
	static const char *const places[] = { "CMakeFiles/CMakeTmp", "CMakeFiles/CMakeScratch", "meson-private" };
	_cleanup_(freep) char *here = path_real(".");

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (strstr(here, places[i]))
			return true;
	for (size_t w = 0; w < c->words.cnt; w++) {
		const char *word = c->words.items[w], *base = path_base(word);

		if (c->kinds.items[w] != WORD_SOURCE && c->kinds.items[w] != WORD_INPUT)
			continue;
		if (starts_with(base, "conftest.") || starts_with(base, "CMakeC") ||
		    starts_with(word, "CMakeFiles/cmTC_") || strcmp(word, "/dev/null") == 0)
			return true;
		for (size_t i = 0; i < ARRAY_SIZE(places); i++)
			if (strstr(word, places[i]))
				return true;
	}
	return c->output && strcmp(c->output, "/dev/null") == 0;
}

/* gcc -c a.c b.c -o x.o: an error, which the compiler reports. */
static bool has_output_for_several(const struct parsing *s)
{
	const struct command *c = s->c;

	return s->stops_before_link && c->output && c->sources.cnt + command_has(c, WORD_ASSEMBLER) > 1;
}

static enum command_kind decide_kind(const struct parsing *s)
{
	const struct command *c = s->c;

	if (s->pass || !s->inputs || (c->foreign && !c->sources.cnt) || has_output_for_several(s))
		return COMMAND_PASS;
	if (is_probe_of_compiler(c))
		return COMMAND_PASS;
	if (s->stops_before_link)
		return c->sources.cnt ? COMMAND_COMPILE : COMMAND_PASS;
	return c->sources.cnt ? COMMAND_COMPILE_LINK : COMMAND_LINK;
}

void command_parse(char *const *argv, struct command *ret)
{
	struct command c = { .kind = COMMAND_PASS };
	struct parsing s = { .c = &c };
	size_t first = 1;

	expand_words(argv, &c.words, 0);
	long_options_shorten(&c.words);
	for (size_t i = 0; i < c.words.cnt; i++)
		VEC_ADD(&c.kinds, WORD_PROGRAM);
	if (c.words.cnt > 1 && in_list(path_base(argv[0]), wrappers, ARRAY_SIZE(wrappers)) &&
	    argv[1][0] != '-')
		first = 2;
	s.cxx_driver = is_cxx_driver(c.words.items[first - 1]);
	if (is_foreign_compiler(c.words.items[first - 1]))
		c.foreign = "the compiler is for another machine or another C library";
	for (size_t i = first; i < c.words.cnt; )
		i = see_word(&s, i);
	see_precompiled(&c);
	c.kind = decide_kind(&s);
	if (c.sources.cnt > 1 && c.makes_deps && !c.deps_named)
		c.untouchable = "several sources with dependency files in one command";
	*ret = c;
}

void command_release(struct command *c)
{
	args_release(&c->words);
	VEC_RELEASE(&c->kinds);
	VEC_RELEASE(&c->sources);
}

bool command_has(const struct command *c, enum word_kind kind)
{
	for (size_t w = 0; w < c->words.cnt; w++)
		if (c->kinds.items[w] == kind)
			return true;
	return false;
}

/* -Wl,A,B and -Xlinker A: what the linker is given. */
static void add_linker_words(const struct command *c, struct args *ret)
{
	for (size_t w = 1; w < c->words.cnt; w++) {
		const char *word = c->words.items[w];

		if (strcmp(c->words.items[w - 1], "-Xlinker") == 0)
			args_add(ret, word);
		for (word = starts_with(word, "-Wl,") ? word + strlen("-Wl,") : ""; *word; word += *word == ',') {
			size_t len = strcspn(word, ",");

			args_addf(ret, "%.*s", (int)len, word);
			word += len;
		}
	}
}

void command_wrapped(const struct command *c, struct args *ret)
{
	_cleanup_(args_release) struct args words = ARGS_INIT;

	add_linker_words(c, &words);
	for (size_t w = 0; w < words.cnt; w++) {
		const char *word = words.items[w] + (starts_with(words.items[w], "--") ? 1 : 0);

		if (starts_with(word, "-wrap="))
			args_add(ret, word + strlen("-wrap="));
		else if (strcmp(word, "-wrap") == 0 && w + 1 < words.cnt)
			args_add(ret, words.items[++w]);
	}
}

/* "dir/a.b.c" -> "a.b" */
static char *stem(const char *path)
{
	const char *base = path_base(path), *dot = strrchr(base, '.');

	return dot && dot > base ? xstrndup(base, (size_t)(dot - base)) : xstrdup(base);
}

/* In one command: one/list.c two/list.c */
static size_t earlier_namesakes(const struct command *c, size_t i, const char *name)
{
	size_t cnt = 0;

	for (size_t s = 0; s < i; s++) {
		_cleanup_(freep) char *other = stem(c->sources.items[s].path);

		cnt += strcmp(name, other) == 0;
	}
	return cnt;
}

char *command_object(const struct command *c, size_t i)
{
	_cleanup_(freep) char *name = stem(c->sources.items[i].path);
	const char *output = c->output && *c->output ? c->output : NULL;	/* -o '': clang's is as without, gcc refuses */
	const char *program = output ? output : "a";
	size_t namesakes;

	if (c->kind == COMMAND_COMPILE)
		return output ? xstrdup(output) : xasprintf("%s.o", name);
	namesakes = earlier_namesakes(c, i, name);
	return namesakes ? xasprintf("%s-%s-%zu.o", program, name, namesakes) :
			   xasprintf("%s-%s.o", program, name);
}
