/* Finds storages that many pieces read, such as the features of a DenseNet or an attention bias. */
#include "solve/problem/recorded.h"

/* If fewer pieces read a storage, each of them counts it, which is exact for one. */
#define LEAST_READERS 3

/* Calls `add` once for each piece that reads a storage, unless something else keeps the storage in
 * any case. The pieces ascend. */
static void visit_readers(struct recorded *recorded,
                          void (*add)(struct recorded *recorded, struct usage *usage,
                                      uint32_t piece))
{
    const struct layer_trace *trace = recorded->trace;
    for (size_t i = 0; i < trace->storage_count; i++)
        recorded->usages[i].mark = 0;
    for (size_t i = 0; i < trace->count; i++) {
        struct storage_list reads = trace->rows[i].reads;
        uint32_t piece = recorded->piece_of[i];
        for (uint32_t k = 0; k < reads.count && trace->rows[i].is_forward; k++) {
            struct usage *usage = &recorded->usages[trace->storage_numbers[reads.first + k]];
            if (!(usage->flags & FAR) || usage->flags & SAVED || piece <= usage->maker ||
                usage->mark == piece + 1)
                continue;
            usage->mark = piece + 1;
            add(recorded, usage, piece);
        }
    }
    for (size_t i = 0; i < trace->storage_count; i++)
        recorded->usages[i].mark = 0;
}

static void count_reader(struct recorded *recorded, struct usage *usage, uint32_t piece)
{
    (void)recorded;
    (void)piece;
    usage->readers++;
}

/* Adds a piece to the readers of a storage. From here on, usage->readers is the next place in
 * chain.shared_readers. */
static void add_reader(struct recorded *recorded, struct usage *usage, uint32_t piece)
{
    if (usage->flags & SHARED)
        recorded->problem->chain.shared_readers[usage->readers++] = piece;
}

static bool add_shared(struct recorded *recorded, size_t number, struct budget *budget,
                       struct error *err)
{
    struct chain *chain = &recorded->problem->chain;
    struct usage *usage = &recorded->usages[number];
    struct chain_shared shared = {.bytes = recorded->trace->storages[number].bytes,
                                  .maker = usage->maker,
                                  .first_reader = (uint32_t)chain->reader_count,
                                  .readers = usage->readers};
    usage->flags |= SHARED;
    usage->readers = shared.first_reader;
    chain->reader_count += shared.readers;
    return vec_push(chain->shared, chain->shared_count, chain->shared_capacity, budget, err,
                    shared);
}

bool recorded_find_shared(struct recorded *recorded, struct budget *budget, struct error *err)
{
    struct chain *chain = &recorded->problem->chain;
    visit_readers(recorded, count_reader);
    for (size_t i = 0; i < recorded->trace->storage_count; i++)
        if (recorded->usages[i].readers >= LEAST_READERS && !add_shared(recorded, i, budget, err))
            return false;
    if (chain->shared_count == 0)
        return true;
    if (!vec_reserve(chain->shared_readers, chain->reader_capacity, chain->reader_count, budget,
                     err))
        return false;
    visit_readers(recorded, add_reader);
    return true;
}
