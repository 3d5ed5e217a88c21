/* Why an allocation has its category: the rule that decided, one of a fixed set. */
#ifndef MEMSNAP_ANALYSIS_REASON_H
#define MEMSNAP_ANALYSIS_REASON_H

#include <stdint.h>

enum category {
    CATEGORY_PARAMETER,
    CATEGORY_GRADIENT,
    CATEGORY_OPTIMIZER_STATE,
    CATEGORY_ACTIVATION,
    CATEGORY_INPUT,
    CATEGORY_TEMPORARY,
    CATEGORY_AUTOGRAD_DETAIL,
    CATEGORY_COMMUNICATION,
    CATEGORY_WORKSPACE,
    CATEGORY_UNKNOWN,
    CATEGORY_COUNT,
};

/* "optimizer_state"; "unexplained" for CATEGORY_COUNT: what a trace that contradicts itself leaves
 * over */
const char *category_name(enum category category);

enum confidence { CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };

const char *confidence_name(enum confidence confidence); /* "low" */

enum reason {
    REASON_NONE, /* nothing decides */
    REASON_FILE,
    REASON_WORKSPACE,
    REASON_COMMUNICATION,
    REASON_STEP_FREED,
    REASON_STEP_KEPT,
    REASON_STEP_REPLACED,
    REASON_BACKWARD_ACCUMULATED,
    REASON_BACKWARD_KEPT,
    REASON_BACKWARD_IN_OPERATOR,
    REASON_BACKWARD_PASSED_ON,
    REASON_ZERO_GRAD_FREED,
    REASON_RECOMPUTED,
    REASON_RECOMPUTED_FREED,
    REASON_FORWARD_KEPT,
    REASON_FORWARD_FREED,
    REASON_MODEL_MADE,
    REASON_MODEL_MADE_FREED,
    REASON_BACKWARD_FREES,
    REASON_LOSS,
    REASON_BATCH,
    REASON_PLAIN_FREED,
    REASON_GRADIENT_SIZES,
    REASON_COUNT,
};

const char *reason_name(enum reason reason);     /* "gradient-sizes": stable, for programs */
const char *reason_sentence(enum reason reason); /* for people, without a full stop */
enum category reason_category(enum reason reason);
enum confidence reason_confidence(enum reason reason);

#endif
