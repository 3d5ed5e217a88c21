/* The state that the rules for traced and for preexisting allocations share. */
#ifndef MEMSNAP_ANALYSIS_CATEGORY_CLASSIFIER_H
#define MEMSNAP_ANALYSIS_CATEGORY_CLASSIFIER_H

#include "analysis/category/category.h"
#include "analysis/category/roles.h"
#include "analysis/category/size_tally.h"
#include "analysis/phase/phases.h"
#include "analysis/phase/step_marks.h"

/* The size of cuBLAS's default workspace (CUBLAS_WORKSPACE_CONFIG=:4096:2:16:8), which it keeps. */
#define CUBLAS_WORKSPACE (4096u * 1024 * 2 + 16u * 1024 * 8)

/* The sizes of the last gradients that a backward run left, in order of birth. Plain code after it
 * may join all of them, or those that came last, in one flat vector. */
#define FLAT_MOST 256
struct left_gradients {
    uint32_t run; /* valid if count > 0 */
    uint32_t count;
    uint64_t sizes[FLAT_MOST]; /* a ring: that of number n is at n % FLAT_MOST */
};

struct classifier {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct phases *phases;
    struct size_tallies tallies;
    uint32_t first_step_run;     /* the first run that is forward, backward or optimizer */
    uint32_t first_backward_run; /* NO_RUN if none */
    bool has_forward;
    bool has_model;           /* of the allocations taken so far, some made a model */
    bool is_guess;            /* the phases are only guessed */
    bool is_cut;              /* the trace may end in the middle of a step */
    bool frees_have_stacks;   /* some do */
    bool has_sparse;          /* gradients of tables are sparse, and have other sizes */
    bool shows_copies;        /* of the stacks taken so far, some show a copy to the device */
    bool has_file_categories; /* some event has a category in the file */
    double used, dropped;     /* bytes of gradients: live in a step that follows, or freed before */
    uint32_t samples;         /* of a batch, each with gradients of its own; 0 if there are none */
    double early_bytes;       /* of blocks that stay and were there before the first step */
    bool sizes_tell; /* without stacks: gradients have the sizes of blocks that stay; early_sizes.c
                      */
    bool passes_make_states; /* without stacks: what passes leave for good are states */
    struct left_gradients left;
    uint32_t batch_run;    /* the run in which the last batch was made; 0 if none */
    stack_id result_stack; /* of the last result of a pass that plain code kept; else STACK_NONE */
    struct step_marks steps;      /* annotated optimizer steps */
    struct step_marks zero_grads; /* annotated calls of zero_grad(); without stacks only */
    struct size_sum replaced;     /* parameters that were made, and freed before the first step */
    uint32_t teardown;  /* the item from which on the program only frees; EVENT_NEVER if unknown */
    struct roles roles; /* once all is counted */
};

static inline enum phase classifier_phase(const struct classifier *classifier, uint32_t run)
{
    return run < classifier->phases->count ? (enum phase)classifier->phases->runs[run].phase
                                           : PHASE_UNKNOWN;
}

/* The reason byte for a reason that rests on the phase of a run: with less confidence if only
 * lifetimes tell that phase. */
static inline uint8_t classifier_doubt(const struct classifier *classifier, enum reason reason,
                                       uint32_t run)
{
    static const enum doubt doubts[] = {
        [PHASE_BY_LIFETIMES] = DOUBT_INFERRED, [PHASE_GUESSED] = DOUBT_GUESS};
    return reason_byte(reason, run < classifier->phases->count
                                   ? doubts[classifier->phases->runs[run].evidence]
                                   : DOUBT_NONE);
}

/* True if it is never freed, or only when the program ends. */
static inline bool classifier_stays(const struct classifier *classifier, uint32_t end)
{
    return end == EVENT_NEVER || end >= classifier->teardown;
}

/* Gives the next block of a size a role, once all sizes are counted: blocks that were allocated
 * before the first step and stay. `end` is the item at which it is freed. */
bool classifier_persistent(struct classifier *classifier, uint64_t size, uint32_t end,
                           enum reason *reason, struct error *err);

/* traced_reason.c: true if the operator makes zeros, as optimizers' states begin. */
bool facts_make_zeros(const struct symbols *symbols, const struct stack_facts *facts);

/* early_sizes.c: counts `early` of every size, and without stacks sets sizes_tell and
 * passes_make_states. */
bool classifier_count_early(struct classifier *classifier, struct error *err);

/* True if blocks of the size were there before the first step and stay, or those of the size of a
 * single sample, of which it may hold the gradients. */
bool classifier_has_early(const struct classifier *classifier, uint64_t size);

/* True if annotations, in a trace without stacks, show that zero_grad() frees a block of a weight's
 * size at the item. */
bool classifier_zero_grad_frees(const struct classifier *classifier, uint64_t size, uint32_t end);

/* True if a block of the size cannot be a gradient: in a trace without stacks, whose gradients have
 * the sizes of blocks that stay, it has none of these, and plain code joined none of them to it. */
bool classifier_is_no_gradient(const struct classifier *classifier, uint64_t size);

/* The categories, in this order. First what is allocated in the trace, by stack, phases and
 * lifetime; counts sizes for the others. */
bool classify_traced(struct classifier *classifier, struct categories *categories,
                     struct error *err);
/* Then what was allocated before the trace's first event: with a stack (recording was on when it
 * was made) by the context of that stack; without one only its size and its end are known. */
bool classify_preexisting(struct classifier *classifier, struct categories *categories,
                          struct error *err);
/* Last, with every size counted, the parameters that plain code made in the trace. */
bool classify_traced_persistent(struct classifier *classifier, struct categories *categories,
                                struct error *err);

/* plain_zeros.c: then zeros that looked like states, but only of a few weights. */
void classify_plain_zeros(const struct classifier *classifier, struct categories *categories);

/* constructors.c: then what looked like data, but was made beside the weights of a model. */
bool classify_constructed(const struct classifier *classifier, struct categories *categories,
                          struct error *err);

/* state_copies.c: then what looked like a batch, but repeats the states of an optimizer. */
bool classify_state_copies(const struct classifier *classifier, struct categories *categories,
                           struct error *err);

/* weight_lists.c: then what looked like a batch, but is a list with a tensor for each weight. */
void classify_weight_lists(const struct classifier *classifier, struct categories *categories);

/* kept_lists.c: then what looked like a batch, but is in a list of results. */
bool classify_kept_lists(const struct classifier *classifier, struct categories *categories,
                         struct error *err);

/* plain_weights.c: then what lives over backward passes. */
bool classify_plain_weights(const struct classifier *classifier, struct categories *categories,
                            struct error *err);

/* swapped_weights.c: then what looked like a state, but takes the place of a weight. */
bool classify_swapped_weights(const struct classifier *classifier, struct categories *categories,
                              struct error *err);

/* late_factors.c: then what a pass seemed to make, but are factors of an optimizer in hooks. */
void classify_late_factors(const struct classifier *classifier, struct categories *categories);

/* first_batches.c: then what looked like a weight, but comes from the line that makes batches. */
bool classify_first_batches(const struct classifier *classifier, struct categories *categories,
                            struct error *err);

/* After all others, caches of keys and values, and autocast's copies of weights: they count as
 * activations, parameters or unknown until then. */
bool classify_kv_cache(const struct classifier *classifier, struct categories *categories,
                       struct error *err);
/* kv_pool.c: the part of it that finds pools. */
bool classify_kv_pool(const struct classifier *classifier, struct categories *categories,
                      struct error *err);
/* kv_chains.c: the part of it for traces without stacks. */
bool classify_kv_chains(const struct classifier *classifier, struct categories *categories,
                        struct error *err);
bool classify_cast_cache(const struct classifier *classifier, struct categories *categories,
                         struct error *err);

#endif
