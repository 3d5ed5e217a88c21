/* The operators of attention, as the stacks of allocations show them. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_ATTENTION_STEPS_H
#define MEMSNAP_ANALYSIS_FINDINGS_ATTENTION_STEPS_H

#include "analysis/code/site.h"

/* A softmax may be written by hand: exponentials, divided by their sums. */
enum attention_step {
    ATTENTION_STEP_OTHER,
    ATTENTION_STEP_PRODUCT,
    ATTENTION_STEP_ADDITION,
    ATTENTION_STEP_EXP,
    ATTENTION_STEP_DIVISION,
    ATTENTION_STEP_SOFTMAX,
    ATTENTION_STEP_UNKNOWN, /* of a line of attention that Python frames alone show */
};

struct attention_steps {
    struct site_table *sites;
    uint8_t *of_stack; /* 1 + the step; 0: not known yet */
    size_t capacity;
    struct budget *budget; /* not owned */
};

bool attention_steps_open(struct attention_steps *steps, struct site_table *sites,
                          struct budget *budget, struct error *err);
bool attention_step_of(struct attention_steps *steps, stack_id stack, enum attention_step *step,
                       struct error *err);
void attention_steps_close(struct attention_steps *steps);

#endif
