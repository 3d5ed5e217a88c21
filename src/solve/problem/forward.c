#include "solve/problem/forward.h"

#include "solve/chain/segment_cost.h"

static bool make_room(struct forward_problem *made, const struct forward_chain *chain,
                      struct budget *budget, struct error *err)
{
    struct problem *problem = &made->problem;
    size_t count = chain->count;
    return vec_reserve(made->rows, made->row_capacity, count, budget, err) &&
           vec_reserve(problem->rows, problem->row_capacity, count, budget, err) &&
           vec_reserve(problem->modules, problem->module_capacity, chain->part_count, budget,
                       err) &&
           vec_reserve(problem->pieces, problem->piece_capacity, count, budget, err) &&
           chain_create(&problem->chain, count, budget, err);
}

static void set_layer(struct chain *layers, const struct forward_chain *chain, size_t i)
{
    const struct chain_element *element = &chain->elements[i];
    layers->x[i + 1] = element->output_bytes + element->passed_bytes;
    layers->xbar[i] = element->activation_bytes;
    layers->pinned[i] = element->held_bytes;
    if (element->output_passes)
        layers->late[i + 1] = layers->loose[i + 1] = element->output_bytes;
    else
        layers->xbar[i] = larger(element->activation_bytes, element->output_bytes);
    layers->late[i + 1] += element->passed_bytes;
    layers->loose[i + 1] += element->passed_bytes;
    layers->ftmp[i] = element->forward_extra_bytes;
    layers->btmp[i] = element->backward_extra_bytes;
    /* The host's times do not show how long the device takes. */
    layers->forward[i] = chain->kernels_timed ? element->forward_ns : element->activation_bytes;
}

static void set_costs(struct problem *problem, const struct forward_chain *chain)
{
    struct weighed_sum sum = {0};
    for (size_t i = 0; i < chain->count; i++) {
        problem->whole.weight += (double)chain->elements[i].weight;
        problem->whole.bytes += (double)chain->elements[i].activation_bytes;
    }
    for (size_t i = 0; i < chain->count; i++) {
        struct weighed_sum before = sum;
        sum.weight += (double)chain->elements[i].weight;
        sum.bytes += (double)chain->elements[i].activation_bytes;
        problem->chain.forward[i] = weighed_cost(before, sum, problem->whole);
    }
}

static void set_rows(struct forward_problem *made, const struct forward_chain *chain,
                     struct symbols *symbols)
{
    struct problem *problem = &made->problem;
    for (size_t i = 0; i < chain->count; i++) {
        const struct chain_element *element = &chain->elements[i];
        made->rows[i] = (struct layer_row){
            .module_name = chain->parts[element->first_part].name,
            .is_forward = true,
            .memory_activations = element->activation_bytes,
        };
        problem->rows[i] = &made->rows[i];
        problem->pieces[i] = (struct piece){.first_row = i,
                                            .end_row = i + 1,
                                            .first_module = element->first_part,
                                            .end_module = element->end_part};
        set_layer(&problem->chain, chain, i);
    }
    for (size_t i = 0; i < chain->part_count; i++)
        problem->modules[i] = symbols_text(symbols, chain->parts[i].name);
    problem->row_count = chain->count;
    problem->module_count = chain->part_count;
    problem->merged = chain->joined;
    made->trace = (struct layer_trace){.rows = made->rows,
                                       .count = chain->count,
                                       .forward_count = chain->count,
                                       .symbols = symbols};
}

/* True if calls of modules keep most of the activations. Otherwise a plan that can be applied as it
 * stands is not worth making. */
bool forward_mostly_modules(const struct forward_chain *chain)
{
    int64_t kept = 0;
    for (size_t i = 0; i < chain->count; i++)
        kept += chain_is_modules(chain, i) ? chain->elements[i].activation_bytes : 0;
    return kept > chain->activation_bytes / 2;
}

/* Makes segments of calls of modules. A segment has several calls only if one line makes them one
 * after another. */
static void wrap_modules(struct problem *problem, const struct forward_chain *chain)
{
    struct chain *layers = &problem->chain;
    problem->by_calls = problem->one_level = true;
    for (size_t i = chain->count; i-- > 0;)
        layers->reach[i] = !chain_is_modules(chain, i) || chain->elements[i].splits ? (int64_t)i
                           : chain_can_join(chain, i) ? layers->reach[i + 1]
                                                      : (int64_t)i + 1;
}

bool forward_problem_create(struct forward_problem *made, const struct forward_chain *chain,
                            bool by_calls, struct symbols *symbols, struct budget *budget,
                            struct error *err)
{
    *made = (struct forward_problem){0};
    struct problem *problem = &made->problem;
    bool ok = make_room(made, chain, budget, err);
    if (ok) {
        set_rows(made, chain, symbols);
        problem->timed = chain->kernels_timed;
        problem->weighed = chain->weighed;
        if (chain->weighed)
            set_costs(problem, chain);
        if (by_calls && forward_mostly_modules(chain))
            wrap_modules(problem, chain);
        ok = chain_check(&problem->chain, err) && forward_add_options(made, chain, budget, err) &&
             chain_check(&problem->chain, err);
    }
    if (ok) {
        problem->backward_timed = chain->kernels_timed && chain->backward_ns > 0;
        problem->backward_time =
            problem->backward_timed ? chain->backward_ns : 2 * chain_forward_time(&problem->chain);
        ok = problem->backward_time < CHAIN_MOST ||
             error_set(err, STATUS_LIMIT, "the times of all layers add up to 2^50 ns or more");
    }
    if (!ok)
        forward_problem_release(made, budget);
    return ok;
}

void forward_problem_release(struct forward_problem *made, struct budget *budget)
{
    vec_free(made->operators, made->operator_capacity, sizeof(*made->operators), budget);
    vec_free(made->storages, made->storage_capacity, sizeof(*made->storages), budget);
    vec_free(made->storage_numbers, made->number_capacity, sizeof(*made->storage_numbers), budget);
    vec_free(made->rows, made->row_capacity, sizeof(*made->rows), budget);
    problem_release(&made->problem, budget);
    *made = (struct forward_problem){0};
}
