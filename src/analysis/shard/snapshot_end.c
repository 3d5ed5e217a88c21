/* The memory that is live when the backward pass has ended. */
#include "analysis/shard/snapshot_reader.h"

/* Where the backward pass has ended and the optimizer begins. An optimizer that allocates nothing
 * leaves no trace: it then runs before the program frees what it kept, such as the model's output.
 */
static uint32_t step_begin(const struct snapshot_reader *reader)
{
    const struct phases *phases = &reader->phases;
    const struct forward_chain *chain = reader->chain;
    uint32_t least = reader->made[reader->all_made - 1].item + 1, end = chain->end;
    uint32_t run = phases_run_of(phases, end - 1);
    bool is_known = run + 1 < phases->count && phases->runs[run + 1].first == end &&
                    phases->runs[run + 1].phase == PHASE_OPTIMIZER;
    while (!is_known && end > least && phases->runs[run].phase != PHASE_BACKWARD)
        end = phases->runs[run--].first;
    return end > least ? end : least;
}

int64_t snapshot_end_bytes(const struct snapshot_reader *reader)
{
    uint32_t item = step_begin(reader);
    int64_t bytes = reader->start_bytes;
    for (uint32_t i = reader->chain->first; i < item; i++)
        bytes += reader->change[i - reader->chain->first];
    return bytes > 0 ? bytes : 0;
}
