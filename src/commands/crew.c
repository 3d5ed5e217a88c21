#define _GNU_SOURCE /* fopencookie, sched_getaffinity */
#include "commands/crew.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buffer.h"

#define HELD_MOST ((size_t)4 * 1024 * 1024) /* bytes of output that a piece holds back */
#define AHEAD     4 /* pieces a thread may be ahead of the one whose turn it is */

struct piece {
    struct crew *crew;
    size_t number;
    struct buffer held; /* printed before it was its turn */
    bool started;       /* some of its output is written */
    bool done;
};

struct crew {
    const struct crew_work *work;
    size_t jobs;
    struct piece *pieces;
    bool has_output; /* of whoever's turn it is, as work->out is */
    pthread_mutex_t lock;
    pthread_cond_t moved; /* turn */
    size_t next;          /* the piece to begin */
    size_t turn;          /* the piece that may write; those before it are finished */
};

/* Only when it is the piece's turn, as for the next one. */
static void write_out(struct piece *piece, const char *bytes, size_t size)
{
    struct crew *crew = piece->crew;
    const struct crew_work *work = crew->work;
    if (size == 0)
        return;
    if (!piece->started) {
        work->before_output(work->self);
        if (crew->has_output)
            fputs(work->separator, work->out);
    }
    piece->started = crew->has_output = true;
    fwrite(bytes, 1, size, work->out); /* a failure stays in the stream, for its owner */
}

static void write_held(struct piece *piece)
{
    write_out(piece, piece->held.bytes, piece->held.size);
    buffer_release(&piece->held);
    piece->held = BUFFER_INIT;
}

static bool has_turn(struct piece *piece)
{
    pthread_mutex_lock(&piece->crew->lock);
    bool has = piece->crew->turn == piece->number;
    pthread_mutex_unlock(&piece->crew->lock);
    return has;
}

static void await_turn(struct piece *piece)
{
    struct crew *crew = piece->crew;
    pthread_mutex_lock(&crew->lock);
    while (crew->turn != piece->number)
        pthread_cond_wait(&crew->moved, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
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
    const struct crew_work *work = piece->crew->work;
    FILE *out = fopencookie(piece, "w", (cookie_io_functions_t){.write = write_piece});
    work->work(work->self, piece->number, out);
    if (out)
        fclose(out);
}

/* With the lock held. */
static void finish_those_done(struct crew *crew)
{
    while (crew->turn < crew->work->count && crew->pieces[crew->turn].done) {
        write_held(&crew->pieces[crew->turn]);
        crew->work->finish(crew->work->self, crew->turn);
        crew->turn++;
    }
    pthread_cond_broadcast(&crew->moved);
}

static void *run_worker(void *argument)
{
    struct crew *crew = argument;
    pthread_mutex_lock(&crew->lock);
    while (crew->next < crew->work->count) {
        if (crew->next - crew->turn >= AHEAD * crew->jobs) {
            pthread_cond_wait(&crew->moved, &crew->lock);
            continue;
        }
        struct piece *piece = &crew->pieces[crew->next++];
        pthread_mutex_unlock(&crew->lock);
        run_piece(piece);
        pthread_mutex_lock(&crew->lock);
        piece->done = true;
        finish_those_done(crew);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

static void run_workers(struct crew *crew, pthread_t *threads)
{
    size_t others = 0;
    while (others + 1 < crew->jobs && pthread_create(&threads[others], NULL, run_worker, crew) == 0)
        others++;
    run_worker(crew);
    for (size_t i = 0; i < others; i++)
        pthread_join(threads[i], NULL);
}

bool crew_run(const struct crew_work *work, struct error *err)
{
    struct crew crew = {.work = work, .jobs = work->jobs < work->count ? work->jobs : work->count};
    crew.pieces = calloc(work->count + 1, sizeof(*crew.pieces));
    pthread_t *threads = calloc(crew.jobs + 1, sizeof(*threads));
    bool ok = crew.pieces && threads;
    if (ok) {
        for (size_t i = 0; i < work->count; i++)
            crew.pieces[i] = (struct piece){.crew = &crew, .number = i};
        pthread_mutex_init(&crew.lock, NULL);
        pthread_cond_init(&crew.moved, NULL);
        run_workers(&crew, threads);
        pthread_cond_destroy(&crew.moved);
        pthread_mutex_destroy(&crew.lock);
    }
    free(threads);
    free(crew.pieces);
    return ok || error_set(err, STATUS_LIMIT, "out of memory");
}

size_t crew_cores(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
        return (size_t)CPU_COUNT(&allowed);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (size_t)online : 1;
}
