/* Categories, and the reasons for them: which of a fixed set of rules decided. */
#ifndef MEMSNAP_ANALYSIS_CODE_REASON_H
#define MEMSNAP_ANALYSIS_CODE_REASON_H

#include <stdbool.h>
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
    CATEGORY_KV_CACHE,
    CATEGORY_CAST_CACHE,
    CATEGORY_UNKNOWN,
    CATEGORY_COUNT,
    CATEGORY_LIMIT = 66, /* ids above CATEGORY_COUNT are the user's own: see category_define() */
};

/* "optimizer_state"; "unexplained" for CATEGORY_COUNT, bytes that a contradictory trace leaves
 * unaccounted for */
const char *category_name(enum category category);
/* Finds the category of that name, or defines it for this run of the program. Call it before
 * starting threads. False when there are too many. Names are raw bytes: escape them for display. */
bool category_define(const char *name, uint8_t *category);
/* Finds an existing category by its name; false if there is none. "unexplained" is not found. */
bool category_find(const char *name, enum category *category);

enum confidence { CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };

const char *confidence_name(enum confidence confidence); /* "low" */

enum reason {
    REASON_NONE, /* nothing decides */
    REASON_FILE,
    REASON_RULE,
    REASON_ANNOTATED,
    REASON_WORKSPACE,
    REASON_WORKSPACE_SIZE,
    REASON_BENCHMARK,
    REASON_COMMUNICATION,
    REASON_STEP_FREED,
    REASON_STEP_KEPT,
    REASON_STEP_REPLACED,
    REASON_BACKWARD_ACCUMULATED,
    REASON_HOOK_STATE,
    REASON_PASS_STATE,
    REASON_FIRST_PASS_STATE,
    REASON_BACKWARD_KEPT,
    REASON_BACKWARD_SAVED,
    REASON_BACKWARD_SCRATCH,
    REASON_BACKWARD_PASSED_ON,
    REASON_UNFINISHED_GRADIENT,
    REASON_UNFINISHED_BACKWARD,
    REASON_ZERO_GRAD_FREED,
    REASON_GRADIENT_REPLACED,
    REASON_RECOMPUTED,
    REASON_RECOMPUTED_SCRATCH,
    REASON_FORWARD_KEPT,
    REASON_WEIGHT_REPLACED,
    REASON_WEIGHT_SWAPPED,
    REASON_FORWARD_PASSED_ON,
    REASON_FORWARD_RESULT,
    REASON_FORWARD_SCRATCH,
    REASON_GRAPH_DROPPED,
    REASON_MODEL_MADE,
    REASON_MODEL_MADE_FREED,
    REASON_BACKWARD_FREES,
    REASON_LOSS,
    REASON_AFTER_FORWARD,
    REASON_BATCH,
    REASON_BEFORE_FORWARD,
    REASON_BEFORE_MODULES,
    REASON_PLAIN_WEIGHT,
    REASON_PLAIN_STATE,
    REASON_PLAIN_ZEROS,
    REASON_WEIGHT_LIST,
    REASON_STATE_COPY,
    REASON_STATE_ORDER,
    REASON_GRADIENT_LIST,
    REASON_FIRST_BATCH,
    REASON_COPIED,
    REASON_PREPARED,
    REASON_CONSTRUCTED,
    REASON_MAIN_GRADIENT,
    REASON_PLAIN_FREED,
    REASON_GRADIENT_SIZES,
    REASON_FIRST_OF_SIZE,
    REASON_WEIGHT_VECTOR,
    REASON_MODEL_COPY,
    REASON_STATE_SIZES,
    REASON_STATE_BYTES,
    REASON_STATE_FACTORS,
    REASON_MASTER_SIZES,
    REASON_MAIN_SIZES,
    REASON_FLAT_WEIGHTS,
    REASON_FLAT_GRADIENTS,
    REASON_GRADIENTS_STAY,
    REASON_GRADIENT_BEFORE,
    REASON_TWIN_INPUT,
    REASON_TWIN_ACTIVATION,
    REASON_TWIN_GRADIENT,
    REASON_LEAKED_INPUT,
    REASON_LEAKED_ACTIVATION,
    REASON_INFERENCE,
    REASON_PERSISTENT,
    REASON_PERSISTENT_DATA,
    REASON_RELEASED_DATA,
    REASON_KV_CACHE_CODE,
    REASON_KV_CACHE_GROWS,
    REASON_KV_CACHE_FIRST,
    REASON_KV_CACHE_POOL,
    REASON_KV_CACHE_HELD,
    REASON_KV_CACHE_CHAIN,
    REASON_KV_CACHE_BESIDE,
    REASON_CAST_CACHED,
    REASON_CAST_WEIGHT,
    REASON_BEFORE_PROFILE,
    REASON_COUNT,
};

/* What makes a reason less certain. If the phase that it rests on is itself inferred, the
 * confidence is one degree lower. If the phase is only a guess, the confidence is low. */
enum doubt { DOUBT_NONE, DOUBT_INFERRED, DOUBT_GUESS };

#define REASON_LIMIT 85 /* reasons that a reason byte can hold beside the doubt */

static inline uint8_t reason_byte(enum reason reason, enum doubt doubt)
{
    return (uint8_t)((unsigned)reason + REASON_LIMIT * (unsigned)doubt);
}

static inline enum reason reason_of(uint8_t byte)
{
    return (enum reason)(byte % REASON_LIMIT);
}

const char *reason_name(uint8_t byte);     /* "gradient-sizes": a stable identifier for programs */
const char *reason_sentence(uint8_t byte); /* for people, without a full stop */
enum category reason_category(enum reason reason);
enum confidence reason_confidence(uint8_t byte);

#endif
