#include "solve/chain/schedule.h"

#include <stdlib.h>

#include "solve/chain/shared.h"

bool schedule_add(struct schedule *schedule, enum operation_kind kind, size_t layer,
                  struct budget *budget, struct error *err)
{
    return vec_push(schedule->operations, schedule->count, schedule->capacity, budget, err,
                    (struct operation){.kind = kind, .layer = (uint32_t)layer});
}

bool schedule_run(struct schedule *schedule, size_t from, size_t to, bool store,
                  struct budget *budget, struct error *err)
{
    for (size_t i = from; i < to; i++) {
        enum operation_kind kind = store && i + 1 == to ? RUN_AND_STORE : RUN_FORWARD;
        if (!schedule_add(schedule, kind, i, budget, err))
            return false;
    }
    return true;
}

void schedule_release(struct schedule *schedule, struct budget *budget)
{
    vec_free(schedule->operations, schedule->capacity, sizeof(*schedule->operations), budget);
    *schedule = (struct schedule){0};
}

#define NONE SIZE_MAX

/* Flags of a layer: its input is stored; its xbar is there; a checkpoint holds all of its input; it
 * ran forward, and chain.pinned is held; its xbar is there from the first forward pass. */
enum { STORED = 1, KEPT = 2, HELD = 4, PINNED = 8, FIRST = 16 };

struct replay {
    const struct chain *chain;
    struct shared_times shared; /* instead of what xbar and pinned have of it in the first pass */
    unsigned char *flags;       /* [n+1] */
    size_t passing;             /* x[passing] is held for layer `passing` only; NONE */
    size_t gradient;   /* the gradient of x[gradient] is held; NONE before the first backward */
    int64_t held;      /* bytes */
    int64_t gradients; /* bytes of parameters' gradients made so far */
    int64_t peak;
    int64_t total; /* the peak with those gradients */
    int64_t time;  /* time of all forward passes */
};

static void use(struct replay *replay, int64_t bytes)
{
    if (replay->held + bytes > replay->peak)
        replay->peak = replay->held + bytes;
    if (replay->held + bytes + replay->gradients > replay->total)
        replay->total = replay->held + bytes + replay->gradients;
}

/* Counts that layer i runs forward, for the first time or again. */
static void use_forward(struct replay *replay, size_t i, int64_t bytes)
{
    int64_t gradients = replay->gradients;
    if (replay->gradient == NONE)
        replay->gradients = replay->chain->old[i];
    use(replay, bytes);
    replay->gradients = gradients;
}

static void drop_passing(struct replay *replay)
{
    if (replay->passing != NONE)
        replay->held -= replay->chain->x[replay->passing];
    replay->passing = NONE;
}

static bool input_stays(const struct replay *replay, size_t i)
{
    return i == 0 || replay->flags[i] & STORED || replay->flags[i - 1] & KEPT;
}

/* The bytes of layer i that a checkpoint does not free at this moment. */
static int64_t pinned(const struct replay *replay, size_t i)
{
    const struct chain *chain = replay->chain;
    return chain->pinned[i] - replay->shared.made[i] -
           (replay->gradient == NONE ? 0 : chain->cast[i]);
}

/* Replaces the output of the last layer by its gradient, which the program does at once. */
static void end_forward(struct replay *replay, size_t i)
{
    if (i + 1 < replay->chain->layers || replay->gradient != NONE)
        return;
    drop_passing(replay);
    for (size_t k = 0; k < replay->chain->layers; k++)
        replay->held -= replay->flags[k] & PINNED ? replay->chain->cast[k] : 0;
    replay->gradient = i + 1;
    replay->held += replay->chain->x[i + 1];
    use(replay, 0);
}

static bool run_forward(struct replay *replay, size_t i, const struct chain_option *option,
                        bool store)
{
    const struct chain *chain = replay->chain;
    if (replay->passing != i)
        drop_passing(replay);
    if (replay->passing != i && !input_stays(replay, i))
        return false;
    if (store && (i + 1 == chain->layers || input_stays(replay, i + 1)))
        return false;
    if (replay->passing != i && !(replay->flags[i] & HELD)) { /* a segment begins */
        replay->flags[i] |= HELD;
        replay->held += chain_input(chain, i);
    }
    if (!(replay->flags[i] & PINNED))
        replay->held += pinned(replay, i);
    replay->flags[i] |= PINNED;
    replay->held += replay->gradient == NONE ? replay->shared.made[i] : 0;
    use_forward(replay, i, chain_running(chain, i, replay->passing == i ? chain->loose[i] : 0));
    replay->time += chain->forward[i];
    replay->held -= replay->gradient == NONE ? replay->shared.read[i] : 0;
    drop_passing(replay);
    replay->held += option ? option->kept[i] : 0;
    replay->held += store ? chain_stored(chain, i + 1) : chain->x[i + 1];
    if (store) {
        replay->flags[i + 1] |= STORED;
        use_forward(replay, i, chain_reading(chain, i + 1));
    } else {
        replay->passing = i + 1;
    }
    end_forward(replay, i);
    return true;
}

/* Runs a layer and keeps its xbar. With an option, the layer's kept results are there already, and
 * those of them that are not saved are freed. */
static bool run_and_keep(struct replay *replay, size_t i, const struct chain_option *option)
{
    const struct chain *chain = replay->chain;
    int64_t held = option ? option->kept[i] : 0, unsaved = option ? option->unsaved[i] : 0;
    drop_passing(replay);
    if (!input_stays(replay, i) || replay->flags[i] & KEPT)
        return false;
    if (replay->flags[i] & PINNED)
        replay->held -= pinned(replay, i);
    /* a checkpoint may end here */
    int64_t over = replay->gradient == i + 1 ? chain_over(chain, option, i) : 0;
    bool first = replay->gradient == NONE;
    int64_t passing = chain->ftmp[i] - (first ? 0 : chain->outer[i]);
    use_forward(replay, i, chain->xbar[i] - held + unsaved + passing - over);
    replay->time += option ? option->forward[i] : chain->forward[i];
    replay->flags[i] = (unsigned char)((replay->flags[i] | KEPT | (first ? FIRST : 0)) & ~PINNED);
    replay->held += chain->xbar[i] - held - (first ? replay->shared.read[i] : 0);
    end_forward(replay, i);
    return true;
}

static bool run_backward(struct replay *replay, size_t i)
{
    const struct chain *chain = replay->chain;
    drop_passing(replay);
    if (replay->gradient != i + 1 || !(replay->flags[i] & KEPT) || !input_stays(replay, i))
        return false;
    replay->gradients += chain->gradient[i] - chain->replaced[i];
    use(replay, chain->btmp[i]);
    replay->gradients += chain->replaced[i];
    replay->held -= chain->xbar[i] + chain->x[i + 1] + replay->shared.held[i];
    if (replay->flags[i] & FIRST)
        replay->held += replay->shared.made[i];
    if (replay->flags[i] & STORED)
        replay->held -= chain_stored(chain, i);
    if (replay->flags[i] & HELD)
        replay->held -= chain_input(chain, i);
    replay->flags[i] = 0;
    replay->gradient = i;
    replay->held += i > 0 ? chain->x[i] : 0;
    return true;
}

static bool run(struct replay *replay, struct operation operation)
{
    size_t i = operation.layer;
    if (i >= replay->chain->layers || operation.option > replay->chain->option_count)
        return false;
    const struct chain_option *option = chain_option(replay->chain, operation.option);
    switch (operation.kind) {
    case RUN_FORWARD:
        return run_forward(replay, i, option, false);
    case RUN_AND_STORE:
        return run_forward(replay, i, option, true);
    case RUN_AND_KEEP:
        return run_and_keep(replay, i, option);
    default:
        return run_backward(replay, i);
    }
}

static bool run_all(struct replay *replay, const struct schedule *schedule, struct error *err)
{
    for (size_t i = 0; i < schedule->count; i++)
        if (!run(replay, schedule->operations[i]))
            return error_set(err, STATUS_IO,
                             "operation %zu of the schedule, at layer %u, cannot run", i,
                             schedule->operations[i].layer);
    if (replay->gradient != 0)
        return error_set(err, STATUS_IO, "the schedule ends before the backward pass does");
    return true;
}

bool schedule_replay(const struct schedule *schedule, const struct chain *chain,
                     struct budget *budget, struct replay_outcome *outcome, struct error *err)
{
    size_t bytes = chain->layers + 1;
    if (!budget_take(budget, bytes, err))
        return false;
    struct replay replay = {.chain = chain,
                            .flags = calloc(1, bytes),
                            .passing = NONE,
                            .gradient = NONE,
                            .time = -chain_forward_time(chain)};
    bool ok = (replay.flags || error_out_of_memory(err)) &&
              shared_times_find(&replay.shared, chain, schedule, budget, err) &&
              run_all(&replay, schedule, err);
    shared_times_release(&replay.shared, chain, budget);
    free(replay.flags);
    budget_give(budget, bytes);
    if (ok)
        *outcome = (struct replay_outcome){replay.peak, replay.total, replay.time};
    return ok;
}

bool placement_add(struct placement *placement, size_t first, size_t end, struct budget *budget,
                   struct error *err)
{
    return vec_push(placement->segments, placement->count, placement->capacity, budget, err,
                    (struct wrapped){.first = first, .end = end});
}

void placement_release(struct placement *placement, struct budget *budget)
{
    vec_free(placement->segments, placement->capacity, sizeof(*placement->segments), budget);
    *placement = (struct placement){0};
}

bool placement_add_parts(struct placement *placement, const struct chain *chain, size_t first,
                         size_t end, struct budget *budget, struct error *err)
{
    for (size_t i = first, to; i < end; i = to) {
        size_t reach = (size_t)chain->reach[i];
        to = reach < end ? reach : end;
        if (to == i)
            to++; /* stays as it is */
        else if (!placement_add(placement, i, to, budget, err))
            return false;
    }
    return true;
}

bool placement_even(struct placement *placement, const struct chain *chain, struct budget *budget,
                    struct error *err)
{
    size_t layers = chain->layers;
    size_t segments = 1;
    while (segments * segments < layers)
        segments++;
    for (size_t k = 0; k < segments; k++)
        if (!placement_add_parts(placement, chain, layers * k / segments,
                                 layers * (k + 1) / segments, budget, err))
            return false;
    return true;
}

static bool keep(struct schedule *schedule, size_t from, size_t to, struct budget *budget,
                 struct error *err)
{
    for (size_t i = from; i < to; i++)
        if (!schedule_add(schedule, RUN_AND_KEEP, i, budget, err))
            return false;
    return true;
}

static bool go_back(struct schedule *schedule, size_t from, size_t to, struct budget *budget,
                    struct error *err)
{
    for (size_t i = to; i-- > from;)
        if (!schedule_add(schedule, RUN_BACKWARD, i, budget, err))
            return false;
    return true;
}

/* Sets the option of the operations from `from` on. */
static void set_option(struct schedule *schedule, size_t from, unsigned option)
{
    for (size_t k = from; k < schedule->count; k++)
        schedule->operations[k].option = option;
}

bool placement_schedule(const struct placement *placement, size_t layers, struct schedule *schedule,
                        struct budget *budget, struct error *err)
{
    size_t done = 0;
    for (size_t k = 0; k < placement->count; k++) {
        struct wrapped segment = placement->segments[k];
        if (!keep(schedule, done, segment.first, budget, err))
            return false;
        size_t from = schedule->count;
        if (!schedule_run(schedule, segment.first, segment.end, segment.end < layers, budget, err))
            return false;
        set_option(schedule, from, segment.option);
        done = segment.end;
    }
    if (!keep(schedule, done, layers, budget, err))
        return false;
    done = layers;
    for (size_t k = placement->count; k-- > 0;) {
        struct wrapped segment = placement->segments[k];
        if (!go_back(schedule, segment.end, done, budget, err))
            return false;
        size_t from = schedule->count;
        if (!keep(schedule, segment.first, segment.end, budget, err))
            return false;
        set_option(schedule, from, segment.option);
        if (!go_back(schedule, segment.first, segment.end, budget, err))
            return false;
        done = segment.first;
    }
    return go_back(schedule, 0, done, budget, err);
}

int64_t placement_saved_time(const struct placement *placement, const struct chain *chain)
{
    int64_t saved = 0;
    for (size_t k = 0; k < placement->count; k++) {
        struct wrapped segment = placement->segments[k];
        const struct chain_option *option = chain_option(chain, segment.option);
        const int64_t *times = option ? option->forward : chain->forward;
        int64_t forward = 0;
        for (size_t i = segment.first; i < segment.end; i++)
            forward += times[i];
        int64_t tail = (option ? option->tail : chain->tail)[segment.end - 1];
        saved += tail < forward ? tail : forward;
    }
    return saved;
}

bool placement_replay(const struct placement *placement, const struct chain *chain,
                      struct budget *budget, struct replay_outcome *outcome, struct error *err)
{
    struct schedule schedule = {0};
    bool ok = placement_schedule(placement, chain->layers, &schedule, budget, err) &&
              schedule_replay(&schedule, chain, budget, outcome, err);
    if (ok)
        outcome->extra_time -= placement_saved_time(placement, chain);
    schedule_release(&schedule, budget);
    return ok;
}
