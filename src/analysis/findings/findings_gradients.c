/* Findings on gradients that are live at the peak. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/findings/findings_internal.h"
#include "analysis/phase/births.h"
#include "base/bisect.h"

#define LEAST_GRADIENTS 15 /* in percent of the peak; smaller findings are left out */
#define LEAST_TABLES    5

/* Multiple of the parameters' bytes above which gradients are not explained. Gradients in single
 * precision, for parameters in half precision and for their master copies, are 3 times as large as
 * the parameters. */
#define MOST_TIMES 8

/* The sizes of the parameters, ascending; NULL if memory runs out. */
static uint64_t *parameter_sizes(const struct live_set *set, size_t *count)
{
    uint64_t *sizes = calloc(set->count + 1, sizeof(*sizes));
    *count = 0;
    for (size_t i = 0; sizes && i < set->count; i++)
        if (live_category(set, &set->items[i]) == CATEGORY_PARAMETER)
            sizes[(*count)++] = set->items[i].size;
    if (sizes)
        qsort(sizes, *count, sizeof(*sizes), compare_64);
    return sizes;
}

/* Sums up the gradients of embedding tables that are as large as a table. With sparse=True,
 * gradients only hold the rows of a batch. */
static bool sum_tables(const struct findings_maker *maker, int64_t *bytes)
{
    static const char *const nodes[] = {"EmbeddingBackward0", "EmbeddingBagBackward0"};
    const struct live_set *set = maker->evidence->at_peak;
    const struct symbols *symbols = site_table_symbols(set->sites);
    size_t count;
    uint64_t *sizes = parameter_sizes(set, &count);
    bool ok = sizes || error_out_of_memory(maker->err);
    *bytes = 0;
    for (size_t i = 0; ok && i < set->count; i++) {
        const struct live *live = &set->items[i];
        if (live_category(set, live) != CATEGORY_GRADIENT ||
            !bsearch(&live->size, sizes, count, sizeof(*sizes), compare_64))
            continue;
        const struct stack_facts *facts = site_stack_facts(set->sites, live->stack, maker->err);
        ok = facts != NULL;
        if (ok && text_is_one_of(symbols_text(symbols, facts->site.node), nodes, 2))
            *bytes += (int64_t)live->size;
    }
    free(sizes);
    return ok;
}

/* Estimates the highest number of bytes that a step looks up in tables. An EmbeddingBag adds up
 * rows before it returns them, but few have enough rows to matter. */
static bool looked_up(const struct findings_maker *maker, int64_t *bytes)
{
    static const char *const ops[] = {"aten::embedding", "aten::index_select",
                                      "aten::_embedding_bag"};
    const struct live_set *set = maker->evidence->at_peak;
    const struct timeline *timeline = set->timeline;
    const struct symbols *symbols = site_table_symbols(set->sites);
    int64_t all = 0;
    size_t steps = maker->evidence->steps->count;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t alloc = timeline->lifetimes[i].alloc;
        const struct stack_facts *facts =
            site_stack_facts(set->sites, timeline->trace->stack[alloc], maker->err);
        if (!facts)
            return false;
        if (!facts->site.has_backward &&
            text_is_one_of(symbols_text(symbols, facts->site.op), ops, 3))
            all += (int64_t)trace_size(timeline->trace, alloc);
    }
    *bytes = all / (int64_t)(steps > 0 ? steps : 1);
    return true;
}

#define FEW_ROWS 4 /* a quarter of the rows; with more, sparse gradients save little */

bool finding_of_table_gradients(struct findings_maker *maker)
{
    int64_t bytes, rows = 0;
    if (!sum_tables(maker, &bytes))
        return false;
    double share = finding_share(maker, bytes);
    if (share < LEAST_TABLES)
        return true;
    if (!looked_up(maker, &rows))
        return false;
    if (rows == 0 || rows > bytes / FEW_ROWS) /* 0: the trace has no look-up */
        return true;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_TABLE_GRADIENTS, .save_bytes = bytes, .at_most = true},
        "Make the tables with sparse=True (torch.nn.Embedding, torch.nn.EmbeddingBag): their "
        "gradients then hold only rows that the batch uses. torch.optim.SGD without weight decay, "
        "Adagrad and SparseAdam take such gradients, Adam and AdamW do not.",
        "Gradients of embedding tables hold %s, although a step looks up about "
        "%s in them.",
        finding_amount(maker, bytes).text, finding_size(maker, rows).text);
}

/* True if an optimizer frees a gradient within the backward pass, in a hook of its parameter. */
static bool is_freed_in_hook(const struct live_set *set, const struct live *live)
{
    uint32_t end = live->in_trace ? lifetime_end(&set->timeline->lifetimes[live->index])
                                  : preexisting_end(&set->timeline->preexisting[live->index]);
    struct error err; /* cannot fail, because the stack was looked up for the category */
    const struct stack_facts *facts =
        end == EVENT_NEVER ? NULL
                           : site_stack_facts(set->sites, set->timeline->trace->stack[end], &err);
    return facts && facts->site.has_backward &&
           (facts->context == CONTEXT_OPTIMIZER || facts->context == CONTEXT_ZERO_GRAD);
}

/* True for a gradient that another finding reports. */
static bool is_idle(const struct findings_maker *maker, const struct live *live)
{
    const struct idle_gradients *idle = &maker->evidence->growth->idle;
    return idle->reason != IDLE_UNKNOWN &&
           (live->in_trace ? idle->of_lifetime : idle->of_preexisting)[live->index];
}

/* True if nothing updates weights, and backward passes go through the results of others. Then the
 * program computes second derivatives, such as Hessian-vector products, and trains nothing. A trace
 * that ends before the first optimizer step may also be of training, but without such passes. */
static bool only_derives(const struct findings_maker *maker, bool *only)
{
    const struct live_set *set = maker->evidence->at_peak;
    const struct phase_rows *rows = maker->evidence->phase_rows;
    *only = false;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].phase == PHASE_OPTIMIZER && !rows->items[i].inferred)
            return true;
    if (finding_live_bytes(set, CATEGORY_OPTIMIZER_STATE) > 0)
        return true;
    for (size_t i = 0; !*only && i < set->count; i++) {
        const struct stack_facts *facts =
            site_stack_facts(set->sites, set->items[i].stack, maker->err);
        if (!facts)
            return false;
        *only = facts->site.has_backward && facts->context != CONTEXT_RECOMPUTE &&
                live_category(set, &set->items[i]) == CATEGORY_ACTIVATION;
    }
    return true;
}

/* Reports gradients that are not in .grad, from which optimizers take them. */
static bool about_derivatives(struct findings_maker *maker, int64_t bytes, int64_t parameters)
{
    return finding_add(
        maker, (struct finding){.kind = FINDING_GRADIENTS, .save_bytes = bytes, .at_most = true},
        "Compute them for a part of the batch at a time, and delete them (del) as soon as they "
        "have been used, at the latest before the next iteration.",
        "Gradients hold %s and %.1f times the parameters: most are not in .grad, but results of "
        "torch.autograd.grad(), torch.func.grad() or hooks, or intermediate results of a second "
        "derivative.",
        finding_amount(maker, bytes).text, (double)bytes / (double)parameters);
}

/* True if the program clips gradients by their norm, or unscales them. */
static bool takes_all(const struct findings_maker *maker, bool *takes)
{
    const struct live_set *set = maker->evidence->at_peak;
    const struct timeline *timeline = set->timeline;
    *takes = false;
    for (size_t i = 0; !*takes && i < timeline->lifetime_count; i++) {
        stack_id stack = timeline->trace->stack[timeline->lifetimes[i].alloc];
        const struct stack_facts *facts = site_stack_facts(set->sites, stack, maker->err);
        if (!facts)
            return false;
        *takes = facts->takes_all_gradients;
    }
    return true;
}

bool finding_of_accumulation(const struct phases *phases)
{
    size_t passes = 0, several = 0, steps = 0;
    uint32_t last = NO_RUN;
    for (size_t i = 0; i < phases->count; i++) {
        const struct phase_run *run = &phases->runs[i];
        if (run->phase == PHASE_BACKWARD && run->pass != last) {
            last = run->pass;
            passes++;
        } else if (run->phase == PHASE_OPTIMIZER && passes > 0) {
            steps++;
            several += passes > 1;
            passes = 0;
        }
    }
    return several > steps / 2;
}

#define WHOLE_TIMES 1.5 /* multiple of the bytes of parameters above which gradients are whole */

/* Reports the gradients that passes under FSDP do not reduce, so that they stay whole. */
static bool about_whole(struct findings_maker *maker, int64_t bytes, int64_t parameters)
{
    return finding_add(
        maker,
        (struct finding){
            .kind = FINDING_GRADIENTS, .save_bytes = bytes - parameters, .at_most = true},
        "FSDP keeps the whole gradients of a pass that does not reduce them: let every pass do so "
        "(set_requires_gradient_sync(True), no no_sync()). Then each of N ranks keeps 1/N of them.",
        "Gradients hold %s.", finding_amount(maker, bytes).text);
}

/* Reports the gradients that the optimizer reads, with advice to free or use them earlier. */
static bool about_used(struct findings_maker *maker, int64_t bytes, int64_t parameters)
{
    bool takes, is_fsdp = finding_of_fsdp_program(maker);
    bool accumulates = finding_of_accumulation(maker->evidence->phases);
    if (is_fsdp && accumulates && parameters > 0 &&
        (double)bytes > WHOLE_TIMES * (double)parameters)
        return about_whole(maker, bytes, parameters);
    if (!takes_all(maker, &takes))
        return false;
    char next[320];
    snprintf(next, sizeof(next), "%s %s",
             accumulates
                 ? "Several backward passes come before each optimizer step, so the gradients have "
                   "to stay until then."
             : takes ? "clip_grad_norm_() and GradScaler need all gradients of a step at once, so "
                       "no hook can free each after use."
                     : "Run the optimizer step of each parameter in a hook "
                       "(Tensor.register_post_accumulate_grad_hook), and free its gradient right "
                       "after.",
             is_fsdp ? "With twice as many ranks, each keeps half of the gradients."
                     : "With FSDP, each of N ranks keeps 1/N of the gradients.");
    return finding_add(
        maker, (struct finding){.kind = FINDING_GRADIENTS, .save_bytes = bytes, .at_most = true},
        next, "Gradients hold %s.", finding_amount(maker, bytes).text);
}

bool finding_of_gradients(struct findings_maker *maker)
{
    const struct live_set *set = maker->evidence->at_peak;
    int64_t parameters = finding_live_bytes(set, CATEGORY_PARAMETER);
    int64_t bytes = 0;
    for (size_t i = 0; i < set->count; i++)
        if (live_category(set, &set->items[i]) == CATEGORY_GRADIENT &&
            !site_is_hook_copy(set->sites, set->items[i].stack) &&
            !is_freed_in_hook(set, &set->items[i]) && !is_idle(maker, &set->items[i]))
            bytes += (int64_t)set->items[i].size;
    int64_t stored = maker->evidence->growth->gradient_save_bytes; /* no hook frees these */
    bytes -= stored < bytes ? stored : bytes;
    bool only;
    /* Without stacks, gradients are told by the sizes of weights. */
    bool are_doubtful = parameters == 0 && !maker->evidence->phases->has_stacks;
    if (are_doubtful || finding_share(maker, bytes) < LEAST_GRADIENTS)
        return true;
    if (!only_derives(maker, &only))
        return false;
    if (parameters > 0 && (only || bytes / MOST_TIMES > parameters))
        return about_derivatives(maker, bytes, parameters);
    return about_used(maker, bytes, parameters);
}
