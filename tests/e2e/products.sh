#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A build's outputs are whole or absent, also if the compiler is killed; and objects that the user compiled without
# vprof since are noticed and built again.
. "${srcdir:-.}/tests/e2e/lib.sh"

mkdir project && cd project || exit 99
cat >deep.c <<'END'
#include <unistd.h>
void slow(unsigned id) { if (id % 8 == 0) usleep(2000); }
void handle(unsigned id) { slow(id); }
END
cat >main.c <<'END'
void handle(unsigned id);
int main(void) { for (unsigned id = 1; id <= 100; id++) handle(id); return 0; }
END
cat >Makefile <<'END'
program: main.o deep.o
	gcc -o $@ main.o deep.o
%.o: %.c
	test ! -e broken && gcc -g -c $<
END
expect 0 "$VPROF" annotate --start handle --end handle
expect 0 "$VPROF" build -- make
expect 0 "$VPROF" build -- make
if grep -q "without vprof" "$work/.err"; then fail "nobody compiled anything"; else pass; fi

# One object, then all of them.  A function that moved is known at its new place.
sed 's/^void handle/\n&/' deep.c >new.c && mv new.c deep.c
expect 0 make
expect 0 "$VPROF" build -- make
says "1 object was compiled without vprof since the last build: building it again"
expect 0 "$VPROF" record -- ./program
says "100 intervals"
expect 0 "$VPROF" show call-graph --below handle
says "deep.c:4"
rm -f program ./*.o
expect 0 make
expect 0 "$VPROF" iterate -- ./program
says "2 objects were compiled without vprof since the last build: building them again" "▶ slow"

# They cannot be built again: what was there is there again.
rm -f program ./*.o
expect 0 make
touch broken
cp deep.o before.o
expect 2 "$VPROF" build -- make
says "the build ended with status 2"
expect 0 make
expect 0 cmp before.o deep.o
expect 0 ./program
rm broken
expect 0 "$VPROF" build -- make
says "2 objects were compiled"
if ls vprof.data/build/*.aside vprof.data/build/*.new >/dev/null 2>&1; then fail "something is left"; else pass; fi

# A command that compiles and links at once.
printf 'program: main.c deep.c\n\tgcc -g -o $@ main.c deep.c\n' >Makefile
rm -f program ./*.o
expect 0 "$VPROF" build -- make
touch main.c
expect 0 make
expect 4 "$VPROF" record -- ./program
expect 0 "$VPROF" build -- make
says "1 object was compiled without vprof"
expect 0 "$VPROF" record -- ./program
says "100 intervals"

# httpd's way: what depends on an object looks at the x.slo that is touched beside it.  With probes in the
# object the library is made again.
mkdir ../slo && cd ../slo || exit 99
cp ../project/main.c ../project/deep.c .
printf 'program: main.o deep.so\n\tgcc -o $@ main.o $$PWD/deep.so\ndeep.so: deep.slo\n' >Makefile
printf '\tgcc -shared -o $@ .libs/deep.o\ndeep.slo: deep.c\n\tmkdir -p .libs\n' >>Makefile
printf '\tgcc -g -fPIC -c deep.c -o .libs/deep.o && touch $@\nmain.o: main.c\n\tgcc -g -c main.c\n' >>Makefile
expect 0 "$VPROF" annotate --start handle --end handle
expect 0 "$VPROF" build -- make
expect 0 "$VPROF" record -- ./program
says "100 intervals"
expect 0 "$VPROF" show variance-tree
says slow
touch deep.c
expect 0 make
expect 0 "$VPROF" build -- make
says "1 object was compiled without vprof"
expect 0 "$VPROF" record -- ./program
says "100 intervals"
cd ../project || exit 99

# The dependency file of a unit that is compiled as it is has its name and its target.
printf 'int other;\n' >other.h
printf '#include "other.h"\n' >plain.c
gcc -MMD -c plain.c -o plain.o && mv plain.d want.d
printf 'program: main.c deep.c plain.o\n\tgcc -g -o $@ main.c deep.c plain.o\nplain.o: plain.c\n\tgcc -MMD -c plain.c -o plain.o\n' >Makefile
rm -f program plain.o
expect 0 "$VPROF" build -- make
expect 0 cmp want.d plain.d

# A compiler and a linker that are killed in the middle of their work: make goes on where it was.
gcc=$(command -v gcc)
mkdir ../bin
cat >../bin/gcc <<END
#!/bin/sh
# The work is to be done for what the file "victim" names.
for word; do
	[ "\$last" = -o ] && out=\$word
	last=\$word
done
case "\$out" in
*"\$(cat "$work/victim")"*) echo half >"\$out"; kill -KILL \$PPID \$\$ ;;
esac
exec $gcc "\$@"
END
chmod +x ../bin/gcc
printf 'program: main.o deep.o\n\tgcc -o $@ main.o deep.o\n%%.o: %%.c\n\tgcc -g -c $< -o $@\n' >Makefile
for victim in deep.o program; do
	rm -f program ./*.o
	echo "$victim" >"$work/victim"
	PATH=$work/bin:$PATH expect 2 "$VPROF" build -- make
	if [ -e "$victim" ]; then fail "half of $victim is there"; else pass; fi
	expect 0 make
	expect 0 ./program
done
expect 0 "$VPROF" build -- make
expect 0 "$VPROF" record -- ./program
says "100 intervals"

# One that writes in place, for the sake of what it names after -o.  make removes half of a file if it lives
# to see it; when all are killed the next build does.
sed -i 's/"\*) echo half/") echo half/; s/kill -KILL .*;;/kill -KILL 0 ;;/' ../bin/gcc
printf 'program: main.o deep.o\n\tgcc --coverage -o $@ main.o deep.o\n%%.o: %%.c\n\tgcc --coverage -g -c $< -o $@\n' >Makefile
for victim in deep.o program; do
	rm -f program ./*.o
	echo "$victim" >"$work/victim"
	PATH=$work/bin:$PATH setsid -w "$VPROF" build -- make >"$work/.out" 2>&1
	if [ "$(cat "$victim")" = half ]; then pass; else fail "$victim was not made in place"; fi
	echo nothing >"$work/victim"
	expect 0 "$VPROF" build -- make
	expect 0 ./program
	if ls vprof.data/build/*.making >"$work/found" 2>"$work/found"; then fail "left behind: $(cat "$work/found")"; else pass; fi
done

# A compiler that a signal ends says nothing about the text (TERM: INT may be ignored here): it is not compiled untouched instead, as it
# was when Control-C hit it, and has its probes the next time.
cat >../bin/gcc <<'END'
#!/bin/sh
case " $* " in
*" -E "*) ;;
*".i "*) [ "$(cat "$(dirname "$0")/../victim")" != compiler ] || kill -TERM $$ ;;
esac
exec /usr/bin/gcc "$@"
END
printf 'program: main.o deep.o\n\tgcc -o $@ main.o deep.o\n%%.o: %%.c\n\tgcc -g -c $< -o $@\n' >Makefile
rm -f program ./*.o
echo compiler >"$work/victim"
PATH=$work/bin:$PATH expect 2 "$VPROF" build -- make
if [ -e deep.o ]; then fail "an object of a compiler that was killed"; else pass; fi
echo nothing >"$work/victim"
PATH=$work/bin:$PATH expect 0 "$VPROF" build -- make
if grep -q "untouched" "$work/.err"; then fail "compiled untouched after that"; else pass; fi
expect 0 "$VPROF" record -- ./program
says "100 intervals"
finish
