#include "model/ahead.h"

#include <stdlib.h>

#include "base/thread.h"
#include "model/replay.h"

#define BUDGET_PART 16             /* of the file's budget */
#define CHUNK       ((size_t)4096) /* items between two looks at the lock */
#define STACK_BYTES ((size_t)256 * 1024)

/* `offered`, `is_reading`, `is_paused` and `is_last` change under `lock`. */
struct ahead {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more;    /* there are items, or no more will come */
    pthread_cond_t stopped; /* the thread does not read columns */
    struct trace offered;   /* what the thread may read */
    bool is_reading, is_paused;
    bool is_last; /* nothing will be offered any more */
    bool is_running;
    /* Of the thread until it has ended. */
    struct budget budget;
    struct trace trace;
    struct timeline timeline;
    struct replay replay;
    bool has_result;
};

/* Waits for items. False if there are none and none will come. */
static bool wait_for_items(struct ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->is_reading = false;
    if (ahead->is_paused)
        pthread_cond_signal(&ahead->stopped);
    while (ahead->is_paused || (ahead->replay.next == ahead->offered.count && !ahead->is_last))
        pthread_cond_wait(&ahead->more, &ahead->lock);
    ahead->trace = ahead->offered;
    ahead->is_reading = ahead->replay.next < ahead->trace.count;
    bool reads = ahead->is_reading;
    pthread_mutex_unlock(&ahead->lock);
    return reads;
}

static void *run(void *argument)
{
    struct ahead *ahead = argument;
    struct error ignored; /* timeline_build() will meet it, too */
    while (wait_for_items(ahead)) {
        size_t left = ahead->trace.count - ahead->replay.next;
        size_t end = ahead->replay.next + (left < CHUNK ? left : CHUNK);
        if (ahead->has_result) {
            replay_count(&ahead->replay, end);
            ahead->has_result = replay_until(&ahead->replay, end, &ignored);
            if (!ahead->has_result)
                replay_release(&ahead->replay);
        }
        ahead->replay.next = end;
    }
    return NULL;
}

struct ahead *ahead_start(const struct budget *budget)
{
    struct ahead *ahead = calloc(1, sizeof(*ahead));
    if (!ahead)
        return NULL;
    ahead->budget.limit = budget->limit / BUDGET_PART;
    replay_init(&ahead->replay, &ahead->timeline, &ahead->trace, &ahead->budget);
    ahead->has_result = true;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->more, NULL);
    pthread_cond_init(&ahead->stopped, NULL);
    ahead->is_running = thread_start(&ahead->thread, STACK_BYTES, run, ahead);
    if (ahead->is_running)
        return ahead;
    ahead_destroy(ahead);
    return NULL;
}

void ahead_offer(struct ahead *ahead, const struct trace *trace)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->offered = *trace;
    ahead->is_paused = false;
    pthread_cond_signal(&ahead->more);
    pthread_mutex_unlock(&ahead->lock);
}

void ahead_pause(struct ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->is_paused = true;
    while (ahead->is_reading)
        pthread_cond_wait(&ahead->stopped, &ahead->lock);
    pthread_mutex_unlock(&ahead->lock);
}

static void end_thread(struct ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->is_paused = false;
    ahead->is_last = true;
    pthread_cond_signal(&ahead->more);
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
    ahead->is_running = false;
}

void ahead_end(struct ahead *ahead, const struct trace *trace)
{
    ahead_offer(ahead, trace);
    end_thread(ahead);
}

void ahead_judge(struct ahead *ahead, const struct trace *trace, bool annotated)
{
    bool holds =
        !trace->order && !trace->unrecorded && !annotated && trace->count == ahead->replay.next;
    if (ahead->has_result && !holds) {
        replay_release(&ahead->replay);
        ahead->has_result = false;
    }
}

void ahead_destroy(struct ahead *ahead)
{
    if (!ahead)
        return;
    if (ahead->is_running)
        end_thread(ahead);
    if (ahead->has_result)
        replay_release(&ahead->replay);
    pthread_cond_destroy(&ahead->stopped);
    pthread_cond_destroy(&ahead->more);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
}

void ahead_take(struct ahead *ahead, struct replay *replay)
{
    struct error ignored;
    pthread_mutex_lock(&ahead->lock);
    bool takes = ahead->has_result && budget_take(replay->budget, ahead->budget.used, &ignored);
    if (takes)
        ahead->has_result = false;
    pthread_mutex_unlock(&ahead->lock);
    if (takes)
        replay_adopt(replay, &ahead->replay);
}
