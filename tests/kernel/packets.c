/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packets.c - questions and answers by a network interface, for the kernel recorder's exam.
 *
 *	packets answer ADDRESS			answers each datagram a millisecond later, until it is killed
 *	packets ask ADDRESS ROUNDS >truth.txt	computes 0.3 ms, asks, waits
 *	packets outside ADDRESS ROUNDS NAME	asks as a machine with the next address would, behind a device like a network
 *						card's, the tun interface NAME
 *
 * Prints a line per wait for an answer: TID ASKED_NS START_NS END_NS.  The client waits ten seconds at most: without a line, and with
 * exit 99, a packet without an answer is an error and no hang.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "must.h"

enum { PORT = 7777, ANSWER_US = 1000, COMPUTE_NS = 300000, PATIENCE_SECONDS = 10 };

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

/* A datagram of one byte, as the card has it.  UDP may do without a checksum. */
struct datagram {
	struct iphdr ip;
	struct udphdr udp;
	char c;
} __attribute__((packed));

static uint16_t checksum(const void *header, size_t bytes)
{
	const unsigned char *at = header;
	uint32_t sum = 0;

	for (size_t i = 0; i < bytes; i += 2)
		sum += (uint32_t)at[i] << 8 | at[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

/*
 * The kernel has a worker set up what a device sends by, when a process opens it: an answer that comes before is dropped.
 * A query for the state of the device's link waits until that is done.
 */
static void wait_for_link(struct ifreq *interface)
{
	struct ethtool_value link = { .cmd = ETHTOOL_GLINK };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	interface->ifr_data = (void *)&link;
	must(ioctl(fd, SIOCETHTOOL, interface) == 0 && link.data, "the tun interface's link");
	close(fd);
}

static void read_answer(int fd, struct datagram *answer)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	errno = ETIMEDOUT;
	must(poll(&ready, 1, PATIENCE_SECONDS * 1000) == 1, "an answer by the tun interface");
	must(read(fd, answer, sizeof(*answer)) > 0, "read");
}

static void ask_from_outside(struct in_addr server, const char *name, long rounds)
{
	struct ifreq interface = { .ifr_flags = IFF_TUN | IFF_NO_PI | IFF_NAPI };
	struct datagram question = {
		.ip = { .version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP, .tot_len = htons(sizeof(question)),
			.saddr = htonl(ntohl(server.s_addr) + 1), .daddr = server.s_addr },
		.udp = { .source = htons(PORT), .dest = htons(PORT), .len = htons(sizeof(question.udp) + 1) },
		.c = 'x',
	};
	int fd = open("/dev/net/tun", O_RDWR);

	snprintf(interface.ifr_name, sizeof(interface.ifr_name), "%s", name);
	must(fd >= 0 && ioctl(fd, TUNSETIFF, &interface) == 0, "a tun interface");
	wait_for_link(&interface);
	question.ip.check = checksum(&question.ip, sizeof(question.ip));
	for (long i = 0; i < rounds; i++) {
		struct datagram answer = { .c = 0 };

		usleep(ANSWER_US);		/* it waits by now */
		must(write(fd, &question, sizeof(question)) == sizeof(question), "write");
		while (answer.ip.version != 4 || answer.ip.protocol != IPPROTO_UDP || answer.udp.source != question.udp.dest)
			read_answer(fd, &answer);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct timeval patience = { .tv_sec = PATIENCE_SECONDS };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	must(argc >= 3 && inet_aton(argv[2], &address.sin_addr), "usage: packets answer|ask|outside ADDRESS [ROUNDS [NAME]]");
	if (strcmp(argv[1], "outside") == 0) {
		must(argc == 5, "usage: packets outside ADDRESS ROUNDS NAME");
		ask_from_outside(address.sin_addr, argv[4], strtol(argv[3], NULL, 10));
		return 0;
	}
	if (strcmp(argv[1], "answer") == 0) {
		must(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
		answer(fd);
	}
	must(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0, "SO_RCVTIMEO");
	must(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
	ask(fd, argc > 3 ? strtol(argv[3], NULL, 10) : 1);
	return 0;
}
