/* The memory of the backward pass of recorded pieces: what it takes beside what the chain counts,
 * and the gradients of parameters that take the place of what it frees. */
#include "solve/chain/segment_cost.h"
#include "solve/problem/recorded.h"

/* The piece that a row of the backward pass belongs to, plus one; 0 if it is not known. */
static uint32_t piece_of_backward(const struct recorded *recorded, const struct layer_row *row)
{
    if (layer_has(row, LAYER_FORWARD_ROW) && (size_t)row->forward_row < recorded->trace->count)
        return recorded->piece_of[row->forward_row] + 1;
    return recorded->named[row->module_name];
}

/* Sets chain.btmp to the most that is allocated in the backward of each piece, and chain.replaced
 * to how much more that is than at its beginning; to INT64_MAX if that is not known, or if other
 * pieces run in between. */
static void find_highest(const struct recorded *recorded)
{
    const struct layer_trace *trace = recorded->trace;
    const struct chain *chain = &recorded->problem->chain;
    int64_t *highest = chain->btmp, *start = chain->replaced;
    uint32_t last = 0;
    for (size_t k = 0; k < trace->count; k++) {
        const struct layer_row *row = &trace->rows[k];
        uint32_t piece = row->is_forward ? 0 : piece_of_backward(recorded, row);
        if (piece == 0)
            continue;
        if (piece != last)
            start[piece - 1] = highest[piece - 1] == 0 ? row->start_bytes : 0;
        last = piece;
        highest[piece - 1] = larger(highest[piece - 1], row->peak_bytes);
    }
    for (size_t i = 0; i < chain->layers; i++) {
        bool known = start[i] > 0 && start[i] <= highest[i];
        chain->replaced[i] = known ? highest[i] - start[i] : INT64_MAX;
        chain->btmp[i] = larger(highest[i] - trace->facts.before_bytes, 0);
    }
}

/* Gradients that are not there when the most is allocated. Both what is allocated then and how much
 * that is above the beginning must show it: the one is too low if the chain counts too much, the
 * other if these gradients were there before. */
static int64_t replaced(int64_t gradient, int64_t counted, int64_t used, int64_t rise)
{
    int64_t missing = counted - used, later = rise < gradient ? gradient - rise : 0;
    return larger(missing < later ? missing : later, 0);
}

void recorded_find_backward(const struct recorded *recorded, const struct shared_times *shared)
{
    const struct chain *chain = &recorded->problem->chain;
    int64_t kept = 0, gradients = 0;
    find_highest(recorded);
    for (size_t i = 0; i < chain->layers; i++)
        gradients += chain->gradient[i];
    for (size_t i = 0; i < chain->layers; i++) {
        kept += chain->xbar[i] - shared->made[i];
        int64_t counted = kept + chain->x[i + 1] + gradients, used = chain->btmp[i];
        chain->btmp[i] = larger(used - counted, 0);
        chain->replaced[i] = replaced(chain->gradient[i], counted, used, chain->replaced[i]);
        gradients -= chain->gradient[i];
    }
}
