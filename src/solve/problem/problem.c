#include "solve/problem/problem.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/hash.h"

struct builder {
    struct problem *problem;
    const struct layer_trace *trace;
    const struct cuts *cuts;
    struct tree tree;
    bool matched; /* CUT_PATTERN: some module */
    struct budget *budget;
};

/* True for the row of a module with children, if its own code ran nothing. */
static bool did_nothing(const struct layer_row *row)
{
    return !layer_is_leaf(row) && row->reads.count == 0 && row->saves.count == 0 &&
           row->forward_us == 0 && row->gradient_bytes == 0;
}

/* Calls `add` for the names of the forward rows. */
static bool add_names(struct builder *builder,
                      bool (*add_name)(struct tree *tree, struct text name, bool is_leaf,
                                       struct error *err),
                      struct error *err)
{
    const struct problem *problem = builder->problem;
    string_id last = STRING_EMPTY;
    for (size_t i = 0; i < problem->row_count; i++) {
        const struct layer_row *row = problem->rows[i];
        if (row->module_name != last &&
            !add_name(&builder->tree, layer_name(builder->trace, row), layer_is_leaf(row), err))
            return false;
        last = row->module_name;
    }
    return true;
}

/* The modules that were called: what is not, such as a ModuleDict, has no checkpoint. */
static bool add_calls(struct builder *builder, struct error *err)
{
    const struct layer_trace *trace = builder->trace;
    for (size_t i = 0; i < trace->count && builder->problem->recorded; i++)
        if (trace->rows[i].is_forward && layer_has(&trace->rows[i], LAYER_PLAIN) &&
            !tree_add_call(&builder->tree, layer_name(trace, &trace->rows[i]), err))
            return false;
    return true;
}

static bool collect_rows(struct builder *builder, struct error *err)
{
    struct problem *problem = builder->problem;
    const struct layer_trace *trace = builder->trace;
    for (size_t i = 0; i < trace->count; i++) {
        const struct layer_row *row = &trace->rows[i];
        if (!row->is_forward || (problem->recorded && did_nothing(row)))
            continue;
        if (!vec_grow((void **)&problem->rows, &problem->row_capacity, problem->row_count + 1,
                      sizeof(struct layer_row *), builder->budget, err))
            return false;
        problem->rows[problem->row_count++] = row;
    }
    if (problem->row_count == 0)
        return error_set(err, STATUS_BAD_INPUT,
                         "the layer trace has no forward events: no module ran");
    return builder->cuts->kind != CUT_BLOCKS ||
           (add_names(builder, tree_add_stems, err) && add_names(builder, tree_add, err) &&
            add_calls(builder, err));
}

/* True if a call of the module of the row before ended after that row began. */
static bool is_another_call(const struct builder *builder, size_t row)
{
    const struct problem *problem = builder->problem;
    struct text module = problem->modules[problem->module_count - 1];
    return problem->recorded && module.size > 0 &&
           problem_call_ends(builder->trace, problem->rows[row - 1], problem->rows[row], module);
}

/* Finds the module of a row, and whether a piece begins with the row. A row outside all modules
 * (CUT_PATTERN) joins the row before it if that is outside, too; the piece is then named after the
 * row. */
static bool add_module(struct builder *builder, size_t row, bool *begins, bool *outside,
                       struct error *err)
{
    struct problem *problem = builder->problem;
    struct text name = layer_name(builder->trace, problem->rows[row]);
    size_t size = cuts_module(builder->cuts, &builder->tree, name);
    bool was_outside = *outside;
    builder->matched |= size > 0;
    *outside = size == 0 && name.size > 0;
    name.size = *outside ? name.size : size;
    bool same = problem->module_count > 0 &&
                text_same(name, problem->modules[problem->module_count - 1]) &&
                !is_another_call(builder, row);
    *begins = row == 0 || (!same && !(*outside && was_outside)) || (was_outside && !*outside);
    if (same && !*begins)
        return true;
    return vec_push(problem->modules, problem->module_count, problem->module_capacity,
                    builder->budget, err, name);
}

static bool add_piece(struct builder *builder, size_t row, size_t module, struct error *err)
{
    struct problem *problem = builder->problem;
    size_t count = problem->chain.layers;
    if (!vec_reserve(problem->pieces, problem->piece_capacity, count + 1, builder->budget, err))
        return false;
    problem->pieces[count] = (struct piece){
        .first_row = row, .end_row = row, .first_module = module, .end_module = module};
    problem->chain.layers++;
    return true;
}

static bool has_activations(const struct problem *problem, const struct piece *piece)
{
    for (size_t row = piece->first_row; row < piece->end_row; row++)
        if (problem->rows[row]->memory_activations > 0)
            return true;
    return false;
}

/* Until the sizes are known, chain.layers is the number of pieces. */
static bool divide(struct builder *builder, struct error *err)
{
    struct problem *problem = builder->problem;
    bool begins = true, outside = false;
    for (size_t row = 0; row < problem->row_count; row++) {
        size_t module = problem->module_count;
        if (!add_module(builder, row, &begins, &outside, err) ||
            (begins && !add_piece(builder, row, module, err)))
            return false;
        struct piece *piece = &problem->pieces[problem->chain.layers - 1];
        piece->end_row = row + 1;
        piece->end_module = problem->module_count;
    }
    return true;
}

/* Merges pieces without activations into the previous one or, at the beginning, into the next. */
static void join_empty(struct problem *problem)
{
    size_t kept = 0;
    for (size_t i = 0; i < problem->chain.layers; i++) {
        struct piece piece = problem->pieces[i], *last = &problem->pieces[kept - (kept > 0)];
        bool join = kept > 0 && (!has_activations(problem, &piece) ||
                                 (kept == 1 && !has_activations(problem, last)));
        if (!join) {
            problem->pieces[kept++] = piece;
            continue;
        }
        last->end_row = piece.end_row;
        last->end_module = piece.end_module;
    }
    problem->chain.layers = kept;
}

static void join_many(struct problem *problem, size_t most)
{
    size_t count = problem->chain.layers;
    if (count <= most)
        return;
    for (size_t k = 0; k < most; k++) {
        size_t from = count * k / most, last = count * (k + 1) / most - 1;
        struct piece piece = problem->pieces[from];
        piece.end_row = problem->pieces[last].end_row;
        piece.end_module = problem->pieces[last].end_module;
        problem->pieces[k] = piece;
    }
    problem->merged = count;
    problem->chain.layers = most;
}

/* Counts modules by hash, for a remark in the report. What recorded layers run outside of any
 * module has no name and does not count. */
static bool count_revisited(struct builder *builder, struct error *err)
{
    struct problem *problem = builder->problem;
    size_t count = problem->module_count, bytes = count * sizeof(uint64_t);
    if (!budget_take(builder->budget, bytes, err))
        return false;
    uint64_t *hashes = malloc(bytes);
    if (hashes) {
        uint64_t root = hash_bytes("", 0, builder->tree.seed);
        for (size_t i = 0; i < count; i++)
            hashes[i] =
                hash_bytes(problem->modules[i].bytes, problem->modules[i].size, builder->tree.seed);
        qsort(hashes, count, sizeof(*hashes), compare_64);
        for (size_t i = 1; i < count; i++)
            problem->revisited += hashes[i] == hashes[i - 1] &&
                                  !(problem->recorded && hashes[i] == root) &&
                                  (i < 2 || hashes[i] != hashes[i - 2]);
    }
    free(hashes);
    budget_give(builder->budget, bytes);
    return hashes || error_out_of_memory(err);
}

static void set_timed(struct problem *problem)
{
    size_t timed = 0;
    for (size_t i = 0; i < problem->row_count; i++)
        timed += layer_has(problem->rows[i], LAYER_FORWARD_US);
    problem->timed = timed == problem->row_count;
    problem->partly_timed = timed > 0 && !problem->timed;
}

/* Total backward time recorded in the rows of one pass. */
struct backward {
    size_t rows, timed;
    double us;
};

static struct backward backward_of(const struct layer_trace *trace, bool forward)
{
    struct backward sum = {0};
    for (size_t i = 0; i < trace->count; i++) {
        const struct layer_row *row = &trace->rows[i];
        if (row->is_forward != forward)
            continue;
        sum.rows++;
        if (layer_has(row, LAYER_BACKWARD_US)) {
            sum.timed++;
            sum.us += row->backward_us;
        }
    }
    return sum;
}

static bool has_times(const struct backward *sum)
{
    return sum->rows > 0 && sum->timed == sum->rows;
}

/* Either pass may record the time, but then all of its rows must. */
static bool set_backward_time(struct builder *builder, struct error *err)
{
    struct problem *problem = builder->problem;
    struct backward forward = backward_of(builder->trace, true);
    struct backward backward = backward_of(builder->trace, false);
    bool known = has_times(&forward) || has_times(&backward);
    double sum = has_times(&forward) ? forward.us : backward.us;
    problem->backward_timed = problem->timed && known;
    problem->partly_backward = !known && forward.timed + backward.timed > 0;
    problem->backward_time = 2 * chain_forward_time(&problem->chain);
    if (!problem->backward_timed)
        return true;
    if (sum * NANOSECONDS >= (double)CHAIN_MOST)
        return error_set(err, STATUS_LIMIT, "the times of all layers add up to 2^50 ns or more");
    problem->backward_time = (int64_t)(sum * NANOSECONDS + 0.5);
    return true;
}

/* Reports names that a pattern could have matched. Returns false. */
static bool explain_unmatched(const struct builder *builder, struct error *err)
{
    const struct cuts blocks = {.kind = CUT_BLOCKS};
    struct problem problem;
    if (!problem_create(&problem, builder->trace, &blocks, SIZE_MAX, builder->budget, err))
        return false;
    cuts_unmatched("granularity", builder->cuts->pattern, "module", problem.modules,
                   problem.module_count, err);
    problem_release(&problem, builder->budget);
    return false;
}

static bool build(struct builder *builder, size_t most, struct error *err)
{
    struct problem *problem = builder->problem;
    problem->recorded = (builder->trace->facts.present >> FACT_SCHEMA & 1) != 0;
    problem->one_level = problem->recorded;
    if (!collect_rows(builder, err) || !divide(builder, err))
        return false;
    if (builder->cuts->kind == CUT_PATTERN && !builder->matched)
        return explain_unmatched(builder, err);
    if (!problem->recorded)
        join_empty(problem);
    join_many(problem, most);
    if (problem->recorded && !problem_find_turns(problem, builder->trace, builder->budget, err))
        return false;
    set_timed(problem);
    size_t layers = problem->chain.layers;
    problem->chain.layers = 0;
    return count_revisited(builder, err) &&
           chain_create(&problem->chain, layers, builder->budget, err) &&
           (problem->recorded ? problem_set_recorded(problem, builder->trace, builder->budget, err)
                              : problem_set_sizes(problem, err)) &&
           chain_check(&problem->chain, err) && set_backward_time(builder, err);
}

bool problem_create(struct problem *problem, const struct layer_trace *trace,
                    const struct cuts *cuts, size_t most, struct budget *budget, struct error *err)
{
    struct problem made = {0};
    struct builder builder = {.problem = &made, .trace = trace, .cuts = cuts, .budget = budget};
    tree_init(&builder.tree, budget);
    bool ok = build(&builder, most, err);
    tree_release(&builder.tree);
    if (ok)
        *problem = made;
    else
        problem_release(&made, budget);
    return ok;
}

void problem_release(struct problem *problem, struct budget *budget)
{
    vec_free(problem->rows, problem->row_capacity, sizeof(*problem->rows), budget);
    vec_free(problem->modules, problem->module_capacity, sizeof(*problem->modules), budget);
    vec_free(problem->pieces, problem->piece_capacity, sizeof(*problem->pieces), budget);
    chain_release(&problem->chain, budget);
    *problem = (struct problem){0};
}

size_t problem_piece_of(const struct problem *problem, size_t row)
{
    size_t low = 0, high = problem->chain.layers;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (problem->pieces[middle].first_row <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}
