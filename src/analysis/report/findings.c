#include <stdlib.h>
#include <string.h>

#include "analysis/report/findings_internal.h"

#define LARGE_PART 4 /* 1/4 */

static const char *const names[] = {
    [FINDING_ACTIVATIONS] = "activations",
    [FINDING_DERIVATIVES] = "derivatives",
    [FINDING_RECOMPUTED] = "recomputed",
    [FINDING_NO_GRAD] = "no_grad",
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
           finding_of_unused_pass(maker) && finding_of_failed_pass(maker) &&
           finding_of_uneven_steps(maker) && finding_of_summed_losses(maker) &&
           finding_of_all_pairs(maker) && finding_of_unused_logits(maker) &&
           finding_of_local_results(maker) && finding_of_benchmark(maker) &&
           finding_of_empty_cache(maker) && finding_of_repeated_state(maker) &&
           finding_of_loaded_weights(maker) && finding_of_copied_weights(maker) &&
           finding_of_recast_weights(maker) && finding_of_earlier_model(maker) &&
           finding_of_layer_buffers(maker) && finding_of_gradient_buckets(maker) &&
           finding_of_reduce_bucket(maker) && finding_of_state(maker) &&
           finding_of_table_gradients(maker) && finding_of_gradients(maker);
}

/* Orders findings. Growth comes first, because its present size is only what the trace has seen so
 * far. */
static int compare_findings(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    bool x_grows = x->kind == FINDING_GROWTH, y_grows = y->kind == FINDING_GROWTH;
    if (x_grows != y_grows)
        return x_grows ? -1 : 1;
    if (x->save_bytes != y->save_bytes)
        return x->save_bytes > y->save_bytes ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* The index of the finding of a kind; their number if there is none. */
static size_t place_of(const struct findings *findings, enum finding_kind kind)
{
    size_t i = 0;
    while (i < findings->count && findings->items[i].kind != kind)
        i++;
    return i;
}

/* Puts the finding `simple` before `all`, if it frees at least 1/`part` as much. */
static void put_first(struct findings *findings, enum finding_kind simple, enum finding_kind all,
                      int64_t part)
{
    struct finding *items = findings->items;
    size_t from = place_of(findings, simple), to = place_of(findings, all);
    if (from == findings->count || from < to ||
        items[from].save_bytes < items[to].save_bytes / part)
        return;
    struct finding moved = items[from];
    memmove(&items[to + 1], &items[to], (from - to) * sizeof(*items));
    items[to] = moved;
}

/* Puts what is one line of code and certain first, even if a finding that needs more work would
 * free more. zero_grad() at the right time frees a part of what otherwise needs a hook for each
 * parameter; a model that is not trained, and runs without autograd, needs no checkpoints. */
static void put_simpler_first(struct findings *findings)
{
    put_first(findings, FINDING_KEPT_GRADIENTS, FINDING_GRADIENTS, INT64_MAX);
    put_first(findings, FINDING_IDLE_GRADIENTS, FINDING_ACTIVATIONS, LARGE_PART);
}

static void rank(struct findings *findings)
{
    qsort(findings->items, findings->count, sizeof(findings->items[0]), compare_findings);
    put_simpler_first(findings);
    while (findings->count > FINDINGS_MOST) {
        finding_release(&findings->items[--findings->count]);
    }
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
