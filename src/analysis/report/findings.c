#include "analysis/report/findings_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In percent of the peak: smaller findings are left out. */
#define LEAST_STATE 15

static const char *const names[] = {
    [FINDING_ACTIVATIONS] = "activations",
    [FINDING_NO_GRAD] = "no_grad",
    [FINDING_CASTS] = "casts",
    [FINDING_OPTIMIZER_TEMPORARIES] = "optimizer_temporaries",
    [FINDING_OPTIMIZER_STATE] = "optimizer_state",
    [FINDING_GRADIENTS] = "gradients",
    [FINDING_KEPT_GRADIENTS] = "kept_gradients",
    [FINDING_GROWTH] = "growth",
    [FINDING_FRAGMENTATION] = "fragmentation",
    [FINDING_PENDING_FREES] = "pending_frees",
};

const char *finding_kind_name(enum finding_kind kind)
{
    return names[kind];
}

const char *finding_bound(const struct finding *finding)
{
    return finding->at_most ? "up to " : finding->at_least ? "at least " : "";
}

static bool about_kept_gradients(struct findings_maker *maker)
{
    const struct stale_gradients *stale = &maker->evidence->growth->gradients;
    if (finding_share(maker, stale->save_bytes) < LEAST_SHARE)
        return true;
    return finding_add(
        maker, (struct finding){.kind = FINDING_KEPT_GRADIENTS, .save_bytes = stale->save_bytes},
        "Call optimizer.zero_grad(set_to_none=True) before the forward pass.",
        "%llu gradients (%s) stay allocated during the next forward pass.",
        (unsigned long long)stale->count, finding_size(maker, stale->bytes).text);
}

static bool about_growth(struct findings_maker *maker)
{
    const struct growth *growth = maker->evidence->growth;
    if (finding_share(maker, growth->save_bytes) < LEAST_SHARE || growth->row_count == 0)
        return true;
    const struct growth_row *row = &growth->rows[growth_holder(growth)];
    const char *next = "Find what still refers to this memory: a list, a cache, a hook or a "
                       "closure.";
    const char *where = "the largest part at";
    if (growth->graph == GRAPH_KEPT) {
        where = growth->scalar_row != NO_ROW
                    ? "probably because a loss is stored with its autograd graph at"
                    : "probably because a tensor is stored with its autograd graph at";
        next = growth->scalar_row != NO_ROW
                   ? "Store loss.item() or loss.detach() there: a stored loss keeps its autograd "
                     "graph alive."
                   : "Store tensor.detach() there, or compute it under torch.no_grad().";
    } else if (growth->graph == GRAPH_NONE) {
        next = "No autograd graph keeps it, so loss.item() changes nothing: find the list, cache, "
               "hook or closure that stores these tensors, and move them to the host "
               "(tensor.cpu()) or keep less of them.";
    }
    return finding_add(maker,
                       (struct finding){.kind = FINDING_GROWTH,
                                        .save_bytes = growth->save_bytes,
                                        .at_least = true},
                       next, "Memory grows by %s a step, %s %s.",
                       finding_size(maker, growth->bytes_per_step).text, where, row->label.full);
}

/* Reports on expandable segments, the setting whose saving bounds those of the others. */
static bool about_fragmentation(struct findings_maker *maker)
{
    const struct fragmentation *fragmentation = maker->evidence->fragmentation;
    const struct cut_up *cut =
        fragmentation->has_moment ? &fragmentation->moment : &fragmentation->dump;
    const struct advice *expandable = &cut->advice[SETTING_EXPANDABLE_SEGMENTS];
    int64_t save = (int64_t)expandable->would_save_bytes;
    int64_t holes = (int64_t)cut->pools.total.inactive_split_bytes;
    if (expandable->in_force || finding_share(maker, save) < LEAST_SHARE)
        return true;
    char next[600];
    snprintf(next, sizeof(next), "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True: %s.",
             expandable->why);
    return finding_add(maker,
                       (struct finding){.kind = FINDING_FRAGMENTATION,
                                        .save_bytes = save,
                                        .at_most = true,
                                        .of_reserved = true},
                       next, "%s%s lie unused in holes between blocks in use.",
                       fragmentation->has_moment ? "" : "In the snapshot, ",
                       finding_size(maker, holes).text);
}

static bool about_pending(struct findings_maker *maker)
{
    const struct pending_frees *pending = maker->evidence->pending;
    if (finding_share(maker, pending->at_peak_bytes) < LEAST_SHARE)
        return true;
    return finding_add(
        maker,
        (struct finding){
            .kind = FINDING_PENDING_FREES, .save_bytes = pending->at_peak_bytes, .at_most = true},
        "Another stream also uses these tensors (Tensor.record_stream). Free them on that stream "
        "or after it is done with them, or synchronise with it earlier.",
        "At the peak, the program had already freed %s that still wait for another stream%s%s.",
        finding_size(maker, pending->at_peak_bytes).text,
        pending->row_count ? ", the largest part at " : "",
        pending->row_count ? pending->rows[0].label.full : "");
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
        "Shard it (FSDP, ZeroRedundancyOptimizer): each of N ranks then keeps 1/N of it, so "
        "2 ranks save half. On a single device, an optimizer with 8-bit states saves more.",
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
        "Run the optimizer step of each parameter in a hook "
        "(Tensor.register_post_accumulate_grad_hook), and free its gradient right after. "
        "With FSDP, each of N ranks keeps 1/N of the gradients.",
        "Gradients hold %s, %.1f%% of the peak.", finding_size(maker, bytes).text, share);
}

static bool find_at_peak(struct findings_maker *maker)
{
    return findings_of_sums(maker) && about_state(maker) && about_gradients(maker);
}

static int compare_findings(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    if (x->save_bytes != y->save_bytes)
        return x->save_bytes > y->save_bytes ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

static void rank(struct findings *findings)
{
    qsort(findings->items, findings->count, sizeof(findings->items[0]), compare_findings);
    while (findings->count > FINDINGS_MOST) {
        struct finding *last = &findings->items[--findings->count];
        free(last->what);
        free(last->next);
    }
}

bool findings_make(struct findings *findings, const struct evidence_of_all *evidence,
                   struct error *err)
{
    struct findings made = {0};
    struct findings_maker maker = {evidence, &made, err};
    bool ok = about_kept_gradients(&maker) && about_growth(&maker) && about_fragmentation(&maker) &&
              about_pending(&maker);
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
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->items[i].what);
        free(findings->items[i].next);
    }
    *findings = (struct findings){0};
}
