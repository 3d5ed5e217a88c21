#include "solve/chain/shared.h"

#include <stdlib.h>

static size_t bytes_of(const struct chain *chain)
{
    return chain->layers * (3 * sizeof(int64_t) + 1);
}

/* Marks the layers with which a checkpoint begins in the first forward pass. */
static void find_beginnings(struct shared_times *times, const struct schedule *schedule,
                            size_t layers)
{
    const struct operation *operations = schedule->operations;
    for (size_t k = 0; k < schedule->count && operations[k].kind != RUN_BACKWARD; k++) {
        size_t layer = operations[k].layer;
        bool goes_on = k > 0 && operations[k - 1].kind == RUN_FORWARD &&
                       operations[k - 1].layer + (size_t)1 == layer;
        if (operations[k].kind != RUN_AND_KEEP && !goes_on && layer < layers)
            times->begins[layer] = 1;
    }
}

static void add_shared(struct shared_times *times, const struct chain *chain,
                       const struct chain_shared *shared)
{
    const uint32_t *readers = chain->shared_readers + shared->first_reader;
    times->made[shared->maker] += shared->bytes;
    for (uint32_t k = 0; k < shared->readers; k++)
        if (times->begins[readers[k]]) {
            times->held[readers[k]] += shared->bytes;
            return;
        }
    times->read[readers[shared->readers - 1]] += shared->bytes;
}

bool shared_times_find(struct shared_times *times, const struct chain *chain,
                       const struct schedule *schedule, struct budget *budget, struct error *err)
{
    if (!budget_take(budget, bytes_of(chain), err))
        return false;
    int64_t *next = calloc(1, bytes_of(chain));
    if (!next) {
        budget_give(budget, bytes_of(chain));
        return error_out_of_memory(err);
    }
    *times = (struct shared_times){.made = next,
                                   .read = next + chain->layers,
                                   .held = next + 2 * chain->layers,
                                   .begins = (unsigned char *)(next + 3 * chain->layers)};
    find_beginnings(times, schedule, chain->layers);
    for (size_t k = 0; k < chain->shared_count; k++)
        add_shared(times, chain, &chain->shared[k]);
    return true;
}

void shared_times_release(struct shared_times *times, const struct chain *chain,
                          struct budget *budget)
{
    if (!times->made)
        return;
    free(times->made);
    budget_give(budget, bytes_of(chain));
    *times = (struct shared_times){0};
}
