/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exchanges.bpf.h - part of record.bpf.c: requests and answers on the sockets that the run's processes accepted (exchange.h).
 *
 *	sk_data_ready		bytes are in the queue
 *	sock_recv_length	the process took bytes; 0 at the end of the connection
 *	sock_send_length	it gave some
 *	inet_sock_set_state	it listens from now on; it connects to a server; the connection is closed
 *
 * Sizes and times are looked at, and addresses of sockets; nothing of what is sent.  These stand in the socket layer, so all
 * system calls that read or write come here, and neither files nor pipes do.  The state lies with the socket (SK_STORAGE) and
 * goes with it: one by descriptor or address would be inherited by the next socket.
 *
 * Accepted is a stream of a port that the run listens on, or a Unix socket with an address: it shares its listener's, and one
 * that asks has none.  They have a state from their first bytes on, whoever's softirq or system call brings them; a Unix socket,
 * once its path is known to be the run's: it listened there when the recording began, or has read from such a socket.
 */
enum { FAMILY_UNIX = 1, FAMILY_INET = 2, FAMILY_INET6 = 10 };	/* AF_... */
enum { SOCKET_STREAM = 1, SOCKET_DATAGRAM = 2 };
enum { TCP_STATE_SYN_SENT = 2, TCP_STATE_CLOSE = 7, TCP_STATE_LISTEN = 10, TCP_STATE_FIN_WAIT1 = 4, TCP_STATE_LAST_ACK = 9 };
enum { RECEIVE_PEEK = 2, RECEIVE_ERRORS = 0x2000 };		/* MSG_PEEK, MSG_ERRQUEUE */

/* Set before loading. */
const volatile int wants_exchanges, wants_upstreams;

/* Programs come and go one by one: these do nothing before all are there, and after the first is gone.  Else an arrival would be
 * missed whose read is seen. */
unsigned int exchanges_are_watched;

unsigned char listening[65536 / 8];	/* by port, a bit each; programs.c has set some */

struct exchange_paths exchange_paths;

struct record_exchange last_exchanges[EXCHANGES_LAST];

/* What happened on sockets that are not looked at, and sends before anything was read: for the message that says why there are no
 * requests. */
unsigned long long datagrams, asked_others, unasked;

struct socket_state {
	struct exchange_state x;
	unsigned int connection;
	unsigned int port;		/* or EXCHANGE_PATH + the number of a path */
	unsigned int turn;		/* of the thread that sent last (turn_of()) */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct socket_state);
} sockets SEC(".maps");

/*
 * A socket that the process opened: for which request it asked there last.  A thread works for the request that it read last, or the
 * one whose answer from such a socket it read last, until it waits:
 *
 *	reads a request of connection 3, sends on socket A, waits, reads from A, sends on socket B	both ask for the request of 3
 */
struct asked_state {
	unsigned long long sent_ns, arrival_ns;	/* arrival: of what was not read yet; 0: there is nothing */
	unsigned int connection;	/* 0: unknown */
	unsigned char opened;		/* for that one, and nothing was sent yet */
	unsigned char answered;		/* something was read since it asked */
	unsigned char shared;		/* it once asked for two requests at a time: no answer's request is known any more */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct asked_state);
} asked SEC(".maps");

/* A socket has such a state: most servers ask nobody, and all sockets of the machine come to on_data().  Not static: clang would make a
 * bit of it, which its description (BTF) does not say. */
unsigned int is_anybody_asked;

static unsigned int connection_cnt;

static __always_inline int listens(unsigned int port)
{
	return listening[port >> 3 & (sizeof(listening) - 1)] >> (port & 7) & 1;
}

static __always_inline void note_listening(unsigned int port)
{
	if (!listens(port))
		__sync_fetch_and_or((unsigned int *)listening + (port >> 5 & (sizeof(listening) / 4 - 1)), 1U << (port & 31));
}

static __always_inline int is_same_path(const struct exchange_path *a, const struct exchange_path *b)
{
	for (unsigned int i = 0; i < EXCHANGE_PATH_MAX / 8; i++)
		if (a->words[i] != b->words[i])
			return 0;
	return 1;
}

/* Takes a free place for the path.  Another CPU may take one for the same path at that moment: both have its name. */
static __always_inline int add_path(unsigned int i, const struct exchange_path *path)
{
	if (__sync_val_compare_and_swap(&exchange_paths.states[i], PATH_FREE, PATH_WRITTEN) != PATH_FREE)
		return 0;
	exchange_paths.items[i] = *path;
	__sync_lock_test_and_set(&exchange_paths.states[i], PATH_READY);
	return 1;
}

/* The number of a Unix socket's path; EXCHANGE_PATHS_MAX: it has none, or there is no room, or it is new and not to be added. */
static __noinline unsigned int path_number(struct sock *sk, int adds)
{
	struct unix_sock *u = (struct unix_sock *)sk;
	struct exchange_path path = { 0 };
	struct unix_address *address = 0;
	int len = 0;

	bpf_probe_read_kernel(&address, sizeof(address), (char *)u + bpf_core_field_offset(struct unix_sock, addr));
	if (!address)
		return EXCHANGE_PATHS_MAX;
	bpf_probe_read_kernel(&len, sizeof(len), (char *)address + bpf_core_field_offset(struct unix_address, len));
	len -= 2;			/* without the family */
	if (len <= 0)
		return EXCHANGE_PATHS_MAX;
	if (len > EXCHANGE_PATH_MAX)
		len = EXCHANGE_PATH_MAX;
	bpf_probe_read_kernel(&path, (unsigned int)len & 127, (char *)address + bpf_core_field_offset(struct unix_address, len) + sizeof(len) + 2);
	for (unsigned int i = 0; i < EXCHANGE_PATHS_MAX; i++) {
		unsigned int state = *(volatile unsigned int *)&exchange_paths.states[i];

		if (state == PATH_READY && is_same_path(&exchange_paths.items[i], &path))
			return i;
		if (state == PATH_FREE && (!adds || add_path(i, &path)))
			return adds ? i : EXCHANGE_PATHS_MAX;
	}
	return EXCHANGE_PATHS_MAX;
}

/* The port of an accepted socket; 0: it is none.  Where `asks`, counts what else it is. */
static __always_inline unsigned int accepted_port(struct sock *sk, int asks)
{
	unsigned int family = sk->__sk_common.skc_family, port, path;

	if (sk->sk_type == SOCKET_DATAGRAM && asks && (family == FAMILY_INET || family == FAMILY_INET6))
		__sync_fetch_and_add(&datagrams, 1);
	if (sk->sk_type != SOCKET_STREAM)
		return 0;
	if (sk->__sk_common.skc_state == TCP_STATE_LISTEN)	/* a Unix socket's is the same */
		return 0;
	if (family == FAMILY_INET || family == FAMILY_INET6) {
		port = sk->__sk_common.skc_num;
		if (listens(port))
			return port;
	} else if (family == FAMILY_UNIX) {
		path = path_number(sk, asks);
		if (path < EXCHANGE_PATHS_MAX)
			return EXCHANGE_PATH + path;
	}
	if (asks)
		__sync_fetch_and_add(&asked_others, 1);
	return 0;
}

static __always_inline struct socket_state *socket_of(struct sock *sk, int asks)
{
	struct socket_state *s = bpf_sk_storage_get(&sockets, sk, 0, 0);
	unsigned int port;

	if (s)
		return s;
	port = accepted_port(sk, asks);
	if (!port)
		return 0;
	s = bpf_sk_storage_get(&sockets, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (s && !s->connection) {
		s->port = port;
		s->connection = __sync_fetch_and_add(&connection_cnt, 1) + 1;
	}
	return s;
}

/* What the thread has had to do with others: another number if it has read a request, or waited, in between. */
static __always_inline unsigned int turn_of(const struct task_state *s, const struct task_struct *task)
{
	return s->requests_read + (unsigned int)task->nvcsw;
}

static __always_inline void fill_exchange(struct record_exchange *r, const struct socket_state *s, unsigned long long ns)
{
	struct exchange answered;
	unsigned int unsolicited = exchange_whole(&s->x, &answered);
	const struct exchange *x = &answered;

	r->kind = RECORD_EXCHANGE;
	r->sender = x->sender;
	r->receiver = x->receiver;
	r->connection = s->connection;
	r->ns = ns;
	r->start_ns = x->start_ns;
	r->first_read_ns = x->first_read_ns;
	r->last_read_ns = x->last_read_ns;
	r->first_send_ns = x->first_send_ns;
	r->last_send_ns = x->last_send_ns;
	r->port = s->port;
	r->flags = x->flags;
	r->bytes_in = x->bytes_in;
	r->bytes_out = x->bytes_out;
	r->unsolicited = unsolicited;
	r->unused = 0;
}

/* Of each connection the exchange that was answered last and may not be over: when the recording ends, it is.  Of those at
 * one place the latest. */
static __always_inline struct record_exchange *last_exchange(const struct socket_state *s)
{
	return &last_exchanges[s->connection & (EXCHANGES_LAST - 1)];
}

static __noinline void write_exchange(const struct socket_state *s, unsigned long long ns)
{
	struct record_exchange *last = last_exchange(s), *r;
	struct reserved reserved;

	if (last->connection == s->connection)
		last->kind = 0;
	r = reserve(&reserved);
	if (!r) {
		__sync_fetch_and_add(&lost_records, 1);
		return;
	}
	fill_exchange(r, s, ns);
	commit(&reserved);
}

static __always_inline void socket_closed(struct socket_state *s)
{
	if (exchange_is_answered(&s->x))
		write_exchange(s, bpf_ktime_get_ns());
	exchange_closed(&s->x);
}

/* The other end of a connection that the process opened, in r.  0: it has no address. */
static __noinline int read_upstream(struct sock *sk, struct record_upstream *r)
{
	const char *from = (const char *)sk;
	struct sock *peer = 0;
	unsigned int path;

	r->family = sk->__sk_common.skc_family;
	if (r->family == FAMILY_UNIX) {
		bpf_probe_read_kernel(&peer, sizeof(peer), from + bpf_core_field_offset(struct unix_sock, peer));
		path = peer ? path_number(peer, 1) : EXCHANGE_PATHS_MAX;
		r->port = EXCHANGE_PATH + path;
		return path < EXCHANGE_PATHS_MAX;
	}
	r->port = __builtin_bswap16(sk->__sk_common.skc_dport);
	if (r->family == FAMILY_INET)
		bpf_probe_read_kernel(r->address, 4, from + bpf_core_field_offset(struct sock, __sk_common.skc_daddr));
	else if (r->family == FAMILY_INET6 && bpf_core_field_exists(((struct sock_common *)0)->skc_v6_daddr))
		bpf_probe_read_kernel(r->address, 16, from + bpf_core_field_offset(struct sock, __sk_common.skc_v6_daddr));
	else
		return 0;
	return r->port != 0;
}

static __always_inline void takes_up(struct task_state *task, const struct task_struct *current, unsigned int connection)
{
	task->works_for = connection;
	task->works_since = (unsigned int)current->nvcsw + 1;
}

static __always_inline unsigned int works_for(const struct task_state *task, const struct task_struct *current)
{
	return task->works_since == (unsigned int)current->nvcsw + 1 ? task->works_for : 0;
}

/* Connects to a server. */
static __noinline void server_called(struct sock *sk, const struct task_state *task, unsigned long long ns)
{
	unsigned int connection = works_for(task, bpf_get_current_task_btf());
	struct asked_state *a = connection ? bpf_sk_storage_get(&asked, sk, 0, BPF_SK_STORAGE_GET_F_CREATE) : 0;

	if (!a)
		return;
	is_anybody_asked = 1;
	a->connection = connection;
	a->opened = 1;
	a->sent_ns = ns;
}

static __noinline void server_asked(struct sock *sk, const struct task_state *task, unsigned long long ns)
{
	unsigned int connection = works_for(task, bpf_get_current_task_btf());
	struct asked_state *a = bpf_sk_storage_get(&asked, sk, 0, connection ? BPF_SK_STORAGE_GET_F_CREATE : 0);

	if (!a)
		return;
	is_anybody_asked = 1;
	if (a->opened) {		/* since then it waited for the connection */
		a->opened = 0;
		a->answered = 0;
		return;
	}
	if (a->sent_ns && !a->answered && a->connection != connection)
		a->shared = 1;
	a->connection = a->shared ? 0 : connection;
	a->sent_ns = ns;
	a->arrival_ns = 0;
	a->answered = 0;
}

/* after_wait: the thread has waited for what that server sent, or for anybody. */
static __noinline void write_upstream(struct sock *sk, unsigned int tid, unsigned long long ns, const struct asked_state *a, int after_wait)
{
	struct record_upstream upstream = { .kind = RECORD_UPSTREAM, .tid = tid, .ns = ns, .after_wait = (unsigned int)after_wait }, *r;
	struct reserved reserved;

	if (a && a->connection && a->sent_ns <= a->arrival_ns && a->arrival_ns <= ns) {
		upstream.connection = a->connection;
		upstream.sent_ns = a->sent_ns;
		upstream.arrival_ns = a->arrival_ns;
	}
	if ((!after_wait && !upstream.connection) || !read_upstream(sk, &upstream))
		return;
	r = reserve(&reserved);
	if (!r) {
		__sync_fetch_and_add(&lost_records, 1);
		return;
	}
	*r = upstream;
	commit(&reserved);
}

static __always_inline void server_answered(struct sock *sk, struct task_state *task, unsigned long long ns, int after_wait)
{
	struct asked_state *a = bpf_sk_storage_get(&asked, sk, 0, 0);

	takes_up(task, bpf_get_current_task_btf(), a ? a->connection : 0);
	if (after_wait || (a && a->connection && a->arrival_ns))
		write_upstream(sk, task->tid, ns, a, after_wait);
	if (a) {
		a->arrival_ns = 0;
		a->opened = 0;
		a->answered = 1;
	}
}

/* Whether these are the first bytes that it takes since it last waited. */
static __always_inline int is_first_received(struct task_state *task)
{
	unsigned int waits = (unsigned int)bpf_get_current_task_btf()->nvcsw + 1;
	int is_first = task->received != waits;

	task->received = waits;
	return is_first;
}

/* In whatever task the packet comes: only a socket that is, or will be, one of the run's has a state. */
SEC("?tp_btf/sk_data_ready")
int BPF_PROG(on_data, struct sock *sk)
{
	struct socket_state *s = exchanges_are_watched ? socket_of(sk, 0) : 0;
	struct asked_state *a = s || !is_anybody_asked ? 0 : bpf_sk_storage_get(&asked, sk, 0, 0);

	if (s)
		exchange_arrived(&s->x, bpf_ktime_get_ns());
	else if (a && !a->arrival_ns)
		a->arrival_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("?tp_btf/sock_recv_length")
int BPF_PROG(on_receive, struct sock *sk, int bytes, int flags)
{
	unsigned long long ns = bpf_ktime_get_ns();
	struct task_state *task = adopted(bpf_get_current_task_btf(), ns);
	struct socket_state *s;
	int is_first;

	if (!task || task->follow != FOLLOW_RUN || !exchanges_are_watched || bytes < 0 || flags & (RECEIVE_PEEK | RECEIVE_ERRORS))
		return 0;
	s = socket_of(sk, 1);
	is_first = bytes && is_first_received(task);
	if (!s) {
		if (bytes && wants_upstreams)
			server_answered(sk, task, ns, is_first);
		return 0;
	}
	if (!bytes) {			/* the client sends no more; it may still wait for its answer */
		if (s->x.phase != EXCHANGE_ASKED)
			socket_closed(s);
		return 0;
	}
	if (exchange_is_answered(&s->x))
		write_exchange(s, ns);
	exchange_read(&s->x, ns, task->tid, (unsigned int)bytes);
	task->requests_read++;
	takes_up(task, bpf_get_current_task_btf(), s->connection);
	return 0;
}

SEC("?tp_btf/sock_send_length")
int BPF_PROG(on_answer, struct sock *sk, int bytes, int flags)
{
	unsigned long long ns = bpf_ktime_get_ns();
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_state *task = adopted(current, ns);
	struct socket_state *s;
	unsigned int turn;

	if (!task || task->follow != FOLLOW_RUN || !exchanges_are_watched || bytes <= 0)
		return 0;
	s = socket_of(sk, 1);
	if (!s) {
		if (wants_upstreams)
			server_asked(sk, task, ns);
		return 0;
	}
	turn = turn_of(task, current);
	if (s->x.phase == EXCHANGE_IDLE)
		__sync_fetch_and_add(&unasked, 1);
	exchange_sent(&s->x, ns, task->tid, (unsigned int)bytes, turn != s->turn);
	s->turn = turn;
	if (exchange_is_answered(&s->x))
		fill_exchange(last_exchange(s), s, ns);
	return 0;
}

/* Who closes first has no more reads: its last answer ends as it does. */
SEC("?tp_btf/inet_sock_set_state")
int BPF_PROG(on_socket_state, struct sock *sk, int before, int after)
{
	struct task_state *task;
	struct socket_state *s;

	if (after == TCP_STATE_LISTEN || after == TCP_STATE_SYN_SENT) {
		task = followed(bpf_get_current_task_btf());
		if (!task || task->follow != FOLLOW_RUN)
			return 0;
		if (after == TCP_STATE_LISTEN)
			note_listening(sk->__sk_common.skc_num);
		else if (wants_upstreams && exchanges_are_watched)
			server_called(sk, task, bpf_ktime_get_ns());
	} else if (after == TCP_STATE_CLOSE || after == TCP_STATE_FIN_WAIT1 || after == TCP_STATE_LAST_ACK) {
		s = exchanges_are_watched ? bpf_sk_storage_get(&sockets, sk, 0, 0) : 0;
		if (s)
			socket_closed(s);
	}
	return 0;
}
