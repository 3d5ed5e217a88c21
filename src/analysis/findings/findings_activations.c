/* Findings on activations at the peak. Each kind of activation is freed in another way. */
#include "analysis/code/recurrent.h"
#include "analysis/findings/findings_internal.h"

#define LEAST_ACTIVATIONS 10 /* in percent of the peak; smaller findings are left out */
#define LEAST_RUNNING     25 /* the same for a forward pass that keeps nothing */
#define LEAST_PLAIN       25 /* the same, of code outside a model */

/* How activations that wait for the backward pass are freed. */
static const char *next_checkpoints(const struct findings_maker *maker)
{
    if (maker->is_compiled)
        return "torch.compile chooses what it keeps, and what the backward pass recomputes. Set "
               "torch._functorch.config.activation_memory_budget = 0.5 (PyTorch 2.4 or later) "
               "before the model first runs, and it keeps about half as much. Try several values: "
               "below some, the backward pass needs more than it saves. Or record a step without "
               "torch.compile: the checkpoints of `memsnap suggest`, applied before the model is "
               "compiled, hold in the compiled code as well.";
    return "Recompute some of them instead of keeping them: `memsnap suggest` finds where "
           "checkpoints (torch.utils.checkpoint) cost least.";
}

/* The activation that makes most of a sum, or NULL if there is none: a checkpoint would make it
 * again in one piece. */
static const struct live *find_most(const struct findings_maker *maker, const struct live_sum *sum)
{
    const struct live_set *set = maker->evidence->at_peak;
    if (maker->is_compiled || sum->largest_bytes <= sum->bytes / 3 * 2)
        return NULL;
    for (size_t i = 0; i < set->count; i++)
        if ((int64_t)set->items[i].size == sum->largest_bytes &&
            live_category(set, &set->items[i]) == CATEGORY_ACTIVATION)
            return &set->items[i];
    return NULL;
}

#define SMALLER_BATCH                                                                              \
    "Checkpoints do not lower this: the backward pass would make that allocation again. Pass a "   \
    "smaller batch; to train with the same number of samples, accumulate the gradients of "        \
    "several batches."

/* Adds a finding on activations most of which is one allocation. */
static bool add_one(struct findings_maker *maker, const struct live_sum *sum,
                    const struct buffer *most, const struct live *one)
{
    const struct symbols *symbols = site_table_symbols(maker->evidence->at_peak->sites);
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_ACTIVATIONS, .save_bytes = sum->bytes, .at_most = true},
        code_is_recurrent(symbols, one->stack) ? SMALLER_BATCH " " RECURRENT_ADVICE : SMALLER_BATCH,
        "Activations that wait for the backward pass hold %s%s. Of this, %s is a single "
        "allocation.",
        finding_amount(maker, sum->bytes).text, most->bytes,
        finding_size(maker, (int64_t)one->size).text);
}

/* Adds "WHO hold 1.24 GiB, 12.0% of the peakWHY, the largest part at model.py:39 forward". */
static bool add(struct findings_maker *maker, enum finding_kind kind, int64_t save_bytes,
                const struct live_sum *sum, const struct buffer *most, const char *who,
                const char *why, const char *next)
{
    return finding_add(
        maker, (struct finding){.kind = kind, .save_bytes = save_bytes, .at_most = true}, next,
        "%s hold %s%s%s.", who, finding_amount(maker, sum->bytes).text, why, most->bytes);
}

/* True if the finding on a pass that ran out of memory is about most of a sum: calls of the model
 * that no backward pass follows, or attempts that the program gave up. */
static bool is_of_failed_pass(const struct findings_maker *maker, const struct live_sum *sum)
{
    return maker->failed.bytes > sum->bytes / 2 || maker->attempt_bytes > sum->bytes / 2;
}

bool finding_about_activations(struct findings_maker *maker, const struct live_sum *sum,
                               const struct buffer *most)
{
    bool trains = phases_have(maker->evidence->phases, PHASE_BACKWARD);
    if (finding_share(maker, sum->bytes) < LEAST_ACTIVATIONS || is_of_failed_pass(maker, sum))
        return true;
    const char *who = trains ? "Activations that wait for the backward pass"
                      : finding_fails_at_logits(maker)
                          ? "Activations, without the logits and the loss,"
                          : "Activations";
    const struct live *one = trains ? find_most(maker, sum) : NULL;
    if (one)
        return add_one(maker, sum, most, one);
    return add(maker, FINDING_ACTIVATIONS, sum->bytes, sum, most, who, "",
               trains ? next_checkpoints(maker)
                      : "No backward pass was recorded. If none follows, run the model under "
                        "torch.inference_mode(); otherwise, recompute some of them "
                        "(torch.utils.checkpoint).");
}

bool finding_about_beside_logits(struct findings_maker *maker, const struct live_sum *sum,
                                 const struct buffer *most)
{
    if (finding_share(maker, sum->bytes) < LEAST_ACTIVATIONS || is_of_failed_pass(maker, sum))
        return true;
    return add(maker, FINDING_ACTIVATIONS, sum->bytes, sum, most,
               "Activations that wait for the backward pass, without the logits and the loss,", "",
               next_checkpoints(maker));
}

/* The sum of activations of a function that torch.func or create_graph=True differentiates, with
 * what is freed together with them. */
static struct live_sum with_results(const struct findings_maker *maker, const struct live_sum *sum)
{
    const struct live_set *set = maker->evidence->at_peak;
    struct live_sum all = *sum;
    all.bytes += finding_live_bytes(set, CATEGORY_AUTOGRAD_DETAIL) +
                 finding_live_bytes(set, CATEGORY_TEMPORARY);
    return all;
}

/* torch.func builds a graph of every backward pass, and refuses the hooks that checkpoints need. */
bool finding_about_transform(struct findings_maker *maker, const struct live_sum *sum,
                             const struct buffer *most)
{
    if (finding_share(maker, sum->bytes) < LEAST_ACTIVATIONS)
        return true;
    struct live_sum all = with_results(maker, sum);
    return add(
        maker, FINDING_DERIVATIVES, all.bytes, &all, most,
        "Activations of a function that torch.func differentiates, and results of its backward "
        "pass,",
        "",
        "torch.func.grad() frees none of this memory before it returns, and checkpoints do not "
        "work inside it. For gradients of one loss, call torch.autograd.grad() on tensors that "
        "require gradients: it frees the memory on the way. For gradients of each sample, pass "
        "chunk_size to torch.func.vmap().");
}

/* Checkpoints would recompute what the second backward pass needs, and keep as much. */
bool finding_about_derivatives(struct findings_maker *maker, const struct live_sum *sum,
                               const struct buffer *most)
{
    if (finding_share(maker, sum->bytes) < LEAST_ACTIVATIONS)
        return true;
    struct live_sum all = with_results(maker, sum);
    return add(
        maker, FINDING_DERIVATIVES, all.bytes, &all, most,
        "Derivatives made with create_graph=True, the activations that they come from, and results "
        "of the backward pass",
        ", for the backward pass through them",
        "If the loss is a sum or a mean over samples that no layer mixes, compute it for a part of "
        "the batch at a time, with its derivatives, and call backward() on each part. Checkpoints "
        "do not help: the derivatives are most of it.");
}

bool finding_about_recomputed(struct findings_maker *maker, const struct live_sum *sum,
                              const struct buffer *most)
{
    if (finding_share(maker, sum->bytes) < LEAST_ACTIVATIONS)
        return true;
    return add(
        maker, FINDING_RECOMPUTED, sum->bytes, sum, most,
        "Activations that the backward pass has recomputed", "",
        "Recompute less at a time. If a checkpoint spans several layers, give each layer, or "
        "every few, a checkpoint of its own; for torch.nn.Sequential, "
        "torch.utils.checkpoint.checkpoint_sequential() does. If a backward() of your own "
        "recomputes them, run parts of it under torch.utils.checkpoint.");
}

bool finding_about_layer_results(struct findings_maker *maker, const struct live_sum *sum,
                                 const struct buffer *most)
{
    if (finding_share(maker, sum->bytes) < LEAST_ACTIVATIONS)
        return true;
    return add(
        maker, FINDING_LAYER_RESULTS, sum->bytes, sum, most,
        "Results of layers that the program holds until the forward pass is over, or longer,", "",
        "No backward pass needs them. If nothing reads them, such as attention weights "
        "that are returned for inspection, let the layers return less, or drop each result "
        "when the next layer has run; libraries have options for this, such as "
        "output_attentions=False.");
}

bool finding_about_running(struct findings_maker *maker, const struct live_sum *sum,
                           const struct buffer *most)
{
    if (finding_share(maker, sum->bytes) < LEAST_RUNNING)
        return true;
    return add(
        maker, FINDING_FORWARD_PASS, sum->bytes, sum, most,
        "Activations of the forward pass that runs at the peak", "",
        "Pass a smaller batch. If no sample depends on the others, pass parts of the batch one "
        "after the other, and join their results: torch.cat([model(part) for part in "
        "batch.split(size)]).");
}

bool finding_about_plain_results(struct findings_maker *maker, const struct live_sum *sum,
                                 const struct buffer *most)
{
    if (finding_share(maker, sum->bytes) < LEAST_PLAIN)
        return true;
    return add(
        maker, FINDING_PLAIN_RESULTS, sum->bytes, sum, most,
        phases_have(maker->evidence->phases, PHASE_BACKWARD)
            ? "Temporary results of code outside any torch.nn.Module"
            : "Results of code outside any torch.nn.Module",
        "",
        "Where rows do not depend on one another, compute a part of them at a time, and keep only "
        "what is needed of each part. "
        "Delete what no later line reads (del NAME), and let elementwise operations write into "
        "their input (add_(), masked_fill_()).");
}
