# SPDX-License-Identifier: GPL-3.0-or-later
# generate_program.awk - writes a C program of 5,113 functions, calls 15 deep, with three culprits.
#
#	awk -v dir=DIR -f generate_program.awk
#
# A tree: handle is level 0, each function calls its children in the level below, once an interval.
# Level sizes double up to 256 and then grow to 800.  The culprits are leaves of level 15 in three
# parts of the tree; in one interval of eight, independently, each keeps the CPU for 20, 16 and 11
# ms of wall clock: 40 : 26 : 12 of the variance.  Decoys: every tenth leaf calls a helper 500 times
# (too often to be recorded), and hash_all burns much, but always the same.
# The program prints the mean latency of its intervals in ns, as it measured it itself.

function name(level, i)
{
	if (level == DEPTH)
		for (c = 1; c <= 3; c++)
			if (i == culprit[c])
				return "culprit_" substr("abc", c, 1)
	return "f" level "_" i
}

function random(n)		# 0 .. n - 1, the same on every machine
{
	seed = (seed * 1103 + 12345) % 1000003
	return seed % n
}

BEGIN {
	seed = 1
	DEPTH = 15
	FILES = 20
	split("2 4 8 16 32 64 128 256 400 500 600 700 800 800 800", size, " ")
	size[0] = 1
	culprit[1] = 17; culprit[2] = 333; culprit[3] = 702
	lambda[1] = 20000; lambda[2] = 16000; lambda[3] = 11000
	for (level = 1; level <= DEPTH; level++)
		for (i = 0; i < size[level]; i++) {
			# the first of each level go to parents of their own: each has a child
			parent = i < size[level - 1] ? i : random(size[level - 1])
			children[level - 1, parent] = children[level - 1, parent] " " name(level, i)
		}
	header = dir "/all.h"
	print "#include <time.h>\n#define N __attribute__((noinline))\nextern unsigned state;" > header
	print "N void hash_all(unsigned id);\nN unsigned helper(unsigned x);" > header
	for (level = 0; level <= DEPTH; level++)
		for (i = 0; i < size[level]; i++)
			print "N void " (level ? name(level, i) : "handle") "(unsigned id);" > header
	print "#define NOW(ns) do { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); \\" > header
	print "\t(ns) = t.tv_sec * 1000000000L + t.tv_nsec; } while (0)" > header
	print "#define BURN(us) do { long end, now; NOW(end); end += (us) * 1000L; \\" > header
	print "\tdo NOW(now); while (now < end); } while (0)" > header
	for (file = 0; file < FILES; file++)
		print "#include \"all.h\"" > (dir "/part" file ".c")
	for (level = 0; level <= DEPTH; level++)
		for (i = 0; i < size[level]; i++)
			write_function(level, i)
	write_main()
	write_makefile()
}

function write_function(level, i,	file, list, cnt, k)
{
	file = dir "/part" (level * 7 + i) % FILES ".c"
	print "N void " (level ? name(level, i) : "handle") "(unsigned id)\n{" > file
	print "\tfor (unsigned i = 0; i < 40; i++)\n\t\tstate = state * 1664525 + id;" > file
	if (level == 0)
		print "\thash_all(id);" > file
	cnt = split(children[level, i], list, " ")
	for (k = 1; k <= cnt; k++)
		print "\t" list[k] "(id);" > file
	if (level == DEPTH) {
		for (k = 1; k <= 3; k++)
			if (i == culprit[k])
				print "\tif ((id * 2654435761u >> " (8 + 5 * k) ") % 8 == 0)\n\t\tBURN(" lambda[k] ");" > file
		if (i % 10 == 5)
			print "\tfor (unsigned i = 0; i < 500; i++)\n\t\tstate += helper(i);" > file
	}
	print "}" > file
}

function write_main(	file)
{
	file = dir "/main.c"
	print "#include <stdio.h>\n#include <stdlib.h>\n#include \"all.h\"\nunsigned state;" > file
	print "unsigned helper(unsigned x) { return x * 31 ^ state; }" > file
	print "void hash_all(unsigned id) { for (unsigned i = 0; i < 300000; i++) state = state * 31 + id; }" > file
	print "int main(int argc, char **argv)\n{" > file
	print "\tunsigned cnt = argc > 1 ? (unsigned)atoi(argv[1]) : 300;\n\tdouble sum = 0;\n" > file
	print "\tfor (unsigned id = 1; id <= cnt; id++) {\n\t\tlong start, end;\n\n\t\tNOW(start);" > file
	print "\t\thandle(id);\n\t\tNOW(end);\n\t\tsum += (double)(end - start);\n\t}" > file
	print "\tprintf(\"%.0f\\n\", sum / cnt);\n\treturn 0;\n}" > file
}

function write_makefile(	file)
{
	file = dir "/Makefile"
	print "CFLAGS = -O1 -g\nobjects = main.o $(patsubst %.c,%.o,$(wildcard part*.c))" > file
	print "program: $(objects)\n\t$(CC) -o $@ $(objects)\nclean:\n\trm -f program *.o" > file
	print "[interval \"request\"]\n\tstart = handle\n\tend = handle\n[build]\n\tcommand = make -j2" > (dir "/vprof.conf")
}
