/* The passes of a model of a few layers, each of which has a parameter and saves one allocation. */
#ifndef MEMSNAP_TESTS_UNIT_ANALYSIS_CATEGORY_LAYER_PASSES_H
#define MEMSNAP_TESTS_UNIT_ANALYSIS_CATEGORY_LAYER_PASSES_H

#include "unit/analysis/category/events.h"

#define PARAMETER  4000u
#define ACTIVATION 5000u
#define LAYERS     6u

static inline void expect(uint64_t addr, enum category category, enum confidence confidence)
{
    capture_expect(&capture, addr, category, confidence);
}

/* One allocation a layer is saved, at 100, 101, ... */
static inline void forward_pass(const char *forward)
{
    for (unsigned i = 0; i < LAYERS; i++)
        born(100 + i, ACTIVATION + i, forward);
}

/* Uses them up in the reverse order, each with a gradient passed on (200, ...) and one that stays
 * (300, ...). */
static inline void backward_pass(const char *backward)
{
    born(200 + LAYERS, ACTIVATION, backward);
    for (unsigned i = LAYERS; i-- > 0;) {
        born(300 + i, PARAMETER + i, backward);
        born(200 + i, ACTIVATION + i, backward);
        freed(201 + i, ACTIVATION, backward);
        freed(100 + i, ACTIVATION + i, backward);
    }
    freed(200, ACTIVATION, backward);
}

static inline void one_step(const char *forward, const char *backward)
{
    forward_pass(forward);
    backward_pass(backward);
}

static inline void parameters_before(void)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 1 + i, PARAMETER + i, "");
}

/* velocities at 400, ... in place of those at 500, ... */
static inline void update_by_hand(const char *frames)
{
    for (unsigned i = 0; i < LAYERS; i++) {
        born(400 + i, PARAMETER + i, frames);
        freed(500 + i, PARAMETER + i, frames);
        freed(300 + i, PARAMETER + i, frames);
    }
}

static inline void expect_forward_passes(unsigned count)
{
    struct phases phases;
    struct error err;
    ck_assert(phases_build(&phases, capture.timeline, capture.sites, &err));
    unsigned forward = 0;
    for (size_t run = 0; run < phases.count; run++)
        forward += phases.runs[run].phase == PHASE_FORWARD;
    ck_assert_uint_eq(forward, count);
    phases_release(&phases);
}

#endif
