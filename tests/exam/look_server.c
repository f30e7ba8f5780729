/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * look_server.c - a server of one of several kinds, each with one planted cause, for `make exam-look`.
 *
 *	threads		one per connection; a flusher holds their lock for 20 ms, five times a second (write_out)
 *	workers		one thread reads, two answer; one request in forty takes 15 ms (make_report), and others wait behind it
 *	loop		poll and one thread; one in forty takes 12 ms (slow_command)
 *	sendfile	threads; answers are a file, which one in ten takes 8 ms to find (find_file)
 *	tls		threads; one in ten takes 8 ms (slow_query)
 *	bursts		threads; as many answers as requests came together
 *	proxy PORT	threads; asks the server at that port, which is a loop
 *
 * look_server KIND SECONDS [PORT]: prints its port; ends after that time.  A request has 64 bytes, of which the first is 'S' if it is to be
 * slow; an answer has 7.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST = 64, ANSWER = 7, QUEUE = 256 };
enum kind { THREADS, WORKERS, LOOP, SENDFILE, TLS, BURSTS, PROXY };
static const char *const kinds[] = { "threads", "workers", "loop", "sendfile", "tls", "bursts", "proxy" };

struct connection { int fd, upstream; SSL *tls; };
struct request { struct connection *c; char text[REQUEST]; };

static enum kind kind;
static int upstream_port, answer_file;
static SSL_CTX *tls_context;
static volatile int done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queued = PTHREAD_COND_INITIALIZER;
static struct request *queue[QUEUE];
static unsigned int put_at, take_at;

__attribute__((noinline)) void write_out(void)
{
	pthread_mutex_lock(&lock);
	usleep(20000);
	pthread_mutex_unlock(&lock);
}

static void *flush_now_and_then(void *arg)
{
	for (;;) {
		usleep(180000);
		write_out();
	}
	return arg;
}

__attribute__((noinline)) void log_append(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) void slow_command(void) { usleep(12000); done++; }
__attribute__((noinline)) void make_report(void) { usleep(15000); done++; }
__attribute__((noinline)) void find_file(void) { usleep(8000); done++; }
__attribute__((noinline)) void slow_query(void) { usleep(8000); done++; }

static int connect_to(int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ? -1 : fd;
}

__attribute__((noinline)) void ask_upstream(struct connection *c, const char *request)
{
	char answer[ANSWER];

	if (write(c->upstream, request, REQUEST) != REQUEST || recv(c->upstream, answer, ANSWER, MSG_WAITALL) != ANSWER)
		exit(1);
}

__attribute__((noinline)) int send_answer(struct connection *c)
{
	off_t from = 0;

	if (kind == SENDFILE)
		return sendfile(c->fd, answer_file, &from, ANSWER) == ANSWER;
	return (kind == TLS ? SSL_write(c->tls, "answer\n", ANSWER) : (int)write(c->fd, "answer\n", ANSWER)) == ANSWER;
}

__attribute__((noinline)) int answer_request(struct connection *c, const char *request)
{
	static void (*const slow[])(void) = { [WORKERS] = make_report, [LOOP] = slow_command, [SENDFILE] = find_file, [TLS] = slow_query };

	if (kind == THREADS)
		log_append();
	else if (kind == PROXY)
		ask_upstream(c, request);
	else if (kind != BURSTS && request[0] == 'S')
		slow[kind]();
	return send_answer(c);
}

/* One read, which may bring several; false: the connection is over. */
__attribute__((noinline)) int serve_request(struct connection *c)
{
	char text[16 * REQUEST];
	ssize_t len = kind == TLS ? SSL_read(c->tls, text, REQUEST) : read(c->fd, text, sizeof(text));

	for (ssize_t at = 0; at + REQUEST <= len; at += REQUEST)
		if (!answer_request(c, text + at))
			return 0;
	return len > 0;
}

static void *serve(void *arg)
{
	struct connection *c = arg;

	if (kind == TLS) {
		c->tls = SSL_new(tls_context);
		SSL_set_fd(c->tls, c->fd);
		if (SSL_accept(c->tls) != 1)
			return close(c->fd), NULL;
	}
	if (kind == PROXY)
		c->upstream = connect_to(upstream_port);
	while (serve_request(c))
		;
	return close(c->fd), NULL;
}

__attribute__((noinline)) void put_request(struct request *r)
{
	pthread_mutex_lock(&queue_lock);
	queue[put_at++ % QUEUE] = r;
	pthread_cond_signal(&queued);
	pthread_mutex_unlock(&queue_lock);
}

static void *work(void *arg)
{
	for (;;) {
		struct request *r;

		pthread_mutex_lock(&queue_lock);
		while (put_at == take_at)
			pthread_cond_wait(&queued, &queue_lock);
		r = queue[take_at++ % QUEUE];
		pthread_mutex_unlock(&queue_lock);
		answer_request(r->c, r->text);
		free(r);
	}
	return arg;
}

/* false: the connection is over. */
__attribute__((noinline)) int read_request(struct connection *c)
{
	struct request *r = calloc(1, sizeof(*r));

	r->c = c;
	if (recv(c->fd, r->text, REQUEST, MSG_WAITALL) != REQUEST)
		return free(r), 0;
	put_request(r);
	return 1;
}

static int listen_on(int *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 50) < 0 || getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		exit(1);
	*port = ntohs(a.sin_port);
	return fd;
}

static struct connection *accept_on(int fd)
{
	struct connection *c = calloc(1, sizeof(*c));
	int one = 1;

	c->fd = accept(fd, NULL, NULL);
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return c;
}

/* One thread for all connections. */
static void poll_all(int fd)
{
	struct pollfd fds[64] = { { .fd = fd, .events = POLLIN } };
	struct connection *connections[64];
	nfds_t cnt = 1;

	while (poll(fds, cnt, -1) > 0) {
		for (nfds_t i = 1; i < cnt; i++)
			if (fds[i].revents && !(kind == LOOP ? serve_request(connections[i]) : read_request(connections[i])))
				fds[i].fd = -1;
		if (fds[0].revents && cnt < 64) {
			connections[cnt] = accept_on(fd);
			fds[cnt] = (struct pollfd){ .fd = connections[cnt]->fd, .events = POLLIN };
			cnt++;
		}
	}
}

static void prepare(void)
{
	pthread_t t;

	if (kind == THREADS)
		pthread_create(&t, NULL, flush_now_and_then, NULL);
	for (int i = 0; i < 2 && kind == WORKERS; i++)
		pthread_create(&t, NULL, work, NULL);
	if (kind == SENDFILE) {
		char name[] = "answer.XXXXXX";

		answer_file = mkstemp(name);
		if (write(answer_file, "answer\n", ANSWER) != ANSWER)
			exit(1);
	}
	if (kind == TLS) {
		tls_context = SSL_CTX_new(TLS_server_method());
		if (SSL_CTX_use_certificate_file(tls_context, "cert.pem", SSL_FILETYPE_PEM) != 1 ||
		    SSL_CTX_use_PrivateKey_file(tls_context, "key.pem", SSL_FILETYPE_PEM) != 1)
			exit(1);
	}
}

static void end_now(int sig)
{
	(void)sig;
	_exit(0);
}

int main(int argc, char **argv)
{
	int port, fd;
	pthread_t t;

	if (argc < 3)
		return 2;
	while (kind < PROXY && strcmp(kinds[kind], argv[1]))
		kind++;
	upstream_port = argc > 3 ? atoi(argv[3]) : 0;
	signal(SIGALRM, end_now);
	alarm((unsigned int)atoi(argv[2]));
	prepare();
	fd = listen_on(&port);
	printf("%d\n", port);
	fflush(stdout);
	if (kind == LOOP || kind == WORKERS)
		poll_all(fd);
	for (;;)
		pthread_create(&t, NULL, serve, accept_on(fd));
}
