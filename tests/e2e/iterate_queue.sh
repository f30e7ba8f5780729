#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof iterate: a transaction of several commands is in the queue while the client thinks.  Which function waits for the client is
# found around the one where the interval goes on, in the second run.
. "${srcdir:-.}/tests/e2e/lib.sh"

mkdir project && cd project || exit 99
# The client, which is not recorded, thinks before each command, up to 4 ms.
mkdir ../client && cat >../client/client.c <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int fd = argc == 3 ? atoi(argv[1]) : -1;
	char answer;

	srand(argc == 3 ? (unsigned)atoi(argv[2]) : 0);
	for (int i = 0; i < 40; i++)
		for (const char *command = "buuc"; *command; command++) {
			usleep((unsigned)rand() % 4000);
			if (write(fd, command, 1) != 1 || read(fd, &answer, 1) != 1)
				return 1;
		}
	return 0;
}
END
cc -o client ../client/client.c || exit 99
cat >server.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#define CLIENTS 4
struct connection { int fd; unsigned changes; };
static void begin(struct connection *c) { c->changes = 0; }
static void change(struct connection *c) { c->changes++; }
static void commit(struct connection *c) { c->changes = 0; }
static void execute(struct connection *c, char command)
{
	switch (command) {
	case 'b': begin(c); break;
	case 'c': commit(c); break;
	default: change(c);
	}
}
static void dispatch(struct connection *c, char command) { execute(c, command); }
static int read_command(struct connection *c, char *command) { return read(c->fd, command, 1) == 1; }
static int answer(struct connection *c) { return write(c->fd, "k", 1) == 1; }
static int do_command(struct connection *c)
{
	char command;

	if (!read_command(c, &command))
		return 0;
	dispatch(c, command);
	return answer(c);
}
static void *serve(void *c) { while (do_command(c)) ; return NULL; }
int main(void)
{
	static struct connection connections[CLIENTS];
	pthread_t threads[CLIENTS];
	char fd[20], number[20];
	int fds[2];

	for (int i = 0; i < CLIENTS; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
			return 1;
		if (fork() == 0) {
			close(fds[0]);
			snprintf(fd, sizeof(fd), "%d", fds[1]);
			snprintf(number, sizeof(number), "%d", i);
			execl("./client", "client", fd, number, (char *)NULL);
			_exit(1);
		}
		close(fds[1]);
		connections[i].fd = fds[0];
		pthread_create(&threads[i], NULL, serve, &connections[i]);
	}
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
printf 'server: server.o\n\t$(CC) -o $@ server.o -pthread\nserver.o: server.c\n\t$(CC) -g -O0 -c server.c\n' >Makefile
cat >vprof.conf <<'END'
[interval "transaction"]
	start = begin@return
	resume = dispatch key=arg0
	end = commit
	key = arg0
[build]
	command = make
END

expect 0 "$VPROF" iterate -- ./server
says "(queue wait)" "+ read_command, answer, do_command" "put aside in do_command, taken up in do_command) because of read_command, which waits for input or output" "ended after 2 runs:"
grep -q "what it calls is next" "$work/.err" && pass || fail "the first run's line does not say that it goes on"
[ "$(grep -c '(queue wait).*calls' "$work/.err")" = 1 ] && pass || fail "the last run's line says that there is more"
finish
