#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof look -p PARENT of a server whose children were there before: they are the server, not other processes that use the CPUs.
. "${srcdir:-.}/tests/e2e/lib.sh"

needs_kernel_recorder
cat >preforked.c <<'END'
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned sink;

__attribute__((noinline)) void compute(void)
{
	for (unsigned i = 0; i < 3000000; i++)
		sink += i;
}

int main(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 50) < 0 || getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		return 1;
	printf("%d\n", ntohs(a.sin_port));
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		char request[64];
		int c;

		if (fork())
			continue;
		while ((c = accept(fd, NULL, NULL)) >= 0) {
			while (read(c, request, sizeof(request)) > 0) {
				compute();
				if (write(c, "answer\n", 7) != 7)
					break;
			}
			close(c);
		}
		return 0;
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
END
cat >client.py <<'END'
import socket, sys, threading
def ask():
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    while True:
        try:
            s.sendall(b"question")
            s.recv(100)
        except OSError:		# the server has ended
            return
threads = [threading.Thread(target=ask) for _ in range(2)]
for t in threads: t.start()
for t in threads: t.join()
END
gcc -Wall -Wextra -Werror -O1 preforked.c -o preforked || exit 99
command -v python3 >/dev/null || exit 77
./preforked >port &
server=$!
trap 'pkill -P $server; kill $server 2>/dev/null; rm -rf "$work"' EXIT
wait_until test -s port
python3 client.py "$(cat port)" &	# until the server ends
expect 0 "$VPROF" look -p $server --duration 3s -o seen
expect 0 "$VPROF" show summary seen --format json
python3 - "$work/.out" <<'END' && pass || { fail "its children are others, or it has no requests"; cat "$work/.out"; }
import json, sys
d = json.load(open(sys.argv[1]))
sys.exit("preforked" in [o["comm"] for o in d["cpu"]["others"]] or d["interval"]["count"] < 10)
END
finish
