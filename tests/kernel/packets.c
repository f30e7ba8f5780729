/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packets.c - questions and answers by a network interface, for the kernel recorder's exam.
 *
 *	packets answer ADDRESS			answers each datagram a millisecond later, until it is killed
 *	packets ask ADDRESS ROUNDS >truth.txt	computes 0.3 ms, asks, waits
 *
 * A line a wait for an answer: TID ASKED_NS START_NS END_NS.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "must.h"

enum { PORT = 7777, ANSWER_US = 1000, COMPUTE_NS = 300000 };

static void answer(int fd)
{
	struct sockaddr_in from;
	socklen_t len;
	char c;

	for (;;) {
		len = sizeof(from);
		must(recvfrom(fd, &c, 1, 0, (struct sockaddr *)&from, &len) == 1, "recvfrom");
		usleep(ANSWER_US);
		must(sendto(fd, &c, 1, 0, (struct sockaddr *)&from, len) == 1, "sendto");
	}
}

static void ask(int fd, long rounds)
{
	for (long i = 0; i < rounds; i++) {
		int64_t compute_ns = now_ns(), asked_ns, start_ns;
		char c = 'x';

		while (now_ns() < compute_ns + COMPUTE_NS)
			;
		asked_ns = now_ns();
		must(send(fd, &c, 1, 0) == 1, "send");
		start_ns = now_ns();
		must(recv(fd, &c, 1, 0) == 1, "recv");
		printf("%ld %lld %lld %lld\n", syscall(SYS_gettid), (long long)asked_ns, (long long)start_ns,
		       (long long)now_ns());
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	must(argc >= 3 && inet_aton(argv[2], &address.sin_addr), "usage: packets answer|ask ADDRESS [ROUNDS]");
	if (strcmp(argv[1], "answer") == 0) {
		must(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
		answer(fd);
	}
	must(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
	ask(fd, argc > 3 ? strtol(argv[3], NULL, 10) : 1);
	return 0;
}
