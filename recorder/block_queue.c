/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * block_queue.c - a ring of waiting blocks, and a stack of empty ones; two blocks are enough while the disk keeps up.
 */
#include "recorder/block_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include "base/banned.h"
#include "recorder/background.h"

struct waiting_block {
	uint32_t kind;
	unsigned char *data;
	size_t len;
};

struct block_queue {
	struct trace_file *file;
	pthread_t thread;
	pthread_mutex_t lock;		/* protects everything below */
	pthread_cond_t more, fewer;
	struct waiting_block waiting[BLOCK_QUEUE_MAX];
	unsigned int first, cnt;	/* the first of them is being written */
	unsigned char *empty[BLOCK_QUEUE_MAX];
	unsigned int empty_cnt;
	bool closing;
};

static void *write_all_blocks(void *context)
{
	struct block_queue *q = context;

	pthread_mutex_lock(&q->lock);
	while (q->cnt || !q->closing) {
		struct waiting_block *b = &q->waiting[q->first];

		if (!q->cnt) {
			pthread_cond_wait(&q->more, &q->lock);
			continue;
		}
		pthread_mutex_unlock(&q->lock);
		trace_file_block(q->file, b->kind, b->data, b->len);
		pthread_mutex_lock(&q->lock);
		q->empty[q->empty_cnt++] = b->data;
		q->first = (q->first + 1) % BLOCK_QUEUE_MAX;
		q->cnt--;
		pthread_cond_signal(&q->fewer);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

int block_queue_open(struct trace_file *file, struct block_queue **ret)
{
	struct block_queue *q = calloc(1, sizeof(*q));
	int e;

	if (!q)
		return -ENOMEM;
	q->file = file;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->more, NULL);
	pthread_cond_init(&q->fewer, NULL);
	e = background_start(&q->thread, write_all_blocks, q);
	if (e) {
		free(q);
		return e;
	}
	*ret = q;
	return 0;
}

/* An empty block.  Without memory for a new one, waits for the next to come back.  Called with the lock held. */
static unsigned char *empty_block(struct block_queue *q, size_t cap)
{
	unsigned char *data = q->empty_cnt ? NULL : malloc(cap);

	if (data)
		return data;
	while (!q->empty_cnt)
		pthread_cond_wait(&q->fewer, &q->lock);
	return q->empty[--q->empty_cnt];
}

void block_queue_put(struct block_queue *q, uint32_t kind, struct encoder *block)
{
	if (!block->len)
		return;
	pthread_mutex_lock(&q->lock);
	while (q->cnt == BLOCK_QUEUE_MAX)
		pthread_cond_wait(&q->fewer, &q->lock);
	q->waiting[(q->first + q->cnt++) % BLOCK_QUEUE_MAX] = (struct waiting_block){ kind, block->data, block->len };
	pthread_cond_signal(&q->more);
	block->data = empty_block(q, block->cap);
	block->len = 0;
	pthread_mutex_unlock(&q->lock);
}

void block_queue_close(struct block_queue *q)
{
	if (!q)
		return;
	pthread_mutex_lock(&q->lock);
	q->closing = true;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->lock);
	pthread_join(q->thread, NULL);
	while (q->empty_cnt)
		free(q->empty[--q->empty_cnt]);
	free(q);
}
