/* Findings that depend on what is live at the peak. */
#include <stdio.h>

#include "analysis/live/sums.h"
#include "analysis/report/findings_internal.h"

/* In percent of the peak: what is less is not worth a sentence. */
#define LEAST_ACTIVATIONS 10
#define LEAST_CASTS       5
#define LEAST_STATE       15
#define LEAST_TEMPORARIES 2

/* ", most at model.py:39 forward (1.24 GiB)", or nothing. */
static bool most_at(const struct findings_maker *maker, const struct live_sum *sum,
                    struct buffer *text)
{
    if (sum->top_label.size > 0)
        buffer_printf(text, ", the most at %s (%s)", sum->top_label.bytes,
                      finding_size(maker, sum->top_bytes).text);
    else
        buffer_puts(text, "");
    return !text->failed || error_set(maker->err, STATUS_LIMIT, "out of memory while summing up");
}

static bool has_phase(const struct phases *phases, enum phase phase)
{
    for (size_t i = 0; i < phases->count; i++)
        if (phases->runs[i].phase == phase)
            return true;
    return false;
}

static bool about_activations(struct findings_maker *maker, const struct live_sum *sum,
                              const struct buffer *most)
{
    bool trains = has_phase(maker->evidence->phases, PHASE_BACKWARD);
    double share = finding_share(maker, sum->bytes);
    if (share < LEAST_ACTIVATIONS)
        return true;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_ACTIVATIONS, .save_bytes = sum->bytes, .at_most = true},
        trains ? "Compute some of them again instead of keeping them: `memsnap suggest` finds "
                 "where checkpoints (torch.utils.checkpoint) cost least."
               : "No backward pass was recorded. If none follows, run the model under "
                 "torch.inference_mode(); else checkpoints (torch.utils.checkpoint) help.",
        "Activations hold %s, %.1f%% of the peak%s.", finding_size(maker, sum->bytes).text, share,
        most->bytes);
}

static bool about_casts(struct findings_maker *maker, const struct live_sum *sum,
                        const struct buffer *most)
{
    double share = finding_share(maker, sum->bytes);
    if (share < LEAST_CASTS)
        return true;
    return finding_add(
        maker, (struct finding){.kind = FINDING_CASTS, .save_bytes = sum->bytes, .at_most = true},
        "Keep weights and activations in one dtype there, or let torch.compile fuse the "
        "conversion into what uses it.",
        "Among the activations, %s are copies in another dtype that wait for the backward "
        "pass%s.",
        finding_size(maker, sum->bytes).text, most->bytes);
}

/* The highest value of the active curve outside the optimizer's steps. */
static int64_t peak_elsewhere(const struct phase_rows *rows, int64_t baseline)
{
    int64_t peak = baseline;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].phase != PHASE_OPTIMIZER && rows->items[i].peak_bytes > peak)
            peak = rows->items[i].peak_bytes;
    return peak;
}

static bool about_optimizer_temporaries(struct findings_maker *maker, const struct live_sum *sum,
                                        const struct buffer *most)
{
    const struct evidence_of_all *evidence = maker->evidence;
    int64_t baseline = evidence->at_peak->timeline->active.baseline_bytes;
    int64_t peak = evidence->peak->active_bytes;
    int64_t save = peak - peak_elsewhere(evidence->phase_rows, baseline);
    if (save > sum->bytes)
        save = sum->bytes;
    if (finding_share(maker, save) < LEAST_TEMPORARIES)
        return true;
    return finding_add(
        maker,
        (struct finding){
            .kind = FINDING_OPTIMIZER_TEMPORARIES, .save_bytes = save, .at_most = true},
        "In torch.optim, fused=True or foreach=False avoids them; in an optimizer of your "
        "own, update the parameters one at a time and in place.",
        "The peak lies in the optimizer step, which holds %s of temporaries then%s; "
        "outside of it the peak is %s.",
        finding_size(maker, sum->bytes).text, most->bytes, finding_size(maker, peak - save).text);
}

/* What depends on how the peak is made up. */
static bool about_sums(struct findings_maker *maker)
{
    static live_test *const counts[] = {live_is_activation, live_is_cast,
                                        live_is_optimizer_temporary};
    static bool (*const about[])(struct findings_maker *, const struct live_sum *,
                                 const struct buffer *) = {about_activations, about_casts,
                                                           about_optimizer_temporaries};
    enum { COUNT = sizeof(counts) / sizeof(counts[0]) };
    struct live_sum sums[COUNT];
    if (!live_sums(maker->evidence->at_peak, maker->evidence->phases, counts, COUNT, sums,
                   maker->err))
        return false;
    bool ok = true;
    for (size_t k = 0; k < COUNT; k++) {
        struct buffer most = BUFFER_INIT;
        ok = ok && most_at(maker, &sums[k], &most) &&
             (sums[k].bytes == 0 || about[k](maker, &sums[k], &most));
        buffer_release(&most);
        live_sum_release(&sums[k]);
    }
    return ok;
}

static int64_t live_bytes(const struct live_set *set, enum category category)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < set->count; i++)
        if (live_category(set, &set->items[i]) == category)
            bytes += (int64_t)set->items[i].size;
    return bytes;
}

static bool about_state(struct findings_maker *maker)
{
    const struct live_set *set = maker->evidence->at_peak;
    int64_t state = live_bytes(set, CATEGORY_OPTIMIZER_STATE);
    int64_t parameters = live_bytes(set, CATEGORY_PARAMETER);
    double share = finding_share(maker, state);
    char ratio[48] = "";
    if (share < LEAST_STATE)
        return true;
    if (parameters > 0)
        snprintf(ratio, sizeof(ratio), ", %.1f times the parameters",
                 (double)state / (double)parameters);
    return finding_add(
        maker, (struct finding){.kind = FINDING_OPTIMIZER_STATE, .save_bytes = state / 2},
        "Shard it (FSDP, ZeroRedundancyOptimizer): over 2 ranks this saves half, over N all "
        "but 1/N. On one device, an optimizer with 8-bit states saves more.",
        "Optimizer state holds %s, %.1f%% of the peak%s.", finding_size(maker, state).text, share,
        ratio);
}

static bool about_gradients(struct findings_maker *maker)
{
    int64_t bytes = live_bytes(maker->evidence->at_peak, CATEGORY_GRADIENT);
    double share = finding_share(maker, bytes);
    if (share < LEAST_STATE)
        return true;
    return finding_add(
        maker, (struct finding){.kind = FINDING_GRADIENTS, .save_bytes = bytes, .at_most = true},
        "Apply each gradient as soon as it is whole, and free it: an optimizer step in a hook "
        "(Tensor.register_post_accumulate_grad_hook). FSDP keeps 1/N of them on each of N ranks.",
        "Gradients hold %s, %.1f%% of the peak.", finding_size(maker, bytes).text, share);
}

bool findings_of_peak(struct findings_maker *maker)
{
    return about_sums(maker) && about_state(maker) && about_gradients(maker);
}
