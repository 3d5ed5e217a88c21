/* A capture whose iterations are found, for the tests of steps: each file of tests has its own. */
#ifndef MEMSNAP_UNIT_STEPS_FIXTURE_H
#define MEMSNAP_UNIT_STEPS_FIXTURE_H

#include "analysis/phase/steps.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

static struct capture capture;
static struct steps steps;
static uint64_t next; /* address of the next allocation */

static inline void create(void)
{
    capture_init(&capture);
    steps = (struct steps){0};
    next = 1;
}

static inline void destroy(void)
{
    steps_release(&steps);
    capture_release(&capture);
}

static inline void find(void)
{
    struct phases phases;
    struct error err;
    capture_load(&capture);
    ck_assert(phases_build(&phases, capture.timeline, capture.sites, &err));
    ck_assert(steps_find(&steps, capture.timeline, &phases, &err));
    phases_release(&phases);
}

/* One event each. */
static inline void born(uint64_t size, const char *frames)
{
    capture_event(&capture, "alloc", next++, size, frames);
}

static inline void annotate(const char *stage, const char *name)
{
    capture.time_us++;
    capture_annotate(&capture, stage, name, 0);
}

static inline void expect(size_t index, int64_t number, uint32_t first, uint32_t last,
                          bool complete)
{
    ck_assert_uint_lt(index, steps.count);
    const struct step *step = &steps.items[index];
    ck_assert_int_eq(step->number, number);
    ck_assert_uint_eq(step->first, first);
    ck_assert_uint_eq(step->last, last);
    ck_assert_int_eq(step->complete, complete);
}

#endif
