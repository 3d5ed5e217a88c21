/* Finds the results that the program holds in variables of the modules around while the model first
 * runs, such as those that wait for a concatenation. They are gone when a checkpoint runs a part of
 * the model again. */
#include "solve/chain/segment_cost.h"
#include "solve/chain/shared.h"
#include "solve/problem/recorded.h"

static const struct layer_row *last_forward(const struct layer_trace *trace)
{
    for (size_t i = trace->count; i-- > 0;)
        if (trace->rows[i].is_forward)
            return &trace->rows[i];
    return NULL;
}

/* True if the trace has a single forward pass. In the second of several passes, gradients and what
 * the first one kept are allocated, too. */
static bool is_one_pass(const struct layer_trace *trace)
{
    return trace->forward_count > 0 &&
           last_forward(trace) == &trace->rows[trace->forward_count - 1];
}

/* Sets chain.outer to memory that the chain does not count: the smaller of what is allocated before
 * the piece and after it. Rows are in the order in which they ran; `row` is the next one. Returns
 * the row after the piece. */
static size_t set_piece(const struct recorded *recorded, size_t row, uint32_t piece, int64_t live,
                        int64_t live_after)
{
    const struct layer_trace *trace = recorded->trace;
    struct chain *chain = &recorded->problem->chain;
    int64_t before = 0, after = 0;
    for (bool first = true; row < trace->forward_count && recorded->piece_of[row] == piece; row++) {
        const struct layer_row *at = &trace->rows[row];
        after = at->allocated - trace->facts.before_bytes;
        before = first ? after - at->memory_diff : before;
        first = false;
    }
    int64_t waiting = before - live - chain->loose[piece] - chain->far[piece];
    int64_t left = after - live_after - chain->loose[piece + 1];
    chain->outer[piece] = larger(waiting < left ? waiting : left, 0);
    return row;
}

void recorded_find_outer(const struct recorded *recorded, const struct shared_times *shared)
{
    const struct layer_trace *trace = recorded->trace;
    struct chain *chain = &recorded->problem->chain;
    if (!is_one_pass(trace))
        return;
    int64_t live = 0;
    size_t row = 0;
    for (uint32_t i = 0; i < chain->layers; i++) {
        int64_t after = live + chain->xbar[i] - shared->read[i];
        row = set_piece(recorded, row, i, live, after);
        live = after;
    }
    /* what is still there at the end stays in the backward pass, and no peak has what was there at
     * the beginning: garbage of the step before */
    int64_t stays = last_forward(trace)->allocated - trace->facts.before_bytes - live;
    int64_t garbage =
        trace->rows[0].allocated - trace->rows[0].memory_diff - trace->facts.before_bytes;
    int64_t others = larger(stays, 0) + larger(garbage, 0);
    for (size_t i = 0; i < chain->layers; i++) {
        int64_t outer = larger(chain->outer[i] - others, 0);
        chain->outer[i] = outer < chain->ftmp[i] ? outer : chain->ftmp[i];
    }
}
