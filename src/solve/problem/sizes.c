#include "solve/problem/problem.h"

#include "solve/chain/segment_cost.h"

static int64_t saved_by(const struct layer_row *row)
{
    return layer_has(row, LAYER_SAVED_ACTIVATIONS) ? row->saved_activations
                                                   : row->memory_activations;
}

static double time_of(const struct problem *problem, const struct layer_row *row)
{
    return problem->timed ? row->forward_us * NANOSECONDS : (double)row->memory_activations;
}

/* The sizes of a piece, computed row by row. `output` is the size of the last row's output: a row
 * without activations of its own changes or passes on its input. */
struct sizing {
    int64_t output;
    int64_t saved;    /* bytes saved by the rows of the piece so far */
    int64_t forward;  /* maximum size of two tensors, one computed from the other */
    int64_t backward; /* maximum size of saved tensors and two gradients */
    double time;
};

/* Each column of the trace adds up to less than 2^62, but several together may not: the sums kept
 * here stay below CHAIN_MOST. */
static bool add_row(struct sizing *sizing, const struct problem *problem, size_t at, bool first,
                    struct error *err)
{
    const struct layer_row *row = problem->rows[at];
    int64_t input = sizing->output;
    if (row->memory_activations >= CHAIN_MOST || saved_by(row) >= CHAIN_MOST - sizing->saved)
        return error_set(err, STATUS_LIMIT, "the sizes of all layers add up to 2^50 or more");
    if (row->memory_activations > 0)
        sizing->output = row->memory_activations;
    sizing->saved += saved_by(row);
    sizing->forward = larger(sizing->forward, (first ? 0 : input) + sizing->output);
    sizing->backward = larger(sizing->backward, sizing->saved + input + sizing->output);
    sizing->time += time_of(problem, row);
    return true;
}

bool problem_set_sizes(struct problem *problem, struct error *err)
{
    struct chain *chain = &problem->chain;
    int64_t output = 0;
    double done = 0;
    for (size_t i = 0; i < chain->layers; i++) {
        const struct piece *piece = &problem->pieces[i];
        struct sizing sizing = {.output = output, .time = done};
        for (size_t row = piece->first_row; row < piece->end_row; row++)
            if (!add_row(&sizing, problem, row, row == piece->first_row, err))
                return false;
        output = sizing.output;
        chain->x[i + 1] = output;
        chain->xbar[i] = larger(sizing.saved, output);
        chain->ftmp[i] = larger(sizing.forward - output, 0);
        chain->btmp[i] = larger(sizing.backward - chain->xbar[i] - output, i > 0 ? chain->x[i] : 0);
        if (sizing.time >= (double)CHAIN_MOST)
            return error_set(err, STATUS_LIMIT,
                             "the times of all layers add up to 2^50 ns or more");
        chain->forward[i] = (int64_t)(sizing.time + 0.5) - (int64_t)(done + 0.5);
        done = sizing.time;
    }
    return true;
}
