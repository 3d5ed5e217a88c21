#include "decode/core/readahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"

#define SLOT_BYTES  (STREAM_ROOM + READAHEAD_SLOT + STREAM_PAD)
#define RING_BYTES  (SLOT_BYTES * READAHEAD_SLOTS)
#define MOST_LENT   ((size_t)2)
#define STACK_BYTES ((size_t)256 * 1024)

/* The result of one read of the inner stream. */
struct slot {
    size_t size;
    uint64_t bytes_read; /* bytes read from the outermost input, after this read */
};

enum mode {
    NOT_YET, /* too little has been read to start a thread */
    AHEAD,
    DIRECT, /* no thread could be started */
};

/* `first` and `count` change under `lock`. The slots [first, first + count) belong to the reader,
 * which has lent the first `lent` of them; all others, and `inner`, belong to the thread while it
 * runs. */
struct readahead {
    struct source_stream base;
    struct source_stream *inner;
    struct budget *budget;
    enum mode mode;
    uint64_t read_directly; /* bytes */
    uint64_t bytes_read; /* bytes read from the outermost input, up to the slot that the reader has
                            begun */
    size_t taken;        /* bytes of the first slot that is not lent */
    size_t lent;         /* slots */
    uint8_t *ring;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    struct slot slots[READAHEAD_SLOTS];
    size_t first, count;
    bool stop;          /* the reader is closing */
    bool ended, failed; /* nothing follows the filled slots, or only `error` does */
    struct error error;
};

static uint8_t *slot_bytes(const struct readahead *self, size_t slot)
{
    return self->ring + slot * SLOT_BYTES + STREAM_ROOM;
}

/* Waits for a free slot. False: the reader is closing. */
static bool free_slot(struct readahead *self, size_t *slot)
{
    pthread_mutex_lock(&self->lock);
    while (self->count == READAHEAD_SLOTS && !self->stop)
        pthread_cond_wait(&self->emptied, &self->lock);
    bool wanted = !self->stop;
    *slot = (self->first + self->count) % READAHEAD_SLOTS;
    pthread_mutex_unlock(&self->lock);
    return wanted;
}

static void *read_ahead(void *argument)
{
    struct readahead *self = argument;
    bool more = true;
    for (size_t slot; more && free_slot(self, &slot);) {
        struct slot *filled = &self->slots[slot];
        bool ok = self->inner->read(self->inner, slot_bytes(self, slot), READAHEAD_SLOT,
                                    &filled->size, &self->error);
        more = ok && filled->size > 0;
        filled->bytes_read = self->inner->bytes_read(self->inner);
        pthread_mutex_lock(&self->lock);
        if (more)
            self->count++;
        self->ended = !more;
        self->failed = !ok;
        pthread_cond_signal(&self->filled);
        pthread_mutex_unlock(&self->lock);
    }
    return NULL;
}

static enum mode start(struct readahead *self)
{
    struct error ignored;
    if (!budget_take(self->budget, RING_BYTES, &ignored))
        return DIRECT;
    self->ring = malloc(RING_BYTES);
    if (self->ring && thread_start(&self->thread, STACK_BYTES, read_ahead, self))
        return AHEAD;
    free(self->ring);
    budget_give(self->budget, RING_BYTES);
    return DIRECT;
}

static bool read_directly(struct readahead *self, uint8_t *bytes, size_t size, size_t *got,
                          struct error *err)
{
    size_t count;
    bool ok = self->inner->read(self->inner, bytes, size, &count, err);
    self->bytes_read = self->inner->bytes_read(self->inner);
    if (!ok)
        return false;
    self->read_directly += count;
    *got = count;
    return true;
}

/* Waits for a filled slot that is not lent. False: there will be none. */
static bool filled_slot(struct readahead *self)
{
    pthread_mutex_lock(&self->lock);
    while (self->count == self->lent && !self->ended)
        pthread_cond_wait(&self->filled, &self->lock);
    bool filled = self->count > self->lent;
    pthread_mutex_unlock(&self->lock);
    return filled;
}

/* The thread is woken up when half of the slots are free, not for each of them. */
static void give_slot_back(struct readahead *self)
{
    pthread_mutex_lock(&self->lock);
    self->first = (self->first + 1) % READAHEAD_SLOTS;
    self->count--;
    if (self->count <= READAHEAD_SLOTS / 2)
        pthread_cond_signal(&self->emptied);
    pthread_mutex_unlock(&self->lock);
}

static void take_back(struct readahead *self, size_t most)
{
    for (; self->lent > most; self->lent--)
        give_slot_back(self);
}

/* Copies from the first slot: the rest of it, or `size` bytes. */
static size_t take(struct readahead *self, uint8_t *bytes, size_t size)
{
    const struct slot *slot = &self->slots[self->first];
    size_t count = slot->size - self->taken;
    if (count > size)
        count = size;
    memcpy(bytes, slot_bytes(self, self->first) + self->taken, count);
    self->bytes_read = slot->bytes_read;
    self->taken += count;
    if (self->taken == slot->size) {
        self->taken = 0;
        give_slot_back(self);
    }
    return count;
}

/* The end of the stream, or the error there. */
static bool end(struct readahead *self, size_t *got, struct error *err)
{
    self->bytes_read = self->slots[(self->first + self->lent) % READAHEAD_SLOTS].bytes_read;
    *got = 0;
    if (self->failed)
        *err = self->error;
    return !self->failed;
}

static bool readahead_read(struct source_stream *stream, uint8_t *bytes, size_t size, size_t *got,
                           struct error *err)
{
    struct readahead *self = (struct readahead *)stream;
    if (self->mode == NOT_YET && self->read_directly >= READAHEAD_AFTER)
        self->mode = start(self);
    if (self->mode != AHEAD)
        return read_directly(self, bytes, size, got, err);
    take_back(self, 0);
    if (!filled_slot(self))
        return end(self, got, err);
    *got = take(self, bytes, size);
    return true;
}

static bool readahead_lend(struct source_stream *stream, uint8_t **bytes, size_t *got,
                           struct error *err)
{
    struct readahead *self = (struct readahead *)stream;
    *bytes = NULL;
    *got = 0;
    if (self->mode != AHEAD || self->taken > 0)
        return true;
    take_back(self, MOST_LENT - 1);
    bool filled = filled_slot(self);
    size_t slot = (self->first + self->lent) % READAHEAD_SLOTS;
    *bytes = slot_bytes(self, slot);
    if (!filled)
        return end(self, got, err);
    *got = self->slots[slot].size;
    self->bytes_read = self->slots[slot].bytes_read;
    self->lent++;
    return true;
}

static uint64_t readahead_bytes_read(const struct source_stream *stream)
{
    return ((const struct readahead *)stream)->bytes_read;
}

static void readahead_interrupt(struct source_stream *stream)
{
    struct readahead *self = (struct readahead *)stream;
    self->inner->interrupt(self->inner);
}

static void end_thread(struct readahead *self)
{
    pthread_mutex_lock(&self->lock);
    self->stop = true;
    pthread_cond_signal(&self->emptied);
    pthread_mutex_unlock(&self->lock);
    self->inner->interrupt(self->inner);
    pthread_join(self->thread, NULL);
    free(self->ring);
    budget_give(self->budget, RING_BYTES);
}

static void readahead_close(struct source_stream *stream)
{
    struct readahead *self = (struct readahead *)stream;
    if (self->mode == AHEAD)
        end_thread(self);
    pthread_cond_destroy(&self->emptied);
    pthread_cond_destroy(&self->filled);
    pthread_mutex_destroy(&self->lock);
    self->inner->close(self->inner);
    budget_give(self->budget, sizeof(*self));
    free(self);
}

struct source_stream *readahead_stream(struct source_stream *inner, struct budget *budget,
                                       struct error *err)
{
    struct readahead *self = source_stream_alloc(sizeof(*self), budget, err);
    if (!self) {
        inner->close(inner);
        return NULL;
    }
    self->base.read = readahead_read;
    self->base.lend = readahead_lend;
    self->base.bytes_read = readahead_bytes_read;
    self->base.interrupt = readahead_interrupt;
    self->base.close = readahead_close;
    self->base.total_bytes = inner->total_bytes;
    self->inner = inner;
    self->budget = budget;
    self->bytes_read = inner->bytes_read(inner);
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->filled, NULL);
    pthread_cond_init(&self->emptied, NULL);
    return &self->base;
}
