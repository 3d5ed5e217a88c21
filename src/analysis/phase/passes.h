/* Pairs of a forward and a backward pass in a trace without stacks. For analysis/phase only. */
#ifndef MEMSNAP_ANALYSIS_PHASE_PASSES_H
#define MEMSNAP_ANALYSIS_PHASE_PASSES_H

#include "analysis/phase/runs.h"
#include "analysis/phase/step_marks.h"

#define LEAST_WEIGHT 64 /* bytes: smaller blocks are as often scalars */
#define MOST_SCALAR  8  /* bytes of a loss */
#define LEAST_SAVED  5  /* blocks alive at a turn that nothing else shows */

struct saved {
    uint32_t birth, end; /* items */
};

/* For qsort(). */
static inline int saved_compare_births(const void *a, const void *b)
{
    const struct saved *x = a, *y = b;
    return (x->birth > y->birth) - (x->birth < y->birth);
}

static inline int saved_compare_ends(const void *a, const void *b)
{
    const struct saved *x = a, *y = b;
    return (x->end > y->end) - (x->end < y->end);
}

/* A pair of passes: forward [forward, backward), backward [backward, end), and in a closure the
 * update [end, updated). */
struct passes {
    uint32_t forward, backward, end, updated;
    bool is_probe; /* the backward pass makes no gradients of weights, only of an input */
    bool has_root; /* the gradient of the loss by itself is known: see root_gradients.c */
};

/* Facts about a lifetime, looked up once. */
enum pattern_flag {
    PATTERN_LEAF = 1,    /* birth_is_leaf() */
    PATTERN_WEIGHT = 2,  /* of the size of a weight */
    PATTERN_CROSSES = 4, /* never freed, or freed after an annotated optimizer step */
    PATTERN_UNSAVED = 7, /* any of these: not saved for a backward pass */
    PATTERN_IN_STEP = 8, /* born in an annotated optimizer step */
    PATTERN_SHARED = 16, /* of a weight's size, but freed too early for a gradient */
    /* PATTERN_SHARED, but perhaps a gradient that is added to another: before the step there are no
     * more such blocks of its size than weights and states */
    PATTERN_RARE = 32,
    PATTERN_STAYS = 64, /* of the size of a weight, even if many activations are, too */
};

/* Blocks of the sizes of weights that are made while a hump falls. */
struct weight_births {
    double kept, all; /* bytes; `kept`: of those that outlive the fall, which are gradients */
    size_t sizes;     /* number of different sizes */
};

/* A hump whose fall may be the beginning of a backward pass that checkpoints interrupt, if it makes
 * blocks of the sizes of weights. */
struct candidate {
    struct passes passes;
    struct weight_births births; /* also those of the humps that nest in it */
    size_t members;              /* blocks of the largest of these humps */
    bool has_nested;
    bool is_probe; /* it is a probe if no other hump nests in it */
};

struct pattern {
    const struct timeline *timeline;
    const struct phases *old;       /* from annotations */
    const struct step_marks *steps; /* the annotated optimizer steps */
    uint64_t *stays; /* sizes of weights: of what lives most of the trace, ascending */
    size_t stay_count, stay_capacity;
    uint8_t *flags; /* by lifetime: enum pattern_flag */
    size_t flags_capacity;
    uint32_t samples;  /* of a batch, each with gradients of its own; 0 if none were found */
    bool are_renewed;  /* the weights are made anew in every step */
    double stay_bytes; /* of all blocks of those sizes that live that long */
    double *end_bytes; /* by lifetime: of all blocks from before it that stay until the program only
                          frees; one more at the end */
    size_t end_capacity;
    int32_t *change;  /* of the number of live blocks, by item */
    int32_t *certain; /* the same without those that are PATTERN_RARE */
    size_t change_capacity, certain_capacity;
    double most_gradients; /* bytes that the fall of one hump leaves in blocks of those sizes */
    size_t most_members;   /* blocks at the top of one hump */
    size_t most_sizes;     /* different sizes of weights among the blocks that one fall makes */
    uint8_t *marks; /* by size of a weight: 1 if the fall that is looked at makes such a block */
    size_t marks_capacity;
    struct saved *saved; /* in order of birth; between humps, those still alive */
    size_t saved_count, saved_capacity;
    bool is_open; /* the last hump was a pair of passes, and `saved` holds what it left */
    struct candidate candidate; /* the last hump may become one */
    struct saved *chain;        /* in order of birth: see hump_follow_chain() */
    size_t chain_count, chain_capacity;
    uint32_t chain_until; /* the item up to which blocks have been added to it */
    struct passes *passes;
    size_t pass_count, pass_capacity;
    size_t kept_graphs; /* how many of the passes have a graph that is kept: see held_graph.c */
    size_t probes;      /* how many of the passes are probes */
    struct budget *budget;
};

bool pattern_init(struct pattern *pattern, const struct timeline *timeline,
                  const struct phases *old, const struct step_marks *steps, bool are_renewed,
                  struct error *err);
void pattern_release(struct pattern *pattern); /* also after pattern_init() failed */

/* True if a lifetime may be saved for a backward pass. `any_size` allows the sizes of weights. */
static inline bool pattern_may_be_saved(const struct pattern *pattern, size_t index, bool any_size)
{
    any_size = any_size || (pattern->flags[index] & PATTERN_SHARED);
    int unsaved = any_size ? PATTERN_UNSAVED & ~PATTERN_WEIGHT : PATTERN_UNSAVED;
    return (pattern->flags[index] & unsaved) == 0;
}

/* True if these are not passes but code that makes a model, which piles up tensors as well. Such
 * code makes nearly all of what stays for the whole trace, and leaves nothing that may be
 * gradients. */
bool pattern_makes_model(const struct pattern *pattern, const struct passes *passes);

/* True if it is live for most of the trace and never freed. */
static inline bool pattern_lives_long(const struct timeline *timeline, uint32_t birth, uint32_t end)
{
    return end == EVENT_NEVER && (timeline->trace->count - birth) * 2 > timeline->trace->count;
}

/* Adds to pattern->stays. */
static inline bool pattern_add_size(struct pattern *pattern, uint64_t size, struct error *err)
{
    if (!vec_grow((void **)&pattern->stays, &pattern->stay_capacity, pattern->stay_count + 1,
                  sizeof(size), pattern->budget, err))
        return false;
    pattern->stays[pattern->stay_count++] = size;
    return true;
}

/* renewed.c: adds the sizes of weights that are made anew in each step: blocks of such a size are
 * live at any time, but none stays. If some sizes of weights are known, it adds only those of
 * weights whose masters stay. */
bool renewed_sizes(struct pattern *pattern, struct error *err);

/* The number of passes that make gradients of weights. */
static inline size_t pattern_training_passes(const struct pattern *pattern)
{
    return pattern->pass_count - pattern->probes;
}

bool pattern_add_passes(struct pattern *pattern, struct passes passes, struct error *err);

/* held_graph.c: adds passes if pattern->saved go at once, after gradients were made. */
bool passes_add_kept_graph(struct pattern *pattern, struct error *err);

/* pass_ends.c: the end of the backward pass that frees pattern->saved. The count of these is
 * highest at the item `top`, and falls until the item `last`. */
uint32_t passes_end_of_backward(const struct pattern *pattern, uint32_t top, uint32_t last);

/* shared_sizes.c: sets PATTERN_SHARED and PATTERN_RARE. All other flags must be there. */
bool pattern_flag_shared(struct pattern *pattern, struct error *err);

/* humps.c: finds passes by how saved blocks pile up and go. */
bool passes_from_humps(struct pattern *pattern, struct error *err);
/* sample_gradients.c: takes passes that make gradients of each sample of a batch, if it finds more
 * of these than there are passes. */
bool passes_from_samples(struct pattern *pattern, struct error *err);
/* anchors.c: adds the passes before each annotated optimizer step that has none yet, and
 * the update after the passes of a closure. Sorts the passes by time. */
bool passes_from_anchors(struct pattern *pattern, struct error *err);
/* held_steps.c: finds the passes before annotated steps whose graph is held over the step, and
 * drops others there. The passes must be in order. */
bool passes_from_held_steps(struct pattern *pattern, struct error *err);
/* rooted_passes.c: adds the passes that roots of backward passes show, if there are no others and
 * no annotated steps. */
bool passes_from_roots(struct pattern *pattern, struct error *err);
/* late_turns.c: moves turns from forward to backward that lie too early; pattern->change is lost.
 */
void passes_correct_turns(struct pattern *pattern);
/* root_gradients.c: moves turns to where backward() begins, and drops what is no pass; the passes
 * must be in order, and pattern->change is lost. */
void passes_turn_at_roots(struct pattern *pattern);
/* root_gradients.c: the first block made from an item on that is live when the root is made and is
 * freed before it; `latest`, an item before the root, if none is made before that. */
uint32_t passes_first_saved(const struct pattern *pattern, uint32_t from,
                            const struct lifetime *root, uint32_t latest);
/* nested_passes.c: joins passes that lie within one backward pass; the passes must be in order. */
bool passes_merge_nested(struct pattern *pattern, struct error *err);
/* held_results.c: begins forward passes with results that variables hold; the passes must be in
 * order. */
bool passes_begin_at_held(struct pattern *pattern, struct error *err);

/* training.c: false if the program seems not to train: it has no annotated steps and no gradients
 * of samples, no pass has a root, and the passes leave gradients of few weights. The passes must be
 * in order; pattern->marks is lost. */
bool passes_show_training(struct pattern *pattern);

/* last_forward.c: adds the forward pass in which a program ran out of memory after its last step.
 * The passes must be in order. */
bool passes_add_unfinished(struct pattern *pattern, struct error *err);

#endif
