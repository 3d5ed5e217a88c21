/* Sentences of the findings on activations at the peak: each has another way to free them. */
#include "analysis/report/findings_internal.h"

#define LEAST_ACTIVATIONS 10 /* in percent of the peak: smaller findings are left out */
#define LEAST_RUNNING     25 /* the same, of a forward pass that keeps nothing */

bool finding_about_activations(struct findings_maker *maker, const struct live_sum *sum,
                               const struct buffer *most)
{
    bool trains = phases_have(maker->evidence->phases, PHASE_BACKWARD);
    double share = finding_share(maker, sum->bytes);
    if (share < LEAST_ACTIVATIONS)
        return true;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_ACTIVATIONS, .save_bytes = sum->bytes, .at_most = true},
        trains
            ? "Recompute some of them instead of keeping them: `memsnap suggest` finds where "
              "checkpoints (torch.utils.checkpoint) cost least."
            : "No backward pass was recorded. If none follows, run the model under "
              "torch.inference_mode(); otherwise, recompute some of them (torch.utils.checkpoint).",
        trains ? "Activations that wait for the backward pass hold %s, %.1f%% of the peak%s."
               : "Activations hold %s, %.1f%% of the peak%s.",
        finding_size(maker, sum->bytes).text, share, most->bytes);
}

/* What activations of a function hold that is differentiated, with all that comes and goes with
 * them. */
static int64_t differentiated_bytes(const struct findings_maker *maker, const struct live_sum *sum)
{
    const struct live_set *set = maker->evidence->at_peak;
    return sum->bytes + finding_live_bytes(set, CATEGORY_AUTOGRAD_DETAIL) +
           finding_live_bytes(set, CATEGORY_TEMPORARY);
}

/* torch.func builds a graph of every backward pass, and refuses the hooks that checkpoints need. */
bool finding_about_transform(struct findings_maker *maker, const struct live_sum *sum,
                             const struct buffer *most)
{
    double share = finding_share(maker, sum->bytes);
    if (share < LEAST_ACTIVATIONS)
        return true;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_DERIVATIVES,
                         .save_bytes = differentiated_bytes(maker, sum),
                         .at_most = true},
        "torch.func.grad() frees nothing of it before it returns, and checkpoints do not work in "
        "it. For gradients of one loss, torch.autograd.grad() of tensors that require them frees "
        "it on the way. For gradients of each sample, pass chunk_size to torch.func.vmap().",
        "What a function that torch.func differentiates keeps, and results of its backward pass, "
        "hold %s, %.1f%% of the peak%s.",
        finding_size(maker, sum->bytes).text, share, most->bytes);
}

/* Checkpoints would recompute what the second backward pass needs, and keep as much. */
bool finding_about_derivatives(struct findings_maker *maker, const struct live_sum *sum,
                               const struct buffer *most)
{
    double share = finding_share(maker, sum->bytes);
    int64_t save = differentiated_bytes(maker, sum);
    if (share < LEAST_ACTIVATIONS)
        return true;
    return finding_add(
        maker, (struct finding){.kind = FINDING_DERIVATIVES, .save_bytes = save, .at_most = true},
        "If the loss is a sum or a mean over samples that no layer mixes, compute it for a part of "
        "the batch at a time, with its derivatives, and call backward() on each part. Checkpoints "
        "do not help: the derivatives are most of it.",
        "Derivatives made with create_graph=True, and what they are computed from, hold %s, %.1f%% "
        "of the peak, for the backward pass through them%s.",
        finding_size(maker, sum->bytes).text, share, most->bytes);
}

bool finding_about_recomputed(struct findings_maker *maker, const struct live_sum *sum,
                              const struct buffer *most)
{
    double share = finding_share(maker, sum->bytes);
    if (share < LEAST_ACTIVATIONS)
        return true;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_RECOMPUTED, .save_bytes = sum->bytes, .at_most = true},
        "A smaller checkpoint computes less again at a time. If this one spans several layers, "
        "give each layer, or every few, a checkpoint of its own; for torch.nn.Sequential, "
        "torch.utils.checkpoint.checkpoint_sequential() does.",
        "What a checkpoint computes again for the backward pass holds %s, %.1f%% of the peak%s.",
        finding_size(maker, sum->bytes).text, share, most->bytes);
}

bool finding_about_running(struct findings_maker *maker, const struct live_sum *sum,
                           const struct buffer *most)
{
    double share = finding_share(maker, sum->bytes);
    if (share < LEAST_RUNNING)
        return true;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_FORWARD_PASS, .save_bytes = sum->bytes, .at_most = true},
        "Pass a smaller batch. If no sample depends on the others, pass parts of the batch one "
        "after the other, and join their results: torch.cat([model(part) for part in "
        "batch.split(size)]).",
        "The forward pass that runs at the peak holds %s of activations, %.1f%% of the peak%s.",
        finding_size(maker, sum->bytes).text, share, most->bytes);
}
