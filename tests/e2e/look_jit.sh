#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Functions that the program made itself while it ran, named in /tmp/perf-PID.map: in stacks of waits, and in samples of running code.
# And of Node, where it is installed.
. "${srcdir:-.}/tests/e2e/lib.sh"

needs_kernel_recorder
command -v python3 >/dev/null || exit 77
cat >jit.c <<'END_OF_JIT'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static const unsigned char wait_code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
/* push %rbp; mov %rsp,%rbp; mov %edi,%ecx; 1: dec %ecx; jne 1b; pop %rbp; ret */
static const unsigned char spin_code[] = { 0x55, 0x48, 0x89, 0xe5, 0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };
static volatile unsigned long sink;
static void (*jitted_wait)(void (*)(void));
static void (*jitted_spin)(int);

__attribute__((noinline)) void sleep_now(void) { usleep(4000); sink++; }
__attribute__((noinline)) void serve(int i)
{
	jitted_spin(i % 4 ? 20000 : 2000000);
	if (i % 10 == 0)
		jitted_wait(sleep_now);
	sink++;
}

int main(int argc, char **argv)
{
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[64];
	FILE *f;

	memcpy(code, wait_code, sizeof(wait_code));
	memcpy(code + 64, spin_code, sizeof(spin_code));
	jitted_wait = (void (*)(void (*)(void)))(void *)code;
	jitted_spin = (void (*)(int))(void *)(code + 64);
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
	f = fopen(name, "w");
	fprintf(f, "%lx %zx LazyCompile:*jittedWait /srv/app.js:12:3\n%lx %zx jittedSpin\n", (unsigned long)code, sizeof(wait_code),
		(unsigned long)code + 64, sizeof(spin_code));
	fclose(f);
	puts(name);
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 1); i++)
		serve(i);
	return 0;
}
END_OF_JIT
gcc -Wall -Wextra -Werror -O1 -rdynamic jit.c -o jit || exit 99
"$VPROF" record --start serve --end serve -- ./jit 600 >map 2>record.err || { cat record.err; fail "record: $?"; }
"$VPROF" show variance-tree --format json --min-share 0 >tree.json || fail "show variance-tree: $?"
[ -s "$(head -1 map)" ] || fail "the program wrote no map"
rm -f "$(head -1 map)"
python3 - tree.json >judged <<'END' || fail "jitted functions: $(cat judged)"
import json, sys
nodes = json.load(open(sys.argv[1]))["nodes"]
def mean_ns(name):
    return max([n["mean_ns"] for n in nodes if n["function"] == name] or [0])
print({name: mean_ns(name) for name in ("jittedWait", "sleep_now")})
# 4 ms in every tenth, whatever else the machine does
sys.exit(not mean_ns("jittedWait") >= mean_ns("sleep_now") > 380000)
END
pass
"$VPROF" export --format tuples >tuples || fail "export: $?"
# Of the spinning there is a sample in each 10 ms, where the server has a CPU.
if machine_is_busy && [ "$(grep '^stack .*;serve;' tuples | grep -vc nanosleep)" -lt 20 ]; then
	echo "too few samples on this machine to see the function that spins: $(cat record.err)"
else
	grep '^stack ' tuples | grep -q jittedSpin && pass || fail "no sample in jittedSpin: $(grep '^stack ' tuples | head -5)"
fi

command -v node >/dev/null || finish
cat >server.js <<'END_OF_SERVER'
const http = require('http'), net = require('net');
let n = 0;
function countDown(k) { let x = 0; for (let i = 0; i < k; i++) x = (x * 31 + i) | 0; return x; }
function slowReport() { return countDown(6000000); }
function onRequest(request, response) { response.end('ok ' + (++n % 10 == 0 ? slowReport() : countDown(500)) + '\n'); }
http.createServer(onRequest).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
END_OF_SERVER
cat >client.py <<'END_OF_CLIENT'
import http.client, sys, time
c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
while True:
    c.request("GET", "/"), c.getresponse().read(), time.sleep(.002)
END_OF_CLIENT
node --perf-basic-prof server.js >port 2>node.err &
server=$!
for i in $(seq 100); do
	[ -s port ] && break
	sleep 0.1
done
[ -s port ] || { kill $server; finish; }		# this Node does not know the option
python3 client.py "$(cat port)" 2>client.err &
client=$!
sleep 1
"$VPROF" look -p $server --duration 3s --format json --min-share 0 >node.json 2>node.look || { cat node.look; fail "look at node: $?"; }
kill $client $server
wait $server 2>/dev/null
rm -f /tmp/perf-$server.map
grep -q '"function": "onRequest"' node.json && grep -q '"function": "countDown"\|"function": "slowReport"' node.json && pass ||
	fail "Node's functions have no names: $(grep -o '"function": "[^"]*"' node.json | sort | uniq -c | sort -rn | head -20)"
finish
