/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unix_peer.c - a question to NETLINK_SOCK_DIAG, and its answer.
 *
 *	-> SOCK_DIAG_BY_FAMILY { AF_UNIX, inode 1063, any cookie, show the peer }
 *	<- SOCK_DIAG_BY_FAMILY { AF_UNIX, inode 1063 } UNIX_DIAG_PEER 1064
 *
 * The answer is there when sendto() returns.  If the kernel cannot answer, or a sandbox refuses such sockets,
 * no question is asked after a few failures.
 */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "runtime/rules/permit.h"
#include "runtime/rules/uncancelled.h"
#include "runtime/waits/unix_peer.h"
#include "runtime/wrappers/real.h"

REAL_NEEDS(sendto);
REAL_NEEDS(recv);
REAL_NEEDS(close);

struct question {
	struct nlmsghdr head;
	struct unix_diag_req request;
};

enum { REFUSALS_MAX = 8 };

static unsigned int refusal_cnt;

static bool ask(int fd, uint64_t inode)
{
	struct question q = {
		.head = { .nlmsg_len = sizeof(q), .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST },
		.request = { .sdiag_family = AF_UNIX, .udiag_states = ~0U, .udiag_ino = (uint32_t)inode,
			     .udiag_show = UDIAG_SHOW_PEER, .udiag_cookie = { ~0U, ~0U } },
	};
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	return real.sendto(fd, &q, sizeof(q), 0, (struct sockaddr *)&kernel, sizeof(kernel)) == sizeof(q);
}

static uint32_t peer_in(const struct nlmsghdr *head, size_t len)
{
	const struct unix_diag_msg *message = NLMSG_DATA(head);
	const struct rtattr *a = (const void *)(message + 1);
	size_t left;
	uint32_t peer;

	if (len < NLMSG_LENGTH(sizeof(*message)) || head->nlmsg_len > len ||
	    head->nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return 0;
	left = head->nlmsg_len - NLMSG_LENGTH(sizeof(*message));
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(a) >= sizeof(peer)) {
			memcpy(&peer, RTA_DATA(a), sizeof(peer));
			return peer;
		}
	return 0;
}

uint64_t unix_peer(uint64_t inode)
{
	union {
		struct nlmsghdr head;
		char bytes[512];
	} answer;
	UNCANCELLED;
	ssize_t len = -1;
	int fd;

	if (__atomic_load_n(&refusal_cnt, __ATOMIC_RELAXED) >= REFUSALS_MAX || !permitted(PERMIT_DIAGNOSIS))
		return 0;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd >= 0 && ask(fd, inode))
		len = real.recv(fd, &answer, sizeof(answer), MSG_DONTWAIT);
	if (len < 0 || answer.head.nlmsg_type == NLMSG_ERROR)
		__atomic_fetch_add(&refusal_cnt, 1, __ATOMIC_RELAXED);
	if (fd >= 0)
		real.close(fd);
	return len > 0 ? peer_in(&answer.head, (size_t)len) : 0;
}
