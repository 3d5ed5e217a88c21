#include "analysis/oom/next.h"

#include <stdio.h>
#include <string.h>

#include "analysis/oom/shared_words.h"

#define LARGER_BATCH 1.5 /* times the activations of an earlier step at the same request */

#define SETTING "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"

int64_t oom_missing_bytes(const struct oom_row *row)
{
    int64_t most;
    if (row->step_bytes == 0 ||
        __builtin_add_overflow(row->at.reserved_bytes, row->device_free_bytes, &most))
        return 0;
    return row->step_bytes - most;
}

static void advise_on_states(struct oom_row *row)
{
    snprintf(row->next, sizeof(row->next),
             "keep less optimizer state: states of 8 bits, an optimizer with fewer or factored "
             "states (Adafactor), fewer trained weights (LoRA), or states that FSDP or "
             "ZeroRedundancyOptimizer divides among ranks. A smaller batch does not make them "
             "smaller");
}

static void advise_on_temporaries(struct oom_row *row)
{
    snprintf(row->next, sizeof(row->next), "%s", AVOID_FOREACH);
}

static bool has_larger_step(const struct oom_row *row)
{
    return row->step_bytes > 0 && row->like_times >= LARGER_BATCH;
}

double oom_larger_times(const struct oom_row *row)
{
    double times =
        row->earlier_bytes > 0 ? (double)row->requested_bytes / (double)row->earlier_bytes : 0;
    return times >= LARGER_BATCH ? times : 0;
}

static bool advises_setting(const struct oom_row *row)
{
    return row->verdict == OOM_FRAGMENTATION && strstr(row->next, "set " SETTING) == row->next;
}

/* True if the setting that `next` names lets the rest of the step through as well, judged by an
 * earlier step. */
static bool setting_is_enough(const struct oom_row *row)
{
    return advises_setting(row) && row->setting_fits && row->step_bytes > 0 &&
           oom_missing_bytes(row) <= 0;
}

enum oom_cause oom_cause_of(const struct oom_row *row)
{
    if (row->of_temporaries)
        return OOM_CAUSE_TEMPORARIES;
    if (setting_is_enough(row))
        return OOM_CAUSE_NONE;
    if (has_larger_step(row))
        return OOM_CAUSE_BATCH;
    if (row->of_attention)
        return OOM_CAUSE_ATTENTION;
    if (oom_larger_times(row) > 0)
        return OOM_CAUSE_BATCH;
    return row->of_logits ? OOM_CAUSE_LOGITS : OOM_CAUSE_NONE;
}

static void advise_on_larger_batch(struct oom_row *row, const char *step)
{
    static const char group[] = "If its samples are longer or larger, group samples of similar "
                                "size, or limit the tokens of a batch instead of its samples";
    static const char limit[] = "limit the size of the largest batches";
    if (has_larger_step(row))
        snprintf(row->next, sizeof(row->next),
                 "%s: at this request, the %s holds %.1f times the activations that %s %lld held. "
                 "%s",
                 limit, step, row->like_times, step, (long long)row->like_step, group);
    else
        snprintf(row->next, sizeof(row->next),
                 "%s: the request is %.1f times as large as any that an earlier %s made here. %s",
                 limit, oom_larger_times(row), step, group);
}

static void advise_on_attention(struct oom_row *row, const char *step)
{
    int size = snprintf(row->next, sizeof(row->next),
                        "let a fused kernel of scaled_dot_product_attention() compute the "
                        "attention, because the request is for a matrix of all pairs of tokens, "
                        "which no fused kernel makes");
    if (oom_larger_times(row) > 0)
        snprintf(row->next + size, sizeof(row->next) - (size_t)size,
                 ". The request is also %.1f times as large as any that an earlier %s made here: "
                 "group samples of similar size, or limit the tokens of a batch",
                 oom_larger_times(row), step);
}

static void advise_on_logits(struct oom_row *row)
{
    snprintf(row->next, sizeof(row->next),
             "compute the logits and the loss for a part of the tokens or samples at a time, each "
             "part under torch.utils.checkpoint if a backward pass follows: the request is for "
             "logits, or for what the loss computes from them");
}

/* The setting is the first advice for fragmentation, if it would let the request through. */
static void advise_beyond_setting(struct oom_row *row, int64_t missing, enum unit unit)
{
    char bytes[UNITS_TEXT_SIZE];
    snprintf(row->next, sizeof(row->next),
             "save %s or more, for example with a smaller batch or sequence, because the rest of "
             "the step does not fit either. " SETTING " would only let this request through",
             units_bytes(bytes, missing, unit));
}

/* The rest of the step is needed as well, but nothing shows how much it is. */
static void advise_at_unknown(struct oom_row *row, enum unit unit)
{
    char bytes[UNITS_TEXT_SIZE];
    snprintf(row->next, sizeof(row->next),
             "use a smaller batch or sequence, because more is needed after this request. " SETTING
             ", set before the first CUDA call, makes at most %s more usable",
             units_bytes(bytes, (int64_t)row->layout.pool_bytes, unit));
}

/* Advises on what the request or its batch is, if that is known. */
static bool advise_on_cause(struct oom_row *row, const char *step)
{
    switch (oom_cause_of(row)) {
    case OOM_CAUSE_TEMPORARIES:
        advise_on_temporaries(row);
        break;
    case OOM_CAUSE_BATCH:
        advise_on_larger_batch(row, step);
        break;
    case OOM_CAUSE_ATTENTION:
        advise_on_attention(row, step);
        break;
    case OOM_CAUSE_LOGITS:
        advise_on_logits(row);
        break;
    case OOM_CAUSE_NONE:
        return false;
    }
    return true;
}

void oom_next_add(struct ooms *ooms, const char *step, enum unit unit)
{
    for (size_t i = 0; i < ooms->count; i++) {
        struct oom_row *row = &ooms->items[i];
        int64_t missing = oom_missing_bytes(row);
        bool lacks = row->verdict == OOM_SHORTAGE || row->verdict == OOM_FRAGMENTATION;
        if (lacks && row->attempt_bytes == 0 && advise_on_cause(row, step))
            continue;
        if (row->rest_is_unknown && advises_setting(row))
            advise_at_unknown(row, unit);
        if (missing <= 0 || row->attempt_bytes > 0)
            continue;
        if (row->state_rest_bytes > 0 && lacks)
            advise_on_states(row);
        else if (advises_setting(row))
            advise_beyond_setting(row, missing, unit);
    }
}
