/* Findings on attention that keeps, or makes, whole matrices. */
#include "analysis/findings/attention.h"
#include "analysis/findings/findings_internal.h"

#define LEAST_ATTENTION 5 /* in percent of the peak; smaller findings are left out */

struct attention_words {
    const char *whose, *next;
    const char *biased; /* `next` where something is added to the products; NULL: the same */
};

static const struct attention_words words_of[ATTENTION_CODES] = {
    [ATTENTION_BY_HAND] =
        {"Attention written by hand",
         "Use torch.nn.functional.scaled_dot_product_attention there (in transformers, "
         "attn_implementation=\"sdpa\", if the model takes it): its fused kernels keep none of "
         "these matrices.",
         "Use torch.nn.functional.scaled_dot_product_attention there (in transformers, "
         "attn_implementation=\"sdpa\", if the model takes it): its fused kernels keep none of "
         "these matrices. Pass what "
         "is added to the scores as attn_mask, before it is expanded to every sample and head "
         "where possible, or is_causal=True for a causal mask."},
    [ATTENTION_MULTIHEAD] =
        {"torch.nn.MultiheadAttention returns its attention weights, and so",
         "Call it with need_weights=False there: it then uses fused kernels, which keep none "
         "of these matrices.",
         NULL},
    [ATTENTION_UNFUSED] =
        {"scaled_dot_product_attention() finds no fused kernel for its arguments, and so",
         "Give it arguments that a fused kernel takes: they must have four dimensions, (batch, "
         "heads, length, size), so flatten further ones into the first; the size of a head must be "
         "a multiple of 8 (of 4 in float32; torch.nn.functional.pad adds zeros, then pass scale=), "
         "and the kernels must not be switched off. "
         "torch.backends.cuda.can_use_efficient_attention(params, debug=True) prints what does not "
         "fit.",
         NULL},
};

/* What helps where query heads share keys and values, and the version of PyTorch can do so with
 * flash attention only. */
static const char grouped[] =
    "With this version of PyTorch, enable_gqa=True rules out the fused kernel that takes float32 "
    "and any attn_mask. Leave it out and repeat the heads of the keys and values, "
    "key.repeat_interleave(query.size(-3) // key.size(-3), -3); or pass float16 or bfloat16 "
    "without attn_mask.";

/* True if scaled_dot_product_attention() has itself repeated keys or values for groups of query
 * heads, because no fused kernel does without. */
static bool repeats_heads(const struct findings_maker *maker)
{
    const struct live_set *set = maker->evidence->at_peak;
    const struct symbols *symbols = site_table_symbols(set->sites);
    for (size_t i = 0; i < set->count; i++) {
        struct error err; /* cannot fail: the stacks were looked up before */
        const struct stack_facts *facts = site_stack_facts(set->sites, set->items[i].stack, &err);
        if (!facts || facts->attention != ATTENTION_UNFUSED)
            continue;
        struct stack stack = symbols_stack_at(symbols, set->items[i].stack);
        for (size_t k = 0; k < stack.count; k++)
            if (text_starts(symbols_text(symbols, symbols_frame_at(symbols, stack.frames[k]).name),
                            "at::_ops::repeat_interleave"))
                return true;
    }
    return false;
}

static const char *next_of(const struct findings_maker *maker, enum attention_code code)
{
    if (code == ATTENTION_UNFUSED && repeats_heads(maker))
        return grouped;
    return maker->is_biased && words_of[code].biased ? words_of[code].biased : words_of[code].next;
}

/* Sets `*made` if the backward pass of attention has made a gradient of such a matrix at the peak.
 */
static bool find_gradient(const struct findings_maker *maker, const struct live_sum *matrices,
                          bool *made)
{
    static const char *const nodes[] = {"BmmBackward0", "BaddbmmBackward0", "SoftmaxBackward0",
                                        "MaskedFillBackward0", "NativeDropoutBackward0"};
    const struct live_set *set = maker->evidence->at_peak;
    *made = false;
    for (size_t i = 0; !*made && i < set->count; i++) {
        if ((int64_t)set->items[i].size != matrices->largest_bytes)
            continue;
        const struct stack_facts *facts =
            site_stack_facts(set->sites, set->items[i].stack, maker->err);
        if (!facts)
            return false;
        *made = text_is_one_of(symbols_text(site_table_symbols(set->sites), facts->site.node),
                               nodes, sizeof(nodes) / sizeof(nodes[0]));
    }
    return true;
}

/* Reports kept matrices. If the backward pass has made gradients of them, those would not exist
 * either, so the saving is larger. Otherwise it is a little smaller, because fused kernels keep a
 * number for each row. What is added to the products remains, as the argument attn_mask, and may be
 * as large. */
static bool about_kept(struct findings_maker *maker, const struct live_sum *sum,
                       const struct buffer *most, enum attention_code code)
{
    int64_t most_saved = maker->evidence->peak->active_bytes - finding_peak(maker, true);
    bool is_limited = most_saved > 0 && most_saved < sum->bytes, has_gradient;
    if (!find_gradient(maker, sum, &has_gradient))
        return false;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_ATTENTION,
                         .save_bytes = is_limited ? most_saved : sum->bytes,
                         .at_least = !is_limited && !maker->is_biased && has_gradient,
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
    if (!attention_saving(maker->evidence->attention, set->timeline, set->sites, code, &save_bytes,
                          maker->err))
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
