/* The rows of growth: what is live at the ends of steps, by call site. Files of this folder only.
 */
#ifndef MEMSNAP_ANALYSIS_GROWTH_ROWS_H
#define MEMSNAP_ANALYSIS_GROWTH_ROWS_H

#include "analysis/growth/growth.h"
#include "analysis/growth/last_step.h"
#include "analysis/growth/survivors.h"

/* State while the rows are made; nothing in it is owned. */
struct growth_builder {
    struct growth *growth;
    const struct phases *phases;
    const struct steps *steps;
    const struct timeline *timeline;
    const uint8_t *is_dropped; /* by lifetime; or NULL */
    struct live_set set;
    struct step_ends ends;
    struct survivors survivors;
    struct last_step last;
    double stride;                    /* number of steps from one compared end to the next */
    uint32_t peak_since, peak_before; /* the first items of the step with the peak, and of the one
                                         before it */
};

/* True if steps end with an optimizer step or a backward pass. */
static inline bool growth_trains(const struct growth_builder *builder)
{
    enum steps_source source = builder->steps->source;
    return source == STEPS_ANNOTATION || source == STEPS_OPTIMIZER || source == STEPS_BACKWARD;
}

/* Fills the rows and sums of builder->growth from the steps in builder->ends, of which there must
 * be GROWTH_LEAST. */
bool growth_compare_steps(struct growth_builder *builder, struct error *err);

#endif
