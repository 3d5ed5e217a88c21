#define _GNU_SOURCE /* fopencookie, sched_getaffinity */
#include "commands/cli/worker_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buffer.h"

#define HELD_MOST ((size_t)4 * 1024 * 1024) /* bytes of output that a waiting piece may buffer */
#define AHEAD     4 /* pieces per thread that may be started before their turn */

struct piece {
    struct worker_pool *pool;
    size_t number;
    struct buffer held; /* output printed before its turn */
    bool started;       /* some of its output is written */
    bool done;
};

struct worker_pool {
    const struct pool_work *work;
    size_t jobs;
    struct piece *pieces;
    bool has_output; /* the piece whose turn it is has output */
    pthread_mutex_t lock;
    pthread_cond_t moved; /* signals a change of `turn` */
    size_t next;          /* the next piece to start */
    size_t turn;          /* the piece that may write; those before it are finished */
};

/* Both may be called only when it is the piece's turn. */
static void write_out(struct piece *piece, const char *bytes, size_t size)
{
    struct worker_pool *pool = piece->pool;
    const struct pool_work *work = pool->work;
    if (size == 0)
        return;
    if (!piece->started) {
        work->before_output(work->self);
        if (pool->has_output)
            fputs(work->separator, work->out);
    }
    piece->started = pool->has_output = true;
    fwrite(bytes, 1, size, work->out); /* the owner of the stream checks for errors */
}

static void write_held(struct piece *piece)
{
    write_out(piece, piece->held.bytes, piece->held.size);
    buffer_release(&piece->held);
    piece->held = BUFFER_INIT;
}

static bool has_turn(struct piece *piece)
{
    pthread_mutex_lock(&piece->pool->lock);
    bool has = piece->pool->turn == piece->number;
    pthread_mutex_unlock(&piece->pool->lock);
    return has;
}

static void await_turn(struct piece *piece)
{
    struct worker_pool *pool = piece->pool;
    pthread_mutex_lock(&pool->lock);
    while (pool->turn != piece->number)
        pthread_cond_wait(&pool->moved, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static ssize_t write_piece(void *cookie, const char *bytes, size_t size)
{
    struct piece *piece = cookie;
    if (!has_turn(piece)) {
        if (size <= HELD_MOST - piece->held.size) {
            buffer_add(&piece->held, bytes, size);
            if (!piece->held.failed)
                return (ssize_t)size;
        }
        await_turn(piece);
    }
    write_held(piece);
    write_out(piece, bytes, size);
    return (ssize_t)size;
}

static void run_piece(struct piece *piece)
{
    const struct pool_work *work = piece->pool->work;
    FILE *out = fopencookie(piece, "w", (cookie_io_functions_t){.write = write_piece});
    work->work(work->self, piece->number, out);
    if (out)
        fclose(out);
}

/* To be called with the lock held. */
static void finish_those_done(struct worker_pool *pool)
{
    while (pool->turn < pool->work->count && pool->pieces[pool->turn].done) {
        write_held(&pool->pieces[pool->turn]);
        pool->work->finish(pool->work->self, pool->turn);
        pool->turn++;
    }
    pthread_cond_broadcast(&pool->moved);
}

static void *run_worker(void *argument)
{
    struct worker_pool *pool = argument;
    pthread_mutex_lock(&pool->lock);
    while (pool->next < pool->work->count) {
        if (pool->next - pool->turn >= AHEAD * pool->jobs) {
            pthread_cond_wait(&pool->moved, &pool->lock);
            continue;
        }
        struct piece *piece = &pool->pieces[pool->next++];
        pthread_mutex_unlock(&pool->lock);
        run_piece(piece);
        pthread_mutex_lock(&pool->lock);
        piece->done = true;
        finish_those_done(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void run_workers(struct worker_pool *pool, pthread_t *threads)
{
    size_t others = 0;
    while (others + 1 < pool->jobs && pthread_create(&threads[others], NULL, run_worker, pool) == 0)
        others++;
    run_worker(pool);
    for (size_t i = 0; i < others; i++)
        pthread_join(threads[i], NULL);
}

bool worker_pool_run(const struct pool_work *work, struct error *err)
{
    struct worker_pool pool = {.work = work,
                               .jobs = work->jobs < work->count ? work->jobs : work->count};
    pool.pieces = calloc(work->count + 1, sizeof(*pool.pieces));
    pthread_t *threads = calloc(pool.jobs + 1, sizeof(*threads));
    bool ok = pool.pieces && threads;
    if (ok) {
        for (size_t i = 0; i < work->count; i++)
            pool.pieces[i] = (struct piece){.pool = &pool, .number = i};
        pthread_mutex_init(&pool.lock, NULL);
        pthread_cond_init(&pool.moved, NULL);
        run_workers(&pool, threads);
        pthread_cond_destroy(&pool.moved);
        pthread_mutex_destroy(&pool.lock);
    }
    free(threads);
    free(pool.pieces);
    return ok || error_out_of_memory(err);
}

size_t worker_pool_cores(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
        return (size_t)CPU_COUNT(&allowed);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (size_t)online : 1;
}
