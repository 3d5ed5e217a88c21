/* Gradients that no optimizer uses or frees any more.
 *
 * A gradient is idle if it stays allocated while gradients of other parameters are freed and made
 * again in one training cycle after another. A program has two reasons to leave gradients alone:
 *
 *   untrained       the parameters are not in the optimizer, but have requires_grad set: each
 *                   backward pass computes their gradients and adds them up, and
 *                   optimizer.zero_grad() does not reach them. The optimizer keeps states for
 *                   other parameters, but none for these. (The stacks of the states tell how many
 *                   it keeps for each parameter.)
 *   earlier model   they belong to a model that was trained before the present one was made. Its
 *                   optimizer may be alive as well (see also repeated_model.h)
 *   discarded       zero_grad() frees them before their optimizer uses them, as it does with those
 *                   that a critic's loss makes for a generator (discarded_gradients.h)
 *
 * Other idle gradients may be meant to stay, such as copies that a method compares with. Copies
 * that a hook of autograd makes are not in .grad, and do not count. */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_IDLE_GRADIENTS_H
#define MEMSNAP_ANALYSIS_GRADIENTS_IDLE_GRADIENTS_H

#include "analysis/category/category.h"
#include "analysis/gradients/gradient_cycles.h"
#include "model/peak_without.h"

/* Where the line of code lies that names the forward passes for idle gradients. */
enum idle_pass_place {
    IDLE_PASS_CALL,   /* it calls the model, and trains nothing that it calls */
    IDLE_PASS_WITHIN, /* it is within the call, because the line that calls the model calls what is
                         trained, too */
    IDLE_PASS_AMONG,  /* the same, but the line is the one that calls the model */
};

/* In bytes. Smaller gradients are not judged: their sizes tell nothing. */
#define IDLE_LEAST_SIZE 64

enum idle_reason { IDLE_UNKNOWN, IDLE_UNTRAINED, IDLE_EARLIER_MODEL, IDLE_DISCARDED };

struct idle_gradients {
    uint8_t *of_lifetime, *of_preexisting; /* flags; NULL: none is idle */
    size_t lifetime_capacity, preexisting_capacity;
    uint64_t count;
    int64_t bytes;
    enum idle_reason reason;
    /* IDLE_EARLIER_MODEL: what the earlier optimizers and the earlier models still hold. */
    int64_t state_bytes, parameter_bytes;
    size_t earlier_models;
    /* How much lower the active peak would be. IDLE_UNTRAINED, IDLE_DISCARDED: without these
     * gradients, and what is saved for them alone. IDLE_EARLIER_MODEL: if these gradients and the
     * state of the earlier optimizer were freed before the next model is made. IDLE_UNKNOWN: 0.
     */
    int64_t save_bytes;
    /* IDLE_UNTRAINED, IDLE_DISCARDED: activations that forward passes save for these gradients
     * alone and that are live at the peak; and the code that saves most of them (idle_passes.h). 0
     * if there are none. */
    int64_t pass_bytes;
    enum idle_pass_place pass_place;
    stack_id pass_stack;
    struct site pass_call;
    struct budget *budget; /* not owned */
};

bool idle_gradients_find(struct idle_gradients *idle, const struct timeline *timeline,
                         struct site_table *sites, const struct phases *phases,
                         const struct categories *categories, const struct cycles *cycles,
                         struct error *err);
/* Adds the idle gradients to `absences`. */
bool idle_gradients_absent(const struct idle_gradients *idle, const struct timeline *timeline,
                           struct absences *absences, struct error *err);
void idle_gradients_release(struct idle_gradients *idle);

#endif
