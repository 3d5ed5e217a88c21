#include "analysis/findings/oom_finding.h"

#include <stdio.h>
#include <string.h>

#include "analysis/oom/next.h"
#include "analysis/oom/words.h"
#include "base/utf8.h"
#include "model/sums.h"

#define LABEL_MOST 120 /* bytes */

/* The remedy that each kind of finding advises, in a few words. NULL: the out-of-memory advice for
 * the largest category says the same. */
static const char *const remedies[FINDING_KINDS] = {
    [FINDING_RECOMPUTED] = "recompute less at a time",
    [FINDING_NO_GRAD] = "run the passes that no backward pass uses under torch.no_grad()",
    [FINDING_RETAINED] = "leave retain_graph=True out of the last backward pass through each graph",
    [FINDING_UNEVEN_STEPS] = "limit the size of the largest batches",
    [FINDING_SUMMED_LOSSES] = "call backward() on each loss as soon as it is computed",
    [FINDING_ATTENTION] = "let fused kernels compute the attention",
    [FINDING_LOGITS] = "compute the logits and the loss for a part of the tokens at a time",
    [FINDING_UNUSED_LOGITS] = "compute the logits of the last position only",
    [FINDING_RESIDENT_DATA] = "keep the data in host memory",
    [FINDING_PASS_RESULTS] = "move the stored results to the host",
    [FINDING_PILED_RESULTS] = "free the results of earlier steps, or move them to the host",
    [FINDING_CONCATENATED] = "collect the results on the host instead of concatenating them on the "
                             "device",
    [FINDING_LAYER_RESULTS] = "do not hold the results of all layers",
    [FINDING_LOCAL_RESULTS] = "delete local variables that nothing reads any more",
    [FINDING_ALL_PAIRS] = "avoid the tensors of all pairs",
    [FINDING_OPTIMIZER_TEMPORARIES] = "avoid the temporaries of the optimizer step",
    [FINDING_REPEATED_STATE] = "delete the earlier optimizer before the second one is made",
    [FINDING_LOADED_WEIGHTS] = "load the weights into host memory (map_location=\"cpu\")",
    [FINDING_COPIED_WEIGHTS] = "keep the copy of the weights in host memory",
    [FINDING_RECAST_WEIGHTS] = "convert the model before it is moved to the device",
    [FINDING_EARLIER_MODEL] = "delete the earlier model before the next one is made",
    [FINDING_LAYER_BUFFERS] = "share one buffer between the layers",
    [FINDING_TRAINING_CACHE] = "turn off the cache of keys and values",
    [FINDING_GRADIENT_BUCKETS] = "pass gradient_as_bucket_view=True to DistributedDataParallel",
    [FINDING_KEPT_GRADIENTS] = "free the gradients of the previous step before the forward pass",
    [FINDING_IDLE_GRADIENTS] =
        "free the gradients that no optimizer uses, and keep nothing for them",
    [FINDING_KEPT_RESULTS] = "delete what variables still hold of earlier passes",
    [FINDING_GROWTH] = "free the memory that grows from step to step",
    [FINDING_PENDING_FREES] = "avoid frees that wait for another stream",
};

/* True if the request is one of those that the remedy does away with: it is for logits, or its line
 * is the one that the finding names. */
static bool removes_request(const struct finding *finding, const struct oom_row *row)
{
    if ((finding->kind == FINDING_LOGITS && row->of_logits) ||
        (finding->kind == FINDING_ATTENTION && row->of_attention))
        return row->requested_bytes <= LARGEST_SUM;
    return (finding->kind == FINDING_CONCATENATED || finding->kind == FINDING_ALL_PAIRS ||
            finding->kind == FINDING_ATTENTION || finding->kind == FINDING_LOGITS) &&
           row->requested_bytes <= LARGEST_SUM && finding->where && row->asker &&
           strcmp(finding->where, row->asker) == 0;
}

/* The bytes that the finding frees at the moment of the request, as its saving states them. What
 * grows and is there at the peak is there at any later moment, too. */
static int64_t freed_bytes(const struct finding *finding, const struct oom_row *row,
                           const struct moment *peak)
{
    if (!remedies[finding->kind] || finding->of_reserved)
        return 0;
    if (finding->kind == FINDING_GROWTH && row->item > peak->item)
        return finding->save_bytes;
    return finding->save_bytes - (peak->active_bytes - row->at.active_bytes);
}

#define FAR_MORE 4 /* times: an upper bound that is so much larger comes before what is sure */

/* True if a finding that frees `bytes` is better advice than the best one so far, which frees
 * `most`. One whose saving is only an upper bound comes after all that are sure, unless more is
 * needed after the request and it is far larger. */
static bool is_better(const struct finding *finding, int64_t bytes, const struct finding *best,
                      int64_t most, bool needs_more)
{
    if (!best || finding->at_most == best->at_most)
        return bytes > most;
    if (!needs_more)
        return !finding->at_most;
    return finding->at_most ? bytes / FAR_MORE > most : bytes >= most / FAR_MORE;
}

/* The number of the finding that is the best advice, from 1 on; 0 if none frees enough. */
static size_t choose(const struct findings *findings, const struct oom_row *row,
                     const struct moment *peak)
{
    size_t best = 0;
    int64_t most = 0;
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        int64_t freed = freed_bytes(finding, row, peak);
        if (removes_request(finding, row))
            sum_add_capped(&freed, (int64_t)row->requested_bytes);
        if (freed <= 0 || (uint64_t)freed < row->requested_bytes ||
            !is_better(finding, freed, best > 0 ? &findings->items[best - 1] : NULL, most,
                       row->rest_is_unknown))
            continue;
        best = i + 1;
        most = freed;
    }
    return best;
}

/* "run the passes that no backward pass uses under torch.no_grad(), which leaves enough for this
 * request: possible saving 1 (at least 640.00 MiB, at train.py:41 evaluate)" */
static void write(char *text, size_t size, const struct oom_row *row, const struct finding *finding,
                  enum unit unit)
{
    char saving[UNITS_TEXT_SIZE];
    const char *where = finding->where ? finding->where : "";
    bool is_sure = !finding->at_most && row->verdict == OOM_SHORTAGE;
    units_bytes(saving, finding->save_bytes, unit);
    snprintf(text, size, "%s, which %s enough for this request: possible saving %zu (%s%s%s%.*s)",
             finding->remedy ? finding->remedy : remedies[finding->kind],
             is_sure ? "leaves" : "may leave", row->finding, finding_bound(finding), saving,
             finding->where ? ", at " : "", utf8_clip(where, LABEL_MOST), where);
}

/* True if the advice says already what the finding is about. */
static bool is_same(const struct oom_row *row, const struct finding *finding)
{
    switch (oom_cause_of(row)) {
    case OOM_CAUSE_BATCH:
        return finding->kind == FINDING_UNEVEN_STEPS;
    case OOM_CAUSE_ATTENTION:
        return finding->kind == FINDING_ATTENTION;
    case OOM_CAUSE_LOGITS:
        return finding->kind == FINDING_LOGITS;
    case OOM_CAUSE_NONE:
    case OOM_CAUSE_TEMPORARIES:
        break;
    }
    return false;
}

/* Adds to advice of `size` bytes what a batch like the earlier ones would have needed. */
static void add_batch(struct oom_row *row, size_t size)
{
    char text[sizeof(row->next)];
    int added = snprintf(text, sizeof(text),
                         "; or limit the size of the largest batches: the request is %.1f times as "
                         "large as any earlier one here",
                         oom_larger_times(row));
    if (size + (size_t)added < sizeof(row->next))
        memcpy(row->next + size, text, (size_t)added + 1);
}

/* Replaces the advice if too much was in use; else adds to it. */
static void advise(struct oom_row *row, const struct finding *finding, enum unit unit)
{
    static const char joint[] = "; or ";
    char text[sizeof(row->next)];
    size_t begin = strlen(row->next), end = begin + strlen(joint);
    write(text, sizeof(text), row, finding, unit);
    size_t size = strlen(text) + 1;
    bool is_specific = oom_cause_of(row) != OOM_CAUSE_NONE;
    bool replaces = row->verdict == OOM_SHORTAGE || oom_gains_little(row);
    if (is_same(row, finding) || (replaces && !is_specific)) {
        memcpy(row->next, text, size);
        if (oom_larger_times(row) > 0)
            add_batch(row, size - 1);
    } else if (end + size <= sizeof(row->next)) {
        memcpy(row->next + begin, joint, end - begin);
        memcpy(row->next + end, text, size);
    } else {
        row->finding = 0;
    }
}

/* True if less in use would have let the request succeed, and no advice is more specific. */
static bool needs_less_in_use(const struct oom_row *row)
{
    return (row->verdict == OOM_SHORTAGE || row->verdict == OOM_FRAGMENTATION) &&
           row->attempt_bytes == 0 && row->state_rest_bytes == 0 && !row->of_temporaries;
}

void oom_finding_add(struct ooms *ooms, const struct findings *findings, const struct moment *peak,
                     enum unit unit)
{
    for (size_t i = 0; i < ooms->count; i++) {
        struct oom_row *row = &ooms->items[i];
        row->finding = needs_less_in_use(row) ? choose(findings, row, peak) : 0;
        if (row->finding > 0)
            advise(row, &findings->items[row->finding - 1], unit);
    }
}
