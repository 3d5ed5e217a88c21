#include <stdlib.h>
#include <string.h>

#include "solve/advice/advice.h"

struct draft {
    const struct layer_trace *trace;
    const struct problem *leaves;
    struct fairscale_advice *advice;
    size_t *rows; /* index in leaves->rows of each of advice->modules */
    size_t row_capacity;
    struct budget *budget;
};

static bool add_module(struct draft *draft, size_t row, struct error *err)
{
    struct fairscale_advice *advice = draft->advice;
    size_t count = advice->module_count + 1;
    if (!vec_grow((void **)&advice->modules, &advice->module_capacity, count,
                  sizeof(struct layer_row *), draft->budget, err) ||
        !vec_grow((void **)&draft->rows, &draft->row_capacity, count, sizeof(size_t), draft->budget,
                  err))
        return false;
    draft->rows[count - 1] = row;
    advice->modules[count - 1] = draft->leaves->rows[row];
    advice->module_count = count;
    return true;
}

/* Collects each module without children where it runs first. Names are interned, so ids identify
 * modules already seen. */
static bool collect_modules(struct draft *draft, struct error *err)
{
    size_t names = symbols_string_count(draft->trace->symbols), skipped = 0;
    if (!budget_take(draft->budget, names, err))
        return false;
    bool *seen = calloc(names, sizeof(*seen));
    bool ok = seen || error_out_of_memory(err);
    for (size_t row = 0; ok && row < draft->leaves->row_count; row++) {
        string_id name = draft->leaves->rows[row]->module_name;
        if (seen[name] || !layer_is_leaf(draft->leaves->rows[row]))
            continue;
        seen[name] = true;
        if (skipped++ >= draft->advice->skipped)
            ok = add_module(draft, row, err);
    }
    free(seen);
    budget_give(draft->budget, names);
    return ok;
}

static bool answer(struct draft *draft, struct error *err)
{
    struct fairscale_advice *advice = draft->advice;
    size_t bytes = (advice->module_count + 1) * sizeof(int64_t);
    if (!budget_take(draft->budget, bytes, err))
        return false;
    int64_t *sizes = malloc(bytes);
    bool ok = sizes || error_out_of_memory(err);
    for (size_t i = 0; ok && i < advice->module_count; i++)
        sizes[i] = advice->modules[i]->memory_activations;
    ok = ok && sum_place(sizes, advice->module_count, advice->checkpoints, &advice->answer,
                         draft->budget, err);
    free(sizes);
    budget_give(draft->budget, bytes);
    return ok;
}

/* The first piece of `problem` that begins at or after the row. */
static size_t piece_from(const struct problem *problem, size_t row)
{
    size_t piece = problem_piece_of(problem, row);
    return piece + (problem->pieces[piece].first_row < row);
}

/* Replays FairScale's placement, in which every part is checkpointed. Skipped rows are not. */
static bool follow(struct draft *draft, const struct problem *problem, struct error *err)
{
    struct fairscale_advice *advice = draft->advice;
    const struct problem *leaves = draft->leaves;
    struct placement *parts = &advice->parts;
    size_t end = leaves->chain.layers;
    size_t from = advice->module_count > 0 ? piece_from(leaves, draft->rows[0]) : end;
    bool ok = true;
    for (size_t k = 0; ok && k <= advice->answer.count; k++) {
        size_t to = end;
        if (k < advice->answer.count) {
            size_t row = draft->rows[advice->answer.cuts[k]];
            to = piece_from(leaves, row);
            advice->inside += problem->pieces[problem_piece_of(problem, row)].first_row < row;
        }
        if (to > from)
            ok = placement_add_parts(parts, &leaves->chain, from, to, draft->budget, err);
        from = to > from ? to : from;
    }
    return ok && placement_replay(parts, &leaves->chain, draft->budget, &advice->outcome, err);
}

/* Finds the best segments. If the gradients of parameters are known, they count in the peak. */
static bool place_best(const struct problem *problem, struct fairscale_advice *advice,
                       struct budget *budget, struct error *err)
{
    struct chain counted = {0};
    int64_t peak;
    bool ok =
        (!problem->recorded || chain_with_gradients(&counted, &problem->chain, budget, err)) &&
        peak_place(problem->recorded ? &counted : &problem->chain, advice->answer.count + 1,
                   &advice->best, &peak, budget, err) &&
        placement_replay(&advice->best, &problem->chain, budget, &advice->best_outcome, err);
    chain_drop_gradients(&counted, budget);
    return ok;
}

bool fairscale_advise(const struct layer_trace *trace, const struct problem *problem,
                      const struct problem *leaves, size_t checkpoints, size_t skipped,
                      struct fairscale_advice *advice, struct budget *budget, struct error *err)
{
    struct fairscale_advice made = {.checkpoints = checkpoints, .skipped = skipped};
    struct draft draft = {.trace = trace, .leaves = leaves, .advice = &made, .budget = budget};
    bool ok = collect_modules(&draft, err) && answer(&draft, err) && follow(&draft, problem, err) &&
              place_best(problem, &made, budget, err);
    vec_free(draft.rows, draft.row_capacity, sizeof(*draft.rows), budget);
    made.without_bytes = peak_without(&problem->chain);
    if (ok)
        *advice = made;
    else
        fairscale_advice_release(&made, budget);
    return ok;
}

void fairscale_advice_release(struct fairscale_advice *advice, struct budget *budget)
{
    vec_free(advice->modules, advice->module_capacity, sizeof(struct layer_row *), budget);
    sum_release(&advice->answer, budget);
    placement_release(&advice->parts, budget);
    placement_release(&advice->best, budget);
    *advice = (struct fairscale_advice){0};
}
