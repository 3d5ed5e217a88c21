/* The state of replan_edit(), which edits the program of a step, and the functions of its files. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_REPLAN_EDITOR_H
#define MEMSNAP_ANALYSIS_CHAIN_REPLAN_EDITOR_H

#include "analysis/chain/replan_internal.h"

struct editor {
    const struct program *program;
    const struct forward_chain *chain;
    struct replan_changes changes;
    uint32_t *change_of; /* by recorded slot: the change in it, or REPLAN_NONE */
    size_t change_of_capacity;
    uint32_t *copy_of; /* by recorded slot, in the present run: its copy, or REPLAN_NONE */
    size_t copy_of_capacity;
    struct late {
        uint32_t until, change;
    } * late; /* changes that the program may hold, by when it frees them */
    size_t late_count, late_capacity;
    struct program_step *steps;
    size_t step_count, step_capacity;
    struct budget *budget;
};

/* A run through elements: the forward pass, or a segment that runs again. What it drops is freed
 * when the operator after the one that made it is over; outputs, when the next element is; copies
 * of weights, when the forward pass is, with which autocast's region ends. */
struct run {
    size_t element, last; /* the present one, and that with which the run ends */
    size_t next;          /* the first change that may have to be freed */
    stack_id stack;       /* of the present operator: successive allocations with one stack */
    uint32_t operator;    /* its number */
};

/* The steps of the forward of a segment. */
struct step_range {
    size_t from, to;
};

/* replan_run.c */
bool replan_emit(struct editor *editor, struct program_step step, uint8_t kind, uint32_t slot,
                 struct error *err);
struct step_range replan_forward_steps(const struct editor *editor,
                                       const struct replan_segment *segment);

/* A run through elements first..last. */
struct run replan_run_begin(const struct editor *editor, size_t first, size_t last);
/* Before a step of the run; `at` is where frees are inserted. */
bool replan_run_advance(struct editor *editor, struct run *run, const struct program_step *step,
                        struct program_step at, struct error *err);
/* Frees what element run->element leaves behind, and the output of the element before it. */
bool replan_run_end_element(struct editor *editor, struct run *run, struct program_step at,
                            struct error *err);
/* Frees what a change has in the present run. */
bool replan_drop(struct editor *editor, struct replan_change *change, struct program_step at,
                 struct error *err);

/* replan_again.c: repeats the forward of a segment. What it dropped stays, and what the segments
 * within it hold; all else is freed. */
bool replan_run_again(struct editor *editor, uint32_t segment, struct program_step at,
                      struct error *err);
/* The results that a segment kept in vain: its checkpoint stops before them, and PyTorch holds them
 * until the backward of the segment is over. */
bool replan_free_results(struct editor *editor, uint32_t segment, struct program_step at,
                         struct error *err);

#endif
