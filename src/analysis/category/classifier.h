/* The state that the rules for traced and for preexisting allocations share. */
#ifndef MEMSNAP_ANALYSIS_CATEGORY_CLASSIFIER_H
#define MEMSNAP_ANALYSIS_CATEGORY_CLASSIFIER_H

#include "analysis/category/category.h"
#include "analysis/category/roles.h"
#include "analysis/category/size_tally.h"
#include "analysis/phase/phases.h"
#include "analysis/phase/step_marks.h"

/* The sizes of the last gradients that a backward run left, in order of birth. Plain code after the
 * run may join all of them, or the last ones, in one flat vector. */
#define FLAT_MOST 256
struct left_gradients {
    uint32_t run; /* the backward run; valid if count > 0 */
    uint32_t count;
    uint64_t sizes[FLAT_MOST]; /* a ring buffer: gradient n is at n % FLAT_MOST */
};

/* The last that plain code made of one kind, a stack each: results of passes that it kept, such as
 * the logits of an evaluation, or batches. A loop makes a few of them in each iteration. */
#define LINES_MOST 8
struct last_lines {
    struct last_line {
        stack_id stack;
        uint64_t size;
        uint32_t end; /* item: where what it made last is freed, or EVENT_NEVER */
    } items[LINES_MOST];
    size_t count; /* of stacks that were noted; stack n is at n % LINES_MOST */
};

/* Until when batches live that plain code made since the last backward pass, of those that are
 * freed: those of the last run that made one, and those of earlier runs. */
struct live_inputs {
    uint32_t run, end, earlier_end; /* items */
};

/* Kept workspaces of cuBLAS: of each of its two sizes, one of each thread of a step. */
#define WORKSPACES_MOST 4

struct classifier {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct phases *phases;
    struct size_tallies tallies;
    uint32_t first_step_run;     /* the first run that is forward, backward or optimizer */
    uint32_t first_backward_run; /* NO_RUN if none */
    uint32_t last_backward_run;  /* NO_RUN if there are not several passes */
    uint32_t transform_run;      /* the last backward run so far that torch.func began, or NO_RUN */
    bool has_forward;
    bool has_model;           /* an allocation seen so far made a model */
    bool is_guess;            /* some phases are only guessed */
    bool is_cut;              /* the trace may end in the middle of a step */
    uint32_t zero_grad_frees; /* gradients seen so far that zero_grad() frees */
    bool frees_have_stacks;   /* at least one does */
    bool has_sparse;   /* gradients of embedding tables are sparse, so their sizes are not those of
                          the tables */
    bool shows_copies; /* a stack seen so far copies to the device */
    bool has_file_categories; /* some event has a category in the file */
    double used, dropped;     /* bytes of gradients that are live in the next optimizer step, and of
                                 those that are freed before */
    uint32_t samples;         /* of a batch, if passes leave a gradient for each sample; else 0 */
    double early_bytes;       /* bytes of blocks that existed before the first step and stay */
    bool sizes_tell;    /* without stacks: gradients can be told by their sizes, which are those of
                           blocks that stay; set by early_sizes.c */
    bool lacks_weights; /* without stacks: no block stays that is older than the first pass. Since
                           each pass needs weights, the passes are not where they seem to be */
    bool passes_make_states; /* without stacks: blocks that passes leave for good are optimizer
                                states */
    bool has_late_models;    /* without stacks: the program makes further models between steps */
    struct left_gradients left;
    uint32_t batch_run;  /* the run in which the last batch was made; 0 if none */
    uint32_t copied_run; /* the last run in which plain code copied something to the device */
    double copied_bytes; /* that it has copied in that run */
    uint32_t model_run;  /* the last run of plain code that computes with a model; NO_RUN if none */
    struct last_lines results; /* that plain code kept */
    struct last_lines batches; /* that operators do not tell */
    struct live_inputs inputs;
    uint32_t workspaces[WORKSPACES_MOST]; /* numbers of lifetimes; see kept_workspaces.c */
    size_t workspace_count;
    struct step_marks steps;      /* annotated optimizer steps */
    struct step_marks zero_grads; /* annotated calls of zero_grad(); without stacks only */
    struct size_sum replaced;     /* parameters that were made and freed before the first step */
    uint32_t teardown; /* the item from which on the program only frees; EVENT_NEVER if not known */
    struct roles roles; /* valid once all sizes are counted */
};

static inline enum phase classifier_phase(const struct classifier *classifier, uint32_t run)
{
    return run < classifier->phases->count ? (enum phase)classifier->phases->runs[run].phase
                                           : PHASE_UNKNOWN;
}

/* The reason byte for a reason that rests on the phase of a run. It has a doubt if the phase is
 * only inferred from lifetimes, or guessed. An inference that finds passes without weights is no
 * better than a guess. */
static inline uint8_t classifier_doubt(const struct classifier *classifier, enum reason reason,
                                       uint32_t run)
{
    static const enum doubt doubts[] = {
        [PHASE_BY_LIFETIMES] = DOUBT_INFERRED, [PHASE_GUESSED] = DOUBT_GUESS};
    enum doubt doubt = run < classifier->phases->count
                           ? doubts[classifier->phases->runs[run].evidence]
                           : DOUBT_NONE;
    return reason_byte(reason,
                       doubt == DOUBT_INFERRED && classifier->lacks_weights ? DOUBT_GUESS : doubt);
}

/* True if an allocation that ends at an item is never freed, or only when the program ends. */
static inline bool classifier_stays(const struct classifier *classifier, uint32_t end)
{
    return end == EVENT_NEVER || end >= classifier->teardown;
}

/* persistent.c: decides the role of the next block of a size. Only for blocks that were allocated
 * before the first step and stay, once all sizes are counted. `end` is the item at which the block
 * is freed.
 */
bool classifier_persistent(struct classifier *classifier, uint64_t size, uint32_t end,
                           enum reason *reason, struct error *err);

/* persistent.c: corrects a reason by the operator. Sizes alone do not tell states from copies
 * of the model, nor masters in one buffer from main gradients in one buffer. But masters are copied
 * from the weights, while states and gradients begin as zeros. */
enum reason classifier_buffer_reason(const struct classifier *classifier, uint64_t size,
                                     const struct stack_facts *facts, enum reason reason);

/* False if the stack is not known. */
static inline bool facts_are_of_plain_code(const struct stack_facts *facts)
{
    return facts && (facts->context == CONTEXT_OTHER || facts->context == CONTEXT_DATA);
}

/* traced_reason.c: true if the operator makes zeros, which is how optimizer states begin. */
bool facts_make_zeros(const struct symbols *symbols, const struct stack_facts *facts);

/* kept_workspaces.c: finds the workspaces of cuBLAS that a program keeps. */
void classifier_find_workspaces(struct classifier *classifier);
bool classifier_is_workspace(const struct classifier *classifier, size_t index);
/* The same: true if the allocation before was made by the same line, has another size, and is
 * freed, as the result of a matrix product is. */
bool classifier_follows_result(const struct classifier *classifier, size_t index);

/* early_sizes.c: counts `early` of every size. Without stacks, also sets sizes_tell and
 * passes_make_states. */
bool classifier_count_early(struct classifier *classifier, struct error *err);

/* True if blocks of the size existed before the first step and stay. Also true if blocks of the
 * size of a single sample do, and this size may be that of the gradients of a whole batch. */
bool classifier_has_early(const struct classifier *classifier, uint64_t size);
/* True if blocks existed before the first step and stay, as weights do, but none of the size. */
bool classifier_lacks_early(const struct classifier *classifier, uint64_t size);

/* True if a block is freed by zero_grad(), as annotations show in a trace without stacks, and has
 * the size of a weight. */
bool classifier_zero_grad_frees(const struct classifier *classifier, uint64_t size, uint32_t end);

/* late_models.c: without stacks, but with annotated optimizer steps, notes the sizes of the weights
 * of models that are made between steps, and sets has_late_models if later passes leave gradients
 * of these sizes. */
bool classifier_find_late_models(struct classifier *classifier, struct error *err);

/* leaked_sizes.c: without stacks, counts for every early size the passes that leave blocks of it
 * for good; see size_tally_leaks(). */
void classifier_find_leaks(const struct classifier *classifier);

/* True if an allocation of the trace outlives the backward pass that makes it. */
static inline bool classifier_outlives_backward(const struct classifier *classifier, size_t index)
{
    struct lifetime_runs runs = classifier->phases->of_lifetime[index];
    return classifier_phase(classifier, runs.birth) == PHASE_BACKWARD &&
           !phases_same_backward(classifier->phases, runs.birth, runs.end);
}

/* True if a block of the size cannot be a gradient. In a trace without stacks, gradients have the
 * sizes of blocks that stay. A block of another size is a gradient only if plain code joined
 * gradients to it. Sizes that leak are none of gradients. */
bool classifier_is_no_gradient(const struct classifier *classifier, uint64_t size);

/* The categories are assigned in the order of the functions below. First, allocations of the trace:
 * by stack, phases and lifetime. Also counts sizes for the other rules. */
bool classify_traced(struct classifier *classifier, struct categories *categories,
                     struct error *err);
/* Second, allocations from before the trace. If recording was on when one was made, it has a stack,
 * whose context decides. Without a stack, only its size and its end are known. */
bool classify_preexisting(struct classifier *classifier, struct categories *categories,
                          struct error *err);
/* Third, when every size is counted: parameters that plain code made in the trace. */
bool classify_traced_persistent(struct classifier *classifier, struct categories *categories,
                                struct error *err);

/* plain_zeros.c: corrects zeros that were taken for optimizer states, if they exist for only a few
 * weights. */
void classify_plain_zeros(const struct classifier *classifier, struct categories *categories);
/* The same for zeros from before the trace, which would otherwise be copies of the model. Their
 * reason bytes are still without a doubt. */
void classify_earlier_zeros(const struct classifier *classifier, struct categories *categories);

/* late_copies.c: without stacks, corrects what was taken for states, if it is a copy of the model
 * that is made after them, and the states that were taken for the copy. */
bool classify_late_copies(const struct classifier *classifier, struct categories *categories,
                          struct error *err);

/* constructors.c: corrects what was taken for data, if a constructor made it together with the
 * weights of a model. */
bool classify_constructed(const struct classifier *classifier, struct categories *categories,
                          struct error *err);

/* state_copies.c: corrects what was taken for a batch, if it is a copy of optimizer states. */
bool classify_state_copies(const struct classifier *classifier, struct categories *categories,
                           struct error *err);

/* weight_lists.c: corrects what was taken for a batch, if it is in a list with a tensor for each
 * weight. */
void classify_weight_lists(const struct classifier *classifier, struct categories *categories);

/* kept_lists.c: corrects what was taken for a batch, if it is in a list of results. */
bool classify_kept_lists(const struct classifier *classifier, struct categories *categories,
                         struct error *err);

/* plain_weights.c: finds weights and states that plain code makes, by the backward passes they live
 * over. */
bool classify_plain_weights(const struct classifier *classifier, struct categories *categories,
                            struct error *err);

/* swapped_weights.c: corrects what was taken for an optimizer state, if it replaces a weight. */
bool classify_swapped_weights(const struct classifier *classifier, struct categories *categories,
                              struct error *err);

/* early_results.c: corrects what was taken for a batch, if the backward pass makes gradients of it.
 */
bool classify_early_results(const struct classifier *classifier, struct categories *categories,
                            struct error *err);

/* held_graphs.c: corrects what was taken for a batch, if it is too much for one. */
bool classify_held_graphs(struct classifier *classifier, struct categories *categories,
                          struct error *err);

/* replaced_gradients.c: finds gradients that plain code puts in the place of others. */
bool classify_replaced_gradients(const struct classifier *classifier, struct categories *categories,
                                 struct error *err);

/* gradient_vectors.c: finds vectors of gradients that plain code makes before the optimizer step.
 */
void classify_gradient_vectors(const struct classifier *classifier, struct categories *categories);

/* first_states.c: corrects what was taken for memory that a pass saves, if it is states that hooks
 * make. */
void classify_first_states(const struct classifier *classifier, struct categories *categories);

/* result_buffers.c: finds buffers for the results of passes without gradients. Call it after the
 * caches are known, which such passes fill, too. */
bool classify_result_buffers(const struct classifier *classifier, struct categories *categories,
                             struct error *err);

/* stored_rows.c: corrects what was taken for frozen weights, if batches are taken from it. */
bool classify_stored_rows(const struct classifier *classifier, struct categories *categories,
                          struct error *err);

/* rebuilt_buckets.c: without stacks, finds the buckets of DistributedDataParallel where it replaces
 * them. */
void classify_rebuilt_buckets(const struct classifier *classifier, struct categories *categories);

/* late_factors.c: corrects what was taken for a result of a pass, if it is a Kronecker factor of an
 * optimizer that runs in hooks. */
void classify_late_factors(const struct classifier *classifier, struct categories *categories);

/* last_results.c: corrects what was taken for a batch, if it is the last of the results that a loop
 * of plain code makes and frees. */
bool classify_last_results(const struct classifier *classifier, struct categories *categories,
                           struct error *err);
/* kept_scores.c: the same without stacks, for results that live while the program trains. */
bool classify_kept_scores(const struct classifier *classifier, struct categories *categories,
                          struct error *err);
/* epoch_results.c: the same without stacks, for what an evaluation computes after training. */
bool classify_epoch_results(const struct classifier *classifier, struct categories *categories,
                            struct error *err);
/* dropped_models.c: without stacks, finds the weights of models that a program makes, computes
 * with, and drops. */
void classify_dropped_models(const struct classifier *classifier, struct categories *categories);

/* first_batches.c: corrects what was taken for a weight, if the line that makes batches made it. */
bool classify_first_batches(const struct classifier *classifier, struct categories *categories,
                            struct error *err);

/* Last, caches of keys and values, and autocast's copies of weights. Up to here they count as
 * activations, parameters or unknown. */
bool classify_kv_cache(const struct classifier *classifier, struct categories *categories,
                       struct error *err);
/* kv_pool.c: called by classify_kv_cache(); finds pools. */
bool classify_kv_pool(const struct classifier *classifier, struct categories *categories,
                      struct error *err);
/* kv_standing.c: called by classify_kv_cache(), for captures without a backward pass; finds caches
 * among blocks with stacks that were made before the first event. */
bool classify_kv_standing(const struct classifier *classifier, struct categories *categories,
                          struct error *err);
/* kv_chains.c: called by classify_kv_cache(); for traces without stacks. */
bool classify_kv_chains(const struct classifier *classifier, struct categories *categories,
                        struct error *err);
bool classify_cast_cache(const struct classifier *classifier, struct categories *categories,
                         struct error *err);

/* preexisting_ends.c: corrects blocks from before the trace that were taken for inputs like others
 * of their sizes, if the functions above have found these to be activations. */
void classify_ends_again(const struct classifier *classifier, struct categories *categories);

/* block_stacks.c: corrects the categories, which the events of a trace without stacks show, by the
 * stacks that blocks of the dump have. */
bool classify_block_stacks(struct classifier *classifier, struct categories *categories,
                           struct error *err);

#endif
