/* Advice for requests after which the rest of the step would not have fit either: a remedy for the
 * request alone only moves the failure. */
#ifndef MEMSNAP_ANALYSIS_OOM_NEXT_H
#define MEMSNAP_ANALYSIS_OOM_NEXT_H

#include "analysis/oom/oom.h"

/* What the step would have needed beyond all that PyTorch can have; at most 0: nothing, or not
 * known. */
int64_t oom_missing_bytes(const struct oom_row *row);

/* How many times as large the request is as the largest one of the same code in earlier steps; 0:
 * not known, or not much larger. */
double oom_larger_times(const struct oom_row *row);

/* What a request is for, or what is unusual about its batch. */
enum oom_cause {
    OOM_CAUSE_NONE,        /* nothing is known of it */
    OOM_CAUSE_TEMPORARIES, /* of_temporaries */
    OOM_CAUSE_BATCH,       /* the batch is larger than those of earlier steps */
    OOM_CAUSE_ATTENTION,   /* of_attention */
    OOM_CAUSE_LOGITS,      /* of_logits */
};

/* The cause that `next` gives advice on. None if a setting is enough. */
enum oom_cause oom_cause_of(const struct oom_row *row);

/* Rewrites `next` of such rows, after oom_rest_add(), oom_pass_add() and oom_state_add(). `step` is
 * what `like_step` counts, such as "step". */
void oom_next_add(struct ooms *ooms, const char *step, enum unit unit);

#endif
