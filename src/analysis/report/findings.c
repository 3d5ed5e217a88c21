#define _GNU_SOURCE /* vasprintf */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report/findings_internal.h"

/* Less than this share of the peak (in percent) is not worth a sentence. */
#define LEAST_SHARE 2

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

struct size_text finding_size(const struct findings_maker *maker, int64_t bytes)
{
    struct size_text size;
    units_bytes(size.text, bytes, maker->evidence->unit);
    return size;
}

double finding_share(const struct findings_maker *maker, int64_t bytes)
{
    int64_t peak = maker->evidence->peak->active_bytes;
    return peak > 0 ? 100.0 * (double)bytes / (double)peak : 0;
}

bool finding_add(struct findings_maker *maker, struct finding finding, const char *next,
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
        return error_set(maker->err, STATUS_LIMIT, "out of memory while summing up");
    }
    maker->findings->items[maker->findings->count++] = finding;
    return true;
}

static bool about_gradients(struct findings_maker *maker)
{
    const struct stale_gradients *stale = &maker->evidence->growth->gradients;
    if (finding_share(maker, stale->save_bytes) < LEAST_SHARE)
        return true;
    return finding_add(
        maker, (struct finding){.kind = FINDING_KEPT_GRADIENTS, .save_bytes = stale->save_bytes},
        "Call optimizer.zero_grad(set_to_none=True) before the forward pass.",
        "%llu gradients of %s live through the next forward pass.",
        (unsigned long long)stale->count, finding_size(maker, stale->bytes).text);
}

static bool about_growth(struct findings_maker *maker)
{
    const struct growth *growth = maker->evidence->growth;
    if (finding_share(maker, growth->save_bytes) < LEAST_SHARE || growth->row_count == 0)
        return true;
    bool is_loss = growth->scalar_row != NO_ROW;
    const struct growth_row *row = &growth->rows[is_loss ? growth->scalar_row : 0];
    return finding_add(
        maker, (struct finding){.kind = FINDING_GROWTH, .save_bytes = growth->save_bytes},
        is_loss ? "Keep loss.item() or loss.detach() there: a loss that is kept keeps its graph."
                : "Find what still refers to it: a list, a cache, a hook or a closure.",
        "Memory grows by %s a step; %s %s.", finding_size(maker, growth->bytes_per_step).text,
        is_loss ? "what is kept with it comes from" : "the most grows at", row->label.full);
}

/* Of the settings, what helps the process itself, and bounds what the others could do. */
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
                       next, "%s%s lie in holes between blocks that are in use.",
                       fragmentation->has_moment ? "" : "In the snapshot ",
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
        "Free tensors that another stream uses (Tensor.record_stream) later or on that "
        "stream, or synchronise with it earlier.",
        "At the peak %s were freed by the program already, but wait for another stream%s%s.",
        finding_size(maker, pending->at_peak_bytes).text, pending->row_count ? ", most at " : "",
        pending->row_count ? pending->rows[0].label.full : "");
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
    bool ok = about_gradients(&maker) && about_growth(&maker) && about_fragmentation(&maker) &&
              about_pending(&maker);
    if (ok && evidence->at_peak)
        ok = findings_of_peak(&maker);
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
