/* Calls of modules that save tensors for idle gradients alone, as the stacks tell them apart.
 *
 * A program that calls a frozen model and a trained one on different lines shows them by the line.
 * Where one line calls both, or a module calls both, only the frames within that call differ. */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_IDLE_CALLS_H
#define MEMSNAP_ANALYSIS_GRADIENTS_IDLE_CALLS_H

#include "analysis/code/site.h"
#include "base/budget.h"

/* The activations that one stack allocated in forward passes and that a backward pass freed. */
struct saved_stack {
    stack_id stack;
    uint64_t unused, all; /* bytes; `unused`: from these, only idle gradients were computed */
    uint64_t sure;        /* the part of `unused` that no trained module has for its input */
    /* Set by idle_calls_find(): the hash of the outermost part of the stack of which (nearly) all
     * bytes are unused, 0 if there is none; the frame at which it ends; and whether that is the
     * line that calls the model. */
    uint64_t call;
    uint32_t frame;
    bool is_model_call;
};

/* Judges `count` different stacks. */
bool idle_calls_find(struct saved_stack *stacks, size_t count, struct site_table *sites,
                     struct budget *budget, struct error *err);

#endif
