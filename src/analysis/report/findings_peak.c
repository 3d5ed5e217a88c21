/* Findings on the memory that is live at the peak, by what it is kept for. */
#include "analysis/report/findings_internal.h"

#include "analysis/growth/pass_results.h"
#include "analysis/live/sums.h"
#include "analysis/report/attention.h"
#include "analysis/report/elementwise.h"
#include "analysis/report/logits.h"

/* In percent of the peak: smaller findings are left out. */
#define LEAST_ACTIVATIONS 10
#define LEAST_CASTS       5
#define LEAST_ATTENTION   5
#define LEAST_ELEMENTWISE 5
#define LEAST_RESULTS     5
#define LEAST_DATA        10
#define LEAST_LOGITS      15

#define LOOP_TEMPORARIES 2 /* of the size of a parameter, that Adam's loop over them makes */

#define FEW_RESULTS                                                                                \
    3 /* of passes: fewer are the results of the running one, and the one before                   \
       */

#define GRAPH_TENSORS 16 /* at least, that look as if an autograd graph kept them */

/* Adds ", the largest part at model.py:39 forward (1.24 GiB)" if a call site is known. */
static bool most_at(const struct findings_maker *maker, const struct live_sum *sum,
                    struct buffer *text)
{
    if (sum->top_label.size > 0)
        buffer_printf(text, ", the largest part at %s (%s)", sum->top_label.bytes,
                      finding_size(maker, sum->top_bytes).text);
    else
        buffer_puts(text, "");
    return !text->failed || error_out_of_memory(maker->err);
}

/* Fills in where the moment lies among the backward passes. */
static void place(const struct phases *phases, int64_t item, struct live_facts *facts)
{
    facts->is_last_pass = true;
    for (size_t i = 0; i < phases->count; i++) {
        if (phases->runs[i].phase != PHASE_BACKWARD)
            continue;
        if ((int64_t)phases->runs[i].first > item)
            facts->is_last_pass = false;
        else if (i + 1 < phases->count && (int64_t)phases->runs[i + 1].first <= item)
            facts->last_pass = phases->runs[i].first;
    }
}

static bool about_activations(struct findings_maker *maker, const struct live_sum *sum,
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

static bool about_dropped(struct findings_maker *maker, const struct live_sum *sum,
                          const struct buffer *most)
{
    int64_t save = maker->evidence->dropped->save_bytes;
    if (finding_share(maker, save) < LEAST_SHARE)
        return true;
    return finding_add(
        maker, (struct finding){.kind = FINDING_NO_GRAD, .save_bytes = save, .at_least = true},
        "Call the model there under torch.no_grad() or torch.inference_mode().",
        "At the peak, autograd keeps %s for a backward pass that never comes%s.",
        finding_size(maker, sum->bytes).text, most->bytes);
}

static bool about_kept_results(struct findings_maker *maker, const struct live_sum *sum,
                               const struct buffer *most)
{
    const struct kept_results *kept = maker->evidence->kept;
    bool keeps_graph = kept->graph_bytes > kept->at_peak_bytes / 2;
    if (finding_share(maker, kept->save_bytes) < LEAST_SHARE)
        return true;
    return finding_add(
        maker,
        (struct finding){
            .kind = FINDING_KEPT_RESULTS, .save_bytes = kept->save_bytes, .at_most = true},
        keeps_graph
            ? "Most of it belongs to a graph that the backward pass did not free: leave "
              "retain_graph=True out of the last backward pass through it. Unless the next step "
              "needs them, delete these variables at the end of the step (del NAME), or move the "
              "body of the loop into a function."
            : "Unless the next step needs them, delete these variables at the end of the step (del "
              "NAME), or move the body of the loop into a function.",
        "At the peak, variables still hold %s of the step before%s; they are freed only when the "
        "same code sets them again.",
        finding_size(maker, sum->bytes).text, most->bytes);
}

/* The peak of the active curve, of optimizer steps or of everything else. */
static int64_t peak_of(const struct findings_maker *maker, bool in_optimizer)
{
    const struct phase_rows *rows = maker->evidence->phase_rows;
    int64_t peak = maker->evidence->at_peak->timeline->active.baseline_bytes;
    for (size_t i = 0; i < rows->count; i++) {
        const struct phase_row *row = &rows->items[i];
        if ((row->phase == PHASE_OPTIMIZER) == in_optimizer && row->peak_bytes > peak)
            peak = row->peak_bytes;
    }
    return peak;
}

/* Without the matrices there are none of their temporaries either, so the saving is larger; but the
 * peak may then lie elsewhere. */
static bool about_matrices(struct findings_maker *maker, const struct live_sum *sum,
                           const struct buffer *most, const char *whose, const char *next)
{
    double share = finding_share(maker, sum->bytes);
    int64_t most_saved = maker->evidence->peak->active_bytes - peak_of(maker, true);
    bool is_limited = most_saved > 0 && most_saved < sum->bytes;
    if (share < LEAST_ATTENTION)
        return true;
    return finding_add(maker,
                       (struct finding){.kind = FINDING_ATTENTION,
                                        .save_bytes = is_limited ? most_saved : sum->bytes,
                                        .at_least = !is_limited,
                                        .at_most = is_limited},
                       next, "%s keeps %s, %.1f%% of the peak, for the backward pass%s.", whose,
                       finding_size(maker, sum->bytes).text, share, most->bytes);
}

static bool about_multihead(struct findings_maker *maker, const struct live_sum *sum,
                            const struct buffer *most)
{
    return about_matrices(
        maker, sum, most, "torch.nn.MultiheadAttention returns its attention weights, and so",
        "Call it with need_weights=False there: it then uses fused kernels, which keep none of "
        "these matrices.");
}

static bool about_attention(struct findings_maker *maker, const struct live_sum *sum,
                            const struct buffer *most)
{
    return about_matrices(
        maker, sum, most, "Attention written by hand",
        "Use torch.nn.functional.scaled_dot_product_attention there (in transformers, "
        "attn_implementation=\"sdpa\"): its fused kernels keep none of these matrices.");
}

static bool about_logits(struct findings_maker *maker, const struct live_sum *sum,
                         const struct buffer *most)
{
    double share = finding_share(maker, sum->bytes);
    if (share < LEAST_LOGITS)
        return true;
    return finding_add(
        maker, (struct finding){.kind = FINDING_LOGITS, .save_bytes = sum->bytes, .at_most = true},
        maker->evidence->unused->at_peak
            ? "Apply the last layer and the loss to a part of the tokens at a time, and add up the "
              "losses: then only one part of the logits exists at a time."
            : "Apply the last layer and the loss to a part of the tokens at a time, each part "
              "under torch.utils.checkpoint, and add up the losses: then only one part of the "
              "logits exists at a time.",
        "Logits, the loss over them and their gradients hold %s, %.1f%% of the peak%s.",
        finding_size(maker, sum->bytes).text, share, most->bytes);
}

static bool about_pass_results(struct findings_maker *maker, const struct live_sum *sum,
                               const struct buffer *most)
{
    char count[UNITS_TEXT_SIZE];
    if (sum->count < FEW_RESULTS || finding_share(maker, sum->bytes) < LEAST_RESULTS)
        return true;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_PASS_RESULTS, .save_bytes = sum->bytes, .at_most = true},
        "Move each to the host (tensor.cpu()) before it is stored, or store less of it, such as "
        "scores.argmax(-1).",
        "%s results of forward passes that kept no graph, as in an evaluation, hold %s%s.",
        units_count(count, sum->count), finding_size(maker, sum->bytes).text, most->bytes);
}

static bool about_resident_data(struct findings_maker *maker, const struct live_sum *sum,
                                const struct buffer *most)
{
    double share = finding_share(maker, sum->bytes);
    if (share < LEAST_DATA)
        return true;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_RESIDENT_DATA, .save_bytes = sum->bytes, .at_most = true},
        "If it is the data set or a replay buffer, keep it in host memory, pinned "
        "(tensor.pin_memory()), and copy one batch at a time to the device.",
        "Data that the program makes before training and keeps hold %s, %.1f%% of the peak%s.",
        finding_size(maker, sum->bytes).text, share, most->bytes);
}

static bool about_elementwise(struct findings_maker *maker, const struct live_sum *sum,
                              const struct buffer *most)
{
    double share = finding_share(maker, sum->bytes);
    if (share < LEAST_ELEMENTWISE)
        return true;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_ELEMENTWISE, .save_bytes = sum->bytes, .at_most = true},
        "Use a fused operator there (torch.nn.functional has gelu, silu, rms_norm, layer_norm and "
        "others), or run the function under torch.utils.checkpoint or torch.compile.",
        "Functions that call one elementwise operator after the other keep %s of intermediate "
        "results, %.1f%% of the peak, for the backward pass%s.",
        finding_size(maker, sum->bytes).text, share, most->bytes);
}

static bool about_casts(struct findings_maker *maker, const struct live_sum *sum,
                        const struct buffer *most)
{
    double share = finding_share(maker, sum->bytes);
    if (share < LEAST_CASTS)
        return true;
    return finding_add(
        maker, (struct finding){.kind = FINDING_CASTS, .save_bytes = sum->bytes, .at_most = true},
        "Use one dtype for weights and activations there, or let torch.compile fuse the "
        "conversion into the operator that uses it.",
        "Of the activations, %s are copies converted to another dtype and kept for the "
        "backward pass%s.",
        finding_size(maker, sum->bytes).text, most->bytes);
}

static bool about_optimizer_temporaries(struct findings_maker *maker, const struct live_sum *sum,
                                        const struct buffer *most)
{
    const struct evidence_of_all *evidence = maker->evidence;
    int64_t peak = evidence->peak->active_bytes;
    int64_t save = peak - peak_of(maker, false);
    if (save > sum->bytes)
        save = sum->bytes;
    if (finding_share(maker, save) < LEAST_SHARE)
        return true;
    bool one_is_too_large = sum->bytes / LOOP_TEMPORARIES <= sum->largest_bytes;
    return finding_add(
        maker,
        (struct finding){
            .kind = FINDING_OPTIMIZER_TEMPORARIES, .save_bytes = save, .at_most = true},
        one_is_too_large
            ? "In torch.optim, fused=True in Adam, AdamW and SGD avoids them. foreach=False does "
              "not: one parameter has most of them. In your own optimizer, update in place."
            : "In torch.optim, foreach=False avoids most of them, and fused=True in Adam, AdamW "
              "and SGD all; in your own optimizer, update the parameters one at a time and in "
              "place.",
        "The peak is in the optimizer step, which holds %s of temporaries at that moment%s. "
        "Outside the optimizer step, the peak is %s.",
        finding_size(maker, sum->bytes).text, most->bytes, finding_size(maker, peak - save).text);
}

/* The parts of the peak that are summed in one pass. */
enum {
    SUM_DROPPED,
    SUM_KEPT,
    SUM_ACTIVATIONS,
    SUM_MAY_HAVE_GRAPH,
    SUM_ATTENTION,
    SUM_MULTIHEAD,
    SUM_LOGITS,
    SUM_RESULTS,
    SUM_DATA,
    SUM_ELEMENTWISE,
    SUM_CASTS,
    SUM_TEMPORARIES,
    SUM_WITHOUT_GRAD,
    SUM_INFERENCE_MODE,
    SUMS,
};

_Static_assert((int)SUMS <= LIVE_SUMS_MOST, "live_sums() takes no more questions");

/* Activations, if a backward pass needs them. Without one in the trace, only what looks like the
 * tensors of a graph: many, from many lines. Results and caches are few, or of few lines. */
static const struct live_sum *kept_for_backward(const struct findings_maker *maker,
                                                const struct live_sum sums[SUMS])
{
    const struct live_sum *sum = &sums[SUM_MAY_HAVE_GRAPH];
    if (phases_have(maker->evidence->phases, PHASE_BACKWARD))
        return &sums[SUM_ACTIVATIONS];
    bool is_graph = sum->count >= GRAPH_TENSORS && sum->top_bytes < sum->bytes / 4 * 3;
    return is_graph ? sum : NULL;
}

/* Flags of allocations for properties that categories do not tell. */
struct marks {
    struct failures failures;
    struct pass_results results;
    struct attention attention;
    struct logits logits;
    struct elementwise elementwise;
};

static void marks_release(struct marks *marks)
{
    failures_release(&marks->failures);
    pass_results_release(&marks->results);
    attention_release(&marks->attention);
    logits_release(&marks->logits);
    elementwise_release(&marks->elementwise);
}

static bool marks_find(struct marks *marks, const struct findings_maker *maker)
{
    const struct live_set *set = maker->evidence->at_peak;
    int64_t item = maker->evidence->peak->item;
    struct marks made = {0};
    if (!failures_find(&made.failures, set->timeline, maker->err) ||
        !pass_results_find(&made.results, set->timeline, maker->evidence->phases, maker->err) ||
        !attention_find(&made.attention, set->timeline, set->sites, item, maker->err) ||
        !logits_find(&made.logits, set->timeline, set->sites, item, maker->err) ||
        !elementwise_find(&made.elementwise, set->timeline, set->sites, set->categories, item,
                          maker->err)) {
        marks_release(&made);
        return false;
    }
    *marks = made;
    return true;
}

bool findings_of_sums(struct findings_maker *maker)
{
    static const struct live_question questions[SUMS] = {
        [SUM_DROPPED] = {.counts = live_is_dropped, .by_model_call = true},
        [SUM_KEPT] = {.counts = live_is_kept, .by_model_call = true},
        [SUM_ACTIVATIONS] = {.counts = live_waits_for_backward},
        [SUM_MAY_HAVE_GRAPH] = {.counts = live_may_have_graph},
        [SUM_ATTENTION] = {.counts = live_is_attention},
        [SUM_MULTIHEAD] = {.counts = live_is_multihead},
        [SUM_LOGITS] = {.counts = live_is_logits},
        [SUM_RESULTS] = {.counts = live_is_pass_result},
        [SUM_DATA] = {.counts = live_is_resident_data},
        [SUM_ELEMENTWISE] = {.counts = live_is_elementwise},
        [SUM_CASTS] = {.counts = live_is_cast},
        [SUM_TEMPORARIES] = {.counts = live_is_optimizer_temporary},
        [SUM_WITHOUT_GRAD] = {.counts = live_is_without_grad},
        [SUM_INFERENCE_MODE] = {.counts = live_is_inference},
    };
    static bool (*const about[SUMS])(struct findings_maker *, const struct live_sum *,
                                     const struct buffer *) = {
        [SUM_DROPPED] = about_dropped,
        [SUM_KEPT] = about_kept_results,
        [SUM_ACTIVATIONS] = about_activations,
        [SUM_MAY_HAVE_GRAPH] = about_activations,
        [SUM_ATTENTION] = about_attention,
        [SUM_MULTIHEAD] = about_multihead,
        [SUM_LOGITS] = about_logits,
        [SUM_RESULTS] = about_pass_results,
        [SUM_DATA] = about_resident_data,
        [SUM_ELEMENTWISE] = about_elementwise,
        [SUM_CASTS] = about_casts,
        [SUM_TEMPORARIES] = about_optimizer_temporaries,
    };
    const struct live_set *set = maker->evidence->at_peak;
    struct live_sum sums[SUMS];
    struct marks marks;
    if (!marks_find(&marks, maker))
        return false;
    struct live_facts facts = {
        .phases = maker->evidence->phases,
        .failures = &marks.failures,
        .is_result = marks.results.is_result,
        .is_dropped = maker->evidence->dropped->is_dropped,
        .is_kept = maker->evidence->kept ? maker->evidence->kept->is_kept : NULL,
        .is_attention = marks.attention.is_part,
        .is_logits = marks.logits.is_part,
        .is_elementwise = marks.elementwise.is_part,
    };
    place(maker->evidence->phases, maker->evidence->peak->item, &facts);
    bool ok = live_sums(set, &facts, questions, SUMS, sums, maker->err);
    marks_release(&marks);
    if (!ok)
        return false;
    const struct live_sum *kept = kept_for_backward(maker, sums);
    int lesser = sums[SUM_MULTIHEAD].bytes > sums[SUM_ATTENTION].bytes
                     ? SUM_ATTENTION
                     : SUM_MULTIHEAD; /* a kind of finding is reported once */
    bool trains = phases_have(maker->evidence->phases, PHASE_BACKWARD);
    if (!trains) {
        maker->findings->without_grad_bytes = sums[SUM_WITHOUT_GRAD].bytes;
        maker->findings->inference_mode_bytes = sums[SUM_INFERENCE_MODE].bytes;
    }
    for (int k = 0; k < SUMS; k++) {
        struct buffer most = BUFFER_INIT;
        bool is_other = k == lesser;
        is_other =
            is_other || ((k == SUM_ACTIVATIONS || k == SUM_MAY_HAVE_GRAPH) && &sums[k] != kept);
        is_other = is_other || (k == SUM_CASTS && !kept) ||
                   ((k == SUM_LOGITS || k == SUM_ELEMENTWISE) && !trains);
        ok = ok && (is_other || !about[k] || sums[k].bytes == 0 ||
                    (most_at(maker, &sums[k], &most) && about[k](maker, &sums[k], &most)));
        buffer_release(&most);
    }
    for (int k = 0; k < SUMS; k++)
        live_sum_release(&sums[k]);
    return ok;
}
