#define _GNU_SOURCE /* vasprintf */
#include "analysis/report/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/live/sums.h"

/* In percent of the peak: smaller findings are left out. */
#define LEAST_SHARE       2
#define LEAST_ACTIVATIONS 10
#define LEAST_CASTS       5
#define LEAST_STATE       15

struct findings_maker {
    const struct evidence_of_all *evidence;
    struct findings *findings;
    struct error *err;
};

/* A size as text, returned by value for use in format arguments. */
struct size_text {
    char text[UNITS_TEXT_SIZE];
};

static const char *const names[] = {
    [FINDING_ACTIVATIONS] = "activations",
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

static struct size_text size_of(const struct findings_maker *maker, int64_t bytes)
{
    struct size_text size;
    units_bytes(size.text, bytes, maker->evidence->unit);
    return size;
}

static double share_of(const struct findings_maker *maker, int64_t bytes)
{
    int64_t peak = maker->evidence->peak->active_bytes;
    return peak > 0 ? 100.0 * (double)bytes / (double)peak : 0;
}

static bool add(struct findings_maker *maker, struct finding finding, const char *next,
                const char *what, ...) __attribute__((format(printf, 4, 5)));

/* Adds a finding with copies of its sentences. */
static bool add(struct findings_maker *maker, struct finding finding, const char *next,
                const char *what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    if (vasprintf(&finding.what, what, arguments) < 0)
        finding.what = NULL;
    va_end(arguments);
    finding.next = strdup(next);
    if (!finding.what || !finding.next) {
        free(finding.what);
        free(finding.next);
        return error_out_of_memory(maker->err);
    }
    maker->findings->items[maker->findings->count++] = finding;
    return true;
}

static bool about_kept_gradients(struct findings_maker *maker)
{
    const struct stale_gradients *stale = &maker->evidence->growth->gradients;
    if (share_of(maker, stale->save_bytes) < LEAST_SHARE)
        return true;
    return add(maker,
               (struct finding){.kind = FINDING_KEPT_GRADIENTS, .save_bytes = stale->save_bytes},
               "Call optimizer.zero_grad(set_to_none=True) before the forward pass.",
               "%llu gradients (%s) stay allocated during the next forward pass.",
               (unsigned long long)stale->count, size_of(maker, stale->bytes).text);
}

static bool about_growth(struct findings_maker *maker)
{
    const struct growth *growth = maker->evidence->growth;
    if (share_of(maker, growth->save_bytes) < LEAST_SHARE || growth->row_count == 0)
        return true;
    bool is_loss = growth->scalar_row != NO_ROW;
    const struct growth_row *row = &growth->rows[is_loss ? growth->scalar_row : 0];
    return add(
        maker, (struct finding){.kind = FINDING_GROWTH, .save_bytes = growth->save_bytes},
        is_loss ? "Store loss.item() or loss.detach() there: a stored loss keeps its autograd "
                  "graph alive."
                : "Find what still refers to this memory: a list, a cache, a hook or a closure.",
        "Memory grows by %s a step, %s %s.", size_of(maker, growth->bytes_per_step).text,
        is_loss ? "probably because a loss is stored at" : "the largest part at", row->label.full);
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
    if (expandable->in_force || share_of(maker, save) < LEAST_SHARE)
        return true;
    char next[600];
    snprintf(next, sizeof(next), "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True: %s.",
             expandable->why);
    return add(maker,
               (struct finding){.kind = FINDING_FRAGMENTATION,
                                .save_bytes = save,
                                .at_most = true,
                                .of_reserved = true},
               next, "%s%s lie unused in holes between blocks in use.",
               fragmentation->has_moment ? "" : "In the snapshot, ", size_of(maker, holes).text);
}

static bool about_pending(struct findings_maker *maker)
{
    const struct pending_frees *pending = maker->evidence->pending;
    if (share_of(maker, pending->at_peak_bytes) < LEAST_SHARE)
        return true;
    return add(
        maker,
        (struct finding){
            .kind = FINDING_PENDING_FREES, .save_bytes = pending->at_peak_bytes, .at_most = true},
        "Another stream also uses these tensors (Tensor.record_stream). Free them on that stream "
        "or after it is done with them, or synchronise with it earlier.",
        "At the peak, the program had already freed %s that still wait for another stream%s%s.",
        size_of(maker, pending->at_peak_bytes).text,
        pending->row_count ? ", the largest part at " : "",
        pending->row_count ? pending->rows[0].label.full : "");
}

/* Adds ", the largest part at model.py:39 forward (1.24 GiB)" if a call site is known. */
static bool most_at(const struct findings_maker *maker, const struct live_sum *sum,
                    struct buffer *text)
{
    if (sum->top_label.size > 0)
        buffer_printf(text, ", the largest part at %s (%s)", sum->top_label.bytes,
                      size_of(maker, sum->top_bytes).text);
    else
        buffer_puts(text, "");
    return !text->failed || error_out_of_memory(maker->err);
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
    double share = share_of(maker, sum->bytes);
    if (share < LEAST_ACTIVATIONS)
        return true;
    return add(
        maker,
        (struct finding){.kind = FINDING_ACTIVATIONS, .save_bytes = sum->bytes, .at_most = true},
        trains
            ? "Recompute some of them instead of keeping them: `memsnap suggest` finds where "
              "checkpoints (torch.utils.checkpoint) cost least."
            : "No backward pass was recorded. If none follows, run the model under "
              "torch.inference_mode(); otherwise, recompute some of them (torch.utils.checkpoint).",
        "Activations hold %s, %.1f%% of the peak%s.", size_of(maker, sum->bytes).text, share,
        most->bytes);
}

static bool about_casts(struct findings_maker *maker, const struct live_sum *sum,
                        const struct buffer *most)
{
    double share = share_of(maker, sum->bytes);
    if (share < LEAST_CASTS)
        return true;
    return add(maker,
               (struct finding){.kind = FINDING_CASTS, .save_bytes = sum->bytes, .at_most = true},
               "Use one dtype for weights and activations there, or let torch.compile fuse the "
               "conversion into the operator that uses it.",
               "Of the activations, %s are copies converted to another dtype and kept for the "
               "backward pass%s.",
               size_of(maker, sum->bytes).text, most->bytes);
}

/* The peak of the active curve outside of optimizer steps. */
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
    if (share_of(maker, save) < LEAST_SHARE)
        return true;
    return add(maker,
               (struct finding){
                   .kind = FINDING_OPTIMIZER_TEMPORARIES, .save_bytes = save, .at_most = true},
               "In torch.optim, fused=True or foreach=False avoids them; in your own optimizer, "
               "update the parameters one at a time and in place.",
               "The peak is in the optimizer step, which holds %s of temporaries at that moment%s. "
               "Outside the optimizer step, the peak is %s.",
               size_of(maker, sum->bytes).text, most->bytes, size_of(maker, peak - save).text);
}

/* Findings on parts of the peak that are summed in one pass. */
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
    double share = share_of(maker, state);
    char ratio[48] = "";
    if (share < LEAST_STATE)
        return true;
    if (parameters > 0)
        snprintf(ratio, sizeof(ratio), ", %.1f times the parameters",
                 (double)state / (double)parameters);
    return add(maker, (struct finding){.kind = FINDING_OPTIMIZER_STATE, .save_bytes = state / 2},
               "Shard it (FSDP, ZeroRedundancyOptimizer): each of N ranks then keeps 1/N of it, so "
               "2 ranks save half. On a single device, an optimizer with 8-bit states saves more.",
               "Optimizer state holds %s, %.1f%% of the peak%s.", size_of(maker, state).text, share,
               ratio);
}

static bool about_gradients(struct findings_maker *maker)
{
    int64_t bytes = live_bytes(maker->evidence->at_peak, CATEGORY_GRADIENT);
    double share = share_of(maker, bytes);
    if (share < LEAST_STATE)
        return true;
    return add(maker,
               (struct finding){.kind = FINDING_GRADIENTS, .save_bytes = bytes, .at_most = true},
               "Run the optimizer step of each parameter in a hook "
               "(Tensor.register_post_accumulate_grad_hook), and free its gradient right after. "
               "With FSDP, each of N ranks keeps 1/N of the gradients.",
               "Gradients hold %s, %.1f%% of the peak.", size_of(maker, bytes).text, share);
}

static bool find_at_peak(struct findings_maker *maker)
{
    return about_sums(maker) && about_state(maker) && about_gradients(maker);
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
