#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A damaged trace: the intact part is read, intervals across a hole are left out and counted, and no interval is invented.
. "${srcdir:-.}/tests/e2e/lib.sh"

# Two threads serve requests of a few keys each, so that an end that is missing would meet another beginning.
cat >server.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) static int step(int k) { return __builtin_popcount(k); }
__attribute__((noinline)) int serve(int key)
{
	int sum = 0;
	for (int i = 0; i < 40; i++)
		sum += step(i * key);
	return sum;
}
static unsigned pause_us = 200;
static void *work(void *keys)
{
	for (int i = 0; i < 4000; i++) {
		serve(*(int *)keys + i % 3);
		if (i % 5 == 0)
			usleep(pause_us);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	(void)argv;
	pause_us *= argc > 1 ? 8 : 1;
	int keys[] = { 10, 20 };
	pthread_t a, b;
	pthread_create(&a, NULL, work, &keys[0]);
	pthread_create(&b, NULL, work, &keys[1]);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return puts("served") < 0;
}
END
printf '[interval "serve"]\nstart = serve key=arg0\nend = serve key=arg0\n' >vprof.conf
expect 0 "$VPROF" build --functions all -- cc -O1 -o server server.c -lpthread
expect 0 "$VPROF" record -- ./server

dir=vprof.data/runs/001
# intervals RUN: those that count, without their numbers
intervals() { "$VPROF" export --format tuples "$1" | sed -n '/aborted$/d; s/^interval [0-9]* //p' | sort; }
intervals 1 >whole.txt
cnt=$(wc -l <whole.txt)
size=$(wc -c <$dir/trace.vpt)
cp $dir/trace.vpt good.vpt

# damaged WHAT AT_LEAST_PERCENT RUN: analysed with exit 0; what comes out was there before, and most of it is still there
damaged() {
	expect 0 "$VPROF" analyze "$3"
	says "the trace is damaged"
	intervals "$3" >now.txt
	[ -z "$(comm -13 whole.txt now.txt)" ] && pass || fail "$1: $(comm -13 whole.txt now.txt | wc -l) intervals were invented"
	[ $((100 * $(wc -l <now.txt))) -ge $((cnt * $2)) ] && pass || fail "$1: $(wc -l <now.txt) of $cnt are left"
	expect 0 "$VPROF" show summary --format json "$3"
	says '"code": "hole"'
	cp good.vpt $dir/trace.vpt
}

dd if=/dev/zero of=$dir/trace.vpt bs=1 seek=$((size / 2)) count=4096 conv=notrunc 2>/dev/null
damaged "a page of zeros" 50 1
says "of records" "left out"
{ head -c $((size / 3)) good.vpt; tail -c +$((size / 2)) good.vpt; } >$dir/trace.vpt
damaged "a sixth cut out" 20 1
says "left out"
head -c 4096 /dev/zero >>$dir/trace.vpt
damaged "zeros behind" 100 1
says "4096 bytes belong to no block" "no record is missing"
cat good.vpt >>$dir/trace.vpt
damaged "the trace twice" 100 1
says "count once"
{ head -c 16 /dev/zero; tail -c +17 good.vpt; } >$dir/trace.vpt
expect 0 "$VPROF" analyze 1
intervals 1 | cmp -s - whole.txt && pass || fail "without its header it is another trace"
head -c "$size" /dev/zero >$dir/trace.vpt
expect 5 "$VPROF" analyze 1
says "not a vprof trace"

# Parts of a run of which the end is kept: one is missing in the middle, one is of no use.
expect 0 "$VPROF" record --keep 600ms -- ./server slowly		# 1.3 seconds and more
dir=vprof.data/runs/002
intervals 2 >whole.txt
cnt=$(wc -l <whole.txt)
ls $dir/trace.vpt.0* >parts.txt
[ "$(wc -l <parts.txt)" -ge 3 ] && pass || fail "there are too few parts"
cp $dir/trace.vpt good.vpt
part=$(sed -n 2p parts.txt)
cp "$part" part.vpt
rm "$part"
damaged "a part is missing" 10 2
head -c 300 /dev/zero >"$part"
expect 0 "$VPROF" analyze 2
says "nothing is whole in 1 of its files"
cp part.vpt "${part%??}77"
cp part.vpt "$part"
damaged "a part is there twice" 100 2
says "count once"

# The kernel's side is damaged: the program's side stays.
"$VPROF" record --kernel=require -- true >"$work/.out" 2>"$work/.err"
[ $? = 4 ] && { echo "not tried here: --kernel"; finish; }
expect 0 "$VPROF" record --kernel -o kernel -- ./server
intervals kernel >whole.txt
vpk=$(ls vprof.data/runs/*/kernel.vpk | tail -1)
size=$(wc -c <"$vpk")
dd if=/dev/zero of="$vpk" bs=1 seek=$((size / 2)) count=300 conv=notrunc 2>/dev/null
expect 0 "$VPROF" analyze kernel
says "what the kernel saw (kernel.vpk) is damaged, and left out"
intervals kernel | cmp -s - whole.txt && pass || fail "with damage in kernel.vpk there are other intervals"
finish
