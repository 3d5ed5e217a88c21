/* The state of replan_edit(), and the functions that its source files share. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_REPLAN_EDITOR_H
#define MEMSNAP_ANALYSIS_CHAIN_REPLAN_EDITOR_H

#include "analysis/chain/replan_internal.h"

struct editor {
    const struct program *program;
    const struct forward_chain *chain;
    struct replan_changes changes;
    uint32_t *change_of; /* by recorded slot: the change to the allocation in it, or REPLAN_NONE */
    size_t change_of_capacity;
    uint32_t *copy_of; /* by recorded slot: the slot of its copy in the segment that is being
                        * recomputed, or REPLAN_NONE */
    size_t copy_of_capacity;
    struct late {
        uint32_t until, change;
    } * late; /* changes to tensors that the program may hold, ordered by the item that frees them
               */
    size_t late_count, late_capacity;
    struct program_step *steps;
    size_t step_count, step_capacity;
    struct budget *budget;
};

/* A run through elements: the forward pass, or the recomputation of a segment. The run frees
 * dropped activations when the operator after the one that made them has ended, and outputs when
 * the next element has ended. Autocast's copies of weights are freed at the end of the forward
 * pass, where the autocast region ends. */
struct run {
    size_t element,
        last;          /* the present element, and the last one; chain->count for the forward pass
                        */
    size_t next;       /* the first change that the run may still have to free */
    stack_id stack;    /* of the present operator: successive allocations with one stack */
    uint32_t operator; /* number of the present operator in the run */
};

/* Successive steps of a program. */
struct step_range {
    size_t from, to;
};

/* replan_run.c */
bool replan_emit(struct editor *editor, struct program_step step, uint8_t kind, uint32_t slot,
                 struct error *err);
/* The steps of the items from..to-1. */
struct step_range replan_steps(const struct editor *editor, uint32_t from, uint32_t to);

/* Begins a run through elements first..last. */
struct run replan_run_begin(const struct editor *editor, size_t first, size_t last);
/* Must be called before each step of the run: inserts the frees that are due, with the item of
 * `at`. */
bool replan_run_advance(struct editor *editor, struct run *run, const struct program_step *step,
                        struct program_step at, struct error *err);
/* Ends element run->element: frees its dropped activations, and the output of the element before
 * it.
 */
bool replan_run_end_element(struct editor *editor, struct run *run, struct program_step at,
                            struct error *err);
/* Frees the slot that a change has in the present run, if any. */
bool replan_drop(struct editor *editor, struct replan_change *change, struct program_step at,
                 struct error *err);

/* replan_again.c: recomputes a segment. Afterwards the activations that it had dropped and the
 * inputs of the segments within it are live again; everything else that the run allocated is freed.
 */
bool replan_run_again(struct editor *editor, uint32_t segment, struct program_step at,
                      struct error *err);
/* Frees the kept results that the recomputation of a segment did not reach. PyTorch holds them
 * until the backward pass of the segment has ended. */
bool replan_free_results(struct editor *editor, uint32_t segment, struct program_step at,
                         struct error *err);

#endif
