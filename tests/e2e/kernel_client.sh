#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# record -p of a server whose client is not part of the run.  The server's waits for it hide no knot, because what the client waits for
# (the server) is unknown.  Here the server writes each request to the disk, and waits most of the time for the next one.
. "${srcdir:-.}/tests/e2e/lib.sh"

needs_kernel_recorder
cat >server.c <<'END_OF_SERVER'
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char block[4096] __attribute__((aligned(4096)));

int main(int argc, char **argv)
{
	int file = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_DIRECT, 0600) : -1;
	char request;

	if (file < 0)
		return 77;
	for (off_t n = 0; read(0, &request, 1) == 1; n++)
		if (pwrite(file, block, sizeof(block), n % 256 * 4096) != sizeof(block) || fdatasync(file) < 0 ||
		    write(1, &request, 1) != 1)
			return 1;
	return 0;
}
END_OF_SERVER
cat >client.c <<'END_OF_CLIENT'
#include <unistd.h>

int main(void)
{
	char answer;

	while (write(1, "x", 1) == 1 && read(0, &answer, 1) == 1)
		usleep(500);
	return 0;
}
END_OF_CLIENT
for program in server client; do
	gcc -Wall -Wextra -Werror -O1 -D_GNU_SOURCE $program.c -o $program || exit 99
done

# The disk's waits want a disk: not the memory that /tmp may be.
file=$(mktemp "$(dirname "$VPROF")/kernel_client.XXXXXX") || exit 99
trap 'rm -rf "$work" "$file"' EXIT
./server "$file" </dev/null
[ $? != 77 ] || { echo "no direct writes to '$file'"; exit 77; }
mkfifo to_server to_client || exit 99
./server "$file" <to_server >to_client &
server=$!
./client >to_server <to_client &
client=$!

expect 3 "$VPROF" record --kernel=require -p $server -- sleep 1
expect 0 "$VPROF" show wait-graph
says "▶ The knot: " "Besides, server ($server) waits for client (not recorded) " \
	"outside: client (not recorded) (what that waits for is unknown)"
expect 0 "$VPROF" show wait-graph --format json
tr -d ' \n' <"$work/.out" >graph
knot=,$(sed 's/.*"knots":\[{"vertices":\[\([^]]*\)\].*/\1/' graph),
case $knot in
*,$server,*) pass ;;
*) fail "the server is not in the knot: $knot" ;;
esac
disks=$(grep -o '{"id":[0-9]*,"name":"[^"]*","kind":"disk"' graph | sed 's/^{"id":\([0-9]*\),.*/\1/')
found=
for disk in $disks; do
	case $knot in
	*,$disk,*) found=$disk ;;
	esac
done
[ -n "$found" ] && pass || fail "no disk is in the knot: $knot, disks: $disks"
grep -q "{\"vertices\":\[$client\],\"edges\":\[[^]]*\],\"sink\":true,\"background\":false}" graph && pass || {
	fail "the client is no sink"
	grep -o '"knots":.*"trimmed"' graph
}
kill $client $server
finish
