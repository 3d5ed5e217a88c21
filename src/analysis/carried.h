/* The categories of what was allocated before the trace's first event.
 *
 * With a stack (recording was on when it was made): by the context of that stack.
 * Without one, only size and end are known:
 *   freed by zero_grad                                   gradient
 *   freed in an optimizer step that makes as many new
 *     blocks of this size and keeps them, while enough
 *     others of the size stay to be the parameters       optimizer_state
 *   freed in the backward pass that the trace begins in  activation
 *   never freed, and exactly as many of this size as one
 *     backward pass leaves gradients of it               parameter
 *   anything else                                        unknown
 * Allocations of the trace that look like parameters (made before the first step by plain
 * Python code, never freed) take part in that count. */
#ifndef MEMSNAP_ANALYSIS_CARRIED_H
#define MEMSNAP_ANALYSIS_CARRIED_H

#include "analysis/category.h"
#include "analysis/phases.h"

/* What is known of all allocations of one size. */
struct size_tally {
    uint64_t size;
    uint32_t gradients;     /* most that one backward pass left */
    uint32_t run_gradients; /* those of last_run so far */
    uint32_t last_run;
    uint32_t persistent;   /* candidates for parameters: there from the start, never freed */
    uint32_t replaced;     /* carried, no stack, freed in an optimizer step */
    uint32_t made_in_step; /* made by an optimizer step and kept */
    bool used;
};

struct size_tallies {
    struct size_tally *slots; /* open addressing, a power of two */
    size_t slot_count, used, capacity;
    uint64_t seed;
    struct budget *budget; /* not owned */
};

void size_tallies_init(struct size_tallies *tallies, struct budget *budget);
void size_tallies_release(struct size_tallies *tallies);
/* The tally of a size, made when absent; valid until the next call. NULL on failure. */
struct size_tally *size_tallies_at(struct size_tallies *tallies, uint64_t size, struct error *err);
void size_tally_gradient(struct size_tally *tally, uint32_t run);

bool carried_assign(const struct timeline *timeline, struct site_table *sites,
                    const struct phases *phases, struct size_tallies *tallies,
                    struct categories *categories, struct error *err);

/* Whether allocations of this size that persist from the start are the parameters. */
bool size_tally_is_parameter(const struct size_tally *tally);

#endif
