/* Findings on optimizer states and buffers that are live at the peak. */
#include <stdio.h>

#include "analysis/findings/findings_internal.h"
#include "analysis/findings/layer_buffers.h"
#include "analysis/findings/repeated_state.h"
#include "analysis/phase/births.h"

/* In percent of the peak; smaller findings are left out. */
#define LEAST_STATE   15
#define LEAST_BUFFERS 5

int64_t finding_live_bytes(const struct live_set *set, enum category category)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < set->count; i++)
        if (live_category(set, &set->items[i]) == category)
            bytes += (int64_t)set->items[i].size;
    return bytes;
}

bool finding_of_fsdp_program(const struct findings_maker *maker)
{
    const struct symbols *symbols = site_table_symbols(maker->evidence->at_peak->sites);
    size_t count = symbols_frame_count(symbols);
    for (size_t i = 0; i < count; i++) {
        struct text file = symbols_text(symbols, symbols_frame_at(symbols, (frame_id)i).file);
        if (text_find(file, "torch/distributed/fsdp/"))
            return true;
    }
    return false;
}

/* The bytes that steps add to lists of their own, as a scheduler may. The states of an optimizer
 * exist from its first step on and do not grow. */
static int64_t growing_state(const struct growth *growth)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < growth->row_count; i++)
        if (growth->rows[i].fit.kind == GROWTH_GROWING &&
            growth->rows[i].category == CATEGORY_OPTIMIZER_STATE)
            bytes += growth->rows[i].save_bytes + growth->rows[i].fit.bytes_per_step;
    return bytes;
}

bool finding_of_repeated_state(struct findings_maker *maker)
{
    struct repeated_state repeated;
    struct buffer line = BUFFER_INIT;
    char first[UNITS_TEXT_SIZE], second[UNITS_TEXT_SIZE];
    if (!repeated_state_find(&repeated, maker->evidence->at_peak, maker->evidence->phases,
                             maker->err))
        return false;
    if (finding_share(maker, repeated.bytes) < LEAST_SHARE)
        return true;
    stack_id stack = maker->evidence->at_peak->timeline->trace->stack[repeated.second_item];
    bool ok =
        finding_line(maker, stack, &line) &&
        finding_add(
            maker,
            (struct finding){.kind = FINDING_REPEATED_STATE,
                             .save_bytes = repeated.bytes,
                             .where = finding_where(&line)},
            "If the first optimizer is not used any more, delete it before the second is made, and "
            "everything that refers to it, such as a scheduler. Otherwise, keep using the first.",
            "Optimizer state exists twice: from event %s on, it was made again%s for the same "
            "parameters, while %s of an earlier optimizer, made from event %s on, stay allocated.",
            units_count(second, repeated.second_item), line.bytes,
            finding_size(maker, repeated.bytes).text, units_count(first, repeated.first_item));
    buffer_release(&line);
    return ok;
}

bool finding_of_layer_buffers(struct findings_maker *maker)
{
    struct layer_buffers buffers;
    struct buffer line = BUFFER_INIT;
    char count[UNITS_TEXT_SIZE];
    if (!layer_buffers_find(&buffers, maker->evidence->at_peak, maker->err))
        return false;
    double share = finding_share(maker, buffers.bytes);
    if (share < LEAST_BUFFERS)
        return true;
    int64_t each = buffers.bytes / (int64_t)buffers.count;
    bool ok = finding_line(maker, buffers.stack, &line) &&
              finding_add(maker,
                          (struct finding){.kind = FINDING_LAYER_BUFFERS,
                                           .save_bytes = buffers.bytes,
                                           .at_most = true,
                                           .where = finding_where(&line)},
                          "If they hold the same values, as a mask or a table of positions does, "
                          "make one, and assign it to all layers once the model is on the device: "
                          ".to() copies it for each. A causal mask is not needed: "
                          "scaled_dot_product_attention() takes is_causal=True.",
                          "%s buffers of %s, spread over the layers of the model%s, hold %s. No "
                          "gradient has their size.",
                          units_count(count, buffers.count), finding_size(maker, each).text,
                          line.bytes, finding_amount(maker, buffers.bytes).text);
    buffer_release(&line);
    return ok;
}

/* The bytes of optimizer state that LBFGS and SparseAdam keep. */
static bool sum_special(const struct findings_maker *maker, int64_t *history, int64_t *sparse)
{
    const struct live_set *set = maker->evidence->at_peak;
    *history = *sparse = 0;
    for (size_t i = 0; i < set->count; i++) {
        const struct stack_facts *facts =
            site_stack_facts(set->sites, set->items[i].stack, maker->err);
        if (!facts)
            return false;
        if (live_category(set, &set->items[i]) != CATEGORY_OPTIMIZER_STATE)
            continue;
        *history += facts->is_history ? (int64_t)set->items[i].size : 0;
        *sparse += facts->is_sparse_adam ? (int64_t)set->items[i].size : 0;
    }
    return true;
}

/* Reports sparse gradients of an embedding table: SparseAdam keeps two values for each weight,
 * Adagrad keeps one. */
static bool about_sparse(struct findings_maker *maker, int64_t sparse)
{
    return finding_add(
        maker, (struct finding){.kind = FINDING_OPTIMIZER_STATE, .save_bytes = sparse / 2},
        "Use torch.optim.Adagrad, which takes sparse gradients as well and keeps one value for "
        "each weight, or torch.optim.SGD without momentum, which keeps none. FSDP takes no sparse "
        "gradients, and ZeroRedundancyOptimizer does not divide a table.",
        "The state of SparseAdam holds %s: two values for each weight of a "
        "table, also in rows that no batch has read.",
        finding_amount(maker, sparse).text);
}

/* State of LBFGS that does not depend on history_size: the gradient and the direction of the last
 * iteration. As a multiple of the parameters. */
#define LAST_ITERATION 2

static bool about_history(struct findings_maker *maker, int64_t state, int64_t parameters)
{
    int64_t save = state - LAST_ITERATION * parameters;
    if (finding_share(maker, save) < LEAST_STATE)
        return true;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_OPTIMIZER_STATE, .save_bytes = save, .at_most = true},
        "Give torch.optim.LBFGS a smaller history_size (100 by default): each entry is as large as "
        "two copies of the parameters.",
        "The state of LBFGS holds %s, %.1f times the parameters. Its history "
        "grows up to history_size entries.",
        finding_amount(maker, state).text,
        (double)state / (double)(parameters > 0 ? parameters : 1));
}

static int64_t sum_factors(const struct live_set *set)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < set->count; i++)
        if (reason_of(live_reason(set, &set->items[i])) == REASON_STATE_FACTORS)
            bytes += (int64_t)set->items[i].size;
    return bytes;
}

/* Reports Kronecker factors. Hooks keep them where no wrapper of an optimizer finds them. */
static bool about_factors(struct findings_maker *maker, int64_t factors)
{
    return finding_add(
        maker,
        (struct finding){
            .kind = FINDING_OPTIMIZER_STATE, .save_bytes = factors / 2, .at_most = true},
        "Store those that are only multiplied with, such as inverses, in torch.bfloat16, which "
        "takes half as much. FSDP and ZeroRedundancyOptimizer do not shard what hooks keep.",
        "Kronecker factors of an optimizer hold %s.", finding_amount(maker, factors).text);
}

bool finding_of_state(struct findings_maker *maker)
{
    const struct live_set *set = maker->evidence->at_peak;
    int64_t state =
        finding_live_bytes(set, CATEGORY_OPTIMIZER_STATE) - growing_state(maker->evidence->growth);
    int64_t parameters = finding_live_bytes(set, CATEGORY_PARAMETER);
    double share = finding_share(maker, state);
    char ratio[48] = "";
    int64_t history, sparse;
    if (share < LEAST_STATE)
        return true;
    if (!sum_special(maker, &history, &sparse))
        return false;
    if (history > state / 2)
        return about_history(maker, state, parameters);
    if (sparse > state / 2)
        return about_sparse(maker, sparse);
    int64_t factors = sum_factors(set);
    if (factors > state / 2)
        return about_factors(maker, factors);
    if (parameters > 0)
        snprintf(ratio, sizeof(ratio), ", %.1f times the parameters",
                 (double)state / (double)parameters);
    return finding_add(
        maker, (struct finding){.kind = FINDING_OPTIMIZER_STATE, .save_bytes = state / 2},
        finding_of_fsdp_program(maker)
            ? "FSDP divides it among the ranks: with twice as many ranks, each keeps half of it. "
              "An optimizer with 8-bit states saves more."
            : "Shard it (FSDP, ZeroRedundancyOptimizer): each of N ranks then keeps 1/N of it, so "
              "2 ranks save half. On a single device, an optimizer with 8-bit states saves more.",
        "Optimizer state holds %s%s.", finding_amount(maker, state).text, ratio);
}
