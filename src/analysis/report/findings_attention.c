/* Findings on attention that keeps, or makes, whole matrices. */
#include "analysis/report/attention.h"
#include "analysis/report/findings_internal.h"

#define LEAST_ATTENTION 5 /* in percent of the peak; smaller findings are left out */

struct attention_words {
    const char *whose, *next;
    const char *biased; /* `next` where something is added to the products; NULL: the same */
};

static const struct attention_words words_of[ATTENTION_CODES] = {
    [ATTENTION_BY_HAND] =
        {"Attention written by hand",
         "Use torch.nn.functional.scaled_dot_product_attention there (in transformers, "
         "attn_implementation=\"sdpa\"): its fused kernels keep none of these matrices.",
         "Use torch.nn.functional.scaled_dot_product_attention there (in transformers, "
         "attn_implementation=\"sdpa\"): its fused kernels keep none of these matrices. Pass what "
         "is added to the scores as attn_mask, before it is expanded to every sample and head "
         "where possible, or is_causal=True for a causal mask."},
    [ATTENTION_MULTIHEAD] =
        {"torch.nn.MultiheadAttention returns its attention weights, and so",
         "Call it with need_weights=False there: it then uses fused kernels, which keep none "
         "of these matrices.",
         NULL},
    [ATTENTION_UNFUSED] =
        {"scaled_dot_product_attention() finds no fused kernel for its arguments, and so",
         "Give it arguments that a fused kernel takes: the size of a head must be a multiple of 8 "
         "(of 4 in float32; torch.nn.functional.pad adds zeros, then pass scale=), and the kernels "
         "must not be switched off. torch.backends.cuda.can_use_efficient_attention(params, "
         "debug=True) prints what does not fit.",
         NULL},
};

static const char *next_of(const struct findings_maker *maker, enum attention_code code)
{
    return maker->is_biased && words_of[code].biased ? words_of[code].biased : words_of[code].next;
}

static bool peaks_in_backward(const struct findings_maker *maker)
{
    const struct phases *phases = maker->evidence->phases;
    int64_t item = maker->evidence->at_peak->timeline->active.peak_event;
    if (item < 0)
        return false;
    uint32_t run = phases_run_of(phases, (uint32_t)item);
    return run != NO_RUN && phases->runs[run].phase == PHASE_BACKWARD;
}

/* Reports kept matrices. In a backward pass, their gradients would not exist either, so the saving
 * is larger, but the peak may then be elsewhere. What is added to the products remains, as the
 * argument attn_mask, and may be as large. */
static bool about_kept(struct findings_maker *maker, const struct live_sum *sum,
                       const struct buffer *most, enum attention_code code)
{
    int64_t most_saved = maker->evidence->peak->active_bytes - finding_peak(maker, true);
    bool is_limited = most_saved > 0 && most_saved < sum->bytes;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_ATTENTION,
                         .save_bytes = is_limited ? most_saved : sum->bytes,
                         .at_least = !is_limited && !maker->is_biased && peaks_in_backward(maker),
                         .at_most = is_limited},
        next_of(maker, code), "%s keeps %s, for the backward pass%s.", words_of[code].whose,
        finding_amount(maker, sum->bytes).text, most->bytes);
}

/* Reports matrices of a pass that keeps nothing. */
static bool about_running(struct findings_maker *maker, const struct live_sum *sum,
                          const struct buffer *most, enum attention_code code)
{
    const struct live_set *set = maker->evidence->at_peak;
    int64_t save_bytes;
    if (!attention_saving(set->timeline, set->sites, code, &save_bytes, maker->err))
        return false;
    return save_bytes <= 0 ||
           finding_add(maker,
                       (struct finding){.kind = FINDING_ATTENTION,
                                        .save_bytes = save_bytes,
                                        .at_least = !maker->is_biased,
                                        .at_most = maker->is_biased},
                       next_of(maker, code), "%s makes matrices of %s%s.", words_of[code].whose,
                       finding_amount(maker, sum->bytes).text, most->bytes);
}

static bool about(struct findings_maker *maker, const struct live_sum *sum,
                  const struct buffer *most, enum attention_code code)
{
    if (finding_share(maker, sum->bytes) < LEAST_ATTENTION)
        return true;
    if (phases_have(maker->evidence->phases, PHASE_BACKWARD) && !maker->evidence->unused->at_peak)
        return about_kept(maker, sum, most, code);
    return about_running(maker, sum, most, code);
}

bool finding_about_attention(struct findings_maker *maker, const struct live_sum *sum,
                             const struct buffer *most)
{
    return about(maker, sum, most, ATTENTION_BY_HAND);
}

bool finding_about_multihead(struct findings_maker *maker, const struct live_sum *sum,
                             const struct buffer *most)
{
    return about(maker, sum, most, ATTENTION_MULTIHEAD);
}

bool finding_about_unfused(struct findings_maker *maker, const struct live_sum *sum,
                           const struct buffer *most)
{
    return about(maker, sum, most, ATTENTION_UNFUSED);
}
