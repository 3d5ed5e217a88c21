#include <stdlib.h>

#include "analysis/findings/findings_internal.h"

static const char *const names[] = {
    [FINDING_ACTIVATIONS] = "activations",
    [FINDING_DERIVATIVES] = "derivatives",
    [FINDING_RECOMPUTED] = "recomputed",
    [FINDING_NO_GRAD] = "no_grad",
    [FINDING_RETAINED] = "retained_graph",
    [FINDING_UNUSED_PASS] = "unused_pass",
    [FINDING_FORWARD_PASS] = "forward_pass",
    [FINDING_PLAIN_RESULTS] = "plain_results",
    [FINDING_UNEVEN_STEPS] = "uneven_steps",
    [FINDING_SUMMED_LOSSES] = "summed_losses",
    [FINDING_ATTENTION] = "attention",
    [FINDING_LOGITS] = "logits",
    [FINDING_UNUSED_LOGITS] = "unused_logits",
    [FINDING_RESIDENT_DATA] = "resident_data",
    [FINDING_PASS_RESULTS] = "pass_results",
    [FINDING_PILED_RESULTS] = "piled_results",
    [FINDING_CONCATENATED] = "concatenated",
    [FINDING_LAYER_RESULTS] = "layer_results",
    [FINDING_LOCAL_RESULTS] = "local_results",
    [FINDING_ELEMENTWISE] = "elementwise",
    [FINDING_ALL_PAIRS] = "all_pairs",
    [FINDING_CASTS] = "casts",
    [FINDING_BENCHMARK] = "benchmark",
    [FINDING_OPTIMIZER_TEMPORARIES] = "optimizer_temporaries",
    [FINDING_LOADED_WEIGHTS] = "loaded_weights",
    [FINDING_COPIED_WEIGHTS] = "copied_weights",
    [FINDING_RECAST_WEIGHTS] = "recast_weights",
    [FINDING_EARLIER_MODEL] = "earlier_model",
    [FINDING_LAYER_BUFFERS] = "layer_buffers",
    [FINDING_TRAINING_CACHE] = "training_cache",
    [FINDING_GRADIENT_BUCKETS] = "gradient_buckets",
    [FINDING_REDUCE_BUCKET] = "reduce_bucket",
    [FINDING_OPTIMIZER_STATE] = "optimizer_state",
    [FINDING_REPEATED_STATE] = "repeated_state",
    [FINDING_TABLE_GRADIENTS] = "table_gradients",
    [FINDING_GRADIENTS] = "gradients",
    [FINDING_KEPT_GRADIENTS] = "kept_gradients",
    [FINDING_IDLE_GRADIENTS] = "idle_gradients",
    [FINDING_KEPT_RESULTS] = "kept_results",
    [FINDING_GROWTH] = "growth",
    [FINDING_FRAGMENTATION] = "fragmentation",
    [FINDING_PENDING_FREES] = "pending_frees",
    [FINDING_EMPTY_CACHE] = "empty_cache",
};

const char *finding_kind_name(enum finding_kind kind)
{
    return names[kind];
}

const char *finding_bound(const struct finding *finding)
{
    return finding->at_most ? "up to " : finding->at_least ? "at least " : "";
}

static bool find_at_peak(struct findings_maker *maker)
{
    return finding_find_failed_pass(maker) && findings_of_sums(maker) &&
           finding_of_unused_pass(maker) && finding_of_retained_graph(maker) &&
           finding_of_failed_pass(maker) && finding_of_failed_attempt(maker) &&
           finding_of_uneven_steps(maker) && finding_of_summed_losses(maker) &&
           finding_of_all_pairs(maker) && finding_of_unused_logits(maker) &&
           finding_of_local_results(maker) && finding_of_benchmark(maker) &&
           finding_of_empty_cache(maker) && finding_of_repeated_state(maker) &&
           finding_of_loaded_weights(maker) && finding_of_copied_weights(maker) &&
           finding_of_recast_weights(maker) && finding_of_earlier_model(maker) &&
           finding_of_layer_buffers(maker) && finding_of_training_cache(maker) &&
           finding_of_gradient_buckets(maker) && finding_of_reduce_bucket(maker) &&
           finding_of_state(maker) && finding_of_table_gradients(maker) &&
           finding_of_gradients(maker);
}

/* Mistakes of a program: memory that serves nothing, and that a change of a line or two frees. What
 * other findings advise costs time, work or devices. */
static const bool are_mistakes[FINDING_KINDS] = {
    [FINDING_NO_GRAD] = true,        [FINDING_UNUSED_LOGITS] = true,
    [FINDING_PASS_RESULTS] = true,   [FINDING_CONCATENATED] = true,
    [FINDING_LAYER_RESULTS] = true,  [FINDING_LOCAL_RESULTS] = true,
    [FINDING_LOADED_WEIGHTS] = true, [FINDING_COPIED_WEIGHTS] = true,
    [FINDING_RECAST_WEIGHTS] = true, [FINDING_EARLIER_MODEL] = true,
    [FINDING_REPEATED_STATE] = true, [FINDING_KEPT_GRADIENTS] = true,
    [FINDING_IDLE_GRADIENTS] = true, [FINDING_KEPT_RESULTS] = true,
    [FINDING_RETAINED] = true,
};

/* The place of a finding among all. Growth comes first, because its present size is only what the
 * trace has seen so far; then mistakes whose saving is proven. */
enum place { PLACE_GROWTH, PLACE_MISTAKE, PLACE_OTHER };

static enum place place_of(const struct finding *finding)
{
    if (finding->kind == FINDING_GROWTH)
        return PLACE_GROWTH;
    bool is_proven = !finding->at_most && !finding->of_reserved;
    return are_mistakes[finding->kind] && is_proven ? PLACE_MISTAKE : PLACE_OTHER;
}

/* Orders findings: by place, then the largest saving first. */
static int compare_findings(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    enum place x_place = place_of(x), y_place = place_of(y);
    if (x_place != y_place)
        return x_place < y_place ? -1 : 1;
    if (x->save_bytes != y->save_bytes)
        return x->save_bytes > y->save_bytes ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

static void rank(struct findings *findings)
{
    qsort(findings->items, findings->count, sizeof(findings->items[0]), compare_findings);
    while (findings->count > FINDINGS_MOST)
        finding_release(&findings->items[--findings->count]);
}

bool findings_make(struct findings *findings, const struct evidence_of_all *evidence,
                   struct error *err)
{
    struct findings made = {0};
    struct findings_maker maker = {.evidence = evidence, .findings = &made, .err = err};
    bool ok = finding_find_grown(&maker) && finding_of_kept_gradients(&maker) &&
              finding_of_idle_gradients(&maker) && finding_of_growth(&maker) &&
              finding_of_fragmentation(&maker) && finding_of_pending(&maker);
    if (ok && evidence->at_peak)
        ok = find_at_peak(&maker);
    if (!ok) {
        findings_release(&made);
        return false;
    }
    rank(&made);
    *findings = made;
    return true;
}

void findings_release(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        finding_release(&findings->items[i]);
    *findings = (struct findings){0};
}
