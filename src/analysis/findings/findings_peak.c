/* Findings on the memory that is live at the peak, by the reason why it is kept. */
#include "analysis/findings/findings_internal.h"

#include "analysis/findings/attention.h"
#include "analysis/findings/concatenated.h"
#include "analysis/findings/elementwise.h"
#include "analysis/findings/freed_stacks.h"
#include "analysis/growth/layer_results.h"
#include "analysis/growth/pass_results.h"
#include "analysis/live/sums.h"
#include "analysis/phase/births.h"

#define GRAPH_TENSORS 16 /* tensors that look as if an autograd graph held them */

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

/* Sets where the moment is in the program. */
static void place(const struct phases *phases, int64_t item, struct live_facts *facts)
{
    facts->run = item < 0 ? NO_RUN : phases_run_of(phases, (uint32_t)item);
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

/* Sets where training begins and ends. */
static void place_training(const struct phases *phases, struct live_facts *facts)
{
    facts->last_backward = EVENT_NEVER;
    for (size_t i = phases->count; i-- > 0;) {
        const struct phase_run *run = &phases->runs[i];
        if (run->phase == PHASE_FORWARD)
            facts->first_forward = run->first;
        facts->trains |= run->phase == PHASE_BACKWARD;
        if (run->phase == PHASE_BACKWARD && run->pass > 0 && facts->last_backward == EVENT_NEVER)
            facts->last_backward = run->first;
    }
}

/* The sums that are made in one pass over the peak. */
enum {
    SUM_DROPPED,
    SUM_RETAINED,
    SUM_KEPT,
    SUM_PILED,
    SUM_ACTIVATIONS,
    SUM_BESIDE_LOGITS,
    SUM_DERIVATIVES,
    SUM_TRANSFORMED,
    SUM_COMPILED,
    SUM_RECOMPUTED,
    SUM_RUNNING,
    SUM_PLAIN,
    SUM_MAY_HAVE_GRAPH,
    SUM_ATTENTION,
    SUM_MULTIHEAD,
    SUM_UNFUSED,
    SUM_LOGITS,
    SUM_LOGITS_OF_LOSS,
    SUM_RESULTS,
    SUM_CONCATENATED,
    SUM_LAYER_RESULTS,
    SUM_DATA,
    SUM_ELEMENTWISE,
    SUM_CASTS,
    SUM_WIDENED,
    SUM_EXCHANGED,
    SUM_REPEATED,
    SUM_TEMPORARIES,
    SUM_WITHOUT_GRAD,
    SUM_INFERENCE_MODE,
    SUMS,
};

_Static_assert((int)SUMS <= LIVE_SUMS_MOST, "live_sums() takes no more questions");

/* True if the forward pass of the peak still holds most of what it has made. Without a graph, a
 * layer's result is freed as soon as the next layers have read it. */
static bool frees_little(const struct findings_maker *maker)
{
    const struct live_set *set = maker->evidence->at_peak;
    const struct timeline *timeline = set->timeline;
    const struct phases *phases = maker->evidence->phases;
    int64_t item = maker->evidence->peak->item;
    uint32_t run = item < 0 ? NO_RUN : phases_run_of(phases, (uint32_t)item);
    double made = 0, held = 0;
    if (run == NO_RUN || phases->runs[run].phase != PHASE_FORWARD)
        return false;
    for (size_t i = births_from(timeline, phases->runs[run].first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc <= item; i++) {
        double bytes = (double)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        if (set->categories->of_lifetime[i] == CATEGORY_WORKSPACE)
            continue;
        made += bytes;
        held += lifetime_end(&timeline->lifetimes[i]) > item ? bytes : 0;
    }
    return held > made / 4 * 3;
}

/* The sum of activations that a backward pass needs. If the trace has no backward pass, only what
 * looks like the tensors of a graph counts: many tensors, from many lines or in a pass that frees
 * little. Results and caches are few, or come from few lines. */
static const struct live_sum *kept_for_backward(const struct findings_maker *maker,
                                                const struct live_sum sums[SUMS])
{
    const struct live_sum *sum = &sums[SUM_MAY_HAVE_GRAPH];
    if (phases_have(maker->evidence->phases, PHASE_BACKWARD))
        return &sums[SUM_ACTIVATIONS];
    bool is_graph =
        sum->count >= GRAPH_TENSORS && (sum->top_bytes < sum->bytes / 4 * 3 || frees_little(maker));
    return is_graph ? sum : NULL;
}

/* Flags of allocations, for properties that categories do not show. */
struct marks {
    struct failures failures;
    struct pass_results results;
    struct concatenated concatenated;
    struct layer_results layer_results;
    struct elementwise elementwise;
    struct freed_stacks freed;
};

static void marks_release(struct marks *marks)
{
    failures_release(&marks->failures);
    pass_results_release(&marks->results);
    concatenated_release(&marks->concatenated);
    layer_results_release(&marks->layer_results);
    elementwise_release(&marks->elementwise);
    freed_stacks_release(&marks->freed);
}

static bool marks_find(struct marks *marks, const struct findings_maker *maker)
{
    const struct live_set *set = maker->evidence->at_peak;
    int64_t item = maker->evidence->peak->item;
    struct marks made = {0};
    if (!failures_find(&made.failures, set->timeline, maker->err) ||
        !pass_results_find(&made.results, set->timeline, maker->evidence->phases, set->categories,
                           maker->err) ||
        !concatenated_find(&made.concatenated, set, maker->evidence->phases, maker->err) ||
        !layer_results_find(&made.layer_results, set->timeline, maker->evidence->phases, item,
                            maker->err) ||
        !freed_stacks_find(&made.freed, set->timeline, site_table_symbols(set->sites),
                           maker->evidence->phases, maker->err) ||
        !elementwise_find(&made.elementwise, set->timeline, set->sites, set->categories, item,
                          maker->err)) {
        marks_release(&made);
        return false;
    }
    *marks = made;
    return true;
}

/* The function that reports the activations. It is chosen by what most of them come from, which
 * decides how they can be freed. */
static finding_about *about_activations(const struct live_sum sums[SUMS])
{
    int64_t bytes = sums[SUM_ACTIVATIONS].bytes, derivatives = sums[SUM_DERIVATIVES].bytes;
    if (sums[SUM_TRANSFORMED].bytes > (bytes - derivatives) / 2)
        return finding_about_transform;
    return derivatives > bytes / 2 ? finding_about_derivatives : finding_about_activations;
}

/* True if most of what waits for the backward pass was recomputed for it. Then smaller checkpoints
 * free more than additional ones. */
static bool recomputes_most(const struct live_sum sums[SUMS])
{
    return sums[SUM_RECOMPUTED].bytes > sums[SUM_ACTIVATIONS].bytes / 2;
}

/* The sum of the logits that a loss over a part of them frees: without those that the program
 * collects, if it collects several. Where nothing is trained, what waits for a backward pass looks
 * like such results. */
static int sum_of_logits(const struct findings_maker *maker, const struct live_sum sums[SUMS])
{
    return sums[SUM_RESULTS].count >= FEW_RESULTS && !finding_fails_at_logits(maker)
               ? SUM_LOGITS_OF_LOSS
               : SUM_LOGITS;
}

/* The function that reports the activations that wait for the backward pass, without the logits if
 * these are reported: checkpoints of layers do not free them. */
static finding_about *about_waiting(const struct findings_maker *maker,
                                    const struct live_sum sums[SUMS], int sum)
{
    if (kept_for_backward(maker, sums) != &sums[SUM_ACTIVATIONS] || recomputes_most(sums))
        return NULL;
    finding_about *about = about_activations(sums);
    bool beside = about == finding_about_activations &&
                  phases_have(maker->evidence->phases, PHASE_BACKWARD) &&
                  finding_reports_logits(maker, &sums[sum_of_logits(maker, sums)]);
    if (beside != (sum == SUM_BESIDE_LOGITS))
        return NULL;
    return beside ? finding_about_beside_logits : about;
}

/* The code whose matrices of attention hold most. A kind of finding is reported only once. */
static int most_attention(const struct live_sum sums[SUMS])
{
    int most = SUM_ATTENTION;
    for (int sum = SUM_MULTIHEAD; sum <= SUM_UNFUSED; sum++)
        if (sums[sum].bytes > sums[most].bytes)
            most = sum;
    return most;
}

/* The function that reports a sum, or NULL if it is not reported. */
static finding_about *about(const struct findings_maker *maker, const struct live_sum sums[SUMS],
                            int sum)
{
    static finding_about *const by_sum[SUMS] = {
        [SUM_DROPPED] = finding_about_dropped,
        [SUM_RETAINED] = finding_about_retained,
        [SUM_KEPT] = finding_about_kept_results,
        [SUM_PILED] = finding_about_piled_results,
        [SUM_RECOMPUTED] = finding_about_recomputed,
        [SUM_RUNNING] = finding_about_running,
        [SUM_PLAIN] = finding_about_plain_results,
        [SUM_MAY_HAVE_GRAPH] = finding_about_activations,
        [SUM_ATTENTION] = finding_about_attention,
        [SUM_MULTIHEAD] = finding_about_multihead,
        [SUM_UNFUSED] = finding_about_unfused,
        [SUM_LOGITS] = finding_about_logits,
        [SUM_LOGITS_OF_LOSS] = finding_about_logits,
        [SUM_RESULTS] = finding_about_pass_results,
        [SUM_CONCATENATED] = finding_about_concatenated,
        [SUM_LAYER_RESULTS] = finding_about_layer_results,
        [SUM_DATA] = finding_about_resident_data,
        [SUM_ELEMENTWISE] = finding_about_elementwise,
        [SUM_CASTS] = finding_about_casts,
        [SUM_TEMPORARIES] = finding_about_optimizer_temporaries,
    };
    bool trains = phases_have(maker->evidence->phases, PHASE_BACKWARD);
    const struct live_sum *kept = kept_for_backward(maker, sums);
    switch (sum) {
    case SUM_ACTIVATIONS:
    case SUM_BESIDE_LOGITS:
        return about_waiting(maker, sums, sum);
    case SUM_RECOMPUTED:
        return recomputes_most(sums) ? by_sum[sum] : NULL;
    case SUM_RUNNING:
        return !trains && kept != &sums[SUM_MAY_HAVE_GRAPH] ? by_sum[sum] : NULL;
    case SUM_MAY_HAVE_GRAPH:
        return kept == &sums[sum] ? by_sum[sum] : NULL;
    case SUM_ATTENTION:
    case SUM_MULTIHEAD:
    case SUM_UNFUSED:
        return sum == most_attention(sums) ? by_sum[sum] : NULL;
    case SUM_CASTS:
        return !kept                                                 ? NULL
               : sums[SUM_WIDENED].bytes > sums[SUM_CASTS].bytes / 2 ? finding_about_widened
                                                                     : by_sum[sum];
    case SUM_LOGITS:
    case SUM_LOGITS_OF_LOSS:
        return (trains || finding_fails_at_logits(maker)) && sum == sum_of_logits(maker, sums)
                   ? by_sum[sum]
                   : NULL;
    case SUM_LAYER_RESULTS:
        return trains || !kept ? by_sum[sum] : NULL;
    case SUM_ELEMENTWISE:
        return trains ? by_sum[sum] : NULL;
    default:
        return by_sum[sum];
    }
}

/* Adds the findings on the sums. */
static bool report(struct findings_maker *maker, const struct live_sum sums[SUMS])
{
    bool ok = true;
    for (int k = 0; ok && k < SUMS; k++) {
        struct buffer most = BUFFER_INIT;
        finding_about *add = sums[k].bytes > 0 ? about(maker, sums, k) : NULL;
        maker->where = sums[k].top_label.size > 0 ? sums[k].top_label.bytes : NULL;
        ok = !add || (most_at(maker, &sums[k], &most) && add(maker, &sums[k], &most));
        buffer_release(&most);
    }
    maker->where = NULL;
    return ok;
}

bool findings_of_sums(struct findings_maker *maker)
{
    static const struct live_question questions[SUMS] = {
        [SUM_DROPPED] = {.counts = live_is_dropped, .by_model_call = true, .unless_used = true},
        [SUM_RETAINED] = {.counts = live_is_retained, .by_model_call = true},
        [SUM_KEPT] = {.counts = live_is_kept, .by_model_call = true},
        [SUM_PILED] = {.counts = live_is_piled, .by_model_call = true},
        [SUM_ACTIVATIONS] = {.counts = live_waits_for_backward},
        [SUM_BESIDE_LOGITS] = {.counts = live_waits_beside_logits},
        [SUM_DERIVATIVES] = {.counts = live_is_derivative},
        [SUM_TRANSFORMED] = {.counts = live_is_transformed},
        [SUM_COMPILED] = {.counts = live_is_compiled},
        [SUM_RECOMPUTED] = {.counts = live_is_recomputed},
        [SUM_RUNNING] = {.counts = live_is_running},
        [SUM_PLAIN] = {.counts = live_is_plain_result},
        [SUM_MAY_HAVE_GRAPH] = {.counts = live_may_have_graph},
        [SUM_ATTENTION] = {.counts = live_is_attention},
        [SUM_MULTIHEAD] = {.counts = live_is_multihead},
        [SUM_UNFUSED] = {.counts = live_is_unfused},
        [SUM_LOGITS] = {.counts = live_is_logits},
        [SUM_LOGITS_OF_LOSS] = {.counts = live_is_logits_of_loss},
        [SUM_RESULTS] = {.counts = live_is_movable_result},
        [SUM_CONCATENATED] = {.counts = live_is_concatenated},
        [SUM_LAYER_RESULTS] = {.counts = live_is_layer_result},
        [SUM_DATA] = {.counts = live_is_resident_data},
        [SUM_ELEMENTWISE] = {.counts = live_is_elementwise},
        [SUM_CASTS] = {.counts = live_is_cast},
        [SUM_WIDENED] = {.counts = live_is_widened},
        [SUM_EXCHANGED] = {.counts = live_is_exchanged},
        [SUM_REPEATED] = {.counts = live_is_repeated_cast},
        [SUM_TEMPORARIES] = {.counts = live_is_optimizer_temporary},
        [SUM_WITHOUT_GRAD] = {.counts = live_is_without_grad},
        [SUM_INFERENCE_MODE] = {.counts = live_is_inference},
    };
    struct live_sum sums[SUMS];
    struct marks marks;
    if (!marks_find(&marks, maker))
        return false;
    struct live_facts facts = {
        .phases = maker->evidence->phases,
        .failures = &marks.failures,
        .is_result = marks.results.is_result,
        .is_layer_result = marks.layer_results.is_result,
        .is_dropped = maker->evidence->dropped->is_dropped,
        .is_retained = maker->evidence->retained->is_retained,
        .is_piled = maker->evidence->piled->is_piled,
        .passes_share_graph = maker->evidence->retained->in_backward_bytes == 0,
        .in_unused_pass = maker->evidence->unused->at_peak,
        .is_kept = maker->evidence->kept ? maker->evidence->kept->is_kept : NULL,
        .is_concatenated = marks.concatenated.is_concatenated,
        .is_attention = maker->evidence->attention->is_part,
        .is_logits = maker->evidence->logits->is_part,
        .is_elementwise = marks.elementwise.is_part,
        .is_freed_stack = marks.freed.is_freed,
        .fails_at_logits = finding_fails_at_logits(maker),
    };
    maker->concatenated_save_bytes = marks.concatenated.save_bytes;
    maker->is_biased = maker->evidence->attention->is_biased;
    place(maker->evidence->phases, maker->evidence->peak->item, &facts);
    place_training(maker->evidence->phases, &facts);
    bool ok = live_sums(maker->evidence->at_peak, &facts, questions, SUMS, sums, maker->err);
    marks_release(&marks);
    if (!ok)
        return false;
    if (!phases_have(maker->evidence->phases, PHASE_BACKWARD)) {
        maker->findings->without_grad_bytes = sums[SUM_WITHOUT_GRAD].bytes;
        maker->findings->inference_mode_bytes = sums[SUM_INFERENCE_MODE].bytes;
    }
    maker->exchanged_bytes = sums[SUM_EXCHANGED].bytes;
    maker->repeated_bytes = sums[SUM_REPEATED].bytes;
    maker->is_compiled = sums[SUM_COMPILED].bytes > sums[SUM_ACTIVATIONS].bytes / 2;
    ok = report(maker, sums);
    for (int k = 0; k < SUMS; k++)
        live_sum_release(&sums[k]);
    return ok;
}
